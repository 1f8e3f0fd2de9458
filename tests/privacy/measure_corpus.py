"""Measures the redactor on cases of other people's rules: how many secrets go, how many clean texts stay.

    python3 tests/privacy/measure_corpus.py build/release/bmad-mem FILE.jsonl...

A line of a file is one case: {"rule", "text", "secret"} or {"rule", "text", "clean": true}. A secret counts as gone when no
run of 8 of its characters is left (a shorter one: when it is not left whole); of an address, what stands before its path is
no secret. The share is the mean over the rules, so that a rule with many examples counts once. Cases without a text are
named and left out.
"""

import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile


def redacted(program, text, folder):
    """The text as `redact -` leaves it."""
    environment = dict(os.environ, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
    run = subprocess.run([program, "redact", "-"], input=text.encode(), capture_output=True, cwd=folder, env=environment)
    return run.stdout.decode(errors="replace")


def is_gone(secret, text, left):
    """Whether nothing is left of it that doesn't stand elsewhere in the text as well: "rubygems" of a token and of its server."""
    # A word may be its own name: `password "password"`.
    outside = "\n".join(text.rsplit(secret, 1 if secret.isalpha() else -1))
    left = re.sub(r"\[REDACTED:[^]]*\]", "\n", left)
    secret = re.sub(r"^[a-z]+://[^/@\s]+/(?=.)", "", secret)
    width = min(8, len(secret))
    pieces = {secret[at : at + width] for at in range(len(secret) - width + 1)}
    return not any(left.count(piece) > outside.count(piece) for piece in pieces)


def is_untouched(text, left):
    """Whether all is as it was but personal data, which go by another policy."""
    pieces = re.split(r"\[REDACTED:(?:email|phone|ip|iban|card|national-id)\]", left.rstrip("\n"))
    return re.fullmatch(".+?".join(map(re.escape, pieces)), text.rstrip("\n"), re.DOTALL) is not None


def mean_over_rules(outcomes):
    """outcomes: (rule, whether it went well). The mean of the rules' shares."""
    rules = collections.defaultdict(list)
    for rule, well in outcomes:
        rules[rule].append(well)
    return sum(sum(wells) / len(wells) for wells in rules.values()) / max(1, len(rules)), len(rules)


def main():
    program, *files = sys.argv[1:]
    program = os.path.abspath(program)
    for path in files:
        cases = [json.loads(line) for line in open(path, encoding="utf-8") if line.strip()]
        empty = [case["rule"] for case in cases if not case["text"].strip()]
        cases = [case for case in cases if case["text"].strip()]
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            texts = list(pool.map(lambda case: redacted(program, case["text"], folder), cases))
        secrets, clean = [], []
        for case, text in zip(cases, texts):
            if case.get("clean"):
                well = is_untouched(case["text"], text)
                clean.append((case["rule"], well))
            else:
                well = is_gone(case["secret"], case["text"], text)
                secrets.append((case["rule"], well))
            if not well:
                print(f"  {'changed' if case.get('clean') else 'stays'}  {case['rule']}  {case['text'][:300]!r}")
        for name, outcomes in (("secrets gone", secrets), ("clean texts untouched", clean)):
            if not outcomes:
                continue
            share, rules = mean_over_rules(outcomes)
            print(f"{path}: {name} {share:.3f} (mean over {rules} rules, {len(outcomes)} cases)")
        if empty:
            print(f"{path}: left out, no text: {', '.join(empty)}")


if __name__ == "__main__":
    main()
