#!/usr/bin/env python3
"""Measures `bmad-mem serve` as its clients see it.

    measure.py TOOL [--entries N] [--rate N] [--seconds N] [--records N] [--streams N] [--json]

search    GET /memory/search at a fixed rate: requests have their moments, and are measured from them, so
          that a server that stalls is not asked less. Beside it GET /auth/session, which is what the
          generator and the socket take.
record    POST /memory/record, one after the other, in turns of 25 with memory_add of `bmad-mem mcp`, which
          is the durable append of the same build with the same checks and redaction, and with
          write and fdatasync by this script, which is what the disk takes
streams   idle event streams: resident memory of the server before and with them
stuck     50 streams and 4 exports that nobody reads: search, record and the tool's add, without and with them
event     from starting `bmad-mem add` in another process to its event, and from its acknowledgement

Only numbers of one run on one machine may be compared.
"""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

from serve_process import Server, request_bytes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mcp"))
import measuring  # noqa: E402
from measuring import SEED, Texts  # noqa: E402

SESSION_SIZE = 1000
CONNECTIONS = 16
TURN = 25
KINDS = ("conversation", "fact", "finding", "decision")
TEXT_OF = {"conversation": "content", "fact": "content", "finding": "description", "decision": "decision"}


class Place:
    """A memory of its own, and the tool in it."""

    def __init__(self, tool, folder):
        self.tool = tool
        self.folder = folder
        run = folder / "run"
        run.mkdir(mode=0o700)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(run)}

    def run(self, *arguments, stdin=""):
        return subprocess.run([self.tool, "--quiet", *arguments], cwd=self.folder, env=self.environment, input=stdin,
                              text=True, check=True, capture_output=True).stdout

    def fill(self, texts, count):
        self.run("init")
        for first in range(0, count, SESSION_SIZE):
            number = first // SESSION_SIZE
            kind = KINDS[number % len(KINDS)]
            self.run("session", "new", "--id", f"s{number}")
            more = {"role": "user"} if kind == "conversation" else {"made_by": "dev"} if kind == "decision" else {}
            lines = [json.dumps({TEXT_OF[kind]: texts.sentence(), **more}) for _ in range(min(SESSION_SIZE, count - first))]
            self.run("add", kind, "--session", f"s{number}", "-", stdin="\n".join(lines))


