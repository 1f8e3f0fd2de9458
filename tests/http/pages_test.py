#!/usr/bin/env python3
"""Has a browser go through the pages: node/*.test.mjs, over two memories.

One looks like a project's (sample_memory.py), in the other every field of every type holds markup.
Pictures of all pages lie in screenshots/ beside $BMAD_NODE_FOLDER afterwards; those for the README
are made when $BMAD_SCREENSHOTS names a folder.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mcp"))

from node_packages import node_folder  # noqa: E402
from sample_memory import SampleMemory  # noqa: E402
from serve_process import Server  # noqa: E402
from serve_fixture import TOOL, ToolTest, main  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCRIPTS = ("pages.test.mjs", "tabs.test.mjs", "flows.test.mjs", "keyboard.test.mjs")  # The later ones change the memory.
TIMEOUT_S = 400
MARKUP = ("<script>window.hasRun=1</script>", "<img src=x onerror=\"window.hasRun=2\">", "javascript:window.hasRun=3",
          "\"><svg onload=window.hasRun=4>", "'-alert(5)-'", "[a](javascript:alert(6))", "</textarea><script>alert(7)</script>",
          "{{constructor.constructor('alert(8)')()}}", "\u202eevil\u2066", "<b>bold</b>&lt;i&gt;")
FIELDS = {
    "conversation": ("content", "topic", "agent_id", "conversation_id", "parent_message_id"),
    "decision": ("decision", "rationale", "made_by", "topic", "approved_by"),
    "finding": ("description", "evidence", "recommendation", "discovered_by", "category", "topic"),
    "preference": ("value", "key", "category", "context", "agent_id"),
    "fact": ("content", "key", "category", "agent_id"),
    "event": ("content", "tool", "path", "kind", "topic"),
    "agent_state": ("agent_id", "topic"),
    "artifact": ("path", "title", "snippet"),
}
WORDS_OF_THE_ENGINE = {"parent_message_id", "approved_by"}


class PagesTest(ToolTest):
    def serve(self, name, fill):
        folder = self.folder / name
        folder.mkdir()
        (folder / "run").mkdir(mode=0o700)
        environment = {**self.environment, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
        memory = SampleMemory(TOOL, folder, environment)
        fill(memory)
        server = Server(TOOL, folder, environment)
        self.addCleanup(server.process.stdout.close)
        self.addCleanup(server.stop)
        return {"url": server.origin, "link": server.about["link"], "token": server.token, "folder": str(folder)}

    @staticmethod
    def fill_with_markup(memory):
        memory.run("init")
        memory.run("session", "new", "--id", "markup", "--user", MARKUP[0], "--project", MARKUP[1], "--tag", MARKUP[3])
        for kind, names in FIELDS.items():
            lines = []
            for number in range(len(MARKUP)):
                fields = {name: MARKUP[(number + place) % len(MARKUP)] for place, name in enumerate(names)
                          if name not in WORDS_OF_THE_ENGINE}
                fields.update({"id": f"{kind}-{number}", "tags": [MARKUP[number]], "unknown": {MARKUP[number]: MARKUP}})
                fields.update({"role": "user"} if kind == "conversation" else {})
                fields.update({"state": {MARKUP[number]: MARKUP}} if kind == "agent_state" else {})
                lines.append(json.dumps(fields))
            memory.run("add", kind, "--session", "markup", "-", stdin="\n".join(lines))
        for text in MARKUP[:4]:
            memory.run("add", "conversation", "--session", "markup", "--role", "user", f"From now on always write {text} here.")
        memory.run("extract", "--rules", "--session", "markup")

    def test_the_pages_in_a_browser(self):
        node = shutil.which("node")
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        self.assertIsNotNone(node, "this test needs node: on Debian `apt-get install nodejs npm`")
        self.assertIsNotNone(browser, "this test needs Chromium: on Debian `apt-get install chromium`")
        pictures = node_folder().parent / "screenshots"
        shutil.rmtree(pictures, ignore_errors=True)
        pictures.mkdir()
        world = {"tool": str(TOOL), "browser": browser, "pictures": str(pictures),
                 "readme": os.environ.get("BMAD_SCREENSHOTS", ""),
                 "sample": self.serve("sample", SampleMemory.fill),
                 "markup": self.serve("markup", self.fill_with_markup),
                 "empty": self.serve("empty", lambda memory: memory.run("init"))}
        environment = {**self.environment, "BMAD_WORLD": json.dumps(world)}
        for script in SCRIPTS:
            with self.subTest(script):
                command = [node, "--test", "--test-reporter=spec", script]
                done = subprocess.run(command, cwd=node_folder(), env=environment, check=False, timeout=TIMEOUT_S)
                self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    main()
