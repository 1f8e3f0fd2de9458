#!/usr/bin/env python3
"""The corpus: that it is what it was when numbers were written down, and that the shipped program keeps all of it.

Usage: corpus_test.py TOOL [TEST]...
"""

import argparse
import collections
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

from bench_memory import BadData
from bench_rows import Bench, byte_count
from corpus import make, write
from corpus_entries import PREFIXES, Corpus, draw_queries, plain_words, text_for_others
from corpus_text import Random, Zipf, count_tokens, with_ending

TOOL = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else ""
SIZE = 300_000


def first(count, seed=1):
    return list(itertools.islice(Corpus(seed), count))


class Entries(unittest.TestCase):
    def test_a_seed_makes_the_same_corpus_on_every_machine(self):
        # Who changes the generator changes every number measured on it: then this changes, too, and what
        # docs/benchmarks.md shows must be measured anew.
        sizes = itertools.accumulate(len(entry.line.encode()) + 1 for entry in first(600))
        count = sum(size <= SIZE for size in sizes)
        known = 0xCBF29CE484222325  # FNV-1a over all lines.
        for byte in "".join(entry.line + "\n" for entry in first(count)).encode():
            known = (known ^ byte) * 0x100000001B3 & (1 << 64) - 1
        self.assertEqual((count, hex(known)), (498, "0x4acfd75ca868c25d"))
        self.assertNotEqual(first(1), first(1, seed=2))

    def test_it_has_every_type_newer_versions_and_lines_of_every_length(self):
        entries = first(4000)
        self.assertEqual({entry.type for entry in entries}, set(PREFIXES))
        self.assertGreater(sum('"updated_at"' in entry.line for entry in entries), 10)
        self.assertGreater(max(len(entry.line) for entry in entries), 1500)
        # Ten million bytes are about 17,000 entries and 780,000 tokens.
        self.assertTrue(560 < sum(len(entry.line.encode()) + 1 for entry in entries) / len(entries) < 620)
        self.assertTrue(43 < sum(count_tokens(entry.text) for entry in entries) / len(entries) < 50)

    def test_what_is_searched_is_in_the_line_and_a_new_version_says_the_same(self):
        texts = {}
        for entry in first(2000):
            self.assertIn(entry.text.split()[0].split('"')[0].split("\\")[0], entry.line)
            self.assertEqual(texts.setdefault(entry.id, entry.text), entry.text)
            self.assertEqual(json.loads(entry.line)["id"], entry.id)


class Texts(unittest.TestCase):
    def test_tokens_are_runs_of_letters_and_digits(self):
        for text, tokens in (("", 0), ("  ", 0), ("one", 1), ("src/auth/x_y.ts", 5), ("café, naïve!", 2), ("v1.2", 2)):
            self.assertEqual(count_tokens(text), tokens, text)

    def test_endings_are_spelled_so_that_a_stemmer_finds_the_stem(self):
        for stem, ending, word in (
            ("query", "s", "queries"), ("match", "s", "matches"), ("file", "s", "files"), ("store", "ed", "stored"), ("retry", "ed", "retried"),
            ("drop", "ed", "dropped"), ("store", "ing", "storing"), ("run", "ing", "running"), ("fail", "ing", "failing"),
            ("write", "er", "writer"), ("simple", "ly", "simply"), ("empty", "ness", "emptiness"),
        ):
            self.assertEqual(with_ending(stem, ending), word)

    def test_frequent_ranks_are_drawn_as_often_as_the_law_of_zipf_says(self):
        zipf, random = Zipf(1000), Random(5)
        drawn = collections.Counter(zipf.draw(random) for _ in range(200_000))
        self.assertLess(max(drawn), 1000)
        self.assertTrue(8.5 < drawn[0] / drawn[27] < 11.5)  # 1 / 3 to 1 / 30: rank 0 comes ten times as often as rank 27.


