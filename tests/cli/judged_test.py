#!/usr/bin/env python3
"""What is named a secret once stays nowhere: in the text, the entry, both halves of a tool's call, later entries
of the session, an import, `redact --all`. Drawn values, in all forms, and 0 of them stay.

Usage: judged_test.py TOOL
"""

import base64
import json
import os
import pathlib
import pty
import random
import select
import subprocess
import urllib.parse

from tool_under_test import TOOL, ToolTest, main

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
SIGNS = "!#$&*+-=?@^_~"
TIME = "2026-01-02T03:04:05.000Z"
PASSWORD = "Zx9kQ2v" + "LmT7pQ81"  # In two parts, so that other scanners stay quiet.


def drawn(count, seed):
    source = random.Random(seed)
    return ["".join(source.choice(SIGNS if i % 5 == 3 and n % 2 else LETTERS) for i in range(9 + n % 24)) for n in range(count)]


def escaped(value):
    return "".join(c if c.isalnum() else "\\" + c for c in value)


FORMS = {
    "bare": lambda value: f"with {value} now",
    "glued": lambda value: f"x{value}y",
    "json": lambda value: json.dumps({"a": value}),
    "url": lambda value: "https://h/?q=" + urllib.parse.quote(value, safe=""),
    "shell": lambda value: "printf %s " + escaped(value),
    "base64": lambda value: base64.b64encode(f"ann:{value}".encode()).decode(),
    "short base64": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
}


