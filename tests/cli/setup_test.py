#!/usr/bin/env python3
"""setup: which hosts it finds, what it connects, and that it tells one that records from one that does not."""

import json
import os
import pty
import subprocess

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main

# What shows that a client is here: a program of this name, or a folder in the home.
PROGRAMS = {"claude-code": "claude", "copilot": "copilot", "zed": "zed"}
FOLDERS = {
    "codex": ".codex", "gemini": ".gemini", "cursor": ".cursor", "vscode": ".config/Code/User",
    "opencode": ".config/opencode", "windsurf": ".codeium/windsurf", "qwen": ".qwen", "cline": ".cline/data/settings",
}
WITHOUT_HOOKS = {"vscode", "zed"}


class Setup(ToolTest):
    def setUp(self):
        super().setUp()
        self.home, self.project, self.bin, self.passing = (
            self.folder / name for name in ("home", "proj", "bin", "tmp"))
        for folder in (self.home, self.project, self.bin, self.passing):
            folder.mkdir()
        self.environment |= {"HOME": str(self.home), "PATH": f"{TOOL.parent}:{self.bin}:/usr/bin:/bin",
                             "TMPDIR": str(self.passing)}

    def be_here(self, *clients):
        for client in clients:
            if client in PROGRAMS:
                program = self.bin / PROGRAMS[client]
                program.write_text("#!/bin/sh\n")
                program.chmod(0o755)
            else:
                (self.home / FOLDERS[client]).mkdir(parents=True)

    def trust(self):
        config = self.home / ".copilot/config.json"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"trustedFolders": [str(self.project)]}))

    def setup(self, *arguments, status=0):
        done = subprocess.run([TOOL, "setup", *arguments], cwd=self.project, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(list(self.passing.iterdir()), [], "nothing stays of the tests")
        return done.stdout, done.stderr

    def hosts(self, *arguments, status=0):
        report = json.loads(self.setup("--json", *arguments, status=status)[0])
        return {host["client"]: host for host in report["hosts"]}, report

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for base in (self.home, self.project)
                      for path in base.rglob("*") if path.is_file() and ".bmad" not in path.parts)

    def break_gemini(self):
        path = self.project / ".gemini/settings.json"
        path.parent.mkdir()
        path.write_text("{")
        return path

    def test_every_client_records_in_a_memory_that_stays_empty(self):
        self.be_here(*PROGRAMS, *FOLDERS)
        self.trust()
        for scope in ("project", "user"):
            with self.subTest(scope):
                hosts, report = self.hosts("--yes", "--scope", scope)
                self.assertEqual(set(hosts), {*PROGRAMS, *FOLDERS})
                for client, host in hosts.items():
                    self.assertEqual((client, host["connected"], host.get("problem")), (client, True, None))
                    self.assertEqual(host["records"], client not in WITHOUT_HOOKS)
                    self.assertTrue(host["next"])
                self.assertEqual(report["recording"], 9)
                self.setup("--undo", "--scope", scope)
        listed = self.run_command(str(TOOL), "--root", str(self.project / ".bmad/memory"), "--json", "session", "list")
        self.assertEqual(listed, "")
        self.assertEqual(self.files(), ["home/.copilot/config.json"])

    def test_one_that_fails_stops_no_other_and_is_named_with_its_reason(self):
        self.be_here("claude-code", "gemini", "copilot", "zed")
        broken = self.break_gemini()
        hosts, report = self.hosts("--yes", status=1)
        self.assertEqual({name for name, host in hosts.items() if host["records"]}, {"claude-code"})
        self.assertEqual(report["recording"], 1)
        self.assertIn(f"{broken}:", hosts["gemini"]["problem"])
        self.assertFalse(hosts["gemini"]["connected"])
        self.assertIn("trustedFolders", hosts["copilot"]["problem"])
        self.assertTrue(hosts["copilot"]["connected"])
        self.assertEqual(broken.read_text(), "{")
        stdout, stderr = self.setup("--yes", status=1)
        self.assertRegex(stdout, r"(?s)ok  Claude Code +records\n!!  Gemini CLI .*ok  Zed .*\n1 of 3 record\n$")
        self.assertIn("next: Claude Code: start Claude Code", stderr)
        broken.unlink()
        self.trust()
        self.assertIn("3 of 3 record", self.setup("--yes")[0])

    def test_undo_takes_out_what_is_connected_here(self):
        self.be_here("claude-code", "gemini", "zed")
        before = self.files()
        self.setup("--yes")
        self.assertIn("disconnected Claude Code\ndisconnected Gemini CLI\ndisconnected Zed\n", self.setup("--undo")[0])
        self.assertEqual(self.files(), before)
        self.assertEqual(json.loads(self.setup("--undo", "--json")[0]), {"disconnected": []})
        self.setup("--yes")
        broken = self.project / ".gemini/settings.json"
        broken.write_text("{")
        self.assertIn(f"{broken}:", self.setup("--undo", status=1)[1])
        self.assertEqual(self.files(), ["proj/.gemini/settings.json"])

    def test_without_a_terminal_it_says_what_is_here_and_changes_nothing(self):
        self.be_here("claude-code", "codex")
        stdout, stderr = self.setup(status=2)
        self.assertEqual(stdout, f" 1  Claude Code     {self.bin}/claude\n 2  Codex           {self.home}/.codex\n")
        self.assertIn("nothing was changed; --yes connects all", stderr)
        hosts, _ = self.hosts(status=2)
        self.assertEqual([(name, host["connected"]) for name, host in hosts.items()],
                         [("claude-code", False), ("codex", False)])
        self.assertEqual(self.files(), [])
        self.assertFalse((self.project / ".bmad").exists())

    def test_on_a_terminal_it_connects_what_is_picked(self):
        self.be_here("claude-code", "codex", "gemini")
        for answer, connected in (("", set()), ("4", set()), ("2", {".codex"}), ("1, 3", {".claude", ".gemini"}),
                                  ("all", {".claude", ".codex", ".gemini"})):
            with self.subTest(answer):
                ours, its = pty.openpty()
                os.write(ours, f"{answer}\n".encode())
                done = subprocess.run([TOOL, "setup"], cwd=self.project, env=self.environment, stdin=its, stderr=its,
                                      stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
                os.close(its)
                os.close(ours)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual({path.name for path in self.project.iterdir()} - {".bmad", ".mcp.json"}, connected)
                if connected:
                    self.assertIn(f"{len(connected)} of {len(connected)} record", done.stdout)
                self.setup("--undo")

    def test_a_hook_that_does_not_record_is_found_out(self):
        self.be_here("claude-code")
        self.setup("--yes")
        (self.project / ".bmad/memory/config.json").write_text('{"memory_config": {"recording": {"enabled": false}}}')
        self.assertIn("memory_config.recording", self.hosts("--yes", status=1)[0]["claude-code"]["problem"])
        (self.project / ".bmad/memory/config.json").write_text("{}")
        self.environment["PATH"] = f"{self.bin}:/usr/bin:/bin"
        host = self.hosts("--yes", status=1)[0]["claude-code"]
        self.assertIn("there is no such program here", host["problem"])
        self.assertIn("in front in PATH", host["warnings"][0])

    def test_without_a_temporary_folder_it_connects_and_says_that_it_tried_nothing(self):
        self.be_here("claude-code")
        self.environment["TMPDIR"] = str(self.folder / "gone")
        hosts, _ = self.hosts("--yes", status=1)
        self.assertTrue(hosts["claude-code"]["connected"])
        self.assertIn("it was not tried: no temporary folder", hosts["claude-code"]["problem"])
        self.assertEqual([path.name for path in self.project.iterdir() if path.name.startswith("bmad-mem-")], [])

    def test_wrong_usage(self):
        self.assertIn("no host was found", self.setup("--yes", status=1)[1])
        self.setup("--scope", "planet", status=2)
        self.setup("--root", "elsewhere", "--yes", status=2)


if __name__ == "__main__":
    main()
