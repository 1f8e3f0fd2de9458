"""What the tests of the local server share: a memory, and a server on it, for each class of tests."""

import os
import pathlib
import subprocess
import sys
import tempfile

from serve_process import Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main  # noqa: E402, F401

SANITIZED = TOOL is not None and TOOL.exists() and b"__asan_init" in TOOL.read_bytes()


class ServeTest(ToolTest):
    """The session is s1; subclasses say what is in it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.place = tempfile.TemporaryDirectory(prefix="bmad-http-")
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder_of_all = pathlib.Path(cls.place.name)
        cls.run_folder = cls.folder_of_all / "run"
        cls.run_folder.mkdir(mode=0o700)
        cls.class_environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(cls.folder_of_all),
            "XDG_RUNTIME_DIR": str(cls.run_folder),
            "LC_ALL": "C.UTF-8",
            **{key: text for key, text in os.environ.items() if key.endswith("SAN_OPTIONS")},
        }
        cls.tool_in_class("init")
        cls.tool_in_class("session", "new", "--id", "s1")
        cls.fill()
        cls.server = Server(TOOL, cls.folder_of_all, cls.class_environment)
        cls.addClassCleanup(cls.server.process.stdout.close)
        cls.addClassCleanup(cls.server.stop)

    @classmethod
    def fill(cls):
        """What the memory holds before the server starts."""

    @classmethod
    def tool_in_class(cls, *arguments, stdin=""):
        return subprocess.run(
            [str(TOOL), "--quiet", *arguments], cwd=cls.folder_of_all, env=cls.class_environment,
            input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout

    @property
    def root(self):
        return self.folder_of_all / ".bmad" / "memory"

    def tearDown(self):
        self.assertIsNone(self.server.process.poll(), self.server.error_text()[-3000:])
        self.assertNotIn("Sanitizer", self.server.error_text())
        super().tearDown()
