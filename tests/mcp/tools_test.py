#!/usr/bin/env python3
"""What the MCP server costs a model, and what a model gets for it: the list of tools, schemas that strict hosts take,
memory_more, all fields of an entry through memory_add, short answers of memory_search."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

import jsonschema  # noqa: E402
from mcp_process import McpProcess  # noqa: E402
from own_server_fixture import HttpServerTest  # noqa: E402
from tool_under_test import SOURCE, TOOL, ToolTest, main  # noqa: E402

CORE = ["memory_search", "memory_context", "memory_get", "memory_add", "memory_remember", "memory_forget",
        "memory_sessions", "memory_more"]  # fmt: skip
OTHERS = ["memory_recall", "memory_update", "memory_delete", "memory_stats", "memory_summary", "memory_session",
          "memory_link", "memory_review"]  # fmt: skip
LIST_SIZE_MAX = 8000
FIVE_HITS_SIZE_MAX = 1200
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
# Keywords for which Ajv's strict mode prints a warning, or which hosts take out before a model sees them.
REFUSED_KEYWORDS = {"anyOf", "oneOf", "allOf", "not", "if", "$ref", "patternProperties", "prefixItems", "const"}


def size_of(value):
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


class McpToolsTest(ToolTest):
    def server(self, *options):
        server = McpProcess([str(TOOL), *options], self.folder, self.environment)
        self.addCleanup(server.leave)
        server.open()
        return server

    def tools(self, *options):
        listed = self.server("mcp", *options).request("tools/list")["result"]
        return {tool["name"]: tool for tool in listed["tools"]}

    @staticmethod
    def more(server, name, arguments):
        call = {"name": "memory_more", "arguments": {"tool": name, "arguments": arguments}}
        return server.request("tools/call", call)

    def text(self, answer):
        return answer["result"]["content"][0]["text"]


class List(McpToolsTest):
    def test_by_default_it_has_the_tools_that_are_needed_most_and_costs_little(self):
        server = self.server("mcp")
        for era, params in (("legacy", {}), ("modern", {"_meta": MODERN})):
            with self.subTest(era):
                result = server.request("tools/list", params)["result"]
                self.assertEqual([tool["name"] for tool in result["tools"]], CORE)
                self.assertLessEqual(size_of(result), LIST_SIZE_MAX)

    def test_tools_full_lists_all(self):
        self.assertEqual(list(self.tools("--tools", "core")), CORE)
        self.assertEqual(set(self.tools("--tools", "full")), {*CORE, *OTHERS} - {"memory_more"})

    def test_read_only_it_has_all_that_read(self):
        tools = self.tools("--read-only")
        self.assertEqual(len(tools), 7)
        self.assertNotIn("memory_more", tools)
        self.assertLessEqual(size_of({"tools": list(tools.values())}), LIST_SIZE_MAX)

    def test_another_profile_is_wrong_usage(self):
        for command in ("mcp", "serve"):
            self.run_tool(command, "--tools", "all", status=2)
        self.run_tool("mcp", "--tools", "full", "--compat", "server-memory", status=2)

    def test_a_tool_that_is_not_listed_answers_by_its_name(self):
        server = self.server("mcp")
        for name in OTHERS:
            answer = server.call(name)
            self.assertIn("result", answer, name)
        self.assertIn("no such argument", self.text(server.call("memory_recall", nonsense=1)))

    def test_a_listed_tool_takes_the_arguments_that_only_the_full_list_has(self):
        core, full = self.tools(), self.tools("--tools", "full")
        self.assertNotIn("workspace", core["memory_search"]["inputSchema"]["properties"])
        server = self.server("mcp")
        server.call("memory_add", type="fact", text="A boat", id="k1", agent="scribe")
        self.assertIn("k1", self.text(server.call("memory_search", query="boat", agents=["scribe"], offset=0)))
        for name in set(CORE) - {"memory_more"}:
            few, all_of_them = (each[name]["inputSchema"]["properties"] for each in (core, full))
            self.assertEqual([*few], [*all_of_them][: len(few)])


class ListOverHttp(HttpServerTest):
    def listed(self, params, headers):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
        accept = {"Accept": "application/json, text/event-stream"}
        return json.loads(self.ask("POST", "/mcp", message, {**accept, **headers})[1])["result"]

    def test_is_the_same(self):
        modern = ({"_meta": MODERN}, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
        self.serve()
        for params, headers in (({}, {}), modern):
            result = self.listed(params, headers)
            self.assertEqual([tool["name"] for tool in result["tools"]], CORE)
            self.assertLessEqual(size_of(result), LIST_SIZE_MAX)
        # It is another server that one asks for.
        self.run_tool("serve", "--tools", "full", status=1)

    def test_serve_lists_all_when_it_is_told_to(self):
        self.serve("--tools", "full")
        self.assertEqual(len(self.listed({}, {})["tools"]), len(CORE) + len(OTHERS) - 1)


class Schemas(McpToolsTest):
    def assert_plain(self, schema, place):
        self.assertEqual(REFUSED_KEYWORDS & schema.keys(), set(), place)
        self.assertIsInstance(schema.get("type"), str, place)
        self.assertIn(schema.get("additionalProperties", False), (False,), place)
        self.assertLessEqual(set(schema.get("required", [])), schema.get("properties", {}).keys(), place)
        if schema["type"] == "array":
            self.assert_plain(schema["items"], f"{place}/items")
        for name, member in schema.get("properties", {}).items():
            self.assert_plain(member, f"{place}/{name}")

    def test_have_nothing_that_strict_hosts_warn_of(self):
        for options in ((), ("--tools", "full"), ("--read-only",)):
            for name, tool in self.tools(*options).items():
                for key in ("inputSchema", "outputSchema"):
                    if key in tool:
                        jsonschema.Draft202012Validator.check_schema(tool[key])
                        self.assert_plain(tool[key], f"{name} {key}")
                self.assertFalse(tool["inputSchema"]["additionalProperties"])

    def test_of_answers_hold_for_the_tools_of_the_core_list_too(self):
        outputs = {name: tool.get("outputSchema") for name, tool in self.tools("--tools", "full").items()}
        server = self.server("mcp")
        calls = [("memory_add", {"type": "fact", "text": "A boat", "id": "k1"}),
                 ("memory_remember", {"category": "constraint", "key": "k", "value": "v"}),
                 ("memory_sessions", {}), ("memory_forget", {"ids": ["k1", "nobody"]}), ("memory_stats", {}),
                 ("memory_more", {"tool": "memory_stats"})]  # fmt: skip
        for name, arguments in calls:
            result = server.request("tools/call", {"name": name, "arguments": arguments})["result"]
            self.assertFalse(result.get("isError", False), result)
            schema = outputs[arguments.get("tool", name)]
            jsonschema.validate(result["structuredContent"], schema)


class More(McpToolsTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.run_tool("--quiet", "add", "decision", "--id", "d1", "Use SQLite")

    def test_lists_the_other_tools_a_line_each(self):
        offered = self.tools()["memory_more"]
        self.assertEqual(offered["inputSchema"]["properties"]["tool"]["enum"], OTHERS)
        self.assertEqual((offered["annotations"]["readOnlyHint"], offered["annotations"]["destructiveHint"]), (False, True))
        lines = self.text(self.server("mcp").call("memory_more")).splitlines()[1:]
        self.assertEqual(sorted(line.split("(")[0] for line in lines), sorted(OTHERS))
        self.assertIn("memory_link(from, relation: solves|causes|supersedes|refines, to, remove?, session_id?): "
                      "Link two entries: solves, causes, supersedes or refines.", lines)  # fmt: skip

    def test_runs_one_as_calling_it_does(self):
        server = self.server("mcp")
        calls = [("memory_recall", {}), ("memory_recall", {"limit": "many"}), ("memory_update", {"id": "nobody", "text": "x"}),
                 ("memory_delete", {"ids": ["d1"]}), ("memory_link", {}), ("memory_stats", {"session_id": "none"}),
                 ("memory_review", {"ids": ["d1"], "review": "accepted"}), ("memory_summary", {"nope": 1})]  # fmt: skip
        for name, arguments in calls:
            with self.subTest(name, arguments=arguments):
                through = self.more(server, name, arguments)
                self.assertEqual(through["result"], server.call(name, **arguments)["result"])
        changed = self.more(server, "memory_update", {"id": "d1", "text": "Use PostgreSQL"})
        self.assertEqual(changed["result"]["structuredContent"]["versions"], 2)
        self.assertIn("Use PostgreSQL", self.run_tool("get", "d1"))

    def test_runs_nothing_else(self):
        server = self.server("mcp")
        for name in ("memory_more", "memory_search", "memory_purge", "", 7):
            answer = self.more(server, name, {"query": "x"})["result"]
            self.assertTrue(answer.get("isError", False) or name == "", answer)
        answer = self.more(server, "memory_stats", "all")["result"]
        self.assertIn("E_INVALID_QUERY: arguments: must be an object", answer["content"][0]["text"])

    def test_does_not_go_past_rights(self):
        rights = {"read_access": ["decision"], "write_access": []}
        (self.folder / "w.yaml").write_text(json.dumps({"workflow": {"memory_requirements": rights}}))
        server = self.server("mcp", "--workflow", "w.yaml")
        arguments = {"id": "d1", "text": "Use PostgreSQL"}
        through = self.more(server, "memory_update", arguments)["result"]
        self.assertIn("E_ACCESS_DENIED", through["content"][0]["text"])
        self.assertEqual(through, server.call("memory_update", **arguments)["result"])
        read_only = self.server("mcp", "--read-only")
        self.assertEqual(self.more(read_only, "memory_stats", {})["error"]["code"], -32602)


class Add(McpToolsTest):
    # The main field of each type, which `text` is.
    MAIN = {"agent_state": "state", "artifact": "title", "conversation": "content", "decision": "decision",
            "event": "content", "fact": "content", "finding": "description", "preference": "value"}  # fmt: skip
    TIME = "2026-01-02T03:04:05Z"
    # What an agent does not decide of a statement that waits for the user.
    OF_THE_USER = {"pinned", "review", "source"}

    def value(self, name, schema):
        if name in ("references", "links"):
            return {"facts" if name == "references" else "refines": ["k1"]}
        if "$ref" in schema:
            return self.TIME
        if "enum" in schema:
            return schema["enum"][-1]
        kind = schema.get("type", "string")
        if kind == "array":
            return [self.value(name, schema["items"])]
        if kind == "object":
            members = schema.get("properties", {}).items()
            return {key: [key] if key == "references" else self.value(key, of) for key, of in members} or {"a": "b"}
        known = {"integer": 3, "number": 0.5, "boolean": True, "string": f"a {name}"}
        return known.get(kind if isinstance(kind, str) else kind[0], f"a {name}")

    def stored(self, entry_id):
        """The line of the log: what memory_get shows is made from more than one."""
        for log in self.folder.glob(".bmad/memory/sessions/*/*.jsonl"):
            for line in log.read_text().splitlines():
                entry = json.loads(line)
                if entry["id"] == entry_id:
                    return entry
        self.fail(f"{entry_id} is in no log")

    def add(self, server, **arguments):
        result = server.call("memory_add", **arguments)["result"]
        self.assertFalse(result.get("isError", False), (arguments, result))
        return self.stored(result["structuredContent"]["id"])

    def test_stores_every_field_of_every_type(self):
        server = self.server("mcp")
        for kind, main_name in self.MAIN.items():
            schema = json.loads((SOURCE / "schemas" / f"{kind}.schema.json").read_text())
            fields = schema["properties"]
            needed = {name: self.value(name, fields[name]) for name in schema["required"]}
            needed = {name: value for name, value in needed.items() if name not in ("id", "timestamp", main_name)}
            for name, of in fields.items():
                wanted = f"own-{kind}" if name == "id" else self.value(name, of)
                if kind in ("fact", "preference") and name in self.OF_THE_USER:
                    continue
                with self.subTest(kind, field=name):
                    entry = self.add(server, type=kind, text=f"A {kind} with its {name}", fields={**needed, name: wanted})
                    self.assertEqual(entry.get(name), wanted)
                    self.assertIn(f"A {kind} with its {name}", entry.values())

    def test_keeps_a_value_that_is_no_text(self):
        entry = self.add(self.server("mcp"), type="preference", text="The user likes tabs",
                         fields={"key": "indent", "value": {"tabs": True, "width": 4}})  # fmt: skip
        self.assertEqual((entry["value"], entry["text"]), ({"tabs": True, "width": 4}, "The user likes tabs"))

    def test_the_value_waits_for_the_user_and_not_the_text_beside_it(self):
        session, said = "cc-a", "Amounts of money are integers of cents"
        self.run_tool("--quiet", "init")
        self.run_tool("--quiet", "session", "new", "--id", session)
        self.run_tool("--quiet", "add", "conversation", "--session", session, "--role", "user", said)
        server = self.server("mcp")
        entry = self.add(server, type="preference", text=said, fields={"key": "push", "value": "Push to main"})
        self.assertEqual((entry["value"], entry["review"]), ("Push to main", "candidate"))

    def test_an_update_takes_one_new_text(self):
        server = self.server("mcp")
        self.add(server, type="decision", text="Use SQLite", id="d1")
        two = server.call("memory_update", id="d1", text="Use Oracle", fields={"decision": "Use PostgreSQL"})["result"]
        self.assertIn("E_INVALID_QUERY: text", two["content"][0]["text"])
        server.call("memory_update", id="d1", fields={"decision": "Use PostgreSQL"})
        self.assertIn("Use PostgreSQL", self.run_tool("get", "d1"))


class Search(McpToolsTest):
    TEXTS = (
        "We moved the ledger from SQLite to PostgreSQL 16, since two workers wrote at once and `SQLITE_BUSY` came back every "
        "few minutes; the migration is in `db/migrations/0042_ledger.sql`, and the old file stays as ledger.db.bak.",
        "The nightly job fails: `psycopg.errors.DeadlockDetected` in ledger/post.py, line 214.\n\nTwo transactions lock the "
        "same accounts in another order. Sort the account ids before `SELECT … FOR UPDATE`.\n\n```\nids = sorted(ids)\n```",
        "Ledger entries are never changed. A wrong posting is reversed by a second one with the opposite sign and "
        "`reverses` set, so that the auditor finds both; see docs/ledger.md, section 3.2, and ticket PAY-1182.",
        "Das Hauptbuch (ledger) rundet auf ganze Cent, kaufmännisch; Währungen ohne Nachkommastellen wie JPY haben Faktor 1. "
        "Beträge über 9.007.199.254.740.991 werden abgelehnt.",
        "Paging through the ledger with OFFSET took 4.1 s at 2 million rows. Keyset paging on (posted_at, id) takes 12 ms; "
        "the index is `ledger_posted_at_id_idx`, made CONCURRENTLY, since the table is written all day.",
    )  # fmt: skip

    def setUp(self):
        super().setUp()
        self.environment["CLAUDE_CODE_SESSION_ID"] = "0ae2185f-efe7-4bdd-a4b5-13d075f45ea4"
        self.mcp = self.server("mcp")
        self.ids = []
        for kind, text in zip(("decision", "finding", "fact", "fact", "decision"), self.TEXTS):
            fields = {"rationale": text * 3} if kind == "decision" else {}
            added = self.mcp.call("memory_add", type=kind, text=text * 2, fields=fields, agent="architect", source="web")
            self.ids.append(added["result"]["structuredContent"]["id"])

    def search(self, **arguments):
        return self.mcp.call("memory_search", query="ledger", limit=5, **arguments)["result"]

    def test_five_hits_take_few_bytes_and_say_what_matched(self):
        text = self.search()["content"][0]["text"]
        self.assertLessEqual(len(text.encode()), FIVE_HITS_SIZE_MAX, text)
        self.assertGreater(len(text.encode()), FIVE_HITS_SIZE_MAX // 2, text)
        self.assertEqual({entry for entry in self.ids if entry in text}, set(self.ids))
        self.assertEqual(text.count("\n> "), 5, text)
        self.assertRegex(text, r"dec-\w+ \| decision \| 20[-0-9]+ [0-9:]+ \| by architect \| .*web")
        self.assertRegex(text.lower(), "ledger")
        self.assertNotIn("structuredContent", self.search())

    def test_json_has_all_of_a_hit(self):
        result = self.search(format="json")
        self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        hits = result["structuredContent"]["hits"]
        self.assertEqual({hit["id"] for hit in hits}, set(self.ids))
        for hit in hits:
            self.assertIn("ledger", (hit["snippet"] + hit["headline"]).lower())
            self.assertEqual(hit["session_id"], "cc-0ae2185f-efe7-4bdd-a4b5-13d075f45ea4")
            self.assertIn("web", hit["said_by"])

    def test_a_long_list_of_hits_as_json_stays_below_what_hosts_pass_on(self):
        for number in range(60):
            self.mcp.call("memory_add", type="finding", text=f"ledger {number} " * 60)
        result = self.mcp.call("memory_search", query="ledger", limit=50, format="json")["result"]
        self.assertLess(size_of(result["structuredContent"]), 36_000)
        self.assertEqual(len(result["structuredContent"]["hits"]) + result["structuredContent"]["more"], 50)


if __name__ == "__main__":
    main()
