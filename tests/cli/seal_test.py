#!/usr/bin/env python3
"""Kills `seal on`, `seal rotate` and `seal off` at many moments, runs them again, and looks at the result:
no entry is lost, and no word of a sealed one stands in any file.

Usage: seal_test.py BMAD_MEM. Exit status 1 if a check failed.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = pathlib.Path(sys.argv.pop(1)).resolve()
WORD = "zqcanary"
KILLS = 12


class SealTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.project = self.folder / "project"
        self.project.mkdir()
        self.root = self.project / ".bmad/memory"
        self.run_tool("init", "-q")
        for session in ("live", "packed", "gone"):
            self.run_tool("session", "new", "--id", session)
            lines = "".join(f'{{"id":"{session}-{i}","content":"{WORD} number {i}"}}\n' for i in range(300))
            self.run_tool("add", "fact", "--session", session, "-", text=lines)
        self.run_tool("delete", "live-7", "--yes")
        self.run_tool("compact", "--session", "live", "--keep", "60", "--force")
        self.run_tool("session", "archive", "packed")
        self.run_tool("session", "delete", "gone", "--yes")
        self.run_tool("rebuild-index")

    def environment(self, key):
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")}
        variables.update({name: text for name, text in os.environ.items() if name.endswith("SAN_OPTIONS")})
        if key:
            variables["BMAD_MEM_KEY_FILE"] = str(self.folder / key)
        return variables

    def run_tool(self, *arguments, text="", key=None):
        done = subprocess.run([TOOL, *arguments], cwd=self.project, input=text, text=True, capture_output=True,
                              env=self.environment(key), timeout=120, check=False)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done.stdout

    def kill_often(self, *arguments, key):
        """Runs the command to its end on a copy to learn its time, then kills it at moments up to that."""
        kept = self.folder / "kept"
        shutil.copytree(self.root, kept)
        start = time.monotonic()
        self.run_tool(*arguments, key=key)
        whole = time.monotonic() - start
        shutil.rmtree(self.root)
        kept.rename(self.root)
        for kill in range(1, KILLS + 1):
            with subprocess.Popen([TOOL, *arguments], cwd=self.project, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=self.environment(key)) as process:
                try:
                    process.wait(whole * kill / (KILLS + 1))
                except subprocess.TimeoutExpired:
                    process.kill()
            if (self.root / "sealing.json").exists():
                self.check_entries(key)
        if arguments[1] != "off" or (self.root / "sealing.json").exists():
            self.run_tool(*arguments, key=key)

    def check_entries(self, key, count=599):
        lines = self.run_tool("--json", "list", "--limit", "0", key=key).splitlines()
        self.assertEqual(sum(WORD in line for line in lines), count)

    def places(self):
        found = []
        for path in self.root.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            if WORD.encode() in data:
                found.append(str(path))
        return found

    def test_killed(self):
        self.kill_often("seal", "on", "--yes", key=self.make_key("first"))
        self.assertEqual(self.places(), [])
        self.check_entries("first")
        self.make_key("second")
        both = self.folder / "both"
        both.write_text((self.folder / "first").read_text() + (self.folder / "second").read_text())
        both.chmod(0o600)
        self.kill_often("seal", "rotate", "--new-key-file", str(self.folder / "second"), "--yes", key="both")
        self.assertEqual(self.places(), [])
        self.check_entries("second")
        self.kill_often("seal", "off", "--yes", key="second")
        self.check_entries(None)
        self.run_tool("verify")
        self.run_tool("undelete", "live-7")
        self.run_tool("session", "undelete", "gone")
        self.check_entries(None, 900)
        self.assertFalse((self.root / "sealing.json").exists())

    def make_key(self, name):
        path = self.folder / name
        path.write_text(os.urandom(32).hex() + "\n")
        path.chmod(0o600)
        return name


if __name__ == "__main__":
    unittest.main()
