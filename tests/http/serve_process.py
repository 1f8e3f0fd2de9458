"""`bmad-mem serve` as a child process, and HTTP spoken to it byte by byte.

No HTTP library stands between: what a test sends is what the server gets, however wrong it is.
"""

import json
import os
import pathlib
import socket
import subprocess
import tempfile

TIMEOUT_S = 120
ANSWER_SIZE_MAX = 64 << 20


class Answer:
    """A status, headers with names in lower case, and a body without its chunks."""

    def __init__(self, head, body=b"", is_whole=True):
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ", 2)[1])
        self.headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if line]
        self.headers = [(name.lower(), value) for name, value in self.headers]
        self.body = body
        self.is_whole = is_whole
        self.raw = head + body

    def header(self, name):
        return next((value for key, value in self.headers if key == name), None)

    def json(self):
        return json.loads(self.body)


class Connection:
    """A socket to the server that reads answers one behind the other."""

    def __init__(self, port, host="127.0.0.1", timeout_s=TIMEOUT_S):
        self.socket = socket.create_connection((host, port), timeout=timeout_s)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        """True when all of it was taken; false when the server has closed."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def more(self):
        """Waits for bytes; false at the end of the stream, which a reset is too."""
        try:
            piece = self.socket.recv(1 << 16)
        except ConnectionResetError:
            piece = b""
        self.buffer += piece
        return bool(piece) and len(self.buffer) < ANSWER_SIZE_MAX

    def until(self, mark):
        while mark not in self.buffer:
            if not self.more():
                return None
        found, self.buffer = self.buffer.split(mark, 1)
        return found

    def exactly(self, size):
        while len(self.buffer) < size and self.more():
            pass
        found, self.buffer = self.buffer[:size], self.buffer[size:]
        return found

    def chunks(self):
        """The body, and whether its last chunk has come."""
        body = b""
        while True:
            line = self.until(b"\r\n")
            if line is None:
                return body, False
            size = int(line.split(b";")[0], 16)
            piece = self.exactly(size + 2)
            if len(piece) < size + 2:
                return body + piece, False
            if size == 0:
                return body, True
            body += piece[:-2]

    def head(self):
        head = self.until(b"\r\n\r\n")
        return None if head is None else Answer(head + b"\r\n\r\n")

    def answer(self, to_head=False):
        """The next answer; None when the server closed without one."""
        answer = self.head()
        if answer is None:
            return None
        if to_head or answer.status in (204, 304) or 100 <= answer.status < 200:
            return answer
        if answer.header("transfer-encoding") == "chunked":
            answer.body, answer.is_whole = self.chunks()
        elif answer.header("content-length") is not None:
            size = int(answer.header("content-length"))
            answer.body = self.exactly(size)
            answer.is_whole = len(answer.body) == size
        else:
            while self.more():
                pass
            answer.body, self.buffer = self.buffer, b""
        answer.raw += answer.body
        return answer

    def is_closed(self):
        """Waits for the server to close; false when it says something more instead."""
        return self.buffer == b"" and not self.more()


def request_bytes(method, target, headers=(), body=b""):
    """A request with exactly these headers; None as a value leaves one out."""
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers if value is not None]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


class Server:
    """`bmad-mem serve` on a memory; the link's code is unused."""

    def __init__(self, tool, folder, environment, *options):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(tool), "--json", "serve", "--port", "0", *options],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        self.first_line = self.process.stdout.readline()
        if not self.first_line:
            self.process.wait(TIMEOUT_S)
            raise AssertionError(f"no line from serve: {self.error_text()}")
        self.about = json.loads(self.first_line)
        self.port = int(self.about["port"])
        self.token_file = pathlib.Path(self.about["token_file"])
        self.token = self.token_file.read_text(encoding="ascii").strip()
        self.origin = f"http://127.0.0.1:{self.port}"
        self.code = self.about["link"].split("#code=", 1)[1]

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def headers(self, **others):
        """What a well-behaved script sends; underscores in names stand for hyphens, None removes."""
        found = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}"}
        found.update({name.replace("_", "-"): value for name, value in others.items()})
        return list(found.items())

    def connect(self, host="127.0.0.1", timeout_s=TIMEOUT_S):
        return Connection(self.port, host, timeout_s)

    def exchange(self, data, host="127.0.0.1", to_head=False):
        with self.connect(host) as connection:
            connection.send(data)
            return connection.answer(to_head)

    def ask(self, method, target, body=None, **others):
        """One request as a well-behaved script sends it, on a connection of its own."""
        data = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            others = {"Content_Type": "application/json", "Content_Length": len(data), **others}
        return self.exchange(request_bytes(method, target, self.headers(**others), data),
                             to_head=method == "HEAD")

    def resident_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Rss:"):
                return int(line.split()[1]) << 10
        raise AssertionError("no Rss in smaps_rollup")

    def thread_count(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def stop(self):
        """Asks it to end; its exit status, and what it printed besides the first line."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            rest = self.process.communicate(timeout=TIMEOUT_S)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, rest
