#!/usr/bin/env python3
"""An export and its import make the same memory again; every format says what the memory holds."""

import csv
import io
import json
import random

from tool_under_test import ToolTest, main

try:
    import yaml
except ImportError:  # PyYAML is a convenience of the test, not of the project.
    yaml = None

AWKWARD = [
    "", " lead", "trail ", "two\nlines", "two\nlines\n", "three\n\n\n", "\n", "\n x", "\tx\ny", "x\r\ny",
    "# head", "- item", "a: b", "a #b", "yes", "No", "null", "~", "1e5", "0x1f", "012", "1:30", "1_000",
    "2026-01-11", "=1+1", "+1", "-1", "@x", "'", '"', "\\", "a,b;c", "{x}", "[x]", "%x", "&x", "*x", "!x",
    "|", ">", "?", "? x", "...", "---", "<b>", "```\nx", "caf\u00e9", "\u2028\u2029\ufeff\u0085", "\x01\x7f",
    "\U0001f600 \u05d0", "x" * 3000, "a\n---\nb", "a\n...\n", "\uff1d1", "key: |", "\ufffe",
]


class Export(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("init", "--quiet")

    def put(self, lines):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        self.run_tool("import", "-", stdin=text)

    def exported(self, *arguments, root=".bmad/memory"):
        return self.run_tool("--quiet", "--root", root, "export", *arguments)

    def test_ten_thousand_entries_come_back_byte_for_byte(self):
        dice = random.Random(20260111)
        sessions = ["s1", "s2", "s3", "empty"]
        for name in sessions:
            self.run_tool("session", "new", "--id", name, "--user", "user-\u00e9", "--tag", "x,y")
        lines = []
        for i in range(10000):
            base = {"session_id": dice.choice(sessions[:3]), "id": f"e{dice.randrange(9000)}",
                    "timestamp": f"2026-01-{1 + i // 400:02}T10:00:00Z"}
            text = dice.choice(AWKWARD) + f" {i}"
            lines.append({**base, "type": "fact", "content": text, "pinned": i % 7 == 0} if i % 3 else
                         {**base, "type": "conversation", "role": "user", "content": text, "n": i})
        self.put(lines)
        self.run_tool("session", "close", "s2")
        before = self.exported()
        self.assertEqual(before.count("\n"), 10000 + 4)
        (self.folder / "all.jsonl").write_text(before, encoding="utf-8", newline="")
        self.run_tool("--root", "other", "--quiet", "init")
        self.run_tool("--root", "other", "import", "all.jsonl")
        self.assertEqual(self.exported(root="other"), before)
        files = {path: path.read_bytes() for path in (self.folder / "other").rglob("*.json*")}
        printed = self.run_tool("--root", "other", "--json", "import", "all.jsonl")
        self.assertEqual(json.loads(printed)["known"], 10000)
        self.assertEqual(files, {path: path.read_bytes() for path in (self.folder / "other").rglob("*.json*")})

    def test_a_version_that_comes_back_is_the_latest_again(self):
        self.run_tool("session", "new", "--id", "s1")
        for content in ["one", "two", "one"]:
            entry = {"id": "f1", "timestamp": "2026-01-11T10:00:00Z", "content": content}
            self.run_tool("add", "--replace", "fact", "--session", "s1", "-", stdin=json.dumps(entry))
        before = self.exported()
        self.assertEqual(before.count("\n"), 4)
        self.run_tool("--root", "other", "--quiet", "init")
        for _ in range(2):
            self.run_tool("--root", "other", "import", "-", stdin=before)
            self.assertEqual(self.exported(root="other"), before)

    def test_every_format_holds_what_the_memory_holds(self):
        self.put([{"session_id": "s1", "type": "fact", "id": f"f{i}", "timestamp": "2026-01-11T10:00:00Z",
                   "content": "x" + text, "key": text, "tags": ["a", text], "deep": {text + "k": [[text], {}]}}
                  for i, text in enumerate(AWKWARD)])
        stored = [json.loads(line) for line in self.exported().split("\n")[1:] if line]
        document = json.loads(self.exported("--format", "json"))
        self.assertEqual(document["version"], 1)
        entries = document["sessions"][0]["entries"]
        self.assertEqual([{"session_id": "s1", **entry} for entry in entries], stored)
        rows = list(csv.DictReader(io.StringIO(self.exported("-f", "csv"), newline="")))
        self.assertEqual([json.loads(row["json"]) for row in rows],
                         [{key: entry[key] for key in entry if key != "type"} for entry in entries])
        for row in rows:
            for name in row:
                self.assertNotIn(row[name][:1], set("=+-@"))
        if yaml is None:
            self.skipTest("PyYAML is not installed: the YAML is not read back")
        read = yaml.safe_load(self.exported("-f", "yaml"))
        self.assertEqual(read["sessions"], document["sessions"])


if __name__ == "__main__":
    main()
