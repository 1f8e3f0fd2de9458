#!/usr/bin/env python3
"""Memories of several shapes as ordinary writes leave them: no rebuild-index, no question before the first one here.

    write the entries | the first question | query, get, list ... in turn | hooks | MCP | sizes

Usage: ./dev bench left [--shape NAME]... [--large] [--alone] [--keep DIR] [--bytes N] [--effort X] [--json]

Whole processes are measured above an empty one; hooks are not, since an agent waits for all of them.
"""

import json
import os
import pathlib
import shutil
import sys

from bench_memory import percentile, run, tell
from bench_rows import LEAST_MS, Bench, McpServer, Row, Target, at_least, byte_count, measure_rows, row_options
from corpus import make

ENTRY_BYTES = 594
SEALED = "10mb-sealed"
SHAPES = {  # Entries, sessions.
    "10mb": (16_835, 1),
    SEALED: (10_650, 1),
    "10k": (10_000, 10),
    "1k-20": (1_000, 20),
    "100k-20": (100_000, 20),
    "100k-200": (100_000, 200),
    "100k-2000": (100_000, 2_000),
    "100k-10000": (100_000, 10_000),
    "1m": (1_000_000, 200),
}
QUERY, AFTER_APPEND, NOTHING, HOOK = "query", "query, one append later", "context of nothing", "prompt hook with context"
START, RECORD = "`hook` with SessionStart", "`hook` with PostToolUse"
SEARCH, GET, RESIDENT = "MCP memory_search, p95", "MCP memory_get, p95", "MCP, resident after these calls"
INDEX = "index/ against the logs"
SMALL_INDEX = {INDEX: (0.40, 0.25)}
MISS = "get of an id that is not there"
# What should not grow with the memory: it prints a few lines of it.
FEW_LINES = ("state get", "session list", "stats", "related", "topics", "timeline", "recall", "context", "watch --last 20")
COLD = (QUERY, "get ID", "list", "context")  # Asked of few sessions and of many.
# What is asked of a shape, and what it may take: milliseconds and the aim, megabytes of the process and the aim.
WANTED = {
    "10mb": {QUERY: (1.2, 0.4), AFTER_APPEND: (1.6, 0.6), SEARCH: (1.1, 0.4), RESIDENT: (20, 12), **SMALL_INDEX},
    SEALED: {QUERY: (60, 30)},
    "10k": {QUERY: (), "get ID": (), "list": (), "context": (), "recall": ()},
    "1k-20": {name: () for name in COLD},
    "100k-20": {QUERY: (3, 1), "context": (20, 10), NOTHING: (), HOOK: (25,), START: (), RECORD: (6,), **SMALL_INDEX},
    "100k-200": {**{name: () for name in FEW_LINES}, MISS: (), HOOK: (15, 5), "get ID": (2, 0.5, 16), "history ID": (2, 0.5, 16), SEARCH: (1.5, 0.6), **SMALL_INDEX},
    "100k-2000": {**{name: () for name in COLD}, QUERY: (15, 5), HOOK: (25, 10), **SMALL_INDEX},
    "100k-10000": {QUERY: (50, 20, 64), HOOK: (), **SMALL_INDEX},
    "1m": {**{name: () for name in FEW_LINES}, MISS: (), QUERY: (8, 2, 48, 16), "get ID": (2, 0.5, 16), "history ID": (2, 0.5, 16), "list": (4, 1, 64), "context": (12, 4, 64),
           "recall": (12, 4, 64), HOOK: (25, 8), SEARCH: (4, 1.5), GET: (2, 0.5), RESIDENT: (64, 24), **SMALL_INDEX},
}
CALLS = {  # The query is the last: the others are asked the same, and beside it.
    AFTER_APPEND: lambda words, key: ("query", words, "--limit", "20"),
    "get ID": lambda words, key: ("get", key),
    MISS: lambda words, key: ("get", "no-such-id"),
    "state get": lambda words, key: ("state", "get", "builder"),
    "session list": lambda words, key: ("session", "list"),
    "stats": lambda words, key: ("stats",),
    "related": lambda words, key: ("related", key),
    "topics": lambda words, key: ("topics",),
    "timeline": lambda words, key: ("timeline",),
    "watch --last 20": lambda words, key: ("watch", "--last", "20", "--for", "0"),
    "history ID": lambda words, key: ("history", key),
    "list": lambda words, key: ("list",),
    "context": lambda words, key: ("context", "--task", words),
    NOTHING: lambda words, key: ("context",),
    "recall": lambda words, key: ("recall",),
    QUERY: lambda words, key: ("query", words, "--limit", "20"),
}


