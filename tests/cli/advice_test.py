#!/usr/bin/env python3
"""Commands that the program and its pages advise can be pasted: each is known, has options of its own and all arguments."""

import functools
import re
import shlex
import subprocess

from tool_under_test import SOURCE, TOOL, ToolTest, main

# What stands for a value: an argument of fmt, of a template, or an ellipsis.
PLACEHOLDER = re.compile(r"\$\{[^}]*\}|\{[^}]*\}|…")


def without_comments(text):
    return re.sub(r"^\s*//.*$|(?<=[;{},)])\s+//.*$", "", text, flags=re.MULTILINE)


def advised():
    """Each command with its file: the words after `bmad-mem`."""
    for folder in ("lib", "tools"):
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                text = re.sub(r'"\s*\n\s*"', "", without_comments(path.read_text(encoding="utf-8")))
                found = re.findall(r"`bmad-mem ([^`]+)`", text)
            elif path.suffix == ".toml":
                found = re.findall(r"`bmad-mem ([^`]+)`", path.read_text(encoding="utf-8"))
            elif path.suffix == ".js":
                text = without_comments(path.read_text(encoding="utf-8"))
                found = re.findall(r"`bmad-mem ([^`]+)`", text)
                found += [each for pair in re.findall(r"\"bmad-mem ([^\"\\]*(?:\\.[^\"\\]*)*)\"|'bmad-mem ([^']+)'", text) for each in pair if each]
            else:
                continue
            for command in found:
                yield path, PLACEHOLDER.sub("X", command.replace('\\"', '"')).replace("\n", " ").partition(">")[0].strip()


class Advice(ToolTest):
    maxDiff = None

    @functools.lru_cache(maxsize=None)
    def problem_of(self, command, is_name_enough):
        """Why the command is wrong usage. Its help is asked for, which reads the name and the options as usual."""
        words = shlex.split(command.replace("COMMAND", "query"))
        if words[0] == "X":
            return None  # The program chooses the command.
        run = subprocess.run([TOOL, *words, "--help"], capture_output=True, text=True, cwd=self.folder, env=self.environment, check=False)
        if run.returncode != 0:
            return run.stderr.splitlines()[0]
        name, arguments = re.match(r"Usage: bmad-mem ([a-z-]+(?: [a-z-]+)*)(.*)", run.stdout).groups()
        required = [word for word in arguments.split() if not word.startswith("[")]
        takes_value = {each for pair in re.findall(r"^ +(?:(-[a-zA-Z]), )?(--[a-z-]+) [A-Z<\[|]", run.stdout, re.MULTILINE) for each in pair}
        given, rest = [], list(words)
        while rest:
            word = rest.pop(0)
            if word in takes_value and rest:
                rest.pop(0)
            elif word == "-" or not word.startswith("-"):
                given.append(word)
        given = given[len(name.split()) :]
        if len(given) < len(required) and not (is_name_enough and not given):
            return f"missing {' '.join(required[len(given):])}"
        return None

    def test_what_is_advised_can_be_pasted(self):
        wrong = set()
        for path, command in advised():
            # The table of commands may name a command that it explains.
            problem = self.problem_of(command, path.suffix == ".toml")
            if problem is not None:
                wrong.add(f"{path.relative_to(SOURCE)}: `bmad-mem {command}`: {problem}")
        self.assertEqual(sorted(wrong), [])

    def test_no_help_says_its_choices_twice(self):
        names = re.findall(r"^  ([a-z][a-z-]*(?: [a-z]+)?)  +\S", self.run_tool("help", "--all"), re.MULTILINE)
        twice = []
        for name in names:
            text = re.sub(r"\n {8,}", " ", self.run_tool("help", *name.split()))
            for line in text.splitlines():
                help_text, colon, choices = line.rpartition(": ")
                first = choices.split(" (default")[0].split(";")[0].split(", ")
                if colon and len(first) > 2 and all(re.search(rf"\b{re.escape(each)}\b", help_text) for each in first):
                    twice.append(f"{name}: {line.strip()}")
        self.assertEqual(twice, [])


if __name__ == "__main__":
    main()
