#!/usr/bin/env python3
"""Machines that share a memory over a network that breaks, and what must not travel by it.

    hub_network_test.py TOOL                    samples
    hub_network_test.py TOOL --slow Network...  each place of a conversation; the longest wait
"""

import json
import subprocess
import sys
import time
import unittest

from hub_under_test import HubTest, setUpModule, tearDownModule
from tcp_proxy import DOWN, UP, Proxy
from tool_under_test import SOURCE, main

SLOW = "--slow" in sys.argv
PUSH = b"select bmad.push("  # Words of the statement that pushes.


def secrets():
    """The first example of each rule that has one word, without the dots that hide them."""
    texts = []
    for line in (SOURCE / "tests/privacy/rule_examples.txt").read_text(encoding="utf-8").split("\n\n"):
        found = [row[10:].replace("·", "") for row in line.splitlines() if row.startswith("  finds   ")]
        if found and not set(found[0]) & set(" \"'<>=&;,\\"):
            texts.append(found[0])
    return texts[:60]


class Network(HubTest):
    def setUp(self):
        super().setUp()
        self.share("a", "b")
        self.on("a", "session", "new", "--id", "s1")
        self.add("a", "first")
        self.on("a", "sync")
        self.on("b", "sync")

    def sync_by(self, proxy, *words):
        """The exit status of a sync of a by this way, and what it prints. It ends soon, and says why."""
        begun = time.monotonic()
        status, text = self.run_on("a", *(words or ("sync",)), environment=self.through(proxy.port))
        self.assertLess(time.monotonic() - begun, 60, text)
        if status != 0:
            self.assertEqual(status, 1)
            self.assertIn("E_HUB_AWAY", text)
        return status, text

    def both_change(self, number):
        """New lines on both machines, a version, a deletion and a purge; what b did is at the hub."""
        self.add("a", *(f"a{number}x{i}" for i in range(3)))
        self.add("b", *(f"b{number}x{i}" for i in range(2)))
        if number > 0:
            kind = number % 3
            if kind == 0:
                self.on("a", "edit", f"a{number - 1}x0", f"changed in round {number}")
            else:
                self.on("a", "delete", f"a{number - 1}x{kind}", *(["--purge"] if kind == 2 else []), "--yes")
        self.on("b", "sync")

    def check_ended_equal(self, rounds):
        """Both have each line once, but what was changed twice, and what was deleted never."""
        for machine in ("b", "a", "b"):
            self.on(machine, "sync")
        self.assertEqual(self.logs("a"), self.logs("b"))
        expected = {"first": 1}
        for number in range(rounds):
            expected.update({f"b{number}x{i}": 1 for i in range(2)})
            expected.update({f"a{number}x{i}": 1 for i in range(3)})
            if number > 0:
                expected[f"a{number - 1}x{number % 3}"] = 2 if number % 3 == 0 else 0
        ids = self.ids("a")
        self.assertEqual({name: ids.count(name) for name in expected}, expected)
        self.assertEqual(set(ids), {name for name, count in expected.items() if count})
        for machine in ("a", "b"):
            self.on(machine, "verify")

    def cut_everywhere(self, count):
        """Cuts the conversation at so many places, each in one of its own; each fourth compares a session again."""
        with Proxy(self.server.port) as whole:
            self.both_change(0)
            self.assertEqual(self.sync_by(whole)[0], 0)
        sizes = [len(whole.recorded[UP]), len(whole.recorded[DOWN])]
        broken = 0
        for number in range(1, count + 1):
            way = number % 2
            place = sizes[way] * (number - 1) // count
            self.both_change(number)
            with self.subTest(way=way, place=place), Proxy(self.server.port, cut=(way, place)) as proxy:
                broken += self.sync_by(proxy, *(("hub", "reclone", "s1") if number % 4 == 3 else ()))[0]
            self.on("a", "sync")
            self.assertEqual(len(self.ids("a")), len(set(self.ids("a"))) + number // 3, place)
        self.assertGreater(broken, count * 3 // 4)
        self.check_ended_equal(count + 1)

    def test_a_cut_anywhere_loses_and_doubles_nothing(self):
        self.cut_everywhere(10)

    @unittest.skipUnless(SLOW, "takes minutes")
    def test_a_cut_at_each_of_many_places_loses_and_doubles_nothing(self):
        self.cut_everywhere(400)

    def test_an_answer_that_is_lost_after_the_commit_doubles_nothing(self):
        self.both_change(0)
        with Proxy(self.server.port, loses_answer_to=PUSH) as proxy:
            self.assertEqual(self.sync_by(proxy)[0], 1)
        self.on("b", "sync")
        self.assertIn("a0x2", self.ids("b"))  # It was committed.
        self.assertIn("pushed: 0 lines", self.on("a", "sync"))
        self.check_ended_equal(1)

    def test_one_direction_that_ends_is_a_hub_that_is_away(self):
        for number, (way, size) in enumerate(((UP, 2500), (DOWN, 700))):
            self.both_change(number)
            with self.subTest(way=way, size=size), Proxy(self.server.port, half_close=(way, size)) as proxy:
                self.assertEqual(self.sync_by(proxy)[0], 1)
            self.on("a", "sync")
        self.check_ended_equal(2)

    def test_a_slow_way_is_a_way(self):
        self.both_change(0)
        with Proxy(self.server.port, delay_s=0.02) as proxy:
            self.assertEqual(self.sync_by(proxy)[0], 0)
        self.check_ended_equal(1)

    def test_a_server_that_never_greets_is_away(self):
        self.both_change(0)
        before = self.logs("a")
        with Proxy(self.server.port, is_mute=True) as proxy:
            self.assertEqual(self.sync_by(proxy)[0], 1)
        self.assertEqual(self.logs("a"), before)
        self.check_ended_equal(1)

    @unittest.skipUnless(SLOW, "waits for half a minute")
    def test_a_server_that_answers_too_late_is_away(self):
        self.both_change(0)
        before = self.logs("a")
        with Proxy(self.server.port, delay_s=35) as proxy:
            self.assertEqual(self.sync_by(proxy)[0], 1)
        self.assertEqual(self.logs("a"), before)
        self.check_ended_equal(1)

    def test_no_secret_leaves_a_machine(self):
        planted = secrets()
        self.assertGreater(len(planted), 40)
        self.on("a", "config", "set", "privacy.auto_redaction", "false")
        self.on("a", "trust", "--yes")
        lines = ""
        for number, text in enumerate(planted):
            places = (
                {"content": f"see {text} there"},
                {"content": "x", "tags": ["a", text]},
                {"content": "x", "metadata": {"tool": {"arguments": ["-k", text]}}},
                {"content": json.dumps({"nested": text})},
            )
            lines += json.dumps({"id": f"p{number}", **places[number % 4]}) + "\n"
        self.on("a", "add", "fact", "--session", "s1", "-", stdin=lines)
        kept = self.log("a").decode()
        self.assertEqual([text for text in planted if json.dumps(text)[1:-1] not in kept], [])  # It is off.
        self.add("a", "plain", content="the heron")
        self.add("a", "private", content="the kestrel", sensitive=True)
        self.add("a", "outside", content="the osprey", outside_workspace=True)
        self.on("a", "session", "new", "--id", "s2")
        self.on("a", "session", "set", "s2", "--meta", "local=true")
        self.add("a", "home", session="s2", content="the bittern")
        with Proxy(self.server.port) as proxy:
            report = json.loads(self.on("a", "--json", "sync", environment=self.through(proxy.port)))
        self.assertEqual(report["held"]["secrets"], len(planted))
        self.assertEqual((report["held"]["sensitive"], report["held"]["local"]), (2, 1))
        sent = bytes(proxy.recorded[UP])
        self.assertIn(b"the heron", sent)
        for text in (*planted, "kestrel", "osprey", "bittern"):
            for form in forms(text):
                self.assertNotIn(form, sent, text[:8])
        self.on("b", "sync")
        self.assertIn("plain", self.ids("b"))
        self.assertEqual([name for name in self.ids("b") if name[0] == "p" and name != "plain"], [])


def forms(text):
    """The bytes of the text as a statement may have them."""
    raw = text.encode()
    return raw, raw.hex().encode(), raw.hex().upper().encode(), json.dumps(text)[1:-1].encode(), raw.decode().encode("utf-16-le")


class DeadHub(HubTest):
    """Only the commands of a hub look for one."""

    def test_other_commands_make_no_connection(self):
        self.share("a")
        self.on("a", "session", "new", "--id", "s1")
        self.add("a", "f1", content="the canteen closes at two")
        cwd = str(self.folder / "a")
        prompt = {"session_id": "c1", "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": "canteen?"}
        started = {"session_id": "c1", "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup"}
        ended = {"session_id": "c1", "cwd": cwd, "hook_event_name": "SessionEnd", "reason": "exit"}
        begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        calls = (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        )
        commands = (
            (("add", "fact", "--session", "s1", "it has soup"), ""),
            (("query", "canteen"), ""),
            (("get", "f1"), ""),
            (("list",), ""),
            (("delete", "f1", "--yes"), ""),
            (("stats",), ""),
            (("verify",), ""),
            (("maintain",), ""),
            (("context",), ""),
            (("hook", "claude-code"), json.dumps(started)),
            (("hook", "claude-code"), json.dumps(prompt)),
            (("hook", "claude-code"), json.dumps(ended)),
            (("mcp",), "".join(json.dumps(call) + "\n" for call in calls)),
        )
        with Proxy(self.server.port, is_mute=True) as proxy:
            for words, stdin in commands:
                with self.subTest(words=words):
                    self.on("a", *words, stdin=stdin, environment=self.through(proxy.port))
                    self.assertEqual(proxy.accepted, 0)
            self.on("a", "sync", status=1, environment=self.through(proxy.port))
            self.assertGreater(proxy.accepted, 0)  # It counts.


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--slow"]
    main()
