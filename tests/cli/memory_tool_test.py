#!/usr/bin/env python3
"""The memory tool: what the reference implementation answered, paths that lead out, many at once.

The recorded answers are looked for in $BMAD_SHARED_DATA, else in ../shared/data beside the project;
without them that one test is skipped, and says so.
"""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import stat
import subprocess
import threading

from tool_under_test import SOURCE, TIMEOUT_S, TOOL, ToolTest, main

DATA = pathlib.Path(os.environ.get("BMAD_SHARED_DATA", SOURCE.parent / "shared" / "data"))
ORACLE = DATA / "captures" / "memory-tool-oracle.txt"


def read_oracle():
    """Calls and what they answered: (command, is_error, text)."""
    lines = ORACLE.read_text(encoding="utf-8").splitlines()
    for call, answer in zip(lines[::2], lines[1::2]):
        text = json.loads(answer.removeprefix("   => "))
        yield json.loads(call), text.startswith("THROW "), text.removeprefix("THROW ")


def without_folder_sizes(text):
    """How large a folder is, the file system decides."""
    return re.sub(r"^\S+\t(/.*/|/memories/?|/memories/d)$", r"SIZE\t\1", text, flags=re.MULTILINE)


def exchange(one, other):
    """Swaps two names in one step."""
    at_working_directory, rename_exchange = -100, 2
    done = ctypes.CDLL(None, use_errno=True).renameat2(
        at_working_directory, bytes(one), at_working_directory, bytes(other), rename_exchange
    )
    if done != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


