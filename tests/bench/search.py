#!/usr/bin/env python3
"""Queries within one process whose index is loaded, beside FTS5 and Xapian, and what appends to a full session cost.

    query 1:   A A A   B B B   C C C      the median of three counts, since the first of them pays for what the
    query 2:   B B B   C C C   A A A      engine before pushed out of the caches

A round is all queries; each round gives every engine a median and a 95th percentile, and each pair of engines a ratio.
Like beside like: the 20 best as ids (numbers, for the others) and scores, and the 20 best as whole texts with snippets.

Usage: ./dev bench search [--filter GROUP] [--bytes N] [--effort X] [--seed N] [--json]
"""

import collections
import contextlib
import os
import shutil
import sys

from bench_memory import percentile, run
from bench_rows import Bench, Row, Target, at_least, byte_count, measure_rows, row_options
from corpus import PEERS, make, roomy_root
from corpus_entries import Corpus

LEAST_OVERLAP = 0.88  # Below, the others answer another question, and how fast they do it says nothing.
# What is to be beaten, and how many times.
WANTED = {"FTS5": at_least(100, 500, "ratio"), "Xapian": at_least(3, 8, "ratio")}
PLAIN, IDS, CONTEXT = {"plain": True}, {"plain": True, "ids_only": True}, {}
AND = {"plain": True, "ids_only": True, "operators": True}
REPEATS, THOUSAND, QUERIES, BATCH, CHUNK = 3, 1000, 6, 256, 1000
Other = collections.namedtuple("Other", "name kind in_memory overlap")
Race = collections.namedtuple("Race", "name p50 p95")  # Microseconds, a value for each round.


class Search(Bench):
    """A memory in one session, which all groups ask."""

    def begin(self):
        size = self.chosen.bytes
        self.made = make(self, self.folder / "store", size, size, keep_texts=True)
        self.queries = [query.split() for query in self.made.queries[:max(10, min(200, self.times(200)))]]
        self.on(self.made.root, "rebuild-index")
        self.data.update(entries=self.made.entries, log_bytes=self.made.log_bytes, sessions=len(self.made.sessions), queries=len(self.queries))

    @contextlib.contextmanager
    def opened(self, root):
        with self.probe() as probe:
            probe.ask("open", root=str(root))
            yield probe

    def fill(self, probe, peer, kind, path, **fields):
        """An index of the memory's texts."""
        probe.ask("peer", peer=peer, kind=kind, path=path, is_new=True, **fields)
        for first in range(0, len(self.made.texts), CHUNK):
            probe.ask("insert", peer=peer, texts=self.made.texts[first:first + CHUNK])
        probe.ask("insert", peer=peer, texts=[], optimize=True)


def ours(probe, words, how, times=1):
    return probe.ask("query", texts=[(" AND " if "operators" in how else " ").join(words)], times=times, **how)


def theirs(probe, words, peer, times=1, every=False):
    return probe.ask("best", peer=peer, texts=words, times=times, all=every)


def asked(answer, words):
    if not answer.ids:
        raise AssertionError(f"{' '.join(words)}: nothing")
    return percentile([1000 * each for each in answer.ms], 0.5)


def race(bench, engines, queries):
    """The results by the names of engines: functions of words and of how often. A round before the first warms up."""
    results = {name: Race(name, [], []) for name in engines}
    steps = {name: lambda turn, ask=ask: asked(ask(queries[turn], REPEATS), queries[turn]) for name, ask in engines.items()}
    for counted in range(bench.times(5) + 1):
        times = bench.in_turn(steps, len(queries))
        for name, result in results.items():
            if counted:
                result.p50.append(percentile(times[name], 0.5))
                result.p95.append(percentile(times[name], 0.95))
    return results


def beside(what, one, other, wants=None, note=""):
    """At the median and at the 95th percentile, which is judged."""
    return [Row(f"{what}, p50", "us", one.p50, (other.name, other.p50), note=note),
            Row(f"{what}, p95", "us", one.p95, (other.name, other.p95), wants, note)]


