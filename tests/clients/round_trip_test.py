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
import entry_checks
from client_table import CANARY, CLIENTS, FIRST, NEXT, OUTPUT, TURNS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import main  # noqa: E402

class RoundTrip(entry_checks.EntryChecks, unittest.TestCase):
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
        self.entries = self.home.entries
        self.sessions = 1 if client.follow else 2
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


def add_test(client):
    def test(self):
        self.go(client)

    setattr(RoundTrip, f"test_{client.name.replace('-', '_')}", test)


for each in CLIENTS:
    add_test(each)


if __name__ == "__main__":
    main()
