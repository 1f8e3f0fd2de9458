#!/usr/bin/env python3
"""What a model is told: the answer of the prompt hook and `bmad-mem context`, for questions with known answers,
and for ordinary prompts that ask a memory nothing.

Usage: ./dev bench briefings [--data DIR] [--store NAME]... [--split NAME] [--later DAYS] [--encoder] [--json]

Each prompt comes in a new session of a memory as the data left it, through `bmad-mem hook claude-code`;
what it leaves behind is taken away again. Last, forty ordinary prompts are one session.

    told        of the prompts, those that are told anything
    evidence    mean share of the relevant messages among what is told; exchanges: or of the other messages
                between one message of the user and the next
    lines       of the lines told, those of a relevant message
    tokens      of a briefing, at four bytes each
"""

import collections
import datetime
import json
import os
import pathlib
import random
import re
import sys

from bench_data import CONVERSATION, Mean, plan_entries, read_data
from bench_memory import Memory, options, percentile, run, table, tell
from month_doors import PATIENT, Hooks
from retrieval import NOW, UNTIL_ASKED

AGES = ((7, "up to 7 days"), (30, "7 to 30 days"), (90, "30 to 90 days"), (365, "90 to 365 days"), (None, "older"))
KINDS = ("conversations", "documents")
SESSION_PROMPTS = 40
ORDINARY_A_QUESTION = 4  # Of the prompts of a person who works, in the share of briefings with the answer.
BYTES_A_TOKEN = 4
# "- 2024-01-01, message by Ann: TEXT", then "  - after: Bob: TEXT".
LINE = re.compile(r"^ *- (?:before: |after: )?[^:\n]*: (.+)$", re.MULTILINE)
SHORT = 20  # Letters: a shorter line is a message only when it is all of it.


def ordinary_prompts():
    """Pairs of kind and prompt."""
    lines = (pathlib.Path(__file__).parent / "ordinary_prompts.txt").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if not line.startswith("#")]


def letters(text):
    """`text` without what quoting, cutting and wrapping change."""
    return re.sub(r"[\W_]+", "", text.lower())


class Reader:
    """Finds the messages of a store in what was told."""

    def __init__(self, store):
        self.ids = [message.id for message in store.messages]
        self.letters = [letters(message.text) for message in store.messages]
        self.exchanges = {}  # Id -> number of its exchange.
        exchange = 0
        for message in store.messages:
            exchange += message.speaker == "user"
            # People's talk has no role that begins an exchange: a message is its own.
            self.exchanges[message.id] = exchange if exchange else message.id

    def messages(self, line):
        """The ids of the messages that hold a line of a briefing."""
        part = letters(line)
        if len(part) < SHORT:
            return {key for key, whole in zip(self.ids, self.letters) if part == whole}
        return {key for key, whole in zip(self.ids, self.letters) if part in whole}


class Told:
    """What the prompts of one group were told."""

    def __init__(self):
        self.means = Mean()
        self.lines = self.right_lines = 0
        self.times_ms = []

    def add(self, told, reader, relevant):
        """`told`: the text of a briefing, empty for none. `relevant`: ids; none for an ordinary prompt."""
        found = [reader.messages(line) for line in LINE.findall(told)]
        ids = set().union(*found)
        exchanges = {reader.exchanges[key] for key in ids}
        self.lines += len(found)
        self.right_lines += sum(bool(each & set(relevant)) for each in found)
        scores = {"told": bool(told), "tokens": len(told.encode()) / BYTES_A_TOKEN}
        if relevant:
            scores["evidence"] = sum(key in ids for key in relevant) / len(relevant)
            scores["exchanges"] = sum(reader.exchanges.get(key) in exchanges for key in relevant) / len(relevant)
            scores["answered"] = scores["exchanges"] > 0
        self.means.add(scores)

    def row(self):
        lines = 100 * self.right_lines / self.lines if self.lines else 0.0
        shares = {name: self.means.percent(name) for name in ("told", "evidence", "exchanges")}
        times = {f"p{share} ms": percentile(self.times_ms, share / 100) for share in (50, 95)}
        return {"questions": self.means.count, **shares, "lines": lines, "tokens": self.means.mean()["tokens"], **times}


