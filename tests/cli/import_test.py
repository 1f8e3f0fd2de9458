#!/usr/bin/env python3
"""Imports of files that are made here: usual places, killed imports, large files, hooks.

Usage: import_test.py TOOL [--slow]    with --slow a transcript of 300 MB instead of 40 MB
"""

import hashlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

from tool_under_test import TOOL, ToolTest, main

SLOW = "--slow" in sys.argv
LARGE_BYTES = (300 if SLOW else 40) * 1000 * 1000
PEAK_BYTES = 150 * 1024 * 1024
# A sanitizer keeps what was freed and marks every byte: what it takes says nothing about the tool.
IS_SANITIZED = TOOL is not None and b"__asan_init" in TOOL.read_bytes()


def record(kind, session, number, **members):
    """A line of a Claude Code transcript."""
    message = members.pop("message", None) or {"role": kind, "content": f"message {number}"}
    return json.dumps(
        {
            "type": kind,
            "sessionId": session,
            "uuid": f"{session}-{number:06}",
            "parentUuid": f"{session}-{number - 1:06}" if number else None,
            "timestamp": f"2026-02-10T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "cwd": "/home/me/ferry",
            **members,
            "message": message,
        }
    )


def transcript(session, first, count):
    """Lines as they are in real ones: most bytes are progress and the output of tools."""
    for number in range(first, first + count, 5):
        yield record("user", session, number, message={"role": "user", "content": f"Question {number}: why?"})
        block = {"type": "tool_use", "id": f"toolu_{session}_{number}", "name": "Read", "input": {"file_path": "/a/b.c"}}
        yield record("assistant", session, number + 1, message={"id": f"m{number}", "role": "assistant", "content": [block]})
        yield json.dumps({"type": "progress", "sessionId": session, "data": {"text": f"line {number} " * 1500}})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{session}_{number}", "content": f"int x{number};\n" * 600}
        yield record("user", session, number + 2, message={"role": "user", "content": [result]}, toolUseResult={"stdout": f"int x{number};\n" * 600})
        answer = [{"type": "text", "text": f"Answer {number}: because of the tide. " * 10}]
        yield record("assistant", session, number + 3, message={"id": f"n{number}", "role": "assistant", "content": answer})