def overlap_with(bench, probe, peer):
    """The mean share of the 20 best that ours, by plain BM25, and `peer` have in common."""
    shares = []
    for words in bench.queries:
        their = [bench.made.all_ids[number - 1] for number in theirs(probe, words, peer).ids]
        hits = ours(probe, words, PLAIN).ids
        shares.append(len(set(hits) & set(their)) / max(len(hits), len(their), 1))  # Fewer than 20 entries hold a rare word.
    return sum(shares) / len(shares)


def others_of(bench, probe, kinds):
    """In memory and in files, without their texts."""
    for name, kind in [("FTS5 in memory", "FTS5")] * ("FTS5" in kinds) + list(zip(kinds, kinds)):
        if name == kind:
            probe.ask("peer", peer=name, kind=kind, path=str(bench.folder / "store" / PEERS[kind]))
        else:
            bench.fill(probe, name, kind, ":memory:")
        yield Other(name, kind, name != kind, overlap_with(bench, probe, name))


def others_with_texts(bench, probe, kinds):
    """FTS5 in memory, Xapian in a file."""
    for kind in kinds:
        in_memory = kind == "FTS5"
        name = f"{kind}{' in memory' * in_memory}, texts and snippets"
        path = ":memory:" if in_memory else str(bench.folder / "with-texts")
        bench.fill(probe, name, kind, path, keeps_texts=True)
        if not in_memory:
            probe.ask("peer", peer=name, kind=kind, path=path, keeps_texts=True)
        yield Other(name, kind, in_memory, None)


def and_rows(bench, probe, others):
    """Beside those in files, on the queries of several words of which all find entries that hold every one of them."""
    engines = {"AND": lambda words, times=1: ours(probe, words, AND, times)}
    for other in others:
        if not other.in_memory:
            engines[other.name] = lambda words, times=1, peer=other.name: theirs(probe, words, peer, times, every=True)
    queries = [words for words in bench.queries if len(words) > 1 and all(ask(words).ids for ask in engines.values())]
    if not queries or len(engines) < 2:
        return []
    one, *results = race(bench, engines, queries).values()
    note = f"{len(queries)} queries of 2 to 5 words that all find something"
    return [row for other in results
            for row in beside("warm query, AND, ids and scores", one, other, at_least(1, 2, "ratio") if other.name == "Xapian" else None, note)]


def warm_rows(bench):
    """queries in one process, beside FTS5 and Xapian; the overlap of results"""
    with bench.opened(bench.made.root) as probe:
        kinds = [kind for kind in PEERS if kind in probe.ask("facts").peers]
        others, with_texts = list(others_of(bench, probe, kinds)), list(others_with_texts(bench, probe, kinds))
        engines = {name: lambda words, times=1, how=how: ours(probe, words, how, times) for name, how in (
            ("plain", PLAIN), ("context", CONTEXT), ("default", {"default_weights": True}), ("ids", IDS))}
        for other in others + with_texts:
            engines[other.name] = lambda words, times=1, peer=other.name: theirs(probe, words, peer, times)
        results = race(bench, engines, bench.queries)
        rows = []
        for other in others:
            says_nothing = f"SAYS NOTHING: only {other.overlap:.2f} of the 20 best are the same"
            rows.append(Row(f"overlap of the 20 best with {other.name}", "", [other.overlap], wants=at_least(LEAST_OVERLAP),
                            note="mean share of the 20 best that both have, ours ranking by plain BM25 of the entry"))
            rows += beside("warm query, ids and scores", results["ids"], results[other.name],
                           WANTED[other.kind] if other.in_memory or other.kind != "FTS5" else None,
                           says_nothing if other.overlap < LEAST_OVERLAP else
                           "plain BM25, no texts; ours gives back ids and where they are, the other numbers")
        rows += and_rows(bench, probe, others)
    for other in with_texts:
        rows += beside("warm query, whole entries with snippets", results["plain"], results[other.name], WANTED[other.kind],
                       "plain BM25; both give back whole texts with snippets")
    rows += [Row(f"warm query beside {kind}", problem="not built in; install its library and configure again") for kind in PEERS if kind not in kinds]
    rows += beside("warm query, whole form", results["context"], results["plain"])
    rows += beside("warm query, default weights", results["default"], results["plain"])
    form = [context / plain for context, plain in zip(results["context"].p95, results["plain"].p95)]
    return [*rows, Row("whole form to plain BM25, p95", "times", form, wants=Target(3, 2))]


