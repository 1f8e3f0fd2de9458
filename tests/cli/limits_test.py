"""What a process may have is bounded: descriptors, memory, threads. Whatever the limit, a command
works or says in one sentence what it lacks; it is never an abort.

    limits_test.py TOOL                     the tests that are short
    limits_test.py TOOL --slow Limits.NAME  one that is long
    limits_test.py TOOL --memory SESSIONS [COMMAND]...
                                            prints how much memory each command takes at most
"""

import http.client
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import pathlib

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main

SLOW = "--slow" in sys.argv
MEMORY_AT = sys.argv.index("--memory") if "--memory" in sys.argv else 0
SESSIONS = 400
LIMIT = 256

# Each command that works on a memory of many sessions, with what it needs.
COMMANDS = [
    ["add", "fact", "--session", "t7", "another fact"],
    ["remember", "--category", "project_fact", "--key", "port", "8080"],
    ["session", "new", "--id", "later"],
    ["session", "list"],
    ["session", "show", "t7"],
    ["query", "heron"],
    ["query", "heron AND lake type:fact"],
    ["list"],
    ["get", "e7x3"],
    ["history", "e7x3"],
    ["similar", "the heron at the lake"],
    ["related", "e7x3"],
    ["topics"],
    ["timeline"],
    ["recall"],
    ["context"],
    ["context", "--task", "where is the heron"],
    ["stats"],
    ["privacy"],
    ["audit"],
    ["export", "-o", "out.jsonl", "--force"],
    ["verify"],
    ["repair"],
    ["rebuild-index"],
    ["maintain"],
    ["decay"],
    ["decay", "--write"],
    ["compact", "--all"],
    ["redact", "--all", "--yes"],
    ["consolidate"],
    ["git", "check"],
    ["summary", "show", "--session", "t7"],
    ["delete", "--match", "number 3 of t9", "--yes"],
    ["undelete", "e9x3"],
    ["purge"],
    ["session", "close", "t8"],
    ["session", "archive", "t8"],
    ["session", "restore", "t8"],
    ["forget", "--match", "number 4 of t9", "--yes"],
    ["anonymize", "--all", "--dry-run"],
]


def fill(root, sessions, entries):
    """Writes sessions as the tool has made the first one."""
    first = root / "sessions" / "t0"
    manifest = (first / "manifest.json").read_text()
    for number in range(sessions):
        folder = root / "sessions" / f"t{number}"
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "manifest.json").write_text(manifest.replace('"t0"', f'"t{number}"'))
        logs = {"facts.jsonl": "", "conversation.jsonl": ""}
        for entry in range(entries):
            line = {
                "id": f"e{number}x{entry}",
                "timestamp": f"2026-01-{1 + number % 28:02}T10:{entry % 60:02}:00Z",
                "content": f"number {entry} of t{number}: the heron stands at lake {number * 7 % 1000}",
            }
            name = "facts.jsonl" if entry % 2 else "conversation.jsonl"
            line |= {} if entry % 2 else {"role": "user"}
            logs[name] += json.dumps(line) + "\n"
        for name, text in logs.items():
            (folder / name).write_text(text)


def limited(what, most):
    """For a child: no more than `most` of it."""
    return lambda: resource.setrlimit(what, (most, most))


