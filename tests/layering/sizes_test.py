#!/usr/bin/env python3
"""Tests sizes.py: what counts, and that each figure is held from both sides."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import sizes

TABLE = """
[[operation]]
name = "add"
[operation.cli]
takes = ["type", "session"]
[[operation]]
name = "serve"
[operation.http]
"""
SCHEMA = '{"properties": {"a": {"type": "string"}, "b": {"properties": {"c": {}, "d": {}}}}}'
CODE = """// A comment.

int twice(int value) {
  assert(value > 0);
  return anew(value);  // whoever calls
}
"""


class House(unittest.TestCase):
    """A small house, whose sizes.txt the test writes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("lib/operations/table/all.toml", TABLE)
        self.write("schemas/config.schema.json", SCHEMA)
        self.write("CHANGELOG.md", "# Changes\n")
        self.write("README.md", "# Tool\n")
        self.write("docs/page.md", "Three words here, whoever reads.\n")
        self.write("docs/glossary.md", "again replaces anew\n")
        self.write("lib/base/twice.cpp", CODE)
        self.write("lib/include/bmad_mem/kind.hpp", "struct KeptLine {\n  enum class Kind { kA };\n};\n")
        self.write("tools/bmad-mem/main.cpp", "int main() {}\n")
        self.write("tools/bmad-mem/mcp/call.c", "int call;\n")
        self.figures = sizes.count(self.root)
        self.write_figures(sizes.SIZES, self.figures)
        self.write_figures(sizes.WORDS, {"anew": 1, "whoever|whatever": 2, "name kept": 1})

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_figures(self, name, figures):
        self.write(name, "# Head.\n" + "".join(f"{key} {figure}\n" for key, figure in figures.items()))

    def run_sizes(self, *arguments):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = sizes.main([*arguments, str(self.root)])
        return status, output.getvalue()

    def test_code_is_neither_blank_nor_a_comment_nor_an_assert(self):
        self.assertEqual(self.figures["lib/base"], 3)
        self.assertEqual(self.figures["total"], 3 + 3 + 1 + 1)

    def test_every_c_file_counts_in_its_room_or_folder(self):
        self.assertEqual(self.figures["tools/bmad-mem/cli"], 1)
        self.assertEqual(self.figures["tools/bmad-mem/mcp"], 1)

    def test_types_commands_options_keys_and_words(self):
        expected = {"public types": 2, "commands": 1, "options": 2, "configuration keys": 3}
        expected |= {"words in docs": 8, "lines of CHANGELOG": 1, "files": 4}
        self.assertEqual({name: self.figures[name] for name in expected}, expected)

    def test_a_long_function_and_a_long_file_count(self):
        self.write("lib/base/twice.cpp", "int f() {\n" + "  f();\n" * 500 + "}\n")
        figures = sizes.count(self.root)
        self.assertEqual((figures["functions over 70 lines"], figures["files over 500 lines"]), (1, 1))

    def test_equal_figures_pass(self):
        self.assertEqual(self.run_sizes()[0], 0)

    def test_what_grew_fails_and_is_not_written(self):
        self.write("lib/base/more.cpp", "int more;\n")
        for arguments in ([], ["--write"], []):
            status, output = self.run_sizes(*arguments)
            self.assertEqual(status, 1)
            self.assertIn("lib/base: 4, and tests/layering/sizes.txt says 3: take out as much", output)

    def test_what_shrank_fails_until_it_is_written(self):
        self.write("lib/base/twice.cpp", "int once;\n")
        status, output = self.run_sizes()
        self.assertEqual(status, 1)
        self.assertIn("lib/base: 1, and tests/layering/sizes.txt says 3: lower it", output)
        self.run_sizes("--write")
        self.assertEqual(self.run_sizes()[0], 0)
        self.assertTrue((self.root / sizes.SIZES).read_text(encoding="utf-8").startswith("# Head.\n"))

    def test_a_new_line_with_a_replaced_word_fails(self):
        self.write("docs/other.md", "Make it Anew.\n")
        self.assertIn("anew: 2, and tests/layering/replaced_words.txt says 1", self.run_sizes()[1])

    def test_a_new_name_with_a_replaced_word_fails_and_a_new_use_does_not(self):
        self.write("tools/bmad-mem/use.cpp", "KeptLine line;\n")
        self.assertNotIn("name kept", self.run_sizes()[1])
        self.write("tools/bmad-mem/name.cpp", "bool is_kept() {\n}\n")
        self.assertIn("name kept: 2, and", self.run_sizes()[1])


if __name__ == "__main__":
    unittest.main()
