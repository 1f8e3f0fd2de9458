#!/usr/bin/env python3
"""What git shows of a memory: what was said, decided, found and summarised, and little else. What tools printed
stays on its machine, and no date depends on when git wrote a file."""

import json
import os
import shutil
import time

from git_live_test import LiveTest
from git_test import MEMORY
from tool_under_test import main

TURNS = (
    ("The parser fails for empty lines; please mend it.", "The loop skipped the last line. I mended it, and all tests pass."),
    ("Why did it skip that line?", "The end was compared before the line was read."),
    ("Add a test that has failed before.", "tests/parser_test.py has it now: an empty line at the end of a file."),
)


class TextTest(LiveTest):
    def setUp(self):
        super().setUp()
        self.run_in("git", "install")
        self.commit("memory")

    def work(self, session):
        """A session as a client tells it: prompts, calls of tools, answers, an end."""
        self.run_hook("SessionStart", session=session, source="startup")
        for turn, (prompt, answer) in enumerate(TURNS):
            self.prompt(prompt, session=session)
            for call in range(5):
                fields = {"tool_name": "Bash", "tool_use_id": f"{session}-{turn}-{call}",
                          "tool_input": {"command": f"make test PART={call}"}}
                self.run_hook("PostToolUse", session=session, tool_response={"stdout": "43 tests pass", "stderr": ""},
                              **fields)
            self.run_hook("Stop", session=session, last_assistant_message=answer)

    def end(self, session):
        self.run_hook("SessionEnd", session=session, reason="other")
        self.wait_for(lambda: "closed_at" in self.manifest(session))

    def manifest(self, session):
        return json.loads((self.session_folder(f"cc-{session}") / "manifest.json").read_text(encoding="utf-8"))

    def wait_for(self, is_so):
        """What a hook does after its answer."""
        for _ in range(200):
            if is_so():
                return
            time.sleep(0.05)
        self.fail("it did not come")

    def index_of(self, session):
        file = self.session_folder(f"cc-{session}") / "index.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def clone(self):
        where = self.folder / "clone"
        self.git("clone", "-q", str(self.repository), str(where))
        return where


class DayTest(TextTest):
    def share(self, *options):
        """The changed lines that are content, of all."""
        content = every = 0
        file = ""
        for line in self.git("-c", "core.quotePath=off", "diff", "--cached", *options).splitlines():
            if line.startswith("+++ "):
                file = line.rsplit("/", 1)[-1]
            elif line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
                every += 1
                content += file == "summary.md" or (file.endswith(".jsonl") and file != "audit.jsonl")
        return content / every

    def test_most_of_a_days_diff_is_what_was_said_and_found(self):
        for session in "abc":
            self.work(session)
            self.end(session)
        self.stage()
        self.assertGreaterEqual(self.share("--no-textconv"), 0.60)
        self.assertGreaterEqual(self.share("--textconv"), 0.85)
        shown = self.git("diff", "--cached", "--textconv")
        for nothing in ("recorded_by", "source.kind", "decay_factor", "tool_use", "make test"):
            self.assertNotIn(nothing, shown)
        self.assertNotIn("recorded_by", self.git("diff", "--cached", "--no-textconv"))

    def stage(self):
        self.git("add", "-A")
        self.assertNotIn("events.jsonl", self.git("diff", "--cached", "--name-only"))

    def test_a_manifest_changes_when_its_session_opens_and_closes_alone(self):
        self.work("a")
        before = self.manifest("a")
        self.assertNotIn("statistics", before)
        self.work("a")
        self.run_in("maintain")
        self.assertEqual(self.manifest("a"), before)
        self.end("a")
        counted = self.manifest("a")["statistics"]
        self.assertEqual(counted["total_messages"], 12)
        self.assertFalse({"total_events", "size_bytes", "last_accessed"} & counted.keys())
        closed = self.manifest("a")
        self.run_in("maintain")
        self.assertEqual(self.manifest("a"), closed)


class CompleteTest(TextTest):
    def test_a_session_that_was_never_closed_has_its_counts(self):
        self.work("a")
        self.wait_for(lambda: self.index_of("a").get("counts") == {"conversation": 6, "event": 30})
        self.prompt("And then the agent was killed.")
        self.run_in("maintain")
        self.assertEqual(self.index_of("a")["counts"], {"conversation": 7, "event": 30})
        self.assertNotIn("statistics", self.manifest("a"))


