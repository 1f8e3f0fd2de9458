#!/usr/bin/env python3
"""A year in the life of a memory that two clones share through git, with default settings and without a merge driver.

    day 1 ........ 12 ........ 24 ........ ... ........ 360
    each clone has a session, commits, pulls and pushes; maintenance runs by itself in both; somebody mends a word
    in an editor; a worktree is made, used by an agent, and removed by force

The counts decide: conflicts, files that change on a day without a session, entries lost, archives that are no text.

Usage: clones_test.py TOOL [TEST]...
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from month_data import rare_words
from month_doors import Hooks, World

TOOL = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
STEPS, DAYS_A_STEP = 30, 12
YOUNG_DAYS = 85  # Messages are kept for 90.
KINDS = {"decision": "decision", "fact": "value", "finding": "title", "preference": "value"}  # Type and the member that is edited.
MEMORY = ".bmad/memory"


class Clone(World):
    """A folder with a home of its own; git's files get the time that git gives them."""

    def __init__(self, folder, name):
        super().__init__(TOOL, folder, name)
        self.home = folder / f"home-{name}"
        self.home.mkdir()
        self.hooks = Hooks(self)
        self.conflicts = []
        self.changed_alone = []  # Tracked files that maintenance alone changed.

    def git(self, *arguments, statuses=(0,)):
        person = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER")
                  for what, text in (("NAME", self.project.name), ("EMAIL", f"{self.project.name}@example.org"), ("DATE", self.now().isoformat()))}
        done = subprocess.run(["git", "-c", "gc.auto=0", "-c", "init.defaultBranch=main", *arguments], cwd=self.project, capture_output=True, text=True,
                              env=self.environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", **person), check=False)
        if done.returncode not in statuses:
            raise AssertionError(f"git {arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def share(self):
        """Commits, pulls and pushes what there is."""
        self.git("add", "-A")
        self.git("commit", "--allow-empty", "-qm", f"memory of day {self.now():%j}")
        self.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main", statuses=(0, 1))
        unmerged = self.git("diff", "--name-only", "--diff-filter=U").split()
        if unmerged:
            self.conflicts += [line for line in self.git("status", "--porcelain").splitlines() if line[:2] in ("UU", "AA", "DU", "UD", "DD")]
            self.git("checkout", "--ours", "--", *unmerged, statuses=(0, 1))
            self.git("add", "-A")
            self.git("commit", "-qm", "conflict")
        self.git("push", "-q", "origin", "HEAD:main")

    def rest(self):
        """A day without a session."""
        self.run("maintain", "--auto")
        self.run("maintain")
        self.changed_alone += [f"{self.now():%j} {line}" for line in self.git("status", "--porcelain").splitlines()
                               if not line.startswith(" D")]  # All of a log past its retention goes as a file.

    def texts(self):
        """Id -> text of what the program lists."""
        listed = self.run("--json", "list", "--limit", "100000")
        return {entry["id"]: json.dumps(entry, ensure_ascii=False) for entry in map(json.loads, listed.splitlines())}


class Scenario:
    def __init__(self, folder):
        self.words = rare_words("clones")
        self.said = {}  # A rare word of each statement -> the day on which it was recorded.
        self.edited = {}  # The word that an editor put in -> what the next session start was told.
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder / "origin.git")], check=True)
        self.ann = Clone(folder, "ann")
        self.ann.git("init", "-q", "-b", "main")
        self.ann.git("remote", "add", "origin", "../origin.git")
        self.ann.run("init", "--quiet")
        self.ann.git("add", "-A")
        self.ann.git("commit", "-qm", "begin")
        self.ann.git("push", "-q", "origin", "main")
        self.ben = Clone(folder, "ben")
        self.ben.git("clone", "-q", "../origin.git", ".")
        self.ben.run("trust", "--yes")
        self.clones = (self.ann, self.ben)
        for step in range(STEPS):
            self.step(step)
        for clone in (*self.clones, self.ann):
            clone.share()

    def step(self, step):
        for number, clone in enumerate(self.clones):
            clone.move_to(1 + step * DAYS_A_STEP + number, hour=9 + 3 * number)
            self.session(clone, f"{clone.project.name}-{step}", step)
            clone.share()
        for clone in self.clones:
            clone.move_to(1 + step * DAYS_A_STEP + DAYS_A_STEP // 2, hour=8)
            clone.rest()
        editor = self.clones[step % 2]
        self.edit(editor, step)
        if step % 5 == 2:
            self.worktree(editor, step)

    def session(self, clone, name, step):
        word = next(self.words)
        told = clone.hooks.fire(name, "SessionStart", source="startup")
        for edited, seen in self.edited.items():
            if seen is None and edited.startswith(clone.project.name):
                self.edited[edited] = told
        clone.hooks.prompt(name, f"The staging server of {word} is called heron-{step}. Look at its log")
        clone.hooks.fire(name, "PostToolUse", tool_name="Bash", tool_use_id=f"t-{name}", tool_input={"command": "tail log"},
                         tool_response={"stdout": "43 lines, no error\n" * 40, "stderr": ""})
        clone.hooks.fire(name, "Stop", stop_hook_active=False, last_assistant_message=f"The log of {word} shows no error.")
        clone.hooks.fire(name, "SessionEnd", reason="other")
        kind = list(KINDS)[step % len(KINDS)]
        options = {"decision": (), "fact": ("--category", "constraint", "--key", word), "finding": (), "preference": ("--key", word)}[kind]
        clone.run("add", kind, "--session", f"cc-{name}", "--id", f"{kind[:3]}-{name}", *options, f"The {word} is kept by ann")
        self.said[word] = clone.now()

    def edit(self, clone, step):
        """Somebody mends a word of the last statement in an editor, which writes a new file in place of the old one."""
        kind = list(KINDS)[step % len(KINDS)]
        mark = f"{clone.project.name}-edit-{step}"
        for log in (clone.project / MEMORY / "sessions").glob(f"cc-{clone.project.name}-{step}/*.jsonl"):
            text = log.read_text(encoding="utf-8")
            if f'"id":"{kind[:3]}-{clone.project.name}-{step}"' in text:
                new = log.with_name(log.name + "~new")
                new.write_text(text.replace("is kept by ann", f"is kept by {mark}"), encoding="utf-8")
                os.replace(new, log)
                self.edited[mark] = None

    def worktree(self, clone, step):
        clone.git("worktree", "add", "-q", "../wt", "-b", f"branch-{step}")
        word = next(self.words)
        tree = Hooks(clone)
        inside = clone.project
        clone.project = clone.project.parent / "wt"
        try:
            tree.fire(f"wt-{step}", "SessionStart", source="startup")
            tree.prompt(f"wt-{step}", f"The printer of {word} stands in the cellar.")
            tree.fire(f"wt-{step}", "SessionEnd", reason="other")
        finally:
            clone.project = inside
        clone.git("worktree", "remove", "--force", "../wt")
        self.said[word] = clone.now()


class Clones(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bmad-clones-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.seen = Scenario(cls.folder)

    def test_no_pull_conflicts(self):
        self.assertEqual([clone.conflicts for clone in self.seen.clones], [[], []])

    def test_maintenance_alone_changes_no_tracked_file(self):
        self.assertEqual([clone.changed_alone for clone in self.seen.clones], [[], []])

    def test_every_tracked_file_is_text(self):
        for clone in self.seen.clones:
            for name in clone.git("ls-files", "-z", "--", MEMORY).split("\0")[:-1]:
                self.assertNotIn(b"\0", (clone.project / name).read_bytes(), name)

    def test_both_clones_list_the_same_and_nothing_young_is_lost(self):
        ann, ben = (clone.texts() for clone in self.seen.clones)
        shared = {key: text for key, text in ann.items() if "event" not in json.loads(text).get("type", "")}
        self.assertEqual(shared, {key: text for key, text in ben.items() if "event" not in json.loads(text).get("type", "")})
        everything = "\n".join(ann.values())
        self.assertEqual([word for word in self.seen.said if word not in everything and (self.seen.ann.now() - self.seen.said[word]).days < YOUNG_DAYS], [])

    def test_each_edit_by_hand_is_said_at_the_next_session_start_and_kept(self):
        everything = "\n".join(self.seen.ann.texts().values())
        self.assertEqual(len(self.seen.edited), STEPS)
        for mark, told in self.seen.edited.items():
            if told is not None:
                self.assertIn("by hand", told, mark)
            if int(mark.rsplit("-", 1)[1]) > STEPS - YOUNG_DAYS // DAYS_A_STEP:  # What is older may be past its retention.
                self.assertIn(mark, everything)


if __name__ == "__main__":
    if TOOL is None or not TOOL.exists():
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
