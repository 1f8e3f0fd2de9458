#!/usr/bin/env python3
"""Transcripts that are as they were when they were imported are not read again; whatever else changed, they are.

Usage: import_unchanged_test.py TOOL
"""

import json
import os
import shutil
import subprocess
import time

from import_test import record
from tool_under_test import ToolTest, main

PAST = time.time() - 3600
SECRET = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


class Unchanged(ToolTest):
    def setUp(self):
        super().setUp()
        self.root = self.folder / ".bmad/memory"
        self.run_tool("--quiet", "init")

    def transcript(self, session, *texts, name=None, first=0, copied_from=None):
        """The path of a transcript that was written an hour ago; the odd lines are answers."""
        lines = [record("assistant" if i % 2 else "user", session, i, uuid=f"{copied_from or session}-{i:06}",
                        message={"role": "assistant" if i % 2 else "user", "content": [{"type": "text", "text": text}]})
                 for i, text in enumerate(texts, first)]
        path = self.folder / (name or f"{session}.jsonl")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.utime(path, (PAST, PAST))
        return path

    def unread(self, path):
        """The file with other bytes, which nobody sees who does not read it."""
        path.write_text(path.read_text(encoding="utf-8").replace("said", "read"), encoding="utf-8")
        os.utime(path, (PAST, PAST))

    def import_json(self, *arguments):
        report = json.loads(self.run_tool("--json", "import", *map(str, arguments)))
        return report["imported"], report["known"]

    def texts(self, *options):
        lines = self.run_tool("--json", "list", "--limit", "0", *options).splitlines()
        return sorted(json.loads(line)["content"] for line in lines)

    def notes(self):
        return next(iter((self.folder / self.environment["XDG_STATE_HOME"]).glob("**/imports.jsonl")), None)

    def test_a_second_import_reads_no_transcript_and_reports_the_same(self):
        path = self.transcript("a", "said first", "said second")
        with path.open("a") as file:
            file.write(json.dumps({"type": "progress", "sessionId": "a"}) + "\n")
        os.utime(path, (PAST, PAST))
        first = json.loads(self.run_tool("--json", "import", str(path)))
        self.assertEqual((first["imported"], first["known"]), (2, 0))
        self.assertEqual(self.notes().stat().st_mode & 0o777, 0o600)
        self.unread(path)
        for options in ((), ("--dry-run",), ("--format", "claude-code")):
            again = json.loads(self.run_tool("--json", "import", *options, str(path)))
            self.assertEqual((again["imported"], again["known"], again["files"]), (0, 2, 1))
            self.assertEqual([again[name] for name in ("skipped", "sessions")], [first[name] for name in ("skipped", "sessions")])

    def test_an_archived_session_stays_archived(self):
        path = self.transcript("a", "said first", "said second")
        self.import_json(path)
        session = json.loads(self.run_tool("--json", "session", "list").splitlines()[0])["session_id"]
        self.run_tool("session", "archive", session)
        for _ in range(2):
            self.assertEqual(self.import_json(path), (0, 2))
            self.assertTrue(any((self.root / "archive").glob(f"{session}*")))
        self.run_tool("session", "restore", session)
        self.assertEqual(self.import_json(path), (0, 2))

    def test_a_file_that_changed_is_read(self):
        path = self.transcript("a", "said first")
        other = self.transcript("b", "said elsewhere")
        self.import_json(path, other)
        self.unread(other)
        self.transcript("a", "said first", "said second")
        self.assertEqual(self.import_json(path, other), (1, 2))
        # The same size and time in another inode.
        fresh = self.transcript("a", "SAID FIRST", "said second", "said third", name="fresh.jsonl")
        before = self.transcript("a", "SAID FIRST", "said second", "          ")
        self.assertEqual(self.import_json(before), (0, 2))
        os.replace(fresh, before)
        self.assertEqual(self.import_json(before), (1, 2))
        self.assertEqual(self.texts(), ["said elsewhere", "said first", "said second", "said third"])

    def test_a_file_that_may_change_within_a_tick_is_read(self):
        path = self.transcript("a", "said first")
        os.utime(path)
        self.import_json(path)
        os.utime(path, (PAST, PAST))
        self.unread(path)
        self.transcript("a", "said first", "said second")
        os.utime(path)
        self.assertEqual(self.import_json(path), (1, 1))

    def test_what_left_the_memory_comes_back(self):
        path = self.transcript("a", "said first", "said second")
        self.import_json(path)
        for leave in (lambda log: log.write_text(log.read_text().splitlines(True)[0]),
                      lambda log: shutil.rmtree(log.parent)):
            leave(self.root / "sessions/cc-a/conversation.jsonl")
            self.import_json(path)
            self.assertEqual(self.texts(), ["said first", "said second"])
            self.assertEqual(self.import_json(path), (0, 2))

    def test_an_older_state_of_the_repository_gets_what_it_lacks(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=self.folder, check=True, capture_output=True)

        path = self.transcript("a", "said first")
        self.import_json(path)
        git("init", "-q")
        git("add", "-f", ".bmad")
        git("commit", "-qm", "one")
        self.transcript("a", "said first", "said second")
        self.import_json(path)
        git("checkout", "-q", ".bmad")
        self.assertEqual(self.texts(), ["said first"])
        self.assertEqual(self.import_json(path), (1, 1))

    def test_what_was_deleted_or_purged_stays_away(self):
        path = self.transcript("a", "said first", "said second", "said third")
        self.import_json(path)
        self.run_tool("delete", "--yes", "a-000000")
        self.run_tool("delete", "--yes", "--purge", "a-000001")
        for _ in range(3):
            self.import_json(path)
            self.assertEqual(self.texts(), ["said third"])
        self.run_tool("undelete", "a-000000")
        self.import_json(path)
        self.assertEqual(self.texts(), ["said first", "said third"])
        self.run_tool("session", "delete", "--yes", "cc-a")
        report = json.loads(self.run_tool("--json", "import", str(path)))
        self.assertEqual((report["imported"], report["deleted"]), (0, 2))

    def test_other_options_read_it(self):
        path = self.transcript("a", "said first")
        self.import_json(path)
        self.unread(path)
        self.assertEqual(self.import_json(path), (0, 1))
        self.assertEqual(self.import_json("--session", "other", path), (1, 0))
        self.assertEqual(self.texts(), ["read first", "said first"])
        self.assertEqual(self.import_json(path), (0, 1))

    def test_another_program_reads_it(self):
        path = self.transcript("a", "said first")
        self.import_json(path)
        self.unread(path)
        text = self.notes().read_text()
        copy = shutil.copy(self.tool, self.folder / "another")
        os.utime(copy, (PAST, PAST))
        self.run_command(str(copy), "--quiet", "import", str(path))
        self.assertNotEqual(self.notes().read_text(), text)

    def test_without_notes_it_is_read_in_silence(self):
        path = self.transcript("a", "said first")
        self.import_json(path)
        for damage in (lambda notes: notes.unlink(), lambda notes: notes.write_bytes(b"\0{]\n{}\n[1]\n"), lambda notes: (notes.unlink(), notes.mkdir())):
            damage(self.notes())
            self.assertEqual(self.import_json(path), (0, 1))
        shutil.rmtree(self.notes())
        self.environment["XDG_STATE_HOME"] = self.environment["HOME"] = ""
        self.import_json(path)

    def test_a_dry_run_notes_nothing(self):
        path = self.transcript("a", "said first")
        self.import_json("--dry-run", path)
        self.assertIsNone(self.notes())

    def test_a_fork_of_what_is_not_read_brings_its_own_words_alone(self):
        path = self.transcript("a", f"use {SECRET} as I said", "said second")
        self.import_json(path)
        fork = self.transcript("b", f"use {SECRET} as I said", "said second", "said in the fork", copied_from="a")
        self.assertEqual(self.import_json(path, fork), (1, 4))
        self.transcript("b", f"use {SECRET} as I said", "said second", "said in the fork", "said later", copied_from="a")
        self.assertEqual(self.import_json(path, fork), (1, 5))
        self.assertEqual(self.import_json(path, fork), (0, 6))

    def test_a_fork_of_what_a_hook_recorded_brings_its_own_words_alone(self):
        self.run_tool("session", "new", "--id", "cc-a")
        line = {"type": "conversation", "session_id": "cc-a", "id": "h1", "role": "user", "content": "said first", "metadata": {"recorded_by": "hook"}}
        self.run_tool("--quiet", "import", "-", stdin=json.dumps(line) + "\n")
        path = self.transcript("a", "said first", "said second")
        self.assertEqual(self.import_json(path), (1, 1))
        fork = self.transcript("b", "said first", "said second", "said in the fork", copied_from="a")
        self.assertEqual(self.import_json(path, fork), (1, 4))
        self.assertEqual(self.texts(), ["said first", "said in the fork", "said second"])


if __name__ == "__main__":
    main()
