#!/usr/bin/env python3
"""A row in the table of fields is all that a new field needs.

The tool under test was linked with BMAD_ONE_MORE_FIELD: its findings have `fix_effort`, which is small
or large, and nothing but that row in lib/model/entry_types.cpp knows of it.
"""

import json
import pathlib
import sys

from tool_under_test import TOOL, ToolTest, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mcp"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from contract_test import Server  # noqa: E402
from mcp_process import McpProcess  # noqa: E402

HELP = "how much work it makes"
SCHEMA = {"description": "How much work it makes.", "enum": ["small", "large"]}


class OneMoreField(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.run_tool("session", "new", "--id", "s1")

    def add(self, effort):
        return self.run_tool("add", "finding", "--fix-effort", effort, "No pool").strip()

    def test_it_is_an_option_of_add(self):
        self.assertIn(f"--fix-effort WORD      {HELP}: small, large\n",
                      self.run_tool("add", "finding", "--help"))
        self.assertNotIn("fix-effort", self.run_tool("add", "fact", "--help"))
        self.assertIn(f".B \\-\\-fix\\-effort WORD\n{HELP}: small, large\n", self.run_tool("man"))
        self.assertEqual(
            f"--fix-effort\t{HELP}\n", self.run_tool("complete-words", "--", "add", "finding", "--fix")
        )
        offered = self.run_tool("complete-words", "--", "add", "finding", "--fix-effort", "")
        self.assertEqual("small\t\nlarge\t\n", offered)

    def test_it_is_kept_where_it_belongs_and_checked(self):
        entry = json.loads(self.run_tool("--json", "get", self.add("small")))
        names = list(entry["entry"] if "entry" in entry else entry)
        self.assertEqual(names[names.index("status") + 1], "fix_effort")
        for arguments in (["--fix-effort", "tiny", "x"], ['{"description":"x","fix_effort":7}']):
            done = self.refused("add", "finding", *arguments)
            self.assertIn("E_SCHEMA_INVALID: fix_effort: ", done)
            self.assertIn("small, large", done)

    def refused(self, *arguments):
        return self.run_command("sh", "-c", '"$@" 2>&1', "sh", str(TOOL), *arguments, status=1)

    def test_its_schema_and_its_table_have_it(self):
        schema = json.loads(self.run_tool("schema", "finding"))
        self.assertEqual(schema["properties"]["fix_effort"], SCHEMA)
        self.assertIn(f"| finding | `fix_effort` | one of the strings small, large | {HELP} |\n",
                      self.run_tool("schema"))

    def test_one_can_filter_by_it(self):
        self.add("small")
        large = self.add("large")
        for command in (["list", "--where", "fix_effort=large"], ["query", "pool fix_effort:large"]):
            found = self.run_tool("--json", *command).splitlines()
            self.assertEqual(len(found), 1, found)
            self.assertIn(large, found[0])
        self.assertIn('fix_effort is never "tiny"',
                      self.refused("list", "--where", "fix_effort=tiny"))
        self.assertIn("key, fix_effort, metadata.NAME", " ".join(self.run_tool("query", "-h").split()))

    def test_a_model_can_use_it(self):
        server = McpProcess([TOOL, "mcp"], self.folder, self.environment)
        self.addCleanup(server.leave)
        server.open()
        tools = {tool["name"]: tool for tool in server.request("tools/list")["result"]["tools"]}
        self.assertIn("fix_effort (small|large)", tools["memory_add"]["description"])
        fields = tools["memory_search"]["inputSchema"]["properties"]["fields"]
        self.assertIn("fix_effort", fields["description"])
        added = server.call("memory_add", type="finding", text="No pool",
                            fields={"fix_effort": "large"})["result"]
        self.assertFalse(added.get("isError"), added)
        found = server.call("memory_search", query="pool", fields={"fix_effort": "large"})["result"]
        self.assertIn(added["structuredContent"]["id"], json.dumps(found))
        refused = server.call("memory_add", type="finding", text="x", fields={"fix_effort": "tiny"})
        self.assertTrue(refused["result"]["isError"])

    def test_the_local_api_has_it(self):
        server = Server(self.folder, self.environment)
        self.addCleanup(server.stop)
        document = server.ask("GET", "/openapi.json")[2]
        shape = document["components"]["schemas"]["RecordRequest"]
        self.assertEqual(shape["properties"]["fix_effort"], SCHEMA)
        record = {"type": "finding", "session_id": "s1", "description": "No pool"}
        status, _, made = server.ask("POST", "/memory/record", {**record, "fix_effort": "large"})
        self.assertEqual(status, 201)
        status, _, found = server.ask("GET", "/memory/search?q=pool&field=fix_effort:large")
        self.assertEqual((status, [hit["id"] for hit in found["hits"]]), (200, [made["id"]]))
        status, _, refused = server.ask("POST", "/memory/record", {**record, "fix_effort": "tiny"})
        self.assertEqual((status, refused["error"]["field"]), (400, "fix_effort"))


if __name__ == "__main__":
    main()
