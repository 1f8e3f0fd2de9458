#!/usr/bin/env python3
"""install and uninstall: what they write for each client, and that nothing else in a file changes."""

import json
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import tomllib
import unittest

from tool_under_test import SOURCE, TOOL, ToolTest, main

# What each client is asked to tell.
HOOKED = {
    "claude-code": ("SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStart SubagentStop "
                    "PreCompact PostCompact SessionEnd"),
    "codex": ("SessionStart UserPromptSubmit PostToolUse Stop SubagentStart SubagentStop PreCompact "
              "PostCompact SessionEnd"),
    "gemini": "SessionStart BeforeAgent AfterAgent AfterTool SessionEnd",
    "cursor": ("sessionStart beforeSubmitPrompt postToolUse postToolUseFailure afterAgentResponse "
               "subagentStart subagentStop sessionEnd"),
    "copilot": "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure SubagentStop SessionEnd",
    "windsurf": ("pre_user_prompt post_read_code post_write_code post_run_command post_mcp_tool_use "
                 "post_cascade_response"),
    "qwen": ("SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStart SubagentStop "
             "PreCompact PostCompact SessionEnd"),
    "cline": "TaskStart TaskResume UserPromptSubmit PostToolUse TaskCancel TaskComplete",
}
# How a hook is written: the keys beside the command's, which comes first.
HOOK_KEYS = {
    "claude-code": ("command", "type timeout"),
    "codex": ("command", "type timeout"),
    "gemini": ("command", "name type timeout"),
    "cursor": ("command", "timeout"),
    "copilot": ("bash", "type timeout"),
    "windsurf": ("command", ""),
    "qwen": ("command", "name type timeout"),
}
FLAT = ("cursor", "copilot", "windsurf")
# client, scope: the file with the hooks, the files with the server; from the project or from HOME.
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
    ("copilot", "project"): (".github/hooks/bmad-mem.json", ".github/mcp.json"),
    ("copilot", "user"): (".copilot/hooks/bmad-mem.json", ".copilot/mcp-config.json"),
    ("opencode", "project"): (None, "opencode.json"),
    ("opencode", "user"): (None, ".config/opencode/opencode.json"),
    ("windsurf", "project"): (".windsurf/hooks.json",),
    ("windsurf", "user"): (".codeium/windsurf/hooks.json", ".codeium/windsurf/mcp_config.json"),
    ("zed", "project"): (None, ".zed/settings.json"),
    ("zed", "user"): (None, ".config/zed/settings.json"),
    ("qwen", "project"): (".qwen/settings.json", ".qwen/settings.json"),
    ("qwen", "user"): (".qwen/settings.json", ".qwen/settings.json"),
    ("cline", "project"): (None,),
    ("cline", "user"): (None, ".cline/data/settings/cline_mcp_settings.json", ".config/Code/User/globalStorage/"
                        "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
}
# Files that are ours as a whole.
OWN = {
    ("cursor", "project"): [".cursor/rules/bmad-mem.mdc"],
    ("windsurf", "project"): [".windsurf/rules/bmad-mem.md"],
    ("opencode", "project"): [".opencode/plugins/bmad-mem.js"],
    ("opencode", "user"): [".config/opencode/plugins/bmad-mem.js"],
    ("cline", "project"): [f".clinerules/hooks/{event}" for event in HOOKED["cline"].split()],
    ("cline", "user"): [f"Documents/Cline/Hooks/{event}" for event in HOOKED["cline"].split()],
}
SERVERS_KEY = {"vscode": "servers", "zed": "context_servers", "opencode": "mcp"}
SERVERS = {
    "claude-code": {"type": "stdio", "command": "bmad-mem", "args": ["mcp"]},
    "vscode": {"type": "stdio", "command": "bmad-mem", "args": ["mcp"]},
    "copilot": {"type": "local", "command": "bmad-mem", "args": ["mcp"], "tools": ["*"]},
    "opencode": {"type": "local", "command": ["bmad-mem", "mcp"], "enabled": True},
}
MISSING = "bmad-mem: there is no such program here, so nothing is recorded"
SAYS_ONCE = f"""exec sh -c 'mkdir "${{TMPDIR:-/tmp}}/bmad-mem-missing-$(id -u)" 2>/dev/null && m="{MISSING}" && echo "$m" >&2 && \
echo "{{\\"systemMessage\\":\\"$m\\"}}"; exit 0'; """
GUARD = f"command -v bmad-mem >/dev/null 2>&1 || {SAYS_ONCE}"
# Settings as people and programs leave them.
FOREIGN = [
    "{}",
    "{\n}\n",
    '{"permissions":{"allow":["Bash(git *)"]},"hooks":{}}',
    '{\n\t"z": 1.50,\n\t"a": [1, 2,\n3],\n\t"hooks": {\n\t\t"Stop": [{"hooks": [{"type":"command","command":"say done"}]}],\n'
    '\t\t"stop": [ ]\n\t},\n\t"mcpServers": { "other": {"command": "x"} },\n\t"servers":{}\n}',
    '{\r\n    "version": 1,\r\n    "hooks": {\r\n        "SessionStart": [\r\n        ]\r\n    }\r\n}\r\n',
    '{"version":1,"mcpServers":{},"servers":{ }}  \n\n',
    # Comments, last commas, a byte order mark, nothing.
    '// mine\n{\n  // about a\n  "a": 1, /* b */\n  "url": "http://x//y", // c\n  "hooks": { // none yet\n  },\n'
    '  "mcpServers": {\n    "other": {"command": "x"}, // last\n  }, "mcp": {}, "context_servers": {/* none */},\n}\n// end',
    '{\n  "a": [1, 2,], // about a\n  "hooks": {"Stop": [ // one\n    {"hooks": [{"type": "command", "command": "x"}]}\n'
    '    // {"hooks": []}\n  ]}\n  /* "b": 2 */\n}\n',
    '\ufeff{\r\n  "a": 1\r\n}\r\n',
    "",
    " \n\n",
    "\ufeff",
    "// nothing yet\n",
]


