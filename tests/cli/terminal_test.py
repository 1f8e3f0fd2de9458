#!/usr/bin/env python3
"""What the tool does on a terminal: colours, cut lines, a progress bar that leaves nothing behind."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading
import time

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main

MARK = b"\x1c"  # No tool writes it.
ESCAPE = "\x1b["
AGENTS = ({"CLAUDECODE": "1"}, {"BMAD_AGENT_ID": "x"})
KEY = {"BMAD_MEM_KEY": "0123456789abcdef" * 4}


class Terminal(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.run_tool("session", "new", "--id", "s1")
        self.run_tool("add", "fact", "--id", "k1", "The canteen closes at two " + "and opens again " * 4)

    def on_terminal(self, *arguments, columns=80, **environment):
        """What the tool writes when stdout is a terminal of so many columns."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen(
            [str(TOOL), *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=its,
        ) as process:
            written = self.rest(ours, its, process).decode()
        self.assertEqual(process.returncode, 0)
        return written

    @staticmethod
    def rest(ours, its, process):
        """What a process still writes to a terminal, and the terminal closed.

        A mark of ours comes last. A terminal that its last writer closes may lose what it has not passed on yet.
        """

        def write_mark():
            process.wait()
            os.write(its, MARK)

        marks = threading.Thread(target=write_mark)
        marks.start()
        written = b""
        while not written.endswith(MARK):
            written += os.read(ours, 4096)
        marks.join()
        os.close(its)
        os.close(ours)
        return written.removesuffix(MARK)

    def test_colours_are_for_terminals(self):
        self.assertIn(ESCAPE, self.on_terminal("query", "canteen"))
        self.assertNotIn(ESCAPE, self.run_tool("query", "canteen"))

    def test_times_are_local_on_a_terminal_and_utc_elsewhere(self):
        zone = {"TZ": "XXX-5:30"}  # Ahead of UTC, by POSIX' signs.
        self.run_tool("add", "event", "--id", "e1", "--kind", "note", "--timestamp", "2026-01-11T22:05:00Z", "x")
        self.assertIn("2026-01-12 03:35+05:30", self.on_terminal("list", **zone))
        self.assertIn("2026-01-11 22:05 ", self.run_tool("list"))
        self.assertIn('"2026-01-11T22:05:00Z"', self.on_terminal("--json", "list", **zone))
        self.assertIn("-03:30", self.on_terminal("session", "list", TZ="YYY3:30"))

    def test_colours_can_be_switched_off_and_on(self):
        self.assertNotIn(ESCAPE, self.on_terminal("query", "canteen", NO_COLOR="1"))
        self.assertNotIn(ESCAPE, self.on_terminal("query", "canteen", TERM="dumb"))
        self.assertNotIn(ESCAPE, self.on_terminal("query", "canteen", "--color", "never"))
        self.assertNotIn(ESCAPE, self.on_terminal("--json", "query", "canteen"))
        self.assertIn(ESCAPE, self.run_tool("query", "canteen", "--color", "always"))

    def test_lists_are_cut_to_the_width_of_the_terminal(self):
        line = self.on_terminal("list", "--color", "never", columns=60).splitlines()[0]
        self.assertEqual(len(line), 60)
        self.assertTrue(line.endswith("…"))
        whole = self.run_tool("list").splitlines()[0]
        self.assertGreater(len(whole), 60)

    def test_bars_fill_the_terminal(self):
        line = self.on_terminal("timeline", "--color", "never", columns=60).splitlines()[0]
        self.assertEqual(len(line), 60)
        self.assertTrue(line.endswith("█"))

    def test_the_neighbours_of_a_hit_are_faint_and_cut_to_the_width(self):
        for number in range(3):
            text = f"remark {number} " + "on the pier " * 20
            self.run_tool("add", "conversation", "--id", f"m{number}", "--role", "user", "--content", text)
        lines = self.on_terminal("query", '"remark 1"', "--context", "1", columns=60).splitlines()
        for line in (lines[0], lines[-1]):
            self.assertTrue(line.startswith("      " + ESCAPE + "2m"), line)
            shown = line.replace(ESCAPE + "2m", "").replace(ESCAPE + "0m", "")
            self.assertEqual(len(shown), 60)
            self.assertTrue(shown.endswith("…"))

    def import_slowly(self, *options):
        """What an import writes to a terminal on stderr while its input trickles in."""
        ours, its = pty.openpty()
        written = b""
        with subprocess.Popen(
            [str(TOOL), "import", "--session", "s1", *options, "-"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=its,
        ) as process:
            end = time.monotonic() + (TIMEOUT_S if not options else 1)
            number = 0
            # Feeds lines until the bar is there.
            while b"import" not in written and time.monotonic() < end:
                number += 1
                process.stdin.write(b'{"type":"fact","content":"number %d"}\n' % number)
                process.stdin.flush()
                if select.select([ours], [], [], 0.02)[0]:
                    written += os.read(ours, 4096)
            process.stdin.close()
            written += self.rest(ours, its, process)
        self.assertEqual(process.returncode, 0)
        return written.decode()

    def test_a_progress_bar_shows_on_stderr_and_is_erased(self):
        written = self.import_slowly()
        self.assertRegex(written, r"\rimport  \[[#.]{30}\]")
        self.assertTrue(written.endswith("\r\x1b[K"), repr(written[-20:]))

    def on_stderr(self, *arguments, **environment):
        """What the tool writes to a terminal on stderr."""
        ours, its = pty.openpty()
        with subprocess.Popen(
            [str(TOOL), *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=its,
        ) as process:
            written = self.rest(ours, its, process).decode()
        self.assertEqual(process.returncode, 0, written)
        return written

    def test_what_takes_long_has_a_bar(self):
        self.run_command("git", "init", "-q")
        self.run_command("git", "add", ".")
        self.run_command("git", "-c", "user.email=a", "-c", "user.name=a", "commit", "-qm", "x")
        self.run_tool("session", "new", "--id", "s2", "--meta", f"workspace={self.folder}")
        for unit, arguments in (
            ("commits", ("git", "check")),
            ("sessions", ("redact", "--all", "--yes")),
            ("sessions", ("compact", "--all")),
            ("sessions", ("maintain",)),
            ("sessions", ("delete", "k1")),
            ("sessions", ("forget", "--workspace", str(self.folder), "--yes")),
        ):
            name = "git check" if arguments[0] == "git" else arguments[0]
            with self.subTest(name):
                written = self.on_stderr(*arguments, BMAD_MEM_PROGRESS="1")
                self.assertRegex(written, rf"{name}  \[[#.]{{30}}\] +\d+ %  [\d,]+ of [\d,]+ {unit}\x1b\[K")
                self.assertIn("\r" + ESCAPE + "K", written)

    def answer(self, reply, *arguments, **environment):
        """Exit status, and what the tool writes, of a person who answers its question."""
        ours, its = pty.openpty()
        with subprocess.Popen(
            [str(TOOL), *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=its,
            stdout=its,
            stderr=its,
        ) as process:
            written = b""
            end = time.monotonic() + TIMEOUT_S
            while reply and not re.search(rb"\[y/N\]|\[q\]uit\?", written) and time.monotonic() < end:
                written += os.read(ours, 4096)
            os.write(ours, reply)
            written += self.rest(ours, its, process)
        return process.returncode, written.decode()

    def test_a_person_is_asked_before_entries_are_deleted(self):
        status, written = self.answer(b"n\n", "delete", "k1")
        self.assertEqual(status, 1)
        self.assertIn("delete 1 entry? [y/N]", written)
        self.assertIn("nothing was changed", written)
        self.assertIn("k1", self.run_tool("list"))
        status, written = self.answer(b"\n", "forget", "--match", "canteen")
        self.assertIn("purge 1 entry, permanently and everywhere? [y/N]", written)
        self.assertEqual(status, 1)
        self.assertEqual(self.answer(b"yes\n", "delete", "k1")[0], 0)
        self.assertNotIn("k1", self.run_tool("list"))

    def test_a_candidate_is_corrected_by_the_words_that_it_should_have(self):
        self.run_tool("add", "conversation", "--role", "user", "Never deploy on Fridays.")
        status, written = self.answer(b"Never deploy on Mondays.\n", "review")
        self.assertEqual(status, 0, written)
        self.assertIn("Never deploy on Mondays.", self.run_tool("recall"))
        self.assertNotIn("Fridays", self.run_tool("recall"))
        self.assertIn("nothing waits", self.answer(b"", "review")[1])

    def test_a_person_is_asked_before_a_session_goes_for_good(self):
        status, written = self.answer(b"no\n", "session", "delete", "--purge", "s1")
        self.assertEqual(status, 1)
        self.assertIn("purge s1, permanently? [y/N]", written)
        self.assertIn("s1", self.run_tool("session", "list"))
        self.assertEqual(self.answer(b"", "session", "delete", "--yes", "s1")[0], 0)
        self.assertNotIn("s1", self.run_tool("session", "list"))

    def test_nobody_is_asked_when_nothing_would_go(self):
        status, written = self.answer(b"", "delete", "--match", "nowhere")
        self.assertEqual(status, 0)
        self.assertNotIn("[y/N]", written)

    def test_an_agents_shell_trusts_only_with_a_y_at_the_terminal(self):
        for sign in AGENTS:
            self.run_tool("trust", "--revoke")
            for arguments in (("trust",), ("trust", "--yes")):
                status, written = self.answer(b"n\n", *arguments, **sign)
                self.assertEqual(status, 1)
                self.assertIn("trust this memory? [y/N]", written)
                self.assertEqual(json.loads(self.run_tool("--json", "trust", status=1))["trust"], "foreign")
            self.assertEqual(self.answer(b"y\n", "trust", "--yes", **sign)[0], 0)
            self.assertEqual(json.loads(self.run_tool("--json", "trust"))["trust"], "trusted")

    def test_an_agents_shell_accepts_only_with_a_y_at_the_terminal(self):
        waits = self.run_tool("--agent-id", "smith", "remember", "--category", "constraint", "Push to main").strip()
        for sign in AGENTS:
            for reply, arguments in (
                (b"n\n", ("review", "--accept", waits)),
                (b"a\nn\n", ("review",)),
                (b"y\nn\n", ("recall", "--accept-all")),
                (b"n\n", ("recall", "--accept-all", "--yes")),
            ):
                status, written = self.answer(reply, *arguments, **sign)
                self.assertEqual(status, 1, written)
                self.assertIn(f"accept {waits}? [y/N]", written)
                self.assertIn("E_ACCESS_DENIED", written)
                self.assertIn(waits, self.run_tool("recall", "--candidates"))
        self.assertEqual(self.answer(b"y\n", "review", "--accept", waits, **AGENTS[0])[0], 0)
        self.assertNotIn(waits, self.run_tool("recall", "--candidates"))

    def test_each_shell_is_asked_before_all_is_encrypted_opened_or_redacted(self):
        log = self.folder / ".bmad/memory/sessions/s1/facts.jsonl"
        token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
        with log.open("a") as file:
            file.write(json.dumps({"id": "k9", "timestamp": "2026-01-11T10:00:00Z", "content": f"use {token}"}) + "\n")

        def refuse(question, *arguments):
            before = log.read_bytes()
            for sign in ({}, *AGENTS):
                status, written = self.answer(b"n\n", *arguments, **KEY, **sign)
                self.assertEqual((status, log.read_bytes()), (1, before), written)
                self.assertIn(f"{question} [y/N]", written)

        refuse("take all of it out, irreversibly?", "redact", "--all")
        refuse("Losing the key is final: without it nothing opens them.", "encrypt", "on")
        self.assertEqual(self.answer(b"y\n", "encrypt", "on", **KEY)[0], 0)
        self.assertNotIn(b"canteen", log.read_bytes())
        refuse("open all encrypted entries, and write them in clear?", "encrypt", "off")

    def test_what_an_agents_shell_allows_holds_once_a_person_trusts_it(self):
        self.assertEqual(self.answer(b"", "redact", "--allow", "--rule", "email", **AGENTS[0])[0], 0)
        self.run_tool("add", "fact", "--id", "k2", "mail ann@corp.de")
        self.assertNotIn("ann@corp.de", self.run_tool("get", "k2"))
        status, written = self.answer(b"y\n", "trust")
        self.assertEqual(status, 0)
        self.assertIn("privacy.allow: rule=email is left as it is", written)
        self.run_tool("add", "fact", "--id", "k3", "mail ann@corp.de")
        self.assertIn("ann@corp.de", self.run_tool("get", "k3"))

    def test_quiet_shows_no_progress(self):
        self.assertEqual(self.import_slowly("--quiet"), "")


if __name__ == "__main__":
    main()
