#!/usr/bin/env python3
"""What a memory lives through, as whole processes: a write, compaction, deletion, archives, maintenance.

    begin ---- plan ---- .lock.json ---- archive, rewrite ---- manifest.json ---- index ---- end

Usage: ./dev bench lifecycle [--filter GROUP] [--bytes N] [--effort X] [--json]

Nothing here knows the engine's inside. The lock's information is written when the lock is taken, the manifest is
the last that is written under it: the times of the two files are those of the parts. The baseline is what nothing
can do without that looks at every entry and writes the logs anew: `verify`, which parses all lines, one write of
their bytes, one sync. Each repetition finds one full session as it was made.
"""

import collections
import fcntl
import json
import os
import shutil
import sys
import threading
import time

from bench_memory import percentile, run
from bench_rows import Bench, McpServer, Row, Target, at_least, byte_count, measure_rows, row_options
from corpus import make
from told_memory import Snapshot

RAW, TAR = "parse, write, sync", "tar and gzip"
IDS = 100
EVENT = {"agent_id": "builder", "kind": "tool_use", "tool": "Bash", "path": "src/auth/token_store.ts", "content": "x" * 150}


class Life(Bench):
    """A full session, made once, and brought back before each repetition."""

    made_once = None

    def restored(self):
        if self.made_once is None:
            self.made_once = make(self, self.folder / "full", self.chosen.bytes, self.chosen.bytes, alone=True)
            self.session = self.made_once.root / "sessions" / self.made_once.sessions[0]
            self.on(self.made_once.root, "trust", "--yes")
            self.on(self.made_once.root, "query", "this makes the index")
            self.filled = Snapshot(self.made_once.root)
        self.filled.restore()
        os.sync()  # No sync of another one has to wait for it.
        return self.made_once

    def log_bytes(self):
        logs = (path for path in sorted(self.session.glob("*.jsonl")) if path.stem not in ("access", "audit"))
        return b"".join(path.read_bytes() for path in logs)

    def rewrite_raw(self, root):
        """The milliseconds of the baseline."""
        took = self.on(root, "verify")
        begin = time.perf_counter()
        logs = self.log_bytes()
        with open(self.folder / "raw", "wb", buffering=0) as file:
            file.write(logs)
            os.fsync(file.fileno())
        return took + 1000 * (time.perf_counter() - begin)


def written_after(path, begin):
    """Milliseconds from `begin`, of time.time_ns(), to when the file was written or put there. A kernel may round it down to a tick."""
    return (path.stat().st_ctime_ns - begin) / 1e6


def raw_append(file, lock, line):
    """The milliseconds of the least that a durable append can be."""
    begin = time.perf_counter()
    fcntl.lockf(lock, fcntl.LOCK_EX)
    os.write(file, line)
    fcntl.lockf(lock, fcntl.LOCK_UN)
    os.fdatasync(file)
    return 1000 * (time.perf_counter() - begin)


def process_rows(life):
    root, flags = life.folder / "add", os.O_RDWR | os.O_CREAT | os.O_APPEND
    life.on(root, "init")
    life.on(root, "session", "new", "--id", "s1")
    add = (life.tool, "--root", str(root), "add", "event", "--session", "s1", json.dumps(EVENT))
    file, lock = os.open(life.folder / "raw", flags), os.open(life.folder / "raw.lock", flags)
    empty = life.helper("bmad_bench_empty")
    times = life.in_turn({"add": lambda _: life.run(*add), "empty": lambda _: life.run(empty),
                          "raw": lambda _: raw_append(file, lock, b"x" * 299 + b"\n")}, life.times(400), 5)
    os.close(file)
    os.close(lock)
    lines = (root / "sessions/s1/events.jsonl").read_bytes().count(b"\n")
    if lines != len(times["add"]) + 5:  # A tool that wrote nothing would be fast.
        raise AssertionError(f"{lines} entries are there")
    above = [ours - start - raw for ours, start, raw in zip(*times.values())]
    medians = ", ".join(f"{name} {percentile(values, 0.5):.3f} ms" for name, values in times.items())
    return [Row("`bmad-mem add`, above empty process and raw append", "ms", above, wants=Target(2, 0.7), note=f"{medians}; {len(above)} rounds"),
            Row("peak resident memory of that `bmad-mem add`", "MB", [life.peak_mb(*add)], wants=Target(10))]


def compact_rows(life):
    of = collections.defaultdict(list)
    for _ in range(life.times(11)):
        root = life.restored().root
        of["raw"].append(life.rewrite_raw(root))
        begin = time.time_ns()
        of["all"].append(life.on(root, "compact", "--session", life.session.name, "--keep", "80", "--force"))
        if not any((root / "archive").glob("*.evicted.jsonl.gz")):
            raise AssertionError("a compaction of a full session evicted nothing")
        lock, release = (written_after(life.session / name, begin) for name in (".lock.json", "manifest.json"))
        for part, took in (("plan", lock), ("locked", release - lock), ("released", release), ("index", of["all"][-1] - release)):
            of[part].append(took)
    raw, wants = (RAW, of["raw"]), at_least(0.333, 0.667, "ratio")  # A third as fast is three times as long.
    return [Row("compact a full session", "ms", of["all"], raw, wants, f"{len(of['all'])} times, of the session as it was made"),
            Row("compact without the index", "ms", of["released"], raw, wants, "until the lock is given back; by the times of two files"),
            Row("compact: its plan, nothing locked", "ms", of["plan"]),
            Row("compact: archive and rewrite, locked", "ms", of["locked"]),
            Row("compact: the index, nothing locked", "ms", of["index"])]


