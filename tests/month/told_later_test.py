#!/usr/bin/env python3
"""What hooks tell a month, three, four and twelve months after it was said.

    day 1             31          91          120          365
    hooks, import     a session of prompts on each: questions about both, the same again, and prompts that ask nothing

Messages are kept for 90 days by default. What an answer repeats is kept beyond (docs/lifecycle.md): every
second one is repeated when it is asked for. Where messages are kept for ever, age excludes nothing.

Default settings else, and the clock is moved. The gates are counts.

Usage: told_later_test.py TOOL [TEST]...
"""

import json
import pathlib
import re
import sys
import tempfile
import unittest

from month_data import rare_words
from month_doors import BEGIN, PATIENT, Hooks, World

TOOL = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
ASK_DAYS = (31, 91, 120, 365)
EXCHANGES = 8  # Recorded by hooks, and as many imported.
TOLD_MIN = 7  # Of the eight questions of a day.
NOTHING = ("yes", "continue", "ok, do it", "try again", "looks good, thanks", "1", "ja, mach weiter", "d'accord, vas-y")
FORMS = (
    ("The ingest of {0} stalls every night, look into it", "The ingest of {0} stalls because the {1} rotates its file at 02:40 and nobody reopens it.",
     "Why did the ingest of {0} stall at night?"),
    ("Which database does {0} use?", "{0} stores its rows in the database {1}, on the second disk, since the first one was full.",
     "In which database does {0} store its rows?"),
    ("Who approves a release of {0}?", "A release of {0} is approved by {1}, by a message in the channel of the release.",
     "Who approves a release of {0}?"),
    ("How large may an upload to {0} be?", "An upload to {0} may have 48 megabytes; the limit is in the proxy {1}, not in the program.",
     "What is the limit of an upload to {0}?"),
)
LINE = re.compile(r"^[ |]*- (.+)$", re.MULTILINE)


def exchanges(seed):
    """(prompt, answer, question)"""
    words = rare_words(seed)
    return [tuple(part.format(*pair) for part in FORMS[number % len(FORMS)])
            for number, pair in enumerate((next(words), next(words)) for _ in range(EXCHANGES))]


def transcript(said, folder):
    """A transcript of Claude Code, of day 1."""
    lines = []
    for number, (role, text) in enumerate((role, text) for prompt, answer, _ in said for role, text in (("user", prompt), ("assistant", answer))):
        message = {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]}
        lines.append({"type": role, "sessionId": "imported", "uuid": f"u-{number:03}", "parentUuid": f"u-{number - 1:03}" if number else None,
                      "timestamp": BEGIN.isoformat().replace("+00:00", f".{number:03}Z"), "cwd": str(folder),
                      "message": message if role == "user" else {"id": f"m-{number}", **message}})
    return "".join(json.dumps(line) + "\n" for line in lines)


class Day:
    """What the prompts of one session were told."""

    def __init__(self):
        self.answers = {"hooks": [], "import": []}  # Told by then in the session or not, by the way that the answer came.
        self.told_nothing = []  # Prompts that ask nothing, and were told something.
        self.lines = []


class Scenario:
    def __init__(self, folder, *settings):
        self.world = World(TOOL, folder)
        self.hooks = Hooks(self.world)
        self.said = {"hooks": exchanges("hooks"), "import": exchanges("import")}
        self.days = {}
        self.world.run("init")
        for key, value in settings:
            self.world.run("config", "set", key, value)
        self.hooks.fire("first", "SessionStart", source="startup")
        for prompt, answer, _ in self.said["hooks"]:
            self.turn("first", prompt, answer)
        self.hooks.fire("first", "SessionEnd", reason="other")
        path = folder / "imported.jsonl"
        path.write_text(transcript(self.said["import"], self.world.project), encoding="utf-8")
        self.world.run("import", "--from", "claude-code", str(path))
        for day in ASK_DAYS:
            self.world.move_to(day)
            self.days[day] = self.ask(f"day-{day}")

    def turn(self, session, prompt, answer):
        told = self.hooks.prompt(session, prompt)
        self.hooks.fire(session, "Stop", *PATIENT, stop_hook_active=False, last_assistant_message=answer)
        return told

    def ask(self, session):
        day = Day()
        told = self.hooks.fire(session, "SessionStart", source="startup")
        for number in range(EXCHANGES):
            for way, said in self.said.items():
                _, answer, question = said[number]
                told += "\n" + self.turn(session, question, "Let me check." if number % 2 else answer)
                # What a question before was told isn't told again.
                day.answers[way].append(answer[:60] in told.replace("`", ""))
            nothing = self.turn(session, NOTHING[number % len(NOTHING)], "Done.")
            if nothing:
                day.told_nothing.append(f"{NOTHING[number % len(NOTHING)]}: {nothing}")
        for said in self.said.values():  # The same once more: it was told.
            for _, _, question in said[:2]:
                told += "\n" + self.turn(session, question, "As I said.")
        day.lines = LINE.findall(told)
        self.hooks.fire(session, "SessionEnd", reason="other")
        return day


class ToldLater:
    """What both scenarios promise."""

    SETTINGS = ()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bmad-told-")
        cls.addClassCleanup(folder.cleanup)
        cls.days = Scenario(pathlib.Path(folder.name), *cls.SETTINGS).days
        for day, seen in cls.days.items():
            counts = "; ".join(f"{way} {sum(told)} of {len(told)}" for way, told in seen.answers.items())
            print(f"{cls.__name__}, day {day:3}: {counts}; {len(seen.lines)} lines, {len(set(seen.lines))} different; "
                  f"told without a question: {len(seen.told_nothing)}", flush=True)

    def check_answers(self, days, which):
        for day in days:
            for way, told in self.days[day].answers.items():
                with self.subTest(day=day, way=way):
                    self.assertGreaterEqual(sum(told[which]) * EXCHANGES, TOLD_MIN * len(told[which]))

    def test_a_prompt_that_asks_nothing_is_told_nothing(self):
        for day, seen in self.days.items():
            with self.subTest(day=day):
                self.assertEqual(seen.told_nothing, [])

    def test_nothing_is_told_twice_in_a_session(self):
        for day, seen in self.days.items():
            with self.subTest(day=day):
                self.assertEqual(sorted(line for line in set(seen.lines) if seen.lines.count(line) > 1), [])


class Default(ToldLater, unittest.TestCase):
    def test_answers_are_told_as_long_as_messages_are_kept(self):
        self.check_answers((31, 91), slice(None))

    def test_answers_that_were_repeated_are_told_for_longer(self):
        self.check_answers((120, 365), slice(0, None, 2))


class KeptForEver(ToldLater, unittest.TestCase):
    SETTINGS = (("privacy.retention_days.conversation", "0"),)

    def test_answers_of_any_age_are_told(self):
        self.check_answers(ASK_DAYS, slice(None))


if __name__ == "__main__":
    if TOOL is None or not TOOL.exists():
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
