"""A server of the Model Context Protocol as a child process, spoken to line by line."""

import json
import queue
import subprocess
import threading

TIMEOUT_S = 60


class McpProcess:
    """Answers come in any order; notifications are kept apart."""

    def __init__(self, command, cwd, environment):
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.notifications = []
        self._answers = {}
        self._lines = queue.Queue()
        self._next_id = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def send(self, method, params=None):
        """Sends a request and returns its id."""
        request = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        if params is not None:
            request["params"] = params
        self._next_id += 1
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return request["id"]

    def wait_for(self, request_id):
        while request_id not in self._answers:
            message = self._lines.get(timeout=TIMEOUT_S)
            if message is None:
                raise EOFError("the server has gone")
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.notifications.append(message)
        return self._answers.pop(request_id)

    def request(self, method, params=None):
        return self.wait_for(self.send(method, params))

    def open(self):
        """The handshake of 2025-11-25; returns its result."""
        answer = self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        )
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self.process.stdin.flush()
        return answer["result"]

    def call(self, tool, /, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def end(self):
        """Closes its input; returns the exit status."""
        self.process.stdin.close()
        status = self.process.wait(timeout=TIMEOUT_S)
        self._reader.join()
        self.process.stdout.close()
        return status

    def leave(self):
        """For clean-up, whatever has happened."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
