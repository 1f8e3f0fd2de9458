#!/usr/bin/env python3
"""How often `bmad-mem query` finds the message that answers a question, beside other ways of asking.

Usage: ./dev bench retrieval [--data DIR] [--store NAME]... [--ranking WAY] [--encoder] [--run FILE] [--json]

Each store of the data becomes a memory with default settings; each question is asked as it is in the
data, by a process of its own, five minutes after the newest message or after the time of the question.
"""

import collections
import contextlib
import datetime
import sys

from bench_data import CONVERSATION, Mean, SlipMaker, plan_entries, read_data, score_ranking
from bench_memory import TEXT_ALONE, BadData, Memory, options, percentile, run, table, tell

DEPTH = 100
UNTIL_ASKED = datetime.timedelta(minutes=5)  # As by a person who has just read the newest message.
NOW = datetime.datetime.now(datetime.timezone.utc)  # Of data without times.
AGES = ("up to 7 days", "7 to 30 days", "beyond 30 days")
KINDS = ("age", "category", "store and category", "store", "kind", "all")

Way = collections.namedtuple("Way", "head days options slip", defaults=(0, (), False))
WAYS = {
    "default": Way("default"),
    "week": Way("a week on", days=7),
    "month": Way("a month on", days=30),
    "text": Way("text alone", options=TEXT_ALONE),  # What age, importance and access must not spoil.
    "slip": Way("one slip", slip=True),  # In the rarest word.
    "plain": Way("plain BM25", options=(*TEXT_ALONE, "--ranking", "plain")),  # Of the single message.
    "words": Way("words alone", options=("--no-encoder",)),  # With --encoder alone.
}


def age_of(age):
    """The name of an age; what is yet to come is of this week."""
    return AGES[0] if age <= datetime.timedelta(days=7) else AGES[1] if age <= datetime.timedelta(days=30) else AGES[2]


class Asked:
    """The questions of one store, asked."""

    def __init__(self, chosen, store, folder, results):
        self.results = results
        self.store = store
        self.plan = plan_entries(store)
        self.slips = SlipMaker(store)
        self.times = {message.id: message.time for message in store.messages}
        self.memory = Memory(chosen.tool, folder, chosen.encoder)
        self.memory.at(store.latest_time() or NOW).fill(self.plan)

    def ask(self, question, name):
        way = WAYS[name]
        moment = (question.time or self.store.latest_time() or NOW) + UNTIL_ASKED
        self.memory.at(moment + datetime.timedelta(days=way.days))
        text = self.slips.slipped(question.text) if way.slip else question.text
        found = self.memory.ask(text, DEPTH, *way.options)
        ranking = {}  # Message -> score: the data may give an id to several messages.
        for hit in found.hits:
            ranking.setdefault(self.plan.ids[hit["id"]], hit["relevance"])
        self.results.times_ms[name].append(found.milliseconds)
        if question.relevant:
            self.judge(question, name, list(ranking), found.refused, moment)
        self.results.write(question, name, ranking)

    def judge(self, question, name, ranking, refused, moment):
        kind = "conversations" if self.plan.type == CONVERSATION else "documents"
        category = question.category or "(none)"
        groups = {
            ("store", question.store): question.relevant,
            ("store and category", f"{question.store} {category}"): question.relevant,
            ("category", category): question.relevant,
            ("kind", kind): question.relevant,
            ("all", ""): question.relevant,
            **{("age", f"{kind}, {age}"): [] for age in AGES},
        }
        for key in question.relevant:
            if self.times.get(key):
                groups["age", f"{kind}, {age_of(moment - self.times[key])}"].append(key)
        for group, relevant in groups.items():
            mean = self.results.groups.setdefault(group, collections.defaultdict(Mean))[name]
            if relevant:
                outcome = {"refused": refused, "empty": not refused and not ranking}
                mean.add({**score_ranking(ranking, relevant), **outcome})


