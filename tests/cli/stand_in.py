"""A stand-in for an agent's client: a process that /proc shows as the client's, and that starts hooks and tools
as the client does. What the person typed is proven only below the client (docs/agents.md), and a test has none
above it.

    claude = StandIn(self.folder)                      # or StandIn(self.folder, "codex"), "qwen", "gemini"
    subprocess.run(claude.hook(), input=event, …)      # `bmad-mem hook claude-code`, as its hook: typed
    subprocess.run(claude.hook("--limit-ms", "9000"))  # the same with options
    subprocess.run(claude.hook(line=LINE), …)          # the hook of a line as it is in the settings
    subprocess.run(claude.tool("env | sort"), …)       # a command of its agent, in the shell of its tools
    subprocess.run(claude.starts("cat", "x"), …)       # what it starts without a shell

Each gives the words that start the client; its child has its standard input, outputs, environment and folder,
and its exit status is the client's. HookTest.hook() takes them as words=. As seen of the programs themselves
(Claude Code 2.1.332, Codex 0.171.0, Qwen Code 0.24.4, on Debian 12):

    claude ── /bin/sh -c LINE ── …               its hooks
    claude ── /bin/bash -c "source … && eval …"  its tools; "claude" is a program, or node with its script
    node … codex ── codex ── $SHELL -lc LINE     both: bash replaces itself by the last command of LINE
    node … qwen ── node … cli.js ── bash -c LINE both

A stand-in is this machine's Python, by a link with the client's name: the name and the first word that /proc shows
come from that link.
"""

import pathlib
import shlex
import sys

from tool_under_test import TOOL

# Starts the words behind it with all it has itself; ends as they do.
STARTER = """import subprocess, sys
done = subprocess.run(sys.argv[1:], close_fds=False).returncode
sys.exit(done if done >= 0 else 128 - done)
"""
# The program by name, the script that it runs, and the shells of hooks and tools.
CLIENTS = {
    "claude-code": ("claude", "run.py", ("/bin/sh", "-c"), ("/bin/bash", "-c")),
    "codex": ("codex", "run.py", ("/bin/bash", "-lc"), ("/bin/bash", "-lc")),
    "qwen": ("node", "@qwen-code/qwen-code/cli.js", ("bash", "-c"), ("bash", "-c")),
    "gemini": ("node", "bin/gemini", ("bash", "-c"), ("bash", "-c")),
}


class StandIn:
    def __init__(self, folder, client="claude-code"):
        self.client = client
        program, script, self.hook_shell, self.tool_shell = CLIENTS[client]
        self.folder = pathlib.Path(folder) / f"stand-in-{client}"
        self.program = self.folder / program
        self.script = self.folder / script
        if not self.program.exists():
            self.script.parent.mkdir(parents=True)
            self.program.symlink_to(sys.executable)
            self.script.write_text(STARTER, encoding="utf-8")

    def starts(self, *words):
        return [str(self.program), "-I", str(self.script), *map(str, words)]

    def hook(self, *options, line=None):
        words = (TOOL, "hook", self.client, *options)
        return self.starts(*self.hook_shell, line or shlex.join(map(str, words)))

    def tool(self, line):
        if self.client == "claude-code":
            line = (f"source {self.folder}/snapshot-bash.sh 2>/dev/null || true && eval {shlex.quote(line)} "
                    f"</dev/null && pwd -P >| {self.folder}/cwd")
        return self.starts(*self.tool_shell, line)
