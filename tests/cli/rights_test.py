#!/usr/bin/env python3
"""Each row of the operation table through each of its interfaces, with workflows that forbid it.

CALLS says how an operation is asked for: as a command, over HTTP, as an MCP tool. The table says which of
them it has, so that a new operation, or a new way to an old one, fails here until it has a call.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import tomllib

from tool_under_test import SOURCE, TIMEOUT_S, TOOL, ToolTest, main

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("http", "mcp")]

from mcp_process import McpProcess  # noqa: E402
from serve_process import Server  # noqa: E402

TABLE = [operation for path in sorted((SOURCE / "lib" / "operations" / "table").glob("*.toml"))
         for operation in tomllib.loads(path.read_text(encoding="utf-8")).get("operation", [])]
TYPES = ("conversation", "decision", "finding", "preference", "fact", "event", "agent_state", "artifact")
IDS = [f"{name}1" for name in TYPES]
TEXT = "zqcanary-{} about tabs and spaces"
LINES = {
    "conversation": {"role": "user", "content": TEXT, "topic": "topic-zqcanary-{}"},
    "decision": {"decision": TEXT, "rationale": TEXT},
    "finding": {"description": TEXT, "category": "cat-zqcanary-{}"},
    "preference": {"key": "key-zqcanary-{}", "value": TEXT},
    "fact": {"key": "key-zqcanary-{}", "content": TEXT, "category": "decision"},
    "event": {"kind": "tool_use", "tool": "tool-zqcanary-{}", "content": TEXT},
    "agent_state": {"agent_id": "smith-zqcanary-{}", "state": {"step": TEXT}},
    "artifact": {"path": "zqcanary-{}.md", "title": TEXT},
}
REMEMBERED = {"category": "project_fact", "key": "indent", "value": "four spaces"}

# Operation: the command; the query or body of the route; the arguments of the tool. A string is given on stdin.
CALLS = {
    "sync": (["sync"], None, None), "push": (["push"], None, None), "pull": (["pull"], None, None),
    "hub status": (["hub", "status"], None, None), "hub member": (["hub", "member", "ann"], None, None),
    "hub replica": (["hub", "replica"], None, None), "hub rows": (["hub", "rows"], None, None),
    "hub leave": (["hub", "leave"], None, None),
    "hub reclone": (["hub", "reclone"], None, None),
    "query": (["query", "zqcanary"], "q=zqcanary", {"query": "zqcanary"}),
    "similar": (["similar", "zqcanary about tabs and spaces"], None, None),
    "related": (["related", "finding1"], "", None),
    "topics": (["topics"], "", None),
    "timeline": (["timeline"], "", None),
    "list": (["list"], "", None),
    "get": (["get", *IDS], "", {"ids": IDS}),
    "history": (["history", "fact1"], "", None),
    "watch": (["watch", "--last", "20", "--count", "20", "--for", "1"], None, None),
    "graph": (None, "", None),
    "export": (["export"], "format=jsonl", None),
    "recall": (["recall"], "", {}),
    "context": (["context", "--task", "tabs and spaces"], "agent=dev&task=tabs", {"task": "tabs and spaces"}),
    "remember": (["remember", "--category", "project_fact", "--key", "indent", "four spaces"], REMEMBERED, REMEMBERED),
    "review": (["review", "--accept", "fact1"], {"ids": ["fact1"], "review": "accepted"}, {"ids": ["fact1"], "review": "accepted"}),
    "pin": (["pin", "fact1"], {"id": "fact1"}, None),
    "unpin": (["unpin", "fact1"], None, None),
    "state set": (["state", "set", "smith", '{"a":1}'], None, None),
    "state get": (["state", "get", "smith-zqcanary-agent_state"], None, None),
    "artifact add": (["artifact", "add", "--session", "s1", "note.md"], None, None),
    "artifact get": (None, "", None),
    "learn": (["learn", "--agent", "smith", "--task", "build", "--outcome", "failure", "--error", "note.md"], None, None),
    "extract": (["extract", "--rules", "--session", "s1"], "session_id=s1", None),
    "consolidate": (["consolidate"], None, None),
    "summary show": (["summary", "show", "--session", "s1"], "", {"session_id": "s1"}),
    "summary due": (["summary", "due", "--session", "s1"], None, None),
    "summary prompt": (["summary", "prompt", "--session", "s1"], None, None),
    "summary apply": (["summary", "apply", "--session", "s1", "note.md"], None, None),
    "summary update": (["summary", "update", "--rules", "--session", "s1"], None, None),
    "summary compact": (["summary", "compact", "--session", "s1"], None, None),
    "summary compacting": (["summary", "compacting", "begin", "--session", "s1"], None, None),
    "add": (["add", "fact", "--session", "s1", "x"], {"type": "fact", "session_id": "s1", "content": "x"},
            {"type": "fact", "text": "x", "session_id": "s1"}),
    "add batch": (None, {"type": "fact", "session_id": "s1", "entries": [{"content": "x"}]}, None),
    "move": (["move", "fact1", "--scope", "user"], None, None),
    "edit": (["edit", "fact1", "--set", "content=y"], {"fields": {"content": "y"}}, {"id": "fact1", "fields": {"content": "y"}}),
    "link": (["link", "fact1", "solves", "finding1"], {"from": "fact1", "relation": "solves", "to": "finding1"},
             {"from": "fact1", "relation": "solves", "to": "finding1"}),
    "import": (["import", "note.jsonl"], None, None),
    "forget own": (None, None, {"ids": ["fact1"]}),
    "delete": (["delete", "fact1", "--yes"], "", {"ids": ["fact1"]}),
    "undelete": (["undelete", "deleted1"], {"ids": ["deleted1"]}, None),
    "session new": (["session", "new"], {}, None),
    "session set": (["session", "rename", "s1", "Night boats"], {"title": "Night boats"}, {"session_id": "s1", "title": "Night boats"}),
    "session timeline": (None, "", None),
    "session close": (["session", "close", "s1"], {}, None),
    "session archive": (["session", "archive", "s1"], {"dry_run": False}, None),
    "session restore": (["session", "restore", "old"], {}, None),
    "session delete": (["session", "delete", "s1", "--yes"], "", None),
    "session undelete": (["session", "undelete", "gone"], None, None),
    "config set": (["config", "set", "archive_after_days", "99"], {"key": "context.inject", "value": False}, None),
    "repair": (["repair"], None, None),
    "maintain": (["maintain"], {"dry_run": False}, None),
    "compact": (["compact", "--session", "s1"], {"session_id": "s1", "dry_run": False}, None),
    "restore": (["restore", "--evicted", "--session", "s1"], None, None),
    "decay": (["decay", "--write"], None, None),  # Over HTTP it writes nothing.
    "anonymize": (["anonymize", "--all", "-o", "out.jsonl"], None, None),
    "purge": (["purge", "--all", "--yes"], {"all": True, "dry_run": False}, None),
    "forget": (["forget", "--match", "zqcanary-fact", "--yes"], None, None),
    "redact": (["redact", "--all", "--yes"], None, None),
    "trust": (["trust", "--revoke"], None, None),
    "encrypt": (["encrypt", "on", "--key-file", "../zq-key", "--yes"], None, None),
    "memory-tool": (["memory-tool", '{"command":"create","path":"/memories/a.md","file_text":"x"}'], None, None),
}
# What each row without a right tells; no content of types that may not be read may be in it.
OPEN_CALLS = {
    "stats": (["stats"], "", {}), "session list": (["session", "list"], "", {}), "session show": (["session", "show", "s1"], "", None),
    "health": (None, "", None), "settings": (None, "", None), "verify": (["verify"], "", None), "audit": (["audit"], "", None),
    "doctor": (["doctor"], "", None), "privacy": (["privacy"], None, None), "stale": (["stale"], None, None),
    "summary stats": (["summary", "stats", "--session", "s1"], None, None), "decay": (["decay", "--session", "s1"], "", None),
    "maintain": (["maintain", "--dry-run"], {"dry_run": True}, None), "complete-words": (["complete-words", "--", "get", ""], None, None),
    "rebuild-index": (["rebuild-index"], None, None),
    "encode": (["encode"], None, None), "more": (None, None, {"tool": "memory_stats"}),
}
# Rows that have nothing to do with what is stored, or start what is tried in a way of its own.
OUTSIDE = {"config list", "config get", "mcp", "serve", "hook", "git install", "git uninstall", "git resolve", "git untrack-events", "git check", "install", "uninstall", "setup",
           "init", "hub init", "hub join", "hub policy", "hub upgrade", "help", "completion", "version", "man", "merge-driver", "textconv", "schema"}
INSIDE_ONLY = {"find text", "session adopt"}  # Calls of C++ alone: tests/operations/rights_test.cpp.
MANAGE = {"manage", "change"}
NAMES = {"conversation": "conversation", "agent_state": "agent_states", "event": "events"}


def interfaces(operation):
    """The places of CALLS that this operation has a way through."""
    return [place for place, name in enumerate(("cli", "http", "mcp")) if name in operation]


def filled(value, name):
    if isinstance(value, dict):
        return {key: filled(part, name) for key, part in value.items()}
    return value.replace("{}", name)


class RightsTest(ToolTest):
    def setUp(self):
        super().setUp()
        (self.folder / "run").mkdir(mode=0o700)
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder / "run")
        self.run_tool("init")
        for session in ("s1", "old", "gone"):
            self.run_tool("session", "new", "--id", session)
            for name in TYPES:
                entry = {"id": f"{name}1" if session == "s1" else f"{name}-{session}", **filled(LINES[name], name)}
                self.run_tool("add", name, "--session", session, json.dumps(entry))
        self.run_tool("add", "fact", "--session", "s1", "--id", "deleted1", "x")
        self.run_tool("pin", *IDS, "--session", "s1")
        self.run_tool("delete", "deleted1", "--yes")
        self.run_tool("link", "fact1", "solves", "finding1")
        self.run_tool("link", "decision1", "refines", "conversation1")
        self.run_tool("edit", "fact1", "--set", "tags=tag-zqcanary-fact")
        self.run_tool("summary", "update", "--rules", "--session", "s1")
        self.run_tool("remember", "--category", "project_fact", "--key", "key-zqcanary-fact", "another zqcanary-fact")
        self.run_tool("session", "archive", "old")
        self.run_tool("session", "delete", "gone", "--yes")
        (self.folder / "note.md").write_text("# A note\n", encoding="ascii")
        (self.folder / "note.jsonl").write_text('{"type":"fact","content":"x"}\n', encoding="ascii")
        self.root = self.folder / ".bmad" / "memory"

    def workflow(self, read=(), write=()):
        path = self.folder / "flow.yaml"
        lists = {"read_access": list(read), "write_access": list(write)}
        path.write_text(json.dumps({"workflow": {"memory_requirements": lists}}), encoding="ascii")
        return path

    def logs(self):
        """What is stored, without what is derived and counted."""
        return {path.relative_to(self.root): path.read_bytes() for path in sorted(self.root.rglob("*"))
                if path.is_file() and path.suffix in (".jsonl", ".md", ".gz") and path.name != "access.jsonl"
                and "shared" not in path.parts and "index" not in path.parts}

    def command(self, call, workflow):
        arguments, stdin = list(call), ""
        if arguments[0] == "memory-tool":
            stdin = arguments.pop()
        done = subprocess.run([TOOL, "--json", "--workflow", workflow, *arguments], cwd=self.folder, env=self.environment,
                              input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        return done.stdout + done.stderr, done.returncode == 0

    def route(self, server, operation, call):
        method, path = operation["http"]["route"].split(" ")
        path = path.replace("{session_id}", "old" if operation["name"] == "session restore" else "s1")
        path = path.replace("{id}", "artifact1" if "artifacts" in path else "fact1")
        if isinstance(call, str):
            answer = server.ask(method, f"{path}?{call}" if call else path, None if method == "GET" else {})
        else:
            answer = server.ask(method, path, call)
        return answer.body.decode(), answer.status < 400

    def tool_call(self, agent, operation, call):
        answer = agent.call(operation["mcp"]["tool"], **call)
        return json.dumps(answer), "error" not in answer and not answer["result"].get("isError", False)

    def every_answer(self, workflow, wanted, calls=CALLS):
        """(operation, interface, text, whether it was done) of all operations that `wanted` takes."""
        server = Server(TOOL, self.folder, self.environment, "--workflow", str(workflow))
        self.addCleanup(server.process.stdout.close)
        agent = McpProcess([TOOL, "--workflow", workflow, "mcp"], self.folder, self.environment)
        agent.open()
        try:
            for operation in filter(wanted, TABLE):
                for place in interfaces(operation):
                    call = calls.get(operation["name"], (None, None, None))[place]
                    if call is None:
                        continue
                    ask = (lambda: self.command(call, workflow), lambda: self.route(server, operation, call),
                           lambda: self.tool_call(agent, operation, call))[place]
                    yield operation["name"], ("command", "route", "tool")[place], *ask()
        finally:
            agent.end()
            server.stop()

    def check_refused(self, workflow, wanted):
        before = self.logs()
        count = 0
        for name, interface, text, is_done in self.every_answer(workflow, wanted):
            count += 1
            with self.subTest(operation=name, interface=interface):
                self.assertFalse(is_done, text[:600])
                self.assertIn("its workflow would have to name", text)
                if interface == "route":
                    self.assertEqual(json.loads(text)["error"]["code"], "E_ACCESS_DENIED")
                self.assertNotIn("zqcanary", text.replace("smith-zqcanary-agent_state", ""))
                self.assertEqual(self.logs(), before)
        return count

    def test_each_operation_has_a_call_for_each_of_its_interfaces(self):
        for operation in TABLE:
            name = operation["name"]
            calls = {**OPEN_CALLS, **CALLS} if operation["rights"] != "none" else OPEN_CALLS
            if name in OUTSIDE or name in INSIDE_ONLY:
                self.assertTrue(operation["rights"] == "none" or name in INSIDE_ONLY, name)
                continue
            for place in interfaces(operation):
                found = (calls.get(name) or (None,) * 3)[place] is not None or (OPEN_CALLS.get(name) or (None,) * 3)[place] is not None
                self.assertTrue(found, f"{name}: say in CALLS how it is called by {('command', 'route', 'tool')[place]}")
        known = {operation["name"] for operation in TABLE}
        self.assertEqual((set(CALLS) | set(OPEN_CALLS)) - known, set(), "no such operations")

    def test_nothing_is_done_for_those_who_may_nothing(self):
        count = self.check_refused(self.workflow(), lambda operation: operation["rights"] != "none")
        self.assertGreater(count, 80)

    def test_no_option_is_a_way_around(self):
        """Options that make of an operation of the table something else: what decides about trust, keys and redaction."""
        (self.folder / "other-key").write_text("x" * 64, encoding="ascii")
        ways = (["trust", "--yes"], ["trust", "--revoke"], ["review", "--accept", "fact1"], ["review", "--drop", "fact1"],
                ["review", "--foreign", "--accept", "fact1"], ["recall", "--accept", "fact1"], ["recall", "--drop", "fact1"],
                ["encrypt", "on", "--sensitive", "--key-file", "other-key"], ["encrypt", "on", "--session", "s1", "--key-file", "other-key"],
                ["encrypt", "off"], ["encrypt", "off", "--without-key", "--yes"], ["encrypt", "rotate", "--new-key-file", "other-key"], ["redact", "--allow", "note.md"],
                ["redact", "--allow", "--rule", "ip"], ["redact", "--session", "s1", "--yes"],
                ["remember", "--category", "constraint", "--agent-id", "smith", "x"], ["edit", "fact1", "--set", "content=x"])

        def kept():
            state = pathlib.Path(self.environment["XDG_STATE_HOME"])
            files = [self.root / "config.json", *sorted(path for path in state.rglob("*") if path.is_file())]
            return self.logs(), {path: path.read_bytes() for path in files if path.exists()}

        for rights in ({}, {"read": ["all"]}):
            flow = self.workflow(**rights)
            before = kept()
            for way in ways:
                with self.subTest(way=way, rights=rights):
                    said, is_done = self.command(way, flow)
                    self.assertFalse(is_done, said[:600])
                    self.assertIn("E_ACCESS_DENIED", said)
                    self.assertEqual(kept(), before)

    def test_readers_change_nothing(self):
        self.check_refused(self.workflow(read=["all"]),
                           lambda operation: operation["rights"].split(" ")[0] in ("write", *MANAGE))

    def test_who_may_not_write_all_manages_nothing(self):
        self.check_refused(self.workflow(read=["all"], write=["findings", "facts"]), lambda operation: operation["rights"] in MANAGE)

    def test_nothing_is_told_of_types_that_may_not_be_read(self):
        for mine in ("finding", "conversation", "fact"):
            others = [name for name in TYPES if name != mine]
            flow = self.workflow(read=[mine])
            every = itertools.chain(
                self.every_answer(flow, lambda operation: operation["rights"].split(" ")[0] in ("read", "none"), {**CALLS, **OPEN_CALLS}),
                self.every_answer(flow, lambda operation: operation["rights"] == "change", OPEN_CALLS))
            told = 0
            for name, interface, text, _ in every:
                with self.subTest(operation=name, interface=interface, may_read=mine):
                    found = [other for other in others if f"zqcanary-{other}" in text.replace("smith-zqcanary-agent_state", "")]
                    self.assertEqual(found, [], text[:2000])
                told += f"zqcanary-{mine}" in text
            self.assertGreater(told, 3, "what may be read is not told either")

    def test_an_unreadable_entry_is_as_one_that_is_not_there(self):
        """No answer says whether an entry of a type that may not be read is pinned, or is there at all."""
        flow = self.workflow(read=["finding"], write=["finding"])
        self.run_tool("unpin", "decision1")
        for command in ("pin", "unpin"):
            pinned, unpinned = (self.command([command, entry], flow) for entry in ("fact1", "decision1"))
            self.assertEqual(pinned[0].replace("fact", "decision"), unpinned[0], command)
            self.assertFalse(pinned[1])
            self.assertIn("E_ACCESS_DENIED", pinned[0])

    def test_resources_and_prompts_of_mcp_tell_nothing_either(self):
        agent = McpProcess([TOOL, "--workflow", self.workflow(read=["finding"]), "mcp"], self.folder, self.environment)
        agent.open()
        try:
            texts = [json.dumps(agent.request(method, {})) for method in ("resources/list", "resources/templates/list", "prompts/list")]
            for resource in agent.request("resources/list", {})["result"]["resources"]:
                texts.append(json.dumps(agent.request("resources/read", {"uri": resource["uri"]})))
            for template in agent.request("resources/templates/list", {})["result"]["resourceTemplates"]:
                for entry in IDS:
                    uri = template["uriTemplate"].replace("{session_id}", "s1").replace("{session}", "s1").replace("{id}", entry)
                    texts.append(json.dumps(agent.request("resources/read", {"uri": uri})))
            for prompt in agent.request("prompts/list", {})["result"]["prompts"]:
                arguments = {argument["name"]: "tabs" for argument in prompt.get("arguments", [])}
                texts.append(json.dumps(agent.request("prompts/get", {"name": prompt["name"], "arguments": arguments})))
        finally:
            agent.end()
        for text in texts:
            for name in TYPES:
                if name != "finding":
                    self.assertNotIn(f"zqcanary-{name}", text)

    def test_hooks_keep_to_the_workflow(self):
        """A hook never fails; it writes and tells what the workflow allows."""
        events = SOURCE / "tests" / "cli" / "fixtures" / "hooks"
        for client in ("claude-code", "codex"):
            for path in sorted((events / client).glob("*.json")):
                if ".golden" in path.name:
                    continue
                before = self.logs()
                environment = {**self.environment, "BMAD_MEM_WORKFLOW": str(self.workflow())}
                done = subprocess.run([TOOL, "hook", client, "--budget-ms", "20000", "--limit-ms", "60000"], cwd=self.folder,
                                      env=environment, input=path.read_text(encoding="utf-8").replace("/home/dev/proj", str(self.folder)),
                                      capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
                with self.subTest(client=client, event=path.name):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotIn("zqcanary", done.stdout + done.stderr)
                    self.assertEqual(self.logs(), before)

    def test_the_graph_of_another_server_keeps_to_it_too(self):
        agent = McpProcess([TOOL, "--workflow", self.workflow(), "mcp", "--compat", "server-memory"], self.folder, self.environment)
        agent.open()
        before = self.logs()
        entity = {"name": "x", "entityType": "t", "observations": ["o"]}
        for tool, arguments in (("create_entities", {"entities": [entity]}), ("read_graph", {}), ("search_nodes", {"query": "x"}),
                                ("delete_entities", {"entityNames": ["x"]})):
            with self.subTest(tool):
                self.assertTrue(agent.call(tool, **arguments)["result"].get("isError"), tool)
        agent.end()
        self.assertEqual(self.logs(), before)

    def test_a_workflow_that_is_hostile_opens_nothing(self):
        """What can't be read as a workflow is refused as a whole: it never falls back to all rights."""
        path = self.folder / "flow.yaml"
        for text in ("", "[", "a: b\n", "workflow: {memory_requirements: {read_access: everything}}",
                     "workflow: {memory_requirements: [all]}", "read_access: all\n", "\x00", "workflow:\n  memory_requirements:\n"
                     "    read_access: " + "[" * 100_000, "&a [*a]\n", "- " * 50_000, "{" * 40 + "}" * 40,
                     "workflow: {memory_requirements: {read_access: [all, nonsense]}}"):
            path.write_text(text, encoding="utf-8")
            said, is_done = self.command(["list"], path)
            with self.subTest(text=text[:60]):
                self.assertFalse(is_done, said)
                self.assertNotIn("zqcanary", said)
            before = self.logs()
            environment = {**self.environment, "BMAD_MEM_WORKFLOW": str(path)}
            event = {"hook_event_name": "UserPromptSubmit", "session_id": "h1", "cwd": str(self.folder), "prompt": "tabs and spaces"}
            request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_recall", "arguments": {}}}
            for words, stdin in ((["hook", "claude-code"], event), (["mcp"], request), (["serve"], {}), (["trust", "--yes"], {})):
                done = subprocess.run([TOOL, *words], cwd=self.folder, env=environment, input=json.dumps(stdin) + "\n", capture_output=True,
                                      text=True, timeout=TIMEOUT_S, check=False)
                with self.subTest(text=text[:60], words=words):
                    self.assertNotIn("zqcanary", done.stdout + done.stderr)
                    self.assertEqual(self.logs(), before)
                    self.assertTrue(words[0] == "hook" or done.returncode != 0 or "error" in done.stdout.lower(), done.stdout)
        path.unlink()
        for make in (lambda: path.mkdir(), lambda: path.rmdir() or os.mkfifo(path), path.unlink):
            make()
            said, is_done = self.command(["list"], path)
            self.assertFalse(is_done, said)
            self.assertNotIn("zqcanary", said)

if __name__ == "__main__":
    main()
