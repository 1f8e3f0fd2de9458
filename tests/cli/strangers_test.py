#!/usr/bin/env python3
"""What a stranger may have put into a memory: links, FIFOs, sockets, sparse files, folders nobody may read.

Each is put in place of one part of the session `bad` or of the root; the session `good` must be found by all
that reads, what is bad must be named by those who look for it, and nobody may wait or need much memory.
"""

import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import time
import unittest

from tool_under_test import TOOL, ToolTest, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

from serve_process import Server  # noqa: E402

PATIENCE_S = 30  # The machine may be slow; what hangs or reads a terabyte takes longer.
MEMORY_MAX = 3 << 30
NOBODY = 65534
SANITIZED = TOOL is not None and TOOL.exists() and b"__asan_init" in TOOL.read_bytes()
GOOD, BAD, OUTSIDE = "zqgood the harbour opens at dawn", "zqbad the harbour is closed", "zqoutside the harbour"


def put_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        before = os.open(".", os.O_RDONLY)
        os.chdir(path.parent)  # The address of a socket is short.
        made.bind(path.name)
        os.fchdir(before)
        os.close(before)


def sparse(size):
    def put(path):
        with open(path, "wb") as file:
            file.truncate(size)
    return put


THINGS = {
    "a link": lambda path: path.symlink_to(pathlib.Path(os.environ["ZQ_OUTSIDE"])),
    "a dangling link": lambda path: path.symlink_to("/nowhere/at/all"),
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a FIFO": os.mkfifo,
    "a socket": put_socket,
    "a sparse terabyte": sparse(1 << 40),
    "a sparse file below every limit": sparse(7 << 30),
    "a folder": pathlib.Path.mkdir,
    "a file": lambda path: path.write_text("x", encoding="ascii"),
}
# Of the session: its folder, a log, what says what it is, and what is derived.
SESSION_PARTS = ("", "facts.jsonl", "conversation.jsonl", "manifest.json", "index.json", "access.jsonl", "summary.md", ".lock",
                 "quarantine.jsonl", "audit.jsonl")
ROOT_PARTS = ("archive", "archive/other.tar.gz", "archive/bad.evicted.jsonl.gz", "memories", "shared", "index", "sessions/x.tmp")
READERS = (["list"], ["query", "harbour"], ["context", "--task", "harbour"], ["export"], ["recall"], ["session", "list"])
OTHERS = (["stats"], ["doctor"], ["compact", "--all", "--force"], ["maintain"], ["add", "fact", "--session", "good", "zqnew"])
PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "abc", "prompt": "when does the harbour open"}
ROUTES = ("/memory/search?q=harbour", "/memory/sessions", "/memory/health", "/memory/stats", "/memory/graph", "/memory/knowledge",
          "/memory/export?format=jsonl", "/memory/context?agent=a&task=harbour")


class StrangersTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.root = self.folder / ".bmad" / "memory"
        self.identity = {}
        (self.folder / "run").mkdir(mode=0o700)
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder / "run")
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "facts.jsonl").write_text(json.dumps({"id": "o1", "content": OUTSIDE}) + "\n", encoding="ascii")
        os.environ["ZQ_OUTSIDE"] = str(outside)
        self.run_tool("init")
        for session, text in (("good", GOOD), ("bad", BAD)):
            self.run_tool("session", "new", "--id", session)
            self.run_tool("add", "fact", "--session", session, "--id", f"{session}-fact", "--field", "key=harbour", text)
            self.run_tool("add", "conversation", "--session", session, "--role", "user", text)
        self.untouched = self.folder / "untouched"
        shutil.copytree(self.root, self.untouched)

    def fresh(self):
        for path in (self.root, self.folder / "run"):
            shutil.rmtree(path)
        shutil.copytree(self.untouched, self.root)
        (self.folder / "run").mkdir(mode=0o700)

    def put(self, thing, part):
        path = self.root / part
        path.parent.mkdir(exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        THINGS[thing](path)

    @staticmethod
    def limit():
        if not SANITIZED:  # Which reserves terabytes.
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))

    def run_limited(self, *arguments, stdin=""):
        begin = time.monotonic()
        done = subprocess.run([self.tool, *arguments], cwd=self.folder, env=self.environment, input=stdin, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False, preexec_fn=self.limit, **self.identity)
        self.assertLess(time.monotonic() - begin, PATIENCE_S)
        self.assertNotIn("zqoutside", done.stdout + done.stderr)
        self.assertIn(done.returncode, (0, 1, 4), f"{arguments}: {done.stderr}")
        return done

    def check_all(self, name):
        for command in READERS:
            with self.subTest(name, command=command):
                done = self.run_limited(*command)
                self.assertIn(done.returncode, (0, 4), done.stderr)
                self.assertIn("good" if command[0] == "session" else "zqgood", done.stdout, done.stderr)
        with self.subTest(name, command="hook"):
            prompt = json.dumps({**PROMPT, "cwd": str(self.folder)})
            done = self.run_limited("hook", "claude-code", "--budget-ms", "20000", "--limit-ms", "25000", stdin=prompt)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("zqgood", done.stdout, done.stderr)
        for command in OTHERS:
            with self.subTest(name, command=command):
                done = self.run_limited(*command)
                self.assertNotEqual((command[0], done.returncode), ("add", 1), done.stderr)

    def check_routes(self, name):
        server = Server(TOOL, self.folder, self.environment)
        try:
            for route in ROUTES:
                with self.subTest(name, route=route):
                    answer = server.ask("GET", route)
                    self.assertEqual(answer.status, 200, answer.body[:500])
                    self.assertNotIn(b"zqoutside", answer.body)
                    if "search" in route or "export" in route or "context" in route:
                        self.assertIn(b"zqgood", answer.body)
        finally:
            server.stop()
            server.process.stdout.close()

    def test_what_is_no_session_breaks_no_other(self):
        for part in SESSION_PARTS:
            for thing in THINGS:
                if (part, thing) != ("", "a folder") and not (part != "" and thing == "a file"):
                    self.fresh()
                    path = f"sessions/bad/{part}".rstrip("/")
                    self.put(thing, path)
                    self.check_all(f"{path} is {thing}")

    def test_what_is_no_archive_breaks_nothing(self):
        for part in ROOT_PARTS:
            for thing in THINGS:
                if not (thing == "a folder" and "." not in part):
                    self.fresh()
                    self.put(thing, part)
                    self.check_all(f"{part} is {thing}")

    def test_folders_of_a_lower_layer_are_archived_deleted_and_purged(self):
        """overlayfs renames no folder that an image brought."""
        lower, upper, work, merged = (self.folder / name for name in ("lower", "upper", "work", "merged"))
        for folder in (lower, upper, work, merged):
            folder.mkdir()
        memory = ["--root", str(lower / "memory")]
        self.run_tool("init", *memory)
        for session in ("s1", "s2", "s3"):
            self.run_tool("session", "new", "--id", session, *memory)
            self.run_tool("add", "fact", "--session", session, "--id", f"f-{session}", f"{GOOD} {session}", *memory)
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        mounted = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, merged], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no overlay can be mounted: {mounted.stderr.decode(errors='replace').strip()}")
        self.addCleanup(subprocess.run, ["umount", merged], check=False)
        memory = ["--root", str(merged / "memory")]
        self.run_tool("session", "archive", "s1", *memory)
        self.run_tool("session", "delete", "s2", *memory)
        self.run_tool("session", "delete", "--purge", "--yes", "s3", *memory)
        listed = [line.split()[:2] for line in self.run_tool("session", "list", "--all", *memory).splitlines()]
        self.assertEqual(sorted(each[0] for each in listed), ["s1", "s2"])
        self.run_tool("session", "undelete", "s2", *memory)
        self.run_tool("session", "restore", "s1", *memory)
        found = self.run_tool("query", "harbour", "--ids", *memory)
        self.assertEqual(sorted(line.split()[-1] for line in found.splitlines()), ["f-s1", "f-s2"])
        self.run_tool("verify", *memory)

    def test_the_server_goes_on(self):
        for part in ("sessions/bad", "sessions/bad/facts.jsonl", "sessions/bad/.lock", "sessions/bad/manifest.json", "archive",
                     "archive/other.tar.gz"):
            for thing in ("a link", "a FIFO", "a sparse terabyte"):
                self.fresh()
                self.put(thing, part)
                self.check_routes(f"{part} is {thing}")

    def test_what_is_bad_is_named_with_its_limit(self):
        for thing, words in (("a FIFO", "is not a regular file"), ("a sparse terabyte", "1099511627776"),
                             ("a sparse file below every limit", "7516192768"), ("an endless device", "facts.jsonl: ")):
            self.fresh()
            self.put(thing, "sessions/bad/facts.jsonl")
            for command in (["list"], ["doctor"], ["verify"], ["stats"]):
                with self.subTest(thing, command=command):
                    done = self.run_limited(*command)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("sessions/bad/facts.jsonl", done.stdout + done.stderr)
                    self.assertIn(words, done.stdout + done.stderr)
        for command in (["list"], ["doctor"], ["stats"]):
            self.fresh()
            self.put("a link", "sessions/bad")
            done = self.run_limited(*command)
            self.assertIn("sessions/bad", done.stdout + done.stderr, command)

    def test_a_write_to_what_is_sparse_fills_no_disk(self):
        for command in (["add", "fact", "--session", "bad", "x"], ["repair"], ["session", "archive", "bad"], ["session", "close", "bad"],
                        ["redact", "--all", "--yes"], ["compact", "--session", "bad"]):
            self.fresh()
            self.put("a sparse file below every limit", "sessions/bad/facts.jsonl")
            with self.subTest(command=command):
                self.run_limited(*command)
                used = sum(path.stat().st_blocks * 512 for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
                self.assertLess(used, 4 << 20)

    def test_a_large_log_that_is_no_hole_is_read(self):
        """Only holes are refused: a log of 70 MB is one."""
        line = json.dumps({"id": "large-fact", "timestamp": "2026-01-11T10:00:00Z", "content": "zqlarge " + "x" * 900_000}) + "\n"
        with open(self.root / "sessions" / "bad" / "facts.jsonl", "a", encoding="ascii") as log:
            for _ in range(75):
                log.write(line)
        self.assertIn("zqlarge", self.run_limited("get", "large-fact").stdout)

    @unittest.skipUnless(os.getuid() == 0, "a user's own files are made unreadable by root alone here")
    def test_what_may_not_be_read_breaks_no_other(self):
        self.run_for_others()
        for part in ("sessions/bad", "sessions/bad/facts.jsonl", "sessions/bad/manifest.json", "sessions/bad/.lock", "archive/other.tar.gz"):
            self.identity = {}
            self.fresh()
            path = self.root / part
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                path.write_text("x", encoding="ascii")
            for each in (self.folder, *self.folder.rglob("*")):
                os.chown(each, NOBODY, NOBODY, follow_symlinks=False)
            os.chown(path, 0, 0)
            path.chmod(0)
            self.identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            self.check_all(f"{part} may not be read")
            path.chmod(0o700)


if __name__ == "__main__":
    main()
