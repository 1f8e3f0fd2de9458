#!/usr/bin/env python3
"""The benchmarks of whole processes: their arithmetic, their data, and small runs of each.

Usage: bench_test.py TOOL [TEST]...
"""

import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import told_parts
from bench_data import BadData, Data, Message, SlipMaker, Store, lenient_time, plan_entries, read_data, rfc3339, score_ranking
from bench_memory import table
from bench_rows import Row, Target, at_least, value_text
from briefings import Results, auc, detail_lines
from told_data import HALVES, Half, columns, contradictions, half_of, memories_of, read_half
from told_memory import Reader, holds_rule, is_statement, lines_of
from told_parts import Seen, age_of, by_age, is_first

TOOL = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else ""
HERE = pathlib.Path(__file__).parent
MESSAGE = '{"store":"s","id":"1","text":"x"}'
QUESTION = '{"store":"s","id":"q","text":"x","relevant":["1"]}'


def message(key, session, speaker="Ann", **more):
    return Message(key, "hello", speaker, session, **more)


class Folder(unittest.TestCase):
    """A folder for data, one for memories, and one for fixtures of briefings."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.fixtures = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, corpus, questions):
        for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", questions)):
            text = lines if isinstance(lines, str) else "".join(json.dumps(line) + "\n" for line in lines)
            (self.folder / name).write_text(text, encoding="utf-8")


class Scores(unittest.TestCase):
    def test_one_relevant_message_is_found_at_its_rank_or_not_at_all(self):
        for rank, recalls in ((1, "1111"), (2, "0111"), (5, "0111"), (6, "0011"), (10, "0011"), (11, "0001"), (30, "0000")):
            with self.subTest(rank=rank):
                scores = score_ranking([f"other-{i}" if i != rank else "a" for i in range(1, 41)], ["a"])
                self.assertEqual([scores[f"recall_at_{k}"] for k in (1, 5, 10, 20)], [int(each) for each in recalls])
                self.assertAlmostEqual(scores["mrr"], 1 / rank)
                self.assertAlmostEqual(scores["ndcg_at_10"], 1 / math.log2(rank + 1) if rank <= 10 else 0)
        self.assertEqual(set(score_ranking([], ["a"]).values()), {0})

    def test_several_relevant_messages_share_the_recall(self):
        scores = score_ranking(["b", "x", "a", "y", "z", "w"], ["a", "c"])
        self.assertEqual((scores["recall_at_1"], scores["recall_at_5"], scores["recall_at_10"]), (0, 0.5, 0.5))
        self.assertAlmostEqual(scores["mrr"], 1 / 3)
        self.assertAlmostEqual(scores["ndcg_at_10"], (1 / 2) / (1 + 1 / math.log2(3)))

    def test_more_relevant_messages_than_ten_can_be_ranked_perfectly(self):
        ids = [str(i) for i in range(15)]
        self.assertAlmostEqual(score_ranking(ids, ids)["ndcg_at_10"], 1)
        self.assertAlmostEqual(score_ranking(ids, ids)["recall_at_10"], 10 / 15)

    def test_a_table_has_a_head_and_one_decimal(self):
        self.assertEqual(table([{"a": "x", "b": 1.25}, {"a": 7, "b": 0.0}]), "| a | b |\n|---|---|\n| x | 1.2 |\n| 7 | 0.0 |\n")


class Verdicts(unittest.TestCase):
    def test_a_verdict_compares_the_right_value_in_the_right_direction(self):
        for value, verdict in ((0.7, "aim met"), (1.9, "met"), (2.1, "MISSED")):
            self.assertEqual(Row("time", "ms", [value], wants=Target(2, 0.7)).verdict(), verdict)
        for theirs, verdict in ((100, "MISSED"), (80, "aim met")):
            row = Row("rate", "/s", [79], ("raw", [theirs]), at_least(0.8, 0.95, "ratio"))
            self.assertEqual(row.verdict(), verdict)

    def test_a_ratio_above_1_is_faster_of_rates_and_of_times(self):
        for unit, ours, theirs, median in (("/s", [200, 300], [100, 100], 2.5), ("ms", [2, 2], [1, 4], 1.25)):
            self.assertAlmostEqual(Row("", unit, ours, ("raw", theirs)).summaries["ratio"]["median"], median)
        self.assertNotIn("ratio", Row("share", "", [0.5], ("raw", [0.25])).summaries)

    def test_numbers_show_three_digits_or_more(self):
        for value, text in ((0.0314, "0.031"), (0.954, "0.954"), (3.149, "3.15"), (31.49, "31.5"), (314.9, "315"), (1234567, "1,234,567")):
            self.assertEqual(value_text(value), text)
        self.assertEqual(value_text(-1234, "/s"), "-1,234 /s")

    def test_a_row_is_one_line_and_one_object(self):
        row = Row("a row", "ms", [1, 2, 3], ("raw", [4, 4, 4]), Target(2, 1), "quiet")
        self.assertEqual(list(row.cells().values()), ["a row", "2.00 ms", "1.20..2.80", "4.00 ms raw", "2.00 (1.47..3.60)", "≤ 2.00 ms", "≤ 1.00 ms", "met"])
        report = row.report()
        self.assertEqual(report["ours"], {"median": 2, "p10": 1.2, "p90": 2.8, "count": 3})
        self.assertEqual(report["target"], {"required": 2, "aim": 1, "of": "ours", "better": "lower", "verdict": "met"})
        self.assertEqual(Row("gone", problem="no disk").report(), {"what": "gone", "problem": "no disk"})
        self.assertEqual(Row("gone", problem="no disk").cells()["ours"], "not measured")


class Reading(Folder):
    def test_fields_may_be_missing_and_numbers_may_be_ids(self):
        self.write('\ufeff{"id":17,"text":"a","speaker":null}\r\n\n  \n', '{"id":"q","text":"b","relevant":[17,"17"]}')
        data = read_data(self.folder)
        self.assertEqual(data.stores, [Store("", [Message("17", "a")])])
        self.assertEqual(data.questions[0].relevant, ["17"])
        self.assertEqual(data.warnings, [])

    def test_messages_are_in_the_order_of_seq_where_all_have_one(self):
        lines = [{"id": "b", "seq": 2, "text": "x"}, {"id": "a", "seq": 1, "text": "x"}]
        for more, first in (([], "a"), ([{"id": "0", "text": "x"}], "b")):
            self.write(lines + more, QUESTION)
            self.assertEqual(read_data(self.folder).stores[0].messages[0].id, first)

    def test_a_bad_line_is_reported_with_file_line_and_field(self):
        rows = (('{"id":', ""), ("[1]", "object"), ('{"text":"x"}', "id"), ('{"id":"","text":"x"}', "id"),
                ('{"id":[1],"text":"x"}', "id"), ('{"id":true,"text":"x"}', "id"), ('{"id":"x"}', "text"),
                ('{"id":"x","text":5}', "text"), ('{"id":"x","text":"x","speaker":{}}', "speaker"))
        for line, field in rows:
            with self.subTest(line):
                self.write(f"{MESSAGE}\n\n{line}\n", QUESTION)
                with self.assertRaisesRegex(BadData, f"corpus.jsonl:3: .*{field}"):
                    read_data(self.folder)
        self.write(MESSAGE, '{"id":"q","text":"x","relevant":"1"}')
        with self.assertRaisesRegex(BadData, "queries.jsonl:1: relevant"):
            read_data(self.folder)

    def test_ids_of_no_message_and_unreadable_times_are_warnings(self):
        self.write('{"store":"s","id":"1","text":"x","ts":"1:56 pm on 8 May, 2023"}',
                   '{"store":"s","id":"a","text":"x","relevant":["1","2"]}\n{"store":"t","id":"b","text":"x","relevant":["1"]}')
        first, second = read_data(self.folder).warnings
        self.assertIn("corpus.jsonl:1: 1 times cannot be read", first)
        self.assertIn("2 relevant ids are no messages", second)

    def test_times_are_read_as_data_sets_write_them(self):
        for value, time in (("2023-05-08T13:56:00", "2023-05-08T13:56:00.000Z"), ("2023-05-08T13:56:00Z", "2023-05-08T13:56:00.000Z"),
                            ("2023-05-08T13:56:00+02:00", "2023-05-08T11:56:00.000Z"), (1683554160, "2023-05-08T13:56:00.000Z"),
                            ("2023-05-08 13:56:00.250", "2023-05-08T13:56:00.250Z"), ("2023-05-08", "2023-05-08T00:00:00.000Z"),
                            (1683554160000, "2023-05-08T13:56:00.000Z")):
            self.assertEqual(rfc3339(lenient_time(value)), time)
        for value in ("", "yesterday", -5, 1e300, None, True):
            self.assertIsNone(lenient_time(value), value)


class Plans(unittest.TestCase):
    def test_messages_that_share_a_session_are_a_conversation_and_others_documents(self):
        for sessions, talk in ((("S1", "S1"), True), (("", ""), False), (("S1", "S2"), False), ((), False)):
            store = Store("s", [message(str(i), session) for i, session in enumerate(sessions)])
            self.assertEqual(store.is_conversation(), talk)

    def test_each_session_of_talk_becomes_one_of_ours(self):
        plan = plan_entries(Store("s", [message("D1:1", "S 1"), message("D1:2", "S 1", "Bob"), message("D2:1", "S 2")]))
        self.assertEqual(plan.type, "conversation")
        self.assertEqual(list(plan.sessions), ["s00001-s-1", "s00002-s-2"])
        first, second = plan.sessions["s00001-s-1"]
        self.assertEqual(first, {"id": "D1:1", "agent_id": "Ann", "content": "hello", "role": "user",
                                 "context": {"conversation_id": "s00001-s-1"}})
        self.assertEqual((second["role"], second["agent_id"]), ("assistant", "Bob"))

    def test_speakers_that_are_roles_are_roles(self):
        (entries,) = plan_entries(Store("s", [message("1", "S", "assistant"), message("2", "S", "tool")])).sessions.values()
        self.assertEqual([entry["role"] for entry in entries], ["assistant", "tool"])
        self.assertNotIn("agent_id", entries[0])

    def test_documents_are_events_of_one_session(self):
        plan = plan_entries(Store("s", [message("1", ""), message("2", "", "")]))
        self.assertEqual((plan.type, list(plan.sessions)), ("event", ["s00001-"]))
        self.assertEqual(plan.sessions["s00001-"][1], {"id": "2", "content": "hello", "kind": "document"})

    def test_ids_that_cannot_be_ours_are_replaced(self):
        for key in ("with blank", "2", "ümlaut", ""):
            plan = plan_entries(Store("s", [message("2", "S"), message(key, "S")]))
            self.assertEqual(plan.ids, {"m-0": "2", "m-1": key})

    def test_a_message_without_a_time_follows_the_one_before_it(self):
        store = Store("s", [message("1", "S"), message("2", "S", time=lenient_time("2023-05-08")), message("3", "S")])
        times = [entry["timestamp"] for entry in plan_entries(store).sessions["s00001-s"]]
        self.assertEqual(times[1:], ["2023-05-08T00:00:00.000Z", "2023-05-08T00:00:01.000Z"])

    def test_texts_that_no_line_holds_are_cut_and_empty_ones_get_a_mark(self):
        plan = plan_entries(Store("s", [Message("1", "x" * 159_999 + "ä"), Message("2", "")]))
        self.assertEqual(plan.shortened, 1)
        self.assertEqual([entry["content"] for entry in plan.sessions["s00001-"]], ["x" * 159_999, "-"])

    def test_a_slip_swaps_two_letters_inside_the_rarest_word_that_is_known(self):
        texts = ("The harbour has a bell of bronze, and a bell of brass.", "The Harbour is closed; nobody rings.", "oooo zzzo v2beta cafés")
        slips = SlipMaker(Store("", [Message(str(i), text) for i, text in enumerate(texts)]))
        for question, slipped in (
            ("Which harbour has bronze?", "Which harbour has brnoze?"), ("Closed HARBOUR", "Clsoed HARBOUR"),
            ("rings of bronze", "rings of brnoze"), ("brass rings", "barss rings"), ("a bell", "a blel"), ("zzzo", "zzoz"),
        ):
            self.assertEqual(slips.slipped(question), slipped)
        for question in ("oooo", "why not granite", "v2beta", "cafés", "has a", ""):
            self.assertEqual(slips.slipped(question), question)


class Lines(unittest.TestCase):
    def test_a_line_of_a_briefing_is_found_in_its_message(self):
        told = "### What was said\n\n- 2024-01-01, message by Ann: …the bell: \\`bronze\\`, not **brass**, as we said…\n  - after: Bob: Yes.\n"
        reader = Reader(Store("s", [Message("1", "I think the bell:\n`bronze`, not **brass**, as we said then", "user"),
                                    Message("2", "Yes.", "assistant"), Message("3", "Yes. And a gong of copper", "user")]))
        self.assertEqual([reader.messages(line) for line in lines_of(told)], [{"1"}, {"2"}])
        self.assertEqual(reader.exchanges, {"1": 1, "2": 1, "3": 2})

    def test_an_exchange_is_its_answer_and_not_the_question_that_it_quotes(self):
        reader = Reader(Store("s", [Message("1", "Which of the two bells is made of bronze?", "user"),
                                    Message("2", "The older one. It hangs in the north tower since 1912.", "assistant")]))
        for said in ("message by assistant: asked", "message by assistant: asked 4 times", "message (agent, assistant, trust 0.60): claude-code: asked"):
            told = (f'| - 2024-01-01 (3 weeks ago), {said} "Which of the two bells is made of bronze?", '
                    "answered: …It hangs in the north tower since…")
            (line,) = lines_of(told)
            self.assertEqual(reader.messages(line), {"2"})
            self.assertFalse(is_statement(line))

    def test_a_rule_is_a_line_that_quotes_a_sentence_of_it_and_no_message(self):
        statement = "Good catch. Our team uses **Vitest**, not Jest."
        for line, is_rule in (('"Our team uses Vitest, not Jest." (noted on 2024-01-01 from what the user said)', True),
                              ("2024-01-01, message by Ann: Good catch. Our team uses Vitest, not Jest.", False),
                              ("  - after: Bob: Our team uses Vitest, not Jest.".strip(" -"), False)):
            self.assertTrue(holds_rule(line, statement))
            self.assertEqual(is_statement(line), is_rule)
        self.assertFalse(holds_rule('"Our team uses tabs." (noted on 2024-01-01)', statement))


class Told(Folder):
    """The parts of `briefings` that ask nothing of the tool."""

    def test_the_area_is_the_share_of_pairs_in_the_right_order(self):
        for pairs, area in ((((True, 3), (False, 1), (False, 2)), 1), (((True, 1), (False, 1)), 0.5),
                            (((True, 2), (True, 0), (False, 1)), 0.5), (((True, 1),), None), ((), None)):
            self.assertEqual(auc(pairs), area)

    def test_a_store_is_of_the_half_of_its_questions_or_every_second_one(self):
        self.write(talk() + [{**each, "store": "chat"} for each in talk()] + DOCUMENTS, QUESTIONS)
        data = read_data(self.folder)
        self.assertEqual([(memory.store.name, half) for memory, half in memories_of("people", data)], [("talk", "tune"), ("chat", "sealed")])
        for split, half in (("end", "sealed"), ("sealed", "sealed"), ("tune", "tune"), ("dev", "tune")):
            self.assertEqual(half_of(data.stores[0], [dataclasses.replace(data.questions[0], split=split)], 0), half)

    def test_a_half_has_the_memories_and_prompts_of_it(self):
        half = read_half("tune", Data([], [], []), Data([], [], []), HERE.parents[1] / "fixtures/told")
        self.assertEqual([memory.store.name for memory in half.memories], ["en", "fr", "ja"])
        self.assertEqual((len(half.prompts), len(half.rules)), (150, 100))
        self.assertTrue(all(memory.near_misses and len(memory.questions) == 42 for memory in half.memories))
        self.assertEqual(read_half("tune", Data([], [], []), Data([], [], []), self.folder), Half("tune", [], [], [], []))

    def test_a_table_has_newlines_and_tabs_in_its_cells(self):
        path = self.folder / "table.tsv"
        path.write_text('# comment\nen\twork\tone\\ntwo\\t"three\n\n', encoding="utf-8")
        self.assertEqual(columns(path), [["en", "work", 'one\ntwo\t"three']])

    def test_contradictions_are_the_same_in_each_run_and_others_in_the_other_half(self):
        end = lenient_time("2026-10-20")
        store, pairs = contradictions("tune", end)
        self.assertEqual((store, pairs), contradictions("tune", end))
        self.assertNotEqual(pairs[0].prompt, contradictions("sealed", end)[1][0].prompt)
        self.assertGreaterEqual(len(pairs), 100)
        messages = {message.id: message for message in store.messages}
        for pair in pairs:
            older, newer = messages[pair.older], messages[pair.newer]
            self.assertLess(older.time, newer.time)
            self.assertLess(newer.time, end)
            self.assertNotEqual(older.text, newer.text)

    def test_the_newer_one_is_first_where_it_is_there_and_the_older_one_is_not_above_it(self):
        for found, first in ((["n", "o"], True), (["n"], True), (["x", "n", "o"], True), (["o", "n"], False), (["o"], False), ([], False)):
            self.assertEqual(is_first("n", "o", found), first)

    def test_questions_are_asked_at_each_age_of_what_answers_them(self):
        now = lenient_time("2024-03-31")
        for day, age in (("2024-03-30", "0-7 days"), ("2024-03-10", "7-30 days"), ("2024-01-10", "30-90 days"), ("2023-04-10", "90-365 days"),
                         ("2022-01-01", None)):
            self.assertEqual(age_of(now, [lenient_time("2024-03-30"), lenient_time(day)]), age)
        self.assertIsNone(age_of(now, [None]))
        self.write(talk(), QUESTIONS)
        memory, _ = next(memories_of("people", read_data(self.folder)))
        self.assertEqual([(age, clock, question.id) for age, clock, question in by_age(memory, 1, "x")],
                         [("7-30 days", 0, mock.ANY), ("30-90 days", 20, "q1"), ("90-365 days", 200, mock.ANY)])

    def test_figures_are_means_areas_and_weighted_means_and_have_a_verdict(self):
        results = Results(HALVES)
        results.add("tune", [Seen("unrelated", "x", False)] * 19 + [Seen("unrelated", "x", True), Seen("briefings, people", "x", (1, 1))])
        results.add("sealed", [Seen("unrelated", "x", True), Seen("briefings, people", "x", (0, 4)), Seen("certainty", "x", (True, 1))])
        results.add("tune", [Seen("again", "asked 0 times before", 1), Seen("again", "asked 3 times before", 0.5)])
        rows = {(row["figure"], row["of"]): row for row in results.rows()}
        row = rows["unrelated prompts told anything", "x"]
        self.assertEqual((row["tune"], row["tune of"], row["sealed"], row["sealed of"], row["verdict"]), (5, 20, 100, 1, "MISSED"))
        self.assertEqual(rows["briefings told that hold the answer", "x"]["both"], 20)
        self.assertIsNone(rows["certainty: others against answerable", "x"]["both"])
        self.assertEqual(rows["Recall@10", "asked 3 times before"]["verdict"], "MISSED")
        self.assertEqual(rows["Recall@10", "asked 0 times before"]["verdict"], "aim")
        self.assertIn("| unrelated prompts told anything | x | % | 5.0 | 20 | 100.0 | 1 |", results.text())

    def test_details_are_of_the_half_to_tune_on_alone(self):
        seen = [Seen("unrelated", "x", True, {"prompt": "yes"}), Seen("unrelated", "x", True)]
        self.assertEqual(list(detail_lines("tune", seen)), ['{"figure": "unrelated", "group": "x", "value": true, "prompt": "yes"}'])
        self.assertEqual(list(detail_lines("sealed", seen)), [])


def talk():
    """A message a day of a month, in two sessions, each with a word of its own."""
    return [
        {"store": "talk", "id": f"turn {i}", "seq": i, "ts": f"2024-03-{i:02}T10:00:00", "speaker": ("Bob", "Ann")[i % 2],
         "session": "A" if i <= 15 else "B", "text": f"We talked about topic{chr(97 + i % 26)} and the weather, number zebra{i}."}
        for i in range(1, 31)
    ]


DOCUMENTS = [{"store": "docs", "id": "d1", "text": "Merge postings with a heap", "session": ""},
             {"store": "docs", "id": "d2", "text": "Fix a leak in the tokenizer", "session": ""}]
QUESTIONS = [
    {"store": "talk", "id": "q1", "text": "Who said zebra7?", "category": "x", "relevant": ["turn 7"]},
    {"store": "talk", "id": "q2", "text": "zebra21 or zebra22", "relevant": ["turn 21", "turn 22"]},
    {"store": "docs", "id": "q3", "text": "a leak", "category": "x", "relevant": ["d2"]},
    {"store": "docs", "id": "q4", "text": "heap", "relevant": []},
]


def has_corpus():
    return (pathlib.Path(TOOL).parent / "bmad-bench").exists()


class Rows(Folder):
    """Each program of rows, in small."""

    def rows_of(self, name, *arguments):
        """What was measured; all, unless a program that may be missing is."""
        done = subprocess.run(
            [sys.executable, "-B", HERE / f"{name}.py", "--tool", TOOL, "--dir", self.scratch, "--json", "--effort", "0.001", *arguments],
            capture_output=True, text=True, check=False,
        )
        self.assertNotEqual(done.stdout, "", done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])
        rows = json.loads(done.stdout)["rows"]
        problems = [row["problem"] for row in rows if "problem" in row]
        self.assertEqual(done.returncode, int(bool(problems)))
        for problem in problems:
            self.assertRegex(problem, "there is no initdb|there is no .*(bmad-bench|bmad_bench_|bmad_encoder|tar|time)|there are no weights", done.stderr)
        for row in rows:
            self.assertTrue("problem" in row or row["ours"]["count"] >= 1, row)
        return {row["what"] for row in rows if "problem" not in row}

    def test_memories_are_asked_as_they_were_left_kept_and_asked_again(self):
        for _ in range(2 if has_corpus() else 0):
            measured = self.rows_of("left", "--shape", "10k", "--shape", "100k-20", "--shape", "1m", "--bytes", "100e3", "--alone",
                                    "--keep", self.folder / "kept")
            self.assertLessEqual(
                {"10k: the first question", "1m: get ID, peak resident memory", "1m: list", "100k-20: context of nothing",
                 "100k-20: `hook` with PostToolUse", "1m: prompt hook with context", "1m: MCP memory_get, p95",
                 "1m: index/ against the logs", "growth from 10k to 1m: context"}, measured)
            self.assertTrue((self.folder / "kept/1m/complete").exists())

    def test_a_hub_is_measured_beside_psql(self):
        measured = self.rows_of("hub", *(() if has_corpus() else ("--filter", "follow")))
        if measured:
            self.assertIn("from `add` on A to a hit on B, p95", measured)
        if measured and has_corpus():
            self.assertLessEqual({"`forget` of one id until 8 mirrors have confirmed", "first pull of 20 entries", "what having a hub costs a `query`", "`sync` with nothing to do, 20 sessions"}, measured)

    def test_a_memory_lives_through_all(self):
        measured = self.rows_of("lifecycle", "--bytes", "300e3")
        if has_corpus():
            self.assertLessEqual(
                {"`bmad-mem add`, above empty process and raw append", "peak resident memory of that `bmad-mem add`", "compact a full session",
                 "compact: the index, nothing locked", "a reader's slowest query during a compaction", "delete 100 ids from it",
                 "a writer's slowest append during a compaction", "archive it", "restore it",
                 "`bmad-mem maintain --auto`, nothing due, 20 sessions"}, measured)

    def test_an_encoder_is_measured_where_its_weights_are(self):
        measured = self.rows_of("encoder")
        if has_corpus() and (pathlib.Path(TOOL).parent / "encoder.bmw").exists():
            self.assertIn("opening the weights and encoding one text", measured)

    def test_what_is_not_there_is_a_row_that_says_so(self):
        report = subprocess.run([sys.executable, "-B", HERE / "left.py", "--tool", "/nowhere/bmad-mem", "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(report.returncode, 1)
        self.assertIn("./dev bench builds it", json.loads(report.stdout)["rows"][0]["problem"])


class Runs(Folder):
    def setUp(self):
        super().setUp()
        self.write(talk() + DOCUMENTS, QUESTIONS)

    def run_bench(self, name, *arguments, data=None, status=0):
        done = subprocess.run(
            [sys.executable, "-B", HERE / f"{name}.py", "--tool", TOOL, "--data", data or self.folder, "--dir", self.scratch, *arguments],
            capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(list(self.scratch.iterdir()), [])
        return done

    def test_retrieval_reports_scores_by_store_category_and_age(self):
        done = self.run_bench("retrieval", "--json", "--run", self.folder / "run.tsv")
        report = json.loads(done.stdout)
        groups = {f"{group['kind']}:{group['name']}": group for group in report["groups"]}
        for group in groups.values():
            for way in ("default", "week", "month", "text", "slip", "plain"):
                self.assertEqual((group[way]["recall_at_10"], group[way]["refused"], group[way]["empty"]), (1, 0, 0))
            self.assertEqual(group["recall_at_10_above_text_points"], 0)
            self.assertEqual(group["recall_at_10_above_plain_points"], 0)
        # The talk ends on March 30: turn 7 is of March 7; turns 21 and 22 are 9 and 8 days old.
        expected = {"store:talk", "store:docs", "category:x", "kind:conversations", "kind:documents", "all:", "age:conversations, 7 to 30 days"}
        self.assertLessEqual(expected, groups.keys())
        self.assertNotIn("age:conversations, up to 7 days", groups)
        self.assertGreater(report["times_ms"]["default"]["p50"], 0)
        self.assertEqual(report["unjudged"], 1)
        self.assertIn("30 messages as conversation entries in 2 sessions", done.stderr)
        self.assertIn("1 questions name nothing relevant", done.stderr)
        rows = [line.split("\t") for line in (self.folder / "run.tsv").read_text(encoding="utf-8").splitlines()]
        best = {question: key for question, key, _ in reversed(rows)}
        self.assertEqual((best["q1"], best["q3"], best["q4"]), ("turn 7", "d2", "d1"))

    def test_retrieval_takes_one_store_and_one_way(self):
        said = self.run_bench("retrieval", "--store", "docs", "--ranking", "plain").stdout
        self.assertIn("plain BM25", said)
        self.assertNotIn("| default ", said)
        self.assertNotIn("talk", said)
        self.run_bench("retrieval", "--store", "nowhere", status=1)
        self.run_bench("retrieval", "--ranking", "best", status=2)

    def test_retrieval_counts_empty_answers_and_asks_at_the_time_of_the_data(self):
        texts = {"old": ("2024-01-01", "The harbour bell is bronze."), "new": ("2024-03-28", "Bells are loud."),
                 "last": ("2024-03-30", "Good night.")}
        self.write([{"store": "talk", "id": key, "ts": f"{day}T10:00:00", "speaker": "Ann", "session": "AB"[key != "old"], "text": text}
                    for key, (day, text) in texts.items()],
                   [{"store": "talk", "id": "q1", "text": "which bell is bronze?", "relevant": ["old"]},
                    {"store": "talk", "id": "q2", "text": "bronze", "relevant": ["old"]},
                    {"store": "talk", "id": "q3", "text": '"a lost title" xyzzy', "relevant": ["new"]}])
        report = json.loads(self.run_bench("retrieval", "--json").stdout)
        groups = {f"{group['kind']}:{group['name']}": group for group in report["groups"]}
        old = groups["age:conversations, beyond 30 days"]
        self.assertEqual((old["questions"], old["default"]["recall_at_1"]), (2, 1))
        self.assertEqual(groups["age:conversations, up to 7 days"]["questions"], 1)
        self.assertEqual((groups["all:"]["default"]["refused"], groups["all:"]["default"]["empty"]), (0, 1))
        self.assertGreaterEqual(groups["all:"]["slip"]["empty"], 1)

    def test_month_is_lived_and_asked(self):
        report = json.loads(self.run_bench("month", "--sessions", "8", "--entries", "120", "--json").stdout)
        self.assertEqual([row["day"] for row in report["days"]], [1, 8, 31, 91])
        last = report["days"][-1]
        self.assertEqual((last["questions"], last["refused"], last["empty"]), (3, 0, 0))
        self.assertGreater(last["archived"], 0)
        self.assertGreater(last["entries"], 32)
        for row in report["ages"]:
            self.assertEqual((row["recall_at_10_default"], row["difference"]), (100, 0))

    def small_fixtures(self):
        """A project of three days, two prompts and two statements, in both halves."""
        for half in HALVES:
            folder = self.fixtures / half
            folder.mkdir()
            corpus = [{**each, "store": "en", "speaker": ("user", "assistant")[number % 2]} for number, each in enumerate(talk()[24:])]
            questions = [{"store": "en", "id": "p1", "text": "What is the number zebra27 about?", "relevant": ["turn 27"], "older": ["turn 25"]},
                         {"store": "en", "id": "p2", "text": "What is topicz about?", "relevant": []}]
            for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", questions)):
                (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            (folder / "prompts.tsv").write_text("dialogue\ten\tyes\nelsewhere\ten\thow long do I boil an egg?\n", encoding="utf-8")
            (folder / "rules.tsv").write_text("en\twe-use\tWe use pnpm here.\tadd a package with pnpm\n"
                                              "en\tnot-question\tDo we use pnpm?\tadd a package\n", encoding="utf-8")

    def test_briefings_count_what_is_told(self):
        self.small_fixtures()
        details = self.fixtures / "details.jsonl"
        arguments = [word for part in told_parts.PARTS if part != "lines" for word in ("--part", part)]
        done = self.run_bench("briefings", "--json", "--fixtures", self.fixtures, "--agents", "/nowhere", "--scale", "0.02", "--details", details,
                              *arguments)
        rows = {(row["figure"], row["of"]): row for row in json.loads(done.stdout)["figures"]}
        self.assertEqual(rows["evidence among what is told", "people's chats, 7-30 days"]["tune of"], 1)
        self.assertEqual(rows["the same, exchanges", "projects, 0-7 days"]["both"], 100)
        self.assertEqual(rows["unrelated prompts told anything", "projects, en"]["sealed of"], 1)
        self.assertEqual(rows["the same, all stores in one", "38 entries"]["tune of"], 1)
        self.assertEqual(rows["rules told where they apply", "all languages"]["sealed of"], 1)
        self.assertEqual(rows["newest of contradicting messages first", "made pairs, query"]["tune of"], 2)
        self.assertEqual(rows["newest of contradicting messages first", "projects, told"]["both"], 100)
        self.assertEqual(rows["Recall@10", "asked 10 times before"]["tune of"], 2)
        self.assertGreater(rows["tokens told in a session of ordinary prompts", "projects"]["tune of"], 0)
        self.assertEqual({json.loads(line)["group"] for line in details.read_text(encoding="utf-8").splitlines()
                          if '"evidence"' in line}, {"people's chats, 7-30 days", "people's chats, 30-90 days", "people's chats, 90-365 days"})

    def test_briefings_live_a_month(self):
        self.small_fixtures()
        done = self.run_bench("briefings", "--half", "tune", "--part", "lines", "--fixtures", self.fixtures, "--agents", "/nowhere", "--scale", "0.1")
        self.assertRegex(done.stdout, r"the same month: questions told their answer \| statements \| % \| \d")

    def test_missing_data_is_skipped_and_bad_data_fails(self):
        for name in ("retrieval", "month", "briefings"):
            self.assertIn("skipped", self.run_bench(name, data="/nowhere/at/all").stdout)
            self.run_bench(name, "--help")
        if not (pathlib.Path(TOOL).parent / "encoder.bmw").exists():
            self.assertIn("./dev encoder", self.run_bench("retrieval", "--encoder", status=1).stderr)
        self.write(talk(), '{"id":"q"}')
        self.assertIn("queries.jsonl:1: text", self.run_bench("retrieval", status=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
