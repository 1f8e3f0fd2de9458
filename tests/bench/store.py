#!/usr/bin/env python3
"""Durable appends and scans within a process, beside the least that each can be.

    ours raw | raw ours | ours raw | ...      a block each: short enough that both meet the same disk

The raw append locks, writes, unlocks and syncs. No check, no id, no look at what is in the file.

Usage: ./dev bench store [--filter GROUP] [--dir DIR] [--effort X] [--seed N] [--json]
"""

import contextlib
import fcntl
import json
import os
import struct
import sys

from bench_memory import percentile, run
from bench_rows import Bench, Row, Target, at_least, measure_rows, rate_of, row_options, together
from corpus import roomy_root, write
from corpus_entries import Corpus
from corpus_text import Random, TextMaker

ENTRY_SIZE = 300  # Of a line in a log, with its newline.
WRITERS = 8
WAIT_MS = 200
LOG_BYTES = 10_000_000


class Store(Bench):
    """An empty memory, and a message whose line has ENTRY_SIZE bytes."""

    def __init__(self, chosen, folder):
        super().__init__(chosen, folder)
        self.data["entry_size"] = ENTRY_SIZE
        self.sessions = 0

    def begin(self):
        self.root = roomy_root(self, self.folder / "memory")
        random = Random(self.chosen.seed)
        text = TextMaker(self.chosen.seed, random)
        self.content = text.sentences(text.topic(), 200).encode()
        with self.opened() as probe:
            too_much = self.line_size(probe) - ENTRY_SIZE
            # The cut may hit a character of several bytes.
            self.content = bytes(byte if byte < 128 else ord("x") for byte in self.content[:len(self.content) - too_much])
            if self.line_size(probe) != ENTRY_SIZE:
                raise AssertionError(f"an entry cannot be cut to {ENTRY_SIZE} bytes")

    def line_size(self, probe):
        session = self.session()
        probe.ask("add", session=session, texts=[self.entry()])
        return (self.root / "sessions" / session / "conversation.jsonl").stat().st_size

    def entry(self):
        """As a program would hand it over: without id and time, which the store fills in."""
        return json.dumps({"agent_id": "builder", "role": "assistant", "content": self.content.decode(), "context": {"topic": "benchmark"}},
                          ensure_ascii=False, separators=(",", ":"))

    def session(self):
        self.sessions += 1
        self.on(self.root, "session", "new", "--id", f"session-{self.sessions:04}", "--user", "user-789", "--agent", "builder")
        return f"session-{self.sessions:04}"

    @contextlib.contextmanager
    def opened(self, **fields):
        """A probe on the memory."""
        with self.probe() as probe:
            probe.ask("open", root=str(self.root), **fields)
            yield probe

    def raw(self, name):
        return str(self.folder / f"{name}.raw")

    def pairs(self, probe, calls, rounds, size, **ours):
        """Blocks of both, side by side: what was answered of ours, and of raw appends of `size` bytes."""
        probe.ask("raw", path=self.raw(f"append-{size}"), size=size)
        answers = self.in_turn({"ours": lambda _: probe.ask("add", times=calls, **ours),
                                "raw": lambda _: probe.ask("raw", size=size, times=calls)}, rounds, 1)
        return answers["ours"], answers["raw"]


def rates(answers, factor=1):
    return [factor * answer.rate for answer in answers]


def cpu(answers):
    return [answer.cpu_us for answer in answers]


def above(ours, raw):
    return [a - b for a, b in zip(cpu(ours), cpu(raw))]


def append_rows(store):
    """durable appends by one writer, and their CPU time"""
    calls = 64
    with store.opened() as probe:
        ours, raw = store.pairs(probe, calls, store.times(120), ENTRY_SIZE, session=store.session(), texts=[store.entry()])
    return [Row("durable append, 300 bytes, one writer", "/s", rates(ours), ("raw", rates(raw)), at_least(0.80, 0.95, "ratio"),
                f"{len(ours)} pairs of blocks of {calls}; raw = lock, write, unlock, fdatasync"),
            Row("CPU of that append above raw", "us", above(ours, raw), wants=Target(25, 10),
                note="ours {:.1f} us, raw {:.1f} us of CPU, user and kernel".format(*(percentile(cpu(each), 0.5) for each in (ours, raw))))]


