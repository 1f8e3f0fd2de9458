#!/usr/bin/env python3
"""Several machines that share a memory through a PostgreSQL server of the test's own."""

import json
import re
import shutil
import signal
import subprocess
import time

from hub_under_test import HubTest, setUpModule, tearDownModule
from tool_under_test import TIMEOUT_S, TOOL, main


class Hub(HubTest):
    def test_two_machines_have_the_same_memory(self):
        self.on("a", "init")
        made = self.on("a", "hub", "init", "--service", "team", "--project", self.project)
        self.assertIn(f"bmad-mem hub join team {self.project}", made)
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f1", "The canteen closes at two")
        self.assertIn("pushed: 1 line", self.on("a", "hub", "join", "team", self.project))
        self.assertIn("pulled: 1 line", self.on("b", "hub", "join", "team", self.project))
        self.assertIn("canteen", self.on("b", "query", "canteen"))
        self.on("b", "add", "fact", "--session", "s1", "--id", "f2", "It opens at eleven")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f3", "It has soup")
        self.on("b", "sync")
        report = json.loads(self.on("a", "--json", "sync"))
        self.assertEqual((report["pulled_lines"], report["pushed_lines"]), (1, 1))
        self.on("b", "sync")
        self.assertEqual(self.log("a"), self.log("b"))
        settings = json.loads((self.folder / "a/.bmad/memory/config.json").read_text())["memory_config"]["hub"]
        self.assertEqual((settings["service"], settings["project"]), ("team", self.project))

    def test_no_setting_comes_from_a_hub(self):
        self.share("a", "b")
        config = {machine: self.folder / machine / ".bmad/memory/config.json" for machine in ("a", "b")}
        before = config["b"].read_bytes(), self.on("b", "--json", "config", "list")
        settings = json.loads(config["a"].read_text())
        settings["memory_config"] |= {
            "context": {"max_tokens": 60, "inject": False}, "recording": {"enabled": False}, "privacy": {"auto_redaction": False}}
        config["a"].write_text(json.dumps(settings))
        self.on("a", "trust", "--yes")
        self.on("a", "add", "fact", "--id", "f1", "The canteen closes at two")
        self.on("a", "sync")
        self.assertIn("pulled: 1 line", self.on("b", "sync"))
        self.assertEqual((config["b"].read_bytes(), self.on("b", "--json", "config", "list")), before)

    def test_what_one_forgets_all_forget(self):
        self.share("a", "b")
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f1", "the canary")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f2", "the soup")
        self.on("a", "sync")
        self.on("b", "sync")
        self.on("b", "forget", "--match", "canary", "--yes")
        self.on("b", "sync")
        self.on("a", "sync")
        for machine in ("a", "b"):
            for path in (self.folder / machine).rglob("*"):
                self.assertFalse(path.is_file() and b"canary" in path.read_bytes(), path)
        self.on("c", "hub", "join", "team", self.project)
        self.assertEqual(self.log("c"), self.log("a"))

    def test_status_says_who_is_behind(self):
        self.share("a", "b")
        for name, day in (("f1", 3), ("f2", 2)):
            self.on("a", "add", "fact", "--id", name, "--timestamp", f"2026-01-0{day}T10:00:00Z", "one")
        status = json.loads(self.on("a", "--json", "hub", "status"))
        self.assertEqual(status["unpushed_lines"], 2)
        self.assertEqual(status["unpushed_since"], "2026-01-02T10:00:00Z")
        self.assertRegex(self.on("a", "hub", "status"), "2 lines.*, the oldest written .* ago")
        self.assertIn("1 session to push", self.run_on("a", "doctor")[1])
        self.on("a", "sync")
        status = json.loads(self.on("a", "--json", "hub", "status"))
        self.assertEqual((status["unpushed_lines"], status["cursor"]), (0, status["head"]))
        self.assertNotIn("unpushed_since", status)
        self.assertEqual(len(status["replicas"]), 2)
        text = self.on("a", "hub", "status")
        self.assertIn("rows to apply", text)
        self.assertIn("(this one)", text)
        self.assertIn("owner may admin", text)
        replicas = json.loads(self.on("a", "--json", "hub", "replica"))["replicas"]
        other = next(each["replica"] for each in replicas if each["replica"] != status["replica"])
        self.on("a", "hub", "replica", "--drop", other)
        self.assertNotIn(other, self.on("a", "hub", "replica"))
        self.assertIn("hub leave", self.on("b", "sync", status=1))

    def test_one_that_follows_hears_of_what_others_write(self):
        self.share("a", "b")
        with self.start("b", "sync", "--follow") as follower:
            self.on("a", "add", "fact", "--id", "f1", "canteen")
            self.on("a", "push")
            self.assertIn("pulled: 1 line", follower.stdout.readline())
            follower.send_signal(signal.SIGTERM)
            self.assertEqual(follower.wait(TIMEOUT_S), 0)
        self.assertIn("canteen", self.on("b", "query", "canteen"))

    def test_one_that_follows_waits_for_a_hub_that_is_away(self):
        self.share("a", "b")
        self.server.stop()
        try:
            follower = self.start("b", "sync", "--follow")
            self.assertIn("E_HUB_AWAY", follower.stdout.readline())
        finally:
            self.server.start()
        with follower:
            self.on("a", "add", "fact", "--id", "f1", "canteen")
            self.on("a", "push")
            self.assertIn("pulled: 1 line", follower.stdout.readline())
            follower.send_signal(signal.SIGTERM)
            self.assertEqual(follower.wait(TIMEOUT_S), 0)

    def test_a_hub_that_is_away_costs_the_other_commands_nothing(self):
        self.share("a")
        self.server.stop()
        try:
            self.on("a", "add", "fact", "--id", "f1", "canteen")
            self.assertIn("canteen", self.on("a", "query", "canteen"))
            self.assertIn("E_HUB_AWAY", self.on("a", "sync", status=1))
        finally:
            self.server.start()
        self.assertIn("pushed: 1 line", self.on("a", "sync"))

    def test_a_copied_folder_is_a_machine_of_its_own(self):
        self.share("a")
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f1", "one")
        self.on("a", "sync")
        shutil.rmtree(self.folder / "c")
        shutil.copytree(self.folder / "a", self.folder / "c")
        self.assertIn("bmad-mem trust", self.on("c", "sync", status=1))
        self.on("c", "trust", "--yes")
        self.on("c", "add", "fact", "--session", "s1", "--id", "f2", "of the copy")
        self.on("c", "sync")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f3", "of the first")
        self.assertIn("new id", self.on("a", "sync"))
        self.on("c", "sync")
        self.assertEqual(self.log("a"), self.log("c"))

    def test_verify_names_who_has_not_confirmed(self):
        self.share("a", "b")
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f1", "the canary")
        self.on("a", "sync")
        self.on("b", "sync")
        self.on("b", "add", "fact", "--session", "s1", "--id", "f2", "another canary, of b")
        self.on("b", "sync")
        said = self.on("a", "forget", "--match", "canary", "--yes", "--verify", status=1)
        self.assertRegex(said, r"at the hub: no line is left")
        self.assertEqual(len(re.findall(r"(?m)^confirmed: ", said)), 1)
        self.assertEqual(len(re.findall(r"has not confirmed: .*last seen 20", said)), 1)
        self.assertIn("not covered: backups", said)
        self.assertNotIn("vacuum", said)  # The owner asks.
        self.on("b", "sync")
        self.assertEqual(self.log("b"), self.log("a"))
        said = self.on("a", "--json", "forget", "--match", "canary", "--yes", "--verify")
        last = json.loads(re.search(r"(?m)^.*verified_at_hub.*$", said)[0])["verified_at_hub"]
        self.assertEqual((last["left"], last["waiting"], len(last["confirmed"])), (0, [], 2))
        self.server.stop()
        try:
            self.on("a", "add", "fact", "--session", "s1", "--id", "f3", "a third canary")
            said = self.on("a", "forget", "--match", "canary", "--yes", "--verify", status=1)
            self.assertIn("E_HUB_AWAY", said)
        finally:
            self.server.start()
        self.assertNotIn(b"canary", self.log("a"))

    def test_one_that_adds_may_wait_for_the_hub(self):
        self.on("c", "init")
        self.assertIn("hub join", self.on("c", "add", "fact", "--wait-hub", "one", status=1))
        self.assertNotIn("one", self.on("c", "list"))
        self.share("a", "b")
        self.on("a", "add", "fact", "--wait-hub", "the canteen")
        self.on("b", "pull")
        self.assertIn("canteen", self.on("b", "query", "canteen"))
        self.assertIn("stay here", self.on("a", "add", "fact", "--sensitive", "--wait-hub", "mine", status=1))
        self.server.stop()
        try:
            said = self.on("a", "add", "fact", "--wait-hub", "the garden", status=1)
        finally:
            self.server.start()
        self.assertIn("is stored here, and the next sync pushes it", said)
        self.assertIn("pushed: 1 line", self.on("a", "sync"))

    def test_the_end_of_a_session_syncs_when_the_config_says_so(self):
        self.share("a", "b")
        self.on("a", "config", "set", "hub.auto", "session_end")
        session = {"session_id": "s1", "cwd": str(self.folder / "a")}
        for event in (
            {**session, "hook_event_name": "UserPromptSubmit", "prompt": "the canteen closes at two"},
            {**session, "hook_event_name": "SessionEnd", "reason": "other"},
        ):
            self.run_tool("hook", "claude-code", stdin=json.dumps(event))
        until = time.monotonic() + TIMEOUT_S
        while "pulled: 0 lines" in (said := self.on("b", "pull")) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertIn("pulled:", said)
        self.assertIn("canteen", self.on("b", "query", "canteen"))

    def test_a_title_that_is_forgotten_or_redacted_is_so_everywhere(self):
        self.share("a", "b")
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "session", "set", "s1", "about KIWI of PROJ-1")
        for machine in ("a", "b"):
            self.on(machine, "sync")
        self.assertIn("about KIWI", self.on("b", "session", "list"))
        for text in ("KIWI", "team"):  # The name of the hub's service, too.
            self.on("a", "forget", "--match", text, "--yes")
        self.on("a", "config", "set", "privacy.redaction.patterns", '[{"type":"pj","regex":"PROJ-[0-9]+"}]')
        self.on("a", "redact", "--all", "--yes")
        for machine in ("a", "b"):
            self.on(machine, "sync")
            self.on(machine, "verify")
            self.assertIn("about [forgotten] of [REDACTED:pj]", self.on(machine, "session", "list"))
            for path in (self.folder / machine / ".bmad/memory").rglob("*"):
                kept = path.read_bytes() if path.is_file() and path.name != "config.json" else b""
                self.assertFalse(b"KIWI" in kept or b"PROJ-1" in kept, path)
        self.on("c", "hub", "join", "team", self.project)
        self.assertIn("about [forgotten] of [REDACTED:pj]", self.on("c", "session", "list"))

    def test_a_damaged_folder_of_the_hub_is_left_and_joined_again(self):
        self.share("a")
        self.on("a", "add", "fact", "--id", "f1", "one")
        self.on("a", "sync")
        state = self.folder / "a/.bmad/memory/hub/state.json"
        state.write_text("torn {")
        for command in (["sync"], ["hub", "reclone"], ["hub", "status"], ["hub", "join", "team", self.project]):
            said = self.on("a", *command, status=1)
            self.assertIn(f"hub leave` and `hub join team {self.project}`", said)
        self.assertIn("hub replica --drop", self.on("a", "hub", "leave"))
        self.on("a", "add", "fact", "--id", "f2", "two")
        self.assertIn("pushed: 1 line", self.on("a", "hub", "join", "team", self.project))
        shutil.rmtree(state.parent)
        self.assertIn(f"hub join team {self.project}", self.on("a", "hub", "reclone", status=1))

    def test_all_machines_apply_the_rules_of_the_hub(self):
        self.share("a", "b")
        rules = self.folder / "team.toml"
        rules.write_text("[[rules]]\nid = 'badge'\nregex = 'badge-[0-9]{4}'\n[allowlist]\nregexes = ['.*']\n")
        self.assertIn("no rules of its own", self.on("a", "hub", "policy"))
        self.addCleanup(self.on, "a", "hub", "policy", "/dev/null")
        self.on("a", "hub", "policy", str(rules))
        self.assertIn("badge-[0-9]", self.on("b", "hub", "policy"))
        self.on("b", "session", "new", "--id", "s1")
        self.on("b", "add", "fact", "--session", "s1", "Ann has badge-1234")
        self.on("b", "add", "fact", "--session", "s1", "Bob has none")
        said = self.on("b", "sync")
        self.assertIn("pushed: 1 line and", said)
        self.assertIn("stays here: 1 line with secrets", said)
        self.on("b", "redact", "--all")
        self.assertIn("[REDACTED:badge]", self.log("b").decode())
        self.assertIn("pushed: 1 line\n", self.on("b", "sync"))
        self.on("a", "sync")
        self.assertEqual(self.log("a"), self.log("b"))
        rules.write_text("[[rules]]\nid = 'badge'\nregex = '('\n")
        self.assertIn("team.toml", self.on("a", "hub", "policy", str(rules), status=1))

    def test_the_tables_are_of_this_version(self):
        self.share("a")
        self.assertIn("already", self.on("a", "hub", "upgrade"))
        self.assertEqual(json.loads(self.on("b", "--json", "hub", "upgrade", "--service", "team"))["version"], 2)

    def test_slips_are_told(self):
        self.on("a", "init")
        self.assertIn("hub join", self.on("a", "sync", status=1))
        self.assertIn("--service NAME", self.on("a", "hub", "init", status=1))
        self.assertIn("E_HUB_AWAY", self.on("a", "hub", "join", "nowhere", "shop", status=1))
        self.on("a", "hub", "init", "--service", "team", "--project", self.project)
        self.assertIn("E_ACCESS_DENIED", self.on("a", "hub", "join", "team", "other", status=1))
        self.on("a", "hub", "join", "team", self.project)
        self.assertIn("already", self.on("a", "hub", "join", "team", self.project, status=1))
        self.on("a", "hub", "leave")
        self.on("a", "hub", "join", "team", self.project)
        self.assertEqual(len(json.loads(self.on("a", "--json", "hub", "status"))["replicas"]), 1)

    def test_without_the_helper_the_package_is_named(self):
        lone = self.folder / "bmad-mem"
        shutil.copy(TOOL, lone)
        done = subprocess.run(
            [str(lone), "hub", "join", "team", "shop"], cwd=self.folder / "a", env=self.environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("install the package bmad-mem-hub", done.stderr)


class Roles(HubTest):
    """Machine a is the owner's; b is that of a role with some rights."""

    def share_with(self, rights):
        """The role of machine b, which has joined; both have the entry f1."""
        self.share("a")
        role, self.as_b = self.new_role()
        self.on("a", "hub", "member", role, "--rights", rights)
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f1", "the canary")
        self.on("a", "sync")
        self.on_b("hub", "join", "team", self.project)
        return role

    def on_b(self, *arguments, status=0):
        return self.on("b", *arguments, status=status, environment=self.as_b)

    def test_verify_says_that_the_hub_has_not_heard_of_a_purge(self):
        role = self.share_with("write")
        said = self.on_b("forget", "--match", "canary", "--verify", "--yes", status=1)
        self.assertIn("not verified at the hub", said)
        self.assertIn("1 operation waits here, since this role may not purge and redact", said)
        self.assertIn("--rights forget", said)
        self.assertNotIn("no line is left", said)
        self.assertEqual(len(re.findall(r"(?m)^confirmed: ", said)), 0)
        self.assertEqual(len(re.findall(r"has not confirmed: ", said)), 2)
        said = self.on_b("--json", "delete", "--match", "canary", "--purge", "--verify", "--yes", status=1)
        last = json.loads(re.search(r"(?m)^.*verified_at_hub.*$", said)[0])["verified_at_hub"]
        self.assertEqual((last["reached"], last["left"], last["confirmed"]), (False, None, []))
        self.assertIn("hub member ROLE --rights forget", last["why_not"])
        self.on("a", "hub", "member", role, "--rights", "read")
        self.assertIn("this role may only read", self.on_b("purge", "--verify", "canary", status=1))
        self.on("a", "hub", "member", role, "--rights", "forget")
        self.on_b("sync")
        self.on("a", "sync")
        said = self.on_b("--json", "purge", "--verify", "canary")
        last = json.loads(re.search(r"(?m)^.*verified_at_hub.*$", said)[0])["verified_at_hub"]
        self.assertEqual((last["reached"], last["why_not"], last["left"]), (True, "", 0))

    def test_verify_says_so_while_a_session_waits(self):
        self.share_with("forget")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f2", "the soup")
        self.on("a", "session", "new", "--id", "s2")
        self.on("a", "add", "fact", "--session", "s2", "--id", "f3", "the garden")
        self.on("a", "sync")
        self.on_b("sync")
        log = self.folder / "b/.bmad/memory/sessions/s2/facts.jsonl"
        log.write_bytes(b"")
        said = self.on_b("forget", "--match", "canary", "--verify", "--yes", status=1)
        self.assertIn("not verified at the hub", said)
        self.assertIn("1 session waits here, as said before", said)

    def test_one_that_may_only_read_is_told_what_waits(self):
        role = self.share_with("read")
        said = self.on_b("add", "fact", "--session", "s1", "--id", "f2", "--wait-hub", "the soup", status=1)
        self.assertIn("E_ACCESS_DENIED: the entry is stored here, and the hub does not have it", said)
        self.assertIn("--rights write", said)
        waits = "1 line waits here, since this role may only read"
        self.assertIn(waits, self.on_b("sync"))
        self.assertIn("would push: 0 lines", self.on_b("sync", "--dry-run"))
        self.assertIn(waits, self.on_b("push", status=1))
        report = json.loads(self.on_b("--quiet", "--json", "sync"))
        self.assertEqual((report["rights"], report["waiting_lines"], report["waiting_operations"]), ("read", 1, 0))
        said = self.on_b("hub", "status")
        self.assertIn("waits to be pushed: 1 line, the oldest written", said)
        self.assertIn(waits, said)
        self.assertIn(f"{role} may read", said)
        status = json.loads(self.on_b("--quiet", "--json", "hub", "status"))
        self.assertEqual((status["rights"], status["unpushed_lines"], status["waiting_lines"]), ("read", 1, 1))
        with self.start("b", "sync", "--follow", environment=self.as_b) as follower:
            self.assertIn("pushed: 0 lines", follower.stdout.readline() + follower.stdout.readline())
            follower.send_signal(signal.SIGTERM)
            self.assertEqual(follower.wait(TIMEOUT_S), 0)
        self.on("a", "hub", "member", role)  # The default is to write.
        self.assertIn("pushed: 1 line", self.on_b("sync"))
        self.on_b("add", "fact", "--session", "s1", "--id", "f3", "--wait-hub", "the garden")
        self.on("a", "pull")
        self.assertEqual(self.ids("a"), ["f1", "f2", "f3"])

    def test_wait_hub_looks_for_what_it_has_added(self):
        self.share("a")
        self.on("a", "session", "new", "--id", "s1")
        self.on("a", "add", "fact", "--session", "s1", "--id", "f1", "one")
        said = self.on("a", "add", "fact", "--session", "s1", "--sensitive", "--wait-hub", "mine", status=1)
        self.assertIn("the hub did not get it", said)  # It got the other one.
        self.on("a", "add", "fact", "--session", "s1", "--id", "f2", "--wait-hub", "two")

    def test_rights_are_given_where_nothing_has_joined(self):
        role, as_role = self.new_role()
        (self.folder / "c/sub").mkdir()
        made = self.on("c/sub", "hub", "init", "--service", "team", "--project", self.project)
        line = re.search(r"`bmad-mem (hub member ROLE [^`]*)`", made)[1].replace("ROLE", role)
        self.assertIn("may write", self.on("c/sub", *line.split()))
        self.assertIn("--service NAME", self.on("c/sub", "hub", "member", role, status=1))
        self.on("c", "init")
        self.on("c", "config", "set", "hub.service", "team")
        self.on("c", "config", "set", "hub.project", self.project)
        self.assertIn("may read", self.on("c", "hub", "member", role, "--rights", "read"))
        self.on("b", "hub", "join", "team", self.project, environment=as_role)

    def test_rights_are_taken_away(self):
        role = self.share_with("write")
        self.assertIn("is no member any more", self.on("a", "hub", "member", role, "--rights", "none"))
        self.assertNotIn(f"{role} may", self.on("a", "hub", "status"))
        said = self.on_b("sync", status=1)
        self.assertIn(f"the hub has no project '{self.project}', or this role may not see it", said)
        self.assertIn("bmad-mem hub member ROLE --rights write", said)
        self.assertIn("has no rights", self.on("a", "hub", "member", role, "--rights", "none", status=1))
        self.assertIn("rights are read", self.on("a", "hub", "member", "owner", "--rights", "", status=1))
        for rights in ("none", "write"):
            said = self.on("a", "hub", "member", "owner", "--rights", rights, status=1)
            self.assertIn("is the last admin", said)
        self.on("a", "hub", "member", role, "--rights", "admin")
        self.on("a", "hub", "member", "owner", "--rights", "none")
        self.assertIn("only who owns the tables may", self.on_b("hub", "member", role, status=1))

    def test_a_role_without_rights_is_told_who_gives_some(self):
        self.share("a")
        _, as_role = self.new_role()
        for words in (["hub", "join", "team", self.project], ["hub", "policy", "--service", "team"]):
            said = self.on("b", *words, status=1, environment=as_role)
            self.assertIn("E_ACCESS_DENIED", said)
            self.assertIn("an admin gives rights with `bmad-mem hub member ROLE --rights write`", said)

    def run_as(self, role, statement):
        self.server.run("psql", "-h", str(self.server.folder), "-p", str(self.server.port), "-U", role, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", statement)

    def test_one_role_stops_nobody_by_what_it_writes(self):
        role = self.share_with("write")
        for refused in (
            "insert into bmad.entry (project, seq, replica, session, log, op, entry_id, line) select p.project, p.head + 1, r.replica, 's1', 4, 0, 't1', 'x' "
            "from bmad.project p join bmad.replica r using (project) limit 1",
            "update bmad.project set head = 9223372036854775807",
            "update bmad.entry set line = null where op = 6",
        ):
            with self.assertRaises(subprocess.CalledProcessError, msg=refused):
                self.run_as(role, refused)
        self.run_as(
            role,
            "select bmad.push(r.project, r.replica, r.pushed, null, 2, '{s1}', '{4}', '{0}', '{0}', '{t1}', array['garbage']::bytea[]) "
            "from bmad.replica r where r.who = current_user",
        )
        self.on_b("add", "fact", "--session", "s1", "--id", "f2", "the soup")
        self.assertIn("pushed: 1 line", self.on_b("sync"))
        said = self.on("a", "sync")
        self.assertIn("skipped: 1 row of the feed", said)
        self.assertRegex(said, rf"(?m)^\d+  {role}  s1  it is no entry of facts.jsonl$")
        self.assertEqual(self.ids("a"), ["f1", "f2"])
        self.on("c", "hub", "join", "team", self.project)
        self.assertEqual(self.ids("c"), ["f1", "f2"])
        self.on("a", "hub", "reclone")
        rows = json.loads(self.on("a", "--json", "hub", "rows"))["rows"]
        self.assertEqual([(row["who"], row["session"]) for row in rows], [(role, "s1")])
        self.assertIn("can be applied", self.on("a", "hub", "rows", "--drop", "1", status=1))
        drop = ("hub", "rows", "--drop", str(rows[0]["seq"]))
        self.assertIn("only an admin of the project drops rows", self.on_b(*drop, status=1))
        self.on("a", *drop)
        self.assertEqual(self.on("b", "hub", "rows", environment=self.as_b), "")
        self.on("c", "sync")
        self.assertIn("E_INVALID_FORMAT", self.on("a", "hub", "member", "pg_read_all_data", status=1))

    def test_a_replica_that_is_none_is_not_dropped(self):
        self.share("a")
        for name in ("00000000-0000-0000-0000-000000000000", "laptop"):
            said = self.on("a", "hub", "replica", "--drop", name, status=1)
            self.assertIn("E_SESSION_NOT_FOUND", said)
            self.assertIn(f"the hub has no replica '{name}'; `bmad-mem hub replica` lists", said)


if __name__ == "__main__":
    main()
