#!/usr/bin/env python3
"""Runs the cases in cases/*.txt: commands, and what they must print.

    === title, a sentence            a case; runs in an empty folder of its own
    @ memory                         first `bmad-mem init` there
    @ session                        that, and `bmad-mem session new --id s1`
    $ bmad-mem list                  a command for sh
    < text                           a line of its stdin
    | text                           a line it must print on stdout
    ! text                           a line it must print on stderr
    ? 1                              its exit status, when it is not 0

Placeholders in expected lines: {id}, {session}, {time}, {minute}, {age}, {number}, {size}, {s} for the
plural, {*} for any text;
{...} as a whole line for any number of lines. {id:D} also remembers what stood there: as $D in later
commands, as {=D} in later expected lines. Output with --json must be JSON in every line, no key twice.

Usage: run_cases.py TOOL [WORD]...    only the cases whose title or file contains a WORD
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from sample import copy_sample  # noqa: E402

PATTERNS = {
    "id": r"[A-Za-z0-9_][A-Za-z0-9_.:@+=~-]*",
    "session": r"[a-z0-9][a-z0-9._-]{0,63}",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z",
    "minute": r"\d{4}-\d\d-\d\d \d\d:\d\d",
    "age": r"just now|\d+ [a-z]+ ago",
    "number": r"\d+(?:\.\d+)?",
    "size": r"\d+(?:\.\d)? (?:B|KiB|MiB|GiB)",
    "s": r"s?",
    "*": r".*",
}
PLACEHOLDER = re.compile(r"\{(?:=([A-Z]+)|(\*|[a-z]+)(?::([A-Z]+))?)\}")
TIMEOUT_S = 60


class Step:
    """A command and what it must do."""

    def __init__(self, command, line):
        self.command = command
        self.line = line
        self.stdin = []
        self.stdout = []
        self.stderr = []
        self.status = 0


class Case:
    def __init__(self, path, title, line):
        self.path = path
        self.title = title
        self.line = line
        self.setup = []
        self.steps = []


def read_cases(path):
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, _, rest = line.partition(" ")
        if mark == "===":
            cases.append(Case(path, rest, number))
        elif mark == "@":
            cases[-1].setup.append(rest)
        elif mark == "$":
            cases[-1].steps.append(Step(rest, number))
        elif mark in ("<", "|", "!"):
            step = cases[-1].steps[-1]
            {"<": step.stdin, "|": step.stdout, "!": step.stderr}[mark].append(rest)
        elif mark == "?":
            cases[-1].steps[-1].status = int(rest)
        elif line and not line.startswith("#"):
            sys.exit(f"{path}:{number}: not understood: {line}")
    return cases


def match_line(expected, actual, names):
    """Whether `actual` is what `expected` says; what it names goes into `names`."""
    pattern, at, groups = "", 0, []
    for found in PLACEHOLDER.finditer(expected):
        known, kind, name = found.groups()
        if kind is not None and kind not in PATTERNS:
            continue
        pattern += re.escape(expected[at : found.start()])
        pattern += re.escape(names.get(known, "?")) if known else f"({PATTERNS[kind]})"
        groups += [] if known else [name]
        at = found.end()
    match = re.fullmatch(pattern + re.escape(expected[at:]), actual)
    if not match:
        return False
    names.update({name: text for name, text in zip(groups, match.groups()) if name})
    return True


def match_lines(expected, actual, names):
    if "{...}" not in expected:
        return len(expected) == len(actual) and all(
            match_line(want, got, names) for want, got in zip(expected, actual)
        )
    gap = expected.index("{...}")
    head, tail = expected[:gap], expected[gap + 1 :]
    if len(actual) < gap or not match_lines(head, actual[:gap], names):
        return False
    # Shortest gap first; names are taken from the first that fits.
    return any(
        match_lines(tail, actual[start:], names) for start in range(gap, len(actual) + 1)
    )


def no_key_twice(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice: {keys}")
    return dict(pairs)


def json_problem(lines):
    for line in lines:
        try:
            json.loads(line, object_pairs_hook=no_key_twice)
        except ValueError as problem:
            return f"not JSON ({problem}): {line}"
    return None


def environment_for(tool, folder, sample, state):
    return {
        "PATH": f"{tool.parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "HOME": str(folder),
        # Beside the folder, as with anybody: git is asked about what is in it.
        "XDG_STATE_HOME": state,
        "LC_ALL": "C.UTF-8",
        "FIXTURES": str(HERE / "fixtures"),
        "SAMPLE": str(sample),
        "BMAD_MEM_ENCODER": "",  # Also where the weights lie beside the tool.
        **{key: text for key, text in os.environ.items() if key.endswith("SAN_OPTIONS")},
    }


def run(command, folder, environment, stdin=b""):
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def run_step(step, folder, environment, names):
    """None, or what is wrong as text."""
    stdin = "".join(line + "\n" for line in step.stdin).encode()
    done = run(step.command, folder, {**environment, **names}, stdin)
    # What is no UTF-8 shows up as a backslash escape, so that a case can name it.
    stdout = done.stdout.decode("utf-8", "backslashreplace").splitlines()
    stderr = done.stderr.decode("utf-8", "backslashreplace").splitlines()
    good = (
        match_lines(step.stdout, stdout, names)
        and match_lines(step.stderr, stderr, names)
        and done.returncode == step.status
    )
    problem = json_problem(stdout + stderr) if re.match(r"bmad-mem --json [^|]*$", step.command) else None
    if good and not problem:
        return None
    shown = [f"$ {step.command}", *(f"| {line}" for line in stdout), *(f"! {line}" for line in stderr)]
    shown += [f"? {done.returncode}"] if done.returncode else []
    wanted = [*(f"| {line}" for line in step.stdout), *(f"! {line}" for line in step.stderr)]
    wanted += [f"? {step.status}"] if step.status else []
    return "\n  ".join([problem or "did:", *shown, "wanted:", *wanted])


def run_case(tool, case, sample):
    """None, or what is wrong as text."""
    with (
        tempfile.TemporaryDirectory(prefix="bmad-cli-") as name,
        tempfile.TemporaryDirectory(prefix="bmad-state-") as state,
    ):
        folder = pathlib.Path(name)
        environment = environment_for(tool, folder, sample, state)
        names = {}
        for setup in case.setup:
            commands = {
                "memory": "bmad-mem --quiet init",
                "session": "bmad-mem --quiet init && bmad-mem session new --id s1",
            }
            done = run(commands[setup], folder, environment)
            if done.returncode:
                return f"{case.path.name}:{case.line}: set-up failed: {done.stderr.decode()}"
        for step in case.steps:
            problem = run_step(step, folder, environment, names)
            if problem:
                return f"{case.path.name}:{step.line}: {case.title}\n  {problem}"
    return None


def main(arguments):
    tool = pathlib.Path(arguments[0]).resolve()
    words = arguments[1:]
    cases = [case for path in sorted((HERE / "cases").glob("*.txt")) for case in read_cases(path)]
    if words:
        cases = [c for c in cases if any(word in c.title or word in c.path.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="bmad-sample-") as folder:
        sample = pathlib.Path(folder) / "memory"
        copy_sample(sample)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = pool.map(lambda case: run_case(tool, case, sample), cases)
            problems = [problem for problem in done if problem]
    print("\n".join(problems + [f"cli: {len(cases)} cases, {len(problems)} failed"]))
    return 1 if problems or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
