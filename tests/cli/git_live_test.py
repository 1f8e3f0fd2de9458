#!/usr/bin/env python3
"""git moves under agents that are at work: a client with hooks, a client of MCP, a script over HTTP.

Each test says something through all three doors, has git change the working tree, and says something
again. What was said after that is recorded, found and told; the memory verifies; git has nothing against it.
"""

import json
import pathlib
import re
import shutil
import sys

for part in ("mcp", "http"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / part))

from git_test import MEMORY, GitTest  # noqa: E402
from mcp_process import McpProcess  # noqa: E402
from serve_process import Server  # noqa: E402
from tool_under_test import SOURCE, TOOL, main  # noqa: E402

PATIENT = ("--budget-ms", "20000", "--limit-ms", "60000")


class LiveTest(GitTest):
    def setUp(self):
        super().setUp()
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)
        (self.repository / "README").write_text("A project.\n", encoding="ascii")
        self.commit("0")
        self.said = []

    def run_hook(self, event, where=None, session="a", **fields):
        payload = {"session_id": session, "cwd": str(where or self.repository), "hook_event_name": event, **fields}
        return self.run_with_input(json.dumps(payload), "hook", "claude-code", *PATIENT, where=where)

    def run_with_input(self, text, *words, where=None):
        where = where or self.repository
        file = self.folder / "input"
        file.write_text(text, encoding="utf-8")
        told = self.run_command("sh", "-c", f'cd "$1" && shift && exec "$@" <{file} 2>&1', "sh", str(where), str(TOOL), *words)
        self.assertNotIn("E_", told)
        return told

    def prompt(self, text, where=None, session="a"):
        return self.run_hook("UserPromptSubmit", where, session, prompt=text)

    def query(self, words, where=None):
        return self.run_in("query", words, where=where).replace("*", "")

    def session_folder(self, name):
        return self.repository / MEMORY / "sessions" / name

    def git_status(self, where=None):
        return self.git("status", "--porcelain", "--untracked-files=all", where=where)


class ConflictWithoutDriver(LiveTest):
    """Who writes while a log holds conflict markers loses nothing by what docs/git.md says."""

    def remedy(self):
        page = (SOURCE / "docs/git.md").read_text(encoding="utf-8")
        blocks = [each for each in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "--merge" in each]
        self.assertEqual(len(blocks), 1)
        return blocks[0]

    def contents(self):
        found = self.run_in("--json", "list", "--type", "fact", "--limit", "0").splitlines()
        return sorted(json.loads(each)["content"] for each in found)

    def test_what_was_written_behind_the_markers_is_kept(self):
        self.run_in("session", "new", "--id", "s1")
        for each in ("both", "gone"):
            self.run_in("add", "fact", "--session", "s1", "--id", each, each)
        self.commit("base")
        self.git("checkout", "-q", "-b", "theirs")
        self.run_in("delete", "gone", "--yes")
        self.run_in("add", "fact", "--session", "s1", "their fact")
        self.commit("theirs")
        self.git("checkout", "-q", "main")
        self.run_in("add", "fact", "--session", "s1", "our fact")
        self.commit("ours")
        self.assertIn("CONFLICT", self.git("merge", "-q", "theirs", status=1))
        for each in ("late one", 'late "two"', "late\\three"):
            self.run_in("add", "fact", "--session", "s1", each)
        self.run_command("sh", "-c", f'cd "$1" && set -e; {self.remedy()}', "sh", str(self.repository))
        self.assertEqual(self.contents(), sorted(["both", "our fact", "their fact", "late one", 'late "two"', "late\\three"]))
        self.commit("merged")
        self.run_in("verify", "--hashes")
        self.run_in("git", "check")


