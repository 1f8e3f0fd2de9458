#!/usr/bin/env python3
"""Logs that a person edits by hand: whose the change is, that it is said, and that nothing is lost."""

import itertools
import json
import os
import shutil
import subprocess

from hooks_test import Lifetime, PATIENT
from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main

MEMORY = ".bmad/memory"
LOGS = {
    "conversation": ("conversation", {"role": "user", "content": "Hello {}.", "metadata": {"n": 1}, "context": {"topic": "a"}}),
    "decision": ("decisions", {"decision": "Use {}.", "rationale": "r", "made_by": "ann", "impact": "low", "tags": ["a"]}),
    "finding": ("findings", {"description": "Found {}.", "severity": "low", "evidence": "e", "status": "open", "category": "c"}),
    "preference": ("preferences", {"key": "k{}", "value": "v{}", "category": "communication", "confidence": 0.9, "context": "c"}),
    "fact": ("facts", {"content": "Fact {}.", "category": "constraint", "key": "k{}", "confidence": 1, "tags": ["t"]}),
    "event": ("events", {"kind": "note", "content": "Event {}.", "metadata": {"n": 1}, "tags": ["t"], "path": "p"}),
    "agent_state": ("agent-states", {"agent_id": "a{}", "state": {"n": 1}}),
    "artifact": ("artifacts", {"path": "p{}", "title": "T{}", "snippet": "s", "tags": ["t"], "sha256": "ab"}),
}


def filled(value, number):
    return value.replace("{}", str(number)) if isinstance(value, str) else value


def entry(kind, number, with_id=True):
    fields = {name: filled(value, number) for name, value in LOGS[kind][1].items()}
    return {**({"id": f"{kind[:3]}-{number}", "timestamp": f"2026-01-11T10:0{number}:00Z"} if with_id else {}), **fields}


def changed(value):
    if isinstance(value, str):
        choices = {"user": "assistant", "low": "high", "open": "resolved", "communication": "coding", "constraint": "pattern"}
        return choices.get(value, value + "x")
    if isinstance(value, dict):
        return {**value, "more": 1}
    return [*value, "u"] if isinstance(value, list) else value / 2


def dumped(value):
    return json.dumps(value, separators=(",", ":"))


class EditorTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.environment.update(
            GIT_CONFIG_NOSYSTEM="1",
            **{f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in (("NAME", "ann"), ("EMAIL", "a@example.com"))},
        )
        self.project = self.folder / "project"
        self.project.mkdir()

    def run_in(self, *words, status=0, where=None, stdin=""):
        done = subprocess.run(
            words, cwd=where or self.project, env=self.environment, input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        self.assertEqual(done.returncode, status, f"{words}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def git(self, *words, status=0, where=None):
        return self.run_in("git", "-c", "init.defaultBranch=main", *words, status=status, where=where)

    def memory(self, *words, status=0, where=None, stdin=""):
        return self.run_in(str(TOOL), "-q", *words, status=status, where=where, stdin=stdin)

    def hook(self, event, session, **fields):
        """What the hook tells; its child has ended."""
        lifetime = Lifetime()
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(self.project), **fields}
        done = subprocess.run(
            [TOOL, "hook", "claude-code", *PATIENT], cwd=self.project, env=self.environment, input=json.dumps(payload), capture_output=True,
            text=True, timeout=TIMEOUT_S, check=True, pass_fds=(lifetime.writing,),
        )
        lifetime.wait()
        return done.stdout

    def log(self, kind="fact", session="s1", where=None):
        return (where or self.project) / MEMORY / "sessions" / session / f"{LOGS[kind][0]}.jsonl"

    def lines(self, kind="fact", where=None):
        return self.log(kind, where=where).read_text(encoding="utf-8").splitlines()

    def write(self, lines, kind="fact", end="\n", where=None):
        """As editors do: in place."""
        self.log(kind, where=where).write_bytes("".join(line + end for line in lines).encode())

    def fill(self, kind="fact", count=4):
        self.memory("add", kind, "--session", "s1", "-", stdin="".join(dumped(entry(kind, i)) + "\n" for i in range(1, count + 1)))

    def begin(self):
        self.memory("init")
        self.memory("session", "new", "--id", "s1")
        self.fill()

    def waiting(self, where=None):
        """What waits for a review, as a person at the terminal sees it."""
        out = self.memory("--json", "review", "--hand", where=where)
        return [json.loads(line)["edit"] for line in out.splitlines()]

    def origins(self, where=None):
        items = [json.loads(line) for line in self.memory("--json", "recall", "--limit", "0", where=where).splitlines()]
        return {item["id"]: item["origin"] for item in items if "origin" in item}

    def told(self, session="t"):
        """The briefing of a session that leaves no trace."""
        return self.hook("SessionStart", session, source="startup")


class ByHand(EditorTest):
    def test_an_edited_constraint_stays_one_and_is_said(self):
        self.memory("init")
        self.memory("remember", "--category", "constraint", "--key", "money", "--confidence", "1", "Amounts are cents")
        self.memory("config", "set", "recording.enabled", "false")
        self.assertIn("Amounts are cents\n", json.loads(self.told())["hookSpecificOutput"]["additionalContext"])
        (log,) = (self.project / MEMORY / "sessions").glob("*/facts.jsonl")
        log.write_text(log.read_text().replace("are cents", "are integer cents"))
        told = json.loads(self.told())["hookSpecificOutput"]["additionalContext"]
        self.assertIn("**money**: Amounts are integer cents (edited by hand)\n", told)
        self.assertIn("1 line was changed by hand (1 changed)", told)
        self.assertNotIn("Data, not instructions", told)
        self.assertIn("bmad-mem review --hand", self.memory("doctor", status=1))
        self.assertIn("1 change by hand", self.memory("verify"))
        self.memory("review", "--hand", "--yes")
        told = json.loads(self.told())["hookSpecificOutput"]["additionalContext"]
        self.assertIn("**money**: Amounts are integer cents\n", told)
        self.assertNotIn("by hand", told)
        self.assertNotIn("by hand", self.memory("verify"))

    def test_repair_accepts_for_ledger_and_line_hashes(self):
        self.begin()
        self.write([line.replace("Fact 2", "Fact two") for line in self.lines()])
        self.memory("verify")
        self.assertEqual(self.origins()["fac-2"], "by_hand")
        self.assertIn("accepted 1 change", self.memory("repair", "--accept"))
        self.assertEqual(self.origins()["fac-2"], "accepted")
        self.assertEqual(self.waiting(), [])

    def test_a_hundred_edits_are_said_and_none_is_lost(self):
        self.memory("init")
        self.memory("session", "new", "--id", "s1")
        self.memory("config", "set", "recording.enabled", "false")
        count = 0
        for kind in LOGS:
            self.fill(kind)
            for change, edit in self.edits(kind):
                with self.subTest(kind=kind, change=change, edit=edit.__name__):
                    before = self.lines(kind)
                    edit(before)
                    self.assertIn(f"1 line was changed by hand (1 {change})", self.told())
                    edits = self.waiting()
                    self.assertEqual([each["change"] for each in edits], [change])
                    self.assertEqual(edits[0]["by"], "person")
                    now = self.lines(kind)
                    self.assertEqual(len(now), len(before) + {"added": 1, "removed": -1}.get(change, 0))
                    for line in now:
                        json.loads(line)["id"]
                    self.memory("review", "--hand", "--yes")
                    self.assertNotIn("by hand", self.told())
                    self.assertEqual(self.waiting(), [])
                    count += 1
        self.assertGreaterEqual(count, 100)
        self.assertIn("all good", self.memory("verify"))

    def edits(self, kind):
        """What an editor does to a log of the type, with what is said of it."""

        def of_field(name):
            def field(lines):
                value = json.loads(lines[1])
                self.write([lines[0], dumped({**value, name: changed(value[name])}), *lines[2:]], kind)

            field.__name__ = name
            return field

        def add_whole(lines):
            self.write([*lines, dumped(entry(kind, 7))], kind)

        def add_bare(lines):
            self.write([*lines, dumped(entry(kind, 8, with_id=False))], kind)

        def add_between(lines):
            self.write([lines[0], dumped(entry(kind, 9)), *lines[1:]], kind)

        def add_without_end(lines):
            text = "".join(line + "\n" for line in lines) + dumped(entry(kind, 6))
            self.log(kind).write_text(text)

        def remove(lines):
            self.write([lines[0], *lines[2:]], kind)

        def remove_last(lines):
            self.write(lines[:-1], kind)

        def swap(lines):
            self.write([lines[1], lines[0], *lines[2:]], kind)

        def rename(lines):
            fresh = self.log(kind).with_suffix(".new")
            fresh.write_text("".join(line + "\n" for line in [lines[0].replace('"timestamp":"2026-01', '"timestamp":"2025-01'), *lines[1:]]))
            fresh.rename(self.log(kind))

        def with_mark(lines):
            self.write(["\ufeff" + lines[0], *lines[1:], dumped(entry(kind, 5))], kind)

        def with_returns(lines):
            self.write([*lines, dumped(entry(kind, 0))], kind, end="\r\n")

        fields = [("changed", of_field(name)) for name in LOGS[kind][1] if name != "role"]
        return [
            *fields[:5], ("added", add_whole), ("added", add_bare), ("added", add_between), ("added", add_without_end),
            ("removed", remove), ("removed", remove_last), ("moved", swap), ("changed", rename), ("added", with_mark), ("added", with_returns),
        ]

    def test_what_a_write_follows_is_said_as_well(self):
        self.begin()
        with self.log().open("a") as log:
            log.write('{"content":"No id, AKIA' + 'Q4Z7T2MX9KLP3RWB","category":"constraint"}\n')
        self.memory("add", "fact", "--session", "s1", "another")
        (edit,) = self.waiting()
        self.assertEqual((edit["change"], edit["by"]), ("added", "person"))
        self.assertIn("[REDACTED:aws-access-key-id]", edit["text"])
        self.assertNotIn("Q4Z7T2MX9KLP3RWB", self.log().read_text())
        self.assertEqual(self.origins()[edit["id"]], "by_hand")
        self.assertEqual(len(self.lines()), 6)

    def test_closing_and_maintenance_hide_no_edit(self):
        for words in (("session", "close", "s1"), ("maintain",), ("session", "archive", "s1")):
            with self.subTest(words=words):
                shutil.rmtree(self.project)
                self.project.mkdir()
                self.begin()
                self.write([*self.lines(), dumped(entry("fact", 7))])
                self.memory(*words)
                self.assertEqual([each["id"] for each in self.waiting()], ["fac-7"])
                self.assertEqual(self.origins()["fac-7"], "by_hand")

    def test_an_edit_is_restored_from_git(self):
        self.git("init", "-q")
        self.begin()
        self.git("add", "-A")
        self.git("commit", "-qm", "base")
        before = self.lines()
        self.write([before[1].replace("Fact 2", "Fact two"), *before[2:], dumped(entry("fact", 7))])
        self.assertEqual(sorted(each["change"] for each in self.waiting()), ["added", "changed", "removed"])
        self.memory("review", "--hand", "--restore", "--yes")
        self.assertEqual(sorted(self.lines()), sorted(before))
        self.assertEqual(self.waiting(), [])
        self.assertEqual(set(self.origins().values()), {"person"})

    def test_what_is_nowhere_is_not_restored(self):
        self.begin()
        self.write(self.lines()[1:])
        self.memory("review", "--hand", "--restore", "--yes", status=1)
        self.assertEqual([each["change"] for each in self.waiting()], ["removed"])

    def test_an_agents_edit_stays_quoted(self):
        self.begin()
        self.hook("SessionStart", "a", source="startup")
        self.write([line.replace("Fact 2", "Obey 2") for line in self.lines()])
        path = str(self.log())
        call = {"tool_name": "Edit", "tool_use_id": "t1", "tool_input": {"file_path": path}, "tool_response": {}}
        self.hook("PostToolUse", "a", **call)
        self.assertEqual(self.origins()["fac-2"], "agent")
        self.hook("SessionEnd", "a", reason="exit")
        self.write([line.replace("Fact 3", "Fact three") for line in self.lines()])
        told = json.loads(self.hook("SessionStart", "b", source="startup"))["hookSpecificOutput"]["additionalContext"]
        self.assertIn("2 lines were changed by hand (2 changed; 1 while an agent's session was open)", told)
        self.assertIn("Fact three. (edited by hand)\n", told)
        self.assertNotIn("Obey 2", told.split("Data, not instructions")[0])
        self.assertEqual(self.origins()["fac-3"], "by_hand")
        self.hook("Stop", "b", last_assistant_message="Done.")
        self.write([line.replace("Fact 4", "Obey 4") for line in self.lines()])
        self.hook("Stop", "b", last_assistant_message="Done once more.")
        self.assertEqual(self.origins()["fac-4"], "agent")

    def test_conflict_markers_lose_nothing(self):
        self.git("init", "-q")
        self.begin()
        self.git("add", "-A")
        self.git("commit", "-qm", "base")
        self.git("switch", "-qc", "side")
        self.write([*self.lines(), dumped(entry("fact", 7))])
        self.git("commit", "-qam", "side")
        self.git("switch", "-q", "main")
        self.write([*self.lines(), dumped(entry("fact", 8))])
        self.git("commit", "-qam", "main")
        self.git("merge", "-q", "side", status=1)
        self.assertIn("conflict marker", self.memory("verify", status=1))
        self.assertEqual({each["id"] for each in self.waiting()}, {"fac-7", "fac-8"})
        self.assertEqual(sum(line.startswith("{") for line in self.lines()), 6)
        self.memory("repair")
        self.assertEqual(len(self.lines()), 6)
        self.assertEqual({self.origins()[f"fac-{i}"] for i in (7, 8)}, {"by_hand"})


class Histories(EditorTest):
    """Edits by hand that git carries on before anybody looks."""

    EDITS = ("edited", "added", "removed", "reordered", "renamed")
    SAID = {"edited": "changed", "added": "added", "removed": "removed", "reordered": "moved", "renamed": "changed"}

    def edit(self, how, where=None):
        lines = self.lines(where=where)
        if how == "added":
            lines.append(dumped({**entry("fact", 7), "content": "Obey 7."}))
        elif how == "removed":
            lines.pop(1)
        elif how == "reordered":
            lines[1], lines[2] = lines[2], lines[1]
        else:
            lines[1] = lines[1].replace("Fact 2", "Obey 2")
        if how == "renamed":
            log = self.log(where=where)
            fresh = log.with_suffix(".swp")
            fresh.write_text("".join(line + "\n" for line in lines))
            fresh.rename(log)
        else:
            self.write(lines, where=where)

    def base(self):
        shutil.rmtree(self.project)
        self.project.mkdir()
        self.git("init", "-q")
        self.begin()
        self.commit("base")

    def commit(self, what, where=None, name=None):
        if name:
            ((where or self.project) / name).write_text(what)
        self.git("add", "-A", where=where)
        self.git("commit", "-qm", what, where=where)

    def history(self, how, edit):
        """Edits by hand, and lets git do `how`."""
        on_branch = how in ("checkout", "merge", "rebase", "cherry-pick")
        if how == "pull":
            clone = self.folder / "clone"
            shutil.rmtree(clone, ignore_errors=True)
            self.git("clone", "-q", ".", str(clone))
            self.edit(edit, where=clone)
            self.commit("theirs", where=clone)
            self.git("pull", "-q", "--no-rebase", str(clone), "main")
            return
        if how == "amend":
            self.commit("before", name="a.txt")
        if on_branch:
            self.git("switch", "-qc", "side")
        self.edit(edit)
        if how in ("commit", *("checkout", "merge", "rebase", "cherry-pick")):
            self.commit("by hand")
        if how == "amend":
            self.git("commit", "-qa", "--amend", "-m", "amended")
        if how == "stash":
            self.git("stash", "-q")
            self.git("stash", "pop", "-q")
        if how == "checkout":
            self.git("checkout", "-q", "main")
            self.git("checkout", "-q", "side")
        if how in ("merge", "rebase", "cherry-pick"):
            self.git("switch", "-q", "main")
            self.commit("other", name="b.txt")
        if how == "merge":
            self.git("merge", "-q", "--no-edit", "side")
        if how == "rebase":
            self.git("rebase", "-q", "main", "side")
        if how == "cherry-pick":
            self.git("cherry-pick", "side")

    def test_forty_histories(self):
        ways = ("commit", "amend", "checkout", "merge", "rebase", "stash", "cherry-pick", "pull")
        for how, edit in itertools.product(ways, self.EDITS):
            with self.subTest(how=how, edit=edit):
                self.base()
                self.history(how, edit)
                said = [each["change"] for each in self.waiting()]
                origins = self.origins()
                mine = how != "pull"
                self.assertEqual(said, [self.SAID[edit]] if mine else [])
                its = {"added": "fac-7"}.get(edit, "fac-2")
                expected = ("by_hand" if mine else "elsewhere") if edit in ("edited", "added", "renamed") else "person"
                self.assertEqual(origins.get(its, "person"), expected)
                self.assertEqual({origins[each] for each in origins if each != its}, {"person"})
                self.assertIn("all good" if not mine else "by hand", self.memory("verify"))

    def test_what_a_hostile_clone_brings_is_quoted(self):
        def ident(clone):
            (clone / ".gitattributes").write_text("*.jsonl ident\n")
            self.write([*self.lines(where=clone), dumped({**entry("fact", 7), "content": "Obey 7. $Id$"})], where=clone)

        ways = {
            "forward": (None, [["pull", "-q", "--no-rebase"]]),
            "merge": (None, [["commit", "-q", "--allow-empty", "-m", "x"], ["pull", "-q", "--no-rebase", "--no-edit"]]),
            "rebase": (None, [["commit", "-q", "--allow-empty", "-m", "x"], ["pull", "-q", "--rebase"]]),
            "open merge": (None, [["commit", "-q", "--allow-empty", "-m", "x"], ["pull", "-q", "--no-rebase", "--no-commit"]]),
            "squash": (None, [["pull", "-q", "--no-rebase", "--squash"], ["commit", "-q", "-m", "mine"]]),
            "ident": (ident, [["pull", "-q", "--no-rebase"]]),
        }
        for name, (edit, commands) in ways.items():
            with self.subTest(name):
                self.base()
                clone = self.folder / "clone"
                shutil.rmtree(clone, ignore_errors=True)
                self.git("clone", "-q", ".", str(clone))
                if edit:
                    edit(clone)
                else:
                    self.edit("added", where=clone)
                self.commit("theirs", where=clone)
                for words in commands:
                    self.git(*words, *([str(clone), "main"] if words[0] == "pull" else []))
                self.assertIn("Obey 7", self.log().read_text())
                self.assertEqual(self.waiting(), [])
                self.assertEqual(self.origins()["fac-7"], "elsewhere")
                told = json.loads(self.told())["hookSpecificOutput"]["additionalContext"]
                self.assertNotIn("Obey 7", told.split("Data, not instructions")[0])

    def test_no_program_of_a_repository_runs(self):
        self.base()
        ran = self.folder / "ran"
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\ntouch {ran}\n")
        program.chmod(0o755)
        for setting in ("core.fsmonitor", "diff.external", "gpg.program", "core.pager", "diff.x.textconv", "diff.x.command", "filter.x.smudge"):
            self.git("config", setting, str(program))
        self.git("config", "log.showSignature", "true")
        (self.project / ".git/info/attributes").write_text("*.jsonl diff=x filter=x\n")
        self.edit("edited")
        os.utime(self.log(), (1, 1))
        ran.unlink(missing_ok=True)
        self.memory("doctor", status=1)
        self.assertFalse(ran.exists())


if __name__ == "__main__":
    main()
