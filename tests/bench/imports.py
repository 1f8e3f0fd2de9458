#!/usr/bin/env python3
"""Imports of transcripts into a fresh project: the first, and one of the same files; beside FTS5, which takes in what was stored.

Usage: ./dev bench imports [--bytes N] [--effort X] [--seed N] [--json]

The transcripts are Claude Code's, of 2 MB each, with the messages and events of the corpus. In each tenth a person says a
password, and repeats it. FTS5 is Python's: one transaction, WAL, synchronous=normal.
"""

import json
import os
import random
import sqlite3
import string
import sys
import time
import uuid

from bench_memory import run
from bench_rows import Bench, Row, Target, byte_count, measure_rows, row_options
from corpus_entries import Corpus

FILE_BYTES = 2_000_000
SECRET = "The password of the staging database is Tr0ub4dor-{number:05}-xK, said once"
AN_HOUR_AGO = time.time() - 3600


def records(entries, number, session, random):
    """The lines of one transcript."""
    parent, call = None, None
    for count, entry in enumerate(entry for entry in entries if entry.type in ("conversation", "event")):
        fields, key = json.loads(entry.line), str(uuid.UUID(int=random.getrandbits(128), version=4))
        kind, content = fields.get("role"), fields["content"]
        if number % 10 == 0 and count in (40, 80):
            content += "\n" + SECRET.format(number=number)
        if kind is None and (call is None or fields["kind"] == "tool_use"):
            call = "toolu_01" + "".join(random.choices(string.ascii_letters + string.digits, k=22))
            kind, content = "assistant", [{"type": "tool_use", "id": call, "name": fields["tool"], "input": {"command": content}}]
        elif kind is None:
            kind, content = "user", [{"type": "tool_result", "tool_use_id": call, "content": content}]
            call = None
        elif kind == "assistant":
            content = [{"type": "text", "text": content}]
        message = {"role": kind, "content": content, **({"id": f"msg_01{key[:8]}", "model": "claude", "usage": {"output_tokens": 7}} if kind == "assistant" else {})}
        yield json.dumps({"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/me/ferry", "sessionId": session, "version": "2.1.332",
                          "gitBranch": "main", "type": kind, "message": message, "uuid": key, "timestamp": fields["timestamp"]}, ensure_ascii=False)
        parent = key


def make_transcripts(bench, folder):
    """Files of `--bytes` in all, an hour old."""
    folder.mkdir()
    corpus, numbers, size, number = Corpus(bench.chosen.seed), random.Random(bench.chosen.seed), 0, 0
    while size < bench.chosen.bytes:
        session = str(uuid.UUID(int=numbers.getrandbits(128), version=4))
        path = folder / f"{session}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for line in records(corpus, number, session, numbers):
                size += file.write(line + "\n")
                if file.tell() >= FILE_BYTES:
                    break
        os.utime(path, (AN_HOUR_AGO, AN_HOUR_AGO))
        number += 1
    bench.data["transcripts"] = f"{number} of {size / 1e6:.0f} MB"


def cost(bench, *arguments):
    """The seconds of a process, and those of the processor."""
    begin = time.perf_counter()
    _, status, usage = os.wait4(bench.start((bench.tool, *arguments)), 0)
    if status:
        raise AssertionError((bench.folder / "errors").read_text(encoding="utf-8"))
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def cost_of_fts5(path, texts):
    begin, cpu = time.perf_counter(), time.process_time()
    database = sqlite3.connect(path)
    database.executescript("pragma journal_mode=wal; pragma synchronous=normal; create virtual table e using fts5(id unindexed, content)")
    database.executemany("insert into e values (?, ?)", texts)
    database.commit()
    database.close()
    return time.perf_counter() - begin, time.process_time() - cpu


def import_rows(bench):
    """the first import and the second, as shares of what FTS5 takes and of the first"""
    folder, of = bench.folder / "transcripts", {name: [] for name in ("first", "second", "FTS5")}
    make_transcripts(bench, folder)
    for turn in range(bench.times(3)):
        root = bench.folder / f"root-{turn}"
        bench.on(root, "init")
        os.sync()
        for name in ("first", "second"):
            of[name].append(cost(bench, "--root", str(root), "import", str(folder)))
        lines = (json.loads(line) for log in sorted(root.glob("sessions/*/*.jsonl")) if log.stem in ("conversation", "events") for line in log.open("rb"))
        texts = [(entry["id"], entry["content"]) for entry in lines]
        of["FTS5"].append(cost_of_fts5(bench.folder / f"fts5-{turn}", texts))
    bench.data["stored"] = f"{len(texts)} texts of {sum(len(text) for _, text in texts) / 1e6:.0f} MB"

    alone = bench.folder / "root-alone"
    bench.on(alone, "init")

    def ratios(name, beside, part):
        return [ours[part] / theirs[part] for ours, theirs in zip(of[name], of[beside])]

    seconds = {name: f"{min(each)[0]:.2f} s, {min(each)[1]:.2f} s of the processor" for name, each in of.items()}
    return [Row("first import in times of FTS5, wall", "", ratios("first", "FTS5", 0), wants=Target(1.5), note=seconds["first"]),
            Row("first import in times of FTS5, CPU", "", ratios("first", "FTS5", 1), wants=Target(1.5), note=f"FTS5: {seconds['FTS5']}"),
            Row("second import, share of the first, wall", "", ratios("second", "first", 0), wants=Target(0.05), note=seconds["second"]),
            Row("second import, share of the first, CPU", "", ratios("second", "first", 1), wants=Target(0.05)),
            Row("first import, peak resident memory", "MB", [bench.peak_mb(bench.tool, "--root", str(alone), "import", str(folder))])]


GROUPS = {"imports": import_rows}


def main():
    parser = row_options("Measures imports of transcripts.", GROUPS)
    parser.add_argument("--bytes", type=byte_count, default=100_000_000, help="of the transcripts (100M)")
    return run(parser.parse_args(), lambda chosen, folder: measure_rows(GROUPS, chosen, Bench(chosen, folder)))


if __name__ == "__main__":
    sys.exit(main())