# A full session takes on a thousand entries, one by one: how long may one of them take, and what does the question
# after them pay for what is new?
#
#    append | raw append | FTS5      in turn, a thousand times; then a query, and five more
#
# Nothing here knows when the engine decides to seal. After each query index/ is looked at: when there are other
# segments, that query is the one that sealed.


class Ingest:
    """A copy of the memory, which appends change."""

    def __init__(self, bench, probe, root):
        self.bench, self.probe, self.root = bench, probe, root
        self.session = bench.made.sessions[0]
        self.messages = Corpus(bench.chosen.seed + 1).of_type("conversation")
        self.of = collections.defaultdict(list)  # Milliseconds by what they were measured of.
        self.turn = 0
        self.has_fts5 = "FTS5" in probe.ask("facts").peers

    def append(self):
        line = next(self.messages).line
        return line, self.probe.ask("add", session=self.session, texts=[line], batch=True)

    def append_thousand(self):
        longest = collections.defaultdict(float)
        for number in range(THOUSAND):
            line, answer = self.append()
            took = {"ours": answer.ms[0], "cpu": answer.cpu_ms, "raw": self.probe.ask("raw", size=len(line.encode()) + 1).ms[0]}
            if self.has_fts5:
                text = self.bench.made.texts[(len(self.of["ours"]) * THOUSAND + number + 1) % len(self.bench.made.texts)]
                took["fts5"] = self.probe.ask("insert", peer="FTS5", texts=[text]).ms[0]
            for name, each in took.items():
                longest[name] = max(longest[name], each)
        for name, each in longest.items():
            self.of[name].append(each)

    def query(self):
        words = self.bench.queries[self.turn % len(self.bench.queries)]
        self.turn += 1
        return ours(self.probe, words, CONTEXT).ms[0]

    def segments(self):
        return {path.name for path in (self.root / "index").glob("*.seg")}

    def ask_after(self):
        """Queries after them: the first seals what the writers left to it. Then one after each append."""
        for _ in range(QUERIES):
            before, took = self.segments(), self.query()
            self.of["query" if self.segments() == before else "seal"].append(took)
        for _ in range(QUERIES):
            self.append()
            self.of["after"].append(self.query())

    def seal_row(self):
        what, sealed, others = "the query that seals 1,000 new entries, above the others", self.of["seal"], self.of["query"]
        if not sealed or not others:
            return Row(what, problem=f"{len(sealed)} queries sealed, {len(others)} did not")
        usual = percentile(others, 0.5)
        return Row(what, "ms", [took - usual for took in sealed], wants=Target(30, 10),
                   note=f"{len(sealed)} of {len(sealed) + len(others)} queries sealed; the others took {usual:.3f} ms")


def beside_row(ingest):
    """One process asks while another one appends, each entry durable."""
    bench, appended, medians = ingest.bench, 0, []
    bare = ["{" + next(ingest.messages).line.split(",", 2)[2] for _ in range(THOUSAND)]  # Without id and time.
    with bench.opened(ingest.root) as writer, bench.opened(ingest.root) as reader:
        texts = [" ".join(words) for words in bench.queries]
        for _ in range(bench.times(5)):
            reader.ask("query", texts=texts)  # Begins with the segment.
            writer.send("add", session=ingest.session, texts=bare, seconds=1)
            reader.send("query", texts=texts, seconds=1)
            written, answers = writer.answer(), reader.answer()
            if written.error or answers.error:
                raise AssertionError(written.error or answers.error)
            appended += len(written.ms)
            medians.append(percentile(answers.ms, 0.5))
    return Row("warm query while another process appends, p50", "ms", medians, wants=Target(0.4, 0.25),
               note=f"{appended} entries were appended meanwhile")


