#!/usr/bin/env python3
"""A secret that one half of a tool call names is in no file of the memory: by the hooks of the shipped programs, and by an
import of what they write.

Each program is told to look into keys.env. The tool prints NAME=VALUE, the model repeats the value without its name, and
so does the next prompt. Neither the value nor its base64 may be stored.

Usage: secrets_test.py TOOL [Secrets.test_CLIENT]...
"""

import base64
import pathlib
import sys
import tempfile
import unittest

import client_home
from client_table import ASKED, CLIENTS, REPEATED, SECRET, SECRET_FILE

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import main  # noqa: E402

FORMS = (SECRET.encode(), base64.b64encode(SECRET.encode()))


class Secrets(unittest.TestCase):
    """A test for each client, which the loop below adds."""

    def go(self, client):
        folder = tempfile.TemporaryDirectory(prefix="bmad-clients-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        turns = (ASKED, REPEATED) if client.follow else (ASKED,)  # Another session knows nothing of this one's values.
        try:
            self.home = client_home.ClientHome(client, pathlib.Path(folder.name), turns=turns)
        except client_home.Missing as missing:
            self.skipTest(f"{client.name} is not here: {missing}")
        self.addCleanup(self.home.close)
        (self.home.project / "keys.env").write_text(SECRET_FILE, encoding="ascii")
        for turn in turns:
            self.home.say(turn)
        model_saw = "\n".join(self.home.model.requests())
        self.assertIn(SECRET, model_saw, "the tool printed nothing")
        self.check("hooks")
        if client.imported:
            self.home.tool("import", "--from", client.name)
            self.check("import")
            self.home.begin_again()
            self.home.tool("import", "--from", client.name)
            self.check("import alone")

    def check(self, stage):
        said = [entry["content"] for entry in self.home.entries("conversation")]
        with self.subTest(stage=stage, what="something is stored"):
            self.assertTrue([text for text in said if ASKED.word in text or "GANNET" in text], said)
        states = [self.home.project / ".bmad", self.home.home / ".local/state"]
        files = [path for state in states for path in state.rglob("*") if path.is_file()]
        for form in FORMS:
            with self.subTest(stage=stage, form=form):
                self.assertEqual([str(path) for path in files if form in path.read_bytes()], [])


def add_test(client):
    def test(self):
        self.go(client)

    setattr(Secrets, f"test_{client.name.replace('-', '_')}", test)


for each in CLIENTS:
    add_test(each)


if __name__ == "__main__":
    main()
