"""What tests share that start a server of their own each, and Python's HTTP client to speak to it."""

import http.client
import json
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main  # noqa: E402, F401


class Stream:
    """A stream of events, read as it comes."""

    def __init__(self, test, target, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", test.port, timeout=10)
        test.addCleanup(self.connection.close)
        self.connection.request("GET", target, headers={**test.authorized, **(headers or {})})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def block(self):
        """The fields of the next block, up to an empty line."""
        fields = {}
        while True:
            line = self.response.readline().decode()
            if line in ("\n", ""):
                return fields
            name, _, value = line.rstrip("\n").partition(":")
            fields[name] = value.strip()

    def event(self):
        """The next block that is an event, with its data."""
        while True:
            fields = self.block()
            if not fields:
                raise EOFError
            if "data" in fields:
                return {**fields, "data": json.loads(fields["data"])}


class HttpServerTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)
        self.run_tool("init")
        self.run_tool("session", "new", "--id", "s1")

    def serve(self, *arguments):
        self.process = subprocess.Popen(
            [str(TOOL), "--json", "serve", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.leave, self.process)
        self.told = json.loads(self.process.stdout.readline())
        self.port = self.told["port"]
        self.token = pathlib.Path(self.told["token_file"]).read_text().strip()
        self.authorized = {"Authorization": f"Bearer {self.token}"}
        self.origin = {"Origin": f"http://127.0.0.1:{self.port}"}

    @staticmethod
    def leave(process):
        process.kill()
        process.wait()
        process.stdout.close()

    def add(self, entry_id, session="s1", type_="fact"):
        self.run_tool("add", type_, "--session", session, "--id", entry_id, "--content", "pool size")

    def ask(self, method, target, body=None, headers=None, token=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        sent = {**(self.authorized if token else {}), **(headers or {})}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            body = json.dumps(body) if not isinstance(body, (str, bytes)) else body
        connection.request(method, target, body=body, headers=sent)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response, text

    def raw(self, request, seconds=10):
        """All that is answered to these bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as client:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            return self.read_all(client)

    @staticmethod
    def read_all(client):
        answer = b""
        while piece := client.recv(65536):
            answer += piece
        return answer
