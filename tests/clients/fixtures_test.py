#!/usr/bin/env python3
"""Each sentence of the fixtures is stored once, in the name of the one who said it: when what the clients wrote is imported,
and when their hooks were called before.

Usage: fixtures_test.py TOOL [Fixtures.test_CLIENT]...
"""

import contextlib
import dataclasses
import json
import pathlib
import shutil
import sqlite3
import sys
import unittest

import entry_checks
from client_table import CLIENTS, TURNS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import TOOL, ToolTest, main  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"


def said_in(text, turn):
    """The turn, with those answers that are there."""
    return dataclasses.replace(turn, says=tuple(said for said in turn.says if said in text))


class Fixtures(entry_checks.EntryChecks, ToolTest):
    """A test for each client, which the loop below adds."""

    maxDiff = None

    def go(self, client, fixture):
        self.project = self.folder / "project"
        self.sessions = 1 if client.follow else 2
        self.bring(fixture / "home")
        text = "".join(path.read_text(encoding="utf-8") for path in (fixture / "home").rglob("*") if path.is_file())
        turns = [said_in(text, turn) for turn in TURNS if turn.word in text]
        self.import_again("import", client, turns)
        shutil.rmtree(self.project)
        self.make_project(client)
        for line in (fixture / "hooks.jsonl").read_text(encoding="utf-8").splitlines():
            event = json.loads(self.moved(line))
            self.in_project(*event["arguments"], stdin=json.dumps(event["payload"]))
        self.check_entries("hooks", turns, whole=False)
        self.import_again("import after hooks", client, turns)

    def import_again(self, stage, client, turns):
        self.make_project(client)
        planned = json.loads(self.in_project("--json", "import", "--dry-run", "--from", client.name))
        done = json.loads(self.in_project("--json", "import", "--from", client.name))
        with self.subTest(stage=stage, what="a dry run says what the import does"):
            self.assertEqual(planned["imported"], done["imported"], (planned, done))
        self.check_entries(stage, turns, whole=True)
        with self.subTest(stage=stage, what="importing again adds nothing"):
            again = json.loads(self.in_project("--json", "import", "--from", client.name))
            self.assertEqual(again["imported"], 0, again)

    def make_project(self, client):
        if not self.project.exists():
            self.project.mkdir()
            self.in_project("-q", "init")
        if client.command:
            path = self.project / client.command[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(client.command[1], encoding="utf-8")

    def moved(self, text):
        """With the project where it is here."""
        slug = "".join(c if c.isalnum() else "-" for c in str(self.folder))
        return text.replace("/home/ann", str(self.folder)).replace("-home-ann", slug)

    def bring(self, home):
        for path in filter(pathlib.Path.is_file, home.rglob("*")):
            text = self.moved(path.read_text(encoding="utf-8"))
            to = self.folder / self.moved(str(path.relative_to(home)))
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".sql":
                with contextlib.closing(sqlite3.connect(to.with_suffix(""))) as database:
                    database.executescript(text)
            else:
                to.write_text(text, encoding="utf-8")

    def in_project(self, *arguments, stdin=""):
        return self.run_command("env", "-C", str(self.project), str(TOOL), *arguments, stdin=stdin)

    def entries(self, kind):
        return [json.loads(line) for line in self.in_project("--json", "list", "--limit", "0", "--type", kind).splitlines()]


def add_test(fixture):
    client = next(each for each in CLIENTS if fixture.name.startswith(f"{each.name}-"))

    def test(self):
        self.go(client, fixture)

    setattr(Fixtures, f"test_{client.name.replace('-', '_')}", test)


for each in sorted(FIXTURES.iterdir()):
    add_test(each)


if __name__ == "__main__":
    main()
