#!/usr/bin/env python3
"""What README.md and the pages about queries and sessions show works when it is pasted, and so does the demo."""

import re

from tool_under_test import SOURCE, TOOL, ToolTest, main


class Documents(ToolTest):
    def run_blocks_of(self, name):
        text = (SOURCE / name).read_text(encoding="utf-8")
        blocks = re.findall(r"<!-- runs -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertTrue(blocks, f"{name} has no block marked <!-- runs -->")
        for block in blocks:
            self.run_command("/bin/sh", "-eu", "-c", block)

    def test_the_session_to_paste_in_the_readme_runs(self):
        self.run_blocks_of("README.md")
        self.run_tool("verify")

    def test_the_examples_of_the_query_language_run(self):
        self.run_blocks_of("docs/query-language.md")

    def test_the_life_of_a_session_runs(self):
        self.run_blocks_of("docs/lifecycle.md")
        self.run_tool("verify")

    def test_the_examples_of_export_run(self):
        self.run_blocks_of("docs/export.md")

    def test_the_examples_of_import_run(self):
        self.run_blocks_of("docs/import.md")
        self.run_tool("verify")

    def test_the_summary_by_hand_runs(self):
        self.run_blocks_of("docs/summary.md")
        self.run_tool("verify")

    def test_the_token_of_the_local_server_is_for_scripts(self):
        self.run_blocks_of("docs/serve.md")

    def test_the_server_without_a_host_runs(self):
        self.run_blocks_of("docs/mcp.md")
        self.run_tool("verify")

    def test_the_examples_of_the_http_api_run(self):
        self.run_blocks_of("docs/http-api.md")
        self.run_tool("verify")

    def test_the_examples_of_agents_run(self):
        self.run_blocks_of("docs/agents.md")
        self.assertIn("night boat", self.run_tool("list", "--session", "cc-s1"))

    def test_the_demo_runs(self):
        self.environment["BMAD_MEM"] = str(TOOL)
        printed = self.run_command("/bin/sh", str(SOURCE / "docs" / "demo.sh"))
        self.assertIn("all good", printed)
        self.assertIn("What to try next", printed)

    def test_the_demo_says_so_when_there_are_no_transcripts(self):
        self.environment["BMAD_MEM"] = str(TOOL)
        self.environment["BMAD_SHARED_DATA"] = str(self.folder)
        printed = self.run_command("/bin/sh", str(SOURCE / "docs" / "demo.sh"))
        self.assertIn("There are no transcripts", printed)
        self.assertNotIn("imported", printed)


if __name__ == "__main__":
    main()
