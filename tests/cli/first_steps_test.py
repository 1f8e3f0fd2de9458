#!/usr/bin/env python3
"""What a newcomer does first: asks the demo's questions, tries words of other tools, reads the sample."""

import datetime
import re
import shlex
import shutil
import sys

from tool_under_test import SOURCE, ToolTest, main

sys.path.insert(0, str(SOURCE / "tests" / "support"))
from sample import copy_sample, sample_files  # noqa: E402

TRANSCRIPTS = SOURCE / "fixtures" / "transcripts" / "claude-code"
DEMO = SOURCE / "docs" / "demo.sh"
OPERATION_TABLE = SOURCE / "lib" / "operations" / "table"

# The demo's questions, and what their first hit must hold: its id, or words of it.
OF_THE_SAMPLE = {
    "which clock decides when a hold expires?": "dec-1m3y5kay4x7w99w",
    "why not RSA signatures?": "dec-1m60rnksa7k92qv",
    "do dogs travel free?": "Dogs travel free on all ships",
    "E_UPSTREAM_TIMEOUT": "look at pg_stat_activity first",
    "where do the gates keep the season keys?": "season keys on a memory card",
}
OF_THE_TRANSCRIPTS = {
    "was everything pushed?": "Yes — everything is pushed and clean",
    "which gqc commits are pushed?": "Both gqc.6 and gqc.7 commits are on",
    "workarounds for scrolling in xterm.js": "toolu_017Q5Sr8KaSgowYhbKXBnfV2",  # The call or its result.
}
TIME = re.compile(r'(?<=")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?=[.\dZ]*Z")')


def calls_of_the_demo(word):
    """The arguments of each `show WORD ...` in demo.sh."""
    text = DEMO.read_text(encoding="utf-8").replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith(f"show {word} ")]


def make_older(folder, days):
    """Moves every time in the files of `folder` back, as if the clock were ahead by so much."""

    def moved(match):
        time = datetime.datetime.fromisoformat(match[1]) - datetime.timedelta(days=days)
        return time.isoformat()

    for path in folder.rglob("*.json*"):
        path.write_text(TIME.sub(moved, path.read_text(encoding="utf-8")), encoding="utf-8")


class Demo(ToolTest):
    # Whatever the date is: the answers must be the same as the memory gets older.
    AGES_DAYS = (0, 40, 400, 4000)

    def check_first_hits(self, root, expected):
        for call in calls_of_the_demo("query"):
            question = call[1]
            if question in expected:
                first = self.run_tool("--json", "--root", str(root), *call).splitlines()[0]
                self.assertIn(expected[question], first.replace("\\n", "\n"), question)

    def test_every_question_of_the_demo_is_checked(self):
        asked = {call[1] for call in calls_of_the_demo("query")}
        self.assertEqual(asked, {*OF_THE_SAMPLE, *OF_THE_TRANSCRIPTS})

    def test_the_right_answer_comes_first_in_the_sample(self):
        (added,) = calls_of_the_demo("add")
        for days in self.AGES_DAYS:
            with self.subTest(days=days):
                root = self.folder / f"sample-{days}"
                copy_sample(root)
                make_older(root, days)
                session = self.run_tool("--root", str(root), "session", "new").strip()
                added[added.index("--session") + 1] = session
                self.run_tool("--root", str(root), *added)
                self.check_first_hits(root, OF_THE_SAMPLE)

    def test_the_right_answer_comes_first_in_the_transcripts(self):
        for days in self.AGES_DAYS:
            with self.subTest(days=days):
                copy = self.folder / f"transcripts-{days}"
                shutil.copytree(TRANSCRIPTS, copy)
                make_older(copy, days)
                root = self.folder / f"memory-{days}"
                self.run_tool("--quiet", "--root", str(root), "init")
                self.run_tool("--root", str(root), "import", str(copy))
                self.check_first_hits(root, OF_THE_TRANSCRIPTS)

    def test_the_demo_needs_nothing_outside_the_clone(self):
        self.assertNotIn("../", DEMO.read_text(encoding="utf-8").replace("/..", ""))
        clone = self.folder / "clone"
        for part in (".bmad-sample", "fixtures/transcripts"):
            shutil.copytree(SOURCE / part, clone / part)
        (clone / "docs").mkdir()
        shutil.copy(DEMO, clone / "docs")
        self.assertIn("Next steps", self.run_command("/bin/sh", str(clone / "docs" / "demo.sh")))