def loads(text):
    """What is in a file of JSON with comments."""
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "",
                  text.removeprefix("\ufeff"), flags=re.DOTALL)
    text = re.sub(r'("(?:\\.|[^"\\])*")|,(\s*[}\]])', lambda found: found[1] or found[2], text)
    return json.loads(text) if text.strip() else {}


class InstallTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.project = self.folder / "proj"
        for folder in (self.home / ".config", self.home / "Documents", self.project):
            folder.mkdir(parents=True)  # What a home has; nobody would know who made them.
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
        """Every folder, and every file with its bytes and mode, below the two but for the memory's."""
        return {
            path: (path.read_bytes() if path.is_file() else None, stat.S_IMODE(path.stat().st_mode))
            for base in (self.home, self.project)
            for path in base.rglob("*")
            if ".bmad" not in path.parts
        }

    def shared(self, client, scope):
        """The files of others that the client reads."""
        return sorted({self.base(scope) / name for name in filter(None, PLACES[client, scope])})

    def command(self, client="claude-code", event="Stop", scope="project"):
        """The line that the client runs at the event, without its guard."""
        path = self.base(scope) / PLACES[client, scope][0]
        (group,) = json.loads(path.read_text())["hooks"][event]
        handler = group if client in FLAT else group["hooks"][0]
        return handler[HOOK_KEYS[client][0]].partition("exit 0'; ")[2]