class BranchesWithoutMemory(LiveTest):
    """Git takes .gitignore and config.json away with the rest of the memory; recording goes on."""

    def setUp(self):
        super().setUp()
        self.root = self.repository / MEMORY
        self.git("rm", "-rq", MEMORY)
        shutil.rmtree(self.root, ignore_errors=True)
        self.commit("no memory")
        self.git("checkout", "-q", "-b", "mem")
        self.run_in("--quiet", "init")
        self.prompt("OSPREY on mem")
        self.commit("mem")
        self.git("checkout", "-q", "main")
        self.assertFalse((self.root / ".gitignore").exists())
        self.assertFalse((self.root / "config.json").exists())

    def check_recording_goes_on(self, session):
        self.prompt("PELICAN on main", session=session)
        self.assertIn("PELICAN on main", self.query("PELICAN"))
        self.commit("m")
        tracked = self.git("ls-files", MEMORY).split()
        self.assertIn(f"{MEMORY}/.gitignore", tracked)
        self.assertIn(f"{MEMORY}/sessions/cc-{session}/manifest.json", tracked)
        self.assertNotIn(".lock", " ".join(tracked))
        self.run_in("verify")

    def test_a_session_that_goes_on_brings_back_the_gitignore(self):
        self.check_recording_goes_on("a")

    def test_a_new_session_brings_back_the_gitignore(self):
        self.check_recording_goes_on("b")

    def test_recording_goes_on_where_no_session_folder_is_left(self):
        shutil.rmtree(self.root / "sessions")
        self.assertIn(".lock", [each.name for each in self.root.iterdir()])
        self.check_recording_goes_on("a")

    def test_who_removed_the_gitignore_and_kept_the_config_gets_none(self):
        self.git("checkout", "-q", "mem")
        (self.root / ".gitignore").unlink()
        self.prompt("PELICAN", session="b")
        self.assertFalse((self.root / ".gitignore").exists())


class RemainsOfSessions(LiveTest):
    """What git leaves of a session that it takes away counts as nothing."""

    def leave(self):
        """A session on a branch; main has its ignored files."""
        self.git("checkout", "-q", "-b", "feature")
        self.prompt("OSPREY on feature")
        self.commit("f")
        self.git("checkout", "-q", "main")
        self.assertTrue(self.session_folder("cc-a").exists())
        self.assertFalse((self.session_folder("cc-a") / "manifest.json").exists())

    def test_a_prompt_after_a_checkout_is_recorded(self):
        self.leave()
        self.prompt("PELICAN on main")
        self.assertIn("PELICAN on main", self.query("PELICAN"))
        self.assertIn("PELICAN on main", self.run_in("list", "--session", "cc-a"))
        self.run_in("verify")

    def test_nobody_is_told_of_remains(self):
        self.leave()
        before = self.git_status()
        for words in (("verify",), ("repair",), ("stats",), ("session", "list"), ("list",), ("query", "OSPREY"),
                      ("context",), ("maintain", "--dry-run"), ("export",), ("redact", "--all", "--dry-run")):
            said = self.run_in(*words, status=0)
            self.assertNotIn("cc-a", said, words)
        self.assertIn("there is no session cc-a", self.run_in("session", "show", "cc-a", status=1))
        self.assertEqual(self.git_status(), before)
        self.git("checkout", "-q", "feature")
        self.assertIn("OSPREY on feature", self.query("OSPREY"))
        self.run_in("verify")

    def test_a_branch_with_the_session_can_be_checked_out_again(self):
        for what in ("nothing", "commit", "stash"):
            with self.subTest(what):
                self.git("checkout", "-q", "main")
                if what == "nothing":
                    self.leave()
                else:
                    self.prompt(f"PELICAN {what} on main")
                self.run_in("repair")
                if what == "commit":
                    self.commit("m")
                elif what == "stash":
                    self.git("stash", "-q", "-u")
                self.git("checkout", "-q", "feature")
                self.assertIn("OSPREY on feature", self.query("OSPREY"))
                self.assertEqual(self.git_status(), "")
                self.run_in("verify")

    def test_repair_makes_no_manifest_that_git_has_on_another_branch(self):
        self.git("checkout", "-q", "-b", "feature")
        self.prompt("OSPREY on feature")
        self.commit("f")
        self.run_in("add", "fact", "--session", "cc-a", "A log that git does not know yet")
        self.git("checkout", "-q", "main")
        self.run_in("repair", status=1)
        self.assertFalse((self.session_folder("cc-a") / "manifest.json").exists())
        self.git("checkout", "-q", "feature")
        self.run_in("verify")
        self.assertIn("A log that git does not know yet", self.query("log git"))

    def test_a_session_with_logs_and_no_manifest_is_made_again_around_them(self):
        self.prompt("OSPREY first")
        (self.session_folder("cc-a") / "manifest.json").unlink()
        self.prompt("PELICAN second")
        self.assertIn("OSPREY first", self.query("OSPREY"))
        self.assertIn("PELICAN second", self.query("PELICAN"))
        self.run_in("verify")

    def test_repair_still_makes_a_manifest_that_no_branch_has(self):
        self.run_in("session", "new", "--id", "s1")
        self.run_in("add", "fact", "--session", "s1", "It was here")
        (self.session_folder("s1") / "manifest.json").unlink()
        self.run_in("verify", status=1)
        self.assertIn("made a new manifest", self.run_in("repair"))
        self.run_in("verify")

    def test_maintenance_takes_remains_away(self):
        self.leave()
        self.run_in("maintain")
        self.assertFalse(self.session_folder("cc-a").exists())
        self.prompt("PELICAN on main")
        self.assertIn("PELICAN on main", self.query("PELICAN"))

    def test_an_archive_that_another_branch_made_is_read_in_spite_of_remains(self):
        self.prompt("OSPREY in a session")
        self.commit("a session")
        self.git("checkout", "-q", "-b", "packed")
        self.run_in("session", "archive", "cc-a")
        self.commit("an archive")
        self.git("checkout", "-q", "main")
        self.git("checkout", "-q", "packed")
        self.session_folder("cc-a").mkdir(parents=True)
        (self.session_folder("cc-a") / ".lock").touch()
        self.assertIn("OSPREY in a session", self.query("OSPREY"))
        self.assertIn("cc-a", self.run_in("session", "list", "--archived"))
        self.prompt("PELICAN after it")
        self.assertIn("OSPREY in a session", self.run_in("list", "--session", "cc-a"))
        self.assertIn("PELICAN after it", self.run_in("list", "--session", "cc-a"))
        self.run_in("verify")


