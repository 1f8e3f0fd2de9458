#!/usr/bin/env python3
"""The benchmarks that ask a probe, in small: each row is measured, and nothing is left behind. Skipped without a probe.

Usage: probe_test.py TOOL [TEST]...
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

from bench_memory import table
from bench_rows import Answer, Bench, rate_of

TOOL = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path()
HERE = pathlib.Path(__file__).parent
SMALL = ("--effort", "0.001")


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_bench(self, name, *arguments, status=0):
        done = subprocess.run([sys.executable, "-B", HERE / f"{name}.py", "--tool", TOOL, "--dir", self.folder, *arguments],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def measured(self, name, *arguments):
        report = json.loads(self.run_bench(name, "--json", *SMALL, *arguments, status=self.status).stdout)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertIn("cpu", report["environment"])
        self.assertIn("build", report["environment"])
        self.assertIn(f"effort {SMALL[1]}", report["environment"]["data"])
        for row in report["rows"]:
            # A library that is not part of this build; nothing else may be missing.
            self.assertTrue(row.get("problem", "").startswith("not built in") or row["ours"]["count"] >= 1, row)
        return report, {row["what"] for row in report["rows"] if "problem" not in row}

    @property
    def status(self):
        return int(any(kind not in self.peers() for kind in ("FTS5", "Xapian")) and self.asks_others)

    asks_others = False

    def peers(self):
        with Bench(types.SimpleNamespace(tool=TOOL), self.folder).probe() as probe:
            return probe.ask("facts").peers

    def test_store_measures_every_row(self):
        _, rows = self.measured("store")
        self.assertLessEqual(
            {"durable append, 300 bytes, one writer", "CPU of that append above raw", "eight processes appending to one session",
             "eight threads appending to one session", "the limit: eight processes, raw appends", "batches of 100 entries, durable",
             "scan 10 MB log, all fields checked: verify()", "scan 10 MB log: statistics()", "scan 10 MB of all types: verify()",
             "lock: most / least turns of eight processes", "lock: time-out of 200 ms, how late", "CPU: parse, check and complete an entry",
             "CPU: read an RFC 3339 time"}, rows)

    def test_search_measures_every_row(self):
        self.asks_others = True
        report, rows = self.measured("search", "--bytes", "300K")
        self.assertGreater(report["entries"], 400)
        self.assertLessEqual({"warm query, whole form, p95", "longest of 1,000 appends to a full session, CPU",
                              "warm query while another process appends, p50", "import in batches of 256, sealed at the end"}, rows)
        for kind in self.peers():
            self.assertIn(f"overlap of the 20 best with {kind}", rows)

    def test_redact_measures_every_row(self):
        _, rows = self.measured("redact")
        self.assertLessEqual({"messages of the corpus, all rules", "one text of 400 bytes", "twice as much of aaaa"}, rows)

    def test_wrong_usage_is_told_from_failure(self):
        for name in ("store", "search", "redact"):
            self.assertIn("groups of rows:\n", self.run_bench(name, "--help").stdout)
            self.run_bench(name, "--no-such-option", status=2)
        self.assertIn("there are: redact", self.run_bench("redact", "--filter", "nothing-is-called-this", status=1).stderr)
        self.run_bench("redact", "--dir", "/nowhere/at/all", status=1)
        self.run_bench("corpus", status=2)

    def test_a_corpus_has_the_indexes_of_others(self):
        out = self.folder / "corpus"
        said = [json.loads(self.run_bench("corpus", "--bytes", "50K", "--out", out).stdout) for _ in range(2)]
        self.assertEqual(*said)
        self.assertGreater(said[0]["entries"], 50)
        for kind, index in (("fts5", "fts5.db"), ("xapian", "xapian")):
            self.assertEqual((out / index).exists(), kind in map(str.lower, self.peers()))
            if (out / index).exists():
                found = subprocess.run([TOOL.parent / f"bmad_bench_{kind}", out / index, *said[0]["queries"][0].split()],
                                       capture_output=True, text=True, check=True).stdout.split()
                self.assertTrue(found and max(map(int, found)) <= said[0]["entries"])
        self.run_bench("corpus", "--bytes", "50K", "--out", out, "--seed", "2", status=1)


class Probes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bench = Bench(types.SimpleNamespace(tool=TOOL), self.folder)

    def test_a_step_is_repeated_so_often_or_so_long_by_so_many_threads(self):
        with self.bench.probe() as probe:
            path = self.folder / "raw"
            self.assertEqual(len(probe.ask("raw", path=str(path), size=10, times=3).ms), 3)
            self.assertEqual(path.read_bytes(), b"xxxxxxxxx\n" * 3)
            answer = probe.ask("facts", seconds=0.01, threads=2)
            self.assertGreaterEqual(answer.end - answer.begin, 0.01)
            self.assertGreater(len(answer.ms), 2)
            self.assertGreater(answer.cpu_ms, 0)

    def test_what_goes_wrong_is_told_and_the_probe_lives_on(self):
        with self.bench.probe() as probe:
            for step, error in ((("open", {"root": "/nowhere"}), "/nowhere"), (("fly", {}), "no such step"), (("best", {"peer": "none"}), "")):
                with self.assertRaisesRegex(AssertionError, error):
                    probe.ask(step[0], **step[1])
            self.assertRegex(probe.ask("facts").build, r"\d")
            with self.assertRaisesRegex(AssertionError, "wrong"):  # A file has another number of lines.
                probe.ask("lines", path=str(HERE / "probe_test.py"), lines=1)


class Arithmetic(unittest.TestCase):
    def test_the_rate_of_several_is_from_the_first_begin_to_the_last_end(self):
        answers = [Answer({"begin": 1.0, "end": 2.0, "cpu_ms": 4, "ms": [500, 500]}), Answer({"begin": 1.5, "end": 3.0, "cpu_ms": 0, "ms": [1, 1, 1, 1]})]
        self.assertEqual(rate_of(answers), 3)
        self.assertEqual((answers[0].rate, answers[0].cpu_us), (2, 2000))

    def test_an_aligned_table_has_lines_of_one_width(self):
        said = table([{"what": "≥ 0.8 ×", "ours": 1.0}, {"what": "x", "ours": 12345.0}], aligned=True)
        self.assertEqual(len({len(line) for line in said.splitlines()}), 1)


if __name__ == "__main__":
    if not (TOOL.parent / "bmad-bench").exists():
        print("skipped: there is no bmad-bench beside the tool; ./dev bench builds it")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