def parallel_rows(store):
    """eight processes, and eight threads, appending to one session"""
    # One journal commit of the file system makes all durable that was written before it, so eight writers that sync
    # outside the lock are faster than one. How much, the raw appends show.
    seconds = store.seconds(0.5)
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(store.opened()) for _ in range(WRITERS)]
        for writer in writers:
            writer.ask("raw", path=store.raw("parallel"), size=ENTRY_SIZE)

        def ours(count, **more):
            asked = {"do": "add", "session": store.session(), "texts": [store.entry()]}
            together(writers[:count], **asked)  # The first append opens the session.
            return rate_of(together(writers[:count], seconds=seconds, **asked, **more))

        def raw(count):
            return rate_of(together(writers[:count], "raw", size=ENTRY_SIZE, seconds=seconds))

        rate = store.in_turn({"one": lambda _: ours(1), "processes": lambda _: ours(WRITERS), "threads": lambda _: ours(1, threads=WRITERS),
                              "raw": lambda _: raw(1), "raw by all": lambda _: raw(WRITERS)}, store.times(7))
    return [Row("eight processes appending to one session", "/s", rate["processes"], ("by one", rate["one"]), at_least(1.8, 2.3, "ratio"),
                f"{len(rate['one'])} rounds of {seconds} s; each process has a manager of its own"),
            Row("eight threads appending to one session", "/s", rate["threads"], ("by one", rate["one"]),
                note="one process, one manager that all threads share"),
            Row("the limit: eight processes, raw appends", "/s", rate["raw by all"], ("by one", rate["raw"]),
                note="not ours: what sharing journal commits yields on this disk")]


def batch_rows(store):
    """batches of 100 entries"""
    size = 100
    with store.opened() as probe:
        ours, raw = store.pairs(probe, 4, store.times(100), size * ENTRY_SIZE, session=store.session(), texts=[store.entry()] * size, batch=True)
    return [Row("batches of 100 entries, durable", "/s", rates(ours, size), ("raw", rates(raw, size)), at_least(95_000, 285_000),
                f"entries a second; CPU {percentile(above(ours, raw), 0.5) / size:.2f} us an entry above raw")]


def scan_rows(store):
    """reading 10 MB and checking every field"""
    # The cost of everything that reads all there is, such as `verify`, `stats`, and the answer to a query without an index.
    rounds, steps = store.times(15), {}
    corpora = {"messages": Corpus(store.chosen.seed).of_type("conversation"), "mixed": Corpus(store.chosen.seed)}
    with contextlib.ExitStack() as stack:
        written, probes = {}, {}
        for name, entries in corpora.items():
            root = store.folder / f"scan-{name}"
            written[name] = write(store, root, entries, LOG_BYTES, LOG_BYTES, name)
            probes[name] = stack.enter_context(store.probe())
            probes[name].ask("open", root=str(root))

        def step(name, do, **fields):
            return lambda _: probes[name].ask(do, lines=written[name].lines, seconds=store.seconds(0.1), **fields)

        (session,) = written["messages"].sessions
        steps["lines"] = step("messages", "lines", path=f"{store.folder}/scan-messages/sessions/{session}/conversation.jsonl")
        steps["verify"] = step("messages", "verify", sessions=[session])
        steps["statistics"] = step("messages", "versions", session=session)
        steps["mixed"] = step("mixed", "verify", sessions=written["mixed"].sessions)
        answers = store.in_turn(steps, rounds)

    def speed(name, bytes_read):
        return [bytes_read / 1000 / each for each in cpu(answers[name])]

    def row(what, name, of, wants=None):
        bytes_read, lines = of.log_bytes, of.lines
        note = f"{percentile(cpu(answers[name]), 0.5) / 1000:.2f} ms of CPU for {lines} records, {bytes_read} bytes in the page cache"
        return Row(what, "GB/s", speed(name, bytes_read), ("counting lines", speed("lines", written["messages"].log_bytes)), wants, note)

    return [row("scan 10 MB log, all fields checked: verify()", "verify", written["messages"], at_least(0.8, 1.4)),
            row("scan 10 MB log: statistics()", "statistics", written["messages"]),
            row("scan 10 MB of all types: verify()", "mixed", written["mixed"])]


