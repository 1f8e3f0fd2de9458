#!/usr/bin/env python3
"""Writes fixtures/CLIENT-VERSION/ again: what the programs of client_table.py write of sessions, and send to hooks.

    fixtures/CLIENT-VERSION/home/…          transcripts, as they are below HOME; a database as the SQL that makes it
    fixtures/CLIENT-VERSION/hooks.jsonl     a line for each event: {"arguments", "payload"}

The project is /home/ann/project. Long texts, such as prompts of the system, are cut; lines of them with one of our
words stay. Of records without such a word that come again and again the first is whole, and of the others there is
what links them to their neighbours.

Usage: make_fixtures.py TOOL [--folder FOLDER] [CLIENT]...
FOLDER gets all that the programs wrote and what the model was asked, and stays.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import re
import shutil
import socket
import sqlite3
import sys
import tempfile

import client_home
from client_table import CLIENTS, TURNS

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
TEXT_MAX = 700  # Characters of a text that stay whole.
HEAD = 160  # Characters of a longer one.
LIST_MAX = 8
COPIES = "api-request"  # Claude Code's copies of requests to the model.
RECORD_MAX = 2500  # Characters of a record that are not cut further.
DROPPED = {"usage", "usageMetadata", "rate_limits", "metrics"}
KEPT = {None, "session_meta", "session.start", "session.resume"}  # Gemini CLI's records about a session have no type.
LINKS = {"type", "uuid", "parentUuid", "id", "parentId", "sessionId", "isSidechain", "agentId"}
OURS = ("QUETZAL", "PLOVER", "WIGEON", "PHALAROPE", "OYSTERCATCHER", "SANDPIPER", "bmad-memory")
SAID = [said.split()[-1] for turn in TURNS for said in (turn.word, *turn.says, turn.noticed) if said]
WORDS = re.compile("|".join([*OURS, *SAID]))


def slug(path):
    return re.sub(r"[^A-Za-z0-9]", "-", str(path))


class Neutral:
    """Takes the machine out of texts."""

    def __init__(self, home):
        self.text_max, self.list_max = TEXT_MAX, LIST_MAX
        self.alike = collections.Counter()
        cache = str(client_home.CACHE)
        self.replaced = [
            (str(home.home), "/home/ann"),
            (slug(home.home), "-home-ann"),
            (str(home.folder), "/tmp/run"),
            (cache, "/opt/clients"),
            (str(client_home.TOOL.parent), "/usr/local/bin"),
            (home.model.url, "http://127.0.0.1:8080"),
        ]
        self.host = re.compile(rf"(?<![A-Za-z0-9]){re.escape(socket.gethostname())}(?![A-Za-z0-9])")

    def text(self, text):
        for old, new in self.replaced:
            text = text.replace(old, new)
        return self.host.sub("machine", text)

    def value(self, value):
        """Of JSON: cut, and without the machine."""
        if isinstance(value, dict):
            return {self.text(name): self.value(member) for name, member in value.items() if name not in DROPPED}
        if isinstance(value, list):
            kept = [each for i, each in enumerate(value) if i < self.list_max or WORDS.search(json.dumps(each))]
            return [self.value(each) for each in kept]
        return self.cut(self.text(value)) if isinstance(value, str) else value

    def record(self, record):
        """A line of a transcript; None for one that nothing misses."""
        if str(record.get("type")).startswith(COPIES):
            return None
        made = self.value(record)
        stays = any(isinstance(each, dict) and "role" in each for each in (record, *record.values())) or record.get("type") in KEPT
        if not (stays or WORDS.search(dump(made))):
            kind = tuple(str(each.get("type")) for each in (record, *record.values()) if isinstance(each, dict))
            self.alike[kind] += 1
            if self.alike[kind] > 1 or len(dump(made)) > 2 * RECORD_MAX:
                linked = {name: member for name, member in made.items() if name in LINKS}
                return linked if "uuid" in linked or "parentId" in linked else None
        if len(dump(made)) > RECORD_MAX:
            self.text_max, self.list_max = HEAD, 2
            made = self.value(record)
            self.text_max, self.list_max = TEXT_MAX, LIST_MAX
        return made

    def cut(self, text):
        if len(text) <= self.text_max:
            return text
        try:
            inner = json.loads(text)
        except ValueError:
            inner = None
        if isinstance(inner, (dict, list)):
            return json.dumps(self.value(inner), ensure_ascii=False)
        head, rest = text[:HEAD], text[HEAD:]
        lines = [line for line in rest.split("\n") if WORDS.search(line)]
        lines = [line if len(line) <= TEXT_MAX else line[: HEAD * 2] for line in lines[: self.list_max]]
        tail = rest[-HEAD:] if not lines or lines[-1] not in rest[-HEAD:] else ""
        return "\n".join(part for part in (head, f"[{len(text)} characters, cut]", *lines, tail) if part)


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def quoted(value):
    """As SQL has it."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"


def write_database(path, target, neutral):
    """Tables that have rows of the sessions."""
    with contextlib.closing(sqlite3.connect(path)) as database, target.open("w", encoding="utf-8") as lines:
        for name, sql in database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            rows = database.execute(f'SELECT * FROM "{name}"').fetchall()
            if not rows or name.startswith(("sqlite_", "__", "event")) or "migration" in name:  # Events repeat the rest.
                continue
            lines.write(f"{sql};\n")
            for row in rows:
                values = [neutral.cut(neutral.text(each)) if isinstance(each, str) else each for each in row]
                lines.write(f'INSERT INTO "{name}" VALUES({",".join(map(quoted, values))});\n')


def write_json(path, target, neutral):
    """A document, or a record a line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        made = neutral.value if path.name == "hooks.jsonl" else neutral.record
        records = [made(json.loads(line)) for line in text.splitlines() if line.strip()]
        target.write_text("".join(dump(record) + "\n" for record in records if record), encoding="utf-8")
    else:
        target.write_text(json.dumps(neutral.value(json.loads(text)), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def make(client, folder):
    home = client_home.ClientHome(client, folder, record=True)
    with contextlib.closing(home):
        written = {}
        for turn in TURNS:
            if home.can(turn):
                try:
                    home.say(turn)
                except AssertionError as error:
                    print(f"{client.name}, {turn.word}: {error}", flush=True)
                written.update((path, path.read_bytes()) for path in home.transcripts() if path.suffix != ".db")
        for path, content in written.items():  # Some clients delete them soon.
            path.write_bytes(content)
        write_fixtures(client, home)


def write_fixtures(client, home):
    neutral = Neutral(home)
    for old in FIXTURES.glob(f"{client.name}-[0-9]*"):
        shutil.rmtree(old)
    target = FIXTURES / f"{client.name}-{home.version}"
    target.mkdir(parents=True)
    for path in home.transcripts():
        copy = target / "home" / neutral.text(str(path.relative_to(home.home)))
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".db":
            write_database(path, copy.with_name(copy.name + ".sql"), neutral)
        else:
            write_json(path, copy, neutral)
    write_json(home.hooks_file, target / "hooks.jsonl", neutral)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"{target.name}: {size} bytes", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("clients", nargs="*")
    arguments = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="bmad-clients-") as temporary:
        for client in CLIENTS:
            if not arguments.clients or client.name in arguments.clients:
                folder = (arguments.folder or pathlib.Path(temporary)).resolve() / client.name
                folder.mkdir(parents=True)
                try:
                    make(client, folder)
                except client_home.Missing as missing:
                    sys.exit(f"{client.name} is not here: {missing}")


if __name__ == "__main__":
    main()
