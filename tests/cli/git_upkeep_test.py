#!/usr/bin/env python3
"""What maintenance does by itself never conflicts: clones that run it on different days, without a merge driver, and a
memory in git that stays text."""

import datetime
import json
import os
import shutil
import subprocess

from git_test import MEMORY, GitTest
from tool_under_test import TIMEOUT_S, TOOL, main

START = datetime.datetime(2026, 9, 1, 9)


class TextTest(GitTest):
    def setUp(self):
        super().setUp()
        self.at(0)
        self.git("config", "gc.auto", "0")

    def at(self, days, hours=0):
        """Each day some minutes later: a day is over only after 24 hours."""
        at = START + datetime.timedelta(days=days, hours=hours, minutes=days)
        self.environment["BMAD_MEM_NOW"] = f"{at:%Y-%m-%dT%H:%M:%SZ}"

    def clone(self, name):
        where = self.folder / name
        self.git("clone", "-q", str(self.repository), str(where), where=self.folder)
        self.run_in("trust", "--yes", where=where)
        self.touch(where)
        return where

    def touch(self, where):
        """The clone is as old as the work: git gives its files the time of the real clock."""
        at = datetime.datetime.fromisoformat(self.environment["BMAD_MEM_NOW"].replace("Z", "+00:00")).timestamp()
        for path in self.root(where).rglob("*"):
            os.utime(path, (at, at))

    def say(self, session, *facts, where=None):
        if not (self.root(where) / "sessions" / session).exists():
            self.run_in("session", "new", "--id", session, where=where)
        for each in facts:
            self.run_in("add", "fact", "--session", session, "--id", each, f"what {each} says", where=where)

    def root(self, where=None):
        return (where or self.repository) / MEMORY

    def set(self, key, value, where=None):
        self.run_in("config", "set", key, str(value), where=where)

    def maintain(self, *words, where=None):
        return self.run_in("maintain", *words, where=where)

    def commit_in(self, where, what="more"):
        self.git("add", "-A", where=where)
        self.git("commit", "-q", "--allow-empty", "-m", what, where=where)

    def pull(self, where, source, status=0):
        return self.git("pull", "-q", "--no-rebase", "--no-edit", str(source), "main", status=status, where=where)

    def pull_both_ways(self, a, b):
        self.pull(a, b)
        self.pull(b, a)
        self.assertEqual(self.git("rev-parse", "HEAD", where=a), self.git("rev-parse", "HEAD", where=b))

    def status(self, where=None):
        return self.git("status", "--porcelain", "--untracked-files=all", where=where)

    def facts(self, where=None):
        lines = self.run_in("--json", "list", "--type", "fact", "--limit", "0", where=where).splitlines()
        return sorted(json.loads(each)["id"] for each in lines)

    def archives(self, where=None):
        return sorted(each.name for each in (self.root(where) / "archive").glob("*.tar.gz"))

    def three_clones_of_old_sessions(self):
        for session in ("s1", "s2", "s3"):
            self.say(session, f"{session}-a", f"{session}-b")
            self.run_in("session", "close", session)
        self.commit("0")
        other = self.clone("b")
        for number, where in enumerate((self.repository, other)):
            name = "ab"[number]
            for session in ("t1", "t2", "t3"):
                self.say(name + session, f"{name}-{session}", where=where)
                self.run_in("session", "close", name + session, where=where)
            self.commit_in(where)
        return self.repository, other


