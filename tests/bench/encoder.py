#!/usr/bin/env python3
"""How fast and how exact the encoder is, and what it adds to a query of many entries.

Usage: ./dev bench encoder [--filter GROUP] [--large] [--keep DIR] [--effort X] [--json]

Its insides are measured by bmad_encoder_probe, with each kind of arithmetic that this processor has.
$BMAD_MEM_ENCODER names the weights, else they are beside the bmad-mem.
"""

import json
import os
import pathlib
import sys
import time

from bench_memory import SHARED, WEIGHTS, percentile, run
from bench_rows import Bench, McpServer, Row, Target, at_least, measure_rows, row_options
from corpus import make

ENTRY_BYTES, SESSIONS = 590, 200
EXACT = at_least(0.995, 0.999)


class Encoder(Bench):
    def weights(self):
        path = os.environ.get("BMAD_MEM_ENCODER") or str(self.programs / WEIGHTS)
        if not os.path.exists(path):
            raise AssertionError(f"there are no weights {path}; ./dev encoder makes them")
        self.environment["BMAD_MEM_ENCODER"] = path
        return path


def encoder_rows(bench):
    reference = SHARED / "encoder/reference.jsonl"
    said = bench.output(bench.helper("bmad_encoder_probe"), "measure", bench.weights(), *([str(reference)] if reference.exists() else []))
    best, *others = map(json.loads, said.splitlines())
    note = f"with {best['kernels']}, CPU time"
    rows = [Row(f"one text, {best['short_pieces']} pieces", "ms", best["short_ms"], wants=Target(3, 1), note=note),
            Row(f"one text, 60 words, {best['long_pieces']} pieces", "ms", best["long_ms"], wants=Target(3.6, 1.2), note=note),
            Row("100,000 texts of 60 words, one core", "min", [each * 100_000 / 60_000 for each in best["long_ms"]], wants=Target(6, 2)),
            Row("opening the weights and encoding one text", "ms", best["open_ms"], wants=Target(12, 5))]
    if "texts" in best:
        note = f"{best['texts']} texts, {best['other_pieces']} of them with other pieces"
        rows += [Row(f"cosine with the reference, {name}", "", [best[f"{name}_cosine"]], wants=EXACT, note=note)
                 for name in ("worst", "mean") if f"{name}_cosine" in best]
    return rows + [Row(f"one text, 60 words, with {each['kernels']}", "ms", each["long_ms"]) for each in others]


def meaning_rows_of(bench, entries):
    """A memory of many entries that all have vectors, asked with and without them."""
    bench.weights()
    size = entries * ENTRY_BYTES
    made = make(bench, pathlib.Path(bench.chosen.keep or bench.folder) / f"encoded-{entries}", size, max(size // SESSIONS, 1000), alone=True)
    begin = time.monotonic()
    before = vectors(made)
    bench.on(made.root, "encode", "--all")
    took, is_large = 1000 * (time.monotonic() - begin), made.entries > 500_000
    rows = []

    def add(what, unit, values, **more):
        rows.append(Row(f"{made.entries} entries: {what}", unit, values, **more))

    if vectors(made) > before:
        add("encoding, one thread", "ms an entry", [took / made.entries], note=f"{made.log_bytes / made.entries:.0f} bytes each")
    add("vectors", "bytes an entry", [vectors(made) / made.entries], wants=Target(96, 66))

    def words(turn):
        return made.queries[turn % len(made.queries)]

    def above(what, meaning, alone, rounds, warm_ups, wants):
        times = bench.in_turn({"meaning": meaning, "alone": alone}, rounds, warm_ups)
        add(f"{what}, above words alone", "ms", [a - b for a, b in zip(*times.values())], wants=wants,
            note="{:.2f} ms with meaning, {:.2f} ms by words alone, medians".format(*(percentile(each, 0.5) for each in times.values())))

    with McpServer(bench, made.root) as meaning, McpServer(bench, made.root, BMAD_MEM_ENCODER="") as alone:
        above("query, warm", *(lambda turn, server=server: server.call("memory_search", query=words(turn), limit=20) for server in (meaning, alone)),
              bench.times(200), 20, Target(15, 6) if is_large else Target(2, 0.7))
    above("query, a whole process", *(lambda turn, more=more: bench.on(made.root, "query", words(turn), "--limit", "20", *more)
                                      for more in ((), ("--no-encoder",))), bench.times(40), 3, Target(12, 5))
    return rows


def vectors(made):
    return sum(path.stat().st_size for path in (made.root / "index").glob("*.vec"))


def meaning_rows(bench):
    sizes = (100_000, 1_000_000)[: 1 + bench.chosen.large]
    return [row for size in sizes for row in meaning_rows_of(bench, int(size * min(1, bench.chosen.effort)))]


GROUPS = {"encoder": encoder_rows, "meaning": meaning_rows}


def main():
    parser = row_options("Measures how fast and how exact the encoder is.", GROUPS)
    parser.add_argument("--large", action="store_true", help="a million entries, too")
    parser.add_argument("--keep", help="make the memories in this folder, and use them the next time")
    return run(parser.parse_args(), lambda chosen, folder: measure_rows(GROUPS, chosen, Encoder(chosen, folder)))


if __name__ == "__main__":
    sys.exit(main())
