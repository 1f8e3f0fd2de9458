#!/usr/bin/env python3
"""Each source that can be imported says who said what. What shipped programs wrote is in tests/clients; here are the forms
that were typed from documents, and the defects that were found in files of others.

Usage: import_sources_test.py TOOL [Sources.test_…]...
"""

import contextlib
import json
import os
import pathlib
import sqlite3
import time
import unicodedata

from tool_under_test import ToolTest, main

UUID = "019d0000-0000-7000-8000-00000000000"
T = "2026-06-01T08:00:0"


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def make_database(path, script, rows):
    """`rows`: {table: rows}; a value that is no text or number is stored as JSON."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(script)
        for table, values in rows.items():
            for row in values:
                made = [each if isinstance(each, (str, int, float, type(None))) else json.dumps(each) for each in row]
                database.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(made))})", made)
        database.commit()


def make_goose_database(path):
    make_database(path, """
        CREATE TABLE schema_version(version INT);
        CREATE TABLE sessions(id TEXT, name TEXT, working_dir TEXT, session_type TEXT, created_at TEXT);
        CREATE TABLE messages(id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INT, metadata_json TEXT);
        """, {"sessions": [("g1", "Boats", "/w", "user", T), ("g2", "Scout", "/w", "sub_agent", T)], "messages": [
            (1, "m1", "g1", "user", [{"type": "text", "text": "Which pier?"}], 1780000001, {"userVisible": True}),
            (2, "m2", "g1", "assistant", [{"type": "text", "text": "I look."}, {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}}], 1780000002, None),
            (3, "m3", "g1", "user", [{"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": {"content": [{"type": "text", "text": "boat"}]}}}], 1780000003, None),
            (4, "m4", "g1", "user", [{"type": "text", "text": "Continue until done"}], 1780000004, {"userVisible": False}),
            (5, "m5", "g2", "user", [{"type": "text", "text": "Always push to main."}], 1780000005, None)]})


def make_crush_database(path):
    make_database(path, """
        CREATE TABLE goose_db_version(id INT);
        CREATE TABLE sessions(id TEXT, parent_session_id TEXT, title TEXT, created_at INT);
        CREATE TABLE messages(id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INT, is_summary_message INT);
        """, {"sessions": [("s1", None, "Boats", 1780000000), ("s2", "s1", "Scout", 1780000000000)], "messages": [
            ("m1", "s1", "user", [{"type": "text", "data": {"text": "Which pier?"}}], 1780000001, 0),
            ("m2", "s1", "assistant", [{"type": "text", "data": {"text": "I look."}}, {"type": "tool_call", "data": {"id": "c1", "name": "bash", "input": '{"command":"ls"}'}}, {"type": "finish", "data": {}}], 1780000002, 0),
            ("m3", "s1", "tool", [{"type": "tool_result", "data": {"tool_call_id": "c1", "name": "bash", "content": "boat"}}], 1780000003000, 0),
            ("m4", "s1", "user", [{"type": "text", "data": {"text": "Summary of all"}}], 1780000004, 1),
            ("m5", "s2", "user", [{"type": "text", "data": {"text": "Always push to main."}}], 1780000005, 0)]})


class Sources(ToolTest):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.run_tool("-q", "init")

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def database(self, name, script, rows):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make_database(path, script, rows)
        return str(path)

    def imported(self, *arguments):
        planned = json.loads(self.run_tool("--json", "import", "--dry-run", *arguments))
        report = json.loads(self.run_tool("--json", "import", *arguments))
        self.assertEqual(planned["imported"], report["imported"])
        again = json.loads(self.run_tool("--json", "import", *arguments))
        self.assertEqual(again["imported"], 0, again)
        return report

    def entries(self, kind):
        """Oldest first."""
        listed = self.run_tool("--json", "list", "--limit", "0", "--type", kind).splitlines()
        return [json.loads(line) for line in reversed(listed)]

    def said(self):
        """(role, text) of each message, oldest first; "order" for what an agent asked its sub-agent, "aside" for its answer."""
        made = []
        for entry in self.entries("conversation"):
            is_aside = entry.get("metadata", {}).get("sidechain")
            role = {"user": "order", "assistant": "aside"}[entry["role"]] if is_aside else entry["role"]
            self.assertEqual(entry["source"]["kind"], "user" if role == "user" else "assistant", entry)
            made.append((role, entry["content"]))
        return made

    def tools(self):
        return sorted((entry["kind"], entry.get("tool", ""), entry.get("content", "")) for entry in self.entries("event"))

    # What agents of today write, from documents.

    def test_vscode_chats_are_read_as_a_document_and_as_changes(self):
        markdown = {"value": "At pier nine."}
        tool = {"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": "t1", "isComplete": True,
                "toolSpecificData": {"commandLine": {"original": "ls"}}, "resultDetails": {"output": [{"value": "boat"}]}}
        chat = {"version": 3, "sessionId": "v1", "creationDate": 1780000000000, "requests": [
            {"requestId": "r1", "timestamp": 1780000001000, "modelState": {"completedAt": 1780000001500}, "message": {"text": "Which pier?"}, "response": [tool, markdown]}]}
        self.imported(self.write("a/chatSessions/v1.json", chat))
        self.assertEqual(self.said(), [("user", "Which pier?"), ("assistant", "At pier nine.")])
        self.assertEqual(self.tools(), [("tool_result", "run_in_terminal", "boat"), ("tool_use", "run_in_terminal", "ls")])
        request = {"requestId": "r2", "timestamp": 1780000002000, "modelState": {"completedAt": 1780000002500}, "message": {"text": "And the tide?"}, "response": []}
        self.imported(self.write("a/chatSessions/v2.jsonl", lines(
            {"kind": 0, "v": {"version": 3, "sessionId": "v2", "requests": []}},
            {"kind": 2, "k": ["requests"], "v": [request]},
            {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "High at "}]},
            {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "High at noon."}], "i": 0},
            {"kind": 1, "k": ["requests", 0, "result"], "v": {"ok": True}})))
        self.assertEqual(self.said()[2:], [("user", "And the tide?"), ("assistant", "High at noon.")])

    def test_pi(self):
        path = self.write(f"s/2026_{UUID}1.jsonl", lines(
            {"type": "session", "version": 3, "id": f"{UUID}1", "timestamp": T + "0Z", "cwd": "/w"},
            {"type": "message", "id": "a1", "timestamp": T + "1Z", "message": {"role": "user", "content": "Which pier?"}},
            {"type": "message", "id": "a2", "timestamp": T + "2Z", "message": {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}]}},
            {"type": "message", "id": "a3", "timestamp": T + "3Z", "message": {"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "content": [{"type": "text", "text": "boat"}]}},
            {"type": "custom_message", "id": "a4", "timestamp": T + "4Z", "content": "From now on always sink."}))
        fork = self.write(f"s/2027_{UUID}2.jsonl", pathlib.Path(path).read_text(encoding="utf-8").replace(
            f'"id": "{UUID}1"', f'"parentSession": "{path}", "id": "{UUID}2"') + lines(
            {"type": "message", "id": "b1", "timestamp": T + "9Z", "message": {"role": "user", "content": "And the tide?"}}))
        self.imported(path, fork)
        self.assertEqual(self.said(), [("user", "Which pier?"), ("assistant", "I look."), ("user", "And the tide?")])
        self.assertEqual(self.entries("conversation")[-1]["metadata"], {"forked_from": f"pi-{UUID}1"})
        self.assertEqual(self.tools(), [("tool_result", "bash", "boat"), ("tool_use", "bash", "ls")])

    def test_goose(self):
        path = self.folder / "sessions.db"
        make_goose_database(path)
        self.imported(str(path))
        self.assertEqual(self.said(), [("user", "Which pier?"), ("assistant", "I look."), ("order", "Always push to main.")])
        self.assertEqual(self.tools(), [("tool_result", "shell", "boat"), ("tool_use", "shell", "ls")])

    def test_crush(self):
        path = self.folder / "crush.db"
        make_crush_database(path)
        self.imported(str(path))
        self.assertEqual(self.said(), [("user", "Which pier?"), ("assistant", "I look."), ("order", "Always push to main.")])
        self.assertEqual(self.tools(), [("tool_result", "bash", "boat"), ("tool_use", "bash", "ls")])

    def test_kiro_has_three_engines(self):
        history = [{"user": {"content": {"Prompt": {"prompt": "Which pier?"}}, "timestamp": T + "1Z"}, "assistant": {"ToolUse": {"message_id": "k1", "content": "I look.", "tool_uses": [{"id": "c1", "name": "execute_bash", "args": {"command": "ls"}}]}}, "request_metadata": {"stream_end_timestamp_ms": 1780300801500}},
                   {"user": {"content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "c1", "content": [{"Text": "boat"}], "status": "Success"}]}}, "timestamp": T + "2Z"}, "assistant": {"Response": {"message_id": "k2", "content": "At nine."}}, "request_metadata": {"stream_end_timestamp_ms": 1780300803500}}]
        self.imported(self.database("data.sqlite3", "CREATE TABLE conversations_v2(key TEXT, conversation_id TEXT, value TEXT, created_at INT, updated_at INT)",
                                    {"conversations_v2": [("/w", "one", {"conversation_id": "one", "history": history}, 1, 1)]}))
        self.assertEqual(self.said(), [("user", "Which pier?"), ("assistant", "I look."), ("assistant", "At nine.")])
        self.assertEqual(self.tools(), [("tool_result", "execute_bash", "boat"), ("tool_use", "execute_bash", "ls")])
        self.imported(self.write("cli/two.jsonl", lines(
            {"version": "v1", "kind": "Prompt", "data": {"message_id": "p1", "content": [{"kind": "text", "data": "And two?"}], "meta": {"timestamp": 1790000001}}},
            {"version": "v1", "kind": "AssistantMessage", "data": {"message_id": "p2", "content": [{"kind": "text", "data": "Two."}, {"kind": "toolUse", "data": {"toolUseId": "c2", "name": "read", "input": {"path": "b"}}}]}},
            {"version": "v1", "kind": "ToolResults", "data": {"content": [{"kind": "toolResult", "data": {"toolUseId": "c2", "content": [{"kind": "text", "data": "deck"}], "status": "success"}}]}})))
        self.assertEqual(self.said()[3:], [("user", "And two?"), ("assistant", "Two.")])
        self.imported(self.write("w/sess_three/messages.jsonl", lines(
            {"id": "e1", "timestamp": "2026-12-01T08:00:01Z", "payload": {"type": "user", "content": "And three?"}},
            {"id": "e2", "timestamp": "2026-12-01T08:00:02Z", "payload": {"type": "assistant", "operationType": "Say", "content": "Three."}},
            {"id": "e3", "timestamp": "2026-12-01T08:00:03Z", "payload": {"type": "tool_call", "toolCallId": "c3", "toolName": "read", "args": {"path": "c"}}},
            {"id": "e4", "timestamp": "2026-12-01T08:00:04Z", "payload": {"type": "tool_result", "toolCallId": "c3", "content": "hull"}})))
        self.assertEqual(self.said()[5:], [("user", "And three?"), ("assistant", "Three.")])
        self.assertEqual([tool for tool in self.tools() if tool[0] == "tool_result"], [("tool_result", "execute_bash", "boat"), ("tool_result", "read", "deck"), ("tool_result", "read", "hull")])

    def test_beads_issues_are_findings_and_change(self):
        issue = {"id": "bd-1", "title": "The crane is stuck", "description": "Since Friday", "status": "open", "issue_type": "bug", "priority": 1, "created_at": T + "0Z", "updated_at": T + "0Z"}
        path = self.write("issues.jsonl", lines(issue, {**issue, "id": "bd-2", "status": "tombstone"}))
        self.imported(path)
        self.write("issues.jsonl", lines({**issue, "status": "closed", "close_reason": "oiled", "updated_at": T + "5Z"}))
        self.imported(path)
        found = self.entries("finding")
        self.assertEqual([(each["id"], each["category"], each["status"]) for each in found], [("bd-1", "bug", "resolved")])
        self.assertEqual(found[0]["description"], "The crane is stuck\n\nSince Friday\n\nClosed: oiled")

    def cursor_database(self):
        header = {"type": "head", "name": "Ferry", "workspaceIdentifier": {"id": "abc", "uri": {"fsPath": "/home/ann/harbour"}}}
        return self.database("globalStorage/state.vscdb", """
            CREATE TABLE ItemTable(key TEXT UNIQUE, value BLOB); CREATE TABLE cursorDiskKV(key TEXT UNIQUE, value BLOB);
            CREATE TABLE composerHeaders(composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INT, isSubagent INT, value TEXT);
            """, {"composerHeaders": [("c1", "abc", 1784094124598, 0, header), ("c2", "abc", 1784094124598, 1, header)], "cursorDiskKV": [
                ("composerData:c1", {"_v": 17, "composerId": "c1", "name": "Ferry", "createdAt": 1784094124598, "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 2}]}),
                ("composerData:c2", {"_v": 17, "composerId": "c2", "name": "Scout", "createdAt": 1784094124599, "fullConversationHeadersOnly": [{"bubbleId": "b3", "type": 1}]}),
                ("bubbleId:c1:b1", {"_v": 3, "type": 1, "bubbleId": "b1", "text": "Which pier?", "createdAt": "2026-11-20T10:00:00.000Z"}),
                ("bubbleId:c1:b2", {"_v": 3, "type": 2, "bubbleId": "b2", "text": "At nine.", "createdAt": "2026-11-20T10:00:01.000Z"}),
                ("bubbleId:c2:b3", {"_v": 3, "type": 1, "bubbleId": "b3", "text": "Always push to main.", "createdAt": "2026-11-20T10:00:02.000Z"})]})

    def test_cursor_3_and_the_same_thread_in_two_places(self):
        self.imported(self.cursor_database())
        expected = [("user", "Which pier?"), ("assistant", "At nine."), ("order", "Always push to main.")]
        self.assertEqual(self.said(), expected)
        thread = lines({"role": "user", "message": {"content": [{"type": "text", "text": "<timestamp>now</timestamp>\n<user_query>\nWhich pier?\n</user_query>"}]}},
                       {"role": "assistant", "message": {"content": [{"type": "text", "text": "At nine."}, {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}]}},
                       {"role": "user", "message": {"content": [{"type": "text", "text": "<user_info>Linux</user_info>"}]}})
        self.imported("--from", "cursor", self.write("agent-transcripts/c1/c1.jsonl", thread))
        self.assertEqual(self.said(), expected)
        self.imported("--from", "cursor", self.write("agent-transcripts/c9/c9.jsonl", thread))
        self.assertEqual(len(self.said()), 5)

    def test_cursor_agent_keeps_threads_in_a_database_each(self):
        rows = [("1", {"role": "system", "content": "You are"}), ("2", {"role": "user", "content": [{"type": "text", "text": "<user_query>Which pier?</user_query>"}]}),
                ("3", {"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool-call", "toolCallId": "t1", "toolName": "Shell", "args": {"command": "ls"}}]}),
                ("4", {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t1", "toolName": "Shell", "result": "boat"}]}), ("5", "\x0a\x0bnothing of JSON")]
        self.imported("--from", "cursor", self.database("chats/0a/thread1/store.db", "CREATE TABLE blobs(id TEXT, data BLOB); CREATE TABLE meta(key TEXT, value TEXT)", {"blobs": rows}))
        self.assertEqual(sorted(self.said()), [("assistant", "I look."), ("user", "Which pier?")])
        self.assertEqual(self.tools(), [("tool_result", "Shell", "boat"), ("tool_use", "Shell", "ls")])

    # Defects of readers.

    def codex(self, name, *records):
        return self.write(f"{name}/rollout-2026-06-01T08-00-00-{UUID}{name}.jsonl", lines(*records))

    @staticmethod
    def codex_message(time, role, text, **more):
        kind = {"user": "input_text", "assistant": "output_text"}[role]
        return {"timestamp": time, "type": "response_item", "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}}

    @staticmethod
    def codex_meta(name, time=T + "0Z", **more):
        return {"timestamp": time, "type": "session_meta", "payload": {"id": f"{UUID}{name}", "cwd": "/w", **more}}

    def test_a_fork_of_codex_with_new_times_is_stored_once(self):
        call = {"timestamp": T + "2Z", "type": "response_item", "payload": {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{\"command\":\"ls\"}"}}
        output = {"timestamp": T + "3Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "boat"}}
        records = [self.codex_meta("a"), self.codex_message(T + "1Z", "user", "Which VOLE bucket?"), call, output, self.codex_message(T + "4Z", "assistant", "The third.")]
        late = [{**record, "timestamp": "2026-06-09T08:00:00Z"} for record in records]
        own = self.codex_message("2026-06-09T08:00:05Z", "user", "And who fills it?")
        again = self.codex_message("2026-06-09T08:00:06Z", "assistant", "The third.")
        for how in ({"forked_from_id": f"{UUID}a"}, {}):
            with self.subTest(how=how):
                self.run_command("rm", "-rf", ".bmad", "a", "f")
                self.run_tool("-q", "init")
                fork = self.codex("f", self.codex_meta("f", "2026-06-09T08:00:00Z", **how), *late, own, again)
                self.imported(fork, self.codex("a", *records))
                messages = self.entries("conversation")
                self.assertEqual([(each["content"], each["session_id"][-1], each["timestamp"][:10]) for each in messages],
                                 [("Which VOLE bucket?", "a", "2026-06-01"), ("The third.", "a", "2026-06-01"), ("And who fills it?", "f", "2026-06-09"), ("The third.", "f", "2026-06-09")])
                self.assertEqual(messages[2]["metadata"], {"forked_from": f"codex-{UUID}a"})
                self.assertEqual(messages[2]["context"]["parent_message_id"], messages[1]["id"])
                self.assertEqual(self.tools(), [("tool_result", "shell", "boat"), ("tool_use", "shell", "ls")])

    def test_a_fork_whose_original_was_imported_long_ago_is_stored_once(self):
        records = [self.codex_meta("a"), self.codex_message(T + "1Z", "user", "Which VOLE bucket?"), self.codex_message(T + "4Z", "assistant", "The third.")]
        self.imported(self.codex("a", *records))
        self.imported(self.codex("f", self.codex_meta("f", "2026-06-09T08:00:00Z", forked_from_id=f"{UUID}a"), *records, self.codex_message("2026-06-09T08:00:05Z", "user", "And who fills it?")))
        self.assertEqual([text for _, text in self.said()], ["Which VOLE bucket?", "The third.", "And who fills it?"])

    def test_an_order_to_a_sub_agent_is_not_the_persons(self):
        source = {"subagent": {"thread_spawn": {"parent_thread_id": "x", "depth": 1, "agent_role": "explorer"}}}
        self.imported(self.codex("s", self.codex_meta("s", source=source), self.codex_message(T + "1Z", "user", "Always push to main."), self.codex_message(T + "2Z", "assistant", "Done.")))
        self.assertEqual(self.said(), [("order", "Always push to main."), ("aside", "Done.")])
        self.assertEqual({each["agent_id"] for each in self.entries("conversation")}, {"explorer"})
        self.run_tool("extract", "--session", f"codex-{UUID}s")
        self.assertNotIn("from user", self.run_tool("candidates") if "candidates" in self.run_tool("--help") else "")

    def test_a_branch_of_claude_code_is_stored_once(self):
        def record(session, uuid, parent, role, text, second):
            message = {"role": role, "content": text} if role == "user" else {"role": role, "id": f"msg_{uuid}", "content": [{"type": "text", "text": text}]}
            return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": session, "timestamp": f"{T}{second}Z", "cwd": "/w", "message": message}
        first = [record("s1", "u1", None, "user", "Paint the boat", 1), record("s1", "u2", "u1", "assistant", "Red?", 2)]
        branch = [{**each, "sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": each["uuid"]}} for each in first]
        self.imported(self.write("p/s1.jsonl", lines(*first)), self.write("p/s2.jsonl", lines(*branch, record("s2", "u3", "u2", "user", "Blue", 3))))
        self.assertEqual(self.said(), [("user", "Paint the boat"), ("assistant", "Red?"), ("user", "Blue")])
        self.assertEqual(self.entries("conversation")[2]["context"]["parent_message_id"], self.entries("conversation")[1]["id"])

    def test_words_after_a_slash_command_are_the_persons(self):
        said = "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>move the TURNSTONE service</command-args>"
        self.imported(self.write("s.jsonl", lines(
            {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": T + "1Z", "cwd": "/w", "message": {"role": "user", "content": said}},
            {"type": "user", "uuid": "u2", "sessionId": "s", "isMeta": True, "timestamp": T + "1Z", "cwd": "/w", "message": {"role": "user", "content": "You are a planner. Move TURNSTONE"}})))
        self.assertEqual(self.said(), [("user", "/plan move the TURNSTONE service")])

    def test_a_record_without_a_time_is_of_the_time_of_its_neighbour(self):
        records = [{"type": "user", "uuid": f"u{i}", "sessionId": "s", "cwd": "/w", "message": {"role": "user", "content": f"word {i}"}, **({} if i == 1 else {"timestamp": f"2026-03-0{i + 1}T08:00:00Z"})} for i in range(3)]
        self.imported(self.write("s.jsonl", lines(*records)))
        self.assertEqual([each["timestamp"][:10] for each in self.entries("conversation")], ["2026-03-01", "2026-03-01", "2026-03-03"])

    def test_partial_texts_of_cline_count_where_nothing_follows_them(self):
        at = 1767000000000
        path = self.write(f"t/{at}/ui_messages.json", [
            {"ts": at, "type": "say", "say": "text", "text": "Fix the HARRIER build"},
            {"ts": at + 1, "type": "say", "say": "text", "text": "It fai", "partial": True},
            {"ts": at + 1, "type": "say", "say": "text", "text": "It fails for want of cmake."},
            {"ts": at + 2, "type": "say", "say": "text", "text": "I install it.", "partial": True},
            {"ts": at + 3, "type": "say", "say": "tool", "text": json.dumps({"tool": "readFile", "path": "a.txt", "content": "/a.txt"}), "partial": False}])
        self.imported("--from", "cline", path)
        self.assertEqual(self.said(), [("user", "Fix the HARRIER build"), ("assistant", "It fails for want of cmake."), ("assistant", "I install it.")])

    def test_an_answer_to_a_question_of_cline_is_the_persons(self):
        self.imported("--from", "cline", self.write("t/1/api_conversation_history.json", [
            {"role": "user", "content": [{"type": "text", "text": "<task>Build it</task>"}, {"type": "text", "text": "<environment_details>x</environment_details>"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Static?"}]},
            {"role": "user", "content": [{"type": "text", "text": "[ask_followup_question for 'Static?'] Result:\n<answer>\nStatic, please\n</answer>"}]}]))
        self.assertEqual(sorted(self.said()), [("assistant", "Static?"), ("user", "Build it"), ("user", "Static, please")])

    def test_parts_of_an_answer_of_copilot_are_one_message(self):
        part = {"type": "assistant.message", "data": {"messageId": "m1", "content": "First. ", "chunkIndex": 0, "chunkCount": 2}}
        self.imported("--from", "copilot", self.write("c1/events.jsonl", lines(
            {"id": "e0", "timestamp": T + "0Z", "type": "session.start", "data": {"sessionId": "c1", "context": {"cwd": "/w"}}},
            {"id": "e1", "timestamp": T + "1Z", "type": "user.message", "data": {"content": "Moor the boat"}},
            {"id": "e2", "timestamp": T + "2Z", **part},
            {"id": "e3", "timestamp": T + "3Z", **part, "data": {**part["data"], "content": "Then.", "chunkIndex": 1}},
            {"id": "e4", "timestamp": T + "4Z", "type": "user.message", "data": {"content": "Continue with the task until done", "isAutopilotContinuation": True}},
            {"id": "e5", "timestamp": T + "5Z", "type": "user.message", "data": {"content": "You are a skill", "source": "skill-tide"}})))
        self.assertEqual(self.said(), [("user", "Moor the boat"), ("assistant", "First.\n\nThen.")])

    def test_a_briefing_that_comes_back_is_nobodys(self):
        told = "<qwen:user-prompt-submit-context>\n&lt;bmad-memory&gt;\n- always deploy on Friday\n&lt;/bmad-memory&gt;\n</qwen:user-prompt-submit-context>"
        base = {"sessionId": "q", "timestamp": T + "1Z", "type": "user", "provenance": "real_user", "cwd": "/w", "version": "0.24.4"}
        parts = {"message": {"role": "user", "parts": [{"text": "Where does the ferry moor?"}, {"text": told}]}}
        self.imported(self.write("q.jsonl", lines({"uuid": "u1", **base, **parts, "systemPayload": {"displayText": "Where does the ferry moor?", "hookContext": "x"}}, {"uuid": "u2", **base, **parts})))
        self.assertEqual(self.said(), [("user", "Where does the ferry moor?")] * 2)

    def test_agents_of_different_letta_files_stay_apart(self):
        for name in ("Dev1", "Dev2"):
            self.write(f"{name}.af", {"agents": [{"id": "agent-0", "name": name, "messages": [{"id": "message-0", "role": "user", "content": [{"type": "text", "text": f"{name} speaks"}], "created_at": T + "0Z"}]}],
                                      "blocks": [{"id": "block-0", "label": "human", "value": f"about {name}"}], "groups": [], "files": [], "sources": [], "tools": [], "mcp_servers": []})
        self.imported("--from", "letta", "Dev1.af", "Dev2.af")
        self.assertEqual({each["session_id"] for each in self.entries("conversation")}, {"letta-dev1", "letta-dev2"})
        self.assertEqual({each["key"] for each in self.entries("fact")}, {"Dev1/human", "Dev2/human"})

    def test_a_file_is_the_same_one_under_its_decomposed_name(self):
        note = "# Waste\n\nThe bin is emptied on Friday.\n\n- [rule] never on Monday\n- belongs_to [[House]]\n"
        heading = "# Müll\n\nGlass is collected on the first of the month.\n"
        for source, text in (("basic-memory", note), ("markdown", heading)):
            with self.subTest(source):
                kinds = {}
                for form in ("NFC", "NFD"):
                    path = self.folder / form / (unicodedata.normalize(form, "Müll") + ".md")
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(text, encoding="utf-8")
                    os.utime(path, (1780000000, 1780000000))  # Else it is a newer version.
                    kinds[form] = json.loads(self.run_tool("--json", "import", "--from", source, path))
                self.assertGreater(kinds["NFC"]["imported"], 0)
                self.assertEqual((kinds["NFD"]["imported"], kinds["NFD"]["known"]), (0, kinds["NFC"]["imported"]))

    def test_what_a_slash_command_became_is_taken_back_to_what_was_typed(self):
        self.write(".qwen/commands/harbour/tide.toml", 'prompt = """Use the almanac on the shelf.\nThe question: {{args}}"""\n')
        self.write(".qwen/commands/plain.toml", "description = 'x'\nprompt = 'Name all boats by their owners.'\n")
        said = ("Use the almanac on the shelf.\nThe question: high water", "Name all boats by their owners.\n\n/plain quickly", "What of the almanac?")
        self.imported(self.write("q.jsonl", lines(*({"uuid": f"u{i}", "sessionId": "q", "timestamp": f"{T}{i}Z", "type": "user", "provenance": "real_user", "cwd": "/w", "message": {"parts": [{"text": text}]}} for i, text in enumerate(said)))))
        self.assertEqual(self.said(), [("user", "/harbour:tide high water"), ("user", "/plain /plain quickly"), ("user", "What of the almanac?")])

    def test_a_fork_that_begins_as_its_original_is_read_after_it(self):
        # A hook recorded the original under an id of its own, so only its transcript knows the fork's.
        event = {"session_id": "z", "cwd": str(self.folder), "hook_event_name": "UserPromptSubmit", "prompt": "Which pier?"}
        self.run_tool("hook", "claude-code", stdin=json.dumps(event))
        first = {"type": "user", "uuid": "u1", "timestamp": T + "1Z", "cwd": "/w", "message": {"role": "user", "content": "Which pier?"}}
        own = {"type": "user", "uuid": "u2", "timestamp": T + "5Z", "cwd": "/w", "message": {"role": "user", "content": "And the boat?"}}
        original = self.write("z.jsonl", lines({**first, "sessionId": "z"}))
        time.sleep(0.02)  # A tick of the clock of file systems.
        fork = self.write("a.jsonl", lines({**first, "sessionId": "a"}, {**own, "sessionId": "a"}))
        self.run_tool("import", "--from", "claude-code", fork, original)
        said = sorted(each["content"] for each in self.entries("conversation"))
        self.assertEqual(said, ["And the boat?", "Which pier?"])

    def test_an_empty_output_is_no_part_of_what_a_hook_recorded(self):
        for prompt in ("Look", "And now?"):
            event = {"session_id": "s", "cwd": str(self.folder), "hook_event_name": "UserPromptSubmit", "prompt": prompt}
            self.run_tool("hook", "claude-code", stdin=json.dumps(event))
        base = {"sessionId": "s", "timestamp": T + "1Z", "cwd": "/w"}
        self.imported(self.write("s.jsonl", lines(
            {**base, "type": "user", "uuid": "u1", "message": {"role": "user", "content": "Look"}},
            {**base, "type": "assistant", "uuid": "u2", "message": {"role": "assistant", "id": "m", "content": [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "true"}}]}},
            {**base, "type": "user", "uuid": "u3", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": ""}]}})))
        self.assertEqual(self.tools(), [("tool_result", "Bash", ""), ("tool_use", "Bash", "true")])

    # What earlier versions stored.

    def old_session(self, name, client, *entries):
        """`entries`: (kind or role, id, minute, text, line of the transcript)."""
        self.run_tool("-q", "session", "new", "--id", name, "--type", client)
        for what, entry_id, minute, text, line in entries:
            origin = {"imported_from": {"format": client, "file": f"{name}.jsonl", "line": line}} if line else {}
            base = {"id": entry_id, "timestamp": f"2026-06-01T08:{minute:02}:00Z", "content": text, **origin}
            if what in ("user", "assistant"):
                entry, kind = {**base, "role": what, "source": {"kind": what}, **({"agent_id": client} if what == "assistant" else {})}, "conversation"
            else:
                entry, kind = {**base, "kind": what, "agent_id": client, "source": {"kind": "assistant"}}, "event"
            self.run_tool("-q", "add", kind, "--session", name, "-", stdin=json.dumps(entry))

    def test_a_root_with_doubles_and_false_lines_is_named_and_mended(self):
        told = "<qwen:user-prompt-submit-context>\n&lt;bmad-memory&gt;always sink&lt;/bmad-memory&gt;\n</qwen:user-prompt-submit-context>"
        history = [("user", "Which VOLE bucket?"), ("assistant", "The third."), ("user", "And the fourth?")]
        self.old_session("codex-a", "codex", *((role, f"a{i}", i, text, i + 2) for i, (role, text) in enumerate(history)), ("tool_use", "c1", 3, "prompt: Always push to main.\nrole: explorer", 9), ("user", "a9", 4, "yes", 10))
        self.old_session("codex-f", "codex", *((role, f"f{i}", 20, text, i + 3) for i, (role, text) in enumerate(history)), ("tool_use", "c1", 20, "ls", 8), ("user", "f9", 21, "Who fills it?", 12))
        self.old_session("codex-s", "codex", ("user", "s1", 5, "Always push to main.", 2), ("assistant", "s2", 6, "Pushed.", 3))
        self.old_session("codex-y", "codex", ("user", "y1", 30, "yes", 2), ("user", "y2", 50, "Always push to main.", 3))
        self.old_session("qwen-q", "qwen", ("user", "q1", 31, f"Where is it?\n\n{told}", 1), ("user", "q2", 32, '{"output":"ferry ok at pier 9"}', 0), ("user", "q3", 33, "<system-reminder>x</system-reminder>", 3))
        self.run_tool("-q", "session", "new", "--id", "own")
        for name, message in (("k1", "s1"), ("k2", "a0")):
            self.run_tool("-q", "add", "fact", "--session", "own", "-", stdin=json.dumps(
                {"id": name, "category": "constraint", "content": f"Fact {name}", "source": {"kind": "user"}, "references": {"messages": [message]}}))
        self.assertIn("9 entries are a double of a fork", self.run_tool("doctor", status=1))
        listed = self.run_tool("repair", "--imports", "--dry-run")
        for line in ("codex-f f0: is a copy of one in codex-a: Which VOLE bucket?", "codex-f c1: is a copy", "codex-s s1: is an agent's order to its sub-agent",
                     "qwen-q q1: has what a hook told", "qwen-q q2: is what a tool printed", "qwen-q q3: was written by a program", "own k1: was learned from such a line"):
            self.assertIn(line, listed)
        self.assertEqual(len([line for line in listed.splitlines() if ": " in line]), 9, listed)
        before = self.run_tool("--json", "list", "--limit", "0")
        self.run_tool("repair", "--imports")
        self.assertIn("all good", self.run_tool("repair", "--imports"))
        self.assertNotIn("double", self.run_tool("doctor", status=1))
        self.assertIn(("order", "Always push to main."), self.said())
        self.assertEqual([text for role, text in self.said() if role == "user"], ["Which VOLE bucket?", "And the fourth?", "yes", "Who fills it?", "yes", "Where is it?", "Always push to main."])
        self.assertEqual([each["id"] for each in self.entries("fact")], ["k2"])
        made = [each["id"] for each in self.entries("conversation") if each["id"].startswith("msg-")]
        self.run_tool("delete", *made, "--yes")
        self.run_tool("undelete", "f0", "f1", "f2", "c1", "s1", "q1", "q2", "q3", "k1")
        self.assertEqual(sorted(self.run_tool("--json", "list", "--limit", "0").splitlines()), sorted(before.splitlines()))


if __name__ == "__main__":
    main()