class Results:
    """What came of all questions: groups (kind, name) -> way -> Mean, in the order in which they were met."""

    def __init__(self, ranking, run_file):
        self.ways = [name for name in WAYS if ranking in ("all", name)]
        self.groups = {}
        self.times_ms = {name: [] for name in WAYS}
        self.run_file = run_file

    def write(self, question, name, ranking):
        if self.run_file and name == self.ways[0]:
            for key, score in ranking.items():
                self.run_file.write(f"{question.id}\t{key}\t{score}\n")

    def asked(self):
        """The groups with a question, and the ways in which it was asked."""
        for kind in KINDS:
            for (of, name), means in self.groups.items():
                ways = {way: means[way] for way in self.ways if means[way].count}
                if of == kind and ways:
                    yield kind, name, ways

    def text(self):
        rows = []
        for kind, name, ways in self.asked():
            first = next(iter(ways.values()))
            row = {"Recall@10": f"{kind} {name}".strip(), "questions": first.count}
            row |= {WAYS[way].head: mean.percent("recall_at_10") for way, mean in ways.items()}
            lead = lead_over(ways, "text")
            row |= {} if lead is None else {"default above text": f"{lead:+.1f}"}
            rows.append({**row, "refused": first.sums["refused"], "empty": first.sums["empty"]})
        times = "".join(
            f"{WAYS[way].head:<12} p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms a process\n"
            for way, times in self.times_ms.items() if times
        )
        return table(rows) + "\n" + times

    def report(self):
        groups = []
        for kind, name, ways in self.asked():
            group = {"kind": kind, "name": name, "questions": max(mean.count for mean in ways.values())}
            for way, mean in ways.items():
                counts = {count: mean.sums[count] for count in ("refused", "empty")}
                group[way] = {**mean.mean(), **counts}
            for other in ("text", "plain"):
                lead = lead_over(ways, other)
                group |= {} if lead is None else {f"recall_at_10_above_{other}_points": lead}
            groups.append(group)
        times = {way: {"p50": percentile(each, 0.5), "p95": percentile(each, 0.95)}
                 for way, each in self.times_ms.items() if each}
        return {"groups": groups, "times_ms": times}


def lead_over(ways, other):
    """Points of Recall@10 that the default has more; None when one was not asked."""
    if "default" in ways and other in ways:
        return ways["default"].percent("recall_at_10") - ways[other].percent("recall_at_10")
    return None


def ask_store(chosen, store, questions, folder, results):
    asked = Asked(chosen, store, folder, results)
    ways = [way for way in results.ways if way != "words" or chosen.encoder]
    # The clock never goes back. At one time each way is first in turn, so that none always profits
    # from what the one before it read.
    for days in sorted({WAYS[way].days for way in ways}):
        together = [way for way in ways if WAYS[way].days == days]
        for turn, question in enumerate(questions):
            first = turn % len(together)
            for way in together[first:] + together[:first]:
                asked.ask(question, way)
    kind = "conversation entries" if asked.plan.type == CONVERSATION else "documents"
    cut = f", {asked.plan.shortened} texts CUT" if asked.plan.shortened else ""
    tell(f"{store.name}: {len(store.messages)} messages as {kind} in {len(asked.plan.sessions)} sessions{cut}; "
         f"{len(questions)} questions")


def measure(chosen, folder):
    data = read_data(chosen.data)
    for warning in data.warnings:
        tell(f"WARNING: {warning}")
    names = chosen.store or [store.name for store in data.stores]
    unknown = set(names) - {store.name for store in data.stores}
    if unknown:
        raise BadData(f'there is no store "{min(unknown)}" in {chosen.data}/corpus.jsonl')
    with contextlib.ExitStack() as stack:
        run_file = stack.enter_context(open(chosen.run, "w", encoding="utf-8")) if chosen.run else None
        results = Results(chosen.ranking, run_file)
        for number, store in enumerate(each for each in data.stores if each.name in names):
            (folder / str(number)).mkdir()
            questions = [question for question in data.questions if question.store == store.name]
            ask_store(chosen, store, questions, folder / str(number), results)
    unjudged = sum(not question.relevant for question in data.questions if question.store in names)
    if unjudged:
        tell(f"{unjudged} questions name nothing relevant: they are in the run file, not in the table")
    return {"unjudged": unjudged, "warnings": data.warnings, **results.report()}, results.text()


def main():
    parser = options("Measures how often `bmad-mem query` finds what answers a question.")
    parser.add_argument("--store", action="append", help="only this store; repeatable")
    parser.add_argument("--ranking", choices=("all", *WAYS), default="all", help="only this way of asking")
    parser.add_argument("--encoder", action="store_true", help="with the encoder, beside words alone")
    parser.add_argument("--run", help="write query id, message id and score, separated by tabs, to this file")
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