def delete_rows(life):
    of = collections.defaultdict(list)
    for _ in range(life.times(11)):
        made = life.restored()
        of["raw"].append(life.rewrite_raw(made.root))
        begin = time.time_ns()
        of["all"].append(life.on(made.root, "delete", "--session", life.session.name, "--yes", *made.ids[:IDS]))
        of["released"].append(written_after(life.session / "audit.jsonl", begin))  # The last under the lock.
    return [Row(f"delete {IDS} ids from it", "ms", of["all"], (RAW, of["raw"]), at_least(0.667, 1, "ratio"), "they can be brought back"),
            Row("delete without the index", "ms", of["released"])]


def archive_rows(life):
    of = collections.defaultdict(list)
    tar, gzip = shutil.which("tar"), f"--use-compress-program={shutil.which('gzip')}"
    packed, unpacked = life.folder / "tar.gz", life.folder / "unpacked"
    for _ in range(life.times(11)):
        root = life.restored().root
        # What our archive leaves out.
        of["tar"].append(life.run(tar, gzip, "--exclude=index.json", "--exclude=.lock*", "-cf", str(packed), "-C", str(root / "sessions"), life.session.name))
        unpacked.mkdir()
        of["untar"].append(life.run(tar, gzip, "-xf", str(packed), "-C", str(unpacked)))
        size, before = sum(path.stat().st_size for path in unpacked.rglob("*") if path.is_file()), life.log_bytes()
        shutil.rmtree(unpacked)
        of["pack"].append(life.on(root, "session", "archive", life.session.name))
        of["share"].append(size / sum(path.stat().st_size for path in (root / "archive").glob("*.tar.gz")))
        of["tar share"].append(size / packed.stat().st_size)
        of["unpack"].append(life.on(root, "session", "restore", life.session.name))
        if life.log_bytes() != before:
            raise AssertionError("not all came back")
    return [Row("archive it", "ms", of["pack"], (TAR, of["tar"]), Target(400), "read back and on the disk; its entries stay searchable"),
            Row("restore it", "ms", of["unpack"], (TAR, of["untar"]), Target(250), "on the disk; tar leaves that to the system"),
            Row("archive: bytes before to bytes after", "", of["share"], (TAR, of["tar share"]))]


def maintain_rows(life):
    sessions = life.few_or(1000)
    root = life.many_sessions(life.folder / "many", sessions)
    life.on(root, "maintain", "--auto")  # Does what is due.
    times = life.above_empty({"maintain": lambda _: life.on(root, "maintain", "--auto")}, life.times(200))["maintain"]
    return [Row(f"`bmad-mem maintain --auto`, nothing due, {sessions} sessions", "ms", times, wants=Target(15),
                note=f"{len(times)} processes, above an empty C program")]


def race_rows(life):
    """Who waits for a compaction. All pause a millisecond: three that never rest on two cores wait for each other whatever the engine does."""
    calls = {"a reader's slowest query": ("memory_search", lambda made, turn: {"query": made.queries[turn % len(made.queries)]}),
             "a writer's slowest append": ("memory_add", lambda made, turn: {
                 "type": "conversation", "text": "Does somebody wait while the session is compacted?", "fields": {"role": "user"}})}
    before, during, compaction = ({name: [] for name in calls} for _ in range(3))
    for _ in range(life.times(7)):
        made, phases = life.restored(), [before]

        def work(name, server, slowest, ended):
            turn = 0
            while not ended.is_set():
                phase, (tool, arguments) = phases[0], calls[name]
                took = server.call(tool, **arguments(made, turn))
                slowest[phase is during] = max(slowest[phase is during], took)
                turn += 1
                time.sleep(0.001)

        ended, slowest, threads = threading.Event(), {name: [0, 0] for name in calls}, []
        servers = [McpServer(life, made.root) for _ in calls]
        try:
            for name, server in zip(calls, servers):
                server.call(calls[name][0], **calls[name][1](made, 0))
                threads.append(threading.Thread(target=work, args=(name, server, slowest[name], ended)))
            for thread in threads:
                thread.start()
            time.sleep(0.3)
            phases[0] = during
            took = life.on(made.root, "compact", "--session", life.session.name, "--keep", "80", "--force")
        finally:
            ended.set()
            for thread in threads:
                thread.join()
            for server in servers:
                server.__exit__()
        for name in calls:
            before[name].append(slowest[name][False])
            during[name].append(slowest[name][True])
            compaction[name].append(took)
    return [Row(f"{name} during a compaction", "ms", during[name], ("`compact`", compaction[name]), at_least(1, of="ratio"),
                f"by a server, {len(during[name])} times; before it {percentile(before[name], 0.5):.1f} ms") for name in calls]


GROUPS = {"process": process_rows, "compact": compact_rows, "race": race_rows, "delete": delete_rows, "archive": archive_rows, "maintain": maintain_rows}


def main():
    parser = row_options("Measures a write, compaction, deletion, archives and maintenance.", GROUPS)
    parser.add_argument("--bytes", type=byte_count, default=10_000_000, help="of the full session (10M, which the targets are for)")
    return run(parser.parse_args(), lambda chosen, folder: measure_rows(GROUPS, chosen, Life(chosen, folder)))


if __name__ == "__main__":
    sys.exit(main())
