"""What the tests of the tool share: the tool's path, a folder of their own, a clean environment."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 120
TOOL = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None


def main():
    """Runs the tests of the calling script; the first argument is the tool."""
    if TOOL is None or not TOOL.exists():
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)


class ToolTest(unittest.TestCase):
    """Runs the tool in an empty folder."""

    tool = TOOL  # What the tests start that ask for nothing else.

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bmad-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        state = tempfile.TemporaryDirectory(prefix="bmad-state-")
        self.addCleanup(state.cleanup)
        self.environment = {
            "PATH": f"{TOOL.parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(self.folder),
            "XDG_STATE_HOME": state.name,
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "BMAD_MEM_ENCODER": "",  # Also where the weights lie beside the tool.
            **{key: text for key, text in os.environ.items() if key.endswith("SAN_OPTIONS")},
        }

    def run_for_others(self):
        """From now on `tool` is a copy in the test's folder, which every user may run: the source may be in a home that
        is closed to them, as /root is, and as new homes are on Debian 13."""
        self.folder.chmod(0o755)
        self.tool = shutil.copy(TOOL, self.folder / "tool-for-others")

    def run_command(self, *command, stdin="", status=0):
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        self.assertEqual(done.returncode, status, f"{command}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def run_tool(self, *arguments, stdin="", status=0):
        return self.run_command(str(TOOL), *arguments, stdin=stdin, status=status)
