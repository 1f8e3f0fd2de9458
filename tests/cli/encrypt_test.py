#!/usr/bin/env python3
"""Kills `encrypt on`, `encrypt rotate` and `encrypt off` at many moments, runs them again, and looks at the result:
no entry is lost, and no word of an encrypted one stands in any file. With the key a query answers as if nothing were
encrypted; a passphrase is typed on a terminal; what hooks record waits for the key; MCP tells what the key opens; a merge
conflict in sealing.json loses nothing.

Usage: encrypt_test.py BMAD_MEM. Exit status 1 if a check failed.
"""

import ctypes
import gzip
import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mcp"))

from mcp_process import McpProcess  # noqa: E402

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
WORD = "zqcanary"
KILLS = 12


SUBJECTS = ("harbour", "lantern", "orchard", "glacier", "furnace", "meadow", "quarry", "viaduct", "cistern", "pontoon")
DEEDS = ("closes late", "was repaired", "needs a new owner", "floods in spring", "is cheap to keep", "studies the tides")


class Project(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.project = self.folder / "project"
        self.project.mkdir()
        self.root = self.project / ".bmad/memory"
        self.run_tool("init", "-q")

    def environment(self, key, passphrase=None, now=None):
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")}
        variables.update({name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")})
        if key:
            variables["BMAD_MEM_KEY_FILE"] = str(self.folder / key)
        if now:
            variables["BMAD_MEM_NOW"] = now
        if passphrase:
            variables["BMAD_MEM_PASSPHRASE"] = passphrase
        return variables

    def run_tool(self, *arguments, text="", key=None, passphrase=None, status=0, now=None):
        done = subprocess.run([TOOL, *arguments], cwd=self.project, input=text, text=True, capture_output=True,
                              env=self.environment(key, passphrase, now), timeout=120, check=False)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        self.said = done.stderr
        return done.stdout

    def make_key(self, name):
        path = self.folder / name
        path.write_text(os.urandom(32).hex() + "\n")
        path.chmod(0o600)
        return name

    def hook(self, prompt, key=None, event="UserPromptSubmit", session="h1"):
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(self.project), "prompt": prompt,
                   "source": "startup"}
        return self.run_tool("hook", "claude-code", "--budget-ms", "20000", "--limit-ms", "60000",
                             text=json.dumps(payload), key=key)

    def waiting(self):
        return list((self.folder / "home").rglob("waiting.jsonl"))[0]


class Opens:
    """How often somebody opens one of the files."""

    def __init__(self, paths):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.inotify_init1(os.O_NONBLOCK)
        for path in paths:
            in_open = 0x20
            assert self.libc.inotify_add_watch(self.descriptor, os.fsencode(path), in_open) >= 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)

    def count(self):
        try:
            return len(os.read(self.descriptor, 1 << 16)) // 16
        except BlockingIOError:
            return 0


class Answers(Project):
    def fill(self):
        for number, session in enumerate(("first", "second", "third")):
            self.run_tool("session", "new", "--id", session)
            messages, facts = [], []
            for at, subject in enumerate(SUBJECTS):
                deed = DEEDS[(at + number) % len(DEEDS)]
                again = f" The {subject} again." if at % 3 == number else ""
                when = f"2026-10-{at + 1:02}T1{number}:00:00Z"
                messages.append({"id": f"m{number}-{at}", "timestamp": when, "role": "user", "agent_id": "caroline",
                                 "content": f"The {subject} {deed}.{again}", "context": {"topic": subject}})
                facts.append({"id": f"f{number}-{at}", "timestamp": when, "tags": [deed.split()[0]],
                              "content": f"Our user database says that the {subject} {deed}"})
            for kind, entries in (("conversation", messages), ("fact", facts)):
                self.run_tool("add", kind, "--session", session, "-",
                              text="".join(json.dumps(entry) + "\n" for entry in entries))
        self.run_tool("session", "archive", "third")

    QUERIES = (("harbour",), ("harbours closing late",), ("user database",), ("study of tides",), ('"needs a new owner"',),
               ("+glacier -floods",), ("harb* AND clos*",), ("lantern", "--type", "fact"), ("orchard", "--sort", "time"),
               ("quarry", "--session", "second"), ("meadow", "--topic", "meadow"), ("the",),
               ("viaduct on 8 October",), ("what did caroline say about the cistern",), ("type:fact tag:floods",))

    def answers(self, key=None):
        found, self.by_relevance = [], []
        for query in self.QUERIES:
            lines = self.run_tool("--json", "query", "--limit", "50", *query, key=key).splitlines()
            hits = [hit for hit in map(json.loads, lines) if "id" in hit]
            found.append([(hit["id"], hit["relevance"]) for hit in hits])
            # Of two that differ in a value the newer leads, whatever its relevance.
            self.by_relevance.append(not any(hit.get("said_before") for hit in hits))
        return found

    def test_a_query_with_the_key_answers_as_in_clear(self):
        self.fill()
        clear = self.answers()
        self.assertTrue(all(clear[:5]))
        listed = self.run_tool("--json", "list", "--limit", "7")
        key = self.make_key("key")
        for what in (("--session", "second"), ()):
            self.run_tool("encrypt", "on", "--yes", *what, key=key)
            for query, ours, theirs, is_ordered in zip(self.QUERIES, self.answers(key), clear, self.by_relevance):
                self.assertEqual(sorted(entry for entry, _ in ours), sorted(entry for entry, _ in theirs), query)
                for entry, relevance in ours:
                    self.assertAlmostEqual(relevance, dict(theirs)[entry], delta=0.1, msg=(query, entry))
                if is_ordered:
                    self.assertEqual(ours[:1] and ours[0][1], max((each for _, each in ours), default=[]), query)
            self.assertEqual(self.run_tool("--json", "list", "--limit", "7", key=key), listed)
            self.assertEqual(json.loads(self.run_tool("--json", "get", "f1-3", key=key))["id"], "f1-3")
        self.run_tool("query", "harbour")
        self.assertIn("60 entries are encrypted and need the key; name it in $BMAD_MEM_KEY_FILE", self.said)

    def test_a_later_version_in_an_encrypted_line_is_the_one_that_is_told(self):
        self.run_tool("session", "new", "--id", "s1")
        key = self.make_key("key")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", "The harbour wage is low")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f2", "The harbour gate is open")
        self.run_tool("encrypt", "on", "--sensitive", "--yes", key=key)
        self.run_tool("edit", "f1", "--set", "sensitive=true", "--set", "content=The harbour wage is 7", key=key)
        for command in (("query", "wage"), ("list",), ("get", "f1")):
            shown = self.run_tool("--json", *command, key=key)
            self.assertIn("wage is 7", shown, command)
            self.assertNotIn("wage is low", shown, command)

    def test_with_a_key_only_logs_with_encrypted_lines_are_read(self):
        key = self.make_key("key")
        self.run_tool("session", "new", "--id", "sealed")
        for number in range(30):
            self.run_tool("session", "new", "--id", f"plain{number}")
            self.run_tool("add", "fact", "--session", f"plain{number}", f"The harbour closes at {number}")
        self.run_tool("encrypt", "on", "--session", "sealed", "--yes", key=key)
        self.run_tool("add", "fact", "--session", "sealed", "--id", "f1", "The lantern is lit", key=key)
        self.run_tool("rebuild-index")
        time.sleep(1)  # Logs that were written as they were indexed are read once more.
        self.run_tool("query", "harbour lantern", key=key)
        with Opens(self.root.glob("sessions/plain*/facts.jsonl")) as opens:
            self.assertIn("lantern", self.run_tool("list", "--limit", "1", key=key))
            self.assertIn("lantern", self.run_tool("get", "f1", key=key))
            self.assertIn("f1", self.run_tool("query", "lantern", key=key))
            self.assertEqual(opens.count(), 0)
            self.run_tool("query", "harbour", "--limit", "1", key=key)
            self.assertGreater(opens.count(), 0)  # It would have been noticed.

    def test_a_query_scans_ten_megabytes_and_says_what_it_left_out(self):
        self.run_tool("session", "new", "--id", "big")
        key = self.make_key("key")
        self.run_tool("encrypt", "on", "--yes", key=key)
        filler = " ".join(f"word{number}" for number in range(45_000))
        self.run_tool("config", "set", "storage.max_session_size_mb", "64", key=key)
        for part in range(3):
            lines = "".join(json.dumps({"id": f"f{part}-{at}", "content": f"{filler} needle{at}"}) + "\n"
                            for at in range(14))
            self.run_tool("add", "fact", "--session", "big", "-", text=lines, key=key)
        self.run_tool("query", "needle3", key=key)
        self.assertRegex(self.said, r"\d+ encrypted entries are too many to look at; name a session")