class Queries(unittest.TestCase):
    def test_words_are_those_that_every_tokenizer_agrees_upon(self):
        for text, words in (
            ("Pools fail, pools recover.", {"fail", "pools", "recover"}), ('(retry) "cache"; done:\nQueue', {"cache", "done", "queue", "retry"}),
            ("getUserById user_id src/auth.ts v1.2 don't 42 x", set()), ("the and of is", set()), ("café naiveïvely", set()), ("", set()),
        ):
            self.assertEqual(plain_words(text), words)

    def test_others_get_identifiers_in_parts(self):
        self.assertEqual(text_for_others("getUserById user_id E_LOCK x"), "get User By Id user id E LOCK x")

    def test_they_are_the_same_for_a_seed_and_rare_and_frequent_words_are_in_them(self):
        frequencies = collections.Counter()
        for entry in first(1000):
            frequencies.update(plain_words(entry.text))
        queries = draw_queries(frequencies, 1, 200)
        self.assertEqual(len(queries), 200)
        self.assertEqual(queries[:50], draw_queries(frequencies, 1, 50))
        self.assertNotEqual(queries, draw_queries(frequencies, 2, 200))
        for words in queries:
            self.assertTrue(1 <= len(words) <= 5)
            self.assertEqual(len(set(words)), len(words))
        asked = [frequencies[word] for words in queries for word in words]
        self.assertGreaterEqual(min(asked), 2)
        self.assertGreater(sum(frequency >= 100 for frequency in asked), 50)
        self.assertGreater(sum(frequency <= 20 for frequency in asked), 50)
        self.assertEqual(draw_queries({}, 1, 10), [])

    def test_a_size_is_a_number_with_or_without_a_letter(self):
        for text, size in (("300K", 300_000), ("10M", 10_000_000), ("10MB", 10_000_000), ("10e6", 10_000_000), ("7", 7), ("1.5k", 1500)):
            self.assertEqual(byte_count(text), size)
        for text in ("", "M", "ten", "10X", "-5"):
            with self.assertRaises(argparse.ArgumentTypeError):
                byte_count(text)


class Memories(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def bench(self, seed=1):
        return Bench(types.SimpleNamespace(tool=pathlib.Path(TOOL), seed=seed, effort=1), self.folder)

    def logs(self, root):
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.glob("sessions/*/*.jsonl"))}

    def write(self, name, size, session_size, seed=1):
        root = self.folder / name
        return root, write(self.bench(), root, Corpus(seed), size, session_size)

    def test_a_full_session_keeps_all_that_was_written_to_it(self):
        size = 8_700_000  # By default it is compacted from 8.4 million on.
        root, written = self.write("memory", size, size)
        self.assertEqual(len(written.sessions), 1)
        self.assertEqual(sum(log.count(b"\n") for log in self.logs(root).values()), written.lines)

    def test_two_memories_of_one_seed_are_the_same_byte_for_byte(self):
        (one, written), (other, _) = (self.write(name, SIZE, SIZE // 3, seed=7) for name in "ab")
        self.assertGreaterEqual(len(written.sessions), 3)
        self.assertEqual(self.logs(one), self.logs(other))
        for session in written.sessions:
            manifests = [json.loads((root / "sessions" / session / "manifest.json").read_bytes()) for root in (one, other)]
            self.assertEqual(*({**manifest, "updated_at": ""} for manifest in manifests))

    def test_the_tool_finds_nothing_wrong_with_it_and_holds_every_line_as_it_was_made(self):
        root, written = self.write("memory", SIZE // 2, SIZE, seed=3)
        said = json.loads(subprocess.run([TOOL, "--root", root, "--json", "verify"], capture_output=True, check=True, text=True).stdout)["summary"]
        self.assertEqual((said["findings"], said["lines"], said["bytes"]), (0, written.lines, written.log_bytes))
        lines = sorted(line for log in self.logs(root).values() for line in log.decode().splitlines())
        self.assertEqual(lines, sorted(entry.line for entry in first(written.lines, seed=3)))

    def test_a_memory_says_what_to_ask_of_it_and_is_made_once(self):
        place, asked = self.folder / "made", (50_000, 20_000, True)
        made, again = (make(self.bench(), place, *asked) for _ in range(2))
        self.assertGreater(made.entries, 50)
        self.assertEqual(made._replace(all_ids=()), again)
        self.assertTrue(all(made.queries))
        with self.assertRaisesRegex(BadData, "seed 2"):
            make(self.bench(seed=2), place, *asked)
        (place / "complete").unlink()
        with self.assertRaisesRegex(BadData, "unfinished"):
            make(self.bench(), place, *asked)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
