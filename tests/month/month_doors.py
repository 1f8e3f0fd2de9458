"""The doors of the tool at a moved clock: command line, MCP, HTTP, hooks. Each records and each asks.

    world = World(folder)          a project with a memory, made by `bmad-mem init`
    world.move_to(day, hour)       from now on it is then, and the clock goes on ticking
    door.record(session)           returns the id of our session, and the ids that were acknowledged
    door.ask(text)                 returns the ids of the ten best

Every call of the tool is a process at world's time, and what it leaves running is waited for.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse

from month_data import SOURCE

for part in ("cli", "mcp", "http"):
    sys.path.insert(0, str(SOURCE / "tests" / part))
from mcp_process import McpProcess  # noqa: E402
from serve_process import Server  # noqa: E402

BEGIN = datetime.datetime(2031, 2, 3, 9, tzinfo=datetime.timezone.utc)
TOP = 10
TIMEOUT_S = 300
TEXT_ALONE = ("--weights", "text=1,time=0,importance=0,access=0")
AS_INSTALLED = ("--budget-ms", "1000", "--limit-ms", "2000")  # The defaults.
# The machine may be slow: what is asked here is what a prompt is told, not how fast.
PATIENT = ("--budget-ms", "20000", "--limit-ms", "60000")


class World:
    def __init__(self, tool, folder, name="project"):
        self.tool = tool
        self.project = folder / name
        self.project.mkdir(exist_ok=True)
        self.base = BEGIN
        self.set_at = time.monotonic()
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)

    def move_to(self, day, hour=9):
        self.base = BEGIN + datetime.timedelta(days=day - 1, hours=hour - 9)
        self.set_at = time.monotonic()

    def now(self):
        return self.base + datetime.timedelta(seconds=time.monotonic() - self.set_at)

    def environment(self, **more):
        return {
            "PATH": f"{self.tool.parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home),
            "LC_ALL": "C.UTF-8",
            "BMAD_MEM_NOW": self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **{key: text for key, text in os.environ.items() if key.endswith("SAN_OPTIONS")},
            **more,
        }

    def run(self, *arguments, stdin="", statuses=(0,), starter=()):
        """stdout of the tool, when it and what it started have ended. `starter`: words that start the tool."""
        reading, writing = os.pipe()
        begin = time.monotonic()
        done = subprocess.run(
            [*starter, str(self.tool), *arguments],
            cwd=self.project,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            pass_fds=(writing,),
        )
        self.seconds, self.status = time.monotonic() - begin, done.returncode  # Of the tool alone.
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            pipe.read()
        if done.returncode not in statuses:
            raise AssertionError(f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        self.errors = done.stderr
        return done.stdout

    def git(self, *arguments):
        """Files that git writes get the moved time, as they would on such a day."""
        memory = self.project / ".bmad"
        before = {path: path.stat().st_mtime_ns for path in memory.rglob("*") if path.is_file()}
        date = self.now().isoformat()
        person = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER")
                  for what, text in (("NAME", "Ann"), ("EMAIL", "ann@example.org"), ("DATE", date))}
        subprocess.run(
            ["git", "-c", "gc.auto=0", *arguments],
            cwd=self.project,
            env=self.environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", **person),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
        stamp = int(self.now().timestamp() * 1e9)
        for path in memory.rglob("*"):
            if path.is_file() and path.stat().st_mtime_ns != before.get(path):
                os.utime(path, ns=(stamp, stamp))


def role(number):
    return ("user", "assistant")[number % 2]


def roles(messages):
    """The first speaker is the user."""
    first = messages[0].speaker if messages else ""
    return ["user" if message.speaker == first else "assistant" for message in messages]


class CommandLine:
    """`session new`, batches of `add`, `session close`."""

    def __init__(self, world):
        self.world = world

    def record(self, session):
        self.world.run("session", "new", "--id", session.name)
        if session.kind == "commits":
            lines = [{"kind": "commit", "content": message.text} for message in session.messages]
            ids = self.add("event", session.name, lines)
        else:
            lines = [
                {"role": role, "agent_id": message.speaker, "content": message.text}
                for role, message in zip(roles(session.messages), session.messages)
            ]
            ids = self.add("conversation", session.name, lines)
        self.world.run("session", "close", session.name)
        return session.name, ids

    def add(self, kind, session, lines):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return self.world.run("add", kind, "--session", session, "-", stdin=text).split()

    def state(self, statement, session):
        """`session`: an open one."""
        fields = {
            "decision": {"decision": statement.text, "rationale": "It was measured."},
            "finding": {"description": statement.text, "severity": "medium"},
            "fact": {"content": statement.text},
            "conversation": {"role": "user", "content": statement.text},
        }[statement.type]
        return self.add(statement.type, session, [fields])[0]

    def ask(self, text, *options):
        found = self.world.run("--json", "query", "--limit", str(TOP), *options, "--", text)
        return [json.loads(line)["id"] for line in found.splitlines()]

    def context(self, task):
        return self.world.run("context", "--task", task)


class Mcp:
    """A client's conversation with `bmad-mem mcp`."""

    def __init__(self, world):
        self.world = world
        self.process = None

    def __enter__(self):
        self.process = McpProcess([str(self.world.tool), "mcp"], self.world.project, self.world.environment())
        self.process.open()
        return self

    def __exit__(self, *_):
        self.process.end()

    def call(self, tool, **arguments):
        result = self.process.call(tool, **arguments)["result"]
        if result.get("isError"):
            raise AssertionError(f"{tool} {arguments}: {result['content'][0]['text']}")
        return result

    def record(self, session):
        ids = []
        for role, message in zip(roles(session.messages), session.messages):
            added = self.call("memory_add", type="conversation", text=message.text, agent=message.speaker,
                              fields={"role": role})
            ids.append(added["structuredContent"]["id"])
        return added["structuredContent"]["session_id"], ids

    def state(self, statement, _session=None):
        fields = {"decision": {"rationale": "It was measured."}, "conversation": {"role": "user"}}
        added = self.call("memory_add", type=statement.type, text=statement.text,
                          fields=fields.get(statement.type, {}))
        return added["structuredContent"]["id"]

    def ask(self, text):
        found = self.call("memory_search", query=text, limit=TOP)["content"][0]["text"]
        return set(re.split(r"[^\w.:@+=~-]+", found))

    def missing(self, ids):
        """Those of `ids` that memory_get does not know."""
        lost = []
        for begin in range(0, len(ids), 50):
            part = ids[begin : begin + 50]
            found = self.process.call("memory_get", ids=part)["result"]["content"][0]["text"]
            lost += [entry for entry in part if f'"id":"{entry}"' not in found.replace('": "', '":"')]
        return lost