def claude_mem(path):
    """A database as claude-mem keeps it, cut to the columns that are read."""
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT,
          custom_title TEXT);
        CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER,
          prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
        CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
          title TEXT, narrative TEXT, facts TEXT, concepts TEXT, files_modified TEXT, created_at TEXT,
          created_at_epoch INTEGER);
        CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, request TEXT, learned TEXT,
          created_at TEXT, created_at_epoch INTEGER);
        CREATE TABLE directives (id INTEGER PRIMARY KEY, content TEXT, status TEXT, created_at TEXT);
        INSERT INTO sdk_sessions VALUES (1, 'c1', 'm1', 'ferry', 'Night boats');
        INSERT INTO user_prompts VALUES (1, 'c1', 1, 'Why does it leave twice?', '2026-01-02T03:04:05.000Z', 0);
        INSERT INTO observations VALUES
          (1, 'm1', 'ferry', NULL, 'decision', 'Use one timetable', 'It was read twice', '["a","b"]', '["tides"]', NULL,
           NULL, 1767323046000),
          (2, 'm1', 'ferry', NULL, 'bugfix', 'The table was read twice', NULL, NULL, NULL, NULL, NULL, 1767323047000),
          (3, 'm1', 'ferry', NULL, 'feature', 'A night table', NULL, NULL, NULL, '["boat.c"]', NULL, 1767323048000);
        INSERT INTO session_summaries VALUES (1, 'm1', 'Fix the boat', 'Tables are cached', NULL, 1767323049000);
        INSERT INTO directives VALUES (1, 'Use tabs', 'active', '2026-01-02T03:04:05.000Z'), (2, 'Old', 'off', NULL);
        """
    )
    database.commit()
    database.close()


def cursor_state(path, chats, composers=()):
    """A state.vscdb of Cursor: `chats` are (id, name, bubbles), `composers` the chats of a workspace."""
    database = sqlite3.connect(path)
    for table in ("ItemTable", "cursorDiskKV"):
        database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    for name, title, bubbles in chats:
        heads = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
        heads += heads[:1]  # Named again by a damaged one.
        chat = {"composerId": name, "name": title, "createdAt": 1767323045000, "fullConversationHeadersOnly": heads}
        database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{name}", json.dumps(chat)))
        for bubble in reversed(bubbles):
            key = f"bubbleId:{name}:{bubble['bubbleId']}"
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(bubble).encode()))
    value = json.dumps({"allComposers": [{"composerId": name} for name in composers]})
    database.execute("INSERT INTO ItemTable VALUES ('composer.composerData', ?)", (value,))
    database.commit()
    return database


class Import(ToolTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder / "here"
        (self.project / "sub").mkdir(parents=True)
        self.run_tool("--quiet", "--root", str(self.project / ".bmad/memory"), "init")
        self.environment["BMAD_MEMORY_ROOT"] = str(self.project / ".bmad/memory")

    def entries(self, kind, *options):
        lines = self.run_tool("--json", "list", "--limit", "0", "--type", kind, *options).splitlines()
        return [json.loads(line) for line in lines]

    def import_json(self, *arguments, status=0):
        return json.loads(self.run_tool("--json", "import", *arguments, status=status))

    def test_the_database_of_claude_mem(self):
        home = self.folder / "home"
        (home / ".claude-mem").mkdir(parents=True)
        claude_mem(home / ".claude-mem/claude-mem.db")
        self.environment["HOME"] = str(home)
        self.environment.pop("CLAUDE_MEM_DATA_DIR", None)
        self.assertEqual(self.import_json("--from", "claude-mem")["imported"], 1)  # All else is of the ferry.
        self.assertEqual(self.import_json("--from", "claude-mem", "--all-projects")["imported"], 5)
        self.assertEqual(self.import_json(str(home / ".claude-mem/claude-mem.db"))["known"], 6)
        (decision,) = self.entries("decision")
        self.assertEqual((decision["decision"], decision["tags"]), ("Use one timetable", ["tides"]))
        self.assertEqual(decision["timestamp"], "2026-01-02T03:04:06Z")
        (session,) = (one for one in self.sessions() if one["session_id"] == "claude-mem-c1")
        self.assertEqual((session["title"], session["project_name"]), ("Night boats", "ferry"))
        self.assertEqual(sorted(event["kind"] for event in self.entries("event")), ["feature", "session_summary"])
        self.assertEqual([fact["content"] for fact in self.entries("fact")], ["Use tabs"])
        self.assertEqual(sorted(path.name for path in (home / ".claude-mem").iterdir()), ["claude-mem.db"])

    def test_no_session_is_made_for_rows_that_are_left_out(self):
        path = self.folder / "claude-mem.db"
        claude_mem(path)
        database = sqlite3.connect(path)
        database.executescript(
            """
            DELETE FROM observations; DELETE FROM session_summaries; DELETE FROM directives;
            UPDATE user_prompts SET prompt_text = '<private>all of it</private>';
            INSERT INTO user_prompts VALUES (2, 'c2', 1, ' ', NULL, 1767323045000);
            INSERT INTO observations (memory_session_id, type) VALUES ('m3', 'feature');
            INSERT INTO session_summaries (memory_session_id) VALUES ('m4');
            """
        )
        database.commit()
        database.close()
        report = self.import_json("--from", "claude-mem", str(path), status=1)  # Nothing to import.
        self.assertEqual((report["imported"], sum(report["skipped"].values())), (0, 4), report)
        self.assertEqual(self.sessions(), [])

    def test_the_databases_of_cursor(self):
        user = self.folder / "home/.config/Cursor/User"
        for name, project in (("here", self.project), ("other", self.folder / "elsewhere")):
            (user / "workspaceStorage" / name).mkdir(parents=True)
            (user / "workspaceStorage" / name / "workspace.json").write_text(json.dumps({"folder": f"file://{project}"}))
            cursor_state(user / "workspaceStorage" / name / "state.vscdb", [], [f"chat-{name}"]).close()
        (user / "globalStorage").mkdir()
        call = {"name": "read_file", "toolCallId": "t1", "params": '{"path":"/a/boat.c"}', "result": '{"contents":"x"}'}
        bubbles = [
            {"bubbleId": "b1", "type": 1, "text": "Which file has the tides?"},
            {"bubbleId": "b2", "type": 2, "text": "It is boat.c", "toolFormerData": call},
            {"bubbleId": "b3", "type": 2, "text": "", "thinking": {"text": "hm"}},
        ]
        other = [{"bubbleId": "c1", "type": 1, "text": "Something else"}]
        common = user / "globalStorage/state.vscdb"
        database = cursor_state(common, [("chat-here", "Tide tables", bubbles), ("chat-other", "", other)])
        self.environment["HOME"] = str(self.folder / "home")
        self.assertEqual(self.import_json("--from", "cursor")["imported"], 4)
        self.assertEqual([one["title"] for one in self.sessions()], ["Tide tables"])
        self.assertEqual({one["timestamp"] for one in self.entries("conversation")}, {"2026-01-02T03:04:05Z"})
        # What the program wrote last is in the -wal as long as it runs.
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("INSERT INTO cursorDiskKV VALUES ('composerData:chat-inf', 9e999)")  # No number of JSON.
        chat = {"composerId": "chat-new", "createdAt": 1e300, "conversation": [{"bubbleId": "d1", "type": 1, "text": "Just now"}]}
        database.execute("INSERT INTO cursorDiskKV VALUES ('composerData:chat-new', ?)", (json.dumps(chat),))
        database.commit()
        self.assertEqual(self.import_json("--from", "cursor", "--all-projects")["imported"], 2)
        database.close()
        # A damaged one is named, and nothing of it is made up.
        common.write_bytes(common.read_bytes()[:5000])
        self.assertIn("state.vscdb", self.run_tool_status("import", str(common)))

    def sessions(self):
        return [json.loads(line) for line in self.run_tool("--json", "session", "list").splitlines()]

    def run_tool_status(self, *arguments):
        done = subprocess.run([TOOL, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def write(self, path, *lines):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return str(path)

    # Usual places.

    def contents(self):
        return sorted(entry["content"] for entry in self.entries("conversation"))

    def test_claude_code_is_found_and_other_projects_are_left_out(self):
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(self.project))
        places = ((slug, self.project), (slug + "-sub", self.project / "sub"), (slug + "-2", f"{self.project}-2"))
        for number, (folder, cwd) in enumerate(places):
            message = {"role": "user", "content": f"from {number}"}
            for home in (".claude", "moved"):
                self.write(
                    f"{home}/projects/{folder}/s{number}.jsonl",
                    '{"type":"summary","summary":"x"}',
                    record("user", f"s{number}", 0, cwd=str(cwd), message=message),
                )
        self.write(f".claude/projects/{slug}/memory/note.md", "---", "name: n", "metadata: {type: user}", "---", "Body")
        dry = self.import_json("--from", "claude-code", "--dry-run")
        self.assertEqual((dry["files"], dry["imported"]), (3, 3))
        self.import_json("--from", "claude-code")
        self.assertEqual(self.contents(), ["from 0", "from 1"])
        self.assertEqual([entry["value"] for entry in self.entries("preference")], ["Body"])
        self.environment["CLAUDE_CONFIG_DIR"] = str(self.folder / "moved")
        self.assertEqual(self.import_json("--from", "claude-code")["known"], 2)
        self.import_json("--from", "claude-code", "--all-projects")
        self.assertEqual(self.contents(), ["from 0", "from 1", "from 2"])

    def test_codex_is_found_and_other_projects_are_left_out(self):
        for number, cwd in enumerate((self.project, self.project / "sub", self.folder)):
            place = "sessions/2026/11/21" if number == 0 else "archived_sessions"
            self.write(
                f".codex/{place}/rollout-2026-{number}.jsonl",
                json.dumps({"type": "session_meta", "payload": {"id": f"i{number}", "cwd": str(cwd)}}),
                json.dumps({"type": "response_item", "timestamp": "2026-11-21T19:39:27Z", "payload": {
                    "type": "message", "role": "user", "content": [{"type": "input_text", "text": f"from {number}"}]}}),
            )
        self.import_json("--from", "codex")
        self.assertEqual(self.contents(), ["from 0", "from 1"])
        self.environment["CODEX_HOME"] = str(self.folder / ".codex")
        self.import_json("--from", "codex", "--all-projects")
        self.assertEqual(self.contents(), ["from 0", "from 1", "from 2"])

    def test_gemini_is_found_by_hash_and_by_short_name(self):
        names = (hashlib.sha256(str(self.project).encode()).hexdigest(), "here", "short", "foreign")
        for number, name in enumerate(names):
            self.write(
                f".gemini/tmp/{name}/chats/session-{number}.jsonl",
                json.dumps({"sessionId": f"g{number}", "projectHash": "x"}),
                json.dumps({"id": f"g{number}", "type": "user", "content": f"from {number}"}),
            )
        self.write(".gemini/tmp/short/.project_root", str(self.project))
        self.write(".gemini/projects.json", json.dumps({"projects": {str(self.project): "here"}}))
        self.import_json("--from", "gemini")
        self.assertEqual(self.contents(), ["from 0", "from 1", "from 2"])

    def test_without_any_place_it_says_what_to_do(self):
        for source in ("claude-code", "codex", "gemini", "server-memory"):
            done = subprocess.run([TOOL, "import", "--from", source], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("name the file", done.stderr)
        self.run_tool("import", "--from", "mem0", status=2)
        self.run_tool("import", status=2)
        self.run_tool("import", "--from", "codex", "--format", "gemini", "x", status=2)

    # Hooks.

    def test_what_a_hook_recorded_is_not_told_twice(self):
        self.run_tool("session", "new", "--id", "cc-h")
        secret = "use ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5 please"
        recorded = (("h1", "user", "yes"), ("h2", "user", secret), ("h3", "assistant", "Done. "))
        for name, role, text in recorded:
            line = {"type": "conversation", "session_id": "cc-h", "id": name, "role": role, "content": text,
                    "metadata": {"recorded_by": "hook"}}
            self.run_tool("--quiet", "import", "-", stdin=json.dumps(line) + "\n")
        said = [("user", "yes"), ("user", "yes"), ("user", secret), ("assistant", "Done."), ("user", "And now?")]
        lines = [record(role, "h", i, message={"id": f"m{i}", "role": role, "content": [{"type": "text", "text": text}]})
                 for i, (role, text) in enumerate(said)]
        path = self.write("h.jsonl", *lines)
        for new, known in ((2, 3), (0, 5)):
            report = self.import_json(path)
            self.assertEqual((report["imported"], report["known"]), (new, known))
        entries = {entry["id"]: entry for entry in self.entries("conversation")}
        self.assertEqual(len(entries), 5)
        self.assertEqual(entries["h-000001"]["context"]["parent_message_id"], "h1")
        self.assertEqual(entries["h-000004"]["context"]["parent_message_id"], "h3")

    def test_messages_of_subagents_are_marked(self):
        path = self.write("s.jsonl", record("user", "s", 0), record("user", "s", 1, isSidechain=True, agentId="a1"))
        self.import_json(path)
        marks = {entry["id"]: entry.get("metadata") for entry in self.entries("conversation")}
        self.assertEqual(marks, {"s-000000": None, "s-000001": {"sidechain": True}})

    # Graphs.

    def test_observations_of_an_entity_hold_beside_each_other(self):
        graph = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Steers", "Cooks"]}
        self.import_json("--from", "server-memory", self.write("m.jsonl", json.dumps(graph)))
        told = self.run_tool("recall", "--session", "server-memory")
        self.assertIn("Ann: Steers", told)
        self.assertIn("Ann: Cooks", told)

    # Files that end early, and imports that do.

    def test_a_graph_larger_than_a_session_goes_into_several_and_comes_out_as_it_was(self):
        def entity(number):
            observations = [f"observation {number} {n} " + "x" * 900 for n in range(10)]
            line = {"type": "entity", "name": f"e{number}", "entityType": "t", "observations": observations}
            return json.dumps(line, separators=(",", ":"))

        lines = [entity(number) for number in range(500)]
        source = self.write("m.jsonl", *lines)
        report = self.import_json("--from", "server-memory", source)
        self.assertEqual(report["imported"], 5500)
        self.assertEqual(report["sessions"], ["server-memory", "server-memory-2"])
        again = self.import_json("--from", "server-memory", source)
        self.assertEqual((again["imported"], again["known"]), (0, 5500))
        self.assertEqual(self.run_tool("export", "--format", "server-memory"), "\n".join(lines))

    def test_an_import_that_is_killed_goes_on_where_it_was(self):
        path = self.write("k.jsonl", *transcript("k", 0, 4000))
        whole = self.import_json("--dry-run", path)["imported"]
        killed = 0
        for delay in (0.02, 0.05, 0.08, 0.12, 0.2, 0.3):
            with subprocess.Popen([TOOL, "--quiet", "import", path], cwd=self.folder, env=self.environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(delay)
                process.send_signal(signal.SIGKILL)
                killed += process.wait() == -signal.SIGKILL
        self.assertGreater(killed, 0)
        report = self.import_json(path)
        self.assertEqual(report["imported"] + report["known"], whole)
        for kind in ("conversation", "event"):
            ids = [entry["id"] for entry in self.entries(kind)]
            self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(len(self.entries("conversation")) + len(self.entries("event")), whole)
        self.assertEqual(self.import_json(path)["imported"], 0)
        self.run_tool("verify")

    def test_an_import_that_is_stopped_says_what_stays_and_goes_on(self):
        path = self.write("s.jsonl", *transcript("s", 0, 8000))
        whole = self.import_json("--dry-run", path)["imported"]
        for delay in (0.05, 0.1, 0.2, 0.4):  # Until it is neither starting nor done.
            with subprocess.Popen([TOOL, "import", path], cwd=self.folder, env=self.environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                time.sleep(delay)
                process.send_signal(signal.SIGINT)
                said = process.communicate()[1]
            if process.returncode != -signal.SIGINT:
                break
        self.assertEqual(process.returncode, 130, said)
        stored = len(self.entries("conversation")) + len(self.entries("event"))
        self.assertRegex(said, f"stopped; {stored:,} entr(y of it is|ies of it are) stored. Run the command again to import the rest")
        report = self.import_json(path)
        self.assertEqual((report["imported"], report["known"]), (whole - stored, stored))

    def test_a_first_line_that_a_screenshot_makes_long_does_not_hide_the_format(self):
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1_600_000}}
        said = {"role": "user", "content": [image, {"type": "text", "text": "What is wrong in this picture?"}]}
        meta = {"id": "0199", "cwd": "/home/me/ferry", "instructions": "x" * 1_600_000}
        asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Why twice?"}]}
        time_ = "2026-02-10T00:00:00.000Z"
        for name, lines in (
            ("claude.jsonl", [record("user", "p", 0, message=said), record("assistant", "p", 1)]),
            ("codex.jsonl", [json.dumps({"timestamp": time_, "type": "session_meta", "payload": meta}),
                             json.dumps({"timestamp": time_, "type": "response_item", "payload": asked})]),
        ):  # fmt: skip
            with self.subTest(name):
                self.assertGreater(self.import_json(self.write(name, *lines))["imported"], 0)

    def test_what_was_evicted_to_make_room_is_not_imported_again(self):
        config = {"memory_config": {"storage": {"max_session_size_mb": 1}}}
        (self.project / ".bmad/memory/config.json").write_text(json.dumps(config), encoding="utf-8")
        self.run_tool("-q", "--root", str(self.project / ".bmad/memory"), "trust", "--yes")
        path = self.write("full.jsonl", *transcript("full", 0, 2000))
        first = self.import_json(path)
        self.assertEqual(first["imported"], 1600)
        here = "--archived=no"
        left = len(self.entries("conversation", here)) + len(self.entries("event", here))
        self.assertLess(left, 1600)
        again = self.import_json(path)
        self.assertEqual((again["imported"], again["known"]), (0, 1600))

    def test_a_file_that_ends_early_or_has_junk_is_no_error(self):
        lines = [*transcript("j", 0, 10), "not JSON", '{"type":"new-kind"}', "[]", ""]
        text = "\r\n".join(lines) + "\r\n" + record("user", "j", 99)[:-9]
        path = self.folder / "j.jsonl"
        path.write_bytes(text.encode())
        report = self.import_json(str(path))
        self.assertEqual(report["imported"], 8)
        self.assertEqual(report["skipped"]["unreadable lines"], 3)
        self.assertEqual(report["skipped"]["new-kind records"], 1)

    # Size.

    def peak_of(self, *arguments):
        """Peak of the resident memory of an import, in bytes."""
        with subprocess.Popen([TOOL, "--json", "import", *arguments], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE) as process:
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024, json.loads(out)

    def test_a_large_transcript_is_imported_in_little_memory(self):
        path = self.folder / "large.jsonl"
        size, session = 0, 0
        with path.open("w", encoding="utf-8") as file:
            while size < LARGE_BYTES:
                for line in transcript(f"l{session}", 0, 1000):
                    size += file.write(line + "\n")
                session += 1
        peak, report = self.peak_of(str(path))
        self.assertEqual(len(report["sessions"]), session)
        self.assertEqual(report["imported"], session * 200 * 4)
        print(f"{size / 1e6:.0f} MB: peak {peak / 1e6:.0f} MB", file=sys.stderr)
        if not IS_SANITIZED:
            self.assertLess(peak, PEAK_BYTES)

    def test_a_large_document_of_one_line_is_imported_in_little_memory(self):
        path = self.folder / "conversations.json"
        size, count = 0, 0
        with path.open("w", encoding="utf-8") as file:
            size += file.write("[")
            while size < LARGE_BYTES:
                nodes = {f"c{count}n{i}": {"parent": f"c{count}n{i - 1}", "message": {
                    "id": f"c{count}n{i}", "author": {"role": "system" if i % 10 else "user"}, "create_time": 1760000000 + i,
                    "content": {"content_type": "text", "parts": [f"part {i} \\\"[{{ " * 600]}}} for i in range(100)}
                chat = {"title": "t", "id": f"c{count}", "current_node": f"c{count}n99", "mapping": nodes}
                size += file.write(("," if count else "") + json.dumps(chat))
                count += 1
            file.write("]")
        peak, report = self.peak_of("--from", "chatgpt", str(path))
        self.assertEqual(report["imported"], count * 10)
        print(f"{size / 1e6:.0f} MB: peak {peak / 1e6:.0f} MB", file=sys.stderr)
        if not IS_SANITIZED:
            self.assertLess(peak, PEAK_BYTES)


if __name__ == "__main__":
    if SLOW:
        sys.argv.remove("--slow")
    main()