class MiddleOfAConversation(LiveTest):
    """Servers keep on running, with what they know of sessions and logs that git replaces."""

    def setUp(self):
        super().setUp()
        self.mcp = McpProcess([str(TOOL), "mcp"], self.repository, self.environment)
        self.addCleanup(self.mcp.leave)
        self.mcp.open()
        self.http = Server(TOOL, self.repository, self.environment)
        self.addCleanup(self.http.errors.close)
        self.addCleanup(self.http.stop)

    def say(self, word):
        """Something through each door, and a second entry that goes to another log."""
        for number, door in enumerate((self.say_by_hook, self.say_by_mcp, self.say_by_http)):
            text = f"The {word}{number} nests on pier {len(self.said)}"
            door(text)
            self.said.append((f"{word}{number}", text))

    def say_by_hook(self, text):
        self.run_hook("PreToolUse", tool_name="Bash", tool_use_id=f"t{len(self.said)}", tool_input={"command": "ls"})
        self.prompt(text)

    def say_by_mcp(self, text):
        for kind, fields in (("conversation", {"role": "user"}), ("fact", {})):
            answer = self.mcp.call("memory_add", type=kind, text=text, fields=fields)
            self.assertNotIn("isError", answer["result"], answer)

    def say_by_http(self, text):
        for kind in ("prompt", "fact"):
            answer = self.http.ask("POST", "/memory/record", {"type": kind, "session_id": "script", "content": text})
            self.assertEqual(answer.status, 201, answer.body)

    def check(self, word, where=None):
        """What was said with `word` is found and told, also by those who were there before."""
        for name, text in [each for each in self.said if each[0].startswith(word)]:
            self.assertIn(text, self.query(name, where))
            self.assertIn(text, self.run_in("context", "--task", f"Where does the {name} nest?", where=where))
            if where is None:
                self.assertIn(text, self.http.ask("GET", f"/memory/search?q={name}").body.decode())
                found = self.mcp.call("memory_search", query=name)["result"]["content"][0]["text"]
                self.assertIn(text, found)
        self.run_in("verify", where=where)
        self.git("fsck", "--no-progress", where=where)

    def gone(self, word):
        for name, _ in [each for each in self.said if each[0].startswith(word)]:
            self.assertNotIn("nests", self.query(name))

    def on_feature(self):
        """What was said on a branch and committed there; the working tree is that of main."""
        self.git("checkout", "-q", "-b", "feature")
        self.say("osprey")
        self.commit("f")

    def test_checkout_to_a_branch_without_the_sessions_and_back(self):
        self.on_feature()
        self.git("checkout", "-q", "main")
        self.gone("osprey")
        self.say("pelican")
        self.check("pelican")
        self.commit("m")
        self.git("checkout", "-q", "feature")
        self.gone("pelican")
        self.check("osprey")
        self.say("heron")
        self.check("heron")
        self.check("osprey")
        self.commit("f2")
        self.git("checkout", "-q", "main")
        self.check("pelican")

    def test_checkout_of_a_new_branch(self):
        self.say("osprey")
        self.git("checkout", "-q", "-b", "feature")
        self.say("pelican")
        self.check("osprey")
        self.check("pelican")
        self.commit("f")
        self.git("checkout", "-q", "main")
        self.say("heron")
        self.check("heron")

    def test_stash_and_pop(self):
        self.say("osprey")
        self.git("stash", "-q", "-u")
        self.assertEqual(self.git_status(), "")
        self.gone("osprey")
        self.run_in("verify")
        self.git("stash", "pop", "-q")
        self.say("pelican")
        self.check("osprey")
        self.check("pelican")

    def test_pull_with_uncommitted_lines_is_no_change_by_hand(self):
        """git replaces a log by a longer one, with the same inode number on many file systems."""
        self.run_in("session", "new", "--id", "s1")
        for number in range(3):
            self.run_in("add", "fact", "--session", "s1", f"kestrel{number}")
        (self.repository / ".gitattributes").write_text("*.jsonl merge=union\n", encoding="ascii")
        self.commit("base")
        clone = self.folder / "clone"
        self.git("clone", "-q", str(self.repository), str(clone))
        self.run_in("add", "fact", "--session", "s1", "said in the clone", where=clone)
        self.git("commit", "-qam", "clone", where=clone)
        self.git("checkout", "-q", "-b", "side")
        self.run_in("add", "fact", "--session", "s1", "said here")
        self.commit("here")
        self.run_in("add", "fact", "--session", "s1", "not committed yet")
        self.git("pull", "-q", "--rebase", "--autostash", str(clone), "main")
        self.run_in("verify", "--hashes")
        self.run_in("add", "fact", "--session", "s1", "said later")
        self.run_in("verify", "--hashes")
        for text in ("kestrel0", "said in the clone", "said here", "not committed yet", "said later"):
            self.assertIn(text, self.run_in("list"))
        self.commit("all of it")
        self.git("checkout", "-q", "main")
        self.run_in("add", "fact", "--session", "s1", "on main again")
        self.run_in("verify", "--hashes")

    def test_a_hook_of_git_sees_the_same(self):
        self.run_in("session", "new", "--id", "s1")
        self.run_in("add", "fact", "--session", "s1", "kestrel1")
        self.commit("1")
        self.run_in("add", "fact", "--session", "s1", "kestrel2")
        self.commit("2")
        self.git("checkout", "-q", "HEAD~1")
        self.environment["GIT_DIR"] = str(self.repository / ".git")
        self.run_in("verify", "--hashes")
        del self.environment["GIT_DIR"]

    def test_what_is_said_after_a_stash_is_kept(self):
        self.say("osprey")
        self.git("stash", "-q", "-u")
        self.say("pelican")
        self.check("pelican")
        self.commit("while it was stashed")
        self.check("pelican")

    def test_rebase_onto_a_branch_with_other_memory(self):
        self.on_feature()
        self.git("checkout", "-q", "main")
        self.run_in("session", "new", "--id", "other")
        self.run_in("add", "fact", "--session", "other", "The kestrel0 nests elsewhere")
        self.commit("m")
        self.git("checkout", "-q", "feature")
        self.git("rebase", "-q", "main")
        self.say("pelican")
        self.check("osprey")
        self.check("pelican")
        self.assertIn("kestrel0", self.query("kestrel0"))

    def test_a_worktree_shares_the_memory_of_the_main_one(self):
        self.on_feature()
        there = self.folder / "there"
        self.git("worktree", "add", "-q", "-b", "other", str(there))
        self.prompt("The kestrel9 nests on pier 9", where=there)
        self.check("osprey", where=there)
        self.assertIn("nests on pier 9", self.query("kestrel9", where=there))
        self.assertIn("nests on pier 9", self.query("kestrel9"))
        self.say("pelican")
        self.check("pelican")
        self.assertEqual(self.git("status", "--porcelain", where=there), "")

    def test_clean_of_what_git_does_not_track(self):
        for options, gone, kept in (("-fdq", "osprey", "pelican"), ("-fdxq", "heron", "kestrel")):
            with self.subTest(options):
                self.say(gone)
                self.git("clean", options)
                self.assertEqual(self.git_status(), "")
                self.run_in("verify")
                self.say(kept)
                self.check(kept)