class Snapshot:
    """The files of a folder, which can be brought back in place: a copy of a root is not trusted."""

    def __init__(self, folder):
        self.folder = folder
        self.folders = {path for path in folder.rglob("*") if path.is_dir()}
        self.files = {path: (path.read_bytes(), self.stamp(path)) for path in folder.rglob("*") if path.is_file()}

    @staticmethod
    def stamp(path):
        facts = path.stat()
        return facts.st_size, facts.st_mtime_ns

    def restore(self):
        for path in sorted(self.folder.rglob("*"), reverse=True):  # What is in a folder comes before it.
            if path.is_file() and path not in self.files:
                path.unlink()
            elif path.is_dir() and path not in self.folders:
                path.rmdir()
        for path in sorted(self.folders):
            path.mkdir(exist_ok=True)
        for path, (content, stamp) in self.files.items():
            if not path.exists() or self.stamp(path) != stamp:
                path.write_bytes(content)
                os.utime(path, ns=(stamp[1], stamp[1]))


class Store:
    """One store of the data, as a memory that each prompt finds as it was filled."""

    def __init__(self, chosen, store, folder):
        self.reader = Reader(store)
        self.times = {message.id: message.time for message in store.messages}
        latest = store.latest_time() or NOW
        plan = plan_entries(store)
        self.kind = KINDS[plan.type != CONVERSATION]
        self.memory = Memory(chosen.tool, folder, chosen.encoder).at(latest)
        self.memory.fill(plan)
        self.hooks = Hooks(self.memory)
        self.now = latest + UNTIL_ASKED + datetime.timedelta(days=chosen.later)
        self.memory.at(self.now).run("query", "this makes the index")
        self.filled = Snapshot(folder)

    def restore(self):
        self.filled.restore()
        self.memory.at(self.now)

    def prompt(self, text):
        """What the hook tells in a new session, and the milliseconds that it takes."""
        self.restore()
        self.hooks.fire("new", "SessionStart", source="startup")
        return self.hooks.prompt("new", text), 1000 * self.memory.seconds

    def context(self, text):
        told = json.loads(self.memory.run("--json", "context", "--task", text))["markdown"]
        return told, 1000 * self.memory.seconds

    def age_of(self, key):
        """The name of the age of a message; None without its time."""
        if not self.times.get(key):
            return None
        days = (self.now - self.times[key]).total_seconds() / 86400
        return next(name for most, name in AGES if most is None or days <= most)

    def session_tokens(self, prompts):
        """Tokens told in one session of these prompts, in which each is recorded."""
        self.restore()
        told = self.hooks.fire("long", "SessionStart", source="startup")
        told += "".join(self.hooks.prompt("long", prompt) for prompt in prompts)
        return len(told.encode()) / BYTES_A_TOKEN


