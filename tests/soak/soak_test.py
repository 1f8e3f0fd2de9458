"""`mcp` and `serve` on one memory under a steady mixed load: open files and resident memory are flat
once they are warm.

    soak_test.py TOOL [--minutes N]     default 3

Both servers write to ever new sessions, search, list and read, and have watchers. They are sampled
every second. The first third is for warming up; then the peak of the last third is compared with
that of the second.
"""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
from mcp_process import McpProcess  # noqa: E402

TOOL = pathlib.Path(sys.argv[1]).resolve()
MINUTES = float(sys.argv[sys.argv.index("--minutes") + 1]) if "--minutes" in sys.argv else 3
PAUSE_S = 0.04
WORDS = "heron lake rain stripe webhook postgres index queue retry harbour tern budget token north".split()
# A third more entries are there at the end than in the middle, and they are searched in memory.
FILES_MORE = 8
MEMORY_MORE = 1.15
MEMORY_MORE_MB = 6


def text_of(number):
    return " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 9)) + f" number {number}"


class Serve:
    """The HTTP server, and a client of it."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(
            [str(TOOL), "--json", "serve", "--print-token"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        told = json.loads(self.process.stdout.readline())
        self.port, self.token = told["port"], told["token"]

    def ask(self, method, path, body=None):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        client.request(method, path, None if body is None else json.dumps(body), headers)
        answer = client.getresponse()
        text = answer.read()
        client.close()
        assert answer.status < 300, (method, path, answer.status, text[:300])
        return json.loads(text)


class Load:
    """One call after another, each of another kind."""

    def __init__(self, mcp, serve):
        self.mcp, self.serve = mcp, serve
        self.calls = 0

    def tool(self, name, **arguments):
        answer = self.mcp.request("tools/call", {"name": name, "arguments": arguments})
        assert not answer.get("result", {"isError": True}).get("isError"), (name, answer)

    def step(self):
        number, self.calls = self.calls, self.calls + 1
        session = f"s{number // 15}"  # A new one every 15 calls.
        if number % 15 == 0:
            self.serve.ask("POST", "/memory/sessions", {"session_id": session})
        kind = number % 8
        if kind in (0, 3):
            self.tool("memory_add", type="finding", text=text_of(number), session_id=session)
        elif kind in (1, 5):
            self.tool("memory_search", query=WORDS[number % len(WORDS)])
        elif kind == 2:
            self.serve.ask("POST", "/memory/record", {"type": "fact", "session_id": session,
                "content": text_of(number)})
        elif kind == 4:
            self.serve.ask("GET", f"/memory/search?q={WORDS[number % len(WORDS)]}")
        elif kind == 6:
            self.tool("memory_context", task=text_of(number))
        else:
            self.serve.ask("GET", "/memory/sessions")


def sample(process):
    """Open files, and resident memory in MB."""
    files = len(os.listdir(f"/proc/{process.pid}/fd"))
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return files, rss / 1024


def judge(name, samples):
    """Says what was seen; true when it is flat."""
    third = len(samples) // 3
    middle, last = samples[third:2 * third], samples[2 * third:]
    files = [max(s[0] for s in part) for part in (middle, last)]
    memory = [max(s[1] for s in part) for part in (middle, last)]
    is_flat = files[1] <= files[0] + FILES_MORE and memory[1] <= memory[0] * MEMORY_MORE + MEMORY_MORE_MB
    print(f"{name:6} files: {samples[0][0]} at first, {files[0]} in the middle, {files[1]} at the end; "
          f"memory: {samples[0][1]:.1f}, {memory[0]:.1f}, {memory[1]:.1f} MB{'' if is_flat else '  <-- grows'}")
    return is_flat


def main():
    with tempfile.TemporaryDirectory(prefix="bmad-soak-") as name:
        environment = {**os.environ, "HOME": name}
        subprocess.run([str(TOOL), "init", "-q"], cwd=name, env=environment, check=True)
        serve = Serve(name, environment)
        mcp = McpProcess([str(TOOL), "mcp"], name, environment)
        mcp.open()
        load = Load(mcp, serve)
        samples = {"mcp": [], "serve": []}
        end, next_sample = time.monotonic() + MINUTES * 60, 0
        while time.monotonic() < end:
            load.step()
            if time.monotonic() >= next_sample:
                next_sample = time.monotonic() + 1
                samples["mcp"].append(sample(mcp.process))
                samples["serve"].append(sample(serve.process))
            time.sleep(PAUSE_S)
        print(f"{load.calls} calls in {MINUTES:g} minutes, {load.calls // 15 + 1} sessions")
        flat = [judge(server, seen) for server, seen in samples.items()]
        mcp.process.stdin.close()
        serve.process.terminate()
        ends = [mcp.process.wait(timeout=60), serve.process.wait(timeout=60)]
        if not all(flat) or ends != [0, 0]:
            sys.exit(f"flat: {flat}; exit statuses: {ends}")


if __name__ == "__main__":
    main()
