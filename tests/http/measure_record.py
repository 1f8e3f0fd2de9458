#!/usr/bin/env python3
"""Measures POST /memory/record with wrk, a client that costs less than the write does.

    measure_record.py TOOL [--rounds N] [--seconds N]

Each round has a session of its own: one connection writes to it as fast as it is answered, beside write and
fdatasync of as many bytes by this script, before and after. Needs Debian's wrk.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measure import Place, figures
from serve_process import Server

LUA = """
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer %(token)s"
local count = 0
request = function()
  count = count + 1
  return wrk.format("POST", "/memory/record", nil, '{"type":"finding","session_id":"%(session)s",'
    .. '"discovered_by":"measure","severity":"high","description":"The pool of connections is not configured, and number '
    .. count .. ' waits for one until its request is too old"}')
end
done = function(summary, latency, requests)
  io.write(string.format("%%f %%f %%d %%d\\n", latency:percentile(50) / 1000, latency:percentile(95) / 1000,
    summary.requests, summary.errors.status))
end
"""


def raw_append(folder, count=3000):
    """Times of write and fdatasync of 300 bytes."""
    file = os.open(folder / "raw.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        os.write(file, b"x" * 299 + b"\n")
        os.fdatasync(file)
        times.append((time.perf_counter() - begin) * 1000)
    os.close(file)
    return figures(times)


def records(place, server, session, seconds):
    script = place.folder / "post.lua"
    script.write_text(LUA % {"token": server.token, "session": session}, encoding="ascii")
    script.chmod(0o600)
    shown = subprocess.run(["wrk", "-t1", "-c1", f"-d{seconds}", "-s", script, server.origin], check=True,
                           capture_output=True, text=True).stdout
    p50, p95, count, refused = re.search(r"^([\d.]+) ([\d.]+) (\d+) (\d+)$", shown, re.MULTILINE).groups()
    if int(refused):
        sys.exit(f"{refused} of {count} were refused")
    return {"p50": float(p50), "p95": float(p95), "count": int(count)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=3)
    args = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("measure_record.py: wrk is not installed; apt-get install wrk")
    with tempfile.TemporaryDirectory(prefix="bmad-measure-") as name:
        place = Place(str(pathlib.Path(args.tool).resolve()), pathlib.Path(name))
        place.run("init")
        server = Server(place.tool, place.folder, place.environment)
        ratios = []
        before = raw_append(place.folder)
        for number in range(args.rounds):
            place.run("session", "new", "--id", f"r{number}")
            row = records(place, server, f"r{number}", args.seconds)
            after = raw_append(place.folder)
            ratios.append(2 * row["p95"] / (before["p95"] + after["p95"]))
            print(f"record p50 {row['p50']:.3f} p95 {row['p95']:.3f} ms ({row['count']}); raw p50 {after['p50']:.3f} "
                  f"p95 {after['p95']:.3f} ms; p95 {ratios[-1]:.2f} x")
            before = after
        print(f"median {statistics.median(ratios):.2f} x, {min(ratios):.2f}..{max(ratios):.2f}")
        server.stop()
        server.process.stdout.close()


if __name__ == "__main__":
    main()
