#!/usr/bin/env python3
"""What was deleted stays gone, whatever imports or records it again, until it is undeleted.

Usage: import_gone_test.py TOOL
"""

import json
import pathlib

import import_sources_test
import import_test
from tool_under_test import ToolTest, main

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures" / "import"
TIME = "2026-01-02T03:04:05.000Z"
TIME_MS = 1767323045000
# By format: the name of a file, and what it holds; or a file or folder of the fixtures.
SOURCES = {
    "claude-code": ("c.jsonl", "\n".join(import_test.record(role, "s", i) for i, role in enumerate(("user", "assistant")))),
    "codex": FIXTURES / "codex",
    "gemini": FIXTURES / "gemini",
    "qwen": ("q.jsonl", json.dumps({"uuid": "q1", "sessionId": "S1", "timestamp": TIME, "type": "user", "cwd": "/a", "version": "1",
                                    "message": {"role": "user", "parts": [{"text": "Which quay?"}]}})),
    "copilot": ("c.jsonl", "\n".join(json.dumps({"id": f"e{i}", "timestamp": TIME, "parentId": None, "type": kind, "data": data})
                                     for i, (kind, data) in enumerate((("session.start", {"sessionId": "C1"}),
                                                                       ("user.message", {"content": "Mend it"}))))),
    "aider": (".aider.chat.history.md", "\n# aider chat started at 2024-08-05 19:33:02\n\n#### When is high tide?  \n\nAt six.\n"),
    "cline": FIXTURES / "cline",
    "opencode": ("o.json", json.dumps({"info": {"id": "ses_1", "title": "Horn", "directory": "/a"}, "messages": [
        {"info": {"id": "msg_1", "role": "user", "sessionID": "ses_1", "time": {"created": TIME_MS}},
         "parts": [{"id": "prt_1", "type": "text", "text": "Mend it"}]}]})),
    "letta": ("pilot.af", json.dumps({"agents": [{"id": "agent-0", "name": "Pilot", "block_ids": ["block-0"], "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Which quay?"}], "created_at": TIME}]}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Ann, a pilot"}]})),
    "claude-mem": ("claude-mem.db", import_test.claude_mem),
    "cursor": ("state.vscdb", lambda path: import_test.cursor_state(
        path, [("chat", "Tides", [{"bubbleId": "b1", "type": 1, "text": "Which file?"}])]).close()),
    "server-memory": FIXTURES / "server-memory",
    "basic-memory": FIXTURES / "basic-memory",
    "codex-memories": ("MEMORY.md", "# Boats\n\nTwo of them.\n"),
    "markdown": ("rules.md", "# Boats\n\nTwo of them.\n"),
    "mem0": FIXTURES / "mem0",
    "chatgpt": FIXTURES / "chatgpt",
    "claude-ai": ("conversations.json", json.dumps([{"uuid": "c1", "name": "Boats", "created_at": TIME, "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Which quay?", "created_at": TIME}]}])),
    "vscode": ("v1.json", json.dumps({"version": 3, "sessionId": "v1", "requests": [
        {"requestId": "r1", "timestamp": TIME_MS, "message": {"text": "Which quay?"}, "response": [{"value": "Nine."}]}]})),
    "pi": ("p.jsonl", "\n".join(map(json.dumps, (
        {"type": "session", "id": "p1", "timestamp": TIME, "cwd": "/a"},
        {"type": "message", "id": "a1", "timestamp": TIME, "message": {"role": "user", "content": "Which quay?"}})))),
    "goose": ("g.db", lambda path: import_sources_test.make_goose_database(path)),
    "crush": ("crush.db", lambda path: import_sources_test.make_crush_database(path)),
    "kiro": ("k.jsonl", json.dumps({"kind": "Prompt", "data": {"message_id": "k1", "content": [{"kind": "text", "data": "Which quay?"}]}})),
    "beads": ("issues.jsonl", json.dumps({"id": "bd-1", "title": "Stuck", "status": "open", "issue_type": "bug", "created_at": TIME})),
    "jsonl": ("own.jsonl", json.dumps({"type": "fact", "session_id": "s1", "id": "f1", "timestamp": TIME,
                                       "category": "project_fact", "content": "Tea is at four"})),
}