class Packing(TextTest):
    def run_maintenance(self, where, *days):
        for day in days:
            self.at(day)
            self.maintain(where=where)
        self.commit_in(where)

    def test_two_clones_maintain_on_different_days(self):
        a, b = self.three_clones_of_old_sessions()
        self.run_maintenance(a, 39, 40)
        self.run_maintenance(b, 44, 45)
        self.pull_both_ways(a, b)
        self.run_maintenance(b, 100, 101)
        self.run_maintenance(a, 103, 104)
        self.pull_both_ways(a, b)
        self.assertEqual(self.archives(a), [])
        self.assertEqual(self.facts(a), self.facts(b))
        self.assertEqual(len(self.facts(a)), 12)

    def test_days_without_a_session_change_no_tracked_file(self):
        a, _ = self.three_clones_of_old_sessions()
        for day in (1, 2, 3, 33, 34, 35, 36):
            self.at(day)
            self.maintain("--auto", where=a)
            self.assertEqual(self.status(a), "")

    def test_the_steps_of_two_machines_that_archived_the_same_session(self):
        self.run_in("git", "install")
        self.say("s1")
        self.run_in("add", "fact", "--session", "s1", "hello")
        self.run_in("session", "close", "s1")
        self.commit("1")
        b = self.clone("b")
        self.run_in("git", "install", where=b)
        for where, hours in ((self.repository, 0), (b, 5)):
            for day in (39, 41):
                self.at(day, hours)
                self.maintain(where=where)
            self.commit_in(where)
        self.pull(b, self.repository)
        self.assertIn("s1", self.run_in("session", "list", "--all", where=b))
        self.assertNotIn("1970", self.run_in("session", "list", "--all", where=b))

    def always(self):
        self.set("lifecycle.archive", "always")
        return self.three_clones_of_old_sessions()

    def test_both_pack_and_the_archives_are_the_same_bytes(self):
        a, b = self.always()
        self.run_in("query", "says", where=a)  # access.jsonl, of this machine only
        self.run_maintenance(a, 39, 40)
        self.run_maintenance(b, 44, 45)
        for name in self.archives(a):
            if name.startswith("s"):
                self.assertEqual((self.root(a) / "archive" / name).read_bytes(), (self.root(b) / "archive" / name).read_bytes())
        self.pull_both_ways(a, b)
        self.assertEqual(len(self.archives(a)), 9)
        self.assertEqual(self.facts(a), self.facts(b))
        self.assertEqual(len(self.facts(a)), 12)
        self.assertIn("2026-09-01", self.run_in("session", "list", "--archived", where=a))
        self.verify(a)

    def test_what_git_ignores_of_an_archive_stays_here_and_comes_back(self):
        self.always()
        with (self.root() / ".gitignore").open("a", encoding="ascii") as ignored:
            ignored.write("/sessions/*/events.jsonl\n")
        self.run_in("add", "event", "--session", "s1", "--kind", "note", "--content", "an EIDER passed")
        events = (self.root() / "sessions/s1/events.jsonl").read_bytes()
        self.run_in("session", "archive", "s1")
        names = subprocess.run(["tar", "tzf", str(self.root() / "archive/s1.tar.gz")], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        self.assertNotIn("events", names.stdout)
        self.assertNotIn(".lock.s1", self.status())
        self.assertIn("EIDER", self.run_in("query", "--type", "event", "eider"))
        self.run_in("verify")
        self.run_in("session", "restore", "s1")
        self.assertEqual((self.root() / "sessions/s1/events.jsonl").read_bytes(), events)
        self.assertEqual(list((self.root() / "archive").glob(".lock*.gz")), [])
        self.run_in("session", "archive", "s1")
        self.run_in("forget", "--match", "EIDER", "--verify")

    def test_one_packs_and_the_other_resumes(self):
        for packer in ("ours", "theirs"):
            with self.subTest(packer):
                shutil.rmtree(self.repository)
                self.repository.mkdir()
                self.git("init", "-q", "-b", "main")
                self.at(0)
                self.run_in("--quiet", "init")
                self.say("s1", "one", "two")
                self.run_in("session", "close", "s1")
                self.commit("0")
                shutil.rmtree(self.folder / "b", ignore_errors=True)
                b = self.clone("b")
                self.at(5)
                self.say("s1", "three", where=b)
                self.commit_in(b)
                self.at(9)
                self.run_in("session", "archive", "s1")
                self.commit("packed")
                where, source = (self.repository, b) if packer == "ours" else (b, self.repository)
                self.assertIn("CONFLICT", self.pull(where, source, status=1))
                self.assertIn("git resolve", self.run_in("doctor", where=where, status=1))
                self.assertIn("settled session s1: text", self.run_in("git", "resolve", where=where))
                self.commit_in(where, "settled")
                self.assertEqual(self.facts(where), ["one", "three", "two"])
                self.assertEqual(self.archives(where), [])
                self.assertNotIn("git resolve", self.run_in("doctor", where=where, status=1))
                self.verify(where)

    def test_both_pack_and_one_had_more(self):
        self.say("s1", "one")
        self.commit("0")
        b = self.clone("b")
        self.at(5)
        self.say("s1", "two", where=b)
        for where in (self.repository, b):
            self.run_in("session", "archive", "s1", where=where)
            self.commit_in(where)
        self.assertIn("CONFLICT", self.pull(b, self.repository, status=1))
        self.run_in("git", "resolve", where=b)
        self.commit_in(b, "settled")
        self.assertEqual(self.facts(b), ["one", "two"])
        self.verify(b)


class Years(TextTest):
    def test_a_year_in_git_is_text(self):
        for day in range(0, 365, 14):
            self.at(day)
            self.say(f"s{day}", f"f{day}")
            self.run_in("add", "conversation", "--session", f"s{day}", "--role", "user", f"The word of day {day} is noise.")
            self.run_in("session", "close", f"s{day}")
            self.commit(f"day {day}")
        for day in (365, 366):
            self.at(day)
            self.maintain()
        self.assertEqual(len(list((self.root() / "sessions").glob("s*/manifest.json"))), 27)
        self.assertEqual(self.archives(), [])


class Retention(TextTest):
    def setUp(self):
        super().setUp()
        self.set("privacy.retention_days.conversation", 10)
        self.set("privacy.retention_days.fact", 30)

    def message(self, session, name, where=None):
        self.run_in("add", "conversation", "--session", session, "--id", name, "--role", "user", f"about {name}", where=where)

    def messages(self, where=None):
        lines = self.run_in("--json", "list", "--type", "conversation", "--limit", "0", where=where).splitlines()
        return sorted(json.loads(each)["id"] for each in lines)

    def doctor(self, where=None):
        done = subprocess.run([str(TOOL), "doctor"], cwd=where or self.repository, env=self.environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        return done.stdout

    def test_lines_hide_and_whole_files_go(self):
        self.say("s1", "lasts")
        self.message("s1", "heron")
        self.commit("0")
        self.at(6)
        self.message("s1", "osprey")
        self.commit("1")
        self.at(11)
        self.maintain()
        self.at(12)
        self.maintain()
        self.assertEqual(self.status(), "")
        for asked in (self.messages(), self.messages()):
            self.assertEqual(asked, ["osprey"])
        self.assertNotIn("heron", self.run_in("query", "heron"))
        self.assertNotIn("heron", self.run_in("context", "--task", "the heron"))
        self.assertIn("1 entry is past retention", self.doctor())
        for day in (17, 18):
            self.at(day)
            self.maintain()
        self.assertEqual(self.status().split(), ["D", f"{MEMORY}/sessions/s1/conversation.jsonl"])
        self.assertNotIn("past retention", self.doctor())
        self.commit("2")
        for day in (33, 34):
            self.at(day)
            self.maintain()
        self.commit("3")
        left = [name for name in self.git("ls-files", f"{MEMORY}/sessions").split() if (self.root().parent.parent / name).stat().st_size]
        self.assertEqual(left, [f"{MEMORY}/sessions/s1/manifest.json"])  # git would take it for another's, renamed.
        self.assertEqual(self.status(), "")

    def test_a_person_may_purge_lines(self):
        self.say("s1")
        self.message("s1", "heron")
        self.commit("0")
        self.at(6)
        self.message("s1", "osprey")
        self.commit("1")
        self.at(11)
        self.maintain()
        self.at(12)
        self.maintain("--purge")
        self.assertNotIn("heron", (self.root() / "sessions/s1/conversation.jsonl").read_text(encoding="utf-8"))

    def test_two_clones_let_go_on_different_days(self):
        self.say("s1", "lasts")
        self.run_in("add", "conversation", "--session", "s1", "--role", "user", "We decided to use PostgreSQL for the orders, not MySQL.")
        self.run_in("add", "decision", "--session", "s1", "Use PostgreSQL for the orders")
        self.say("s2")
        self.message("s2", "heron")
        self.commit("0")
        b = self.clone("b")
        for where, days in ((self.repository, (11, 12)), (b, (15, 16))):
            for day in days:
                self.at(day)
                self.maintain(where=where)
            self.commit_in(where)
        self.pull_both_ways(self.repository, b)
        self.assertEqual(self.messages(b), [])
        self.assertIn("lasts", self.facts(b))

    def test_one_lets_go_and_the_other_resumes(self):
        self.say("s2")
        self.message("s2", "heron")
        self.commit("0")
        b = self.clone("b")
        self.at(9)
        self.message("s2", "osprey", where=b)
        self.commit_in(b)
        for day in (11, 12):
            self.at(day)
            self.maintain()
        self.commit("gone")
        self.assertIn("CONFLICT", self.pull(b, self.repository, status=1))
        self.run_in("git", "resolve", where=b)
        self.commit_in(b, "settled")
        self.assertEqual(self.messages(b), ["osprey"])
        self.run_in("verify", where=b)


class Damage(TextTest):
    def test_a_damaged_session_is_not_archived(self):
        self.set("lifecycle.archive", "always")
        self.say("s1", "one", "two")
        self.run_in("session", "close", "s1")
        log = self.root() / "sessions/s1/facts.jsonl"
        before = log.stat()
        with log.open("r+b") as file:
            text = file.read()
            file.seek(text.index(b"what one"))
            file.write(b"WHAT")
        os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.run_in("verify", "--hashes", status=1)
        self.assertIn("repair --accept", self.run_in("session", "archive", "s1", status=1))
        for day in (40, 41):
            self.at(day)
            self.run_in("maintain", status=1 if day == 41 else 0)
        self.assertEqual(self.archives(), [])
        self.assertIn("is not archived", self.run_in("doctor", status=1))
        self.run_in("repair", "--accept")
        self.at(42)
        self.maintain()
        self.assertEqual(self.archives(), ["s1.tar.gz"])


if __name__ == "__main__":
    main()
