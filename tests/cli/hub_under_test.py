"""What the tests of hubs share: a PostgreSQL server of the test's own, and machines that share a memory by it."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

from tool_under_test import SOURCE, TIMEOUT_S, TOOL, ToolTest

sys.path.insert(0, str(SOURCE / "tests/postgres_server"))
from postgres_server import Server, programs  # noqa: E402

# Files in memory: many short commands sync, and what a disk keeps is no question here.
FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else "/tmp"
tempfile.tempdir = FOLDER

def setUpModule():
    """Of each script with tests of hubs, which imports it."""
    if programs() is None:
        raise unittest.SkipTest("there is no PostgreSQL server here")
    if not (TOOL.parent / "bmad-mem-hub").exists():
        raise unittest.SkipTest("the tool was built without libpq")
    HubTest.server = Server(FOLDER)


def tearDownModule():
    if HubTest.server is not None:
        HubTest.server.close()


class HubTest(ToolTest):
    """Each folder below the test's is a machine of its own."""

    server = None

    def setUp(self):
        super().setUp()
        self.environment["PGSERVICEFILE"] = self.service("pg_service.conf", self.server.folder, self.server.port)
        self.project = f"shop{time.monotonic_ns()}"
        for name in ("a", "b", "c"):
            (self.folder / name).mkdir()

    def service(self, name, host, port, role="owner"):
        """A file that says where the hub "team" is."""
        path = self.folder / name
        path.write_text(f"[team]\nhost={host}\nport={port}\nuser={role}\ndbname=postgres\n")
        return str(path)

    def through(self, port):
        """What the environment has to have for a hub behind this port."""
        return {"PGSERVICEFILE": self.service(f"port{port}.conf", "127.0.0.1", port)}

    def new_role(self):
        """A role of the database without any rights, and what the environment of its machine has to have."""
        role = f"role{time.monotonic_ns()}"
        self.server.run("createuser", "-h", str(self.server.folder), "-p", str(self.server.port), "-U", "owner", role)
        return role, {"PGSERVICEFILE": self.service(f"{role}.conf", self.server.folder, self.server.port, role)}

    def start(self, machine, *arguments, environment=None, **streams):
        """The tool in the project of that name, as a process that runs."""
        return subprocess.Popen(
            [str(TOOL), *arguments],
            cwd=self.folder / machine,
            env={**self.environment, **(environment or {})},
            text=True,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **streams},
        )

    def run_on(self, machine, *arguments, stdin="", environment=None):
        """The exit status of the tool in the project of that name, and what it prints."""
        done = subprocess.run(
            [str(TOOL), *arguments],
            cwd=self.folder / machine,
            env={**self.environment, **(environment or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def on(self, machine, *arguments, status=0, **options):
        """What the tool prints in the project of that name."""
        ended, text = self.run_on(machine, *arguments, **options)
        self.assertEqual(ended, status, f"{arguments}:\n{text}")
        return text

    def add(self, machine, *ids, session="s1", **members):
        """Adds a fact of each of the ids, in one command."""
        entries = [{"id": name, "content": f"fact {name}", **members} for name in ids]
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        self.on(machine, "add", "fact", "--session", session, "-", stdin=lines)

    def log(self, machine, name="s1/facts.jsonl"):
        return (self.folder / machine / ".bmad/memory/sessions" / name).read_bytes()

    def logs(self, machine):
        """The SHA-256 of each log."""
        sessions = self.folder / machine / ".bmad/memory/sessions"
        return {
            str(path.relative_to(sessions)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(sessions.glob("*/*.jsonl"))
            if path.name not in ("access.jsonl", "audit.jsonl")  # Of each machine.
        }

    def ids(self, machine):
        """The id of each line of the facts, in their order."""
        return [json.loads(line)["id"] for line in self.log(machine).splitlines()]

    def share(self, *machines):
        """Makes the project, and all machines join."""
        self.on(machines[0], "init")
        self.on(machines[0], "hub", "init", "--service", "team", "--project", self.project)
        for machine in machines:
            self.on(machine, "hub", "join", "team", self.project)