class Gone(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")

    def entries(self):
        return sorted(json.loads(line)["id"] for line in self.run_tool("--json", "list", "--limit", "0").splitlines())

    def sessions(self, *options):
        return [json.loads(line)["session_id"] for line in self.run_tool("--json", "session", "list", *options).splitlines()]

    def import_json(self, *arguments):
        return json.loads(self.run_tool("--json", "import", *arguments))

    def check_stays_gone(self, imported, session, undelete):
        """Of `imported` nothing is there, and nothing comes with another import until `undelete`."""
        command, ids = imported
        for _ in range(2):
            report = self.import_json(*command)
            self.assertEqual((report["imported"], report["known"] + report.get("deleted", 0) > 0), (0, True), report)
        self.assertEqual((self.entries(), self.sessions()), ([], session))
        for name in undelete[1:]:
            self.run_tool(*undelete[0], name)
        self.assertEqual(self.entries(), ids)
        self.assertEqual(self.import_json(*command)["imported"], 0)

    def test_every_importer_leaves_out_what_was_deleted(self):
        names = [json.loads(line)["name"] for line in self.run_tool("--json", "import", "--list").splitlines()]
        self.assertEqual(sorted(SOURCES), sorted(names))
        for git in (False, True):
            for name, source in SOURCES.items():
                with self.subTest(source=name, git=git):
                    ToolTest.setUp(self)  # A folder for each.
                    self.run_tool("--quiet", "init")
                    if git:
                        self.run_command("git", "init", "-q")
                    path = source
                    if isinstance(source, tuple):
                        path = self.folder / source[0]
                        path.write_text(source[1]) if isinstance(source[1], str) else source[1](path)
                    command = ("--from", name, "--all-projects", str(path))
                    self.assertGreater(self.import_json(*command)["imported"], 0)
                    ids, sessions = self.entries(), self.sessions()
                    self.run_tool("delete", *ids, "--yes")
                    self.check_stays_gone((command, ids), sessions, (["undelete"], *ids))
                    for session in sessions:
                        self.run_tool("session", "delete", session, "--yes")
                    self.check_stays_gone((command, ids), [], (["session", "undelete"], *sessions))

    def test_an_export_leaves_out_what_was_deleted(self):
        self.run_tool("session", "new", "--id", "s1")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", "Tea is at four")
        self.run_tool("session", "close", "s1")
        for name in ("jsonl", "json"):
            path = self.folder / f"all.{name}"
            path.write_text(self.run_tool("export", "--format", name))
            self.run_tool("session", "delete", "s1", "--yes")
            self.check_stays_gone(((str(path),), ["f1"]), [], (["session", "undelete"], "s1"))

    def test_what_a_hook_recorded_stays_gone_under_the_id_of_the_transcript(self):
        event = {"session_id": "s", "cwd": str(self.folder), "hook_event_name": "UserPromptSubmit", "prompt": "message 0"}
        self.run_tool("hook", "claude-code", stdin=json.dumps(event))
        path = self.folder / "s.jsonl"
        path.write_text("\n".join(import_test.record(role, "s", i) for i, role in enumerate(("user", "assistant"))))
        (recorded,) = self.entries()
        self.run_tool("delete", recorded, "--yes")
        self.assertEqual(self.import_json(str(path))["imported"], 1)  # The answer is new.
        self.assertEqual(self.entries(), ["s-000001"])
        self.run_tool("session", "delete", "cc-s", "--yes")
        self.assertEqual(self.import_json(str(path))["imported"], 0)
        self.assertEqual((self.entries(), self.sessions()), ([], []))

    def test_a_conversation_that_goes_on_brings_what_is_new(self):
        path = self.folder / "s.jsonl"
        path.write_text(import_test.record("user", "s", 0) + "\n")
        self.import_json(str(path))
        self.run_tool("session", "delete", "cc-s", "--yes")
        with path.open("a") as file:
            file.write(import_test.record("user", "s", 1) + "\n")
        report = self.import_json(str(path))
        self.assertEqual((report["imported"], report.get("deleted", 0)), (1, 1))
        self.assertEqual(self.entries(), ["s-000001"])
        self.run_tool("session", "undelete", "cc-s")
        self.assertEqual(self.entries(), ["s-000000", "s-000001"])
        self.assertIn("1 was deleted, `bmad-mem undelete` restores it", self.said_of_deleted(path))

    def said_of_deleted(self, path):
        self.run_tool("delete", "s-000001", "--yes")
        return self.run_tool("import", str(path))

    def test_a_hook_that_repeats_itself_brings_nothing_back(self):
        event = {"session_id": "s", "cwd": str(self.folder), "hook_event_name": "PostToolUse", "tool_name": "Bash",
                 "tool_use_id": "t1", "tool_input": {"command": "make"}, "tool_response": {"stdout": "ok", "stderr": ""}}
        for purge in ([], ["--purge"]):
            self.run_tool("hook", "claude-code", stdin=json.dumps(event))
            self.run_tool("delete", *self.entries(), "--yes", *purge)
            self.run_tool("hook", "claude-code", stdin=json.dumps(event))
            self.assertEqual(self.entries(), [])
            if not purge:
                self.run_tool("undelete", "t1", "t1-result")
                self.assertEqual(self.entries(), ["t1", "t1-result"])

    def test_what_was_added_again_after_its_deletion_is_known_as_ever(self):
        line = {"type": "fact", "session_id": "s1", "id": "f1", "timestamp": TIME, "category": "project_fact", "content": "One"}
        path = self.folder / "own.jsonl"
        path.write_text(json.dumps(line))
        self.import_json(str(path))
        self.run_tool("delete", "f1", "--yes")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", "Two")
        path.write_text(json.dumps({**line, "timestamp": "2999-01-02T03:04:05Z", "content": "Three"}))
        self.assertEqual(self.import_json(str(path))["imported"], 1)


if __name__ == "__main__":
    main()