class SharedNames(LiveTest):
    """Writers of one name, such as the graph of `mcp --compat server-memory`, merge without a driver."""

    def clone(self, name):
        there = self.folder / name
        self.git("clone", "-q", str(self.repository), str(there))
        return there

    def commit_in(self, where, what):
        self.git("add", "-A", where=where)
        self.git("commit", "-q", "-m", what, where=where)

    def graph(self, where=None, *calls):
        """The graph after these calls of a server of its own."""
        server = McpProcess([str(TOOL), "mcp", "--compat", "server-memory"], where or self.repository, self.environment)
        try:
            server.open()
            for tool, arguments in calls:
                answer = server.call(tool, **arguments)
                self.assertNotIn("isError", answer["result"], answer)
            graph = server.call("read_graph")["result"]["structuredContent"]
        finally:
            server.leave()
        return {entity["name"]: (entity["entityType"], entity["observations"]) for entity in graph["entities"]}

    @staticmethod
    def create(name, *observations, kind="bird"):
        return "create_entities", {"entities": [{"name": name, "entityType": kind, "observations": list(observations)}]}

    @staticmethod
    def observe(name, *contents):
        return "add_observations", {"observations": [{"entityName": name, "contents": list(contents)}]}

    def sessions(self, name, where=None):
        folder = (where or self.repository) / MEMORY / "sessions"
        return sorted(path.name for path in folder.iterdir() if path.name.startswith(name))

    def merge(self, into, other):
        self.git("pull", "-q", "--no-rebase", "--no-edit", str(other), "HEAD", where=into)
        self.run_in("verify", where=into)

    def test_graphs_of_two_clones_merge(self):
        self.graph(None, self.create("Osprey", "nests", "fishes", "leaves"), self.create("Heron", "wades"),
                   self.create("Pelican", "dives"))
        self.commit("base")
        ann, ben = self.clone("ann"), self.clone("ben")
        self.graph(ann, self.create("Kestrel", "hovers"), self.observe("Heron", "waits"),
                   ("delete_observations", {"deletions": [{"entityName": "Osprey", "observations": ["fishes"]}]}),
                   ("delete_entities", {"entityNames": ["Pelican"]}))
        self.graph(ben, self.create("Swift", "screams"), self.create("Kestrel", "hunts", kind="falcon"),
                   self.observe("Pelican", "glides"),
                   ("delete_observations", {"deletions": [{"entityName": "Osprey", "observations": ["nests"]}]}),
                   ("delete_observations", {"deletions": [{"entityName": "Heron", "observations": ["wades"]}]}),
                   ("delete_entities", {"entityNames": ["Swift"]}), self.create("Swift", "sleeps"))
        self.commit_in(ann, "ann")
        self.commit_in(ben, "ben")
        self.merge(ann, ben)
        merged = self.graph(ann)
        self.assertEqual(merged, {
            "Osprey": ("bird", ["leaves"]),
            "Heron": ("bird", ["waits"]),
            "Kestrel": ("falcon", ["hovers", "hunts"]),
            "Swift": ("bird", ["sleeps"]),
        })
        self.merge(ben, ann)
        self.assertEqual(self.graph(ben), merged)
        after = self.graph(ben, ("delete_entities", {"entityNames": ["Kestrel"]}))
        self.assertNotIn("Kestrel", after)
        self.assertNotIn("Kestrel", self.run_in("query", "hovers", where=ben))

    def test_graphs_of_two_branches_merge(self):
        self.graph(None, self.create("Osprey"))
        self.commit("base")
        self.git("checkout", "-q", "-b", "feature")
        self.graph(None, self.create("Heron"))
        self.commit("f")
        self.git("checkout", "-q", "main")
        self.assertEqual(list(self.graph(None, self.create("Pelican"))), ["Osprey", "Pelican"])
        self.commit("m")
        self.git("merge", "-q", "--no-edit", "feature")
        self.assertEqual(list(self.graph()), ["Osprey", "Heron", "Pelican"])
        self.run_in("verify")

    def test_a_server_goes_on_when_git_takes_its_session(self):
        server = McpProcess([str(TOOL), "mcp", "--compat", "server-memory"], self.repository, self.environment)
        self.addCleanup(server.leave)
        server.open()

        def names(*call):
            if call:
                answer = server.call(call[0], **call[1])
                self.assertNotIn("isError", answer["result"], answer)
            return [entity["name"] for entity in server.call("read_graph")["result"]["structuredContent"]["entities"]]

        self.git("checkout", "-q", "-b", "feature")
        self.assertEqual(names(*self.create("Osprey")), ["Osprey"])
        self.commit("f")
        self.git("checkout", "-q", "main")
        self.assertEqual(names(), [])
        self.assertEqual(names(*self.create("Heron")), ["Heron"])
        self.git("checkout", "-q", "feature")
        self.assertEqual(sorted(names()), ["Heron", "Osprey"])
        self.run_in("verify")

    def test_many_servers_of_a_clone_write_to_one_session_until_it_is_committed(self):
        for name in ("Osprey", "Heron", "Pelican"):
            self.graph(None, self.create(name))
        self.assertEqual(len(self.sessions("server-memory")), 1)
        for number, version in enumerate(("2", "3", "4")):
            self.commit(version)
            self.git("update-index", "--index-version", version)
            self.graph(None, self.create(f"Swift{number}"))
            self.graph(None, self.create(f"Gull{number}"))
            self.assertEqual(len(self.sessions("server-memory")), 2 + number)
            self.assertEqual(self.git_status().count("facts.jsonl"), 1)

    def test_a_worktree_and_a_repository_with_long_hashes_have_writers_of_their_own(self):
        self.graph(None, self.create("Osprey"))
        self.commit("one")
        there = self.folder / "there"
        self.run_in("--quiet", "config", "set", "worktrees", "own")
        self.git("worktree", "add", "-q", "-b", "other", str(there))
        self.assertEqual(list(self.graph(there, self.create("Heron"))), ["Osprey", "Heron"])
        self.assertEqual(len(self.sessions("server-memory", there)), 2)
        long = self.folder / "long"
        long.mkdir()
        self.git("init", "-q", "--object-format=sha256", "-b", "main", where=long)
        self.run_in("--quiet", "init", where=long)
        for number in range(2):
            self.graph(long, self.create(f"Osprey{number}"))
            self.commit_in(long, str(number))
        self.assertEqual(len(self.sessions("server-memory", long)), 2)

    def test_a_graph_of_an_older_version_is_a_part_of_the_view(self):
        self.run_in("session", "new", "--id", "server-memory")
        self.run_in("import", "--format", "server-memory", "--session", "server-memory", self.graph_file("Osprey"))
        self.commit("as it was")
        self.assertEqual(list(self.graph(None, self.create("Osprey", "again"), self.create("Heron"))), ["Osprey", "Heron"])
        self.assertNotIn("sessions/server-memory/", self.git_status())
        self.assertIn("Heron", self.run_in("export", "--format", "server-memory"))

    def graph_file(self, *names):
        file = self.folder / "graph.jsonl"
        file.write_text("".join(json.dumps({"type": "entity", "name": name, "entityType": "bird", "observations": [
            f"{name} nests"]}) + "\n" for name in names), encoding="utf-8")
        return str(file)

    def mem0_file(self, *texts):
        file = self.folder / "mem0.json"
        file.write_text(json.dumps({"results": [
            {"id": f"m-{text.lower()}", "memory": f"{text} nests here", "created_at": "2026-09-01T08:00:00-07:00"}
            for text in texts]}), encoding="utf-8")
        return str(file)

    def note_file(self, *texts):
        file = self.folder / "birds.md"
        file.write_text("---\ntitle: Birds\ntype: note\ndate: 2026-05-01T10:00:00Z\n---\n" + "".join(
            f"- [bird] {text} nests here\n" for text in texts), encoding="utf-8")
        return str(file)

    def imported(self, where, source, file):
        """How many entries the import added."""
        told = self.run_in("--json", "import", "--from", source, file, where=where)
        return json.loads(told.splitlines()[-1])["imported"]

    def test_imports_of_two_clones_merge_and_are_known_to_each_other(self):
        for source, make in (("mem0", self.mem0_file), ("basic-memory", self.note_file), ("server-memory", self.graph_file)):
            with self.subTest(source):
                self.assertGreater(self.imported(None, source, make("Osprey")), 0)
                self.commit("base")
                ann, ben = self.clone(f"ann-{source}"), self.clone(f"ben-{source}")
                for there, bird in ((ann, "Heron"), (ben, "Pelican")):
                    self.assertEqual(self.imported(there, source, make("Osprey")), 0)
                    self.assertGreater(self.imported(there, source, make("Osprey", bird)), 0)
                    self.assertEqual(self.imported(there, source, make("Osprey", bird)), 0)
                    self.commit_in(there, bird)
                    self.assertEqual(self.imported(there, source, make("Osprey", bird)), 0)
                self.merge(ann, ben)
                for birds in (("Osprey",), ("Osprey", "Heron"), ("Osprey", "Pelican")):
                    self.assertEqual(self.imported(ann, source, make(*birds)), 0, birds)
                for bird in ("Osprey", "Heron", "Pelican"):
                    found = self.run_in("--json", "query", bird, where=ann).splitlines()
                    self.assertTrue(found, bird)

    def test_a_newer_version_goes_to_the_session_that_has_the_others(self):
        self.imported(None, "mem0", self.mem0_file("Osprey"))
        self.commit("base")
        file = pathlib.Path(self.mem0_file("Osprey"))
        text = file.read_text(encoding="utf-8").replace("nests here", "has gone")
        file.write_text(text.replace('"created_at"', '"updated_at": "2026-10-01T08:00:00Z", "created_at"'), encoding="utf-8")
        self.assertEqual(self.imported(None, "mem0", str(file)), 1)
        self.assertEqual(self.imported(None, "mem0", str(file)), 0)
        self.assertIn("nests here", self.run_in("history", "m-osprey"))
        self.assertEqual(len(self.run_in("--json", "list", "--type", "fact").splitlines()), 1)


if __name__ == "__main__":
    main()
