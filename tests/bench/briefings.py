#!/usr/bin/env python3
"""What a model is told by the prompt's hook: the answer, the older value, something unrelated, or nothing.

Usage: ./dev bench briefings [--half tune|sealed|both] [--part NAME]... [--details FILE] [--data DIR] [--agents DIR]
                             [--fixtures DIR] [--scale N] [--json]

    unrelated      prompts that ask nothing: those that are told anything
    evidence       questions: share of the messages with the answer among what is told, by their age
    lines          a month of work that is lived again: lines told that hold what was asked
    rules          rules that a person typed: told in the next session; and sentences that are no rules
    contradicting  pairs of messages that contradict each other: the newer one first
    again          Recall@10 of questions that were asked before, and answered without content
    certainty      area under the curve of `query`'s certainty: answered questions against others

Default settings, and `bmad-mem hook claude-code` with each event; only what `query` says is asked of `query`.
Of the sealed half, numbers alone are printed.
"""

import collections
import concurrent.futures
import contextlib
import json
import pathlib
import sys
import threading

import told_parts
from bench_data import Data, read_data
from bench_memory import SHARED, options, run, table, tell
from told_data import FIXTURES, HALVES, read_half

AT_ONCE = 2  # Processes; each waits for the disk for a third of its time.


class Figure:
    """A row of the table. `must`, `aim`: None where there is none; `most`: whether less is better."""

    def __init__(self, text, must=None, aim=None, most=False, unit="%"):
        self.text = text
        self.must = must
        self.aim = aim
        self.most = most
        self.unit = unit

    def reaches(self, value, bound):
        return bound is None or (value <= bound if self.most else value >= bound)

    def verdict(self, value):
        if value is None or self.must is None and self.aim is None:
            return ""
        if not self.reaches(value, self.must):
            return "MISSED"
        return "aim" if self.reaches(value, self.aim) else "must" if self.must is not None else ""


FIGURES = {
    "unrelated": Figure("unrelated prompts told anything", 8, 3, most=True),
    "unrelated, joined": Figure("the same, all stores in one", 10, 5, most=True),
    "evidence": Figure("evidence among what is told", 80, 88),
    "evidence, agents": Figure("the same, exchanges", 50, 65),
    "lines": Figure("lines told in a month that hold what was asked", 60, 80),
    "lines, of": Figure("the same, of prompts about"),
    "month": Figure("the same month: questions told their answer"),
    "briefings, people": Figure("briefings told that hold the answer", 65, 75),
    "briefings, agents": Figure("briefings told that hold the answer", 40, 55),
    "rules": Figure("rules told where they apply", 75, 90),
    "rules, or as messages": Figure("the same, or told as messages"),
    "look-alikes": Figure("look-alikes told as rules", 4, 1, most=True),
    "newest": Figure("newest of contradicting messages first", 95, 99),
    "newest, encoder": Figure("the same, with the encoder", 95, 99),
    "again": Figure("Recall@10"),
    "certainty": Figure("certainty: others against answerable", 0.90, 0.95, unit="AUC"),
    "certainty, near": Figure("certainty: near misses against answerable", None, 0.65, unit="AUC"),
    "session": Figure("tokens told in a session of ordinary prompts", 600, 200, most=True, unit="tokens"),
}