class EventsTest(TextTest):
    def test_a_clone_says_where_the_events_are(self):
        self.work("a")
        fact = {"category": "tests", "content": "They pass", "references": {"events": ["a-0-0"]}}
        self.run_with_input(json.dumps(fact), "add", "fact", "--session", "cc-a", "-")
        self.end("a")
        self.commit("a session")
        clone = self.clone()
        self.assertIn("make test", self.run_in("get", "a-0-0"))
        self.assertIn("tool output stayed on the other machine", self.run_in("get", "a-0-0", status=3, where=clone))
        self.assertIn("tool output stayed on the other machine", self.run_in("history", "a-0-0", status=3, where=clone))
        self.assertNotIn("machine", self.run_in("get", "nobody-names-it", status=3, where=clone))
        for words in (("query", "--type", "event", "tests"), ("list", "--type", "event")):
            self.assertIn("sessions of hooks have no events here", self.run_in(*words, where=clone))
        self.assertNotIn("events here", self.run_in("query", "--type", "decision", "nothing", where=clone))

    def test_a_root_of_0_1_tracks_events_until_it_is_told_not_to(self):
        ignore = self.repository / MEMORY / ".gitignore"
        lines = ignore.read_text(encoding="ascii")
        ignore.write_text(lines.replace("/sessions/*/events.jsonl\n", ""), encoding="ascii")
        self.work("a")
        self.end("a")
        self.commit("a session")
        log = f"{MEMORY}/sessions/cc-a/events.jsonl"
        self.assertIn(log, self.git("ls-files"))
        self.assertIn("git tracks what tools printed, in 1 session;", self.run_in("doctor", status=1))
        self.run_in("git", "check")
        self.assertIn("would stop tracking", self.run_in("git", "untrack-events", "--dry-run"))
        self.assertIn(log, self.git("ls-files"))
        self.prompt("An agent goes on meanwhile")
        self.assertIn("stop tracking sessions/cc-a/events.jsonl", self.run_in("git", "untrack-events"))
        self.commit("untracked")
        self.assertNotIn(log, self.git("ls-files"))
        self.assertTrue((self.repository / log).exists())
        self.assertNotIn("tracks what tools printed", self.run_in("doctor", status=1))
        self.assertIn("nothing to do", self.run_in("git", "untrack-events"))
        self.git("add", "-f", log)  # As a clone with 0.1 does it.
        self.assertIn("another clone added it", self.run_in("doctor", status=1))

    def test_a_setting_tracks_them(self):
        self.run_in("config", "set", "events.track", "true")
        self.run_in("git", "install")
        self.work("a")
        self.end("a")
        self.commit("a session")
        self.assertIn("sessions/cc-a/events.jsonl", self.git("ls-files"))
        self.assertNotIn("tracks what tools printed", self.run_in("doctor", status=1))
        self.assertIn("events.track is true", self.run_in("git", "untrack-events", status=1))
        self.run_in("git", "check")

    def test_events_outlive_a_branch_without_their_session(self):
        self.git("checkout", "-q", "-b", "feature")
        self.work("a")
        self.end("a")
        self.commit("a session")
        self.git("checkout", "-q", "main")
        self.assertTrue((self.session_folder("cc-a") / "events.jsonl").exists())
        for words in (("repair",), ("maintain",), ("session", "list"), ("list", "--type", "event"), ("query", "tests")):
            self.assertNotIn("cc-a", self.run_in(*words), words)
        self.git("checkout", "-q", "feature")
        self.assertIn("make test", self.run_in("get", "a-0-0"))
        self.run_in("verify")

    def test_events_join_the_session_that_another_clone_archived(self):
        self.work("a")
        self.end("a")
        self.commit("a session")
        self.git("checkout", "-q", "-b", "packed")
        events = self.session_folder("cc-a") / "events.jsonl"
        kept = events.read_bytes()
        self.run_in("session", "archive", "cc-a")
        self.commit("packed")
        self.session_folder("cc-a").mkdir()
        events.write_bytes(kept)
        self.run_in("session", "restore", "cc-a")
        self.assertEqual(events.read_bytes(), kept)
        self.assertIn("The parser fails", self.run_in("list", "--session", "cc-a", "--type", "conversation"))


class DatesTest(TextTest):
    def dates(self, where=None):
        lines = self.run_in("--json", "session", "list", "--all", where=where).splitlines()
        sessions = [json.loads(line) for line in lines]
        doctor = [each for each in self.run_in("doctor", status=1, where=where).splitlines() if "last write" in each]
        return [(each["session_id"], each["state"], each["last_write"]) for each in sessions], doctor

    @staticmethod
    def to_the_second(dates):
        return [(session, state, at[:19]) for session, state, at in dates[0]]

    def test_no_date_depends_on_the_file_system(self):
        self.environment["BMAD_MEM_NOW"] = "2026-03-01T09:00:00Z"
        self.work("closed")
        self.end("closed")
        self.environment["BMAD_MEM_NOW"] = "2026-03-02T09:00:00Z"
        self.work("open")
        self.run_in("session", "new", "--id", "empty")
        self.commit("sessions")
        self.environment["BMAD_MEM_NOW"] = "2026-03-02T10:00:00Z"
        before = self.dates()
        self.assertEqual({each[2][:10] for each in before[0]}, {"2026-03-01", "2026-03-02"})
        for path in (self.repository / MEMORY).rglob("*"):
            os.utime(path)
        self.assertEqual(self.dates(), before)
        self.git("checkout", "-q", "-b", "other", "HEAD~")
        self.git("checkout", "-q", "main")
        self.assertEqual(self.dates(), before)
        # Events stay on their machine, and the last of them may be a moment later than what was said.
        self.assertEqual(self.to_the_second(self.dates(self.clone())), self.to_the_second(before))
        shutil.copytree(self.repository, self.folder / "copy")
        self.assertEqual(self.dates(self.folder / "copy")[0], before[0])

    def test_who_was_idle_is_idle_after_a_clone(self):
        self.run_in("config", "set", "lifecycle.archive_after_idle_days", "30")
        self.environment["BMAD_MEM_NOW"] = "2026-03-01T09:00:00Z"
        self.work("a")
        self.end("a")
        self.commit("a session")
        clone = self.clone()
        self.environment["BMAD_MEM_NOW"] = "2026-04-10T09:00:00Z"
        session = [each for each in self.dates(clone)[0] if each[0] == "cc-a"]
        self.assertEqual(session[0][2][:10], "2026-03-01")


if __name__ == "__main__":
    main()
