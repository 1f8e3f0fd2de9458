#!/usr/bin/env python3
"""install and uninstall: what they write for each client, and that nothing else in a file changes."""

import json
import os
import pathlib
import shlex
import stat
import subprocess
import tomllib
import unittest

from tool_under_test import TOOL, ToolTest, main

HOOKED = {
    "claude-code": ("SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStart SubagentStop "
                    "PreCompact PostCompact SessionEnd"),
    "codex": ("SessionStart UserPromptSubmit PostToolUse Stop SubagentStart SubagentStop PreCompact "
              "PostCompact SessionEnd"),
    "gemini": "SessionStart BeforeAgent AfterAgent AfterTool PreCompress SessionEnd",
    "cursor": ("sessionStart beforeSubmitPrompt postToolUse postToolUseFailure afterAgentResponse "
               "subagentStart subagentStop preCompact sessionEnd"),
}
# client, scope: the file with the hooks, the file with the server; from the project or from HOME.
PLACES = {
    ("claude-code", "project"): (".claude/settings.json", ".mcp.json"),
    ("claude-code", "user"): (".claude/settings.json", ".claude.json"),
    ("codex", "project"): (".codex/hooks.json", ".codex/config.toml"),
    ("codex", "user"): (".codex/hooks.json", ".codex/config.toml"),
    ("gemini", "project"): (".gemini/settings.json", ".gemini/settings.json"),
    ("gemini", "user"): (".gemini/settings.json", ".gemini/settings.json"),
    ("cursor", "project"): (".cursor/hooks.json", ".cursor/mcp.json"),
    ("cursor", "user"): (".cursor/hooks.json", ".cursor/mcp.json"),
    ("vscode", "project"): (None, ".vscode/mcp.json"),
    ("vscode", "user"): (None, ".config/Code/User/mcp.json"),
}
# Settings as people and programs leave them.
FOREIGN = [
    "{}",
    "{\n}\n",
    '{"permissions":{"allow":["Bash(git *)"]},"hooks":{}}',
    '{\n\t"z": 1.50,\n\t"a": [1, 2,\n3],\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type":"command","command":"say done"}]}],\n'
    '\t\t"stop": [ ]\n\t},\n\t"mcpServers": { "other": {"command": "x"} },\n\t"servers":{}\n}',
    '{\r\n    "version": 1,\r\n    "hooks": {\r\n        "SessionStart": [\r\n        ]\r\n    }\r\n}\r\n',
    '{"version":1,"mcpServers":{},"servers":{ }}  \n\n',
]


class InstallTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.project = self.folder / "proj"
        self.home.mkdir()
        self.project.mkdir()
        self.environment["HOME"] = str(self.home)

    def install(self, *arguments, status=0, folder=None, command="install"):
        """(stdout, stderr) of the command, run in the project."""
        done = subprocess.run([TOOL, *command.split(), *arguments], cwd=folder or self.project, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def uninstall(self, *arguments, **options):
        return self.install(*arguments, command="uninstall", **options)

    def base(self, scope):
        return self.project if scope == "project" else self.home

    def snapshot(self):
        """Every file below the two folders but for the memory's, with its bytes and mode."""
        return {
            path: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            for base in (self.home, self.project)
            for path in base.rglob("*")
            if path.is_file() and ".bmad" not in path.parts
        }


class EveryClient(InstallTest):
    def test_it_comes_and_goes_without_a_trace_in_a_project_that_has_no_settings(self):
        for client, scope in PLACES:
            with self.subTest(client=client, scope=scope):
                before = self.snapshot()
                self.install(client, "--scope", scope)
                self.assertNotEqual(self.snapshot(), before)
                self.uninstall(client, "--scope", scope)
                self.assertEqual(self.snapshot(), before)

    def test_it_comes_and_goes_without_a_trace_in_settings_of_others(self):
        for (client, scope), names in PLACES.items():
            for foreign in FOREIGN:
                with self.subTest(client=client, scope=scope, foreign=foreign):
                    for name in filter(None, names):
                        path = self.base(scope) / name
                        path.parent.mkdir(parents=True, exist_ok=True)
                        is_toml = name.endswith(".toml")
                        path.write_bytes(b"model = 'x' # mine\n\n[mcp_servers.o]\ncommand = 'y'" if is_toml
                                         else foreign.encode())
                        path.chmod(0o640)
                    before = self.snapshot()
                    self.install(client, "--scope", scope)
                    installed = self.snapshot()
                    self.assertNotEqual(installed, before)
                    self.assertEqual({mode for _, mode in installed.values()}, {0o640})
                    self.install(client, "--scope", scope)
                    self.assertEqual(self.snapshot(), installed, "a second time changes nothing")
                    self.check_foreign(foreign, names, scope)
                    self.uninstall(client, "--scope", scope)
                    self.assertEqual(self.snapshot(), before)
                    for name in filter(None, names):
                        (self.base(scope) / name).unlink(missing_ok=True)

    def check_foreign(self, foreign, names, scope):
        """Whatever was there is there still, in the same order."""
        for name in filter(None, names):
            if name.endswith(".json"):
                now = json.loads((self.base(scope) / name).read_text())
                was = json.loads(foreign)
                self.assertEqual([key for key in now if key in was], list(was))
                for key, value in was.items():
                    if key not in ("hooks", "mcpServers", "servers"):
                        self.assertEqual(now[key], value)
                for event, groups in was.get("hooks", {}).items():
                    self.assertEqual(now["hooks"][event][: len(groups)], groups)

    def test_what_is_written_is_what_the_clients_read(self):
        for (client, scope), (hooks, server) in PLACES.items():
            with self.subTest(client=client, scope=scope):
                self.install(client, "--scope", scope)
                if hooks:
                    settings = json.loads((self.base(scope) / hooks).read_text())
                    self.assertEqual(list(settings["hooks"]), HOOKED[client].split())
                    for groups in settings["hooks"].values():
                        (group,) = groups
                        handler = group if client == "cursor" else group["hooks"][0]
                        self.assertEqual(handler["command"], f"bmad-mem hook {client}")
                        self.assertGreater(handler["timeout"], 999 if client == "gemini" else 2)
                        self.assertEqual(handler.get("type"), None if client == "cursor" else "command")
                text = (self.base(scope) / server).read_text()
                if client == "codex":
                    entry = tomllib.loads(text)["mcp_servers"]["bmad-mem"]
                else:
                    entry = json.loads(text)["servers" if client == "vscode" else "mcpServers"]["bmad-mem"]
                self.assertEqual((entry["command"], entry["args"]), ("bmad-mem", ["mcp"]))

    def test_a_dry_run_shows_everything_and_writes_nothing(self):
        for client, scope in PLACES:
            stdout, _ = self.install(client, "--scope", scope, "--dry-run")
            self.assertIn("+++ ", stdout)
            self.assertIn('bmad-mem', stdout)
            self.assertIn("would write ", stdout)
        self.assertEqual(list(self.home.iterdir()) + list(self.project.iterdir()), [])

    def test_the_diff_is_one_that_patch_applies(self):
        path = self.project / ".mcp.json"
        path.write_text('{\n  "mcpServers": {\n    "a": {"command": "b"}\n  }\n}\n')
        stdout, _ = self.install("claude-code", "--dry-run")
        diff = stdout[stdout.index(f"--- {path}"):stdout.index("would create")]
        self.install("claude-code")
        wanted = path.read_text()
        path.write_text('{\n  "mcpServers": {\n    "a": {"command": "b"}\n  }\n}\n')
        try:
            subprocess.run(["patch", "-p0", "-d", "/"], input=diff, text=True, check=True, capture_output=True)
        except FileNotFoundError:
            self.skipTest("there is no patch(1)")
        self.assertEqual(path.read_text(), wanted)


class Installed(InstallTest):
    def test_the_hook_that_was_installed_records(self):
        self.install("claude-code")
        settings = json.loads((self.project / ".claude/settings.json").read_text())
        command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
        event = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": "UserPromptSubmit", "prompt": "Boats"}
        subprocess.run(["sh", "-c", command], input=json.dumps(event), text=True, env=self.environment, check=True)
        log = self.project / ".bmad/memory/sessions/cc-s1/conversation.jsonl"
        self.assertIn('"Boats"', log.read_text())

    def test_a_project_gets_a_memory_and_the_user_does_not(self):
        self.install("claude-code", "--scope", "user")
        self.assertFalse((self.project / ".bmad").exists())
        self.install("claude-code")
        self.assertTrue((self.project / ".bmad/memory/config.json").exists())

    def test_deep_in_a_project_its_settings_are_meant(self):
        self.install("claude-code")
        deep = self.project / "a/b"
        deep.mkdir(parents=True)
        stdout, _ = self.install("claude-code", folder=deep)
        self.assertIn("stays as it is", stdout)
        self.assertEqual(list(deep.iterdir()), [])

    def test_a_program_that_path_does_not_find_is_named_by_its_path(self):
        elsewhere = self.folder / "it's here"
        elsewhere.mkdir()
        for search in ("/usr/bin:/bin", f"{elsewhere}:/usr/bin:/bin"):
            self.environment["PATH"] = search
            self.install("claude-code")
            settings = json.loads((self.project / ".claude/settings.json").read_text())
            command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
            self.assertEqual(shlex.split(command), [str(TOOL), "hook", "claude-code"])
            server = json.loads((self.project / ".mcp.json").read_text())["mcpServers"]["bmad-mem"]
            self.assertEqual(server["command"], str(TOOL))
            other = elsewhere / "bmad-mem"  # In front of ours in the second round.
            other.write_text("#!/bin/sh\n")
            other.chmod(0o755)

    def test_another_path_of_the_program_takes_the_place_of_the_old_one(self):
        self.install("claude-code")
        before = self.snapshot()
        self.environment["PATH"] = "/usr/bin:/bin"
        self.install("claude-code")
        text = (self.project / ".claude/settings.json").read_text()
        self.assertEqual(text.count("hook claude-code"), len(HOOKED["claude-code"].split()))
        self.environment["PATH"] = f"{TOOL.parent}:/usr/bin:/bin"
        self.install("claude-code")
        self.assertEqual(self.snapshot(), before)

    def test_a_memory_that_is_named_goes_into_the_command(self):
        elsewhere = self.folder / "the memory"
        self.install("claude-code", "--root", str(elsewhere))
        self.assertTrue((elsewhere / "config.json").exists())
        settings = json.loads((self.project / ".claude/settings.json").read_text())
        command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
        self.assertEqual(shlex.split(command), ["bmad-mem", "hook", "claude-code", "--root", str(elsewhere)])
        self.uninstall("claude-code")
        self.assertEqual(self.snapshot(), {})

    def test_what_others_put_beside_ours_stays(self):
        self.install("claude-code")
        path = self.project / ".claude/settings.json"
        settings = json.loads(path.read_text())
        settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
        settings["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "my-bmad-mem hook claude-code"}]})
        settings["hooks"]["PostToolUse"][0]["hooks"][0] = {
            "type": "command", "command": "/opt/bmad-mem", "args": ["hook", "claude-code"]}
        path.write_text(json.dumps(settings, indent=4))
        self.uninstall("claude-code")
        self.assertEqual(json.loads(path.read_text()), {"hooks": {"Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]},
            {"hooks": [{"type": "command", "command": "my-bmad-mem hook claude-code"}]},
        ]}})

    def test_what_the_user_added_to_our_server_stays(self):
        self.install("cursor")
        path = self.project / ".cursor/mcp.json"
        settings = json.loads(path.read_text())
        settings["mcpServers"]["bmad-mem"]["env"] = {"LANG": "de"}
        settings["mcpServers"]["bmad-mem"]["command"] = "/old/bmad-mem"
        path.write_text(json.dumps(settings))
        self.install("cursor")
        server = json.loads(path.read_text())["mcpServers"]["bmad-mem"]
        self.assertEqual(server, {"command": "bmad-mem", "args": ["mcp"], "env": {"LANG": "de"}})

    def test_folders_that_the_environment_names_are_used(self):
        self.environment["CLAUDE_CONFIG_DIR"] = str(self.folder / "claude")
        self.environment["CODEX_HOME"] = str(self.folder / "codex")
        self.install("claude-code", "--scope", "user")
        self.install("codex", "--scope", "user")
        names = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(names, {"claude/settings.json", "claude/.claude.json", "codex/hooks.json", "codex/config.toml"})

    def test_it_says_what_is_left_to_do(self):
        for client, word in (("claude-code", "approve"), ("codex", "trust the new hooks"), ("gemini", "restart"),
                             ("cursor", "switch"), ("vscode", "trust")):
            self.assertIn(word, self.install(client)[1])

    def test_json_tells_the_same(self):
        report = json.loads(self.install("claude-code", "--json")[0])
        self.assertEqual([file["action"] for file in report["files"]], ["created", "created"])
        self.assertTrue(report["makes_memory"])
        self.assertIn("+{", report["files"][0]["diff"])
        again = json.loads(self.install("claude-code", "--json")[0])
        self.assertEqual([file["action"] for file in again["files"]], ["unchanged", "unchanged"])
        gone = json.loads(self.uninstall("claude-code", "--json")[0])
        self.assertEqual([file["action"] for file in gone["files"]], ["removed", "removed"])


class Refused(InstallTest):
    def put(self, text, name=".claude/settings.json"):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def refuse(self, client="claude-code", code="E_INVALID_FORMAT"):
        """What it says; nothing is written, not even the good files."""
        before = self.snapshot()
        stdout, stderr = self.install(client, status=1)
        self.assertIn(code, stderr)
        self.assertEqual(self.snapshot(), before)
        self.assertFalse((self.project / ".bmad").exists())
        return stdout, stderr

    def test_comments_are_left_alone_and_what_to_paste_is_printed(self):
        path = self.put('{\n  // my settings\n  "a": 1\n}\n')
        stdout, stderr = self.refuse()
        self.assertIn(f"{path}:2", stderr)
        self.assertIn("by hand", stderr)
        self.assertEqual(list(json.loads(stdout)["hooks"]), HOOKED["claude-code"].split())

    def test_damage_is_left_alone(self):
        for text in ("", "{", '{"hooks":[]}', '{"hooks":{"Stop":{}}}', "[1]", '{"a":1}}', "\ufeff{}"):
            with self.subTest(text):
                self.put(text)
                self.refuse()
        self.put("{}")
        self.put('{"mcpServers":[]}', ".mcp.json")
        self.refuse()

    def test_damaged_toml_is_left_alone(self):
        path = self.put("a = 1\nb =\n", ".codex/config.toml")
        stdout, stderr = self.refuse("codex")
        self.assertIn(f"{path}:2", stderr)
        self.assertIn("bmad-mem", tomllib.loads(stdout)["mcp_servers"])

    def test_a_server_of_our_name_that_is_not_ours_is_left_alone(self):
        text = '{"mcpServers":{"bmad-mem":{"command":"their-memory","args":[]}}}'
        path = self.put(text, ".mcp.json")
        self.refuse(code="E_CONCURRENT_MOD")
        self.uninstall("claude-code")
        self.assertEqual(path.read_text(), text)

    def test_a_link_out_of_the_project_is_not_followed(self):
        victim = self.home / "settings.json"
        victim.write_text("{}")
        (self.project / ".claude").mkdir()
        (self.project / ".claude/settings.json").symlink_to(victim)
        self.refuse(code="E_ACCESS_DENIED")
        (self.project / ".claude/settings.json").unlink()
        (self.project / ".claude").rmdir()
        (self.project / ".claude").symlink_to(self.home)
        self.refuse(code="E_ACCESS_DENIED")

    def test_a_link_of_the_user_is_followed_and_stays(self):
        dotfiles = self.folder / "dotfiles"
        dotfiles.mkdir()
        (dotfiles / "claude.json").write_text('{"a":1}')
        (self.home / ".claude").mkdir()
        link = self.home / ".claude/settings.json"
        link.symlink_to("../../dotfiles/claude.json")
        self.install("claude-code", "--scope", "user")
        self.assertTrue(link.is_symlink())
        self.assertIn("hooks", json.loads((dotfiles / "claude.json").read_text()))
        self.uninstall("claude-code", "--scope", "user")
        self.assertEqual((dotfiles / "claude.json").read_text(), '{"a":1}')

    def test_links_to_nowhere_folders_and_pipes_are_refused(self):
        path = self.put("{}")
        for make in (lambda: path.symlink_to("nowhere"), path.mkdir, lambda: os.mkfifo(path)):
            path.rmdir() if path.is_dir() else path.unlink()
            make()
            self.install("claude-code", status=1)

    def test_wrong_usage(self):
        self.install("emacs", status=2)
        self.install("codex", "--scope", "planet", status=2)
        del self.environment["HOME"]
        self.install("codex", "--scope", "user", status=1)


if __name__ == "__main__":
    main()