class Synonyms(ToolTest):
    def rows(self):
        """(word, command, whether it is an alias) of each word of other tools in the table."""
        rows = []
        for file in sorted(OPERATION_TABLE.glob("*.toml")):
            for operation in file.read_text(encoding="utf-8").split("[[operation]]\n")[1:]:
                command = re.search(r'^name = "([^"]+)"', operation, re.MULTILINE)[1]
                for line in re.findall(r"^aliases = \[(.*)\]", operation, re.MULTILINE):
                    rows += [(word, command, True) for word in re.findall(r'"([^"]+)"', line)]
                for block in re.findall(r"^advice = \[\n(.*?)^\]", operation, re.MULTILINE | re.DOTALL):
                    rows += [(word, command, False) for word in re.findall(r'^  \["([^"]+)"', block, re.MULTILINE)]
        self.assertGreater(len(rows), 30)
        return rows

    def commands(self):
        listed = self.run_tool("help", "--all")
        return set(re.findall(r"^  ([a-z][a-z-]*(?: [a-z]+)?)(?:  |$)", listed, re.MULTILINE))

    def problem_of(self, *words):
        self.run_command("/bin/sh", "-c", 'bmad-mem "$@" 2>problem', "sh", *words, status=2)
        return (self.folder / "problem").read_text(encoding="utf-8")

    def test_no_word_stands_twice_or_hides_a_command(self):
        words = [word for word, _, _ in self.rows()]
        self.assertEqual(len(words), len(set(words)))
        self.assertFalse(set(words) & self.commands())

    def test_an_alias_is_explained_as_its_command_and_named_there(self):
        for word, _, is_alias in self.rows():
            if is_alias:
                explained = self.run_tool("help", *word.split())
                aliases = re.search(r"^Aliases: (.*)$", explained, re.MULTILINE)
                self.assertIn(word, aliases[1].split(", "))

    def test_advice_names_commands_that_there_are(self):
        commands = self.commands()
        for word, target, is_alias in self.rows():
            if not is_alias:
                advice = self.problem_of(*word.split())
                typed = [span.split()[1:] for span in re.findall(r"`(bmad-mem [^`]+)`", advice)]
                named = {" ".join(words[:n]) for words in typed for n in (1, 2)} & commands
                self.assertIn(target, named, advice)
                for words in typed:
                    self.assertTrue({words[0], " ".join(words[:2])} & commands, advice)

    def test_typing_errors_still_get_the_nearest_command(self):
        self.assertIn("did you mean 'query'?", self.problem_of("qeury", "x"))


class Sample(ToolTest):
    def test_reading_the_sample_leaves_nothing_that_a_test_would_see(self):
        root = self.folder / ".bmad-sample"
        copy_sample(root)
        files = {path: path.read_bytes() for path in sample_files(root)}
        for _ in range(2):
            self.run_tool("--root", str(root), "query", "why are seats held")
        self.run_tool("--root", str(root), "get", "dec-1m60rnksa7k92qv")
        self.run_tool("--root", str(root), "rebuild-index", "--all")
        self.assertTrue(list(root.rglob("access.jsonl")))
        self.assertTrue(list(root.rglob("index.json")))
        self.assertEqual({path: path.read_bytes() for path in sample_files(root)}, files)

    def test_the_schemas_fit_the_sample_after_it_was_read(self):
        try:
            import jsonschema  # noqa: F401
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        for part in ("schemas", "fixtures"):
            (self.folder / part).symlink_to(SOURCE / part)
        copy_sample(self.folder / ".bmad-sample")
        self.run_tool("--root", str(self.folder / ".bmad-sample"), "query", "why are seats held")
        check = SOURCE / "tests" / "schemas" / "check_schemas.py"
        self.run_command(sys.executable, str(check), str(self.folder))


if __name__ == "__main__":
    main()