def fairness_rows(store):
    """how often each of eight processes gets the lock"""
    seconds, tick, session = store.seconds(5), '{"role":"user","content":"tick"}', store.session()
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(store.opened()) for _ in range(WRITERS)]
        asked = {"do": "add", "session": session, "texts": [tick]}
        together(writers, **asked)
        together(writers, "raw", path=store.raw("fair"), size=80)
        both = [together(writers, seconds=seconds, **each) for each in (asked, {"do": "raw", "size": 80})]
    counts = [[len(answer.ms) for answer in answers] for answers in both]
    ours, raw = ([max(each) / max(1, min(each))] for each in counts)
    longest, raw_longest = ([max(max(answer.ms) for answer in answers)] for answers in both)
    note = "ours {} / {} appends in {} s, raw {} / {}; not a gate".format(max(counts[0]), min(counts[0]), seconds, max(counts[1]), min(counts[1]))
    return [Row("lock: most / least turns of eight processes", "", ours, ("F_OFD_SETLKW alone", raw), Target(2), note),
            Row("lock: longest append of those, wait and sync", "ms", longest, ("F_OFD_SETLKW alone", raw_longest))]


def set_lock(file, kind):
    """An open-file-description lock on the whole file, as another process would hold it."""
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))


def timeout_rows(store):
    """how late a wait for the lock is given up"""
    session, late = store.session(), []
    asked = {"do": "add", "session": session, "texts": [store.entry()]}
    for _ in range(store.times(15)):
        with store.opened(lock_timeout_ms=WAIT_MS) as probe:  # A wait that timed out leaves a thread behind.
            probe.ask(**asked)
            with open(store.root / "sessions" / session / ".lock", "r+b") as lock:
                set_lock(lock, fcntl.F_WRLCK)
                answer = probe.ask(may_fail=True, **asked)
            if "E_LOCK_TIMEOUT" not in answer.error:
                raise AssertionError(f"an append went past a held lock: {answer.error}")
            late.append(answer.ms[0] - WAIT_MS)
            probe.ask(**asked)  # What timed out must not be in the way of the next.
    return [Row("lock: time-out of 200 ms, how late", "ms", late,
                note=f"earliest {min(late):.3f} ms, latest {max(late):.3f} ms after the time asked for")]


def cpu_rows(store):
    """the steps of a write and a read that need no disk"""
    count = 100
    messages = Corpus(store.chosen.seed).of_type("conversation")
    entries = ["{" + next(messages).line.split(",", 2)[2] for _ in range(count)]  # Without id and time, as programs hand them over.
    refused = [*entries, '{"role":"nobody","content":"x"}']
    with store.opened() as probe:
        def step(do, texts, **fields):
            return lambda _: probe.ask(do, texts=texts, seconds=store.seconds(0.05), **fields)

        # The last is refused, and with it the batch: nothing but the work before the lock is measured, and nothing written.
        steps = {"parse, check and complete an entry": step("add", refused, session=store.session(), batch=True, refused=True),
                 "parse that entry": step("each", entries, part="parse"), "quote its text as JSON": step("each", entries, part="quote"),
                 "check its UTF-8": step("each", entries, part="utf8"),
                 "read an RFC 3339 time": step("each", ["2026-01-11T10:05:23.250Z"] * count, part="time")}
        answers = store.in_turn(steps, store.times(15))
    rows = [Row(f"CPU: {name}", "us", [each / count for each in cpu(values)]) for name, values in answers.items()]
    rows[0].note = f"CPU time an entry, conversation entries of {sum(len(each.encode()) for each in entries) // count} bytes on average"
    return rows


GROUPS = {"append": append_rows, "parallel": parallel_rows, "batch": batch_rows, "scan": scan_rows, "fairness": fairness_rows,
          "timeout": timeout_rows, "cpu": cpu_rows}


def measure(chosen, folder):
    store = Store(chosen, folder)
    store.begin()
    return measure_rows(GROUPS, chosen, store)


def main():
    parser = row_options("Measures writing and scanning within a process.", GROUPS)
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
