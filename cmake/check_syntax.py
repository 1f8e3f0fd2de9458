#!/usr/bin/env python3
"""Checks the syntax of every source in a build folder's compile_commands.json, without making objects.

For a compiler or a standard library that can't link here: Debian's RE2 is built with libstdc++, so what is
compiled with libc++ has nothing to link with.

Usage: check_syntax.py BUILD_FOLDER JOBS. Prints what the compiler says; exit status 1 when a source has
an error or a warning.
"""

import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

# Options that name an output, with the number of words that each takes.
OUTPUTS = {"-o": 2, "-MD": 1, "-MT": 2, "-MF": 2, "-c": 1}


def syntax_command(command):
    """The words of a compile command that checks and writes nothing."""
    words, kept = shlex.split(command), []
    while words:
        size = OUTPUTS.get(words[0], 0)
        if not size:
            kept.append(words[0])
        del words[: size or 1]
    return [*kept, "-Werror", "-fsyntax-only"]


def main(arguments):
    folder, jobs = pathlib.Path(arguments[0]), int(arguments[1])
    commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    # Third-party sources, such as simdjson's, are not ours to mend.
    commands = [each for each in commands if "/build/deps/" not in each["file"]]

    def check(each):
        return subprocess.run(
            syntax_command(each["command"]),
            cwd=each["directory"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(check, commands):
            print(done.stdout, end="")
            failed += done.returncode != 0
    print(f"syntax: {len(commands)} units, {failed} with errors")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