class EveryClient(InstallTest):
    def test_it_comes_and_goes_without_a_trace_in_a_project_that_has_no_settings(self):
        for client, scope in PLACES:
            with self.subTest(client=client, scope=scope):
                before = self.snapshot()
                self.install(client, "--scope", scope)
                installed = self.snapshot()
                made = {path for path in installed if path.is_file()}
                self.assertEqual(made, {*self.shared(client, scope),
                                        *(self.base(scope) / name for name in OWN.get((client, scope), []))})
                self.install(client, "--scope", scope)
                self.assertEqual(self.snapshot(), installed, "a second time changes nothing")
                self.uninstall(client, "--scope", scope)
                self.assertEqual(self.snapshot(), before)

    def test_it_comes_and_goes_without_a_trace_in_settings_of_others(self):
        for client, scope in PLACES:
            for foreign in FOREIGN:
                with self.subTest(client=client, scope=scope, foreign=foreign):
                    paths = self.shared(client, scope)
                    for path in paths:
                        path.parent.mkdir(parents=True, exist_ok=True)
                        is_toml = path.suffix == ".toml"
                        path.write_bytes(b"model = 'x' # mine\n\n[mcp_servers.o]\ncommand = 'y'" if is_toml
                                         else foreign.encode())
                        path.chmod(0o640)
                    before = self.snapshot()
                    self.install(client, "--scope", scope)
                    installed = self.snapshot()
                    self.assertNotEqual(installed, before)
                    self.assertEqual({installed[path][1] for path in paths}, {0o640} if paths else set())
                    self.install(client, "--scope", scope)
                    self.assertEqual(self.snapshot(), installed, "a second time changes nothing")
                    self.check_foreign(foreign, paths)
                    self.uninstall(client, "--scope", scope)
                    self.assertEqual(self.snapshot(), before)
                    for path in paths:
                        path.unlink(missing_ok=True)
                if not paths:
                    break

    def check_foreign(self, foreign, paths):
        """Whatever was there is there still, in the same order, comments too."""
        for path in paths:
            if path.suffix != ".toml":
                now, was = loads(path.read_text("utf-8-sig")), loads(foreign)
                self.assertEqual([key for key in now if key in was], list(was))
                for key, value in was.items():
                    if key == "hooks":
                        for event, groups in value.items():
                            self.assertEqual(now["hooks"][event][: len(groups)], groups)
                    elif isinstance(value, dict):
                        self.assertEqual({name: now[key][name] for name in value}, value)
                    else:
                        self.assertEqual(now[key], value)
                for comment in re.findall(r"// [a-z ]+|/\*.*?\*/", foreign):
                    self.assertIn(comment, path.read_text("utf-8"))

    def test_what_is_written_is_what_the_clients_read(self):
        for client, scope in PLACES:
            with self.subTest(client=client, scope=scope):
                self.install(client, "--scope", scope)
                hooks, *servers = PLACES[client, scope]
                if hooks:
                    self.check_hooks(client, json.loads((self.base(scope) / hooks).read_text()))
                for server in servers:
                    text = (self.base(scope) / server).read_text()
                    all_servers = (tomllib.loads(text)["mcp_servers"] if client == "codex"
                                   else json.loads(text)[SERVERS_KEY.get(client, "mcpServers")])
                    self.assertEqual(all_servers["bmad-mem"],
                                     SERVERS.get(client, {"command": "bmad-mem", "args": ["mcp"]}))

    def check_hooks(self, client, settings):
        self.assertEqual(list(settings["hooks"]), HOOKED[client].split())
        self.assertEqual(settings.get("version"), 1 if client in ("cursor", "copilot") else None)
        key, others = HOOK_KEYS[client]
        for event, groups in settings["hooks"].items():
            (group,) = groups
            handler = group if client in FLAT else group["hooks"][0]
            self.assertEqual(handler[key], f"{GUARD}bmad-mem hook {client}")
            runs_behind = client in ("claude-code", "qwen") and event.startswith("PostTool")
            self.assertEqual(set(handler), {key, *others.split(), *(["async"] if runs_behind else [])})
            self.assertGreater(handler.get("timeout", 9999), 999 if client in ("gemini", "qwen") else 2)
            self.assertEqual(handler.get("type", "command"), "command")

    def test_the_clients_of_the_table_are_those_that_are_offered(self):
        named = re.findall(r"; there are (.*)", self.install("emacs", status=2)[1])[0].split(", ")
        self.assertEqual(sorted(named), sorted({client for client, _ in PLACES}))
        offered = self.install(command="help install")[0]
        for client in named:
            self.assertIn(client, offered)
        done = subprocess.run([TOOL, "hook", "emacs"], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        hooked = re.findall(r"; there are (.*)", done.stderr)[0].split(", ")
        self.assertEqual(sorted(hooked), sorted([*HOOKED, "opencode"]))
        offered = self.install(command="help hook")[0]
        for client in hooked:
            self.assertIn(client, offered)

    def test_a_client_that_takes_no_briefing_has_rules_that_say_how_to_ask(self):
        for client, name, head in (("cursor", ".cursor/rules/bmad-mem.mdc", "alwaysApply: true"),
                                   ("devin", ".windsurf/rules/bmad-mem.md", "trigger: always_on")):
            self.install(client)
            text = (self.project / name).read_text()
            self.assertRegex(text, f"^---\n(.*\n)?{head}\n---\n")
            for tool in re.findall("`(memory_[a-z]+)`", text):
                self.assertIn(f'"{tool}"', (SOURCE / "lib/operations/table/knowledge.toml").read_text() +
                              (SOURCE / "lib/operations/table/reading.toml").read_text())
            self.install(client, command="uninstall")
            self.assertFalse((self.project / name).exists())

    def test_each_client_says_which_version_was_tried_and_where(self):
        for client in {client for client, _ in PLACES}:
            with self.subTest(client):
                facts = tomllib.loads((SOURCE / f"tools/bmad-mem/clients/{client}/client.toml").read_text())
                self.assertRegex(facts["tried"], r"^\d")
                self.assertIn(facts["how"], ("shipped program", "real file", "documents"))
                self.assertIn(f"\n| {facts['title']} | {facts['tried']} | {facts['how']} |", (SOURCE / "docs/agents.md").read_text())

    @unittest.skipUnless(shutil.which("cmake"), "there is no cmake")
    def test_a_word_that_no_client_has_ends_the_build(self):
        def build(**more):
            (self.folder / "boat.json").write_text(json.dumps({"title": "Boat", **more}))
            return subprocess.run(["cmake", "-DNAMES=boat", f"-DFOLDER={self.folder}", f"-DOUTPUT={self.folder}/boat.cpp", "-P",
                                   SOURCE / "cmake/embed_clients.cmake"], capture_output=True, text=True, check=False)
        self.assertEqual(build(events=[{"name": "Moor", "kind": "session_end"}]).returncode, 0)
        self.assertIn('kind = HookEventKind::kSessionEnd}', (self.folder / "boat.cpp").read_text())
        for wrong in ({"colour": "red"}, {"events": [{"name": "Moor", "color": "red"}]}, {"hook": {"colour": True}}):
            with self.subTest(wrong):
                self.assertRegex(build(**wrong).stderr, "boat: [A-Za-z]+ has\\s+no\\s+'colo")

    def test_who_has_no_program_is_told_once_and_sees_no_error(self):
        for client in sorted(HOOKED):
            with self.subTest(client):
                self.install(client)
                marks = self.folder / f"tmp of {client}"
                marks.mkdir()
                told = [(json.dumps({"systemMessage": MISSING}, separators=(",", ":")) + "\n", MISSING + "\n")]
                if client == "cline":
                    path = self.project / ".clinerules/hooks/PostToolUse"
                    self.assertTrue(os.access(path, os.X_OK))
                    commands = [str(path)] * 2
                else:
                    commands = [f"{GUARD}{self.command(client, event)}" for event in HOOKED[client].split()]
                for command in commands:
                    done = subprocess.run(["sh", "-c", command], input="{}", text=True, capture_output=True,
                                          env={"PATH": "/usr/bin:/bin", "TMPDIR": str(marks)}, check=False)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, *(told.pop() if told else ("", ""))))

    def test_a_dry_run_shows_everything_and_writes_nothing(self):
        for client, scope in PLACES:
            stdout, _ = self.install(client, "--scope", scope, "--dry-run")
            self.assertIn("+++ ", stdout)
            self.assertIn('bmad-mem', stdout)
            self.assertIn("would write ", stdout)
        self.assertEqual([path for path in self.snapshot() if path.is_file()], [])
        self.assertEqual(list(self.project.iterdir()), [])

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
        command = GUARD + self.command(event="UserPromptSubmit")
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

    def test_another_path_of_the_program_takes_the_place_of_the_old_one(self):
        self.install("claude-code", "--scope", "user")
        before = self.snapshot()
        self.environment["PATH"] = "/usr/bin:/bin"
        self.install("claude-code", "--scope", "user")
        text = (self.home / ".claude/settings.json").read_text()
        self.assertEqual(text.count("hook claude-code"), len(HOOKED["claude-code"].split()))
        self.environment["PATH"] = f"{TOOL.parent}:/usr/bin:/bin"
        self.install("claude-code", "--scope", "user")
        self.assertEqual(self.snapshot(), before)

    def test_a_memory_that_is_named_goes_into_the_command(self):
        elsewhere = self.folder / "the memory"
        self.install("claude-code", "--root", str(elsewhere))
        self.assertTrue((elsewhere / "config.json").exists())
        self.assertEqual(shlex.split(self.command()), ["bmad-mem", "hook", "claude-code", "--root", str(elsewhere)])
        self.uninstall("claude-code")
        self.assertEqual(list(self.project.iterdir()), [])
        self.install("opencode", "--root", str(elsewhere))
        server = json.loads((self.project / "opencode.json").read_text())["mcp"]["bmad-mem"]
        self.assertEqual(server["command"], ["bmad-mem", "mcp", "--root", str(elsewhere)])

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

    def test_hooks_of_earlier_versions_are_replaced_and_removed(self):
        path = self.project / ".gemini/settings.json"
        path.parent.mkdir()
        old = {"hooks": {event: [{"hooks": [{"name": "bmad-mem", "type": "command",
                                            "command": "bmad-mem hook gemini", "timeout": 10000}]}]
                         for event in ("SessionStart", "PreCompress", "SessionEnd")}}
        for command in ("install", "uninstall"):
            path.write_text(json.dumps(old, indent=2) + "\n")
            self.install("gemini", command=command)
            if command == "install":
                self.check_hooks("gemini", json.loads(path.read_text()))
        self.assertFalse(path.exists())

    check_hooks = EveryClient.check_hooks

    def test_a_settings_file_with_the_other_ending_is_used(self):
        path = self.project / "opencode.jsonc"
        text = '{\n  // models\n  "$schema": "https://opencode.ai/config.json",\n}\n'
        path.write_text(text)
        self.install("opencode")
        self.assertFalse((self.project / "opencode.json").exists())
        self.assertEqual(loads(path.read_text())["mcp"]["bmad-mem"], SERVERS["opencode"])
        self.uninstall("opencode")
        self.assertEqual(path.read_text(), text)

    def test_files_of_ours_follow_the_program_and_stay_switched_off(self):
        self.install("cline")
        path = self.project / ".clinerules/hooks/TaskStart"
        path.chmod(0o644)  # As Cline switches a hook off.
        path.write_text(path.read_text().replace("bmad-mem hook", "/old/bmad-mem hook"))
        self.install("cline")
        self.assertNotIn("/old/", path.read_text())
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o644)

    def test_the_folders_of_others_stay(self):
        self.install("cline", "--scope", "user")
        self.install("zed")
        kept = self.project / ".zed/tasks.json"
        kept.write_text("[]")
        self.uninstall("zed")
        self.assertEqual(kept.read_text(), "[]")
        self.uninstall("cline", "--scope", "user")
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), [".config", "Documents"])

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
                             ("cursor", "switch"), ("vscode", "trust"), ("copilot", "/mcp"), ("opencode", "plugin"),
                             ("windsurf", "--scope user"), ("zed", "trust"), ("qwen", "/mcp"), ("cline", "Hooks")):
            self.assertIn(word, self.install(client)[1])

    def test_the_clients_own_gate_is_the_next_step_as_long_as_it_is_closed(self):
        def is_named(*arguments):
            done = subprocess.run([TOOL, "doctor"], cwd=self.project, env=self.environment, text=True,
                                  capture_output=True, check=False)
            steps = self.install("copilot", *arguments)[1]
            for text in (steps, done.stdout):
                self.assertEqual("trustedFolders" in text, "trustedFolders" in steps, text)
            self.assertEqual("copilot is connected; no event yet, since it does not trust" in done.stdout.lower(),
                             "trustedFolders" in steps, done.stdout)
            return "start copilot once in this folder" in steps

        self.install("copilot")
        config = self.home / ".copilot/config.json"
        self.assertTrue(is_named(), "it has never been started")
        config.parent.mkdir()
        for folders, is_open in (([], False), ([f"{self.project}2"], False), ([str(self.project / "a")], False),
                                 (["/elsewhere", str(self.project)], True), ([str(self.folder)], True)):
            config.write_text(f'// This file is managed automatically.\n{{"trustedFolders": {json.dumps(folders)}}}\n')
            self.assertEqual(is_named(), not is_open, folders)
        self.uninstall("copilot")
        config.write_text("{}")
        self.install("copilot", "--scope", "user")
        self.assertFalse(is_named("--scope", "user"), "what the user has is not asked about")

    def test_it_says_in_a_line_what_each_file_got_and_last_what_is_next(self):
        done = subprocess.run([TOOL, "install", "claude-code"], cwd=self.project, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        first, *wrote, ask, look = done.stdout.splitlines()
        self.assertRegex(first, "created memory .*/proj/.bmad/memory$")
        self.assertRegex("\n".join(wrote), r"^wrote .*/settings.json \(\+\d+ lines\)\nwrote .*/.mcp.json \(\+9 lines\)$")
        self.assertRegex(ask, "next: start Claude Code")
        self.assertRegex(look, "next: /hooks")

    def test_json_tells_the_same(self):
        report = json.loads(self.install("claude-code", "--json")[0])
        self.assertEqual([file["action"] for file in report["files"]], ["created", "created"])
        self.assertTrue(report["makes_memory"])
        self.assertIn("+{", report["files"][0]["diff"])
        again = json.loads(self.install("claude-code", "--json")[0])
        self.assertEqual([file["action"] for file in again["files"]], ["unchanged", "unchanged"])
        gone = json.loads(self.uninstall("claude-code", "--json")[0])
        self.assertEqual([file["action"] for file in gone["files"]], ["removed", "removed"])


class Tried(InstallTest):
    """Clients change each week: `doctor` says when one is newer than what was tried, and tries it."""

    def doctor(self, *arguments, status=0):
        done = subprocess.run([TOOL, "--json", "doctor", *arguments], cwd=self.project, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        checks = [json.loads(line) for line in done.stdout.splitlines()]
        return [check["text"] for check in checks if check["check"] in ("qwen", "zed", "codex")] or done.stderr

    def be_here(self, program, version):
        path = self.folder / "bin" / program
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{version}\n")
        path.chmod(0o755)
        self.environment["PATH"] = f"{path.parent}:{self.environment['PATH']}"

    def test_a_newer_one_is_named(self):
        self.install("qwen")
        for version, is_newer in (("echo 0.24.4", False), ("echo qwen-code 0.25.0", True), ("echo 1", True), ("echo 0.24.4.1", False),
                                  ("echo what", False), ("sleep 60", False), ("exit 1", False)):
            with self.subTest(version):
                self.be_here("qwen", version)
                named = [line for line in self.doctor(status=1) if "newer" in line]
                number = {"echo 1": "1.0.0"}.get(version, "0.25.0")
                self.assertEqual(named, [f"Qwen Code {number} is newer than what was tried (0.24.4): run `bmad-mem doctor --client "
                                         "qwen`"] * is_newer)

    def test_one_that_is_not_connected_is_not_started(self):
        self.run_command(str(TOOL), "-q", "--root", str(self.project / ".bmad/memory"), "init")
        self.be_here("qwen", f"touch {self.folder}/started; echo 9.9.9")
        self.doctor(status=1)
        self.assertFalse((self.folder / "started").exists())

    def test_a_client_is_tried_as_its_settings_say(self):
        self.install("qwen")
        self.assertEqual(self.doctor("--client", "qwen"),
                         ["Qwen Code: its hook recorded a prompt; tried before: 0.24.4 (shipped program)"])
        settings = self.project / ".qwen/settings.json"
        settings.write_text(settings.read_text().replace("bmad-mem hook qwen", "bmad-mem hook qwen --root /nowhere"))
        self.assertIn("did not record", self.doctor("--client", "qwen", status=1)[0])
        self.assertEqual(self.doctor("--client", "zed", status=1), ["Zed is not connected"])
        self.assertIn("there is no client 'emacs'", self.doctor("--client", "emacs", status=2))
        self.assertEqual([path.name for path in (self.project / ".bmad/memory/sessions").iterdir()], [])


class ItsPath(InstallTest):
    """What settings start is still there tomorrow, and on another machine."""

    def setUp(self):
        super().setUp()
        self.copy = self.home / ".local/bin/bmad-mem"

    def place(self, folder):
        """The tool in that folder, which no search path names."""
        program = folder / "node_modules/@bmad-mem/linux-x64/bin/bmad-mem"
        program.parent.mkdir(parents=True)
        shutil.copy2(TOOL, program)
        launcher = folder / "node_modules/.bin/bmad-mem"
        launcher.parent.mkdir(exist_ok=True)
        launcher.write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n')
        launcher.chmod(0o755)
        self.environment["PATH"] = f"{launcher.parent}:/usr/bin:/bin"  # As npm sets it for a command.
        return program

    def run_from(self, program, *arguments, status=0):
        done = subprocess.run([program, *arguments], cwd=self.project, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def server(self, scope):
        path = self.base(scope) / PLACES["claude-code", scope][1]
        return json.loads(path.read_text())["mcpServers"]["bmad-mem"]["command"]

    def test_a_program_that_path_does_not_find_is_named_by_its_path_for_the_user_alone(self):
        elsewhere = self.folder / "it's here"
        elsewhere.mkdir()
        for search, found in (("/usr/bin:/bin", "does not find it"),
                              (f"{elsewhere}:/usr/bin:/bin", f"finds another one, {elsewhere}/bmad-mem")):
            self.environment["PATH"] = search
            self.install("claude-code", "--scope", "user")
            self.assertEqual(shlex.split(self.command(scope="user")), [str(TOOL), "hook", "claude-code"])
            self.assertEqual(self.server("user"), str(TOOL))
            self.assertIn(f"{found}; put {TOOL.parent} in front in PATH", self.install("claude-code")[1])
            self.assertEqual((self.command(), self.server("project")), ("bmad-mem hook claude-code", "bmad-mem"))
            other = elsewhere / "bmad-mem"  # In front of ours in the second round.
            other.write_text("#!/bin/sh\n")
            other.chmod(0o755)

    def test_one_in_npms_cache_is_copied_to_where_it_stays(self):
        program = self.place(self.folder / "npm/_npx/1e8b")
        self.assertIn(f"would copy {program} to {self.copy}", self.run_from(program, "install", "codex", "--dry-run")[0])
        self.assertFalse(self.copy.exists())
        stdout, stderr = self.run_from(program, "install", "claude-code")
        self.assertIn(f"copied {program} to {self.copy}", stdout)
        self.assertIn(f"put {self.copy.parent} in front in PATH", stderr)
        self.run_from(program, "install", "claude-code", "--scope", "user")
        shutil.rmtree(self.folder / "npm")
        self.assertEqual((self.command(), self.server("project")), ("bmad-mem hook claude-code", "bmad-mem"))
        self.assertEqual((self.command(scope="user"), self.server("user")), (f"{self.copy} hook claude-code",
                                                                              str(self.copy)))
        self.environment["PATH"] = f"{self.copy.parent}:/usr/bin:/bin"
        event = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": "UserPromptSubmit", "prompt": "Boats"}
        subprocess.run(["sh", "-c", GUARD + self.command()], input=json.dumps(event), text=True, check=True,
                       env=self.environment)
        self.assertIn('"Boats"', (self.project / ".bmad/memory/sessions/cc-s1/conversation.jsonl").read_text())

    def test_the_copy_takes_the_place_of_an_older_one_and_of_nothing_else(self):
        program = self.place(self.folder / "npm/_npx/1e8b")
        self.copy.parent.mkdir(parents=True)
        self.copy.write_text("#!/bin/sh\necho bmad-mem 0.0.1\n")
        self.copy.chmod(0o755)
        _, stderr = self.run_from(program, "install", "claude-code", status=1)
        self.assertIn(f"{self.copy}: this program lies in {program.parent}, which does not last", stderr)
        self.assertIn("move that away", stderr)
        self.assertEqual(self.copy.read_text(), "#!/bin/sh\necho bmad-mem 0.0.1\n")
        self.assertFalse((self.project / ".claude").exists())
        self.copy.write_bytes(TOOL.read_bytes() + b"\0")  # The same version, of other bytes.
        self.run_from(program, "install", "claude-code")
        self.assertEqual(self.copy.read_bytes(), TOOL.read_bytes())
        self.assertEqual([path.name for path in self.copy.parent.iterdir()], ["bmad-mem"])

    def test_one_of_the_projects_own_packages_is_found_on_every_machine(self):
        program = self.place(self.project)
        wanted = {"claude-code": "${CLAUDE_PROJECT_DIR:-.}", "gemini": "${GEMINI_PROJECT_DIR:-.}",
                  "cursor": "${CURSOR_PROJECT_DIR:-.}", "codex": ".", "copilot": ".", "qwen": ".", "windsurf": "."}
        for client, folder in wanted.items():
            with self.subTest(client):
                self.run_from(program, "install", client)
                line = f'"{folder}/node_modules/.bin/bmad-mem"'
                hooks = (self.project / PLACES[client, "project"][0]).read_text()
                text = json.dumps(f"command -v {line} >/dev/null 2>&1 || {SAYS_ONCE}{line} hook {client}")
                self.assertEqual(hooks.count(text), len(HOOKED[client].split()))
                self.assertNotIn(str(self.folder), hooks)
        self.assertEqual(self.server("project"), "${CLAUDE_PROJECT_DIR:-.}/node_modules/.bin/bmad-mem")
        deep = self.project / "a/b"
        deep.mkdir(parents=True)
        (hook,) = json.loads((self.project / ".claude/settings.json").read_text())["hooks"]["UserPromptSubmit"]
        event = {"session_id": "s1", "cwd": str(deep), "hook_event_name": "UserPromptSubmit", "prompt": "Boats"}
        subprocess.run(["sh", "-c", hook["hooks"][0]["command"]], input=json.dumps(event), text=True, check=True,
                       cwd=deep, env={**self.environment, "PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(self.project)})
        self.assertIn('"Boats"', (self.project / ".bmad/memory/sessions/cc-s1/conversation.jsonl").read_text())
        self.assertFalse(self.copy.exists())
        for client in wanted:
            self.run_from(program, "uninstall", client)
        self.assertEqual({path.name for path in self.project.iterdir()}, {".bmad", "a", "node_modules"})

    def test_what_earlier_versions_wrote_is_replaced_and_removed(self):
        path = self.project / ".claude/settings.json"
        path.parent.mkdir()
        old = "/home/ann/.npm/_npx/1e8b/node_modules/@bmad-mem/linux-x64/bin/bmad-mem"
        line = f"command -v {old} >/dev/null 2>&1 || exit 0; {old} hook claude-code"
        for command in ("install", "uninstall"):
            path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}}))
            (self.project / ".mcp.json").write_text(
                json.dumps({"mcpServers": {"bmad-mem": {"command": old, "args": ["mcp"]}}}))
            self.install("claude-code", command=command)
            if command == "install":
                self.assertNotIn("_npx", path.read_text())
                self.assertEqual(self.server("project"), "bmad-mem")
        self.assertNotIn("bmad-mem", path.read_text() + (self.project / ".mcp.json").read_text())


class OpencodePlugin(InstallTest):
    """The file that opencode loads; its events are those of hooks_test.py."""

    def go_through_a_session(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("there is no node")
        script = pathlib.Path(__file__).resolve().parent / "opencode_plugin.mjs"
        done = subprocess.run([node, script, self.project / ".opencode/plugins/bmad-mem.js", self.project],
                              env=self.environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def tell(self, *arguments):
        subprocess.run([TOOL, "-q", *arguments], cwd=self.project, env=self.environment, check=True, capture_output=True)

    def test_it_records_and_tells_in_both_generations(self):
        self.install("opencode")
        self.tell("session", "new", "--id", "earlier")
        self.tell("remember", "--category", "constraint", "--key", "harbour", "The harbour closes at ten")
        self.tell("add", "conversation", "--role", "user", "The night boat must leave once, at nine")
        heard = self.go_through_a_session()
        for session in ("one", "two"):
            self.assertEqual(heard[session][0], "You are opencode.")
            self.assertIn("harbour closes at ten", heard[session][1])
            self.assertIn("must leave once, at nine", heard[session][2])
        sessions = self.project / ".bmad/memory/sessions"
        entries = {name: [json.loads(line) for path in sorted((sessions / f"opencode-{name}").glob("*.jsonl"))
                          if path.stem in ("conversation", "events")
                          for line in path.read_text().splitlines()] for name in ("one", "two")}
        self.assertEqual([entry["content"] for entry in entries["one"] if "role" in entry],
                         ["When does the night boat leave?", "/tide on Sunday", "At nine."])
        self.assertEqual({entry["id"]: entry["metadata"].get("subagent") for entry in entries["one"]
                          if "tool" in entry}, {"c1": "child", "c1-result": "child"})
        self.assertEqual([entry["content"] for entry in entries["two"] if "role" in entry], ["Where is the night boat?"])
        self.assertEqual({entry["id"]: entry.get("metadata", {}).get("is_error") for entry in entries["two"] if "tool" in entry},
                         {"c2": None, "c2-result": False, "c3": None, "c3-result": True})
        self.assertFalse((sessions / "opencode-child").exists())

    def test_who_has_no_program_is_told_once_in_the_log(self):
        self.install("opencode")
        self.environment["PATH"] = f"{self.folder}:{pathlib.Path(shutil.which('node') or '/usr/bin/node').parent}"
        self.assertEqual(self.go_through_a_session(), {
            "one": ["You are opencode."], "two": ["You are opencode."],
            "log": ["bmad-mem: there is no program bmad-mem here, so nothing is recorded"]})


class Plugins(InstallTest):
    """What is in plugins/ is what `install` writes. BMAD_UPDATE_GOLDEN=1 writes the files anew."""

    FOLDER = SOURCE / "plugins"
    VERSION = re.search(r"VERSION (\S+) ", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

    def compare(self, name, wanted):
        path = self.FOLDER / name
        text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
        if os.environ.get("BMAD_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        self.assertEqual(json.loads(path.read_text(encoding="utf-8")), json.loads(text), path)

    def test_that_of_claude_code(self):
        self.install("claude-code")
        self.compare("claude-code/hooks/hooks.json", json.loads((self.project / ".claude/settings.json").read_text()))
        self.compare("claude-code/.mcp.json", json.loads((self.project / ".mcp.json").read_text()))
        manifest = json.loads((self.FOLDER / "claude-code/.claude-plugin/plugin.json").read_text())
        self.assertEqual((manifest["name"], manifest["version"]), ("bmad-mem", self.VERSION))
        market = json.loads((SOURCE / ".claude-plugin/marketplace.json").read_text())
        (plugin,) = market["plugins"]
        self.assertEqual((plugin["name"], plugin["description"]), (manifest["name"], manifest["description"]))
        self.assertEqual((SOURCE / plugin["source"]).resolve(), (self.FOLDER / "claude-code").resolve())
        for skill in (self.FOLDER / "claude-code/skills").iterdir():
            front = (skill / "SKILL.md").read_text(encoding="utf-8").split("---\n")[1]
            self.assertIn(f"name: {skill.name}\ndescription: ", front)

    def test_that_of_gemini(self):
        self.install("gemini")
        settings = json.loads((self.project / ".gemini/settings.json").read_text())
        self.compare("gemini-cli/hooks/hooks.json", {"hooks": settings["hooks"]})
        self.compare("gemini-cli/gemini-extension.json", {
            "name": "bmad-mem", "version": self.VERSION,
            "description": "Records sessions in the project's .bmad/memory and tells Gemini what earlier sessions decided "
                           "and learned",
            "mcpServers": settings["mcpServers"], "contextFileName": "GEMINI.md"})
        self.assertTrue((self.FOLDER / "gemini-cli/GEMINI.md").exists())

    def test_the_tools_that_are_named_exist(self):
        tools = set()
        for profile in ("core", "full"):
            listed = subprocess.run([TOOL, "mcp", "--tools", profile], input='{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
                                    text=True, env=self.environment, cwd=self.project, capture_output=True, check=True).stdout
            tools |= {tool["name"] for tool in json.loads(listed)["result"]["tools"]}
        for name in ("claude-code/skills/project-memory/SKILL.md", "gemini-cli/GEMINI.md"):
            named = set(re.findall(r"`(memory_[a-z]+)`", (self.FOLDER / name).read_text(encoding="utf-8")))
            self.assertTrue(named)
            self.assertEqual(named - tools, set())


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

    def test_damage_is_named_and_what_to_paste_is_printed(self):
        path = self.put('{\n  // my settings\n  "a": \n}\n')
        stdout, stderr = self.refuse()
        self.assertIn(f"{path}:4", stderr)
        self.assertIn("by hand", stderr)
        self.assertEqual(list(json.loads(stdout)["hooks"]), HOOKED["claude-code"].split())

    def test_damage_is_left_alone(self):
        for text in ("{", '{"hooks":[]}', '{"hooks":{"Stop":{}}}', "[1]", '{"a":1}}', "{/* }", "{,}", '{"a":[1,,]}'):
            with self.subTest(text):
                self.put(text)
                self.refuse()
        self.put("{}")
        self.put('{"mcpServers":[]}', ".mcp.json")
        self.refuse()

    def test_files_of_our_names_that_are_not_ours_are_left_alone(self):
        for client, name in (("cline", ".clinerules/hooks/TaskStart"), ("opencode", ".opencode/plugins/bmad-mem.js")):
            with self.subTest(client):
                path = self.put("echo mine\n", name)
                stdout, _ = self.refuse(client, code="E_CONCURRENT_MOD")
                self.assertIn("bmad-mem", stdout)
                self.uninstall(client)
                self.assertEqual(path.read_text(), "echo mine\n")

    def test_a_file_in_the_place_of_a_folder_is_named(self):
        self.put("Be brief.\n", ".clinerules")
        _, stderr = self.refuse("cline", code="E_STORAGE_IO")
        self.assertIn(".clinerules is a file", stderr)

    def test_damaged_toml_is_left_alone(self):
        path = self.put("a = 1\nb =\n", ".codex/config.toml")
        stdout, stderr = self.refuse("codex")
        self.assertIn(f"{path}:2", stderr)
        self.assertIn("bmad-mem", tomllib.loads(stdout)["mcp_servers"])

    def test_a_server_of_our_name_that_is_not_ours_is_left_alone(self):
        for server in ('{"command":"their-memory","args":[]}', '{"url":"http://127.0.0.1/"}', '{"command":[]}', "[]", "1"):
            with self.subTest(server):
                text = f'{{"mcpServers":{{"bmad-mem":{server}}}}}'
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