class MemoryTool(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.root = self.folder / ".bmad/memory"
        self.top = self.root / "memories"

    def start(self, command, *options):
        text = command if isinstance(command, str) else json.dumps(command)
        return subprocess.run(
            [str(TOOL), "--json", *options, "memory-tool"],
            cwd=self.folder,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def call(self, command, **fields):
        """(is_error, content without "Error: ")"""
        command = {"command": command, **fields} if fields else command
        done = self.start(command)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, int(answer["is_error"]))
        if answer["is_error"]:
            self.assertTrue(answer["content"].startswith("Error: "), answer)
        return answer["is_error"], answer["content"].removeprefix("Error: ")

    def good(self, command, **fields):
        is_error, content = self.call(command, **fields)
        self.assertFalse(is_error, content)
        return content

    def bad(self, command, **fields):
        is_error, content = self.call(command, **fields)
        self.assertTrue(is_error, content)
        return content

    def test_it_answers_as_the_reference_implementation_does(self):
        if not ORACLE.is_file():
            self.skipTest(f"there are no recorded answers in {ORACLE}")
        calls = 0
        for command, is_error, text in read_oracle():
            calls += 1
            if command.get("old_str") == "four\nfive":
                continue  # We find text of several lines, too.
            if command.get("path", "").startswith("/memoriesX"):
                text = f"Path must start with /memories, got: {command['path']}"
            got_error, got = self.call(command)
            self.assertEqual(without_folder_sizes(got), without_folder_sizes(text), command)
            self.assertEqual(got_error, is_error, command)
        self.assertEqual(calls, 34)

    def test_without_json_the_sentence_is_all(self):
        self.assertEqual(
            self.run_tool("memory-tool", stdin='{"command":"create","path":"/memories/a","file_text":"x"}'),
            "File created successfully at: /memories/a\n",
        )
        self.assertEqual(
            self.run_tool("memory-tool", stdin='{"command":"view","path":"/memories/b"}', status=1),
            "Error: The path /memories/b does not exist. Please provide a valid path.\n",
        )

    def test_text_of_several_lines_is_replaced(self):
        self.good("create", path="/memories/a", file_text="one\ntwo\nthree\nfour\n")
        self.assertIn("     2\t2\n     3\tfour", self.good("str_replace", path="/memories/a", old_str="two\nthree", new_str="2"))
        self.assertEqual((self.top / "a").read_text(encoding="utf-8"), "one\n2\nfour\n")
        self.good("str_replace", path="/memories/a", old_str="2\n")
        self.assertEqual((self.top / "a").read_text(encoding="utf-8"), "one\nfour\n")

    def test_files_and_folders_are_nobody_elses(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        self.good("create", path="/memories/d/e/a.md", file_text="x")
        self.good("insert", path="/memories/d/e/a.md", insert_line=0, insert_text="y")
        for path, mode in (("", 0o700), ("d", 0o700), ("d/e", 0o700), ("d/e/a.md", 0o600)):
            self.assertEqual(stat.S_IMODE((self.top / path).stat().st_mode), mode, path)
        self.assertEqual([path.name for path in self.root.glob("*.tmp")], [])

    def test_no_path_leads_out(self):
        (self.folder / "secret").write_text("secret", encoding="utf-8")
        paths = (
            "/etc/passwd", "", "memories", "/memoriesX/y", "/Memories", "//memories", "/memories/..", "/memories/../..",
            "/memories/a/../../config.json", "/memories/..\\..\\config.json", "/memories/%2e%2e/config.json",
            "/memories/%2E%2e%2fconfig.json", "/memories/%252e%252e/config.json", "/memories/%2e./config.json",
            "/memories/a%00b", "/memories/./../config.json",
        )  # fmt: skip
        for path in paths:
            for command, fields in (
                ("view", {"path": path}),
                ("create", {"path": path, "file_text": "x"}),
                ("str_replace", {"path": path, "old_str": "a", "new_str": "b"}),
                ("insert", {"path": path, "insert_line": 0, "insert_text": "x"}),
                ("delete", {"path": path}),
                ("rename", {"old_path": path, "new_path": "/memories/x"}),
            ):
                with self.subTest(path=path, command=command):
                    self.assertRegex(self.bad(command, **fields), "^Path (must start with|.* would escape) /memories")
        self.good("create", path="/memories/a", file_text="x")
        self.assertRegex(self.bad("rename", old_path="/memories/a", new_path="/memories/../a"), "would escape")
        self.assertIn("one JSON object", self.bad('{"command":"view","path":"/memories/a\\u0000"}'))
        self.assertEqual(sorted(os.listdir(self.top)), ["a"])

    def test_names_that_only_look_odd_are_names(self):
        for name in ("100%.md", "a..b", "...", "ü ñ", "-rf", "a%20b", "%zz"):
            path = f"/memories/{name}"
            self.good("create", path=path, file_text=name)
            self.assertTrue(self.good("view", path=path).endswith(f"     1\t{name}"))
        self.assertEqual(self.bad("create", path="/memories/", file_text="x"), "File /memories/ already exists")

    def test_links_are_not_followed(self):
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "file").write_text("secret", encoding="utf-8")
        self.good("create", path="/memories/d/real", file_text="x")
        (self.top / "out").symlink_to(outside)
        (self.top / "d" / "file").symlink_to(outside / "file")
        (self.top / "in").symlink_to("d")
        (self.top / "loose").symlink_to("nowhere")
        for path in ("out", "out/file", "d/file", "in", "in/real", "loose", "out/new"):
            for command, fields in (
                ("view", {"path": f"/memories/{path}"}),
                ("create", {"path": f"/memories/{path}", "file_text": "x"}),
                ("insert", {"path": f"/memories/{path}", "insert_line": 0, "insert_text": "x"}),
                ("delete", {"path": f"/memories/{path}"}),
                ("rename", {"old_path": f"/memories/{path}", "new_path": "/memories/x"}),
                ("rename", {"old_path": "/memories/d/real", "new_path": f"/memories/{path}"}),
            ):
                with self.subTest(path=path, command=command):
                    self.assertEqual(self.bad(command, **fields), "Path would escape /memories directory via symlink")
        self.assertNotIn("out", self.good("view", path="/memories"))
        self.good("create", path="/memories/e/f", file_text="x")
        (self.top / "e" / "link").symlink_to(outside)
        self.good("delete", path="/memories/e")
        self.assertEqual(os.listdir(outside), ["file"])

    def test_a_link_that_is_put_in_between_leads_nowhere(self):
        outside = self.folder / "outside"
        outside.mkdir()
        self.good("create", path="/memories/d/first", file_text="x")
        folder, link = self.top / "d", self.folder / "link"
        link.symlink_to(outside)
        stop = threading.Event()

        def swap():
            while not stop.is_set():
                exchange(folder, link)

        thread = threading.Thread(target=swap)
        thread.start()
        answers = [self.call("create", path=f"/memories/d/{i}", file_text="x") for i in range(100)]
        stop.set()
        thread.join()
        self.assertEqual(os.listdir(outside), [])
        if folder.is_symlink():
            exchange(folder, link)
        made = {f"{i}" for i, (is_error, _) in enumerate(answers) if not is_error}
        self.assertEqual(set(os.listdir(folder)) - {"first"}, made)

    def test_a_folder_of_memories_that_is_a_link_is_refused(self):
        outside = self.folder / "outside"
        outside.mkdir()
        self.top.symlink_to(outside)
        self.assertRegex(self.start({"command": "view", "path": "/memories"}).stderr, "via symlink")
        self.assertEqual(os.listdir(outside), [])

    def test_what_is_no_file_keeps_nobody_waiting(self):
        self.good("view", path="/memories")
        self.assertFalse(self.top.exists(), "what only reads makes no folder")
        self.top.mkdir(mode=0o700)
        os.mkfifo(self.top / "fifo")
        self.assertRegex(self.bad("view", path="/memories/fifo"), "does not exist")
        self.assertRegex(self.bad("insert", path="/memories/fifo", insert_line=0, insert_text="x"), "is not a file")
        self.assertRegex(self.bad("create", path="/memories/fifo", file_text="x"), "already exists")

    def test_a_folder_does_not_go_into_itself(self):
        self.good("create", path="/memories/d/a", file_text="x")
        self.assertRegex(self.bad("rename", old_path="/memories/d", new_path="/memories/d/e/f"), "into itself")
        self.assertRegex(self.bad("rename", old_path="/memories/d", new_path="/memories/d"), "already exists")
        self.assertEqual(os.listdir(self.top / "d"), ["a"])
        self.assertRegex(self.bad("create", path="/memories/d/a/b", file_text="x"), "Not a directory")

    def test_secrets_are_taken_out(self):
        secret = "ghp_" + "x7Kq2mN9pR4sT6vW8yZ1aB3cD5eF0gH2jL4M"[:36]
        done = self.start({"command": "create", "path": "/memories/a", "file_text": f"one\n{secret}\n"})
        self.assertEqual(json.loads(done.stdout)["redacted"], 1)
        self.good("str_replace", path="/memories/a", old_str="one", new_str=f"use {secret}")
        self.good("insert", path="/memories/a", insert_line=0, insert_text=secret)
        self.assertRegex(self.bad("create", path=f"/memories/{secret}", file_text="x"), "choose another name")
        self.assertRegex(self.bad("rename", old_path="/memories/a", new_path=f"/memories/{secret}"), "another name")
        for path in self.root.rglob("*"):
            if path.is_file():
                self.assertNotIn(secret, path.read_text(encoding="utf-8", errors="replace"), path)
        self.assertEqual((self.top / "a").read_text(encoding="utf-8").count("[REDACTED:github-pat]"), 3)
        self.assertIn(
            "2 secrets were taken out",
            subprocess.run(
                [str(TOOL), "memory-tool"],
                cwd=self.folder,
                env=self.environment,
                input=json.dumps({"command": "create", "path": "/memories/b", "file_text": f"{secret} {secret[::-1]} {secret}"}),
                capture_output=True,
                text=True,
                check=True,
            ).stderr,
        )

    def test_of_many_that_create_one_path_exactly_one_wins(self):
        def create(number):
            return self.call("create", path="/memories/deep/er/one", file_text=f"text of {number}")

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(create, range(32)))
        winners = [number for number, (is_error, _) in enumerate(answers) if not is_error]
        self.assertEqual(len(winners), 1)
        self.assertEqual((self.top / "deep/er/one").read_text(encoding="utf-8"), f"text of {winners[0]}")
        for is_error, content in answers:
            if is_error:
                self.assertEqual(content, "File /memories/deep/er/one already exists")

    def test_of_many_that_insert_into_one_file_none_is_lost(self):
        self.good("create", path="/memories/list", file_text="")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: self.good("insert", path="/memories/list", insert_line=0, insert_text=f"line {i}"), range(48)))
        lines = (self.top / "list").read_text(encoding="utf-8").split()
        self.assertEqual(sorted(lines[1::2], key=int), [str(i) for i in range(48)])

    def test_bad_calls_say_what_is_wrong(self):
        for call, said in (
            ("", "one JSON object"),
            ("[]", "one JSON object"),
            ("{}", "Unknown command: "),
            ('{"command":"undo"}', "Unknown command: undo"),
            ('{"command":"view"}', "needs `path`, a string"),
            ('{"command":"create","path":"/memories/a"}', "needs `file_text`, a string"),
            ('{"command":"insert","path":"/memories/a","insert_line":"1","insert_text":""}', "needs `insert_line`"),
            ('{"command":"view","path":"/memories","view_range":[1]}', "two line numbers"),
            ('{"command":"rename","old_path":"/memories/a"}', "needs `new_path`"),
        ):
            with self.subTest(call=call):
                self.assertIn(said, self.bad(call))

    def test_the_rest_of_the_memory_lives_with_it(self):
        self.good("create", path="/memories/notes.md", file_text="the word quetzal")
        self.run_tool("verify")
        self.run_tool("repair")
        self.assertIn("memories/notes.md", self.run_tool("forget", "--match", "quetzal", "--verify", "--yes"))
        self.assertNotIn("quetzal", self.good("view", path="/memories/notes.md"))


if __name__ == "__main__":
    main()