class Results:
    """What was seen, by half, figure and group. A figure is a mean; an AUC is of two lists of scores."""

    def __init__(self, halves):
        self.halves = halves
        self.values = collections.defaultdict(list)  # (half, figure, group) -> numbers

    def add(self, half, seen):
        for each in seen:
            self.values[half, each.figure, each.group].append(each.value)

    def groups(self):
        """(figure, group), in the order of the table, then as met."""
        met = dict.fromkeys(key[1:] for key in self.values)
        return sorted(met, key=lambda key: list(FIGURES).index(key[0]))

    def of(self, figure, group, halves):
        """(figure of these halves together or None, how many it is of)"""
        values = [value for half in halves for value in self.values[half, figure, group] if value is not None]
        if FIGURES[figure].unit == "AUC":
            return auc(values), len(values)
        weighted = [value if isinstance(value, tuple) else (value, 1) for value in values]
        weights = sum(weight for _, weight in weighted)
        scale = 100 if FIGURES[figure].unit == "%" else 1
        return (scale * sum(value * weight for value, weight in weighted) / weights if weights else None), len(values)

    def rows(self):
        for figure, group in self.groups():
            its = FIGURES[figure]
            row = {"figure": its.text, "of": group, "unit": its.unit}
            for half in self.halves:
                row[half], row[f"{half} of"] = self.of(figure, group, [half])
            both = self.of(figure, group, self.halves)[0]
            if len(self.halves) > 1:
                row["both"] = both
            if figure == "again":  # No loss.
                its = Figure(its.text, must=self.of(figure, self.first_group(figure), self.halves)[0])
            yield {**row, "must": its.must, "aim": its.aim, "verdict": its.verdict(both)}

    def first_group(self, figure):
        return next(group for each, group in self.groups() if each == figure)

    def text(self):
        return table([{name: cell(value, row["unit"]) for name, value in row.items()} for row in self.rows()])


def cell(value, unit):
    if value is None:
        return "-"
    return f"{value:.2f}" if unit == "AUC" and isinstance(value, float) else value


def auc(pairs):
    """How often an answered question has a higher score than another one; half for equals.

    `pairs`: (whether it is answered, score). None when one kind is missing.
    """
    answered = [score for is_answered, score in pairs if is_answered]
    others = [score for is_answered, score in pairs if not is_answered]
    if not answered or not others:
        return None
    wins = sum((a > b) + 0.5 * (a == b) for a in answered for b in others)
    return wins / (len(answered) * len(others))


class Progress:
    """A line for each job on stderr, where a person sees it."""

    def __init__(self, count):
        self.count, self.done = count, 0
        self.lock = threading.Lock()

    def step(self, name):
        with self.lock:
            self.done += 1
            if sys.stderr.isatty():
                tell(f"{self.done} of {self.count}: {name}")


def detail_lines(half, seen):
    """What was told to each prompt, as JSON lines; of the sealed half nothing."""
    if half == "sealed":
        return
    for each in seen:
        if each.detail:
            value = each.value[1] if isinstance(each.value, tuple) else each.value
            yield json.dumps({"figure": each.figure, "group": each.group, "value": value, **each.detail}, ensure_ascii=False)


def measure(chosen, folder):
    halves = HALVES if chosen.half == "both" else (chosen.half,)
    agents = pathlib.Path(chosen.agents)
    people = read_data(chosen.data)
    chats = read_data(agents) if agents.is_dir() else Data([], [], [])
    jobs = []
    for name in halves:
        half = read_half(name, people, chats, chosen.fixtures)
        jobs += [(name, job) for job in told_parts.jobs(chosen, half) if job.part in chosen.part]
    progress = Progress(len(jobs))
    results = Results(halves)

    def do(numbered):
        number, (half, job) = numbered
        place = folder / str(number)
        place.mkdir()
        seen = list(job.measure(place))
        progress.step(f"{half}, {job.name}")
        return half, seen

    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(AT_ONCE))
        details = stack.enter_context(open(chosen.details, "w", encoding="utf-8")) if chosen.details else None
        for half, seen in pool.map(do, enumerate(jobs)):
            results.add(half, seen)
            if details:
                details.writelines(line + "\n" for line in detail_lines(half, seen))
    return {"half": chosen.half, "scale": chosen.scale, "figures": list(results.rows())}, results.text()


def main():
    parser = options("Measures what the prompt's hook tells a model, and what it should not.")
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both", help="of the data (both)")
    parser.add_argument("--part", action="append", choices=told_parts.PARTS, help="only this part; repeatable")
    parser.add_argument("--details", metavar="FILE", help="write what was told to each prompt of the half tune, as JSON lines")
    parser.add_argument("--agents", default=SHARED / "agent-chats-dev", help="folder of chats with a coding assistant")
    parser.add_argument("--fixtures", default=FIXTURES, help="folder with the folders tune and sealed")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the questions and prompts that are asked (1)")
    chosen = parser.parse_args()
    chosen.part = chosen.part or list(told_parts.PARTS)
    return run(chosen, measure)


if __name__ == "__main__":
    sys.exit(main())