class Hooks(Project):
    def test_what_is_recorded_waits_for_the_key(self):
        key = self.make_key("key")
        self.run_tool("encrypt", "on", "--yes", key=key)
        self.hook(f"the {WORD} boat leaves at nine")
        self.assertEqual(self.said, "")
        self.hook(f"the {WORD} boat is late")
        self.assertEqual(self.places(), [])
        self.assertEqual(self.waiting().stat().st_mode & 0o777, 0o600)
        self.assertIn("2 entries of this memory wait for the key", self.hook("", event="SessionStart"))
        self.assertIn("2 entries wait for the key", self.run_tool("doctor", status=1))
        self.run_tool("session", "new", "--id", "s1", key=key)
        self.run_tool("add", "fact", "--session", "s1", "clear", status=1)
        self.assertIn("sealing.json", self.said)
        self.hook("and now the key is here", key=key)
        self.assertEqual(self.places(), [])
        self.assertEqual(self.run_tool("list", key=key).count(WORD), 2)
        self.assertEqual(self.waiting().read_text(), "")
        self.assertNotIn("wait for the key", self.hook("", event="SessionStart", key=key))
        self.assertEqual(self.run_tool("list", key=key).count(WORD), 2)

    def test_what_waits_is_forgotten_with_the_rest(self):
        key = self.make_key("key")
        self.run_tool("encrypt", "on", "--yes", key=key)
        self.hook(f"the {WORD} boat leaves at nine")
        self.hook("the harbour closes")
        self.assertIn("waiting.jsonl", self.run_tool("purge", "--verify", WORD, key=key, status=1))
        self.assertIn("waiting.jsonl", self.run_tool("forget", "--match", WORD, "--yes", key=key))
        self.assertNotIn(WORD, self.waiting().read_text())
        self.assertIn("1 entry waits for the key", self.run_tool("doctor", status=1))
        self.hook("and now the key is here", key=key)
        shown = self.run_tool("list", key=key)
        self.assertNotIn(WORD, shown)
        self.assertIn("harbour", shown)

    def test_what_waits_for_a_deleted_session_comes_back_with_it_alone(self):
        key = self.make_key("key")
        self.hook("before")
        self.run_tool("encrypt", "on", "--yes", key=key)
        self.hook(f"the {WORD} boat leaves at nine")
        self.run_tool("session", "delete", "cc-h1", "--yes")
        self.hook("in another session", key=key, session="h2")
        self.assertIn(WORD, self.waiting().read_text())
        self.run_tool("undelete", "--session", "cc-h1")
        self.hook("and now the key is here", key=key)
        self.assertEqual(self.run_tool("list", key=key).count(WORD), 1)
        self.hook(f"the {WORD} boat is late")
        self.run_tool("session", "delete", "cc-h1", "--purge", "--yes")
        self.assertNotIn(WORD, self.waiting().read_text())

    def test_what_waits_for_a_session_of_another_branch_waits_on(self):
        key = self.make_key("key")
        self.hook("before")
        self.run_tool("encrypt", "on", "--yes", key=key)
        self.hook(f"the {WORD} boat leaves at nine")
        session = self.root / "sessions/cc-h1"
        session.rename(self.folder / "elsewhere")
        self.hook("in another session", key=key, session="h2")
        self.run_tool("session", "delete", "cc-h2", "--yes", key=key)
        self.run_tool("purge", "--all", "--yes", key=key)
        self.assertIn(WORD, self.waiting().read_text())
        (self.folder / "elsewhere").rename(session)
        self.hook("and back", key=key)
        self.assertEqual(self.run_tool("list", key=key).count(WORD), 1)
        self.assertEqual(self.waiting().read_text(), "")

    def test_a_stranger_can_stop_no_recording(self):
        """sealing.json came with git, and nobody here has its key."""
        self.run_tool("session", "new", "--id", "s1")
        (self.root / "sealing.json").write_text('{"all":true,"sensitive":false,"sessions":[],"key":"yTDm0bWjhAo"}\n')
        for key in (None, self.make_key("other")):
            self.hook(f"the {WORD} boat", key=key)
            self.assertEqual(self.said, "")
            self.run_tool("add", "fact", "--session", "s1", "x", key=key, status=1)
            self.assertRegex(self.said, r"E_ACCESS_DENIED: .*sealing.json: key: .* yTDm0bWjhAo, .*`bmad-mem encrypt off --without-key`")
        (self.root / "sealing.json").unlink()
        self.hook("in clear again")
        self.assertEqual(self.run_tool("list").count(WORD), 2)

    def places(self):
        return [path for path in self.root.rglob("*") if path.is_file() and WORD.encode() in path.read_bytes()]


