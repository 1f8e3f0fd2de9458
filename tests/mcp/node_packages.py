#!/usr/bin/env python3
"""Installs what SOURCE/package-lock.json names into $BMAD_NODE_FOLDER; the source folder stays clean.

    node_packages.py SOURCE

All files of SOURCE are copied there too, so that they find the packages. The folder lies below the
build folder; packages are installed once, unless the lock file changes.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

TIMEOUT_S = 240


def node_folder():
    """Where the packages are; ends the test when there is no such place."""
    folder = os.environ.get("BMAD_NODE_FOLDER")
    if not folder:
        sys.exit("$BMAD_NODE_FOLDER must name a folder for the packages, such as build/debug/node")
    return pathlib.Path(folder)


def install(source):
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        sys.exit("this test needs node and npm: on Debian `apt-get install nodejs npm`")
    folder = node_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    wanted = hashlib.sha256((source / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
        return
    stamp.unlink(missing_ok=True)
    command = [npm, "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run(command, cwd=folder, check=True, timeout=TIMEOUT_S)
    stamp.write_text(wanted, encoding="ascii")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} SOURCE")
    install(pathlib.Path(sys.argv[1]))
