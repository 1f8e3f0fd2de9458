#!/usr/bin/env python3
"""Many machines at once, one that was away for long, and a hub that has lost rows.

    hub_fleet_test.py TOOL                  a few machines
    hub_fleet_test.py TOOL --slow Fleet...  eight; 10,000 entries on both sides
"""

import json
import random
import signal
import sys
import threading
import time
import unittest

from hub_under_test import HubTest, setUpModule, tearDownModule
from tool_under_test import TIMEOUT_S, main

SLOW = "--slow" in sys.argv
WORDS = "heron lake boat canteen soup harbour kestrel tide lantern bridge anchor willow ferry marsh reed gull".split()
SHARED = ["shared1", "shared2"]  # Entries that all machines change.
LATER = {"BMAD_MEM_NOW": "2031-01-01T00:00:00Z"}


class Writer(threading.Thread):
    """What the agents of one machine do: each command of its own process, while a sync follows."""

    def __init__(self, test, machine, count, seed):
        super().__init__()
        self.test = test
        self.machine = machine
        self.count = count
        self.random = random.Random(f"{seed} {machine}")
        self.versions = {}  # How many lines each id has; 0 when it was purged or deleted.
        self.failures = []

    def run(self):
        try:
            for number in range(self.count):
                self.act(number)
        except Exception as failure:  # pylint: disable=broad-except; the test raises it again.
            self.failures.append(failure)

    def act(self, number):
        text = " ".join(self.random.choices(WORDS, k=6))
        own = [name for name, count in self.versions.items() if count > 0]
        choice = self.random.random()
        if choice < 0.1:
            self.test.on(self.machine, "edit", self.random.choice(SHARED), text)
        elif own and choice < 0.15:
            name = self.random.choice(own)
            self.test.on(self.machine, "edit", name, text)
            self.versions[name] += 1
        elif own and choice < 0.3:
            name = self.random.choice(own)
            self.test.on(self.machine, "delete", name, "--yes", *(["--purge"] if choice < 0.2 else []))
            self.versions[name] = 0
        else:
            names = [f"{self.machine}x{number}x{i}" for i in range(self.random.randint(1, 3))]
            session = f"s{self.random.randint(1, 3)}"
            self.test.add(self.machine, *names, session=session, content=text)
            self.versions.update(dict.fromkeys(names, 1))


