#!/usr/bin/env python3
"""schemas/query.schema.json and the tool agree on which queries in JSON are good."""

import json
import re
import subprocess

from jsonschema import Draft202012Validator

from tool_under_test import SOURCE, TIMEOUT_S, TOOL, ToolTest, main

SCHEMA = json.loads((SOURCE / "schemas" / "query.schema.json").read_text(encoding="utf-8"))
TIME_FORMS = ["2026-01-11", "2026-01-11T10:05:23Z", "2026-01-11T11:05:23.5+01:00", "2026-01-11 10:05",
              "2026-01-11T10:05:23", "24h", "7d", "2w", "90s", "45m", "now", "today", "yesterday"]
TYPES = ["conversation", "conversations", "decision", "finding", "preference", "fact", "event",
         "agent_state", "agent-states", "agent_states", "artifact", "artifacts"]
GOOD = [
    {"text": "x", "types": None, "time_range": None, "limit": None, "sort": None, "weights": None},
    {"text": "x", "types": TYPES},
    {"text": "x", "types": []},
    {"text": "x", "time_range": {}},
    {"text": "x", "time_range": {"start": None, "end": "2026-01-11"}},
    {"text": "x", "min_relevance": 1, "limit": 0},
    {"text": "x", "weights": {"text": 1, "time": 0, "importance": 0, "access": 0}},
    {"text": "x", "weights": {"text": 0}},
    {"fields": {"status": "open", "-category": ["style", "x"], "metadata.a.b": 7, "context.c": True}},
    {"text": "x", "fields": {}},
    {"text": "x", "fields": None},
    *({"text": "x", "time_range": {"start": form}} for form in TIME_FORMS),
]
BAD = [
    [],
    {"limitt": 3},
    {"text": 7},
    {"text": "x", "types": "decision"},
    {"text": "x", "types": ["decison"]},
    {"text": "x", "types": ["Decision"]},
    {"text": "x", "tags": [""]},
    {"text": "x", "agents": [7]},
    {"text": "x", "sessions": ["../x"]},
    {"text": "x", "sessions": [""]},
    {"text": "x", "time_range": {"from": "2026-01-11"}},
    {"text": "x", "time_range": {"start": "tuesday"}},
    {"text": "x", "time_range": {"start": 1768125923}},
    {"text": "x", "time_range": "7d"},
    {"text": "x", "fields": {"stauts": "open"}},
    {"text": "x", "fields": {"status": None}},
    {"text": "x", "fields": {"status": ""}},
    {"text": "x", "fields": {"status": {"a": 1}}},
    {"text": "x", "fields": {"metadata.": "x"}},
    {"text": "x", "fields": ["status"]},
    {"text": "x", "min_relevance": 1.5},
    {"text": "x", "min_relevance": "0.5"},
    {"text": "x", "limit": -1},
    {"text": "x", "limit": 2.5},
    {"text": "x", "sort": "best"},
    {"text": "x", "weights": {"words": 1}},
    {"text": "x", "weights": {"text": 2}},
    {"text": "x", "weights": {"text": 0, "time": 0, "importance": 0, "access": 0}},
]


class QuerySchema(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_tool("--quiet", "init")
        self.run_tool("session", "new", "--id", "sess-2026-01-11-4q7m2s")
        self.validator = Draft202012Validator(SCHEMA)

    def test_examples_and_good_queries_are_taken_by_both(self):
        for query in [*(example for example in SCHEMA["examples"] if example), *GOOD]:
            self.assertEqual(list(self.validator.iter_errors(query)), [], query)
            self.run_tool("--json", "query", "--json-query", json.dumps(query))

    def test_the_schema_knows_the_fields_that_the_tool_knows(self):
        shown = " ".join(self.run_tool("query", "--help").split())
        known = re.search(r"a filter on a field: (.*?), metadata.NAME and", shown)[1].split(", ")
        pattern = SCHEMA["properties"]["fields"]["propertyNames"]["pattern"]
        self.assertEqual(re.match(r"\^-\?\(\?:(.*)\|\(\?:", pattern)[1].split("|"), known)

    def test_bad_queries_are_refused_by_both(self):
        for query in BAD:
            self.assertNotEqual(list(self.validator.iter_errors(query)), [], query)
            done = subprocess.run(
                [str(TOOL), "--json", "query", "--json-query", "-"],
                cwd=self.folder,
                env=self.environment,
                input=json.dumps(query),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            self.assertEqual(done.returncode, 1, query)
            error = json.loads(done.stderr)["error"]
            self.assertEqual(error["code"], "E_INVALID_QUERY", query)
            self.assertIn("column", error, query)


if __name__ == "__main__":
    main()
