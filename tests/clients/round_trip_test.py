#!/usr/bin/env python3
"""Each sentence is stored once, in the name of the one who said it: by the hooks of the shipped programs, and by an
import of what they write.

A sentence is remembered, which only briefings repeat: the canary. Then each program of client_table.py is installed from
npm, connected, and told prompts; a scripted model answers. It calls a tool, starts a sub-agent; the program
expands a file and a slash command, goes on and forks where it can do so without a terminal. At last all is imported
into an empty memory, as it would be by a person who installs bmad-mem later.

Usage: round_trip_test.py TOOL [RoundTrip.test_CLIENT]...
"""

import json
import pathlib
import sys
import tempfile
import unittest

import client_home
from client_table import CANARY, CLIENTS, COMMAND_TEXT, FILE_TEXT, FIRST, NEXT, ORDER, OUTPUT, REPORT, SHELL, TURNS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import main  # noqa: E402

OUR_TAG = "<bmad-memory"


def is_persons(entry):
    """Whether it says that a person wrote it."""
    return entry["role"] == "user" and entry.get("source", {}).get("kind", "user") == "user" and not is_aside(entry)


def is_aside(entry):
    return bool(entry.get("metadata", {}).get("sidechain"))


def shown(entries):
    """For a message: who says what."""
    return "\n".join(
        f"  {entry['id']} {entry['session_id']} {entry.get('role', entry.get('kind'))}"
        f" {entry.get('source', {}).get('kind', '')}{' sidechain' if is_aside(entry) else ''}: {entry.get('content', '')[:300]!r}"
        for entry in entries
    )


class RoundTrip(unittest.TestCase):
    """A test for each client, which the loop below adds."""

    maxDiff = None

    def go(self, client):
        folder = tempfile.TemporaryDirectory(prefix="bmad-clients-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        try:
            self.home = client_home.ClientHome(client, pathlib.Path(folder.name))
        except client_home.Missing as missing:
            self.skipTest(f"{client.name} is not here: {missing}")
        self.addCleanup(self.home.close)
        turns = (FIRST, NEXT)
        for turn in turns:
            self.home.say(turn)
        self.check_model(client, turns)
        self.check_entries("hooks", turns, whole=False)
        self.do_import("import", turns)
        more = [turn for turn in TURNS if turn not in turns and self.home.can(turn)]
        for turn in more:
            with self.subTest(turn=turn.word):
                self.home.say(turn)
        left_out = [turn.word for turn in TURNS if turn not in (*turns, *more)]
        print(f"{client.name}: can't be tried without a terminal: {' '.join(left_out) or 'nothing'}", flush=True)
        self.do_import("second import", (*turns, *more))
        self.home.begin_again()
        kept = [turn for turn in (*turns, *more) if self.home.has_kept(turn)]
        gone = [turn.word for turn in (*turns, *more) if turn not in kept]
        print(f"{client.name}: it has deleted its own records of {' '.join(gone) or 'nothing'}", flush=True)
        self.do_import("import alone", kept)

    def check_model(self, client, turns):
        """The briefing reached the model, and the model's tool ran."""
        requests = self.home.model.requests()
        for turn in turns:
            with self.subTest(model=turn.word):
                self.assertTrue([line for line in requests if turn.word in line], f"no request has it; printed: {self.home.output}")
        with self.subTest(model="tool"):
            self.assertTrue([line for line in requests if OUTPUT in line], "no request has the tool's output")
        with self.subTest(model="briefing"):
            got = any(CANARY in line for line in requests)
            self.assertEqual(got, client.briefed, "whether a request has the briefing")

    def do_import(self, stage, turns):
        with self.subTest(stage=stage):
            self.home.tool("import", "--from", self.home.client.name)
        self.check_entries(stage, turns, whole=True)
        with self.subTest(stage=stage, what="importing again adds nothing"):
            report = json.loads(self.home.tool("--json", "import", "--from", self.home.client.name))
            self.assertEqual(report["imported"], 0, report)

    def check_entries(self, stage, turns, whole):
        """`whole`: nothing is missing. Else only what is there is looked at."""
        messages = self.home.entries("conversation")
        texts = shown(messages)
        persons = [entry for entry in messages if is_persons(entry)]
        for turn in turns:
            for speaker, sentence in [("user", turn.prompt), *(("assistant", said) for said in turn.says)]:
                with self.subTest(stage=stage, sentence=sentence):
                    found = [entry for entry in messages if sentence in entry["content"]]
                    said_by = [entry["role"] for entry in found]
                    self.assertEqual(said_by, [speaker] if whole else [speaker] * min(len(found), 1), texts)
                    self.assertFalse(any(map(is_aside, found)), texts)
            with self.subTest(stage=stage, noticed=turn.noticed):
                found = [entry["role"] for entry in messages if turn.noticed and turn.noticed in entry["content"]]
                self.assertIn(found, [[], ["assistant"]], texts)
        with self.subTest(stage=stage, what="a person said the prompts and nothing else"):
            typed = [f"/{turn.command} {turn.prompt}" if turn.command else turn.prompt for turn in turns]
            others = [entry for entry in persons if entry["content"] not in (*typed, *(turn.prompt for turn in turns))]
            self.assertEqual(shown(others), "", texts)
        with self.subTest(stage=stage, what="the briefing is nobody's"):
            self.assertEqual(shown([entry for entry in messages if CANARY in entry["content"] or OUR_TAG in entry["content"]]), "", texts)
        for what in (ORDER, FILE_TEXT.strip(), COMMAND_TEXT, OUTPUT):
            with self.subTest(stage=stage, not_of_a_person=what):
                self.assertEqual(shown([entry for entry in persons if what in entry["content"]]), "", texts)
        with self.subTest(stage=stage, what="the sub-agent's answer is not the agent's"):
            self.assertEqual(shown([entry for entry in messages if REPORT in entry["content"] and not is_aside(entry)]), "", texts)
        with self.subTest(stage=stage, what="a conversation that goes on is one session"):
            sessions = {entry["session_id"] for entry in messages if any(turn.word in entry["content"] for turn in (FIRST, NEXT))}
            self.assertLessEqual(len(sessions), 1 if self.home.client.follow else 2, texts)
        self.check_events(stage, turns, whole)

    def check_events(self, stage, turns, whole):
        events = self.home.entries("event")
        if FIRST not in turns:
            return
        for kind, text in (("tool_use", SHELL), ("tool_result", OUTPUT)):
            with self.subTest(stage=stage, event=kind):
                found = [entry for entry in events if entry["kind"] == kind and text in entry.get("content", "")]
                self.assertEqual(len(found), 1 if whole else min(len(found), 1), shown(events))


def add_test(client):
    def test(self):
        self.go(client)

    setattr(RoundTrip, f"test_{client.name.replace('-', '_')}", test)


for each in CLIENTS:
    add_test(each)


if __name__ == "__main__":
    main()