class Fleet(HubTest):
    def make_fleet(self, count):
        machines = [f"m{i}" for i in range(count)]
        for machine in machines:
            (self.folder / machine).mkdir()
        self.on("m0", "init")
        for number in (1, 2, 3):
            self.on("m0", "session", "new", "--id", f"s{number}")
        self.add("m0", *SHARED)
        self.share(*machines)
        return machines

    def check_newest_leads(self, name):
        """Of the versions that many machines have made."""
        lines = [json.loads(line) for line in self.log("m0").splitlines()]
        times = [line.get("updated_at", line["timestamp"]) for line in lines if line["id"] == name]
        self.assertEqual(times[-1], max(times), name)

    def versions(self, machine):
        """How many lines each id has."""
        counts = {}
        for path in (self.folder / machine / ".bmad/memory/sessions").glob("*/facts.jsonl"):
            for line in path.read_bytes().splitlines():
                name = json.loads(line)["id"]
                counts[name] = counts.get(name, 0) + 1
        return counts

    def check_all_equal(self, machines):
        logs = self.logs(machines[0])
        for machine in machines[1:]:
            self.assertEqual(self.logs(machine), logs, machine)

    def crash_server(self):
        """As when the power fails, and comes back."""
        self.server.stop()
        self.server.start()

    def fleet_converges(self, machine_count, action_count, query_count, crash_count):
        seed = random.randrange(1 << 30) if SLOW else 1
        machines = self.make_fleet(machine_count)
        outputs = [(self.folder / f"{name}.txt").open("w+") for name in machines]
        followers = [self.start(name, "sync", "--follow", stdout=out) for name, out in zip(machines, outputs)]
        writers = [Writer(self, name, action_count, seed) for name in machines]
        try:
            for writer in writers:
                writer.start()
            for _ in range(crash_count):
                self.crash_server()
                time.sleep(1)  # They go on meanwhile, with a hub and without one.
            for writer in writers:
                writer.join()
        finally:
            for follower in followers:
                follower.send_signal(signal.SIGTERM)
            ended = [follower.wait(TIMEOUT_S) for follower in followers]
        said = [(out.seek(0), out.read(), out.close())[1] for out in outputs]
        for writer in writers:
            self.assertEqual(writer.failures, [], f"seed {seed}")
        self.assertEqual(ended, [0] * machine_count, f"seed {seed}: {said}")
        for machine in machines * 2:
            self.on(machine, "sync")
        with self.subTest(seed=seed):
            self.check_all_equal(machines)
            expected = {}
            for writer in writers:
                expected.update({name: count for name, count in writer.versions.items() if count})
            found = self.versions(machines[0])
            self.assertEqual({name: count for name, count in found.items() if name not in SHARED}, expected)
            for name in SHARED:
                self.check_newest_leads(name)
            self.ask_all(machines, query_count, random.Random(seed))

    def ask_all(self, machines, count, chance):
        """All have the same answers, with the numbers behind them."""
        for name in machines:  # Else a statement of one's own is shown instead of a newer one of others.
            self.on(name, "trust", "--yes")
        hits = 0
        for _ in range(count):
            words = " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))
            answers = [self.on(name, "--json", "query", words, "--explain", environment=LATER) for name in machines]
            self.assertEqual(answers, [answers[0]] * len(answers), words)
            hits += answers[0].count("\n")
        self.assertGreater(hits, count)

    def test_followers_and_writers_end_equal(self):
        self.fleet_converges(3, 8, 20, 1)

    @unittest.skipUnless(SLOW, "takes minutes")
    def test_eight_followers_and_writers_end_equal(self):
        self.fleet_converges(8, 30, 100, 8)

    def test_a_hub_that_was_restored_from_a_backup_gets_back_what_it_lost(self):
        self.on("a", "init")
        self.on("a", "session", "new", "--id", "s1")
        self.add("a", *(f"f{i}" for i in range(6)))
        self.on("a", "session", "new", "--id", "s2")
        self.add("a", "of-s2", session="s2")
        self.share("a", "b", "c")
        self.server.stop("fast")
        self.server.dump("backup")
        self.server.start()
        self.add("a", "g1", "g2")
        self.add("b", "g3")
        self.on("a", "delete", "f1", "--yes")
        self.on("b", "delete", "f2", "--purge", "--yes")
        self.on("b", "session", "delete", "s2", "--yes")
        for machine in ("a", "b", "a", "c"):
            self.on(machine, "sync")
        self.check_all_equal(["a", "b", "c"])
        self.server.stop("fast")
        self.server.restore("backup")
        self.server.start()
        before = {name: self.logs(name) for name in "abc"}
        for machine in ("a", "b", "c"):
            told = self.on(machine, "sync", status=1)
            self.assertIn("restored from a backup", told)
            self.assertIn("bmad-mem hub repush", told)
        self.assertEqual({name: self.logs(name) for name in "abc"}, before)
        self.add("b", "g4")  # Memories go on.
        self.on("a", "hub", "repush")
        self.on("b", "hub", "repush")
        self.on("c", "hub", "reclone")
        (self.folder / "d").mkdir()
        self.on("d", "hub", "join", "team", self.project)
        for machine in ("a", "b", "c", "d") * 2:
            self.on(machine, "sync")
        self.check_all_equal(["a", "b", "c", "d"])
        counts = self.versions("d")
        self.assertEqual(counts, dict.fromkeys(("f0", "f3", "f4", "f5", "g1", "g2", "g3", "g4"), 1))

    def test_a_restored_hub_is_noticed_when_others_have_pushed_since(self):
        self.on("a", "init")
        self.on("a", "session", "new", "--id", "s1")
        self.add("a", "f1")
        self.share("a", "b", "c")
        self.server.stop("fast")
        self.server.dump("backup")
        self.server.start()
        self.add("a", "lost")
        self.on("a", "sync")
        self.on("b", "sync")  # It has what the hub will have lost, and has pushed nothing.
        self.server.stop("fast")
        self.server.restore("backup")
        self.server.start()
        self.add("c", "h1", "h2", "h3")
        self.on("c", "sync")  # It knows nothing of it.
        self.assertIn("bmad-mem hub repush", self.on("b", "sync", status=1))
        self.assertIn("bmad-mem hub repush", self.on("a", "sync", status=1))
        self.on("b", "hub", "repush")
        self.on("a", "hub", "repush")
        for machine in ("a", "b", "c") * 2:
            self.on(machine, "sync")
        self.check_all_equal(["a", "b", "c"])
        self.assertEqual(self.versions("a"), dict.fromkeys(("f1", "lost", "h1", "h2", "h3"), 1))

    def apart(self, count):
        """An hour without a hub, with so many new entries on both sides; old ones change on both."""
        self.on("a", "init")
        self.on("a", "session", "new", "--id", "s1")
        self.add("a", *(f"f{i}" for i in range(60)))
        self.share("a", "b")
        for machine, minute in (("a", 10), ("b", 40)):
            clock = {"BMAD_MEM_NOW": f"2030-01-01T10:{minute}:00Z"}
            lines = "".join(
                json.dumps({"id": f"{machine}{i}", "content": f"{WORDS[i % 16]} {i}"}) + "\n" for i in range(count)
            )
            self.on(machine, "add", "fact", "--session", "s1", "-", stdin=lines, environment=clock)
            for number in (1, 2, 3, 4):
                self.on(machine, "edit", f"f{number}", f"changed on {machine}", environment=clock)
        self.on("a", "delete", "f10", "f11", "f12", "--yes")
        self.on("b", "delete", "f12", "f13", "--yes")
        self.on("a", "delete", "f20", "f21", "f1", "a7", "--purge", "--yes")
        self.on("b", "delete", "f21", "f22", "b7", "--purge", "--yes")
        self.on("b", "delete", "f2", "--yes")  # The version that a has made stays.
        for machine in ("b", "a", "b", "a"):
            self.on(machine, "sync")

    def check_together(self, count):
        self.check_all_equal(["a", "b"])
        counts = self.versions("a")
        for name in ("f10", "f11", "f12", "f13", "f20", "f21", "f22", "f1", "a7", "b7"):
            self.assertNotIn(name, counts)
        for machine in ("a", "b"):
            once = [f"{machine}{i}" for i in range(count) if i != 7]
            self.assertEqual([name for name in once if counts.get(name) != 1], [])
            versions = [line for line in self.log(machine).splitlines() if b'"id":"f3"' in line]
            self.assertIn(b"changed on b", versions[-1])  # The newer one.
            order = [name for name in self.ids(machine) if name[0] == "b"]
            self.assertEqual(order, [f"b{i}" for i in range(count) if i != 7])
            self.on(machine, "verify")

    def test_two_that_were_apart_end_equal(self):
        self.apart(20)
        self.check_together(20)

    @unittest.skipUnless(SLOW, "takes long")
    def test_two_that_were_apart_for_10000_entries_end_equal(self):
        self.apart(10_000)
        self.check_together(10_000)


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--slow"]
    main()
