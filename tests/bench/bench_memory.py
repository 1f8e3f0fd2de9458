"""A memory that the shipped program fills and asks, the command line of a benchmark, and its tables.

What is measured are whole processes of `bmad-mem`, as users and hooks start them, at a moved clock.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "month"))
from bench_data import BadData  # noqa: E402
from month_data import SHARED  # noqa: E402
from month_doors import TEXT_ALONE, World  # noqa: E402

WEIGHTS = "encoder.bmw"  # Beside the program.
Found = collections.namedtuple("Found", "hits milliseconds refused")


class Memory(World):
    """A memory in a folder of its own, with default settings, at the time that `at` was given."""

    def __init__(self, tool, folder, encoder=False):
        super().__init__(tool, pathlib.Path(folder))
        self.encoder = str(tool.parent / WEIGHTS) if encoder else ""

    def environment(self, **more):
        return super().environment(BMAD_MEM_ENCODER=self.encoder, **more)

    def at(self, moment):
        self.base, self.set_at = moment, time.monotonic()
        return self

    def fill(self, *plans):
        """Writes the sessions of plans (see bench_data) by `session new` and `add`."""
        self.run("init")
        for plan in plans:
            for session, entries in plan.sessions.items():
                self.run("session", "new", "--id", session)
                lines = "".join(json.dumps(entry) + "\n" for entry in entries)
                self.run("add", plan.type, "--session", session, "-", stdin=lines)
        if self.encoder:
            self.run("encode", "--all")

    def ask(self, text, limit, *options):
        """The best hits as `query --json` prints them; refused: an error of the query, without hits."""
        said = self.run("--json", "query", "--limit", str(limit), *options, "--", text, statuses=(0, 1))
        refused = self.status != 0
        if refused and "E_INVALID_QUERY" not in self.errors:
            raise AssertionError(f"{text}: {self.errors}")
        hits = [] if refused else [json.loads(line) for line in said.splitlines()]
        return Found(hits, 1000 * self.seconds, refused)


def percentile(values, share):
    """As numpy has it: between the two nearest values."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def table(rows, aligned=False):
    """Dicts of the same names as a Markdown table; numbers of points or milliseconds get a decimal."""
    cells = [list(rows[0])] + [[cell_text(cell) for cell in row.values()] for row in rows] if rows else []
    widths = [max(map(len, column)) if aligned else 0 for column in zip(*cells)]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    if lines:
        lines.insert(1, "|" + "".join("-" * max(3, width + 2) + "|" for width in widths))
    return "".join(line + "\n" for line in lines)


def cell_text(cell):
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def environment(tool, folder):
    """What a number that is quoted comes with."""
    cpu = platform.processor()
    with contextlib.suppress(OSError):
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), cpu)
    load = os.getloadavg()[0]
    if load > 0.5 * os.cpu_count():
        tell(f"WARNING: the machine is busy (load {load:.2f} on {os.cpu_count()} cores): do not trust times")
    mount = subprocess.run(["df", "--output=fstype,source", folder], capture_output=True, text=True, check=True).stdout
    if "tmpfs" in mount:
        tell("WARNING: the folder lies in memory, where a sync does nothing; name one on a disk with --dir")
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cpu": f"{cpu}, {os.cpu_count()} cores",
        "load": f"{load:.2f} before the start",
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "file system": " on ".join(mount.splitlines()[-1].split()),
        "program": str(tool),
    }


def options(about, data=True):
    """The parser of a benchmark, with the options that all have; those without `data` make it themselves."""
    parser = argparse.ArgumentParser(description=about)
    parser.set_defaults(data="", encoder=False)
    if data:
        parser.add_argument("--data", type=pathlib.Path, help="folder with corpus.jsonl and queries.jsonl",
                            default=os.environ.get("BMAD_RETRIEVAL_DATA") or SHARED / "retrieval-dev")
        parser.add_argument("--encoder", action="store_true", help="with the encoder, whose weights are beside the bmad-mem")
    parser.add_argument("--tool", type=pathlib.Path, help="the bmad-mem to start ($BMAD_MEM_BINARY, else the release)",
                        default=os.environ.get("BMAD_MEM_BINARY") or SOURCE / "build/release/bmad-mem")
    parser.add_argument("--dir", type=os.path.abspath, help="make the memory in this folder ($TMPDIR, else /tmp)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser


def tell(text):
    print(text, file=sys.stderr, flush=True)


def run(chosen, measure):
    """Calls measure(chosen, folder), which returns (report, text), and prints one of them. The exit status."""
    chosen.tool = chosen.tool.resolve()
    if chosen.data and not chosen.data.exists():
        print(f"skipped: there is no folder {chosen.data}; name one with --data that holds corpus.jsonl and queries.jsonl")
        return 0
    try:
        if chosen.encoder and not (chosen.tool.parent / WEIGHTS).exists():
            raise BadData(f"there is no {chosen.tool.parent / WEIGHTS}; make it with ./dev encoder")
        facts = environment(chosen.tool, chosen.dir or tempfile.gettempdir())
        with tempfile.TemporaryDirectory(prefix="bmad-bench-", dir=chosen.dir) as folder:
            report, text = measure(chosen, pathlib.Path(folder))
            facts.update(report.pop("facts", {}))
    except (BadData, OSError, AssertionError, subprocess.SubprocessError) as error:
        tell(f"bench: {error}")
        return 1
    if chosen.json:
        print(json.dumps({"environment": facts, "data": str(chosen.data), **report}, indent=2, ensure_ascii=False))
    else:
        print("".join(f"{name:<13} {fact}\n" for name, fact in facts.items()), text, sep="\n")
    return int(any("problem" in row for row in report.get("rows", ())))