class Passphrase(Project):
    def type_in(self, *arguments, answers):
        """What is seen on a terminal on which the answers are typed, each when the question is there."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.project)
            os.execve(TOOL, [str(TOOL), *arguments], self.environment(None))
        seen = b""
        for question, answer in answers:
            while question not in seen.decode():
                self.assertTrue(select.select([terminal], [], [], 60)[0], seen)
                seen += os.read(terminal, 4096)
            os.write(terminal, answer.encode() + b"\n")
            seen = seen.replace(question.encode(), b"", 1)
        while True:
            try:
                got = os.read(terminal, 4096)
            except OSError:
                got = b""
            if not got:
                break
            seen += got
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
        return status, seen.decode()

    def test_typed_on_a_terminal(self):
        self.run_tool("session", "new", "--id", "s1")
        self.run_tool("add", "fact", "--session", "s1", f"the {WORD} boat")
        status, seen = self.type_in("encrypt", "on", "--passphrase", "--yes",
                                    answers=(("Passphrase: ", "correct horse"), ("Again: ", "other horse")))
        self.assertEqual(status, 1)
        self.assertIn("the passphrases differ", seen)
        status, seen = self.type_in("encrypt", "on", "--passphrase", "--yes",
                                    answers=(("Passphrase: ", "correct horse"), ("Again: ", "correct horse")))
        self.assertEqual(status, 0, seen)
        self.assertNotIn("horse", seen)
        self.assertEqual([path for path in self.root.rglob("*") if path.is_file() and WORD.encode() in
                          path.read_bytes()], [])
        status, seen = self.type_in("encrypt", "off", "--passphrase", "--yes", answers=(("Passphrase: ", "wrong horse"),))
        self.assertEqual(status, 1)
        self.assertIn("E_ACCESS_DENIED", seen)
        status, seen = self.type_in("encrypt", "off", "--passphrase", "--yes",
                                    answers=(("Passphrase: ", "correct horse"),))
        self.assertEqual(status, 0, seen)
        self.assertIn(WORD, self.run_tool("list"))


class Going(Project):
    """Encrypted entries are deleted, moved and exported as others are, or it is said that they are not."""

    def setUp(self):
        super().setUp()
        self.key = self.make_key("key")
        self.run_tool("session", "new", "--id", "s1")
        for number in range(4):
            self.run_tool("add", "fact", "--session", "s1", "--id", f"f{number}", f"the {WORD} boat {number}")
        self.run_tool("encrypt", "on", "--yes", key=self.key)

    def listed(self, **variables):
        lines = self.run_tool("--json", "list", "--limit", "0", key=self.key, **variables).splitlines()
        return sorted(json.loads(line)["id"] for line in lines)

    def test_by_id_without_the_key(self):
        self.assertIn("deleted 1 entry", self.run_tool("delete", "f0", "--yes"))
        self.assertEqual(self.listed(), ["f1", "f2", "f3"])
        self.run_tool("undelete", "f0")
        self.assertEqual(self.listed(), ["f0", "f1", "f2", "f3"])
        lines = (self.root / "sessions/s1/facts.jsonl").read_text().splitlines()
        line = next(line for line in lines if '"f1"' in line)
        self.run_tool("delete", "f1", "--purge", "--yes")
        self.assertEqual([path for path in self.root.rglob("*") if path.is_file() and
                          json.loads(line)["sealed"].encode() in path.read_bytes()], [])
        self.run_tool("delete", "--type", "fact", "--until", "2000-01-01", "--yes")
        self.assertEqual(self.listed(), ["f0", "f2", "f3"])
        self.run_tool("delete", "--type", "fact", "--yes")
        self.assertEqual(self.listed(), [])

    def test_by_text_with_the_key_alone(self):
        self.run_tool("delete", "--match", "boat 2", "--yes")
        self.assertIn("4 encrypted entries could not be looked into", self.said)
        self.assertEqual(self.listed(), ["f0", "f1", "f2", "f3"])
        self.run_tool("delete", "--match", "boat 2", "--yes", key=self.key)
        self.assertNotIn("could not", self.said)
        self.assertEqual(self.listed(), ["f0", "f1", "f3"])
        self.run_tool("forget", "--match", "boat 3", "--yes", status=1)
        self.assertRegex(self.said, "E_INVALID_QUERY: match: 4 encrypted entries could not be searched")
        self.run_tool("forget", "--match", "boat 3", "--yes", key=self.key)
        self.assertEqual(self.listed(), ["f0", "f1"])

    def test_in_an_archive(self):
        self.run_tool("session", "archive", "s1")
        self.run_tool("delete", "f0", "--purge", "--yes")
        self.run_tool("delete", "f1", "--yes")
        self.assertEqual(self.listed(), ["f2", "f3"])

    def test_past_its_time(self):
        self.run_tool("add", "fact", "--session", "s1", '{"id":"g1","content":"short","expires_at":"2031-01-02T00:00:00Z"}',
                      key=self.key)
        self.run_tool("pin", "f3", key=self.key)
        self.run_tool("session", "new", "--id", "s2", key=self.key)
        self.run_tool("add", "fact", "--session", "s2", '{"id":"g2","content":"short","expires_at":"2031-01-02T00:00:00Z"}',
                      key=self.key)
        self.run_tool("session", "archive", "s2")
        self.run_tool("maintain", now="2031-01-01T00:00:00Z")
        self.assertEqual(self.listed(), ["f0", "f1", "f2", "f3", "g1", "g2"])
        for day in (3, 5, 7):  # A clock that has jumped is believed later.
            self.run_tool("maintain", now=f"2031-01-0{day}T00:00:00Z")
        self.assertEqual(self.listed(), ["f0", "f1", "f2", "f3"])
        self.run_tool("config", "set", "privacy.retention_days.fact", "3000", key=self.key)
        for day in (1, 3, 5):
            self.run_tool("maintain", now=f"2041-01-0{day}T00:00:00Z")
        self.assertEqual(self.listed(), ["f3"])

    def test_moved_never_in_clear(self):
        self.run_tool("move", "f0", "--scope", "user", key=self.key, status=1)
        self.assertIn("f0 is encrypted here and would be in clear", self.said)
        self.assertEqual(self.listed(), ["f0", "f1", "f2", "f3"])
        self.assertEqual([path for path in (self.folder / "home").rglob("*") if path.is_file() and
                          WORD.encode() in path.read_bytes()], [])
        self.run_tool("--scope", "user", "encrypt", "on", "--yes", key=self.key)
        self.run_tool("move", "f0", "--scope", "user", key=self.key)
        self.assertEqual(self.listed(), ["f1", "f2", "f3"])
        self.assertIn(f"{WORD} boat 0", self.run_tool("--scope", "user", "get", "f0", key=self.key))
        self.assertEqual([path for path in (self.folder / "home").rglob("*") if path.is_file() and
                          WORD.encode() in path.read_bytes()], [])

    def test_an_export_without_the_key_is_not_whole(self):
        for archived in ((), ("--archived",)):
            if archived:
                self.run_tool("session", "archive", "s1")
            self.assertNotIn(WORD, self.run_tool("export", *archived, status=4))
            self.assertIn("4 encrypted entries are left out; name the key", self.said)
            self.assertEqual(self.run_tool("export", *archived, key=self.key).count(WORD), 4)


class Versions(Project):
    def setUp(self):
        super().setUp()
        self.key = self.make_key("key")
        self.run_tool("session", "new", "--id", "s1")

    def test_all_of_an_entry_are_encrypted_and_no_earlier_one_holds(self):
        self.run_tool("encrypt", "on", "--sensitive", "--yes", key=self.key)
        fact = self.run_tool("remember", "--session", "s1", "--category", "constraint", "--key", "push",
                             f"Never push {WORD}").strip()
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", f"The harbour wage is {WORD}")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f2", "The harbour gate")
        self.assertIn(WORD, self.run_tool("context"))
        for entry in ("f1", fact):
            self.run_tool("edit", entry, "--set", "sensitive=true", "--set", "content=other", key=self.key)
        for made in ("told", "without an index"):
            for command in (("list",), ("query", "harbour"), ("query", "push"), ("recall",), ("context",),
                            ("context", "--task", "push to the harbour"), ("list", "--limit", "0"),
                            ("list", "--as-of", "2099-01-01")):
                self.assertNotIn(WORD, self.run_tool(*command), (made, command))
            self.run_tool("get", "f1", status=3)
            self.assertIn("gate", self.run_tool("query", "harbour"))
            shutil.rmtree(self.root / "index", ignore_errors=True)
            self.run_tool("config", "set", "indexing.enabled", "false", key=self.key)
        self.assertIn("other", self.run_tool("get", "f1", key=self.key))
        self.run_tool("encrypt", "on", "--sensitive", "--yes", key=self.key)
        self.assertEqual([path for path in self.root.rglob("*") if path.is_file() and WORD.encode() in
                          path.read_bytes()], [])
        self.assertIn(WORD, self.run_tool("history", "f1", key=self.key))

    def test_candidates_are_reviewed_with_the_key(self):
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        calls = [{"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                     "clientInfo": {"name": "x", "version": "1"}}},
                 {"method": "tools/call", "params": {"name": "memory_remember", "arguments": {
                     "category": "pattern", "key": "push", "value": f"Push {WORD} on Mondays"}}}]
        text = "".join(json.dumps({"jsonrpc": "2.0", "id": at} | call) + "\n" for at, call in enumerate(calls))
        self.run_tool("mcp", text=text, key=self.key)
        listed = self.run_tool("--json", "recall", "--candidates", key=self.key)
        self.assertIn(WORD, listed)
        candidate = json.loads(listed.splitlines()[0])["id"]
        self.assertNotIn(WORD, self.run_tool("--json", "recall", "--candidates"))
        self.run_tool("review", "--accept", candidate, key=self.key)
        self.assertNotIn(WORD, self.run_tool("--json", "recall", "--candidates", key=self.key))
        self.assertIn('"review":"accepted"', self.run_tool("--json", "get", candidate, key=self.key))

    def test_a_refused_write_leaves_no_empty_session(self):
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        (self.folder / "in.jsonl").write_text('{"type":"user","sessionId":"c1","timestamp":"2026-01-01T00:00:00Z",'
                                              '"message":{"role":"user","content":"x"}}\n')
        self.run_tool("session", "close", "s1", key=self.key)
        for command in (("add", "fact", "x"), ("import", str(self.folder / "in.jsonl")), ("session", "new")):
            self.run_tool(*command, status=1)
            self.assertIn("is to be encrypted with the key", self.said)
            self.assertEqual([path.name for path in (self.root / "sessions").iterdir()], ["s1"], command)

    def test_without_the_key_another_session_is_named(self):
        self.run_tool("encrypt", "on", "--session", "s1", "--yes", key=self.key)
        self.run_tool("add", "fact", "x", status=1)
        self.assertIn("`--session ID` writes to a session that is not encrypted", self.said)

    def test_counts(self):
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", "x")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f2", "y")
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        self.assertIn("(encrypted)", self.run_tool("session", "list"))
        self.assertIn("2 entries stay searchable", self.run_tool("session", "archive", "s1"))
        self.run_tool("session", "restore", "s1")
        self.assertIn("2 entries", self.run_tool("session", "delete", "s1", "--yes"))
        self.run_tool("session", "undelete", "s1")
        self.run_tool("session", "delete", "s1", "--purge", "--yes")
        self.assertIn("f1", (self.root / "deleted/s1/deletion-record.json").read_text())

    def test_what_is_said_of_keys(self):
        elsewhere = str(self.folder / "elsewhere")
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", "The harbour gate")
        self.run_tool("encrypt", "off", "--passphrase", "--yes", status=1)
        self.assertIn("nothing is encrypted", self.said)
        self.run_tool("encrypt", "on", "--key-file", elsewhere, "--yes")
        self.assertIn(f"from now on $BMAD_MEM_KEY_FILE must name {elsewhere}", self.said)
        self.assertNotIn("git", self.said)
        again = self.run_tool("--json", "encrypt", "on", "--yes", key="elsewhere")
        self.assertEqual(json.loads(again), {"summary": {"changed": 0, "whole": True}})
        self.run_tool("encrypt", "off", "--key-file", str(self.folder / "missing"), "--yes", status=1)
        self.assertIn("this memory is encrypted with the key", self.said)
        self.run_tool("encrypt", "off", "--yes", key="elsewhere")
        (self.project / ".git").mkdir()
        self.run_tool("encrypt", "on", "--yes", passphrase="abc")
        self.assertIn("the passphrase is short", self.said)
        self.assertIn("earlier commits in git", self.said)


class Rotation(Project):
    """The key that opens what is encrypted is never forgotten before all is encrypted anew."""

    def setUp(self):
        super().setUp()
        for session in ("s1", "s2", "s3"):
            self.run_tool("session", "new", "--id", session)
            self.run_tool("add", "fact", "--session", session, f"the {WORD} boat")
        self.second = str(self.folder / "second")

    def rotate(self, status=0, **variables):
        return self.run_tool("encrypt", "rotate", "--new-key-file", self.second, "--yes", status=status, **variables)

    def found(self, **variables):
        return self.run_tool("list", **variables).count(WORD)

    def test_a_key_that_opens_nothing_changes_nothing(self):
        for right, wrong in (({"passphrase": "right horse"}, {"passphrase": "wrogn horse"}),
                             ({"key": self.make_key("first")}, {"key": self.make_key("wrong")})):
            self.run_tool("encrypt", "on", "--yes", **right)
            files = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
            self.rotate(status=1, **wrong)
            self.assertRegex(self.said, "E_ACCESS_DENIED: .*encrypted with the key .* nothing was changed")
            self.assertEqual({path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}, files)
            self.assertFalse(pathlib.Path(self.second).exists())
            self.assertEqual(self.found(**right), 3)
            self.run_tool("encrypt", "off", "--yes", **right)

    def test_one_that_was_interrupted_goes_on(self):
        self.run_tool("encrypt", "on", "--yes", passphrase="right horse")
        recipe = json.loads((self.root / "sealing.json").read_text())["passphrase"]
        kept = (self.root / "sessions/s2/facts.jsonl").read_bytes()
        before = (self.root / "sealing.json").read_text()
        self.rotate(passphrase="right horse")
        after = json.loads((self.root / "sealing.json").read_text())
        self.assertNotIn("passphrase", after)
        self.assertNotIn("former", after)
        # As a run that was killed between s1 and s2 leaves it.
        (self.root / "sessions/s2/facts.jsonl").write_bytes(kept)
        after |= {"former": [json.loads(before)["key"]], "passphrase": recipe}
        (self.root / "sealing.json").write_text(json.dumps(after))
        self.assertEqual(self.found(key="second"), 2)
        self.assertEqual(self.found(passphrase="right horse"), 1)
        self.run_tool("encrypt", "off", "--yes", status=1, passphrase="right horse")
        self.assertIn("run it again with the same new key", self.said)
        self.rotate(status=1, passphrase="wrogn horse")
        self.assertEqual(self.found(passphrase="right horse"), 1)
        self.rotate(passphrase="right horse")
        self.assertEqual(self.found(key="second"), 3)
        self.assertNotIn("former", (self.root / "sealing.json").read_text())

    def test_killed_at_any_moment(self):
        self.run_tool("encrypt", "on", "--yes", passphrase="right horse")
        for kill in range(KILLS // 2):
            with subprocess.Popen([TOOL, "encrypt", "rotate", "--new-key-file", self.second, "--yes"], cwd=self.project,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env=self.environment(None, "right horse")) as process:
                try:
                    process.wait(0.3 + kill * 0.2)
                except subprocess.TimeoutExpired:
                    process.kill()
            record = json.loads((self.root / "sealing.json").read_text())
            new = self.found(key="second") if pathlib.Path(self.second).exists() else 0
            old = self.found(passphrase="right horse") if "passphrase" in record else 0
            self.assertEqual(new + old, 3)
        if "passphrase" in record:
            self.rotate(passphrase="right horse")
        self.assertEqual(self.found(key="second"), 3)


class OverMcp(Project):
    def setUp(self):
        super().setUp()
        self.run_tool("session", "new", "--id", "s2")
        self.run_tool("add", "fact", "--session", "s2", "--id", "open", "The open boat")
        self.run_tool("session", "new", "--id", "s1")
        text = f"The {WORD} boat"
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", text)
        self.run_tool("add", "conversation", "--session", "s1", "--id", "m1", "--role", "user", text)
        self.run_tool("remember", "--session", "s1", "--category", "constraint", "--key", WORD, text)
        self.run_tool("summary", "update", "--rules", "--session", "s1")
        self.key = self.make_key("key")
        self.run_tool("encrypt", "on", "--session", "s1", "--yes", key=self.key)

    def start(self, key):
        server = McpProcess([TOOL, "mcp"], self.project, self.environment(key))
        self.addCleanup(server.leave)
        server.open()
        return server

    CALLS = (("memory_search", {"query": "boat"}), ("memory_search", {"query": WORD}), ("memory_get", {"ids": ["f1", "open"]}),
             ("memory_context", {"task": "boat"}), ("memory_recall", {}), ("memory_sessions", {}), ("memory_stats", {}),
             ("memory_summary", {"session_id": "s1"}))
    RESOURCES = ("memory://sessions", "memory://sessions/s1", "memory://summaries/s1", "memory://entries/f1")

    def test_without_the_key_nothing_has_an_encrypted_word(self):
        server = self.start(None)
        answers = [server.call(name, **arguments) for name, arguments in self.CALLS]
        answers += [server.request("resources/read", {"uri": uri}) for uri in self.RESOURCES]
        answers += [server.request("prompts/get", {"name": name, "arguments": arguments})
                    for name, arguments in (("load_context", {"task": "boat"}), ("review", {}))]
        answers += [server.request("resources/list"), server.request("completion/complete", {
            "ref": {"type": "ref/resource", "uri": "memory://entries/{id}"}, "argument": {"name": "id", "value": "f"}})]
        for answer in answers:
            self.assertNotIn(WORD, json.dumps(answer))
        needs = "Note: 3 entries are encrypted and need the key; name it in $BMAD_MEM_KEY_FILE"
        for at, said in enumerate((needs, needs, "no entry f1 in clear; 3 entries are encrypted and need the key",
                                   "Note: 3 encrypted lines were left out")):
            self.assertIn(said, answers[at]["result"]["content"][0]["text"], self.CALLS[at])
        self.assertIn("The open boat", json.dumps(answers[0]))

    def test_with_the_key_all_but_contexts_open(self):
        server = self.start(self.key)
        found = server.call("memory_search", query="boat")["result"]["content"][0]["text"]
        self.assertEqual(found.count(f"The {WORD}"), 3)
        self.assertNotIn("Note:", found)
        self.assertIn(WORD, json.dumps(server.call("memory_get", ids=["f1"])))
        self.assertIn(WORD, json.dumps(server.request("resources/read", {"uri": "memory://entries/f1"})))
        session = server.request("resources/read", {"uri": "memory://sessions/s1"})
        self.assertEqual(json.dumps(session).count(f"The {WORD}"), 3)
        context = server.call("memory_context", task="boat")["result"]["content"][0]["text"]
        self.assertIn("The open boat", context)
        self.assertIn("3 encrypted lines were left out", context)
        for answer in (context, server.request("prompts/get", {"name": "load_context", "arguments": {"task": "boat"}})):
            self.assertNotIn(WORD, json.dumps(answer))

    def test_without_the_key_nothing_is_changed_or_written_in_clear(self):
        server = self.start(None)
        logs = {path: path.read_bytes() for path in self.root.glob("sessions/s1/*.jsonl")}
        for name, arguments in (("memory_add", {"type": "fact", "text": WORD, "session_id": "s1"}),
                                ("memory_update", {"id": "f1", "fields": {"content": WORD}}),
                                ("memory_link", {"from": "f1", "relation": "solves", "to": "m1"})):
            self.assertTrue(server.call(name, **arguments)["result"]["isError"], name)
        self.assertEqual({path: path.read_bytes() for path in logs}, logs)


class Conflict(Project):
    """Two branches have encrypted another session each, and git has left its marks in sealing.json."""

    def git(self, *arguments, status=0):
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.project,
                              text=True, capture_output=True, env=self.environment(None), timeout=120, check=False)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))

    def setUp(self):
        super().setUp()
        self.key = self.make_key("key")
        self.git("init", "-q", "-b", "ours")
        for session in ("s1", "s2"):
            self.run_tool("session", "new", "--id", session)
        self.run_tool("encrypt", "on", "--sensitive", "--yes", key=self.key)
        entry = {"id": "f1", "content": f"the {WORD} boat", "sensitive": True}
        self.run_tool("add", "fact", "--session", "s1", json.dumps(entry), key=self.key)
        self.git("add", "-A")
        self.git("commit", "-qm", "1")
        for branch, session in (("theirs", "s1"), ("ours", "s2")):
            self.git("checkout", "-q", "-B", branch, *(("ours",) if branch == "theirs" else ()))
            self.run_tool("encrypt", "on", "--session", session, "--yes", key=self.key)
            self.git("commit", "-qam", session)
            self.git("checkout", "-q", "ours")
        self.git("merge", "-q", "theirs", status=1)
        self.assertIn("<<<<<<<", (self.root / "sealing.json").read_text())

    def test_nothing_is_lost(self):
        logs = {path: path.read_bytes() for path in self.root.glob("sessions/*/*.jsonl")}
        for key in (self.key, None):
            for command in (("add", "fact", "--session", "s1", "x"), ("add", "fact", "--session", "s2", "x"),
                            ("encrypt", "on", "--yes"), ("encrypt", "off", "--yes"),
                            ("encrypt", "rotate", "--new-key-file", str(self.folder / "second"), "--yes")):
                self.run_tool(*command, key=key, status=1)
                self.assertRegex(self.said, "E_STORAGE_CORRUPT: .*/sealing.json:[0-9]+: has git's marks of a conflict, so nothing is written")
            for command in ("doctor", "verify"):
                self.assertIn("has git's marks of a conflict", self.run_tool(command, key=key, status=1), command)
            marks = self.run_tool("git", "check", key=key, status=1)
            self.assertRegex(marks, r"sealing.json:\d+: a conflict marker of an unfinished merge")
            for command in (("query", "boat"), ("list",)):
                self.assertEqual(WORD in self.run_tool(*command, key=key), key is not None, command)
                self.assertEqual("1 entry is encrypted and needs the key" in self.said, key is None, command)
        self.assertEqual({path: path.read_bytes() for path in logs}, logs)
        self.hook(f"the {WORD} boat leaves at nine", key=self.key)
        self.assertIn(WORD, self.waiting().read_text())
        self.git("checkout", "--ours", ".bmad/memory/sealing.json")
        self.hook("and now the file is whole", key=self.key)
        self.assertEqual(self.waiting().read_text(), "")
        self.assertEqual(self.run_tool("list", key=self.key).count(WORD), 2)
        self.run_tool("verify", key=self.key)
        self.assertEqual({path: path.read_bytes() for path in logs}, logs)
        self.run_tool("add", "fact", "--session", "s1", "--id", "f9", "on their side encrypted", key=self.key)
        self.run_tool("encrypt", "on", "--session", "s1", "--yes", key=self.key)  # As the remedy says.
        self.assertCountEqual(json.loads((self.root / "sealing.json").read_text())["sessions"], ["s2", "s1"])

    def test_what_a_merge_brought_in_clear_is_named(self):
        self.git("checkout", "--theirs", ".bmad/memory/sealing.json")
        with (self.root / "sessions/s1/facts.jsonl").open("a") as log:
            log.write('{"id":"f8","timestamp":"2026-11-01T10:00:00Z","content":"in clear"}\n')
        self.run_tool("verify", key=self.key)
        self.assertIn("1 line is in clear in what is encrypted; `bmad-mem encrypt on --session s1` encrypts", self.said)
        self.run_tool("encrypt", "on", "--session", "s1", "--yes", key=self.key)
        self.run_tool("verify", key=self.key)
        self.assertNotIn("in clear", self.said)


class EncryptionGone(Project):
    """A pull takes sealing.json away, or makes it ask for less."""

    def setUp(self):
        super().setUp()
        self.key = self.make_key("key")
        self.run_tool("session", "new", "--id", "s1")
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        self.run_tool("add", "fact", "--session", "s1", "--id", "f1", f"the {WORD} boat", key=self.key)
        self.file = self.root / "sealing.json"
        self.text = self.file.read_text()

    def files_with(self, text):
        return [path for path in self.root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]

    def check_refused(self):
        for key in (self.key, None):
            self.run_tool("add", "fact", "--session", "s1", "SECRETPLAIN", key=key, status=1)
            self.assertRegex(self.said, "E_ACCESS_DENIED: .*sealing.json: is gone, and the memory is encrypted with the "
                                        "key .{11}, so nothing is written; bring it back from git, or run `bmad-mem encrypt "
                                        "on` with the same key file, or `bmad-mem encrypt off`")
            self.hook("SECRETPLAIN of a hook", key=key)
            start = json.loads(self.hook("", key=key, event="SessionStart"))["systemMessage"]
            self.assertRegex(start, "bmad-mem: sealing.json of this encrypted memory was removed, by a pull or by hand, so nothing is written, "
                                    r"and \d entr(y|ies) of this memory waits?; bring it back from git, or run `bmad-mem encrypt off`$")
            for command in ("doctor", "verify"):
                self.assertIn("is gone, and the memory is encrypted", self.run_tool(command, key=key, status=1), command)
        self.assertIn(WORD, self.run_tool("get", "f1", key=self.key))
        self.assertEqual(self.files_with("SECRETPLAIN"), [])

    def test_nothing_is_written_in_clear(self):
        self.file.unlink()
        self.check_refused()
        self.file.write_text(self.text)
        self.hook("it is back", key=self.key)
        self.assertEqual(self.files_with("SECRETPLAIN"), [])
        self.assertEqual(self.run_tool("list", "--limit", "0", key=self.key).count("SECRETPLAIN"), 2)

    def test_the_same_key_brings_it_back(self):
        self.file.unlink()
        other = self.make_key("other")
        self.run_tool("encrypt", "on", "--yes", key=other, status=1)
        self.assertIn("the memory is encrypted with the key", self.said)
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        self.assertEqual(self.file.read_text(), self.text)
        self.run_tool("add", "fact", "--session", "s1", "SECRETPLAIN", key=self.key)
        self.assertEqual(self.files_with("SECRETPLAIN"), [])

    def test_off_ends_it_with_the_key_and_without(self):
        for key in (None, self.key):
            self.file.unlink(missing_ok=True)
            if not key:
                self.run_tool("encrypt", "off", "--yes", status=1)
                self.assertIn("if it is lost, `bmad-mem encrypt off --without-key`", self.said)
            self.run_tool("encrypt", "off", "--yes", *(() if key else ("--without-key",)), key=key)
            self.assertFalse(self.file.exists())
            self.run_tool("add", "fact", "--session", "s1", f"in clear {key}")
            self.assertEqual(len(self.files_with(WORD)), 1 if key else 0)
            if not key:
                self.file.write_text(self.text)
                self.run_tool("encrypt", "on", "--yes", key=self.key)

    def test_a_machine_that_knows_nothing_learns_it_from_the_lines(self):
        for forget in (lambda: shutil.rmtree(self.folder / "home"), self.move):
            self.file.unlink()
            (self.root / "layout.json").unlink()
            forget()
            self.check_refused()
            self.run_tool("encrypt", "on", "--yes", key=self.key)
            self.assertEqual(json.loads(self.file.read_text())["all"], True)
            self.run_tool("add", "fact", "--session", "s1", "SECRETPLAIN", key=self.key)
            self.assertEqual(self.files_with("SECRETPLAIN"), [])

    def move(self):
        """As a new clone at this path."""
        shutil.copytree(self.project, self.folder / "kept")
        shutil.rmtree(self.project)
        (self.folder / "kept").rename(self.project)

    def test_a_file_that_asks_for_less_takes_nothing_away(self):
        record = json.loads(self.text)
        for weaker in ({**record, "all": False, "sessions": ["s9"]}, {**record, "ends": True},
                       {**record, "all": False, "sensitive": True}):
            self.file.write_text(json.dumps(weaker))
            self.run_tool("add", "fact", "--session", "s1", "SECRETPLAIN", key=self.key)
            self.assertEqual(self.files_with("SECRETPLAIN"), [], weaker)

    def test_a_strange_line_does_not_lock_the_owner_out(self):
        """In a memory that was never encrypted, on a machine that knows nothing of it."""
        line = next(iter((self.root / "sessions/s1/facts.jsonl").read_text().splitlines()))
        shutil.rmtree(self.project)
        shutil.rmtree(self.folder / "home")
        self.project.mkdir()
        self.run_tool("init", "-q")
        self.run_tool("session", "new", "--id", "s1")
        shutil.rmtree(self.folder / "home")
        (self.root / "sessions/s1/facts.jsonl").write_text(line + "\n")
        self.run_tool("add", "fact", "--session", "s1", "hello", status=1)
        self.run_tool("encrypt", "off", "--without-key", "--yes")
        self.run_tool("add", "fact", "--session", "s1", "hello")
        self.run_tool("add", "fact", "--session", "s1", "hello again", key=self.make_key("own"))

    def test_a_key_file_that_vanished(self):
        (self.folder / self.key).unlink()
        self.run_tool("add", "fact", "--session", "s1", "SECRETPLAIN", key=self.key, status=1)
        self.file.unlink()
        self.run_tool("add", "fact", "--session", "s1", "SECRETPLAIN", key=self.key, status=1)
        self.assertEqual(self.files_with("SECRETPLAIN"), [])
        self.run_tool("encrypt", "off", "--without-key", "--yes", key=self.key)
        self.run_tool("add", "fact", "--session", "s1", "goes on", key=self.key)

    def test_a_key_of_zeros_is_refused(self):
        for text in ("0" * 64, "ab" * 32, "0123" * 16):
            weak = self.folder / "weak"
            weak.write_text(text + "\n")
            weak.chmod(0o600)
            self.run_tool("encrypt", "rotate", "--new-key-file", str(weak), "--yes", key=self.key, status=1)
            self.assertIn("zeros or a pattern", self.said)
            self.run_tool("encrypt", "off", "--yes", key=self.key)
            self.run_tool("encrypt", "on", "--yes", key="weak", status=1)
            self.assertIn("name a key file that is not there, and a key is made", self.said)
            self.run_tool("encrypt", "on", "--yes", key=self.key)


class KeyLost(Project):
    """sealing.json is there, and the key is lost."""

    def setUp(self):
        super().setUp()
        self.key = self.make_key("key")
        self.run_tool("session", "new", "--id", "s1")
        for number in range(3):
            self.run_tool("add", "fact", "--session", "s1", "--id", f"f{number}", f"the {WORD} boat {number}")
        self.run_tool("session", "new", "--id", "old")
        self.run_tool("add", "fact", "--session", "old", "--id", "o1", f"the {WORD} quay")
        self.run_tool("session", "archive", "old")
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        self.log = self.root / "sessions/s1/facts.jsonl"

    def test_one_command_gives_it_up(self):
        lines = self.log.read_text()
        for key in (None, self.make_key("other")):
            self.run_tool("encrypt", "off", "--yes", key=key, status=1)
            self.assertRegex(self.said, "E_ACCESS_DENIED: .*encrypted with the key .*; if it is lost, `bmad-mem encrypt off --without-key` "
                                        "ends encryption and leaves what is encrypted as it is\n$")
        self.assertTrue((self.root / "sealing.json").exists())
        self.hook(f"the {WORD} boat is late")
        self.run_tool("encrypt", "off", "--without-key", "--yes")
        self.assertEqual(self.said, "bmad-mem: 4 encrypted lines stay as written, and only the key opens them; new entries are in clear\n")
        self.assertEqual(self.log.read_text(), lines)
        self.run_tool("add", "fact", "--session", "s1", "--id", "f9", "in clear")
        self.hook("and another")
        self.assertEqual(self.waiting().read_text(), "")
        self.run_tool("doctor", status=1)
        self.assertIn("in clear", self.run_tool("list"))
        self.assertIn("4 entries are encrypted and need the key", self.said)
        self.assertIn(f"{WORD} boat 1", self.run_tool("get", "f1", key=self.key))  # It was found.
        self.run_tool("encrypt", "off", "--yes", status=1)
        self.assertIn("nothing is encrypted", self.said)

    def test_not_where_the_key_is_here(self):
        self.run_tool("encrypt", "off", "--without-key", "--yes", key=self.key, status=1)
        self.assertIn("the key of this memory is here; `bmad-mem encrypt off` opens everything", self.said)
        self.assertTrue((self.root / "sealing.json").exists())
        for step in (("on",), ("rotate", "--new-key-file", "x")):
            self.run_tool("encrypt", *step, "--without-key", key=self.key, status=2)

    def test_programs_are_told_how_much_is_lost(self):
        told = self.run_tool("--json", "encrypt", "off", "--without-key", "--yes")
        self.assertEqual(json.loads(told), {"summary": {"changed": 0, "whole": False, "lost": 4}})

    def test_what_is_encrypted_is_not_said_to_be_missing(self):
        needs = "4 entries are encrypted and need the key; name it in $BMAD_MEM_KEY_FILE, $BMAD_MEM_KEY or $BMAD_MEM_PASSPHRASE"
        for command, status in ((("list",), 0), (("query", "boat"), 0), (("get", "f1"), 3), (("history", "f1"), 3), (("related", "f1"), 3)):
            for key in (None, self.make_key("other")):
                self.assertEqual(self.run_tool(*command, key=key, status=status), "")
                self.assertIn(needs, self.said)
                self.assertNotIn("there is no such entry", self.said)
        self.run_tool("get", "f1", status=3)
        self.assertIn(f"there is no entry f1 in clear; {needs}", self.said)
        self.run_tool("list", key=self.key)
        self.assertEqual(self.said, "")

    def test_verify_counts_encrypted_lines(self):
        for key in (None, self.key):
            self.assertIn("all good: 1 session, 1 log, 4 lines, ", self.run_tool("verify", key=key))


class Freshness(Project):
    """Encrypted lines are copied, taken out and put back by somebody without the key."""

    def setUp(self):
        super().setUp()
        self.key = self.make_key("key")
        self.run_tool("session", "new", "--id", "s1")
        self.run_tool("encrypt", "on", "--yes", key=self.key)
        self.log = self.root / "sessions/s1/facts.jsonl"

    def add(self, *arguments, **more):
        return self.run_tool("add", "fact", "--session", "s1", *arguments, key=self.key, **more)

    def lines(self):
        return self.log.read_text().splitlines(keepends=True)

    def check_current(self, text, other):
        for command in (("get", "f1"), ("query", "harbour"), ("list",), ("export", "--archived")):
            answer = self.run_tool(*command, key=self.key).replace("*", "")
            if command[0] == "export":  # All versions, the current one last.
                answer = answer.splitlines()[-1]
            self.assertIn(text, answer, command)
            self.assertNotIn(other, answer, command)

    def test_a_copy_of_an_older_version_replaces_nothing(self):
        self.add("--id", "f1", "harbour one")
        self.run_tool("edit", "f1", "harbour two", key=self.key)
        first = self.lines()[0]
        with self.log.open("a") as log:
            log.write(first)
        self.check_current("harbour two", "harbour one")
        self.run_tool("rebuild-index", key=self.key)
        self.run_tool("compact", "--session", "s1", "--force", key=self.key)
        self.check_current("harbour two", "harbour one")
        self.run_tool("edit", "f1", "harbour three", key=self.key)
        self.check_current("harbour three", "harbour two")
        with self.log.open("a") as log:
            log.write(first)
        self.run_tool("session", "archive", "s1", key=self.key)
        self.check_current("harbour three", "harbour two")
        self.run_tool("session", "restore", "s1", key=self.key)
        self.run_tool("encrypt", "off", "--yes", key=self.key)
        self.check_current("harbour three", "harbour one")

    def test_a_pin_is_a_version_too(self):
        self.add("--id", "f1", "harbour one")
        self.run_tool("pin", "f1", key=self.key)
        with self.log.open("a") as log:
            log.write(self.lines()[0])
        self.assertIn('"pinned": true', self.run_tool("--json", "get", "f1", key=self.key).replace('":true', '": true'))

    def test_an_edit_by_a_clock_in_the_past_counts(self):
        self.add("--id", "f1", "harbour one", now="2026-11-01T10:00:00Z")
        self.run_tool("edit", "f1", "harbour two", key=self.key, now="2025-11-01T10:00:00Z")
        self.check_current("harbour two", "harbour one")
        self.add("--id", "f1", "--replace", "harbour three", now="2024-11-01T10:00:00Z")
        self.check_current("harbour three", "harbour two")
        self.add("--id", "f1", "--replace", "harbour four", now="2023-11-01T10:00:00Z")
        self.check_current("harbour four", "harbour three")

    def test_verify_names_what_is_gone_and_what_is_older(self):
        for number in (1, 2, 3):
            self.add("--id", f"f{number}", f"harbour {number}")
        self.run_tool("edit", "f1", "harbour four", key=self.key)
        self.run_tool("verify", key=self.key)
        before = self.lines()
        for lines, words in ((before[:1] + before[2:], "encrypted entries that were here are gone, and no deletion names them: f2;"),
                             (before[:3], "encrypted entries are back in an older version: f1;"),
                             ([], "encrypted entries that were here are gone, and no deletion names them: f1, f2, f3;")):
            self.log.write_text("".join(lines))
            (self.root / "sessions/s1/.lock.seal.json").unlink(missing_ok=True)
            for key in (self.key, None):
                self.assertIn(words, self.run_tool("verify", key=key, status=1))
            self.run_tool("maintain", key=self.key)
            self.assertIn(words, self.run_tool("verify", key=self.key, status=1))
        self.run_tool("repair", "--accept", key=self.key)
        self.run_tool("verify", key=self.key)

    def test_what_a_command_removed_is_not_missing(self):
        for number in range(1, 7):
            self.add("--id", f"f{number}", f"harbour {number}")
        self.run_tool("delete", "f1", "--yes", key=self.key)
        self.run_tool("delete", "f2", "--purge", "--yes", key=self.key)
        self.run_tool("forget", "--match", "harbour 3", "--yes", key=self.key)
        self.run_tool("verify", key=self.key)
        self.run_tool("undelete", "f1", key=self.key)
        self.run_tool("edit", "f4", "harbour seven", key=self.key)
        self.run_tool("compact", "--session", "s1", "--force", "--keep", "1", key=self.key)
        self.run_tool("session", "archive", "s1", key=self.key)
        self.run_tool("verify", key=self.key)
        self.run_tool("session", "restore", "s1", key=self.key)
        self.run_tool("maintain", key=self.key)
        self.run_tool("verify", key=self.key)
        self.run_tool("encrypt", "rotate", "--new-key-file", str(self.folder / "second"), "--yes", key=self.key)
        self.run_tool("verify", key="second")
        self.run_tool("session", "delete", "s1", "--yes", key="second")
        self.run_tool("verify", key="second")
        self.run_tool("session", "undelete", "s1", key="second")
        self.run_tool("encrypt", "off", "--yes", key="second")
        self.run_tool("verify")

    def test_without_a_state_folder_nothing_is_compared(self):
        self.add("--id", "f1", "harbour one")
        shutil.rmtree(self.folder / "home")
        self.run_tool("verify", key=self.key)
        self.assertIn("nothing can be compared", self.said)
        self.run_tool("maintain", key=self.key)
        self.run_tool("verify", key=self.key)
        self.assertNotIn("nothing can be compared", self.said)
        self.log.write_text("")
        self.assertIn("no deletion names them: f1", self.run_tool("verify", key=self.key, status=1))

    def test_lines_of_before_open_without_help(self):
        """Without a time of a pin in clear, and without any but the timestamp."""
        self.add("--id", "f1", "harbour one", now="2026-01-01T10:00:00Z")
        shutil.rmtree(self.folder / "home")
        self.assertIn("harbour one", self.run_tool("get", "f1", key=self.key))
        self.run_tool("edit", "f1", "harbour two", key=self.key)
        self.check_current("harbour two", "harbour one")


class EncryptTest(Project):
    def setUp(self):
        super().setUp()
        for session in ("live", "packed", "gone"):
            self.run_tool("session", "new", "--id", session)
            lines = "".join(f'{{"id":"{session}-{i}","content":"{WORD} number {i}"}}\n' for i in range(300))
            self.run_tool("add", "fact", "--session", session, "-", text=lines)
        self.run_tool("delete", "live-7", "--yes")
        self.run_tool("compact", "--session", "live", "--keep", "60", "--force")
        self.run_tool("session", "archive", "packed")
        self.run_tool("session", "delete", "gone", "--yes")
        self.run_tool("rebuild-index")

    def kill_often(self, *arguments, key):
        """Runs the command to its end on a copy to learn its time, then kills it at moments up to that."""
        kept = self.folder / "kept"
        shutil.copytree(self.root, kept)
        start = time.monotonic()
        self.run_tool(*arguments, key=key)
        whole = time.monotonic() - start
        shutil.rmtree(self.root)
        kept.rename(self.root)
        for kill in range(1, KILLS + 1):
            with subprocess.Popen([TOOL, *arguments], cwd=self.project, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=self.environment(key)) as process:
                try:
                    process.wait(whole * kill / (KILLS + 1))
                except subprocess.TimeoutExpired:
                    process.kill()
            if (self.root / "sealing.json").exists():
                self.check_entries(key)
        if arguments[1] != "off" or (self.root / "sealing.json").exists():
            self.run_tool(*arguments, key=key)

    def check_entries(self, key, count=599):
        lines = self.run_tool("--json", "list", "--limit", "0", key=key).splitlines()
        self.assertEqual(sum(WORD in line for line in lines), count)

    def places(self):
        found = []
        for path in self.root.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            if WORD.encode() in data:
                found.append(str(path))
        return found

    def test_killed(self):
        self.kill_often("encrypt", "on", "--yes", key=self.make_key("first"))
        self.assertEqual(self.places(), [])
        self.check_entries("first")
        self.make_key("second")
        both = self.folder / "both"
        both.write_text((self.folder / "first").read_text() + (self.folder / "second").read_text())
        both.chmod(0o600)
        self.kill_often("encrypt", "rotate", "--new-key-file", str(self.folder / "second"), "--yes", key="both")
        self.assertEqual(self.places(), [])
        self.check_entries("second")
        self.kill_often("encrypt", "off", "--yes", key="second")
        self.check_entries(None)
        self.run_tool("verify")
        self.run_tool("undelete", "live-7")
        self.run_tool("session", "undelete", "gone")
        self.check_entries(None, 900)
        self.assertFalse((self.root / "sealing.json").exists())


if __name__ == "__main__":
    unittest.main()
