#!/usr/bin/env python3
"""How well and how fast a memory answers as it gets older.

    day 1 ......... 8 ......... 31 .................. 91
    sessions of the data and made ones, each recorded on its day by `bmad-mem add`, default settings,
    maintenance as it happens by itself; on these days `bmad-mem query` is asked, by default and by text alone

Usage: ./dev bench month [--data DIR] [--sessions N] [--entries N] [--seed N] [--json]

tests/month does the same through hooks, MCP and HTTP, with gates. Here answers are counted and timed.
"""

import collections
import datetime
import sys

from bench_data import Mean, score_ranking
from bench_memory import TEXT_ALONE, Memory, options, percentile, run, table, tell
from month_data import DAYS, month_data
from month_doors import TOP, CommandLine
from retrieval import AGES, age_of

PROBE_DAYS = (1, 8, 31, DAYS)
WAYS = {"default": (), "text": TEXT_ALONE}


class Month:
    """Lives through the days; what is asked on them is gathered on the way."""

    def __init__(self, memory, data):
        self.memory = memory
        self.command_line = CommandLine(memory)
        self.data = data
        self.recorded = {}  # Key of a message -> (its id, its day).
        self.recording_seconds = 0.0
        self.ages = collections.defaultdict(lambda: collections.defaultdict(Mean))  # (day, age) -> way -> Mean
        self.days = []

    def live(self):
        self.memory.move_to(1, 8)
        self.memory.run("init")
        by_day = collections.defaultdict(list)
        for session in self.data.sessions:
            by_day[session.day].append(session)
        for day in range(1, DAYS + 1):
            self.memory.move_to(day, 10)
            begin = self.memory.now()
            for session in by_day[day]:
                _, ids = self.command_line.record(session)
                self.recorded |= {message.key: (key, day) for message, key in zip(session.messages, ids, strict=True)}
            self.recording_seconds += (self.memory.now() - begin).total_seconds()
            if day in PROBE_DAYS:
                # In the morning of the last day: what is older than 90 days may go.
                self.memory.move_to(day, 9 if day == DAYS else 18)
                self.probe(day, sum(len(by_day[past]) for past in range(1, day + 1)))

    def probe(self, day, sessions):
        tell(f"day {day}: asking")
        archived = self.memory.run("--json", "session", "list", "--archived").splitlines()
        times = {name: [] for name in WAYS}
        refused = empty = 0
        questions = [each for each in self.data.questions if set(each.relevant) <= self.recorded.keys()]
        for turn, question in enumerate(questions):
            # Each way first in turn, so that neither always profits from what the other read.
            for name in sorted(WAYS, reverse=turn % 2):
                found = self.memory.ask(question.text, TOP, *WAYS[name])
                times[name].append(found.milliseconds)
                if name == "default":
                    refused += found.refused
                    empty += not found.refused and not found.hits
                self.judge(day, question, name, [hit["id"] for hit in found.hits])
        row = {"day": day, "entries": len(self.recorded), "sessions": sessions, "archived": len(archived),
               "questions": len(questions), "refused": refused, "empty": empty}
        for name, values in times.items():
            row |= {f"p{share}_ms_{name}": percentile(values or [0.0], share / 100) for share in (50, 95)}
        self.days.append(row)

    def judge(self, day, question, name, ids):
        by_age = collections.defaultdict(list)
        for key in question.relevant:
            entry, recorded_on = self.recorded[key]
            by_age[age_of(datetime.timedelta(days=day - recorded_on))].append(entry)
        for age, relevant in by_age.items():
            self.ages[day, age][name].add(score_ranking(ids, relevant))

    def ages_asked(self):
        for (day, age), means in sorted(self.ages.items(), key=lambda item: (item[0][0], AGES.index(item[0][1]))):
            default, text = (means[name].percent("recall_at_10") for name in WAYS)
            yield {"day": day, "age": age, "questions": means["default"].count, "recall_at_10_default": default,
                   "recall_at_10_text": text, "difference": default - text}


def measure(chosen, folder):
    month = Month(Memory(chosen.tool, folder), month_data(chosen.sessions, chosen.entries, 0, chosen.seed, chosen.data))
    month.live()
    ages = list(month.ages_asked())
    report = {"seed": chosen.seed, "ages": ages, "days": month.days, "recording_seconds": month.recording_seconds}
    text = f"{table(ages)}\n{table(month.days)}\nrecording and maintenance: {month.recording_seconds:.1f} s\n"
    return report, text


def main():
    parser = options("Measures how well and how fast a memory answers while it gets three months old.")
    parser.add_argument("--sessions", type=int, default=100, help="sessions in all, made ones included (100)")
    parser.add_argument("--entries", type=int, default=5_000, help="entries in all, approximately (5000)")
    parser.add_argument("--seed", type=int, default=1, help="of the made sessions (1)")
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
