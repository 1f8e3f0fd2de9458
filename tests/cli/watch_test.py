#!/usr/bin/env python3
"""`watch` beside processes that write: every entry once, whatever happens to the logs."""

import json
import signal
import subprocess

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main


class WatchTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("init")
        self.run_tool("session", "new", "--id", "s1")

    @staticmethod
    def leave(watch):
        watch.kill()
        watch.wait()
        for stream in (watch.stdout, watch.stderr):
            if stream is not None:
                stream.close()

    def start(self, *arguments):
        watch = subprocess.Popen(
            [str(TOOL), *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.leave, watch)
        self.assertIn("watching", watch.stderr.readline())
        return watch

    def start_json(self, *arguments):
        """--json says nothing on stderr; an entry tells that it watches."""
        self.run_tool("add", "fact", "--session", "s1", "--id", "first", "--content", "x")
        watch = subprocess.Popen(
            [str(TOOL), "--json", "watch", "--last", "1", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.leave, watch)
        self.assertEqual(json.loads(watch.stdout.readline())["id"], "first")
        return watch

    def add(self, entry_id, session="s1"):
        self.run_tool("add", "fact", "--session", session, "--id", entry_id, "--content", "x")

    def end(self, watch, number=signal.SIGINT):
        watch.send_signal(number)
        rest, _ = watch.communicate(timeout=TIMEOUT_S)
        self.assertEqual(watch.returncode, 0)
        return rest

    def test_entries_of_other_processes_appear_as_they_are_written(self):
        watch = self.start("watch")
        self.add("a")
        self.assertRegex(watch.stdout.readline(), r"^\d{4}-\d\d-\d\d \d\d:\d\d  fact .* x  a$")
        self.run_tool("session", "new", "--id", "s2")
        self.add("b", "s2")
        self.assertTrue(watch.stdout.readline().endswith("  b\n"))
        self.assertEqual(self.end(watch), "")

    def test_a_query_chooses_among_what_is_new(self):
        watch = self.start("watch", "--query", "+ledgers -draft", "--type", "fact")
        add = ("add", "fact", "--session", "s1", "--id")
        self.run_tool(*add, "a", "--content", "Nothing of the kind")
        self.run_tool(*add, "b", "--content", "A ledger, as a draft")
        self.run_tool("add", "decision", "--session", "s1", "--id", "c", "--decision", "One ledger")
        self.run_tool(*add, "d", "--content", "The ledger is in PostgreSQL")
        self.assertTrue(watch.stdout.readline().endswith("  The ledger is in PostgreSQL  d\n"))
        self.assertEqual(self.end(watch), "")

    def test_rewrites_print_nothing_twice(self):
        watch = self.start_json()
        self.add("a")
        self.assertEqual(json.loads(watch.stdout.readline())["id"], "a")
        self.run_tool("compact", "--session", "s1", "--keep", "100")
        self.run_tool("delete", "first")
        self.run_tool("rebuild-index")
        self.add("b")
        self.assertEqual(json.loads(watch.stdout.readline())["id"], "b")
        self.assertEqual(self.end(watch, signal.SIGTERM), "")

    def test_it_ends_after_as_many_as_were_asked_for(self):
        watch = self.start("watch", "--count", "2", "--type", "fact")
        self.run_tool("add", "event", "--session", "s1", "--kind", "k", "--content", "not a fact")
        self.add("a")
        self.add("b")
        out, _ = watch.communicate(timeout=TIMEOUT_S)
        self.assertEqual(watch.returncode, 0)
        self.assertEqual([line.split()[-1] for line in out.splitlines()], ["a", "b"])

    def test_a_reader_that_goes_ends_it(self):
        watch = self.start("watch")
        watch.stdout.close()
        self.add("a")
        self.assertEqual(watch.wait(timeout=TIMEOUT_S), 141)

    def test_time_runs_out(self):
        self.assertEqual(self.run_tool("--quiet", "watch", "--for", "0"), "")
        self.run_tool("watch", "--for", "soon", status=1)


if __name__ == "__main__":
    main()