class Results:
    def __init__(self):
        self.questions = collections.defaultdict(Told)  # (store or kind, interface)
        self.ages = collections.defaultdict(lambda: collections.defaultdict(Mean))  # kind -> age
        self.ordinary = collections.defaultdict(lambda: collections.defaultdict(Mean))  # store or kind -> kind of prompt
        self.sessions = {}  # Store -> tokens.

    def ask(self, store, name, question):
        for interface, (told, milliseconds) in (
            ("hook", store.prompt(question.text)), ("context", store.context(question.text))
        ):
            for group in (name, store.kind):
                self.questions[group, interface].add(told, store.reader, question.relevant)
                self.questions[group, interface].times_ms.append(milliseconds)
            if interface == "hook":
                ids = set().union(*map(store.reader.messages, LINE.findall(told)))
                for key in question.relevant:
                    self.ages[store.kind][store.age_of(key)].add({"evidence": key in ids})

    def rows(self):
        """What came of the questions: stores, then kinds of stores."""
        ordered = sorted(self.questions.items(), key=lambda item: item[0][0] in KINDS)
        return [{"store": group, "by": interface, **told.row()} for (group, interface), told in ordered]

    def text(self):
        parts = [
            self.rows(),
            [{"evidence by age": f"{kind}, {age}", "messages": self.ages[kind][age].count,
              "evidence": self.ages[kind][age].percent("evidence")}
             for kind in self.ages for _, age in AGES if age in self.ages[kind]],
            [{"ordinary prompts": group, "prompts": sum(mean.count for mean in kinds.values()),
              "told": self.ordinary_told(group), **{kind: mean.percent("told") for kind, mean in kinds.items()}}
             for group, kinds in self.ordinary.items()],
            [{"with the answer, of briefings told": group, f"one question to {ORDINARY_A_QUESTION} ordinary prompts": share}
             for group, share in self.answering().items()],
            [{f"session of {SESSION_PROMPTS} ordinary prompts": name, "tokens": tokens}
             for name, tokens in self.sessions.items()],
        ]
        return "\n".join(table(rows) for rows in parts if rows)

    def ordinary_told(self, group):
        kinds = self.ordinary[group].values()
        return 100 * sum(mean.sums["told"] for mean in kinds) / sum(mean.count for mean in kinds)

    def answering(self):
        """Of the briefings told by the hook, those that hold something of the answer, in per cent."""
        shares = {}
        for (group, interface), told in self.questions.items():
            if interface == "hook":
                briefings = told.means.percent("told") + ORDINARY_A_QUESTION * self.ordinary_told(group)
                shares[group] = 100 * told.means.percent("answered") / briefings if briefings else 0.0
        return shares

    def report(self):
        return {
            "questions": self.rows(),
            "evidence_by_age": {kind: {str(age): mean.percent("evidence") for age, mean in ages.items()}
                                for kind, ages in self.ages.items()},
            "ordinary_told": {group: self.ordinary_told(group) for group in self.ordinary},
            "with_the_answer": self.answering(),
            "session_tokens": self.sessions,
        }


def measure(chosen, folder):
    data = read_data(chosen.data)
    results = Results()
    prompts = ordinary_prompts()
    for number, each in enumerate(data.stores):
        questions = [question for question in data.questions
                     if question.store == each.name and question.relevant and chosen.split in ("", question.split)]
        if not questions or chosen.store and each.name not in chosen.store:
            continue
        (folder / str(number)).mkdir()
        store = Store(chosen, each, folder / str(number))
        tell(f"{each.name}: {len(questions)} questions, {len(prompts)} ordinary prompts")
        for question in questions:
            results.ask(store, each.name, question)
        for kind, prompt in prompts:
            told, _ = store.prompt(prompt)
            for group in (each.name, store.kind):
                results.ordinary[group][kind].add({"told": bool(told)})
        sample = random.Random(chosen.seed).sample([prompt for _, prompt in prompts], SESSION_PROMPTS)
        results.sessions[each.name] = store.session_tokens(sample)
    return results.report(), results.text()


def main():
    parser = options("Measures what the prompt hook and `bmad-mem context` tell a model.")
    parser.add_argument("--store", action="append", help="only this store; repeatable")
    parser.add_argument("--split", default="", help="only questions of this half of the data")
    parser.add_argument("--later", type=int, default=0, metavar="DAYS", help="ask so long after the newest message (0)")
    parser.add_argument("--encoder", action="store_true", help="with the encoder")
    parser.add_argument("--seed", type=int, default=1, help="of the order of ordinary prompts in their session (1)")
    return run(parser.parse_args(), measure)


if __name__ == "__main__":
    sys.exit(main())
