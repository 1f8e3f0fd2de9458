#!/usr/bin/env python3
"""Tests lib/operations/generate.py: what it makes of rows, and that a mistake is named with its line."""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import tomllib
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "lib/operations"))
import generate

SHARED = """\
[parameter.limit]
value = "N"
help = "at most so many"
kind = "number"
range = [1, 50]
"""
ROW = """\
[[operation]]
name = "session list"
summary = "list sessions"
rights = "read"
parameter.limit.mcp.name = "count"

[operation.mcp]
tool = "sessions"
title = "Sessions"
description = \"\"\"
Lists
them.

Newest first.\"\"\"
takes = ["limit"]
"""


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "output"

    def generate(self, part, *texts):
        """The exit status and what is said, with the folder left out."""
        paths = [self.folder / f"{name}.toml" for name in "abc"[: len(texts)]]
        for path, text in zip(paths, texts):
            path.write_text(text, encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            status = generate.main([part, str(self.output), *map(str, paths)])
        return status, said.getvalue().replace(f"{self.folder}/", "")

    def made(self, part, *texts):
        self.assertEqual(self.generate(part, *texts), (0, ""))
        return self.output.read_text(encoding="utf-8")

    def test_a_row_changes_what_all_operations_share(self):
        made = self.made("tools_page", SHARED, ROW)
        self.assertIn("| `count` | At most so many. |", made)
        self.assertNotIn("value", made)

    def test_lines_of_a_text_are_joined_and_paragraphs_stay(self):
        self.assertIn("\nLists them.\n\nNewest first.\n", self.made("tools_page", SHARED, ROW))

    def test_tables_become_one_json_whose_numbers_and_flags_stay(self):
        made = self.made("json", "[[row]]\nb = 1\na = true\n", '[[row]]\nc = "1"\n')
        self.assertEqual(json.loads(made), {"row": [{"a": True, "b": 1}, {"c": "1"}]})

    def test_members_of_a_json_begin_as_the_views_are_looked_up(self):
        self.assertIn('\n    "help" : "', self.made("json", 'help = "text"\n'))

    def test_an_output_that_stays_the_same_is_not_written(self):
        for part, text in (("rows", ROW), ("json", ROW)):
            self.made(part, text)
            before = self.output.stat().st_mtime_ns
            self.made(part, text)
            self.assertEqual(self.output.stat().st_mtime_ns, before)
            self.output.unlink()

    def test_each_mistake_is_named_with_file_line_and_remedy(self):
        def changed(old, new):
            return ROW.replace(old, new)

        cases = [
            ("kind", changed('"Sessions"', "7"), "9: operation.mcp.title must be a text"),
            ("dotted", changed('"count"', "7"), "5: operation.parameter.limit.mcp.name must be a text"),
            ("unknown", changed("title", "titel"), "9: operation.mcp.titel is unknown; operation.mcp may"),
            ("lacking", changed('rights = "read"', ""), "1: operation needs rights, a text; write it"),
            ("parameter", changed('["limit"]', '["age"]'), "15: session list takes age, which is not"),
            ("twice", f"{ROW}\n{ROW}", "18: there are two rows [[operation]] of this name"),
            ("TOML", changed('"list sessions"', "list"), "3: "),
            ("rows", "[[operations]]\n", "1: operations: unknown; write parameter, operation or result"),
        ]
        for name, text, expected in cases:
            with self.subTest(name):
                status, said = self.generate("tools", SHARED, text)
                self.assertEqual((status, said[: len(expected) + 7]), (1, f"b.toml:{expected}"))
                self.assertFalse(self.output.exists())

    def test_rights_that_do_not_exist(self):
        status, said = self.generate("rows", ROW.replace('"read"', '"reads"'))
        remedy = "session list needs other rights; write one of none, read, write, change, manage"
        self.assertEqual((status, said), (1, f"a.toml:4: {remedy}\n"))

    def test_the_line_of_a_shared_parameter(self):
        status, said = self.generate("tools", SHARED.replace("50]", '"many"]'), ROW)
        self.assertEqual((status, said), (1, "a.toml:5: parameter.limit.range must be two whole numbers\n"))

    def test_every_name_in_a_source_is_a_row(self):
        tables = [tomllib.loads(path.read_text()) for path in (SOURCE / "lib/operations/table").glob("*.toml")]
        names = {row["name"] for table in tables for row in table.get("operation", [])}
        named = re.compile(r'\b(?:enter|call|permit|check_allowed)\((?:[\w.>-]+,\s*)?"([a-z -]+)"')
        sources = [path for top in ("lib", "tools") for path in (SOURCE / top).rglob("*.[ch]pp")]
        found = [(path.name, name) for path in sources for name in named.findall(path.read_text())]
        self.assertGreater(len(found), 70)
        self.assertEqual([each for each in found if each[1] not in names], [])

    def test_wrong_arguments(self):
        status, said = self.generate("raws", ROW)
        self.assertEqual(status, 2)
        self.assertIn("there is no part 'raws'; it makes json, rows, commands,", said)
        self.assertEqual(self.generate("rows"), (2, "usage: generate.py PART OUTPUT TABLE.toml...\n"))


if __name__ == "__main__":
    unittest.main()
