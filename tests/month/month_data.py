"""What is said, committed and stated in a scenario, and what is asked about it.

    talk         sessions of messages between two speakers       questions with known answers
    commits      one-line documents                              questions with known answers
    statements   decisions, findings, facts, messages, each with two words that nobody else uses

Talk, commits and questions come from a folder of development data, the first of
  $BMAD_RETRIEVAL_DATA
  retrieval-dev in $BMAD_SHARED_DATA, else in ../shared/data beside the project
that holds corpus.jsonl and queries.jsonl, whose form is drawn in tests/bench/bench_data.py. Without one, talk is made of words of this repository's
documents and asked for by the rarest words of a message. Filler is made like that, too.
"""

import collections
import dataclasses
import os
import pathlib
import random
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "bench"))
from bench_data import read_data  # noqa: E402

SHARED = pathlib.Path(os.environ.get("BMAD_SHARED_DATA", SOURCE.parent / "shared" / "data"))
DAYS = 91
DOCUMENT_SESSIONS = 20  # Among which the documents of a store are divided.
STATEMENTS_EVERY = 3  # Days: so many fall on one, and share a session.
WORD = re.compile(r"[a-z]{4,}")


@dataclasses.dataclass
class Message:
    key: str
    speaker: str
    text: str


@dataclasses.dataclass
class Session:
    """Something that happens on one day. `kind`: "talk" or "commits"."""

    name: str
    day: int
    kind: str
    messages: list


@dataclasses.dataclass
class Statement:
    key: str
    day: int
    type: str
    text: str
    words: tuple

    def question(self):
        return f"{self.words[0]} {self.words[1]}"

    def prompt(self):
        # A question: a request for work needs more words of the memory than two.
        return f"How do {self.words[0]} and {self.words[1]} work together?"


@dataclasses.dataclass
class Question:
    text: str
    relevant: tuple


@dataclasses.dataclass
class Data:
    sessions: list
    statements: list
    questions: list
    about: str


def development_folder():
    """The folder that is named, else `retrieval-dev`: the gates are for people's talk and commits."""
    place = pathlib.Path(os.environ.get("BMAD_RETRIEVAL_DATA") or SHARED / "retrieval-dev")
    return place if (place / "corpus.jsonl").is_file() and (place / "queries.jsonl").is_file() else None


def spread(count, number, first=1, last=DAYS - 1):
    """The day of thing `number` of `count` that are spread evenly."""
    return first + (last - first) * number // max(count - 1, 1)


def development_data(folder):
    """(sessions, questions) as the data has them; their days keep the order in each store."""
    data = read_data(folder)
    sessions = []
    for store in data.stores:
        talk = store.is_conversation()
        parts = collections.defaultdict(list)
        for number, message in enumerate(store.messages):
            name = message.session if talk else number * DOCUMENT_SESSIONS // len(store.messages)
            parts[name].append(Message(f"{store.name}/{message.id}", message.speaker, message.text))
        kind = "talk" if talk else "commits"
        for number, (name, messages) in enumerate(parts.items()):
            sessions.append(Session(f"{store.name}-{name}".lower(), spread(len(parts), number), kind, messages))
    questions = [
        Question(each.text, tuple(f"{each.store}/{key}" for key in each.relevant))
        for each in data.questions
        if each.relevant
    ]
    return sessions, questions


class MadeTalk:
    """Messages of words of the repository's documents, as frequent as there; topics make words cluster."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        text = " ".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / "docs").glob("*.md")))
        self.words = WORD.findall(text.lower())

    def sentence(self, topic):
        size = self.random.randint(8, 24)
        words = [self.random.choice(topic if self.random.random() < 0.4 else self.words) for _ in range(size)]
        return " ".join(words).capitalize() + "."

    def sessions(self, count, size, prefix):
        made = []
        for number in range(count):
            topic = [self.random.choice(self.words) for _ in range(25)]
            name = f"{prefix}-{number}"
            messages = [
                Message(f"{name}/{i}", ("Ann", "Bob")[i % 2], self.sentence(topic)) for i in range(size)
            ]
            made.append(Session(name, spread(count, number), "talk", messages))
        return made


def known_items(sessions, count, seed):
    """Questions of the three rarest words of a message, in another order."""
    pick = random.Random(seed)
    counts = collections.Counter(
        word for session in sessions for m in session.messages for word in set(WORD.findall(m.text.lower()))
    )
    messages = [message for session in sessions for message in session.messages]
    questions = []
    for message in pick.sample(messages, min(count, len(messages))):
        rarest = sorted(set(WORD.findall(message.text.lower())), key=lambda word: (counts[word], word))[:3]
        pick.shuffle(rarest)
        questions.append(Question(f"what was said about {', '.join(rarest)}?", (message.key,)))
    return questions


FORMS = {
    "decision": "Let {0} own the retries of {1}, and nobody else",
    "finding": "The worker for {0} drops rows when {1} is full",
    "fact": "The {0} gateway listens behind the {1} proxy",
    "conversation": "Before a release we always drain {0}, then restart {1}.",
}


def rare_words(seed):
    """Words that nobody uses, one after the other, no two alike."""
    pick = random.Random(seed)
    used = set()
    while True:
        word = "".join(pick.choice("bdfgklmnprtvz") + pick.choice("aeiou") for _ in range(4)) + pick.choice("xqk")
        if word[:5] not in used:
            used.add(word[:5])
            yield word


def statements(count, seed):
    words = rare_words(seed)
    made = []
    for number in range(count):
        pair = (next(words), next(words))
        kind = list(FORMS)[number % len(FORMS)]
        day = spread(count, number)
        day -= (day - 1) % STATEMENTS_EVERY
        made.append(Statement(f"statement/{number}", day, kind, FORMS[kind].format(*pair), pair))
    return made


def month_data(sessions, entries, known, seed=1, folder=None):
    """`sessions` sessions of about `entries` entries, `known` of which are statements; data of `folder`, if any."""
    folder = folder or development_folder()
    made = MadeTalk(seed)
    if folder is not None:
        base, questions = development_data(folder)
        about = f"development data of {folder}"
    else:
        base = made.sessions(sessions, entries // sessions, "made")
        questions = known_items(base, 400, seed)
        about = "made talk, since there is no development data: BMAD_RETRIEVAL_DATA names none"
    missing = sessions - len(base)
    if missing > 0:
        left = entries - known - sum(len(session.messages) for session in base)
        base += made.sessions(missing, max(left // missing, 4), "filler")
    random.Random(seed).shuffle(questions)
    return Data(base, statements(known, seed), questions, about)