def import_row(bench, probe):
    """Into a new memory, with the close of the session, which seals; FTS5 is given the texts alone."""
    messages, texts = Corpus(bench.chosen.seed + 2).of_type("conversation"), bench.made.texts
    lines = [next(messages).line for _ in texts]

    def batches(do, of, **fields):
        took = sum(probe.ask(do, texts=of[first:first + BATCH], **fields).ms[0] for first in range(0, len(of), BATCH))
        return took / 1000

    def import_ours(_):
        root = roomy_root(bench, bench.folder / "import")
        bench.on(root, "session", "new", "--id", "imported")
        probe.ask("open", root=str(root))
        took = batches("add", lines, session="imported", batch=True) + probe.ask("close", session="imported").ms[0] / 1000
        shutil.rmtree(root)
        return len(lines) / took

    def import_fts5(_):
        path = bench.folder / "import.db"
        took = probe.ask("peer", peer="import", kind="FTS5", path=str(path), is_new=True).ms[0] / 1000 + batches("insert", texts, peer="import")
        path.unlink()
        return len(texts) / took

    fts5 = {"FTS5": import_fts5} if "FTS5" in probe.ask("facts").peers else {}
    rates = bench.in_turn({"ours": import_ours, **fts5}, bench.times(3))
    return Row("import in batches of 256, sealed at the end", "/s", rates["ours"], ("FTS5, not on the disk", rates["FTS5"]) if fts5 else None,
               at_least(40_000, 80_000), f"{len(lines)} messages, each batch durable")


def ingest_rows(bench):
    """the longest append, an import, and what the query that seals the new takes"""
    root = bench.folder / "append"
    shutil.copytree(bench.made.root, root)
    bench.on(root, "rebuild-index")
    os.sync()  # No sync of another one has to wait for it.
    with bench.opened(root) as probe:
        ingest = Ingest(bench, probe, root)
        if ingest.has_fts5:
            probe.ask("peer", peer="FTS5", kind="FTS5", path=str(bench.folder / "append.db"), is_new=True)
        probe.ask("raw", path=str(bench.folder / "raw"), size=1)
        for _ in range(bench.times(5)):
            ingest.append_thousand()
            ingest.ask_after()
    of, longest = ingest.of, "longest of 1,000 appends to a full session"
    rows = [Row(f"{longest}, CPU", "ms", of["cpu"], wants=Target(3, 1),  # What the disk takes is not ours, and differs more than all else.
                note=f"{len(of['cpu'])} thousands, each entry durable"),
            Row(longest, "ms", of["ours"], ("raw append", of["raw"]))]
    if of["fts5"]:
        rows.append(Row(longest, "ms", of["ours"], ("FTS5, not on the disk", of["fts5"])))
    rows += [beside_row(ingest), Row("warm query, the first after one append, p50", "ms", of["after"], wants=Target(0.4, 0.25)), ingest.seal_row()]
    with bench.probe() as probe:
        return [*rows, import_row(bench, probe)]


GROUPS = {"warm": warm_rows, "append": ingest_rows}


def measure(chosen, folder):
    search = Search(chosen, folder)
    search.begin()
    return measure_rows(GROUPS, chosen, search)


def main():
    parser = row_options("Measures queries and indexing within a process, beside others.", GROUPS)
    parser.add_argument("--bytes", type=byte_count, default=10_000_000, help="of the memory (10M, which the targets are for)")
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
