#!/usr/bin/env python3
"""`mcp --compat server-memory` beside the reference memory server: the same calls, the same answers.

The reference server is looked for in $BMAD_NODE_FOLDER, where node_packages.py has installed it;
without that folder what needs it is skipped, and says so.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from mcp_process import McpProcess  # noqa: E402
from tool_under_test import SOURCE, TOOL, ToolTest, main  # noqa: E402

DATA = pathlib.Path(os.environ.get("BMAD_SHARED_DATA", SOURCE.parent / "shared" / "data"))
TOOLS_LIST = DATA / "captures" / "server-memory-tools-list.json"
NODE_FOLDER = os.environ.get("BMAD_NODE_FOLDER") and pathlib.Path(os.environ["BMAD_NODE_FOLDER"])
REFERENCE = pathlib.Path("node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "lives in Kiel"]}
BEN = {"name": "Ben Ä", "entityType": "Person", "observations": []}
KNOWS = {"from": "Ann", "to": "Ben Ä", "relationType": "knows"}
GHOST = {"from": "Ben Ä", "to": "nobody yet", "relationType": "seeks"}

# What a client might do, in this order; the answers of both servers must be equal.
CALLS = [
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN, BEN]}),
    ("create_entities", {"entities": [ANN, {**BEN, "name": "Cy", "extra": 1}]}),
    ("create_relations", {"relations": [KNOWS, GHOST]}),
    ("create_relations", {"relations": [KNOWS]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["likes tea", "plays chess"]}]}),
    ("add_observations", {"observations": [{"entityName": "Ben Ä", "contents": []}, {"entityName": "Eve", "contents": ["x"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "TEA"}),
    ("search_nodes", {"query": "person"}),
    ("search_nodes", {"query": "ä"}),
    ("search_nodes", {"query": ""}),
    ("search_nodes", {"query": "nothing like it"}),
    ("open_nodes", {"names": ["Ben Ä", "Eve"]}),
    ("open_nodes", {"names": []}),
    ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["plays chess", "never said"]}]}),
    ("delete_relations", {"relations": [GHOST, {**GHOST, "to": "x"}]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [{"name": "quo\"te\n\u2028\b", "entityType": "", "observations": ["\t\\ \u0001"]}]}),
    ("open_nodes", {"names": ["quo\"te\n\u2028\b"]}),
    ("delete_entities", {"entityNames": ["Ann", "nobody"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [{**ANN, "observations": ["is back"]}]}),
    ("read_graph", {}),
]

# Both refuse; only what stands in front of the reason is the same.
BAD_CALLS = [
    ("create_entities", {"entities": [{"name": 1}]}),
    ("create_entities", {}),
    ("create_relations", {"relations": "x"}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": [1]}]}),
    ("search_nodes", {}),
    ("open_nodes", {"names": [None]}),
    ("delete_entities", {"entityNames": [{}]}),
]


def without_closing(value):
    """Without additionalProperties: whether it is there depends on the SDK that the reference finds."""
    if isinstance(value, list):
        return [without_closing(element) for element in value]
    if isinstance(value, dict):
        return {
            name: without_closing(member)
            for name, member in value.items()
            if name != "additionalProperties"
        }
    return value


class CompatTest(ToolTest):
    def start(self, **more):
        server = McpProcess(
            [str(TOOL), "mcp", "--compat", "server-memory"],
            self.folder,
            {**self.environment, **more},
        )
        self.addCleanup(server.leave)
        self.identity = server.open()
        return server

    def start_reference(self):
        if NODE_FOLDER is None:
            self.skipTest("$BMAD_NODE_FOLDER is not set: there is no reference server")
        file = self.folder / "reference.jsonl"
        server = McpProcess(
            ["node", str(NODE_FOLDER / REFERENCE)],
            self.folder,
            {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "MEMORY_FILE_PATH": str(file)},
        )
        self.addCleanup(server.leave)
        return server, server.open()

    def test_every_call_is_answered_as_the_reference_server_answers_it(self):
        reference, identity = self.start_reference()
        server = self.start()
        self.assertEqual(self.identity["serverInfo"], identity["serverInfo"])
        self.assertEqual(self.identity["capabilities"], identity["capabilities"])
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            ours, theirs = server.request(method), reference.request(method)
            for resource in ours["result"].get("resources", []) + theirs["result"].get("resources", []):
                resource.pop("description", None)
            self.assertEqual(
                without_closing(ours["result"]), without_closing(theirs["result"]), method
            )
        for tool, arguments in CALLS:
            ours, theirs = (one.call(tool, **arguments)["result"] for one in (server, reference))
            self.assertEqual(ours, theirs, f"{tool} {arguments}")
        for tool, arguments in BAD_CALLS:
            ours, theirs = (one.call(tool, **arguments)["result"] for one in (server, reference))
            self.assertTrue(ours["isError"] and theirs["isError"], tool)
            start = f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}:"
            for answer in (ours, theirs):
                self.assertTrue(answer["content"][0]["text"].startswith(start), answer)
        uri = {"uri": "memory://knowledge-graph"}
        self.assertEqual(server.call("nope")["result"], reference.call("nope")["result"])
        self.assertEqual(
            server.request("resources/read", uri)["result"],
            reference.request("resources/read", uri)["result"],
        )
        for one in (server, reference):
            self.assertEqual(one.request("resources/subscribe", uri)["result"], {})
            before = len(one.notifications)
            one.call("delete_relations", relations=[GHOST])
            updated = [n["method"] for n in one.notifications[before:]]
            self.assertIn("notifications/resources/updated", updated)

    def test_the_file_of_the_reference_server_goes_in_and_out(self):
        reference, _ = self.start_reference()
        for tool, arguments in CALLS:
            reference.call(tool, **arguments)
        file = self.folder / "reference.jsonl"
        server = self.start(MEMORY_FILE_PATH=str(file))
        self.assertEqual(
            server.call("read_graph")["result"], reference.call("read_graph")["result"]
        )
        self.assertEqual(server.end(), 0)
        again = self.start(MEMORY_FILE_PATH=str(file))  # Not taken in twice.
        self.assertEqual(again.call("read_graph")["result"], reference.call("read_graph")["result"])

    def test_the_tools_are_those_that_were_recorded(self):
        if not TOOLS_LIST.exists():
            self.skipTest(f"{TOOLS_LIST} is not there")
        recorded = json.loads(TOOLS_LIST.read_text())
        recorded = recorded.get("result", recorded)
        self.assertEqual(self.start().request("tools/list")["result"]["tools"], recorded["tools"])

    def test_a_file_that_is_damaged_stops_every_call_and_stays(self):
        file = self.folder / "old.jsonl"
        file.write_text('{"type":"entity","name":"A","entityType":"t","observations":[]}\n{"ty')
        server = self.start(MEMORY_FILE_PATH="old.jsonl")
        for _ in range(2):
            result = server.call("read_graph")["result"]
            self.assertTrue(result["isError"])
            self.assertIn("old.jsonl, line 2", result["content"][0]["text"])
        file.write_text(file.read_text()[:-4])
        entities = server.call("read_graph")["result"]["structuredContent"]["entities"]
        self.assertEqual([entity["name"] for entity in entities], ["A"])

    def test_servers_that_write_at_once_lose_nothing(self):
        servers = [self.start() for _ in range(4)]
        per_server = 50
        for server_number, server in enumerate(servers):
            for number in range(per_server):
                name = f"e{server_number}-{number}"
                server.send(
                    "tools/call",
                    {
                        "name": "create_entities",
                        "arguments": {
                            "entities": [
                                {"name": name, "entityType": "t", "observations": ["shared", name]},
                                {"name": f"common-{number}", "entityType": "t", "observations": []},
                            ]
                        },
                    },
                )
        for server in servers:
            for number in range(per_server):
                self.assertNotIn("isError", server.wait_for(number + 1)["result"])
        graphs = [server.call("read_graph")["result"] for server in servers]
        names = sorted(entity["name"] for entity in graphs[0]["structuredContent"]["entities"])
        wanted = [f"e{s}-{n}" for s in range(4) for n in range(per_server)]
        wanted += [f"common-{n}" for n in range(per_server)]
        self.assertEqual(names, sorted(wanted))
        for graph in graphs[1:]:
            self.assertEqual(graph, graphs[0])
        for server in servers:
            self.assertEqual(server.end(), 0)
        self.run_tool("verify")

    def test_what_comes_twice_in_a_call_is_there_once(self):
        server = self.start()
        server.call("create_entities", entities=[ANN, {**ANN, "observations": ["likes tea", "new"]}])
        entities = server.call("read_graph")["result"]["structuredContent"]["entities"]
        self.assertEqual(entities, [{**ANN, "observations": ["likes tea", "lives in Kiel", "new"]}])

    def test_the_graph_is_searched_and_recalled_like_any_other_memory(self):
        server = self.start()
        server.call("create_entities", entities=[ANN])
        self.assertIn("Ann: likes", self.run_tool("query", "tea"))
        self.assertIn("Ann", self.run_tool("recall"))


if __name__ == "__main__":
    main()
