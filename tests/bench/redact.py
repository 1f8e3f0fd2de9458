#!/usr/bin/env python3
"""The search for secrets, by CPU time: messages, lines, one text, and texts that are meant to be slow.

Usage: ./dev bench redact [--filter GROUP] [--effort X] [--seed N] [--json]
"""

import sys

from bench_memory import SOURCE, run
from bench_rows import Bench, Row, Target, at_least, measure_rows, row_options
from corpus_entries import Corpus

sys.path.insert(0, str(SOURCE / "tests" / "privacy"))
import drawn_kinds  # noqa: E402

TEXT_SIZE = 400
# Texts on which patterns that go back and forth take for ever.
HOSTILE = {
    "aaaa": "a",
    "spaces": " ",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3",
    "====": "=",
    "sk-sk-": "sk-",
    "password=": "password=",
    "eyJeyJ": "eyJ",
    "://": "://",
    "quotes": '"',
    "digits": "4111 ",
}


def corpus_texts(bench, size):
    """Messages of the corpus, and their lines, of `size` bytes or a few more."""
    prose, lines = bytearray(), bytearray()
    for entry in Corpus(bench.chosen.seed).of_type("conversation"):
        prose += entry.text.encode() + b"\n"
        if len(lines) < size:
            lines += entry.line.encode() + b"\n"
        if len(prose) >= size:
            return prose, lines


def hostile_row(bench, probe, name, size):
    """How much longer twice the text takes: 2 is linear."""
    piece = HOSTILE[name].encode()
    text = piece * -(-2 * size // len(piece))
    texts = {"once": text[:len(text) // 2], "twice": text}
    for which, bytes_there in texts.items():
        (bench.folder / which).write_bytes(bytes_there)
    answers = bench.in_turn({which: lambda _, which=which: probe.ask("secrets", path=f"{bench.folder}/{which}", seconds=0.001) for which in texts}, 3)
    ratios = [twice.cpu_us / once.cpu_us for once, twice in zip(answers["once"], answers["twice"])]
    longest = max(answer.cpu_us for answer in answers["twice"]) / 1e6
    return Row(f"twice as much of {name}", "", ratios, wants=Target(2.2), note=f"{len(text) / 1e6:.1f} MB in {longest:.2f} s")


def redact_rows(bench):
    """texts, an entry, and what is meant to be slow"""
    size = int(5e6 * min(1, max(0.02, bench.chosen.effort)))
    texts = dict(zip(("prose", "lines"), corpus_texts(bench, 2 * size)))
    for name, text in texts.items():
        (bench.folder / name).write_bytes(text)
    with bench.probe() as probe:
        def step(path, **fields):
            return lambda _: probe.ask("secrets", path=str(bench.folder / path), seconds=bench.seconds(0.05), **fields)

        answers = bench.in_turn({"prose": step("prose"), "lines": step("lines"), "text": step("prose", size=TEXT_SIZE)}, bench.times(10))
        rows = [Row(what, "MB/s", [len(texts[name]) / answer.cpu_us for answer in answers[name]], wants=wants)
                for what, name, wants in (("messages of the corpus, all rules", "prose", at_least(100)), ("the same as lines of JSON", "lines", None))]
        rows.append(Row(f"one text of {TEXT_SIZE} bytes", "us", [answer.cpu_us for answer in answers["text"]], wants=Target(20)))
        return rows + [hostile_row(bench, probe, name, size) for name in HOSTILE]


def kind_rows(bench):
    """what goes of drawn secrets in many layouts, by half of the layouts"""
    return [Row(f"{half} layouts, {kind}: well treated, of {len(wells)}", "", [drawn_kinds.share(wells)], wants=at_least(drawn_kinds.BOUNDS[kind]))
            for half in ("tuned", "sealed") for kind, wells in drawn_kinds.measured(bench.chosen.tool, half)[0].items()]


GROUPS = {"redact": redact_rows, "kinds": kind_rows}


def main():
    parser = row_options("Measures the search for secrets in texts.", GROUPS)
    return run(parser.parse_args(), lambda chosen, folder: measure_rows(GROUPS, chosen, Bench(chosen, folder)))


if __name__ == "__main__":
    sys.exit(main())
