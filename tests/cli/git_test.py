#!/usr/bin/env python3
"""Memory in a repository of the real git: branches that add to it are merged, rebased, criss-crossed."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main

SESSIONS = 100
MEMORY = ".bmad/memory"


def line(entry_id, minute, **fields):
    entry = {
        "id": entry_id,
        "timestamp": f"2026-01-11T{10 + minute // 60:02}:{minute % 60:02}:00Z",
        "agent_id": "ann",
        "role": "user",
        "content": f"This is {entry_id}.",
        "decay_factor": 1.0,
        **fields,
    }
    return json.dumps(entry, separators=(",", ":"))


class GitTest(ToolTest):
    def setUp(self):
        super().setUp()
        if shutil.which("git") is None:
            self.skipTest("git is not installed")
        self.environment.update(
            GIT_CONFIG_NOSYSTEM="1",
            GIT_AUTHOR_NAME="ann",
            GIT_AUTHOR_EMAIL="ann@example.com",
            GIT_COMMITTER_NAME="ann",
            GIT_COMMITTER_EMAIL="ann@example.com",
        )
        self.repository = self.folder / "project"
        self.repository.mkdir()
        self.git("init", "-q", "-b", "main")
        self.run_in("--quiet", "init")

    def git(self, *words, status=0, where=None, **environment):
        done = subprocess.run(
            ["git", *words],
            cwd=where or self.repository,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        self.assertEqual(done.returncode, status, f"git {words}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def run_in(self, *arguments, status=0, where=None):
        done = subprocess.run(
            [str(TOOL), *arguments],
            cwd=where or self.repository,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        self.assertEqual(done.returncode, status, f"{arguments}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def session(self, name):
        """Makes a session as fast as the file system allows."""
        folder = self.repository / MEMORY / "sessions" / name
        folder.mkdir(parents=True)
        manifest = {
            "session_id": name,
            "created_at": "2026-01-11T10:00:00Z",
            "updated_at": "2026-01-11T10:00:00Z",
            "agent_ids": [],
            "metadata": {},
            "statistics": {"total_messages": 0, "total_decisions": 0, "total_findings": 0},
            "version": "1.0",
        }
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        for log in ("conversation", "decisions", "findings", "preferences"):
            (folder / f"{log}.jsonl").touch()

    def log(self, name, where=None):
        return (where or self.repository) / MEMORY / "sessions" / name / "conversation.jsonl"

    def append(self, name, *lines):
        with self.log(name).open("a", encoding="utf-8") as log:
            log.writelines(each + "\n" for each in lines)

    def ids(self, name, where=None):
        text = self.log(name, where).read_text(encoding="utf-8")
        return [json.loads(each)["id"] for each in text.splitlines()]

    def commit(self, what):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", what)

    def verify(self, where=None):
        self.run_in("verify", where=where)
        self.run_in("git", "check", where=where)

    def files(self, where=None):
        """What git tracks, by path."""
        where = where or self.repository
        paths = self.git("ls-files", "-z", where=where).split("\0")
        return {path: (where / path).read_bytes() for path in paths if path}

    def branches(self, ours, theirs):
        """The base is committed: runs `ours` on main and `theirs` on a branch, from it."""
        self.commit("base")
        self.git("switch", "-q", "-c", "theirs")
        theirs()
        self.commit("theirs")
        self.git("switch", "-q", "main")
        ours()
        self.commit("ours")



class WithoutDriver(GitTest):
    def test_branches_that_add_to_sessions_of_their_own_merge(self):
        def add(who):
            for i in range(SESSIONS):
                self.session(f"{who}-{i}")
                self.append(f"{who}-{i}", line(f"{who}-{i}-a", 1), line(f"{who}-{i}-b", 2))

        self.branches(lambda: add("ours"), lambda: add("theirs"))
        self.git("merge", "-q", "--no-edit", "theirs")
        self.verify()
        for who in ("ours", "theirs"):
            for i in range(SESSIONS):
                self.assertEqual(self.ids(f"{who}-{i}"), [f"{who}-{i}-a", f"{who}-{i}-b"])

    def test_what_the_tool_writes_merges_too(self):
        def add(who):
            session = self.run_in("session", "new").strip()
            for i in range(3):
                self.run_in("add", "conversation", "--session", session, "--role", "user", "--agent", "ann", f"{who} apples {i}")
            self.run_in("query", "apples")
            self.run_in("session", "close", session)

        self.branches(lambda: add("ours"), lambda: add("theirs"))
        self.git("merge", "-q", "--no-edit", "theirs")
        self.verify()
        listed = self.run_in("--json", "list", "--limit", "0").splitlines()
        self.assertEqual(len(listed), 6)

    def test_attributes_without_a_driver_are_merged_as_text(self):
        self.session("s")
        self.append("s", line("base", 0))
        self.run_in("--quiet", "git", "install")
        self.git("config", "--remove-section", "merge.bmadmem")
        self.branches(lambda: self.append("s", line("a", 1)), lambda: self.append("s", line("b", 2)))
        self.assertIn("CONFLICT", self.git("merge", "-q", "theirs", status=1))
        found = self.run_in("git", "check", "--no-history", status=1)
        self.assertIn("conversation.jsonl:2: a conflict marker", found)
        self.assertIn("conversation.jsonl: git reports it as unmerged", found)


class WithDriver(GitTest):
    def setUp(self):
        super().setUp()
        self.run_in("--quiet", "git", "install")

    def clone(self, name):
        """A second clone with a driver of its own."""
        where = self.folder / name
        self.git("clone", "-q", str(self.repository), str(where))
        self.run_in("--quiet", "git", "install", where=where)
        return where

    def test_branches_that_add_to_the_same_sessions_merge_alike_in_both_clones(self):
        names = [f"s-{i}" for i in range(SESSIONS)]
        for name in names:
            self.session(name)
            self.append(name, line(f"{name}-base", 0))

        def add(who, minute):
            for name in names:
                self.append(name, line(f"{name}-{who}-1", minute), line(f"{name}-{who}-2", minute + 2))

        self.branches(lambda: add("ours", 1), lambda: add("theirs", 2))
        other = self.clone("other")
        self.git("switch", "-q", "theirs", where=other)
        self.git("merge", "-q", "--no-edit", "theirs")
        self.git("merge", "-q", "--no-edit", "origin/main", where=other)
        for name in names:
            wanted = ["base", "ours-1", "theirs-1", "ours-2", "theirs-2"]
            self.assertEqual(self.ids(name), [f"{name}-{each}" for each in wanted])
        self.verify()
        self.verify(other)
        self.assertEqual(self.files(), self.files(other))
        # Both have merged the same; merging the merges changes nothing.
        self.git("merge", "-q", "--no-edit", "origin/theirs", where=other)
        self.git("pull", "-q", "--no-edit", "--no-rebase", str(other), "theirs")
        self.assertEqual(self.files(), self.files(other))

    def test_the_tool_sees_all_entries_of_a_merged_session(self):
        self.run_in("session", "new", "--id", "s")

        def add(text):
            self.run_in("add", "conversation", "--session", "s", "--role", "user", "--agent", "ann", text)
            self.run_in("rebuild-index")
            self.run_in("session", "close", "s")

        self.branches(lambda: add("about apples"), lambda: add("about pears"))
        self.git("merge", "-q", "--no-edit", "theirs")
        self.verify()
        for text in ("apples", "pears"):
            self.assertIn(text, self.run_in("query", text))
        manifest = json.loads((self.log("s").parent / "manifest.json").read_text(encoding="utf-8"))
        self.assertEqual(manifest["statistics"]["total_messages"], 2)
        self.assertIn("closed_at", manifest)

    def test_a_rebase_keeps_all(self):
        self.session("s")
        self.append("s", line("base", 0))

        def add_twice():
            self.append("s", line("b", 2))
            self.commit("first")
            self.append("s", line("d", 4))

        self.branches(lambda: self.append("s", line("a", 1), line("c", 3)), add_twice)
        self.git("rebase", "-q", "main", "theirs")
        self.assertEqual(self.ids("s"), ["base", "a", "b", "c", "d"])
        self.verify()

    def test_a_session_that_both_made_is_one(self):
        self.commit("nothing yet")

        def make(who, minute):
            self.session("s")
            self.append("s", line(who, minute))

        self.git("switch", "-q", "-c", "theirs")
        make("b", 2)
        self.commit("theirs")
        self.git("switch", "-q", "main")
        make("a", 1)
        self.commit("ours")
        self.git("merge", "-q", "--no-edit", "theirs")
        self.assertEqual(self.ids("s"), ["a", "b"])
        self.verify()

    def test_a_criss_cross_merge_keeps_all(self):
        self.session("s")
        self.append("s", line("base", 0))
        self.branches(lambda: self.append("s", line("a", 1)), lambda: self.append("s", line("b", 2)))
        self.git("branch", "ours-before", "main")
        self.git("merge", "-q", "--no-edit", "theirs")
        self.append("s", line("c", 3))
        self.commit("more of ours")
        self.git("switch", "-q", "theirs")
        self.git("merge", "-q", "--no-edit", "ours-before")
        self.append("s", line("d", 4))
        self.commit("more of theirs")
        self.git("merge", "-q", "--no-edit", "main")
        self.assertEqual(self.ids("s"), ["base", "a", "b", "c", "d"])
        self.verify()

    def test_versions_of_one_entry_are_all_kept_and_the_newest_is_last(self):
        self.session("s")
        self.append("s", line("x", 0))
        self.branches(
            lambda: self.append("s", line("x", 9, content="late")),
            lambda: self.append("s", line("y", 20), line("x", 5, content="early")),
        )
        self.git("merge", "-q", "--no-edit", "theirs")
        self.assertIn("late", self.run_in("get", "x"))
        history = self.run_in("--json", "history", "x").splitlines()
        self.assertEqual([json.loads(each)["content"] for each in history], ["This is x.", "early", "late"])
        self.verify()

    def test_what_one_side_took_out_stays_out(self):
        self.session("s")
        self.append("s", line("a", 0), line("b", 1), line("c", 2))

        def delete():
            self.run_in("delete", "b", "--session", "s", "--yes")

        self.branches(delete, lambda: self.append("s", line("d", 3)))
        self.git("merge", "-q", "--no-edit", "theirs")
        self.assertEqual(self.ids("s"), ["a", "c", "d"])
        self.verify()

    def test_what_both_sides_compacted_away_is_all_there(self):
        self.session("s")
        self.append("s", *(line(f"base-{i}", i) for i in range(10)))

        def evict(who, minute):
            self.append("s", *(line(f"{who}-{i}", minute + i) for i in range(10)))
            self.run_in("compact", "--session", "s", "--keep", "50")

        self.branches(lambda: evict("ours", 20), lambda: evict("theirs", 40))
        evicted = self.repository / MEMORY / "archive/s.evicted.jsonl.gz"
        before = gzip.decompress(evicted.read_bytes()).splitlines()
        self.git("merge", "-q", "--no-edit", "theirs")
        after = gzip.decompress(evicted.read_bytes()).splitlines()
        self.assertEqual(len(before), 10)
        self.assertEqual(len(after), 20)
        self.assertLessEqual(set(before), set(after))
        self.verify()
        self.run_in("restore", "--evicted", "--session", "s")
        wanted = {f"{who}-{i}" for who in ("base", "ours", "theirs") for i in range(10)}
        self.assertEqual(set(self.ids("s")), wanted)

    def test_a_session_deleted_here_and_changed_there_is_for_a_person(self):
        self.session("s")
        self.append("s", line("a", 0))
        self.branches(
            lambda: self.run_in("session", "delete", "s", "--yes"),
            lambda: self.append("s", line("b", 1)),
        )
        said = self.git("merge", "theirs", status=1)
        self.assertIn("modify/delete", said)
        self.git("add", "-A")
        self.git("commit", "-q", "--no-edit")
        self.assertEqual(self.ids("s"), ["a", "b"])

    def test_a_damaged_line_is_a_conflict_that_says_where(self):
        self.session("s")
        self.append("s", line("a", 0))
        self.branches(lambda: self.append("s", "{broken"), lambda: self.append("s", line("b", 1)))
        said = self.git("merge", "theirs", status=1)
        self.assertIn("CONFLICT", said)
        self.assertIn("conversation.jsonl (ours):2: a line that this side added is not an entry", said)
        text = self.log("s").read_text(encoding="utf-8")
        self.assertEqual(
            text.splitlines(),
            [line("a", 0), "<<<<<<< ours", "{broken", "=======", line("b", 1), ">>>>>>> theirs"],
        )
        self.assertIn("a conflict marker", self.run_in("git", "check", status=1))

    def test_a_driver_that_is_gone_says_so_and_loses_nothing(self):
        self.session("s")
        self.append("s", line("base", 0))
        self.branches(lambda: self.append("s", line("a", 1)), lambda: self.append("s", line("b", 2)))
        path = os.pathsep.join(
            each for each in self.environment["PATH"].split(os.pathsep) if not (pathlib.Path(each) / "bmad-mem").exists()
        )
        said = self.git("merge", "theirs", status=1, PATH=path)
        self.assertIn("bmad-mem was not found; install it", said)
        self.assertIn("conversation.jsonl", said)
        text = self.log("s").read_text(encoding="utf-8")
        self.assertIn(line("a", 1), text)
        self.assertIn(line("b", 2), text)
        self.assertIn("<<<<<<< ours", text)
        self.git("merge", "--abort")
        self.assertIn('+{"id":"b"', self.git("diff", "HEAD...theirs", PATH=path))

    def test_odd_names_reach_the_driver_whole(self):
        odd = self.repository / "it's $(touch owned) `touch owned` %P"
        odd.mkdir()
        self.run_in("--quiet", "init", where=odd)
        self.run_in("--quiet", "git", "install", where=odd)
        self.repository, top = odd, self.repository
        self.session("s")
        self.branches(lambda: self.append("s", line("a", 1)), lambda: self.append("s", line("b", 2)))
        self.git("merge", "-q", "--no-edit", "theirs")
        self.assertEqual(self.ids("s"), ["a", "b"])
        self.assertEqual([path for path in top.rglob("owned")], [])

    def test_a_tool_off_the_path_is_named_by_its_own(self):
        folder = self.folder / "it's 100% elsewhere"
        folder.mkdir()
        tool = folder / "bmad-mem"
        shutil.copy(TOOL, tool)
        self.session("s")
        subprocess.run(
            [tool, "-q", "git", "install"],
            cwd=self.repository,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        self.branches(lambda: self.append("s", line("a", 1)), lambda: self.append("s", line("b", 2)))
        self.git("merge", "-q", "--no-edit", "theirs", PATH="/usr/bin:/bin")
        self.assertEqual(self.ids("s"), ["a", "b"])
        self.assertIn("This is b.", self.git("diff", "HEAD^", PATH="/usr/bin:/bin"))

    def test_a_diff_reads_like_prose(self):
        self.session("s")
        self.append("s", line("a", 0, content="old\u001b[31m text"))
        self.commit("base")
        self.append("s", line("b", 1, content="new text\nof two lines"), line("a", 0, content="other text"))
        self.commit("more")
        added = [each for each in self.git("diff", "HEAD^").splitlines() if each.startswith("+")]
        self.assertEqual(
            added[1:],
            [
                "+",
                "+2026-01-11 10:01:00  ann (user)  conversation b",
                "+  new text",
                "+  of two lines",
                "+",
                "+2026-01-11 10:00:00  ann (user)  conversation a, version 2",
                "+  other text",
            ],
        )
        self.assertNotIn("\u001b", self.git("log", "-p"))

    def test_uninstall_leaves_no_trace(self):
        config = (self.repository / ".git/config").read_text(encoding="utf-8")
        self.assertIn("bmadmem", config)
        self.assertIn("remove the section merge.bmadmem", self.run_in("git", "uninstall", "--dry-run"))
        self.assertEqual((self.repository / ".git/config").read_text(encoding="utf-8"), config)
        self.run_in("git", "uninstall")
        self.assertNotIn("bmadmem", (self.repository / ".git/config").read_text(encoding="utf-8"))
        self.assertFalse((self.repository / MEMORY / ".gitattributes").exists())
        self.assertIn("nothing to do", self.run_in("git", "uninstall"))

    def test_other_lines_of_the_attributes_stay(self):
        attributes = self.repository / MEMORY / ".gitattributes"
        attributes.write_text("*.png binary\n" + attributes.read_text(encoding="utf-8") + "*.md text", encoding="utf-8")
        self.assertIn("nothing to do", self.run_in("git", "install"))
        self.run_in("git", "uninstall")
        self.assertEqual(attributes.read_text(encoding="utf-8"), "*.png binary\n*.md text")
        self.run_in("git", "install")
        self.assertTrue(attributes.read_text(encoding="utf-8").startswith("*.png binary\n*.md text\n# bmad-mem"))

    def test_what_the_person_stated_stays_told_after_a_merge(self):
        """The driver keeps lines byte for byte; links, which it may rewrite, say nothing about who wrote a line."""
        def state(key):
            return self.run_in("-q", "remember", "--session", "s1", "--category", "constraint", "--key", key, f"Keep {key}").strip()

        self.run_in("-q", "session", "new", "--id", "s1")
        first, other = state("boats"), state("sails")
        self.commit("base")
        self.git("checkout", "-q", "-b", "theirs")
        self.run_in("link", first, "refines", state("ropes"))
        self.commit("theirs")
        self.git("checkout", "-q", "main")
        self.run_in("link", first, "refines", other)
        state("masts")
        self.commit("ours")
        self.git("merge", "-q", "theirs")
        log = (self.repository / MEMORY / "sessions" / "s1" / "facts.jsonl").read_text()
        linked = [entry for entry in map(json.loads, log.splitlines()) if entry["id"] == first][-1]["links"]["refines"]
        self.assertEqual(len(linked), 2)  # The driver wrote this line.
        context = self.run_in("context")
        for key in ("boats", "sails", "ropes", "masts"):
            self.assertIn(f"- **{key}**: Keep {key}\n", context)


class Check(GitTest):
    def test_a_clean_repository_passes(self):
        self.run_in("session", "new", "--id", "s")
        self.run_in("add", "conversation", "--session", "s", "--role", "user", "--agent", "ann", "hello")
        self.commit("base")
        self.assertIn("all good: 7 tracked files, 1 commit", self.run_in("git", "check"))

    def test_it_names_what_git_should_not_track(self):
        self.run_in("session", "new", "--id", "s")
        (self.repository / MEMORY / "sessions/s/index.json").write_text("{}", encoding="utf-8")
        (self.repository / MEMORY / ".redaction-key").write_text("key", encoding="utf-8")
        self.git("add", "-f", ".")
        self.git("commit", "-q", "-m", "all")
        lines = self.run_in("--json", "git", "check", status=1).splitlines()
        findings = [json.loads(each) for each in lines]
        self.assertIn("summary", findings.pop())
        paths = {each["path"] for each in findings if each["kind"] == "not_for_git"}
        self.assertLessEqual({"sessions/s/index.json", ".redaction-key", "maintenance.json", ".lock"}, paths)

    def test_it_finds_secrets_in_commits_and_does_not_print_them(self):
        secret = "ghp_" + "x7Kq2mN9pR4sT6vW8yZ1aB3cD5eF0gH2jL4M"[:36]
        self.session("s")
        self.append("s", line("a", 0, content=f"use {secret}"))
        self.commit("leak")
        self.log("s").write_text(line("a", 0, content="use it") + "\n", encoding="utf-8")
        self.commit("cover up")
        said = self.run_in("git", "check", status=1)
        self.assertIn("sessions/s/conversation.jsonl: GitHub", said)
        self.assertIn("git filter-repo", said)
        self.assertNotIn(secret, said)
        self.assertIn("all good", self.run_in("git", "check", "--no-history"))

    def test_it_finds_a_secret_that_only_a_merge_brought_in(self):
        secret = "ghp_" + "x7Kq2mN9pR4sT6vW8yZ1aB3cD5eF0gH2jL4M"[:36]
        self.session("s")
        self.branches(lambda: self.append("s", line("a", 1)), lambda: self.session("t"))
        self.git("merge", "-q", "--no-commit", "--no-ff", "theirs")
        self.append("s", line("b", 2, content=f"use {secret}"))
        self.commit("merge")
        self.assertIn("GitHub", self.run_in("git", "check", status=1))

    def test_it_finds_repeated_lines_and_leaves_versions_alone(self):
        self.session("s")
        a, b = line("a", 0), line("a", 0, content="b")
        self.append("s", a, b, a, a, line("c", 1))
        self.commit("union")
        said = self.run_in("git", "check", status=1)
        self.assertIn("conversation.jsonl:4: the same as line 3", said)
        self.assertIn("1 finding in", said)

    def test_it_finds_a_section_without_a_driver(self):
        self.commit("base")
        self.git("config", "merge.bmadmem.name", "broken")
        self.assertIn("no driver", self.run_in("git", "check", status=1))
        self.run_in("git", "install")
        self.commit("attributes")
        self.run_in("git", "check")

    def test_it_reads_a_memory_whose_settings_are_in_conflict(self):
        config = self.repository / MEMORY / "config.json"
        config.write_text("<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n", encoding="utf-8")
        self.commit("broken")
        self.assertIn("config.json:1: a conflict marker", self.run_in("git", "check", status=1))

    def test_without_a_repository_it_says_so(self):
        other = self.folder / "other"
        other.mkdir()
        self.run_in("--quiet", "init", where=other)
        for words in (["git", "check"], ["git", "install"], ["git", "uninstall"]):
            said = self.run_in(*words, status=1, where=other)
            self.assertIn("the memory is in no git repository", said)


if __name__ == "__main__":
    main()
