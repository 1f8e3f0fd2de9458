#!/usr/bin/env python3
"""What a memory from elsewhere may cost: small files that unpack to gigabytes, lines that no entry has, thousands of
empty folders, hooks that are called again and again. Bounds are those of a question and a root, not of a file.
"""

import ctypes
import fcntl
import filecmp
import json
import os
import random
import shutil
import struct
import subprocess
import tarfile
import time
import zlib

from tool_under_test import ToolTest, main

MIB = 1 << 20
RSS_MAX = 200 * MIB
HOOK_CPU_MAX_S = 0.3
PROMPT = "when does the harbour open"
PR_SET_CHILD_SUBREAPER = 36
FACT = "the harbour opens at dawn"
SHOWN = "opens at dawn"  # `query` marks the words that it found.
COMMANDS = (
    ["list"], ["get", "f1"], ["get", "nosuch"], ["query", "harbour"], ["context"], ["session", "list"],
    ["forget", "--match", "zqnothing", "--yes"], ["redact", "--all", "--yes"], ["maintain"], ["verify"], ["doctor"],
    ["export"], ["add", "fact", "--session", "s2", "zqnew"])


def header(name, size):
    member = tarfile.TarInfo(name)
    member.size = size
    return member.tobuf()


def packed(*parts):
    """One gzip member of bytes, and of zeros where a part is a number."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = []
    for part in parts:
        if isinstance(part, int):
            zeros = bytes(MIB)
            out += [pack.compress(zeros) for _ in range(part // MIB)] + [pack.compress(bytes(part % MIB))]
        else:
            out.append(pack.compress(part))
    return b"".join([*out, pack.flush()])


def sized(text, level=4):
    """One gzip member that says in its header how long it is, as those of our archives."""
    pack = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = pack.compress(text) + pack.flush()
    header_of = b"\x1f\x8b\x08\x04\0\0\0\0\0\x03\x08\0BM\x04\0" + struct.pack("<I", 28 + len(body))
    return header_of + body + struct.pack("<II", zlib.crc32(text), len(text))


def tar_of(files):
    parts = [header(name, len(text)) + text + bytes(-len(text) % 512) for name, text in files]
    return b"".join([*parts, bytes(1024)])


def in_members(tar):
    return b"".join(sized(tar[at:at + 65536]) for at in range(0, len(tar), 65536))


def talk(size, word):
    """Messages of some words that differ, about `word`."""
    draw = random.Random(word)
    lines, have = [], 0
    while have < size:
        text = " ".join(f"{draw.getrandbits(24):x}" for _ in range(60))
        line = {"id": f"{word}{len(lines)}", "timestamp": "2026-01-01T00:00:00Z", "role": "user", "content": text}
        lines.append(json.dumps(line) + "\n")
        have += len(lines[-1])
    line["content"] = f"the {word} opens at dawn"
    return ("".join(lines[:-1]) + json.dumps(line) + "\n").encode()


def put_line(path, text):
    """Writes 200 MiB into `text`, and returns its size. Piece by piece: a child begins with what this process has."""
    begin, end = text.split(b"%b")
    with path.open("wb") as file:
        file.write(begin)
        for _ in range(200):
            file.write(b"a" * MIB)
        return file.write(end) + file.tell() - len(end)


class Cost:
    """What a process and what it left behind took."""

    def __init__(self, status, output, cpu_s, rss, took_s):
        self.status, self.output, self.cpu_s, self.rss, self.took_s = status, output, cpu_s, rss, took_s


class Budget(ToolTest):
    def setUp(self):
        super().setUp()
        # Children of children that are left alone become ours, so that their costs count.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.root = self.folder / ".bmad/memory"
        self.run_command("git", "init", "-q")
        self.run_tool("init", "-q")
        for session in ("s1", "s2"):
            self.run_tool("-q", "session", "new", "--id", session)
        self.run_tool("-q", "add", "fact", "--session", "s2", "--id", "f1", FACT)
        (self.root / "archive").mkdir(exist_ok=True)

    def cost(self, *arguments, stdin="", program=None):
        out = self.folder / "out.txt"
        begin = time.monotonic()
        with out.open("wb") as file:
            process = subprocess.Popen(
                [program or str(self.tool), *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.PIPE, stdout=file,
                stderr=file)
            process.stdin.write(stdin.encode())
            process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        costs = [usage]
        while True:  # What goes on by itself.
            try:
                costs.append(os.wait4(-1, 0)[2])
            except ChildProcessError:
                break
        took_s = time.monotonic() - begin
        return Cost(process.returncode, out.read_text(errors="replace"), sum(one.ru_utime + one.ru_stime for one in costs),
                    max(one.ru_maxrss for one in costs) * 1024, took_s)

    def hook(self, name, session="z", **more):
        event = {"hook_event_name": name, "session_id": session, "cwd": str(self.folder), **more}
        return self.cost("hook", "claude-code", stdin=json.dumps(event))

    def prompt(self, session="z", text=PROMPT):
        return self.hook("UserPromptSubmit", session, prompt=text)

    def check_commands(self, *names, commands=COMMANDS):
        """All stay small, reports of `names` say what is wrong, and what is right is found."""
        reported = ""
        for command in commands:
            with self.subTest(command=" ".join(command)):
                cost = self.cost(*command)
                self.assertLessEqual(cost.rss, RSS_MAX, cost.output[:1000])
                self.assertIn(cost.status, (0, 1, 3, 4), cost.output[:1000])
                reported += cost.output
        for name in names:
            self.assertIn(name, reported)
        self.assertIn(FACT, self.cost("get", "f1").output)
        self.assertIn(SHOWN, self.cost("query", "harbour").output)

    def manifest(self, name):
        return (self.root / "sessions/s1/manifest.json").read_bytes().replace(b'"s1"', f'"{name}"'.encode())

    def archived(self, name, **logs):
        """The tar of a session with these logs."""
        files = [(f"{name}/{log}.jsonl", text) for log, text in logs.items()]
        return tar_of([(f"{name}/manifest.json", self.manifest(name)), *files])

    def put_archives(self, count, bytes_of):
        for i in range(count):
            (self.root / f"archive/b{i}.tar.gz").write_bytes(bytes_of(i))

    def test_archives_of_zeros_cost_nothing(self):
        """Each says at its end that it is too large."""
        bomb = packed(header("s7/facts.jsonl", 300 * MIB), 300 * MIB)
        self.put_archives(60, lambda i: bomb)
        hook = self.prompt()
        self.assertLessEqual(hook.cpu_s, HOOK_CPU_MAX_S)
        self.assertIn(FACT, hook.output)
        self.assertLessEqual(hook.rss, RSS_MAX)
        self.check_commands("b59.tar.gz", "session restore b59")

    def test_archives_that_lie_share_a_budget(self):
        """They say that they are small, or are as large as one may be; the next process knows those that were refused."""
        def whole(i):
            return packed(self.archived(f"b{i}")[:-1024], header(f"b{i}/facts.jsonl", 45 * MIB), 45 * MIB, 1024)

        def lying(i):
            return packed(header(f"b{i}/facts.jsonl", 100 * MIB), 100 * MIB)[:-4] + struct.pack("<I", 1000)

        self.put_archives(16, lambda i: lying(i) if i % 2 else whole(i))
        for _ in range(3):
            hook = self.prompt()
            self.assertLessEqual(hook.cpu_s, HOOK_CPU_MAX_S)
            self.assertLessEqual(hook.rss, RSS_MAX)
        self.check_commands("b1.tar.gz")

    def test_new_archives_of_any_kind_share_a_budget(self):
        """Large and honest ones, and those that are costly to look at: in no hook, and in none of the next."""
        large = talk(4 * MIB, "tide")
        lie = packed(200 * MIB)[:-4] + struct.pack("<I", 1000)
        one_byte = sized(b"a") * 60000
        zeros = sized(header("x", 65024) + bytes(65024), 9) * 400

        def beside_folder(i):
            (self.root / f"sessions/b{i}").mkdir()
            (self.root / f"sessions/b{i}/manifest.json").write_bytes(self.manifest(f"b{i}"))
            return packed(self.archived(f"b{i}", conversation=large))

        def local(i):
            (self.root / f"archive/.lock.b{i}.gz").write_bytes(lie)
            return in_members(self.archived(f"b{i}"))

        def evicted(i):
            (self.root / f"archive/s1.evicted{f'.{i}' if i > 1 else ''}.jsonl.gz").write_bytes(lie)
            return b""

        def kept(i):
            (self.root / "shared/kept").mkdir(parents=True, exist_ok=True)
            line = b'{"type":"conversation","entry":%s}\n'
            text = b"".join(line % entry for entry in large.splitlines())
            (self.root / f"shared/kept/b{i}.jsonl").write_bytes(text)
            return b""

        shapes = {
            "in members": lambda i: in_members(self.archived(f"b{i}", conversation=large)),
            "in one": lambda i: packed(self.archived(f"b{i}", conversation=large)),
            "of a byte each": lambda i: one_byte,
            "of headers": lambda i: sized(self.archived(f"b{i}")[:-1024]) + zeros + sized(bytes(1024)),
            "beside a folder": beside_folder, "with a local part": local, "evicted": evicted, "kept": kept}
        for name, bytes_of in shapes.items():
            for path in (self.root / "archive").iterdir():
                path.unlink()
            self.put_archives(6, bytes_of)
            for event in ("UserPromptSubmit", "SessionStart", "SessionEnd", "UserPromptSubmit"):
                with self.subTest(shape=name, event=event):
                    hook = self.hook(event, prompt=PROMPT)
                    self.assertLessEqual(hook.cpu_s, HOOK_CPU_MAX_S)
                    self.assertLessEqual(hook.rss, RSS_MAX)
        self.assertIn(FACT, self.prompt("z2").output)

    def test_hooks_take_new_archives_in_turns_and_a_command_a_large_one(self):
        words = ["quay", "mole", "pier"]
        for word in words:
            (self.root / f"archive/{word}.tar.gz").write_bytes(in_members(self.archived(word, conversation=talk(MIB // 4, word))))
        (self.root / "archive/a.tar.gz").write_bytes(in_members(self.archived("a", conversation=talk(3 * MIB, "basin"))))

        def found(word):
            return f"the {word} opens at dawn" in self.prompt(f"z{word}{time.monotonic_ns()}", f"the {word} opens").output

        self.assertEqual([found(word) for word in (*words, *words)][3:], [True] * 3)
        self.assertFalse(found("basin"))
        self.run_tool("query", "basin")
        self.assertTrue(found("basin"))

    def test_hooks_find_the_archives_of_a_clone_that_was_trusted(self):
        self.run_tool("-q", "session", "new", "--id", "quay")
        (self.root / "sessions/quay/conversation.jsonl").write_bytes(talk(2 * MIB, "quay"))
        self.run_tool("-q", "session", "archive", "quay")
        git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
        self.run_command("git", "add", "-A")
        self.run_command(*git, "commit", "-qm", "a")
        self.run_command("git", "clone", "-q", ".", "clone")
        self.folder = self.folder / "clone"
        self.assertNotIn("the quay opens at dawn", self.prompt("z1", "the quay opens").output)
        self.run_tool("-q", "trust", "--yes")
        self.assertIn("the quay opens at dawn", self.prompt("z2", "the quay opens").output)

    def test_hooks_find_all_that_was_archived_here(self):
        """However much it is, and when the index is gone."""
        words = ["quay", "mole", "pier"]
        for word in words:
            self.run_tool("-q", "session", "new", "--id", word)
            (self.root / f"sessions/{word}/conversation.jsonl").write_bytes(talk(3 * MIB, word))
            self.run_tool("-q", "session", "archive", word)
        for index in (self.root / "index", None):
            for word in words:
                with self.subTest(word=word, index=index is not None):
                    self.assertIn(f"the {word} opens at dawn", self.prompt(f"z{word}{index is None}", f"the {word} opens").output)
            if index is not None:
                shutil.rmtree(index)
                self.prompt()  # It makes the index, for the next.

    def test_a_refused_archive_is_remembered_and_a_mended_one_is_read(self):
        lie = packed(header("b1/facts.jsonl", 60 * MIB), 60 * MIB)
        self.put_archives(2, lambda i: lie)
        first, second = self.cost("list"), self.cost("list")
        refused = self.root / "archive/.lock.refused.jsonl"
        self.assertIn('"archive/b1.tar.gz"', refused.read_text())
        self.assertIn("b1.tar.gz", second.output)
        self.assertEqual(first.status, second.status)
        self.assertLess(max(first.cpu_s, second.cpu_s), 0.1)  # Its end says a size that cannot be.
        for i in range(2):
            (self.root / f"archive/b{i}.tar.gz").unlink()
        self.run_tool("-q", "session", "archive", "s2")
        # A line that came with a clone is of another file.
        line = {"key": "0" * 16, "file": "archive/s2.tar.gz", "code": "E_SIZE_LIMIT", "message": "zq"}
        refused.write_text(json.dumps(line) + "\nno JSON\n")
        third = self.cost("query", "harbour")
        self.assertEqual(third.status, 0, third.output)
        self.assertIn(SHOWN, third.output)

    def test_archives_that_fit_are_read_one_by_one(self):
        """4 MiB each, to be 45 MiB; and 250 MiB, which are refused."""
        noise = os.urandom(4 * MIB)
        self.put_archives(2, lambda i: packed(header(f"b{i}/facts.jsonl", 250 * MIB), noise, 246 * MIB))
        for i in range(5):
            (self.root / f"archive/c{i}.tar.gz").write_bytes(packed(header(f"c{i}/facts.jsonl", 45 * MIB), noise, 41 * MIB, 1024))
        self.check_commands("b1.tar.gz", "c4.tar.gz")

    def test_evicted_entries_that_unpack_to_zeros(self):
        (self.root / "archive/s1.evicted.jsonl.gz").write_bytes(packed(250 * MIB))
        self.assertLessEqual(self.prompt().cpu_s, HOOK_CPU_MAX_S)
        self.check_commands("s1.evicted.jsonl.gz")

    def test_a_line_of_200_mb(self):
        log = self.root / "sessions/s1/conversation.jsonl"
        size = put_line(log, b'{"id":"m1","timestamp":"2026-01-01T00:00:00Z","role":"user","content":"%b harbour"}\n')
        self.assertLessEqual(self.prompt().cpu_s, HOOK_CPU_MAX_S)
        self.check_commands("conversation.jsonl:1")
        repaired = self.cost("repair")
        self.assertIn("take it out by hand", repaired.output)
        self.assertLessEqual(repaired.rss, RSS_MAX)
        self.assertEqual(log.stat().st_size, size)
        forgotten = self.cost("forget", "--match", "aa harbour", "--yes")
        self.assertLessEqual(forgotten.rss, RSS_MAX)
        self.assertEqual(log.stat().st_size, 0, forgotten.output)

    def test_a_line_of_200_mb_in_files_beside_the_logs(self):
        for name in ("quarantine.jsonl", "audit.jsonl", "access.jsonl", "facts (1).jsonl"):
            put_line(self.root / "sessions/s1" / name, b'{"a":"%b"}\n')
        self.check_commands()

    def test_thousands_of_empty_folders(self):
        for i in range(5000):
            (self.root / f"sessions/e{i}").mkdir()
        time.sleep(2.1)  # Until then a folder may have changed within the same tick.
        # What a look at each of them takes here: machines differ most in their system calls.
        floor_s = self.cost(str(self.root / "sessions"), program="find").cpu_s
        for command in (["get", "nosuch"], ["get", "f1"], ["list"]):
            self.assertLessEqual(self.cost(*command).cpu_s, max(0.6, 8 * floor_s), command)
        self.assertLessEqual(self.cost("maintain").cpu_s, max(1.5, 16 * floor_s))
        self.assertFalse((self.root / "sessions/e1").exists())

    def test_one_hook_of_a_session_goes_on_at_a_time(self):
        self.prompt()
        with (self.root / ".lock.hooks").open("r+b") as other:
            fcntl.fcntl(other, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            for session in ("z1", "z2"):
                hook = self.prompt(session)
                self.assertIn(FACT, hook.output)
                self.assertLess(hook.took_s, 2)
                self.assertIn(PROMPT, self.run_tool("list", "--session", f"cc-{session}", "--type", "conversation"))

    def test_a_large_archive_of_ours_stays_readable(self):
        self.run_tool("-q", "config", "set", "storage.max_session_size_mb", "200")
        words = [f"{i:x}{i * 7919 % 1000003:x}" for i in range(40000)]
        log, kept = self.root / "sessions/s1/conversation.jsonl", self.folder / "kept.jsonl"
        with log.open("w") as file:
            for i in range(0, 36000, 16):
                line = {"id": f"m{i}", "timestamp": "2026-01-01T00:00:00Z", "role": "user", "content": " ".join(words[i:i + 4000])}
                file.write(json.dumps(line) + "\n")
        self.assertGreater(log.stat().st_size, 64 * MIB)
        shutil.copy(log, kept)
        self.run_tool("-q", "session", "archive", "s1")
        self.assertIn("m16 ", self.run_tool("query", f"{words[17]}"))
        self.run_tool("verify")
        self.run_tool("-q", "export", "--archived", "-o", "all.jsonl")
        with (self.folder / "all.jsonl").open() as exported:
            self.assertEqual(sum(1 for line in exported if '"m' in line[:200]), 2250)
        self.run_tool("-q", "session", "restore", "s1")
        self.assertTrue(filecmp.cmp(log, kept, shallow=False))


if __name__ == "__main__":
    main()
