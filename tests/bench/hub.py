#!/usr/bin/env python3
"""A hub and its mirrors, beside what PostgreSQL does with the same bytes.

    bmad-mem ---- bmad-mem-hub ----> a server of our own <---- psql, which connects, does the same, and ends

Usage: ./dev bench hub [--filter GROUP] [--large] [--effort X] [--json]

The server syncs what it acknowledges. It lies below $TMPDIR or /tmp, since it is not run by root. All ask it as a
role under row-level security, not as the owner of the tables.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

from bench_memory import SOURCE, percentile, run
from bench_rows import Bench, McpServer, Row, Target, measure_rows, row_options
from corpus import make

sys.path.insert(0, str(SOURCE / "tests/postgres_server"))
from postgres_server import Server, programs  # noqa: E402

LINE = 594  # Bytes of a line of the corpus, in the middle.
BATCH = 500
MACHINES = 8


class Hubs(Bench):
    """Databases of one server, each a service of its name with a table "raw", and roots that join them."""

    server = None

    def __enter__(self):
        self.environment |= {"PGSERVICEFILE": f"{self.folder}/services"}
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.close()

    def database(self, name):
        """A new one, with the project "house"."""
        if programs() is None:
            raise AssertionError("there is no initdb here, so no hub to measure")
        self.server = self.server or Server(tempfile.gettempdir(), ("fsync=on", "shared_buffers=128MB"))
        place = ("-h", str(self.server.folder), "-p", str(self.server.port), "-U", "owner")
        with contextlib.suppress(Exception):  # Once.
            self.server.run("createuser", *place, "admin")
        self.server.run("createdb", *place, name)
        with open(self.environment["PGSERVICEFILE"], "a", encoding="utf-8") as services:
            for role, service in (("owner", f"{name}-owner"), ("admin", name)):
                services.write(f"[{service}]\nhost={self.server.folder}\nport={self.server.port}\ndbname={name}\nuser={role}\n")
        self.project(name, "house")
        self.psql(f"{name}-owner", "-c", "create table raw (line text); grant all on raw to admin")
        return name

    def project(self, name, project):
        root, of_owner = self.new_root("owner"), ("--service", f"{name}-owner", "--project", project)
        self.on(root, "hub", "init", *of_owner)
        self.on(root, "hub", "member", "admin", "--rights", "admin", *of_owner)

    def psql(self, name, *arguments, **streams):
        """The milliseconds of a psql."""
        return self.run(str(self.server.programs / "psql"), "-XAtqd", f"service={name}", *arguments, **streams)

    def ask(self, name, question):
        self.psql(name, "-c", question, stdout=self.folder / "answer")
        return (self.folder / "answer").read_text(encoding="utf-8").strip()

    def new_root(self, name):
        """Made by its user, so that it may join."""
        root = self.folder / name
        shutil.rmtree(root, ignore_errors=True)
        self.on(root, "init", "--quiet")
        return root

    def joined(self, name, database):
        root = self.new_root(name)
        self.on(root, "hub", "join", database, "house")
        return root

    def filled(self, name, database, count, sessions=10):
        """A joined root with so many lines of the corpus, and the same lines for COPY."""
        made = make(self, self.folder / f"{name}-corpus", count * LINE, count * LINE // sessions, alone=True)
        lines = [line for log in sorted(made.root.glob("sessions/*/*.jsonl")) if log.name != "access.jsonl"
                 for line in log.read_text(encoding="utf-8").replace("\\", "\\\\").splitlines()]
        batches = (lines[at : at + BATCH] for at in range(0, len(lines), BATCH))
        copy = self.folder / f"{name}.sql"
        copy.write_text("".join("copy raw from stdin;\n" + "\n".join(batch) + "\n\\.\n" for batch in batches), encoding="utf-8")
        self.on(made.root, "trust", "--yes")
        self.on(made.root, "hub", "join", database, "house")
        self.psql(database, "-f", str(copy))
        return made.root, copy, len(lines)

    @contextlib.contextmanager
    def following(self, *roots):
        children = [self.start([self.tool, "--root", str(root), "sync", "--follow"]) for root in roots]
        try:
            yield
        finally:
            for child in children:
                os.kill(child, signal.SIGTERM)
                os.waitpid(child, 0)


def wait_until(holds, what):
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come within a minute")
        time.sleep(0.01)


def minus(ours, theirs):
    return [a - b for a, b in zip(ours, theirs)]


def push_rows(hubs):
    name = hubs.database("push")
    root, copy, count = hubs.filled("push", name, hubs.few_or(10_000))
    ms = {"push": [], "copy": []}
    for turn in range(hubs.times(7)):
        hubs.on(root, "hub", "leave")
        hubs.project(name, f"p{turn}")
        ms["push"].append(hubs.on(root, "hub", "join", name, f"p{turn}"))
        ms["copy"].append(hubs.psql(name, "-f", str(copy)))
    return [Row(f"first push of {count} entries", "ms", ms["push"], ("COPY of 500 lines a commit", ms["copy"]),
                note="`hub join` of a new project as a whole process; COPY by psql into a table without an index")]


def rate_together(hubs, roots, step):
    """Calls a second of `step`, by all at once for some seconds."""
    counts, end = [], time.monotonic() + max(0.2, 3 * hubs.chosen.effort)

    def work(root):
        count = 0
        while time.monotonic() < end:
            step(root)
            count += 1
        counts.append(count)

    begin = time.monotonic()
    threads = [threading.Thread(target=work, args=(root,)) for root in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(counts) < len(roots):
        raise AssertionError("one of those at work gave up")
    return sum(counts) / (time.monotonic() - begin)


def single_rows(hubs):
    name = hubs.database("single")
    roots = [hubs.joined(f"single{number}", name) for number in range(MACHINES)]
    insert = ("-c", f"insert into raw values ('{'x' * LINE}')")

    def add(root):
        return hubs.on(root, "add", "fact", f"a fact of {root.name}")

    def push(_):
        add(roots[0])
        return hubs.on(roots[0], "sync")

    ms = hubs.in_turn({"push": push, "nothing": lambda _: hubs.on(roots[0], "sync"), "insert": lambda _: hubs.psql(name, *insert),
                       "trip": lambda _: hubs.psql(name, "-c", "select 1")}, hubs.times(60), 3)
    rates = hubs.in_turn({"push": lambda _: rate_together(hubs, roots, lambda root: (add(root), hubs.on(root, "sync"))),
                          "insert": lambda _: rate_together(hubs, roots, lambda root: (add(root), hubs.psql(name, *insert)))}, hubs.times(3))
    return [Row("`sync` of one entry, above one with nothing to do", "ms", minus(ms["push"], ms["nothing"]),
                ("insert of one line above `select 1`, by psql", minus(ms["insert"], ms["trip"]))),
            Row("8 machines, single entries into one project", "/s", rates["push"], ("`add`, and an insert by psql", rates["insert"]),
                note="all together, each by `add` and `sync`, which pulls, too")]


def pull_row(hubs, name, entries, rounds, wants):
    root, _, count = hubs.filled(f"pull{entries}", name, entries)

    def join(_):
        hubs.new_root("pull")
        return hubs.on(hubs.folder / "pull", "hub", "join", name, "house")

    ms = hubs.in_turn({"join": join, "select": lambda _: hubs.psql(name, "-c", "select line from raw")}, rounds)
    if not hubs.output(hubs.tool, "--root", str(hubs.folder / "pull"), "query", "type:finding"):
        raise AssertionError("what was pulled is not found")
    return Row(f"first pull of {entries} entries", "ms", ms["join"], ("select of the same lines by psql", ms["select"]), wants,
               f"{rounds} times {count} lines, `hub join` as a whole process into an empty root; on the disk, and indexed")


def pull_rows(hubs):
    name = hubs.database("pull")
    rows = [pull_row(hubs, name, hubs.few_or(10_000), hubs.times(7), Target(500, 200))]
    share = hubs.ask(f"{name}-owner", "select pg_total_relation_size('bmad.entry')::float8 / sum(octet_length(line) + 1) from bmad.entry")
    rows.append(Row("bytes of the hub to bytes of the logs", "", [float(share)], wants=Target(1.8, 0.5), note="rows and indexes, after one machine has pushed"))
    if hubs.chosen.large:
        rows.append(pull_row(hubs, hubs.database("million"), 1_000_000, 1, Target(40_000, 12_000)))
    return rows


def sync_rows(hubs):
    few, many, count = hubs.database("few"), hubs.database("many"), hubs.few_or(1000)
    hubs.filled("few", few, hubs.few_or(10_000))
    hubs.on(hubs.many_sessions(hubs.folder / "many-here", count), "hub", "join", many, "house")
    roots = {name: hubs.joined(name, name) for name in (few, many)}
    ms = hubs.in_turn({**{name: lambda _, root=root: hubs.on(root, "sync") for name, root in roots.items()},
                       "psql": lambda _: hubs.psql(few, "-c", "select 1")}, hubs.times(40), 3)
    floor = ("`psql -c 'select 1'`", ms["psql"])
    return [Row("`sync` with nothing to do, 10 sessions", "ms", ms[few], floor, Target(30, 12),
                "whole processes by socket; each makes the server start one, too"),
            Row(f"`sync` with nothing to do, {count:,} sessions", "ms", ms[many], floor)]


def follow_rows(hubs):
    name = hubs.database("follow")
    a, b = hubs.joined("a", name), hubs.joined("b", name)
    ms = []
    with hubs.following(a, b):
        for turn in range(hubs.times(20)):
            time.sleep(turn * 337 % 2000 / 1000)
            word, begin = f"needle{turn}", time.perf_counter()
            hubs.on(a, "add", "fact", word)
            wait_until(lambda: hubs.output(hubs.tool, "--root", str(b), "query", word), "an entry")
            ms.append(1000 * (time.perf_counter() - begin))
    return [Row("from `add` on A to a hit on B, p95", "ms", [percentile(ms, 0.95)], wants=Target(3000, 1000),
                note=f"{len(ms)} entries, both `sync --follow`, which looks every second; p50 {percentile(ms, 0.5):.0f} ms")]


def cpu_us(server, count, tool, **arguments):
    """CPU time of one of `count` calls."""
    def used():
        return sum(int(path.read_text(encoding="utf-8").split()[0]) for path in pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/schedstat"))

    begin = used()
    for _ in range(count):
        server.call(tool, **arguments)
    return (used() - begin) / count / 1000


def cost_rows(hubs):
    """One root, in turn with what makes it a mirror and without. Of what alternates the quickest tenth: the rest is of neighbours."""
    name = hubs.database("cost")
    root, _, _ = hubs.filled("cost", name, hubs.few_or(10_000))

    def plain(measure):
        def without(turn):
            (root / "hub").rename(hubs.folder / "hub")
            try:
                return measure(turn)
            finally:
                (hubs.folder / "hub").rename(root / "hub")
        return without

    with McpServer(hubs, root) as server:
        def add(_):
            us = cpu_us(server, 32, "memory_add", type="fact", text="a fact of a line")
            ask(None)  # Takes in the lines, so that both blocks of queries find the same index.
            return us

        def ask(_):
            return cpu_us(server, 20, "memory_search", query="type:preference index")

        us = hubs.in_turn({"add": add, "add alone": plain(add), "query": ask, "query alone": plain(ask)}, hubs.times(60), 2)
    low = {name: percentile(values, 0.1) for name, values in us.items()}
    return [Row(f"what having a hub costs {article} `{name}`", "us", [low[name] - low[f"{name} alone"]], wants=Target(20),
                note=f"CPU time of a server, {len(us[name])} blocks: {low[name]:.1f} us, without a hub {low[f'{name} alone']:.1f}")
            for article, name in (("an", "add"), ("a", "query"))]


def forget_rows(hubs):
    name = hubs.database("forget")
    a, mirrors = hubs.joined("a", name), [hubs.joined(f"mirror{number}", name) for number in range(MACHINES)]

    def all_have():
        return hubs.ask(name, "select min(r.cursor) >= max(p.head) from bmad.replica r, bmad.project p") == "t"

    ms = []
    with hubs.following(*mirrors):
        for turn in range(hubs.times(5)):
            word = f"canary{turn}"
            hubs.on(a, "add", "fact", word)
            hubs.on(a, "sync")
            wait_until(all_have, "a line on all mirrors")
            begin = time.perf_counter()
            hubs.on(a, "forget", "--match", word, "--yes")
            hubs.on(a, "sync")
            wait_until(all_have, "the confirmation of all mirrors")
            ms.append(1000 * (time.perf_counter() - begin))
    return [Row("`forget` of one id until 8 mirrors have confirmed", "ms", ms, wants=Target(10_000, 4000),
                note=f"{len(ms)} times; `forget` and `sync` on one machine, the others `sync --follow`")]


GROUPS = {"push": push_rows, "single": single_rows, "pull": pull_rows, "sync": sync_rows, "follow": follow_rows, "cost": cost_rows, "forget": forget_rows}


def measure(chosen, folder):
    with Hubs(chosen, folder) as hubs:
        return measure_rows(GROUPS, chosen, hubs)


def main():
    parser = row_options("Measures a hub on a PostgreSQL of its own, and its mirrors.", GROUPS)
    parser.add_argument("--large", action="store_true", help="a million entries, too")
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
