#!/usr/bin/env python3
"""Makes lib/knowledge/rules/{words,pairs,rows}.txt from the sentences of fixtures/stated_rules_*.tsv: by logistic regression over
the words of a sentence and their neighbours. lib/knowledge/rule_language.cpp has the same features.

    python3 tests/knowledge/rule_weights.py             # writes the tables
    python3 tests/knowledge/rule_weights.py SENTENCES   # trains without it and prints how it does on these
"""

import collections
import math
import pathlib
import random
import re
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "lib/knowledge/rules"
SENTENCES = [*sorted((ROOT / "tests/knowledge/fixtures").glob("stated_rules_*.tsv")), ROOT / "fixtures/told/tune/rules.tsv"]
TABLES = {"words": "a word, or the front of one", "pairs": "two words in a row", "rows": "more words"}
UNIT = 0.05
RUNS = 6
STEM, FIRST, CLASS_WORDS = 5, 3, 4
WIDE = "[぀-ヿ一-鿿々〇]"
WORD = re.compile(WIDE + "|[^぀-ヿ一-鿿々〇 ]+")


def changes():
    for line in (RULES / "sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("change "):
            pattern, text = line[7:].split(" =>", 1)
            yield re.compile(pattern), text.removeprefix(" ").replace("\\s", " ")


CHANGES = list(changes())


def folded(text):
    for of, by in (("ß", "ss"), ("ẞ", "ss"), ("ø", "o"), ("Ø", "o"), ("æ", "ae"), ("Æ", "ae")):
        text = text.replace(of, by)
    pairs = ((c, unicodedata.normalize("NFD", c)[0]) for c in text)
    return "".join(base if ord(base) < 0x250 else c for c, base in pairs).lower()


def plain(sentence):
    text = folded(" ".join(sentence.split()))
    for pattern, by in CHANGES:
        text = pattern.sub(by, text)
    return f", {text.strip(' ,')} , "


def classes():
    """(word, name of its class)"""
    for line in (ROOT / "tests/knowledge/fixtures/word_classes.txt").read_text(encoding="utf-8").splitlines():
        name, _, words = line.partition(": ")
        yield from ((word.replace("_", "") or word, words if name == "sign" else name) for word in words.split() if line[0] != "#")
    for line in (RULES / "subjects.txt").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words and words[0] not in ("#", "any", "oneof"):
            yield from ((folded(word), words[0] if words[0] in ("make", "weak") else "subject") for word in words)


def class_numbers():
    numbers, found = {}, {}
    for word, name in classes():
        if not re.match(WIDE, word) or len(word) <= CLASS_WORDS:
            found.setdefault(word, numbers.setdefault(name, len(numbers) + 1))
    return found


CLASSES = class_numbers()


def classes_of(words):
    found, begin = [], 0
    while begin < len(words):
        counts = range(CLASS_WORDS, 0, -1)
        number, count = next(((CLASSES[word], count) for count in counts if (word := "".join(words[begin:begin + count])) in CLASSES), (0, 1))
        if number != 0 or found[-1:] != ["=0"]:
            found.append(f"={number}")
        begin += count
    return found


def features(sentence):
    words = []
    for word in WORD.findall(plain(sentence)):
        is_kept = re.fullmatch(WIDE + r"|[a-z'\u0080-\u2fff-]+|[,:?\"]", word)
        words.append(word if is_kept else "_" if re.search("[a-z]", word) else "9")
    classes = classes_of(words)
    return in_row(words) | in_row(classes) | {f"{a}&{b}" for a in classes for b in classes if a < b}


def in_row(words):
    found = {f"^{word}" for word in words[:FIRST]}
    found.update(f"{word[:STEM]}-" for word in words if len(word) > STEM)
    for a, b, c in zip(words, [*words[1:], ""], [*words[2:], "", ""]):
        found.update((a, f"{a} {b}", f"{a} {b} {c}"))
    return found


def rows(path):
    """(features of a sentence, whether it is a rule)"""
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("#") or len(cells) < 3:
            continue
        is_rule = not (cells[1].startswith("not-") or cells[1] == "n")
        if cells[1] == "not-retracted":  # Its sentences are rules by themselves.
            continue
        parts = [part for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n+", cells[2].replace("\\n", "\n")) if part.strip()]
        if len(parts) == 1 or not is_rule:  # Which of several is the rule is not known.
            yield from ((features(part), is_rule) for part in parts)


def trained(sentences):
    counts = collections.Counter(feature for found, _ in sentences for feature in found)
    sentences = [  # Features of three words that are rare would be half of the table.
        ([feature for feature in sorted(found) if counts[feature] > 2 or feature.count(" ") < 2], is_rule)
        for found, is_rule in sentences
    ]
    sums = collections.Counter()
    for seed in range(RUNS):  # The mean of several: the order of the sentences decides a few of a hundred.
        for feature, weight in run(seed, list(sentences)).items():
            sums[feature] += weight
    rounded = {feature: round(weight / RUNS / UNIT) for feature, weight in sums.items()}
    # Of what was met once, and of words in a row, what is small is half of the tables, and hardly a rule.
    smallest = {feature: 1 if " " not in feature else 5 if counts[feature] == 1 else 2 for feature in rounded}
    return {feature: weight for feature, weight in rounded.items() if abs(weight) >= smallest[feature]}


def run(seed, sentences):
    random.seed(seed)
    weights, squares = {}, {}
    for _ in range(20):
        random.shuffle(sentences)
        for found, is_rule in sentences:
            score = sum(weights.get(feature, 0) for feature in found)
            slope = 1 / (1 + math.exp(-max(-30, min(30, score)))) - is_rule
            for feature in found:
                squares[feature] = squares.get(feature, 0) + slope * slope
                weights[feature] = weights.get(feature, 0) * (1 - 1e-4) - 0.1 * slope / math.sqrt(squares[feature] + 1)
    return weights


def main():
    weights = trained([row for path in SENTENCES for row in rows(path)])
    for path in sys.argv[1:]:
        scores = [(sum(weights.get(feature, 0) for feature in found) // 2, is_rule) for found, is_rule in rows(path)]
        for least in (-5, 0, 5, 10, 15, 20):
            print(least, [sum(score > least and is_rule == wanted for score, is_rule in scores) for wanted in (True, False)])
    if len(sys.argv) == 1:
        for blanks, (table, of) in enumerate(TABLES.items()):
            head = (f"# {table}.txt - twenty times how much {of} of a sentence speaks for a rule; rule_language.cpp.\n"
                    "# Made by tests/knowledge/rule_weights.py.\n\n")
            values = {feature: weight for feature, weight in weights.items() if min(feature.count(" "), 2) == blanks}
            if blanks == 0:
                values |= {f"@{word}": number for word, number in CLASSES.items()}
            lines = (f"{feature} {values[feature]}\n" for feature in sorted(values, key=str.encode))
            (RULES / f"{table}.txt").write_text(head + "".join(lines), encoding="utf-8")


main()
