"""Installs the programs of client_table.py, and runs them below a home of their own against mock_model.mjs.

Programs are installed from npm, each in a folder of its own in $BMAD_CLIENTS_FOLDER, else in build/clients; those
that are the newest already stay.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import client_table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import SOURCE, TOOL  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("BMAD_CLIENTS_FOLDER") or SOURCE / "build" / "clients").resolve()
INSTALL_TIMEOUT_S = 900
TURN_TIMEOUT_S = 180
HOOKS_TIMEOUT_S = 30
NODE = "node@24"


class Missing(Exception):
    """A program that can't be installed here."""


def npm(*arguments, timeout_s=60):
    if shutil.which("npm") is None:
        raise Missing("there is no npm: on Debian `apt-get install nodejs npm`")
    try:
        done = subprocess.run(["npm", *arguments], capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise Missing(f"npm {' '.join(arguments)}: no answer in {timeout_s} s") from None
    if done.returncode != 0:
        raise Missing(f"npm {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def installed_version(folder, package):
    try:
        return json.loads((folder / "node_modules" / package / "package.json").read_text(encoding="utf-8"))["version"]
    except FileNotFoundError:
        return None


def install_package(name, package, wanted="latest"):
    """Its folder; installs it unless the newest is there. Without a network the one that is there serves."""
    folder = CACHE / name
    there = installed_version(folder, package)
    try:
        newest = npm("view", f"{package}@{wanted}", "version", "--json")
        newest = json.loads(newest)
        if isinstance(newest, list):  # Of a range, in no order.
            newest = max(newest, key=lambda version: [int(number) for number in version.split(".")])
    except Missing as missing:
        if there is None:
            raise
        print(f"{name}: {there}, and what is newest is unknown: {missing}", flush=True)
        return folder
    if there != newest:
        folder.mkdir(parents=True, exist_ok=True)
        manifest = folder / "package.json"
        manifest.write_text("{}", encoding="ascii")  # Else npm looks for one above.
        npm("install", "--prefix", str(folder), "--no-audit", "--no-fund", f"{package}@{newest}", timeout_s=INSTALL_TIMEOUT_S)
        there = installed_version(folder, package)
    print(f"{name}: {there}, newest {newest}", flush=True)
    return folder


def node_folder():
    """Where the `node` of Node 24 is: the machine's, if it is as new."""
    major = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip("v\n").split(".")[0]
    if major.isdigit() and int(major) >= 24:
        return pathlib.Path(shutil.which("node")).parent
    folder = install_package("node24", "node", NODE.partition("@")[2])
    found = sorted(folder.glob("node_modules/**/bin/node"))
    if not found:
        raise Missing(f"{NODE} brought no program to {folder}")
    return found[0].parent


def processes_of(home):
    """{id: words} of the processes whose HOME is `home`."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").split("\0")
        except OSError:
            continue
    return found


class Model:
    """mock_model.mjs, with what it was asked."""

    def __init__(self, folder, script):
        folder.mkdir()
        (folder / "script.json").write_text(script, encoding="utf-8")
        self.requests_file = folder / "requests.jsonl"
        command = ["node", str(HERE / "mock_model.mjs"), str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def requests(self):
        """The lines of the requests so far."""
        return self.requests_file.read_text(encoding="utf-8").splitlines() if self.requests_file.exists() else []

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class ClientHome:
    """A home with a project in git, connected with `bmad-mem install`.

    home/project   the project; home/.CLIENT, …   what the client writes; beside it, in `folder`: the model's files,
                   and with `record` hooks.jsonl, each event that the client sent to its hooks
    """

    def __init__(self, client, folder, record=False, turns=client_table.TURNS):
        self.client = client
        self.folder = folder
        self.home = folder / "home"
        self.project = self.home / "project"
        self.hooks_file = folder / "hooks.jsonl"
        self.output = []  # What each turn printed.
        bin_folder = install_package(client.name, client.package) / "node_modules" / ".bin"
        self.version = installed_version(CACHE / client.name, client.package)
        self.program = bin_folder / client.program
        paths = [str(TOOL.parent), str(bin_folder), os.environ.get("PATH", "/usr/bin:/bin")]
        if client.newer_node:
            paths.insert(0, str(node_folder()))
        # `install` names a program of PATH by its name, and any other one by its path.
        self.path_to_install = ":".join(paths)
        if record:
            paths.insert(0, str(self._write_recorder()))
        self.model = Model(folder / "model", client_table.script_for(client, turns))
        self.environment = {
            "PATH": ":".join(paths),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "BMAD_MEM_ENCODER": "",
            **{name: self._filled(text) for name, text in client.environment.items()},
        }
        self._make_project()

    def _filled(self, text, prompt=""):
        values = {"{url}": self.model.url, "{project}": str(self.project), "{prompt}": prompt}
        if text == "{session}":
            return self.last_session()
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    def _write_recorder(self):
        folder = self.folder / "recorder"
        folder.mkdir()
        program = folder / "bmad-mem"
        words = f"#!/bin/sh\nexec {sys.executable} -B {HERE / 'record_hook.py'} {TOOL} {self.hooks_file} \"$@\"\n"
        program.write_text(words, encoding="utf-8")
        program.chmod(0o755)
        return folder

    def _make_project(self):
        files = {str(self.home / name): content for name, content in self.client.settings.items()}
        files[str(self.project / "notes.txt")] = client_table.FILE_TEXT
        if self.client.command:
            files[str(self.project / self.client.command[0])] = self.client.command[1]
        for name, content in files.items():
            path = pathlib.Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._filled(content if isinstance(content, str) else json.dumps(content)), encoding="utf-8")
        self.run("git", "init", "-q")
        self.run("git", "config", "user.email", "ann@example.com")
        self.run("git", "config", "user.name", "Ann")
        self.tool("-q", "init")
        self.tool("-q", "remember", "--category", "constraint", "--key", "pier", "--confidence", "1", client_table.CANARY)
        install = ("env", f"PATH={self.path_to_install}", str(TOOL), "-q", "install")
        self.run(*install, self.client.name, "--scope", self.client.scope)
        self.run("git", "add", "-A")
        self.run("git", "commit", "-qm", "Begin")
        if self.client.setup:
            self.run(str(self.program), *map(self._filled, self.client.setup), timeout_s=INSTALL_TIMEOUT_S)

    def run(self, *command, timeout_s=TURN_TIMEOUT_S):
        """What it prints on stdout. Ends what it started where it takes too long."""
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            raise AssertionError(f"{command}: no end in {timeout_s} s:\n{output[-2000:]}\n{errors[-2000:]}") from None
        if process.returncode != 0:
            raise AssertionError(f"{command}: status {process.returncode}:\n{output[-2000:]}\n{errors[-2000:]}")
        return output

    def tool(self, *arguments):
        return self.run(str(TOOL), *arguments)

    def can(self, turn):
        """Whether the client can be made to take that turn without a terminal."""
        if turn.after == "fork":
            return bool(self.client.fork)
        if turn.command:
            return bool(self.client.command)
        return (turn.call != "agent" or bool(self.client.agent)) and (turn.word != "LAPWING" or self.client.reads_files)

    def say(self, turn):
        """Has the client take a prompt, and waits for its hooks."""
        arguments = {"": self.client.first, "continue": self.client.follow or self.client.first, "fork": self.client.fork}[turn.after]
        prompt = turn.prompt
        if turn.command and self.client.command_prompt:
            arguments = self.client.command_prompt
        elif turn.command:
            prompt = f"/{turn.command} {prompt}"
        words = [each for word in arguments for each in (prompt.split() if word == "{words}" else [self._filled(word, prompt)])]
        self.output.append(self.run(str(self.program), *words))
        end = time.monotonic() + HOOKS_TIMEOUT_S
        while any("hook" in words for words in processes_of(self.home).values()) and time.monotonic() < end:
            time.sleep(0.1)

    def entries(self, kind):
        return [json.loads(line) for line in self.tool("--json", "list", "--limit", "0", "--type", kind).splitlines()]

    def transcripts(self):
        """The files that the client has written of its sessions, sorted."""
        return sorted({path for pattern in self.client.transcripts for path in self.home.glob(pattern) if path.is_file()})

    def has_kept(self, turn):
        """Whether these have that turn: some clients delete it soon."""
        files = self.transcripts()
        files += [path.with_name(f"{path.name}-wal") for path in files if path.suffix == ".db"]
        return any(turn.word.encode() in path.read_bytes() for path in files if path.exists())

    def last_session(self):
        """The id of the session that was written last, for clients that want to be told it."""
        newest = max(self.transcripts(), key=lambda path: path.stat().st_mtime)
        return re.search(self.client.session_id, newest.stem)[0]

    def begin_again(self):
        """An empty memory in place of the one that there is."""
        (self.project / ".bmad").rename(self.folder / "before")
        self.tool("-q", "init")

    def close(self):
        """Ends what the client left running, and the model."""
        for process in processes_of(self.home):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.model.stop()
