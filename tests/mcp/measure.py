#!/usr/bin/env python3
"""Measures the MCP server as a client sees it, and another one beside it.

    measure.py TOOL [--entries N]... [--calls N] [--reference COMMAND]

ready     from starting the process to its answer to `initialize`, the median of 15 starts
add       memory_add, acknowledged means durable: one call after the other
search    memory_search with two words that are in the store: the same

COMMAND starts the reference memory server, such as "node …/server-memory/dist/index.js"; it gets a
file of as many entities, and create_entities and search_nodes are measured. Only numbers of one run
on one machine may be compared.
"""

import argparse
import json
import pathlib
import random
import shlex
import statistics
import subprocess
import tempfile
import time

from measuring import HELLO, SEED, Server, Texts

STARTS = 15
SESSION_SIZE = 1000


def ready_ms(command, folder, **environment):
    times = []
    for _ in range(STARTS):
        server = Server(command, folder, **environment)
        server.ask("initialize", **HELLO)
        times.append((time.perf_counter() - server.begin) * 1000)
        server.close()
    return statistics.median(times)


def figures(times):
    times = sorted(times)
    return f"median {statistics.median(times):8.2f}   p95 {times[int(len(times) * 0.95)]:8.2f}   max {times[-1]:8.2f}"


def measure(name, command, folder, texts, calls, add, search, **environment):
    print(f"{name:<10} ready   median {ready_ms(command, folder, **environment):8.2f} ms", flush=True)
    server = Server(command, folder, **environment)
    server.ask("initialize", **HELLO)
    print(f"{name:<10} first add      {add(server, texts):8.2f}", flush=True)
    print(f"{name:<10} add     {figures([add(server, texts) for _ in range(calls)])}", flush=True)
    print(f"{name:<10} first search   {search(server, texts):8.2f}", flush=True)
    print(f"{name:<10} search  {figures([search(server, texts) for _ in range(calls)])}", flush=True)
    server.close()


def fill_ours(tool, folder, texts, count):
    run = lambda *args, data="": subprocess.run(  # noqa: E731
        [tool, "--quiet", *args], cwd=folder, input=data, text=True, check=True, capture_output=True)
    run("init")
    for first in range(0, count, SESSION_SIZE):
        session = f"s{first // SESSION_SIZE}"
        run("session", "new", "--id", session)
        size = min(SESSION_SIZE, count - first)
        lines = [json.dumps({"content": texts.sentence()}) for _ in range(size)]
        run("add", "fact", "--session", session, "-", data="\n".join(lines))


def add_ours(server, texts):
    return server.call("memory_add", type="fact", text=texts.sentence())


def search_ours(server, texts):
    return server.call("memory_search", query=texts.query())


def add_reference(server, texts):
    entity = {"name": f"n{random.random()}", "entityType": "fact", "observations": [texts.sentence()]}
    return server.call("create_entities", entities=[entity])


def search_reference(server, texts):
    return server.call("search_nodes", query=texts.query().split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--entries", type=int, action="append")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--reference")
    args = parser.parse_args()
    tool = str(pathlib.Path(args.tool).resolve())
    for count in args.entries or [17_000, 100_000]:
        with tempfile.TemporaryDirectory(prefix="bmad-measure-") as name:
            folder = pathlib.Path(name)
            texts = Texts()
            print(f"== {count} entries, seed {SEED}, {args.calls} calls, times in ms")
            fill_ours(tool, folder, texts, count)
            measure("bmad-mem", [tool, "mcp"], folder, texts, args.calls, add_ours, search_ours)
            if args.reference:
                file = folder / "memory.jsonl"
                with file.open("w", encoding="utf-8") as out:
                    out.write("\n".join(json.dumps(
                        {"type": "entity", "name": f"e{i}", "entityType": "fact",
                         "observations": [texts.sentence()]}, separators=(",", ":")) for i in range(count)))
                measure("reference", shlex.split(args.reference), folder, texts, min(args.calls, 50),
                        add_reference, search_reference, MEMORY_FILE_PATH=str(file))


if __name__ == "__main__":
    main()