def figures(times):
    """In milliseconds."""
    times = sorted(times)
    at = lambda share: round(times[min(len(times) - 1, int(len(times) * share))], 3)  # noqa: E731
    return {"count": len(times), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": round(times[-1], 3)}


def timed(action):
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def ask(connection, data):
    connection.send(data)
    answer = connection.answer()
    if answer is None or answer.status >= 300:
        sys.exit(f"{data[:100]}: {answer and answer.raw[:500]}")
    return answer


def at_rate(server, make_request, rate, seconds):
    """Open loop over several kept connections; each request is measured from its moment."""
    requests = [make_request() for _ in range(int(rate * seconds))]
    times = [0.0] * len(requests)
    begin = time.perf_counter() + 0.2

    def work(first):
        with server.connect() as connection:
            for number in range(first, len(requests), CONNECTIONS):
                moment = begin + number / rate
                time.sleep(max(0.0, moment - time.perf_counter()))
                ask(connection, requests[number])
                times[number] = (time.perf_counter() - moment) * 1000

    threads = [threading.Thread(target=work, args=(first,)) for first in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return figures(times)


def search_request(server, texts):
    return request_bytes("GET", f"/memory/search?q={texts.query().replace(' ', '+')}&k=20", server.headers())


def record_request(server, texts):
    body = json.dumps({"type": "fact", "session_id": "written", "content": texts.sentence()}).encode()
    headers = server.headers(Content_Type="application/json", Content_Length=len(body))
    return request_bytes("POST", "/memory/record", headers, body)


def measure_record(place, server, texts, count):
    for name in ("written", "appended"):
        place.run("session", "new", "--id", name)
    # The same append without HTTP.
    adder = measuring.Server([place.tool, "mcp"], place.folder, **place.environment, BMAD_SESSION="appended")
    adder.ask("initialize", **measuring.HELLO)
    raw = os.open(place.folder / "raw.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = json.dumps({"id": "fact-0123456789abcdef", "timestamp": "2026-11-22T00:00:00.000Z", "content": texts.sentence(),
                       "metadata": "x" * 120}).encode() + b"\n"

    def raw_append():
        os.write(raw, line)
        os.fdatasync(raw)

    times = {"POST /memory/record": [], "memory_add": [], "write and fdatasync": []}
    with server.connect() as connection:
        actions = {"POST /memory/record": lambda: ask(connection, record_request(server, texts)),
                   "memory_add": lambda: adder.call("memory_add", type="fact", text=texts.sentence()), "write and fdatasync": raw_append}
        for action in actions.values():
            action()
        for turn in range(max(1, count // TURN)):
            order = list(actions) if turn % 2 == 0 else list(reversed(actions))
            for name in order:
                times[name] += [timed(actions[name]) for _ in range(TURN)]
    adder.close()
    os.close(raw)
    found = {name: figures(values) for name, values in times.items()}
    p95 = {name: row["p95"] for name, row in found.items()}
    found["ratio of p95"] = {"to memory_add": round(p95["POST /memory/record"] / p95["memory_add"], 2),
                             "to write and fdatasync": round(p95["POST /memory/record"] / p95["write and fdatasync"], 2)}
    return found


def server_cost(server):
    cost = {"threads": server.thread_count()}
    for line in pathlib.Path(f"/proc/{server.process.pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss", "Pss_Anon"):
            cost[f"{name.lower()}_kib"] = int(rest.split()[0])
    return cost


def open_streams(server, count, target="/memory/events", reads_head=True):
    streams = []
    for _ in range(count):
        connection = server.connect()
        if not reads_head:
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(request_bytes("GET", target, server.headers()))
        if reads_head and connection.head().status != 200:
            sys.exit("a stream was refused")
        streams.append(connection)
    return streams


def measure_streams(server, count):
    before = server_cost(server)
    streams = open_streams(server, count)
    time.sleep(2)  # Idle is what is measured.
    with_them = server_cost(server)
    for stream in streams:
        stream.close()
    grown = {name: with_them[name] - before[name] for name in before}
    return {"before": before, "with them": with_them, "grown": grown, "count": count}


def three_doors(place, server, texts, rate, seconds):
    """Search, record and the tool's add, at the same time as whatever else goes on."""
    found = {"search": at_rate(server, lambda: search_request(server, texts), rate, seconds)}
    with server.connect() as connection:
        found["record"] = figures([timed(lambda: ask(connection, record_request(server, texts))) for _ in range(100)])
    found["bmad-mem add"] = figures([
        timed(lambda: place.run("add", "fact", "--session", "written", texts.sentence())) for _ in range(20)])
    return found


def measure_stuck(place, server, texts, rate, seconds):
    found = {"without": three_doors(place, server, texts, rate, seconds)}
    stuck = open_streams(server, 50, reads_head=False)
    stuck += open_streams(server, 4, "/memory/export?format=jsonl", reads_head=False)
    found["with"] = three_doors(place, server, texts, rate, seconds)
    for connection in stuck:
        connection.close()
    return found


def measure_event(place, server, texts, count=20):
    from_start, from_acknowledgement = [], []
    [stream] = open_streams(server, 1)
    stream.buffer = b""
    for number in range(count):
        mark = f"event-{number}"
        seen = {}

        def listen(wanted=f'"{mark}"'.encode(), moments=seen):
            while (line := stream.until(b"\n")) is not None:
                if wanted in line:
                    moments["at"] = time.perf_counter()
                    return

        thread = threading.Thread(target=listen)
        thread.start()
        begin = time.perf_counter()
        place.run("add", "fact", "--session", "written", "--id", mark, texts.sentence())
        acknowledged = time.perf_counter()
        thread.join(30)
        if "at" not in seen:
            sys.exit("an event has not come within 30 s")
        from_start.append((seen["at"] - begin) * 1000)
        from_acknowledgement.append((seen["at"] - acknowledged) * 1000)
    stream.close()
    return {"from the start of bmad-mem add": figures(from_start), "from its end": figures(from_acknowledgement)}


def show(rows, path=""):
    for name, value in rows.items():
        if isinstance(value, dict) and "p95" in value:
            print(f"  {path + name:<44} p50 {value['p50']:9.2f}  p95 {value['p95']:9.2f}  p99 {value['p99']:9.2f}"
                  f"  max {value['max']:9.2f}  ({value['count']})")
        elif isinstance(value, dict):
            show(value, f"{path}{name}, ")
        else:
            print(f"  {path + name:<44} {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    texts = Texts()
    with tempfile.TemporaryDirectory(prefix="bmad-measure-") as name:
        place = Place(str(pathlib.Path(args.tool).resolve()), pathlib.Path(name))
        place.fill(texts, args.entries)
        server = Server(place.tool, place.folder, place.environment)
        floor = request_bytes("GET", "/auth/session", server.headers())
        found = {"setting": vars(args)}
        found["first search"] = {"ms": round(timed(lambda: server.exchange(search_request(server, texts))), 1)}
        found["search"] = {
            "floor": at_rate(server, lambda: floor, args.rate, args.seconds),
            "search": at_rate(server, lambda: search_request(server, texts), args.rate, args.seconds),
            "one after the other": measure_alone(server, texts),
        }
        found["record"] = measure_record(place, server, texts, args.records)
        found["streams"] = measure_streams(server, args.streams)
        found["stuck"] = measure_stuck(place, server, texts, args.rate, args.seconds / 2)
        found["event"] = measure_event(place, server, texts)
        server.stop()
        server.process.stdout.close()
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"times in ms, seed {SEED}")
        show(found)


def measure_alone(server, texts):
    with server.connect() as connection:
        return figures([timed(lambda: ask(connection, search_request(server, texts))) for _ in range(200)])


if __name__ == "__main__":
    main()
