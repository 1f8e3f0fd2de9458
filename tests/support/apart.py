#!/usr/bin/env python3
"""Runs a command below no agent. Where an agent develops this, it is among the parents of the tests, and the tool
takes each command for the agent's (tools/bmad-mem/cli/agents.cpp). So the command is then started by a process that
ends at once: its parent is the first process of the machine. Ends with the command, by its exit status.

Usage: apart.py COMMAND...
"""

import os
import pathlib
import re
import subprocess
import sys
import time

AGENTS = pathlib.Path(__file__).resolve().parents[2] / "tools/bmad-mem/cli/agents.cpp"


def is_below_agent():
    names = set(re.findall(r'"/([a-z-]+)\\n"', AGENTS.read_text(encoding="utf-8")))
    process = os.getppid()
    while process > 0:
        try:
            folder = pathlib.Path(f"/proc/{process}")
            head, _, rest = folder.joinpath("stat").read_text(errors="replace").rpartition(") ")
            words = folder.joinpath("cmdline").read_text(errors="replace").split("\0")
        except OSError:
            return False
        if names & {head.partition("(")[2], *(os.path.basename(word) for word in words[:3])}:
            return True
        process = int(rest.split()[1])
    return False


def run_apart(command):
    """The exit status of the command, which has another parent."""
    reading, writing = os.pipe()
    middle = os.fork()
    if middle == 0:
        middle = os.getpid()
        if os.fork() == 0:
            while os.getppid() == middle:
                time.sleep(0.001)
            os.write(writing, str(subprocess.run(command, check=False).returncode).encode())
        os._exit(0)
    os.waitpid(middle, 0)
    os.close(writing)
    return int(os.read(reading, 16) or 1)


if __name__ == "__main__":
    if is_below_agent():
        sys.exit(run_apart(sys.argv[1:]))
    os.execvp(sys.argv[1], sys.argv[1:])
