#!/usr/bin/env python3
"""One repository has one memory, in all its worktrees.

Usage: worktrees_test.py TOOL
"""

import json
import os
import re
import shutil
import subprocess

import import_test
from tool_under_test import TOOL, ToolTest, main

GIT = ("git", "-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")


class Worktrees(ToolTest):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "app"
        self.repository.mkdir()
        self.git("init", "-q", "-b", "main")
        self.at(self.repository, "-q", "init")
        self.commit("memory")

    def git(self, *words, where=None):
        done = subprocess.run([*GIT, *words], cwd=where or self.repository, env=self.environment, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def commit(self, message, where=None):
        self.git("add", "-A", where=where)
        self.git("commit", "-q", "--allow-empty", "-m", message, where=where)

    def at(self, where, *words, stdin="", status=0, **environment):
        done = subprocess.run([TOOL, *words], cwd=where, env={**self.environment, **environment}, input=stdin, capture_output=True,
                              text=True, check=False)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{words}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def worktree(self, name):
        there = self.folder / name
        self.git("worktree", "add", "-q", "-b", name, str(there))
        return there

    def prompt(self, where, text, session="s"):
        event = {"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": str(where), "prompt": text}
        return self.at(where, "hook", "claude-code", stdin=json.dumps(event))

    def contents(self, where):
        lines = self.at(where, "-q", "--json", "list", "--limit", "0").splitlines()
        return sorted(json.loads(line)["content"] for line in lines)

    # Where it is.

    def test_a_worktree_that_is_removed_by_force_takes_no_entry_along(self):
        tree = self.worktree("wt")
        (tree / "src").mkdir()
        self.prompt(tree / "src", "QUAGGA rule")
        self.at(tree, "remember", "--category", "project_fact", "Said in the worktree")
        self.assertEqual(self.git("status", "--porcelain", where=tree), "")
        self.git("worktree", "remove", "--force", str(tree))
        self.assertEqual(self.contents(self.repository), ["QUAGGA rule", "Said in the worktree"])
        self.assertIn("QUAGGA", self.at(self.repository, "query", "quagga"))

    def test_agents_at_once_in_two_worktrees_lose_nothing(self):
        trees = [self.worktree(f"wt{number}") for number in range(2)]
        runs = []
        for number in range(12):
            for i, tree in enumerate(trees):
                event = {"hook_event_name": "UserPromptSubmit", "session_id": f"s{i}", "cwd": str(tree), "prompt": f"prompt {i} {number}"}
                run = subprocess.Popen([TOOL, "hook", "claude-code"], cwd=tree, env=self.environment, stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL)
                run.stdin.write(json.dumps(event).encode())
                run.stdin.close()
                runs.append(run)
        self.assertEqual({run.wait() for run in runs}, {0})
        for tree in trees:
            self.git("worktree", "remove", "--force", str(tree))
        self.assertEqual(len(self.contents(self.repository)), 24)

    def test_every_interface_means_the_same_memory(self):
        tree = self.worktree("wt")
        self.at(tree, "remember", "--category", "project_fact", "By the command")
        calls = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                  "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                  "name": "memory_remember", "arguments": {"category": "project_fact", "value": "By MCP"}}}]
        self.at(tree, "mcp", stdin="".join(json.dumps(call) + "\n" for call in calls))
        self.prompt(tree, "By a hook")
        stored = "".join(path.read_text() for path in (self.repository / ".bmad/memory/sessions").rglob("*.jsonl"))
        for way in ("By the command", "By MCP", "By a hook"):
            self.assertIn(way, stored)
        self.assertEqual(self.git("status", "--porcelain", where=tree), "")

    def test_own_keeps_a_memory_for_each(self):
        tree = self.worktree("wt")
        config = self.repository / ".bmad/memory/config.json"
        config.write_text(config.read_text().replace('"worktrees": "share"', '"worktrees": "own"'))
        self.prompt(tree, "Before trust")
        self.assertEqual((self.contents(tree), self.contents(self.repository)), (["Before trust"], ["Before trust"]))
        self.at(self.repository, "-q", "trust", "--yes")
        self.prompt(tree, "Only here")
        self.assertEqual((self.contents(tree), self.contents(self.repository)), (["Only here"], ["Before trust"]))

    def test_a_pointer_that_is_relative(self):
        tree = self.worktree("wt")
        git = self.repository / ".git/worktrees/wt"
        (tree / ".git").write_text(f"gitdir: {os.path.relpath(git, tree)}\n")
        (git / "gitdir").write_text(os.path.relpath(tree / ".git", git) + "\n")
        self.prompt(tree, "QUAGGA")
        self.assertEqual(self.contents(self.repository), ["QUAGGA"])

    def test_a_bare_repository_has_a_memory_in_each_worktree_and_doctor_says_so(self):
        bare = self.folder / "bare.git"
        self.git("clone", "-q", "--bare", str(self.repository), str(bare))
        trees = [self.folder / name for name in ("one", "two")]
        for tree in trees:
            self.git("worktree", "add", "-q", "-b", tree.name, str(tree), where=bare)
        self.prompt(trees[0], "Only here")
        self.assertEqual((self.contents(trees[0]), self.contents(trees[1])), (["Only here"], []))
        self.assertIn("has no main worktree, so each", self.at(trees[0], "doctor", status=None))

    def test_a_main_worktree_that_moved_leaves_the_own_memory(self):
        tree = self.worktree("wt")
        shutil.move(self.repository, self.folder / "moved")
        self.prompt(tree, "Only here")
        self.assertEqual(self.contents(tree), ["Only here"])
        self.assertIn("is not there, so this worktree has no memory but its own", self.at(tree, "doctor", status=None))
        shutil.rmtree(tree / ".bmad")
        self.assertIn("git worktree repair", self.at(tree, "list", status=1))

    def test_a_file_that_points_to_another_repository_is_believed_only_by_that(self):
        self.prompt(self.repository, "PRIVATE rule")
        git = self.repository / ".git"
        self.worktree("wt")
        clone = self.folder / "clone"
        for commondir, pointer in ((str(git), "own"), ("../../app/.git", "own"), (str(git), str(git / "worktrees/wt"))):
            with self.subTest(commondir=commondir, pointer=pointer):
                shutil.rmtree(clone, ignore_errors=True)
                (clone / "own").mkdir(parents=True)
                (clone / ".git").write_text(f"gitdir: {pointer}\n")
                (clone / "own/commondir").write_text(commondir + "\n")
                for back in (str(clone / ".git"), ".git", "../.git"):
                    (clone / "own/gitdir").write_text(back + "\n")
                    self.assertNotIn("PRIVATE", self.at(clone, "query", "rule", status=1))
                self.at(clone, "-q", "init")
                self.prompt(clone, "Said in the clone")
        self.assertEqual(self.contents(self.repository), ["PRIVATE rule"])

    def test_a_repository_that_names_a_folder_as_its_worktree_is_not_believed_by_an_import(self):
        private = self.folder / "private"
        private.mkdir()
        self.transcript(private, "p", "PRIVATE rule")
        listed = self.repository / ".git/worktrees/x"
        listed.mkdir(parents=True)
        (listed / "gitdir").write_text(f"{private}/.git\n")
        self.at(self.repository, "import", "--from", "claude-code", status=1)
        self.assertEqual(self.contents(self.repository), [])

    # What is read and imported.

    def transcript(self, project, session, text):
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(project))
        path = self.folder / ".claude/projects" / slug / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        message = {"role": "user", "content": text}
        path.write_text(import_test.record("user", session, 0, cwd=str(project), message=message) + "\n")

    def test_an_import_takes_the_transcripts_of_all_worktrees(self):
        tree = self.worktree("feature")
        for project, session in ((self.repository, "a"), (tree, "b"), (self.folder / "elsewhere", "c")):
            self.transcript(project, session, f"said in {project.name}")
        for where in (tree, self.repository):
            self.assertIn("1 file is of other projects", self.at(where, "import", "--from", "claude-code"))
            self.assertEqual(self.contents(self.repository), ["said in app", "said in feature"])

    def test_what_only_the_branch_carries_is_read_and_not_written(self):
        tree = self.worktree("feature")
        self.at(self.repository, "session", "new", "--id", "both")
        self.at(self.repository, "add", "fact", "--session", "both", "--id", "f1", "Tea is at four")
        self.commit("a fact")
        self.git("merge", "-q", "main", where=tree)
        own = ("--root", str(tree / ".bmad/memory"))
        self.at(tree, *own, "session", "new", "--id", "branch")
        self.at(tree, *own, "add", "fact", "--session", "branch", "--id", "f2", "The ferry is at five")
        self.commit("of the branch", where=tree)
        self.assertEqual(self.contents(tree), ["Tea is at four", "The ferry is at five"])
        self.assertEqual(self.contents(self.repository), ["Tea is at four"])
        self.assertEqual(sorted(self.at(tree, "query", "--ids", "ferry tea").split()), ["f1", "f2"])
        self.assertIn("ferry", self.at(tree, "get", "f2"))
        self.assertIn("version 1", self.at(tree, "history", "f2"))
        self.at(self.repository, "get", "f2", status=3)
        self.assertEqual((self.git("status", "--porcelain"), self.git("status", "--porcelain", where=tree)), ("", ""))


if __name__ == "__main__":
    main()
