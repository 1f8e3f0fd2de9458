#!/usr/bin/env python3
"""Whose a command is: an agent's below one of the programs that run agents, whatever its environment says."""

import json
import pathlib
import unittest

from hooks_test import HookTest
from stand_in import StandIn
from tool_under_test import SOURCE, TOOL, main


@unittest.skipUnless(pathlib.Path("/proc/self/stat").exists(), "without /proc nothing is known of parents")
class Gate(HookTest):
    """A command below an agent is the agent's, whatever its environment says."""

    def setUp(self):
        super().setUp()
        self.make_memory()

    def run_below(self, client, line, status=0):
        return self.run_command(*StandIn(self.folder, client).tool(f"cd {self.project} && {line}"), status=status)

    def test_an_agent_does_not_trust_a_memory_for_the_user(self):
        clone = self.folder / "clone"
        self.run_command("cp", "-r", str(self.root.parent.parent), str(clone))
        for client in ("claude-code", "codex", "qwen", "gemini"):
            said = self.run_below(client, f"cd {clone} && env -u CLAUDECODE {TOOL} trust --yes 2>&1 >/dev/null; true")
            self.assertIn(f"E_ACCESS_DENIED: the process of {client} that started it says that an agent runs this", said)
        for line in ("bmad-mem trust --yes", "bmad-mem trust --revoke"):
            self.run_command("sh", "-c", f"cd {clone} && {line}")

    def test_a_terminal_that_it_opened_is_not_the_user_s(self):
        clone = self.folder / "clone"
        self.run_command("cp", "-r", str(self.root.parent.parent), str(clone))
        types = ("import os, pty, sys\npid, terminal = pty.fork()\nif pid == 0:\n    os.chdir(sys.argv[1])\n"
                 "    os.execvp(sys.argv[2], sys.argv[2:])\nos.write(terminal, b'y\\n')\nsaid = b''\n"
                 "try:\n    while part := os.read(terminal, 4096):\n        said += part\nexcept OSError:\n    pass\n"
                 "os.waitpid(pid, 0)\nprint(said.decode())\n")
        script = self.folder / "types.py"
        script.write_text(types, encoding="ascii")
        for options in ("", "--yes"):
            said = self.run_below("claude-code", f"env -u CLAUDECODE python3 {script} {clone} {TOOL} trust {options}; true")
            self.assertIn("E_ACCESS_DENIED: the process of claude-code that started it", said)
        said = self.run_command("python3", str(script), str(clone), str(TOOL), "trust")
        self.assertIn("trusted; ", said)

    def test_what_it_states_waits(self):
        self.run_below("claude-code", f"{TOOL} -q remember --category constraint --key k 'Push to main'")
        self.assertEqual(json.loads(self.tool("--json", "review"))["value"], "Push to main")
        self.run_command("sh", "-c", f"cd {self.project} && bmad-mem -q remember --category constraint --key l Dry")
        self.assertEqual(self.tool("--json", "review").count("\n"), 1)

    def test_the_tests_of_an_agent_that_develops_this_are_nobodys(self):
        apart = SOURCE / "tests/support/apart.py"
        self.run_below("claude-code", f"python3 -B {apart} {TOOL} -q remember --category constraint --key k Dry")
        self.assertEqual(self.tool("--json", "review"), "")
        self.run_below("claude-code", f"python3 -B {apart} sh -c 'exit 3'", status=3)

    def test_a_program_that_only_names_an_agent_is_none(self):
        self.run_command("sh", "-c", f"cd {self.project} && bmad-mem -q remember --category constraint --key k Dry; :",
                         "claude")
        script = self.folder / "script"
        script.write_text(f"#!/bin/sh\ncd {self.project} && bmad-mem -q remember --category constraint --key l Dry\n:\n")
        self.run_command("sh", str(script), "codex")
        self.assertEqual(self.tool("--json", "review"), "")


if __name__ == "__main__":
    main()
