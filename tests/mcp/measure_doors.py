#!/usr/bin/env python3
"""Measures `mcp --compat server-memory` beside the reference memory server, and how soon `watch` prints.

Usage: measure_doors.py TOOL [REFERENCE [RECORDS]]

REFERENCE is the index.js of @modelcontextprotocol/server-memory; without it only ours is measured.
Both are given RECORDS (17000) entities of one observation, and then asked one call after another.
Prints milliseconds; nothing here is a test.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from mcp_process import McpProcess

CALLS = 60
BATCH = 500


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def entity(number):
    return {
        "name": f"entity-{number}",
        "entityType": "component",
        "observations": [f"Component {number} talks to service {number % 97} over port {8000 + number % 1000}"],
    }


def timed(call):
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1000


def ready_times(start, count=15):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        server = start()
        server.open()
        times.append((time.perf_counter() - begin) * 1000)
        server.leave()
    return times


def fill(server, records):
    for first in range(0, records, BATCH):
        server.call("create_entities", entities=[entity(n) for n in range(first, min(first + BATCH, records))])


def measure(name, start, records):
    ready = ready_times(start)
    server = start()
    server.open()
    fill(server, records)
    adds = [timed(lambda: server.call("create_entities", entities=[entity(records + n)])) for n in range(CALLS)]
    searches = [timed(lambda: server.call("search_nodes", query=f"port {8000 + n}")) for n in range(CALLS)]
    print(
        f"{name}: ready {statistics.median(ready):.2f} ms; at {records} records "
        f"append p50 {statistics.median(adds):.2f} p95 {percentile(adds, 0.95):.2f} ms, "
        f"search p50 {statistics.median(searches):.2f} p95 {percentile(searches, 0.95):.2f} ms"
    )
    server.leave()
    return statistics.median(ready), percentile(adds, 0.95), percentile(searches, 0.95)


def measure_watch(tool, folder, environment):
    server = McpProcess([tool, "mcp", "--compat", "server-memory"], folder, environment)
    server.open()
    watch = subprocess.Popen(
        [tool, "--json", "watch", "--last", "1"], cwd=folder, env=environment, stdout=subprocess.PIPE
    )
    watch.stdout.readline()
    printed, answered = [], []
    for number in range(CALLS):
        begin = time.perf_counter()
        request = server.send(
            "tools/call",
            {"name": "create_entities", "arguments": {"entities": [{**entity(number), "name": f"w{number}"}]}},
        )
        for _ in range(2):  # The entity and its observation.
            json.loads(watch.stdout.readline())
        printed.append((time.perf_counter() - begin) * 1000)
        server.wait_for(request)
        answered.append((time.perf_counter() - begin) * 1000)
    print(
        f"watch: printed p50 {statistics.median(printed):.2f} p95 {percentile(printed, 0.95):.2f} ms after the "
        f"request was sent, max {max(printed):.2f}; it was acknowledged after p50 {statistics.median(answered):.2f} ms"
    )
    watch.kill()
    watch.wait()
    server.leave()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = str(pathlib.Path(sys.argv[1]).resolve())
    records = int(sys.argv[3]) if len(sys.argv) > 3 else 17000
    environment = {"PATH": os.environ["PATH"]}
    with tempfile.TemporaryDirectory(prefix="bmad-measure-") as folder:

        def ours():
            return McpProcess([tool, "mcp", "--compat", "server-memory"], folder, environment)

        own = measure("ours", ours, records)
        if len(sys.argv) > 2:
            file = pathlib.Path(folder) / "reference.jsonl"

            def reference():
                return McpProcess(
                    ["node", sys.argv[2]], folder, {**environment, "MEMORY_FILE_PATH": str(file)}
                )

            other = measure("reference", reference, records)
            ratios = [theirs / mine for mine, theirs in zip(own, other)]
            print("reference / ours: ready {:.0f}, append p95 {:.0f}, search p95 {:.0f}".format(*ratios))
        measure_watch(tool, folder, environment)


if __name__ == "__main__":
    main()
