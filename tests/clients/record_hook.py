#!/usr/bin/env python3
"""Stands in front of bmad-mem on PATH: appends what a client sends to `bmad-mem hook` to a file, and passes it on.

Usage: record_hook.py TOOL FILE ARGUMENT...
"""

import json
import os
import sys
import tempfile


def main():
    tool, file, *arguments = sys.argv[1:]
    if arguments[:1] == ["hook"]:
        text = sys.stdin.buffer.read()
        try:
            payload = json.loads(text)
        except ValueError:
            payload = text.decode(errors="replace")
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"arguments": arguments, "payload": payload}, ensure_ascii=False) + "\n")
        with tempfile.TemporaryFile() as again:
            again.write(text)
            again.seek(0)
            os.dup2(again.fileno(), 0)
    os.execv(tool, ["bmad-mem", *arguments])


if __name__ == "__main__":
    main()