class Limits(ToolTest):
    def memory_of(self, sessions, entries=4):
        self.run_tool("init", "-q")
        self.run_tool("session", "new", "--id", "t0")
        self.root = self.folder / ".bmad/memory"
        fill(self.root, sessions, entries)

    def ends(self, command, before_start=None, **options):
        return subprocess.run(
            [str(self.tool), *command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=before_start, check=False, **options)

    def test_few_descriptors_are_enough_for_many_sessions(self):
        """Every command, with 256 descriptors and 400 sessions."""
        if not SLOW:
            self.skipTest("long")
        self.memory_of(SESSIONS)
        self.run_command("git", "init", "-q")
        for command in COMMANDS:
            with self.subTest(command=" ".join(command)):
                done = self.ends(command, limited(resource.RLIMIT_NOFILE, LIMIT))
                self.assertEqual(done.returncode, 0, done.stdout[-500:] + done.stderr[-500:])

    def test_few_descriptors_are_enough_for_a_server(self):
        """It writes to 300 sessions with 256 descriptors."""
        if not SLOW:
            self.skipTest("long")
        self.memory_of(300)
        server = subprocess.Popen(
            [str(TOOL), "--json", "serve", "--print-token"], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=limited(resource.RLIMIT_NOFILE, LIMIT))
        with server:
            told = json.loads(server.stdout.readline())
            headers = {"Authorization": f"Bearer {told['token']}", "Content-Type": "application/json"}
            client = http.client.HTTPConnection("127.0.0.1", told["port"], timeout=TIMEOUT_S)
            for number in range(300):
                for kind, text in (("fact", "content"), ("conversation", "content")):
                    entry = {"type": kind, "session_id": f"t{number}", text: "another"}
                    entry |= {"role": "user"} if kind == "conversation" else {}
                    client.request("POST", "/memory/record", json.dumps(entry), headers)
                    answer = client.getresponse()
                    self.assertEqual((answer.status, number), (201, number), answer.read())
                    answer.read()
            client.request("GET", "/memory/search?q=heron", headers=headers)
            self.assertEqual(client.getresponse().status, 200)
            self.assertLess(len(os.listdir(f"/proc/{server.pid}/fd")), LIMIT)
            server.terminate()

    def test_a_repair_mends_each_of_many_sessions(self):
        self.memory_of(60)
        with open(self.root / "sessions/t57/facts.jsonl", "a") as log:
            log.write('{"id":"torn')
        done = self.ends(["repair"], limited(resource.RLIMIT_NOFILE, 48))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("t57", done.stdout)
        self.assertEqual(self.ends(["verify"]).returncode, 0)

    def test_a_server_gives_descriptors_back(self):
        """It writes to more sessions than it may have files open."""
        self.memory_of(80)
        calls = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
        for number in range(80):
            calls.append({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": {
                "name": "memory_add", "arguments": {
                    "type": "finding", "text": f"finding {number}", "session_id": f"t{number}"}}})
        done = subprocess.run(
            [str(TOOL), "mcp"], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            input="".join(json.dumps(call) + "\n" for call in calls), timeout=TIMEOUT_S,
            preexec_fn=limited(resource.RLIMIT_NOFILE, 64), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        failed = [a for a in answers if "error" in a or a.get("result", {}).get("isError")]
        self.assertEqual(failed, [])
        self.assertEqual(len(answers), 81)

    def ends_with_a_code(self, done):
        self.assertGreaterEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        if done.returncode != 0:
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("E_", done.stderr)

    def test_too_little_memory_is_an_error(self):
        self.memory_of(40, entries=50)
        seen = set()
        least = (TOOL.stat().st_size >> 20) + 2  # With less the kernel can't start it.
        for megabytes in (least, least + 1, least + 2, 20, 24, 32, 48, 64):
            for command in (["list"], ["query", "heron"], ["context"], ["verify"], ["mcp"]):
                with self.subTest(megabytes=megabytes, command=command):
                    done = self.ends(command, limited(resource.RLIMIT_AS, megabytes << 20))
                    if done.returncode == 127 or "shared object" in done.stderr:
                        continue  # The loader's own words: the program has not begun.
                    if done.returncode == -signal.SIGKILL:
                        continue  # The kernel's, which could not even start it.
                    self.ends_with_a_code(done)
                    seen.add(done.returncode)
        self.assertIn(0, seen)

    @staticmethod
    def as_another_user(threads_max):
        """For a child: a user for whom the limit counts, who has no other process."""
        def change():
            os.setgroups([])
            os.setgid(64321)
            os.setuid(64321)
            resource.setrlimit(resource.RLIMIT_NPROC, (threads_max, threads_max))
        return change

    def test_too_few_threads_are_an_error_or_enough(self):
        if os.geteuid() != 0:
            self.skipTest("takes another user, so it must be root")
        self.memory_of(20, entries=5)
        self.run_for_others()
        for path in [self.folder / ".bmad", *(self.folder / ".bmad").rglob("*")]:
            os.chown(path, 64321, 64321)
        for threads in (1, 2, 3, 4, 5, 6, 8):
            for command in (["mcp"], ["list"], ["context"], ["query", "heron"]):
                with self.subTest(threads=threads, command=command):
                    self.ends_with_a_code(self.ends(command, self.as_another_user(threads)))
            with self.subTest(threads=threads, command="serve"):
                self.serve_ends(threads)

    def serve_ends(self, threads):
        """It says why it can't serve, or serves until it is told to end."""
        server = subprocess.Popen(
            [str(self.tool), "serve"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=self.as_another_user(threads))
        with server:
            if server.stdout.readline():
                server.terminate()
            _, errors = server.communicate(timeout=TIMEOUT_S)
        self.ends_with_a_code(subprocess.CompletedProcess([], server.returncode, "", errors))

    def test_a_lock_file_of_a_gigabyte_is_harmless(self):
        self.memory_of(2)
        session = self.root / "sessions/t1"
        for name in (".lock", ".lock.json"):
            with open(session / name, "wb") as lock:
                lock.truncate(1 << 30)
        for command in (["add", "fact", "--session", "t1", "x"], ["verify"], ["repair"], ["list"], ["session", "list"],
                        ["forget", "--match", "nowhere", "--yes"], ["session", "archive", "t1"]):
            with self.subTest(command=command):
                done = self.ends(command, limited(resource.RLIMIT_AS, 512 << 20))
                self.assertEqual(done.returncode, 0, done.stderr)


def memory_taken(sessions, words):
    """Prints the peak of resident memory of each command, in MB; of those that begin with `words`."""
    with tempfile.TemporaryDirectory(prefix="bmad-memory-") as name:
        folder = pathlib.Path(name)
        environment = {**os.environ, "HOME": name}
        run = lambda *command: subprocess.run(
            [str(TOOL), *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        run("init", "-q")
        run("session", "new", "--id", "t0")
        fill(folder / ".bmad/memory", sessions, 10)
        for command in [each for each in COMMANDS if not words or each[0] in words]:
            child = subprocess.Popen([str(TOOL), *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            errors = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            print(f"{usage.ru_maxrss / 1024:8.1f} MB  {usage.ru_utime + usage.ru_stime:6.1f} s  "
                  f"status {child.returncode}  {' '.join(command)}", flush=True)
            if child.returncode:
                print(errors[-200:].decode(errors="replace").strip())


if __name__ == "__main__":
    if MEMORY_AT:
        memory_taken(int(sys.argv[MEMORY_AT + 1]), sys.argv[MEMORY_AT + 2:])
        sys.exit()
    if SLOW:
        sys.argv.remove("--slow")
    main()
