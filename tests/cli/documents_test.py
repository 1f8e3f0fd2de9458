#!/usr/bin/env python3
"""What README.md and the pages show works when it is pasted, and so does the demo."""

import re

from tool_under_test import SOURCE, TOOL, ToolTest, main


class Documents(ToolTest):
    def run_blocks_of(self, name):
        text = (SOURCE / name).read_text(encoding="utf-8")
        blocks = re.findall(r"<!-- runs -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertTrue(blocks, f"{name} has no block marked <!-- runs -->")
        for block in blocks:
            self.run_command("/bin/sh", "-eu", "-c", block)

    def run_every_block_of(self, name):
        """Pastes each block into an empty folder of its own. There are no exceptions: what installs
        software or never ends is shown as inline code."""
        text = (SOURCE / name).read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^```(?:bash|shell|console|zsh)", text, re.MULTILINE), [])
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        self.assertTrue(blocks, f"{name} has no block to paste")
        for number, block in enumerate(blocks):
            with self.subTest(block=block):
                folder = self.folder / f"{number}"
                folder.mkdir()
                self.run_command("/bin/sh", "-euc", f"cd {folder}\n{block}")
                self.run_command(str(TOOL), "--root", str(folder / ".bmad/memory"), "verify")

    def test_every_block_of_the_readme_can_be_pasted(self):
        self.run_every_block_of("README.md")

    def test_every_block_of_the_tutorial_can_be_pasted(self):
        self.run_every_block_of("docs/getting-started.md")

    def test_links_between_pages_lead_somewhere(self):
        for page in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/*.md")]:
            for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
                if "://" not in link:
                    self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")

    def test_the_readme_says_how_to_test(self):
        self.assertIn("./dev test", (SOURCE / "README.md").read_text(encoding="utf-8"))

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
        self.assertIn("Next steps", printed)


if __name__ == "__main__":
    main()
