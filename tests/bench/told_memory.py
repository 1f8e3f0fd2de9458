"""A memory that each prompt finds as it was filled, and what of it is in a text that a hook printed."""

import datetime
import os
import re

from bench_data import Store, plan_entries
from bench_memory import Memory
from month_doors import PATIENT, Hooks
from told_data import latest_time

UNTIL_ASKED = datetime.timedelta(minutes=5)  # As by a person who has just read the newest message.
BYTES_A_TOKEN = 4
# "- 2024-01-01 (7 weeks ago), message by Ann: asked "which?", answered: TEXT…", '- "RULE" (noted on …)', "  - after: Bob: TEXT".
# Of an agent, in a fence: "| - 2024-01-01, message (agent, assistant, trust 0.60): claude-code: asked "which?", answered: TEXT".
LINE = re.compile(r"^[ |]*- (.+)$", re.MULTILINE)
HEAD = re.compile(r"^(?:before: |after: )?[^:\n\"]*: ")
ASKED = re.compile(r"^(?:[\w.-]+: )?asked (?:[^\"]{0,30})\"(?P<question>.*?)\"[^\"]{0,30}?answered: ")
MESSAGE = re.compile(r"^(?:before: |after: )|\bmessage\b")  # In the head of a line, when it isn't a statement.
SHORT = 20  # Letters: a shorter part of a line is a message only when it is all of it.
SENTENCE = re.compile(r"(?<=[.!?。！？])\s*|\n")


def letters(text):
    """`text` without what quoting, cutting and wrapping change."""
    return re.sub(r"[\W_]+", "", text.lower())


def parts_of(line):
    """The letters of the passages that a line quotes; not of the question that an answer got."""
    text = ASKED.sub("", HEAD.sub("", line, count=1), count=1)
    return [part for part in map(letters, text.split("…")) if part]


def holds_part(whole, parts):
    """Whether a text of these letters is quoted. A short end of a passage says little, a short text may be all there is."""
    long = [part for part in parts if len(part) >= SHORT]
    return any(part in whole for part in long) if long else bool(whole) and whole in parts


def holds(line, whole):
    """Whether a line quotes a text of these letters, or holds all of it."""
    return holds_part(whole, parts_of(line)) or len(whole) >= SHORT and whole in letters(line)


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
        """The ids of the messages that hold a line of a briefing. Of an exchange that is its answer."""
        return {key for key, whole in zip(self.ids, self.letters) if holds_part(whole, parts_of(line))}

    def exchanges_of(self, ids):
        return {self.exchanges[key] for key in ids if key in self.exchanges}


def lines_of(told):
    return LINE.findall(told)


def is_statement(line):
    return not MESSAGE.search(HEAD.match(line)[0] if HEAD.match(line) else "")


def holds_rule(line, statement):
    """Whether a line quotes a sentence of the statement, or is one."""
    told = letters(line)
    return any(len(part) >= 6 and part in told for part in map(letters, SENTENCE.split(statement)))


def tokens_of(text):
    return len(text.encode()) / BYTES_A_TOKEN


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


class FilledMemory:
    """A memory of one store, or of several."""

    def __init__(self, chosen, folder, *stores, encoder=False):
        folder.mkdir()
        self.reader = Reader(Store("", [message for store in stores for message in store.messages]))
        self.latest = latest_time(stores)
        plans = [plan_entries(store, f"s{number or ''}") for number, store in enumerate(stores)]
        self.ids = {key: message for plan in plans for key, message in plan.ids.items()}  # Of entries -> of messages.
        self.memory = Memory(chosen.tool, folder, encoder).at(self.latest)
        self.memory.fill(*plans)
        self.hooks = Hooks(self.memory)
        self.after().run("query", "this makes the index", statuses=(0, 1))
        self.filled = Snapshot(folder)

    def after(self, days=0):
        """The memory so long after its newest message."""
        return self.memory.at(self.latest + UNTIL_ASKED + datetime.timedelta(days=days))

    def restore(self, days=0):
        self.filled.restore()
        return self.after(days)

    def prompt(self, text, days=0):
        """What the hook tells in a new session; what it leaves behind is taken away before the next one."""
        self.restore(days)
        self.hooks.fire("new", "SessionStart", source="startup")
        return self.hooks.prompt("new", text)

    def turn(self, session, prompt, answer):
        """What is told to a prompt that stays, as does its answer."""
        told = self.hooks.prompt(session, prompt)
        self.hooks.fire(session, "Stop", *PATIENT, stop_hook_active=False, last_assistant_message=answer)
        return told

    def ranking(self, text, limit, *options):
        """The messages that a query finds, the best first, and its hits."""
        hits = self.memory.ask(text, limit, *options).hits
        return list(dict.fromkeys(self.ids.get(hit["id"], hit["id"]) for hit in hits)), hits
