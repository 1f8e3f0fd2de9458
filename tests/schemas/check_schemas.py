#!/usr/bin/python3
"""Checks the JSON Schemas with a validator that is not ours.

- The schemas of entries, and the table in docs/files.md, are those that the tool makes.
- Every schema in schemas/ is a valid schema of draft 2020-12, and its own examples pass it.
- fixtures/entries: each valid entry passes its type's schema; each invalid one fails, and fails at
  the field that stands beside it. The C++ validator is held to the same files by
  tests/model/entry_fixtures_test.cpp, so the two agree on every line.
- .bmad-sample: every file passes the schema of what it is, and so does every index.json that
  `rebuild-index` makes of a copy of it.

Usage: check_schemas.py SOURCE_DIR [BMAD_MEM]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from sample import copy_sample, sample_files  # noqa: E402

LOGS = {
    "conversation.jsonl": "conversation",
    "decisions.jsonl": "decision",
    "findings.jsonl": "finding",
    "preferences.jsonl": "preference",
    "facts.jsonl": "fact",
    "events.jsonl": "event",
    "agent-states.jsonl": "agent_state",
    "artifacts.jsonl": "artifact",
    "audit.jsonl": "audit",
    "quarantine.jsonl": "quarantine",
}
ENTRY_TYPES = list(LOGS.values())[:8]
OTHER_SCHEMAS = ["manifest", "config", "audit", "quarantine", "lock", "index", "catalog",
                 "deletion-record", "query", "archive-manifest", "evicted", "kept"]

# What the schemas of files that are no logs must refuse. The good ones are their own examples.
REFUSED = [
    ("manifest", "session_id", {"created_at": "2026-10-02T08:00:00Z"}),
    ("manifest", "session_id", {"session_id": "../x", "created_at": "2026-10-02T08:00:00Z"}),
    ("manifest", "created_at", {"session_id": "s"}),
    ("manifest", "closed_at", {"session_id": "s", "created_at": "2026-10-02T08:00:00Z",
                               "closed_at": None}),
    ("manifest", "agent_ids", {"session_id": "s", "created_at": "2026-10-02T08:00:00Z",
                               "agent_ids": "architect"}),
    ("manifest", "statistics.total_facts", {"session_id": "s", "created_at": "2026-10-02T08:00:00Z",
                                            "statistics": {"total_facts": -1}}),
    ("archive-manifest", "archived_at",
     {"session_id": "s", "created_at": "2026-10-02T08:00:00Z", "original_size_bytes": 1,
      "compressed_size_bytes": 1}),
    ("archive-manifest", "compressed_size_bytes",
     {"session_id": "s", "created_at": "2026-10-02T08:00:00Z",
      "archived_at": "2026-11-02T08:00:00Z", "original_size_bytes": 1,
      "compressed_size_bytes": -1}),
    ("evicted", "evicted_at", {"type": "fact", "entry": {}}),
    ("evicted", "type", {"type": "poem", "evicted_at": "2026-11-02T08:00:00Z", "entry": {}}),
    ("kept", "entry", {"type": "fact", "entry": "{}"}),
    ("config", "memory_config", {"memory_config": []}),
    ("config", "memory_config.decay.model", {"memory_config": {"decay": {"model": "linear"}}}),
    ("config", "memory_config.decay.rates.finding",
     {"memory_config": {"decay": {"rates": {"finding": "0.05"}}}}),
    ("config", "memory_config.storage.max_session_size_mb",
     {"memory_config": {"storage": {"max_session_size_mb": 0}}}),
    ("config", "memory_config.concurrency.lock_timeout_ms",
     {"memory_config": {"concurrency": {"lock_timeout_ms": 0.5}}}),
    ("config", "memory_config.privacy.auto_purge", {"memory_config": {"privacy": {"auto_purge": 1}}}),
    ("audit", "operation", {"at": "2026-10-02T08:00:00Z"}),
    ("audit", "counts.deleted", {"at": "2026-10-02T08:00:00Z", "operation": "delete",
                                 "counts": {"deleted": "two"}}),
    ("quarantine", "", {"at": "2026-10-02T08:00:00Z", "file": "facts.jsonl", "line": 1, "offset": 0,
                        "reason": "no text and no bytes"}),
    ("quarantine", "line", {"at": "2026-10-02T08:00:00Z", "file": "facts.jsonl", "line": 0,
                            "offset": 0, "reason": "lines start at 1", "text": ""}),
    ("lock", "pid", {"pid": 0, "host": "h", "operation": "add",
                     "acquired_at": "2026-10-02T08:00:00Z"}),
    ("catalog", "sessions[0].state", {"version": "1.0",
                                      "sessions": [{"session_id": "s", "state": "asleep"}]}),
    ("deletion-record", "deletions[0].ids",
     {"session_id": "s", "deletions": [{"deleted_at": "2026-10-02T08:00:00Z",
                                        "recoverable_until": "2026-11-01T08:00:00Z"}]}),
    ("index", "version", {"version": 2}),
    ("index", "entries", {"entries": -1}),
    ("index", "inverted_index", {"inverted_index": {"AGENT:ann": ["msg-1"]}}),
    ("index", "inverted_index.a", {"inverted_index": {"a": []}}),
    ("index", "inverted_index.a[1]", {"inverted_index": {"a": ["msg-1", 2]}}),
    ("index", "temporal_index", {"temporal_index": {"2026-01-11": ["msg-1"]}}),
    ("index", "tag_index", {"tag_index": {"": ["msg-1"]}}),
]


class Report:
    def __init__(self):
        self.checks = 0
        self.failures = []

    def check(self, good, message):
        self.checks += 1
        if not good:
            self.failures.append(message)


def field_path(parts):
    """['a', 1, 'b'] as 'a[1].b', the way the engine names fields."""
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else ("." if path else "") + part
    return path


def failed_fields(validator, value):
    """The paths of all fields that `value` fails at; a missing field counts as itself."""
    fields = set()
    for error in validator.iter_errors(value):
        path = list(error.absolute_path)
        if error.validator == "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            fields.update(field_path(path + [name]) for name in missing)
        else:
            fields.add(field_path(path))
    return fields


def lines_of(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        yield f"{path.name}:{number}", json.loads(line)


def load_validators(source, report):
    validators = {}
    for path in sorted((source / "schemas").glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        report.check(schema["$id"] == f"https://bmad-mem.dev/schemas/{path.name}",
                     f"{path.name}: its $id names another file")
        report.check(bool(schema.get("title")) and bool(schema.get("description")),
                     f"{path.name}: has no title or description")
        validators[name] = Draft202012Validator(schema)
        for example in schema.get("examples", []):
            report.check(not failed_fields(validators[name], example),
                         f"{path.name}: an example fails at {failed_fields(validators[name], example)}")
    report.check(sorted(validators) == sorted(ENTRY_TYPES + OTHER_SCHEMAS),
                 f"schemas/ holds {sorted(validators)}")
    return validators


def check_fixtures(source, validators, report):
    for entry_type in ENTRY_TYPES:
        for where, entry in lines_of(source / f"fixtures/entries/valid/{entry_type}.jsonl"):
            fields = failed_fields(validators[entry_type], entry)
            report.check(not fields, f"valid/{where}: fails at {sorted(fields)}")
        for where, case in lines_of(source / f"fixtures/entries/invalid/{entry_type}.jsonl"):
            fields = failed_fields(validators[entry_type], case["entry"])
            report.check(case["expect_field"] in fields,
                         f"invalid/{where}: fails at {sorted(fields)}, "
                         f"not at '{case['expect_field']}' ({case['why']})")


def check_refused(validators, report):
    for name, field, value in REFUSED:
        fields = failed_fields(validators[name], value)
        report.check(field in fields, f"{name}: fails at {sorted(fields)}, not at '{field}'")


def check_sample(source, validators, report):
    paths = sample_files(source / ".bmad-sample")
    report.check(any(path.name == "manifest.json" for path in paths), ".bmad-sample: no sessions")
    for path in paths:
        name = path.name
        if name == ".gitignore" or path.suffix == ".md":
            continue
        if name in LOGS:
            for where, value in lines_of(path):
                fields = failed_fields(validators[LOGS[name]], value)
                report.check(not fields, f"{path.parent.name}/{where}: fails at {sorted(fields)}")
        elif path.suffix == ".json" and path.stem in validators:
            value = json.loads(path.read_text(encoding="utf-8"))
            fields = failed_fields(validators[path.stem], value)
            report.check(not fields, f"{path}: fails at {sorted(fields)}")
        else:
            report.check(False, f"{path}: no schema says what this is")


def check_made_indexes(source, tool, validators, report):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "memory"
        copy_sample(copy, source / ".bmad-sample")
        subprocess.run([tool, "--root", copy, "rebuild-index", "--all"], check=True,
                       stdout=subprocess.DEVNULL)
        made = sorted(copy.rglob("index.json"))
        report.check(bool(made), ".bmad-sample: rebuild-index made no index.json")
        for path in made:
            value = json.loads(path.read_text(encoding="utf-8"))
            fields = failed_fields(validators["index"], value)
            report.check(not fields, f"{path.parent.name}/{path.name}: fails at {sorted(fields)}")
            unknown = set(value) - set(validators["index"].schema["properties"])
            report.check(not unknown, f"{path.name}: the schema doesn't say what {unknown} is")


def check_made_schemas(source, tool, report):
    """What the table of fields says is what the files say."""
    def made(*arguments):
        return subprocess.run([tool, "schema", *arguments], check=True, capture_output=True,
                              text=True).stdout

    for entry_type in ENTRY_TYPES:
        path = source / "schemas" / f"{entry_type}.schema.json"
        report.check(path.read_text(encoding="utf-8") == made(entry_type),
                     f"{path.name} is not what lib/model/entry_types.cpp says; run ./dev schemas")
    report.check(f"\n{made()}\n" in (source / "docs" / "files.md").read_text(encoding="utf-8"),
                 "the table of fields in docs/files.md is out of date; run ./dev schemas")


def main():
    source = pathlib.Path(sys.argv[1])
    report = Report()
    validators = load_validators(source, report)
    check_fixtures(source, validators, report)
    check_refused(validators, report)
    check_sample(source, validators, report)
    if len(sys.argv) > 2:
        check_made_indexes(source, sys.argv[2], validators, report)
        check_made_schemas(source, sys.argv[2], report)
    for failure in report.failures:
        print(failure)
    print(f"{report.checks} checks, {len(report.failures)} failed")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