def target(bounds):
    return Target(*bounds[:2]) if bounds else None


class Left:
    """Asks one shape."""

    def __init__(self, bench, shape, medians):
        self.bench, self.shape, self.wanted, self.medians, self.rows = bench, shape, WANTED[shape], medians, []
        entries, sessions = SHAPES[shape]
        size = int(entries * min(1, bench.chosen.bytes / 10e6) * ENTRY_BYTES)
        self.place = pathlib.Path(bench.chosen.keep or bench.folder) / shape
        self.made = make(bench, self.place, size, max(size // sessions, 1000), bench.chosen.alone)

    def add(self, what, unit, values, **more):
        self.rows.append(Row(f"{self.shape}: {what}", unit, values, **{"wants": target(self.wanted.get(what)), **more}))

    def call(self, name, turn):
        asked = CALLS[name](self.made.queries[turn % len(self.made.queries)], self.made.ids[turn % len(self.made.ids)])
        return (self.bench.tool, "--root", str(self.made.root), *asked)

    def ask(self):
        tell(f"asking {self.shape}")
        if self.shape == SEALED:
            self.bench.environment["BMAD_MEM_KEY"] = "0123456789abcdef" * 4
            self.bench.on(self.made.root, "seal", "on", "--yes")
        self.add("the first question", "ms", [self.bench.run(*self.call(QUERY, 0))],
                 note=f"{self.made.entries} entries in {self.made.log_bytes} bytes of logs, {len(self.made.sessions)} sessions")
        self.ask_processes()
        if HOOK in self.wanted:
            self.ask_hooks()
        if SEARCH in self.wanted:
            self.ask_mcp()
        if INDEX in self.wanted:
            fts5 = self.place / "fts5.db"
            share = [sum(path.stat().st_size for path in (self.made.root / "index").glob("*") if path.is_file()) / self.made.log_bytes]
            self.add(INDEX, "", share, beside=("FTS5", [fts5.stat().st_size / self.made.log_bytes]) if fts5.exists() else None)
        return self.rows

    def ask_processes(self):
        def step(name):
            def call(turn):
                if name == AFTER_APPEND:  # As by another process, which is gone when the question comes.
                    self.bench.on(self.made.root, "add", "conversation", "--session", self.made.sessions[0],
                                  '{"role":"user","content":"Is this found at once?","agent_id":"builder"}')
                return self.bench.run(*self.call(name, turn))
            return call

        names = [name for name in CALLS if name in self.wanted]
        for name in names:
            if not self.bench.output(*self.call(name, 0)):
                raise AssertionError(f"{name} printed nothing")
        others = self.others() if QUERY in self.wanted and self.shape != SEALED else {}
        times = self.bench.above_empty({**{name: step(name) for name in names}, **others}, self.bench.times(40))
        for name in names:
            self.medians[self.shape, name] = percentile(times[name], 0.5)
            self.add(name, "ms", times[name], note=f"{len(times[name])} times, above an empty static C program")
            if megabytes := self.wanted[name][2:]:
                peaks = [self.bench.peak_mb(*self.call(name, turn)) for turn in range(3)]
                self.add(f"{name}, peak resident memory", "MB", peaks, wants=target(megabytes))
        for name in others:
            self.add(f"query beside {name}", "ms", times[QUERY], beside=(name, times[name]))

    def others(self):
        """Of a query: the peers that have an index of this memory, and ripgrep."""
        def words(turn):
            return self.made.queries[turn % len(self.made.queries)].split()

        steps = {}
        for name, index in (("FTS5", "fts5.db"), ("Xapian", "xapian")):
            if (self.place / index).exists():
                program, path = self.bench.helper(f"bmad_bench_{name.lower()}"), str(self.place / index)
                steps[name] = lambda turn, program=program, path=path: self.bench.run(program, path, *words(turn))
        if ripgrep := shutil.which("rg"):
            steps["ripgrep"] = lambda turn: self.bench.run(
                ripgrep, "--no-config", "-i", "-g", "*.jsonl", *(f"-e{word}" for word in words(turn)), f"{self.made.root}/sessions")
        return steps

    def fire(self, session, event, **fields):
        """The milliseconds of a hook, and what it printed; events as Claude Code hands them over."""
        path = self.bench.folder / "event.json"
        path.write_text(json.dumps({"session_id": session, "transcript_path": "/dev/null", "cwd": "/", "permission_mode": "default",
                                    "hook_event_name": event, **fields}) + "\n", encoding="utf-8")
        took = self.bench.on(self.made.root, "hook", "claude-code", stdin=path, stdout=self.bench.folder / "said")
        return took, (self.bench.folder / "said").read_text(encoding="utf-8")

    def ask_hooks(self):
        """What a prompt waits for in a session that has begun, with the time that hooks have."""
        times = {START: [], HOOK: [], RECORD: []}
        answered = []
        for turn in range(self.bench.times(30)):
            session, words = f"left-{os.getpid()}-{turn}", self.made.queries[turn % len(self.made.queries)]
            screen = "".join(f"src/file_{line}.cpp:{turn + line}: note: {words}\n" for line in range(25))
            times[START].append(self.fire(session, "SessionStart", source="startup")[0])
            took, said = self.fire(session, "UserPromptSubmit", prompt=f"Please look into {words}")
            times[HOOK].append(took)
            answered.append("additionalContext" in said)
            times[RECORD].append(self.fire(
                session, "PostToolUse", tool_name="Bash", tool_input={"command": f"make -j2 target_{turn}", "description": "Build"},
                tool_response={"stdout": screen, "stderr": "", "interrupted": False}, tool_use_id=f"toolu_{turn}", duration_ms=812)[0])
        self.add(HOOK, "ms", times[HOOK])
        self.add("prompts that are told something", "%", [100 * sum(answered) / len(answered)], wants=at_least(100))
        if RECORD in self.wanted:
            self.add(START, "ms", times[START])
            self.add(RECORD, "ms", times[RECORD], note="what is recorded is durable")

    def ask_mcp(self):
        with McpServer(self.bench, self.made.root) as server:
            times = [server.call("memory_search", query=self.made.queries[turn % len(self.made.queries)])
                     for turn in range(self.bench.times(1000))]
            self.add("MCP memory_search, p50", "ms", [percentile(times, 0.5)], note=f"{len(times)} calls, one after another")
            self.add(SEARCH, "ms", [percentile(times, 0.95)])
            if RESIDENT in self.wanted:
                self.add(RESIDENT, "MB", [server.resident_mb()])
            if GET in self.wanted:
                times = [server.call("memory_get", ids=[self.made.ids[turn % len(self.made.ids)]]) for turn in range(self.bench.times(200))]
                self.add(GET, "ms", [percentile(times, 0.95)], note=f"p50: {percentile(times, 0.5):.3f} ms")


GROWTH = {  # Between which it is counted, of what, and the times that it may be more.
    ("10k", "1m"): (("query", "get ID", "list", "context", "recall"), (3, 1.5)),
    ("100k-200", "1m"): (FEW_LINES, (1.5, 1.1)),
    ("1k-20", "100k-2000"): (COLD, (4, 2.5)),
}


def growth(medians):
    for (small, large), (names, wants) in GROWTH.items():
        for name in names:
            if (small, name) in medians and (large, name) in medians:
                times = [max(medians[shape, name], LEAST_MS) for shape in (small, large)]
                yield Row(f"growth from {small} to {large}: {name}", "times", [times[1] / times[0]], wants=Target(*wants))


def measure(chosen, folder):
    bench, medians = Bench(chosen, folder), {}
    shapes = [shape for shape in SHAPES if shape in (chosen.shape or (SHAPES if chosen.large else ["10mb"]))]
    groups = {shape: lambda bench, shape=shape: Left(bench, shape, medians).ask() for shape in shapes}
    if any(set(pair) <= set(shapes) for pair in GROWTH):
        groups["growth"] = lambda bench: list(growth(medians))
    return measure_rows(groups, chosen, bench)


def main():
    parser = row_options("Measures memories as ordinary writes leave them.", SHAPES)
    parser.add_argument("--shape", action="append", choices=SHAPES, help="a memory; repeatable (10mb; with --large all)")
    parser.add_argument("--large", action="store_true", help="all shapes: minutes, and 2 GB of disk")
    parser.add_argument("--alone", action="store_true", help="without the others, which take minutes to index them")
    parser.add_argument("--keep", help="make the memories in this folder, and use them the next time")
    parser.add_argument("--bytes", type=byte_count, default=10_000_000, help="below 10M all memories are smaller in proportion")
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
