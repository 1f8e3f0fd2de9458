#!/usr/bin/env python3
"""Imports real transcripts, and compares with what a second reader of them finds.

Those in $BMAD_SHARED_DATA, else in ../shared/data beside the project, else those of the demo.
"""

import collections
import json
import os
import pathlib

from tool_under_test import SOURCE, ToolTest, main

DATA = pathlib.Path(os.environ.get("BMAD_SHARED_DATA", SOURCE.parent / "shared" / "data"))
TRANSCRIPTS = DATA / "transcripts" / "claude-code"
if not TRANSCRIPTS.is_dir():
    TRANSCRIPTS = SOURCE / "fixtures" / "transcripts" / "claude-code"
MACHINE = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<task-notification>",
    "<system-reminder>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
)


def blocks_of(record):
    content = record["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def read_transcripts():
    """(texts of people and agents by session, ids of tool events by session), read independently."""
    messages = collections.defaultdict(list)
    events = collections.defaultdict(set)
    for path in sorted(TRANSCRIPTS.rglob("*.jsonl")):
        joined = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["type"] not in ("user", "assistant"):
                continue
            if record.get("isMeta") or record.get("isCompactSummary"):
                continue
            session = "cc-" + record["sessionId"]
            texts = []
            for block in blocks_of(record):
                if block["type"] == "tool_use":
                    events[session].add(block["id"])
                elif block["type"] == "tool_result":
                    events[session].add(block["tool_use_id"] + "-result")
                elif block["type"] == "text" and block["text"].strip():
                    if record["type"] == "assistant" or not block["text"].strip().startswith(MACHINE):
                        texts.append(block["text"].strip())
            if texts:
                key = (session, record["message"].get("id", record["uuid"]))
                joined.setdefault(key, []).extend(texts)
        for (session, _), texts in joined.items():
            messages[session].append("\n\n".join(texts))
    return messages, events


class Transcripts(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.summary = json.loads(self.run_tool("--json", "import", str(TRANSCRIPTS)))

    def entries(self, kind):
        lines = self.run_tool("--json", "list", "--limit", "0", "--type", kind).splitlines()
        return [json.loads(line) for line in lines]

    def test_every_message_and_tool_call_is_there_once(self):
        messages, events = read_transcripts()
        found = collections.defaultdict(list)
        for entry in self.entries("conversation"):
            found[entry["session_id"]].append(entry["content"])
        self.assertEqual(set(found), set(messages))
        for session, texts in messages.items():
            self.assertEqual(sorted(found[session]), sorted(texts), session)
        ids = collections.defaultdict(list)
        for entry in self.entries("event"):
            ids[entry["session_id"]].append(entry["id"])
            self.assertLessEqual(len(entry.get("content", "").encode()), 2000)
        for session, wanted in events.items():
            self.assertEqual(sorted(ids[session]), sorted(wanted), session)

    def test_parents_and_references_are_entries(self):
        known = {entry["id"] for kind in ("conversation", "event") for entry in self.entries(kind)}
        for entry in self.entries("event"):
            for ids in entry.get("references", {}).values():
                self.assertLessEqual(set(ids), known, entry["id"])
        orphans = [
            entry["id"]
            for entry in self.entries("conversation")
            if entry.get("context", {}).get("parent_message_id", entry["id"]) not in known
        ]
        # The transcripts were cut: some begin with an answer.
        self.assertLess(len(orphans), 10, orphans)

    def test_importing_again_adds_nothing(self):
        before = sorted((self.folder / ".bmad/memory/sessions").rglob("*.jsonl"))
        contents = [path.read_bytes() for path in before]
        again = json.loads(self.run_tool("--json", "import", str(TRANSCRIPTS)))
        self.assertEqual(again["imported"], 0)
        self.assertEqual(again["known"], self.summary["imported"])
        self.assertEqual(sorted((self.folder / ".bmad/memory/sessions").rglob("*.jsonl")), before)
        self.assertEqual([path.read_bytes() for path in before], contents)
        self.run_tool("verify")


if __name__ == "__main__":
    main()