class Http:
    """A script that talks to `bmad-mem serve`: one server at a time, since a second one hands on to the first."""

    ONE = threading.Lock()

    def __init__(self, world):
        self.world = world
        self.server = None

    def __enter__(self):
        self.ONE.acquire()
        self.server = Server(self.world.tool, self.world.project, self.world.environment())
        return self

    def __exit__(self, *_):
        self.server.stop()
        self.server.errors.close()
        self.ONE.release()

    def post(self, body):
        answer = self.server.ask("POST", "/memory/record", body)
        if answer.status != 201:
            raise AssertionError(f"{body}: {answer.status} {answer.body}")
        return answer.json()["id"]

    def record(self, session):
        kinds = {"user": "prompt", "assistant": "assistant"}
        return session.name, [
            self.post({"type": kinds[role], "session_id": session.name, "agent_id": message.speaker,
                       "content": message.text})
            for role, message in zip(roles(session.messages), session.messages)
        ]

    def ask(self, text):
        answer = self.server.ask("GET", f"/memory/search?k={TOP}&q={urllib.parse.quote(text)}")
        if answer.status != 200:
            raise AssertionError(f"{text}: {answer.status} {answer.body}")
        return [hit["id"] for hit in answer.json()["hits"]]


class Hooks:
    """Claude Code, which runs `bmad-mem hook claude-code` with each event.

    `starter`: words that start the tool, such as those of a stand-in for the client: then a person typed the prompts.
    """

    def __init__(self, world, starter=()):
        self.world = world
        self.starter = starter

    def fire(self, session, event, *options, **fields):
        payload = {"session_id": session, "transcript_path": "/dev/null", "cwd": str(self.world.project),
                   "hook_event_name": event, **fields}
        told = self.world.run("hook", "claude-code", *options, stdin=json.dumps(payload), starter=self.starter)
        return json.loads(told)["hookSpecificOutput"].get("additionalContext", "") if told.strip() else ""

    def prompt(self, session, text, *options):
        return self.fire(session, "UserPromptSubmit", *(options or PATIENT), permission_mode="default", prompt=text)

    def record(self, session):
        self.fire(session.name, "SessionStart", source="startup")
        for role, message in zip(roles(session.messages), session.messages):
            if role == "user":
                self.prompt(session.name, message.text)
            else:
                self.fire(session.name, "Stop", *PATIENT, stop_hook_active=False, last_assistant_message=message.text)
            if self.world.errors:
                raise AssertionError(self.world.errors)
        self.fire(session.name, "SessionEnd", reason="other")
        # A hook prints no ids: they are looked up by what was said.
        ours = f"cc-{session.name}"
        listed = self.world.run("--json", "list", "--session", ours, "--type", "conversation", "--limit", "10000")
        known = {}
        for line in listed.splitlines():
            entry = json.loads(line)
            known[entry["content"].strip()] = entry["id"]  # The first line stays indented.
        return ours, [known.get(message.text.strip(), "") for message in session.messages]