def traces(value):
    """What of a value shows it, in the text of a log."""
    plain = {value, escaped(value), urllib.parse.quote(value, safe="")}
    quoted = {json.dumps(each)[1:-1] for each in plain}
    packed = {base64.b64encode(b" " * i + value.encode()).decode()[(i * 8 + 5) // 6:-4] for i in range(3)}
    return plain | quoted | {json.dumps(each)[1:-1] for each in quoted} | packed


class Judged(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.run_tool("session", "new", "--id", "s1")
        self.root = self.folder / ".bmad" / "memory"
        self.repeats = 0

    def kept(self):
        """All that the project holds."""
        return "\n".join(path.read_bytes().decode("latin-1") for path in self.root.rglob("*") if path.is_file())

    def check_gone(self, values, kept=None):
        kept = self.kept() if kept is None else kept
        for value in values:
            for trace in traces(value):
                self.assertNotIn(trace, kept)

    def call(self, command, stdout, session="h"):
        event = {"hook_event_name": "PostToolUse", "session_id": session, "cwd": str(self.folder), "tool_name": "Bash",
                 "tool_input": {"command": command}, "tool_response": {"stdout": stdout}}
        self.run_tool("hook", "claude-code", "--limit-ms", "60000", stdin=json.dumps(event))

    def switch_off(self):
        self.run_tool("config", "set", "privacy.auto_redaction", "false")

    def switch_on(self):
        self.run_tool("config", "set", "privacy.auto_redaction", "true")

    def test_a_text_loses_what_it_names(self):
        said = self.run_tool("redact", "-", stdin=f"the db password is {PASSWORD}, please run psql with {PASSWORD}\n")
        self.assertEqual(said, "the db password is [REDACTED:password], please run psql with [REDACTED:repeated-secret]\n")

    def test_both_halves_of_a_call_lose_it(self):
        values = drawn(30, 1)
        for i, value in enumerate(values):
            form = list(FORMS.values())[i % len(FORMS)](value)
            naming = f"export DB_PASSWORD='{value}'; psql"
            self.call(*((naming, f"failed: {form}") if i % 2 else (f"echo {form}", naming)))
        self.assertEqual(len((self.root / "sessions" / "cc-h" / "events.jsonl").read_text().splitlines()), 60)
        self.check_gone(values)

    def test_the_cut_copy_of_a_command_holds_no_half_of_it(self):
        self.call(f"export DB_PASSWORD='{PASSWORD}'; {'x' * 70} psql {PASSWORD}", "ok")
        self.assertNotIn(PASSWORD[:6], self.kept())

    def test_the_rest_of_the_session_loses_it(self):
        values = drawn(60, 2)
        self.run_tool("add", "fact", "--session", "s1", "\n".join(f"DB_PASSWORD='{value}'" for value in values))
        for form in FORMS.values():
            self.run_tool("add", "fact", "--session", "s1", "these:\n" + "\n".join(map(form, values)))
        self.check_gone(values)
        self.run_tool("session", "new", "--id", "s2")
        self.run_tool("add", "fact", "--session", "s2", f"another session knows nothing of {values[0]}")
        self.assertIn(values[0], self.kept())

    def test_redact_all_makes_what_a_session_judged_hold_in_all(self):
        value = drawn(1, 7)[0]
        self.run_tool("add", "fact", "--session", "s1", f"DB_PASSWORD='{value}'")
        self.run_tool("session", "new", "--id", "s2")
        self.run_tool("add", "fact", "--session", "s2", f"before: {value}")
        self.assertIn(value, self.kept())
        self.run_tool("redact", "--all", "--yes")
        self.run_tool("add", "fact", "--session", "s2", f"after: {value}")
        self.check_gone([value])

    def test_an_import_loses_what_a_later_line_names(self):
        values = drawn(40, 3)
        texts = [form(value) for value in values for form in FORMS.values()] + [f"DB_PASSWORD='{value}'" for value in values]
        lines = [{"type": ("event" if i % 2 and i < 280 else "conversation"), "session_id": "i1", "id": f"e{i}", "timestamp": TIME,
                  "role": "user", "kind": "tool_use", "content": text} for i, text in enumerate(texts)]
        path = self.folder / "old.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        self.run_tool("import", str(path))
        path.unlink()
        self.assertIn("e279", self.kept())
        self.check_gone(values)

    def test_redact_all_loses_it_everywhere(self):
        self.switch_off()
        values = drawn(40, 4)
        for name, texts in {"s2": [form(value) for value in values for form in FORMS.values()],
                            "s3": [form(value) for value in values for form in FORMS.values()],
                            "s4": [f"DB_PASSWORD='{value}'" for value in values]}.items():
            self.run_tool("session", "new", "--id", name)
            self.run_tool("add", "fact", "--session", name, "-", stdin="".join(json.dumps({"content": text}) + "\n" for text in texts))
        (self.root / "memories").mkdir()
        (self.root / "memories" / "note.md").write_text(f"use {values[0]}\n")
        (self.root / "config.json.tmp").write_text(f"use {values[1]}\n")
        (self.root / "sessions" / "s2" / "facts.jsonl.tmp").write_text(f"use {values[2]}\n")
        self.run_tool("session", "archive", "s2")
        self.run_tool("session", "delete", "s3", "--yes")
        self.switch_on()
        self.assertIn(values[0], self.kept())
        listed = self.run_tool("redact", "--all", "--dry-run")
        self.assertIn("facts.jsonl:1: password, ... (9 bytes)", listed)
        self.assertIn("facts.jsonl:23: password, T7... (31 bytes)", listed)
        self.check_gone(values, listed)
        self.assertIn(values[0], self.kept())
        self.run_tool("redact", "--all", "--yes")
        self.check_gone(values)
        for packed in self.root.rglob("*.gz"):
            self.check_gone(values, subprocess.run(["tar", "-xOzf", packed], capture_output=True, text=True, check=True).stdout)
        self.run_tool("add", "fact", "--session", "s1", f"and {values[5]} does not come back")
        self.check_gone(values)

    def test_common_words_stay_where_nothing_names_them(self):
        for value in ("hunter2", "production", "123456", "src/main.rs", "Frankfurt2024"):
            path = self.folder / "src" / "main.rs"
            path.parent.mkdir(exist_ok=True)
            path.write_text("")
            self.run_tool("add", "fact", "--session", "s1", f"password: {value}")
            self.run_tool("add", "fact", "--session", "s1", f"it is about {value} here")
            self.assertIn(f"about {value} here", self.kept())

    def test_explain_says_what_goes_where(self):
        said = self.run_tool("redact", "--explain", "-", status=1, stdin=f"password: hunter2\nDB_PASSWORD={PASSWORD}\npsql {PASSWORD}\n")
        self.assertEqual(said.splitlines(), [
            "stdin:1:11: password (password by its name), 7 bytes; only next to its name: a common word",
            "stdin:2:13: password (password by its name), 15 bytes; everywhere",
            "stdin:3:6: repeated-secret (value that was judged to be a secret before), 15 bytes; everywhere"])
        self.assertNotIn(PASSWORD, said)

    def test_a_key_that_vanishes_is_said_once(self):
        self.run_tool("add", "fact", "--session", "s1", f"DB_PASSWORD={PASSWORD}")
        keys = list(pathlib.Path(self.environment["XDG_STATE_HOME"]).rglob("judged.key"))
        self.assertEqual([path.stat().st_mode & 0o77 for path in keys], [0])
        keys[0].unlink()
        for says in (True, False):
            done = subprocess.run([TOOL, "add", "fact", "--session", "s1", "psql"], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, check=True)
            self.assertEqual("are forgotten" in done.stderr, says, done.stderr)

    def test_redact_all_lists_asks_and_names_commits(self):
        for words in (["init", "-q"], ["config", "user.email", "a@b.example"], ["config", "user.name", "a"]):
            self.run_command("git", *words)
        self.switch_off()
        self.run_tool("add", "fact", "--session", "s1", f"DB_PASSWORD={PASSWORD}")
        self.run_command("git", "add", "-A")
        self.run_command("git", "commit", "-qm", "one")
        self.run_tool("add", "fact", "--session", "s1", "plain")
        self.run_command("git", "commit", "-qam", "two")
        self.switch_on()
        refused = self.at_a_terminal("n\n", "redact", "--all")
        self.assertIn("facts.jsonl:1: password, Zx... (15 bytes)", refused)
        self.assertIn("irreversibly?", refused)
        self.assertIn(PASSWORD, self.kept())
        done = self.at_a_terminal("y\n", "redact", "--all")
        self.assertNotIn(PASSWORD, done + self.kept())
        first = self.run_command("git", "log", "--format=%h", "--reverse").split()[0]
        self.assertIn(f"left in git: commit {first}: 1 secret", done)
        self.assertIn("1 commit still holds secrets", done)

    def at_a_terminal(self, answer, *words):
        ours, theirs = pty.openpty()
        done = subprocess.Popen([TOOL, *words], cwd=self.folder, env=self.environment, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            said += piece
            if b"[y/N]" in piece:
                os.write(ours, answer.encode())
        done.wait(60)
        os.close(ours)
        return said.decode()

    def test_no_secret_is_a_word_of_a_command(self):
        """git is a script here that notes its words."""
        self.run_command("git", "init", "-q")
        self.run_tool("add", "fact", "--session", "s1", f"DB_PASSWORD={PASSWORD}")
        stand_in = self.folder / "bin"
        stand_in.mkdir()
        (stand_in / "git").write_text('#!/bin/sh\necho "$@" >>"$HOME/words"\nPATH=/usr/bin:/bin exec git "$@"\n')
        (stand_in / "git").chmod(0o755)
        self.environment["PATH"] = f"{stand_in}:{self.environment['PATH']}"
        (self.root / "sessions" / "s1" / "facts.jsonl").write_text(json.dumps({"id": "f", "content": f"psql {PASSWORD}"}) + "\n")
        self.run_tool("redact", "--all", "--yes")
        words = (self.folder / "words").read_text()
        self.assertIn("log", words)
        self.assertNotIn(PASSWORD, words + self.kept())


if __name__ == "__main__":
    main()
