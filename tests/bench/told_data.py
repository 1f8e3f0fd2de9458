"""The data of `bench briefings`: memories, questions to them, and prompts, in two halves.

    tune      what constants and word lists are chosen on
    sealed    the same, and nobody looks into it while tuning: it is counted, and never printed

    people      conversations of people             of --data, by the split of their questions, else every second one
    agents      chats with a coding assistant       of --agents, in the same way
    projects    projects in three languages         fixtures/told/HALF, with prompts and rules
    joined      all of them and all documents in one memory
    pairs       two messages that contradict each other, made here
"""

import collections
import csv
import dataclasses
import datetime
import pathlib
import random

from bench_data import UTC, Message, Question, Store, read_data
from bench_memory import SOURCE
from month_data import rare_words

HALVES = ("tune", "sealed")
SPLITS = {"tune": "tune", "sealed": "sealed", "end": "sealed"}
FIXTURES = SOURCE / "fixtures" / "told"
PAIRS = 120
LATER = datetime.timedelta(days=20)  # Between two messages that contradict each other.

Prompt = collections.namedtuple("Prompt", "kind language text")
Rule = collections.namedtuple("Rule", "language kind statement prompt")
Pair = collections.namedtuple("Pair", "older newer prompt")  # Ids of messages, and what asks for them.


@dataclasses.dataclass
class Memory:
    """What fills a memory, and what is asked of it. `kind`: people, agents or projects."""

    kind: str
    store: Store
    questions: list  # With an answer.
    near_misses: list  # Texts of questions about its topics that it doesn't answer.

    def is_talk_with_agent(self):
        return self.kind != "people"


@dataclasses.dataclass
class Half:
    name: str
    memories: list
    prompts: list  # That ask nothing.
    rules: list
    joined: list  # The stores of the large memory.

    def of_kind(self, kind):
        return [memory for memory in self.memories if memory.kind == kind]


def half_of(store, questions, place):
    """The half of a store: as its questions say, else by its place among the stores."""
    said = {SPLITS[question.split] for question in questions if question.split in SPLITS}
    return said.pop() if len(said) == 1 else HALVES[place % 2]


def columns(path):
    """The lines of a table with tabs between; `\\n` is a newline and `\\t` a tab."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [[cell.replace("\\n", "\n").replace("\\t", "\t") for cell in row] for row in rows]


def memories_of(kind, data, near_misses=()):
    """The memories of a data set, and the half of each. `near_misses`: more of them, as (store, text)."""
    stores = [store for store in data.stores if store.is_conversation()]
    for place, store in enumerate(stores):
        questions = [question for question in data.questions if question.store == store.name]
        unanswered = [question.text for question in questions if not question.relevant]
        unanswered += [text for name, text in near_misses if name == store.name]
        asked = [question for question in questions if question.relevant]
        yield Memory(kind, store, asked, unanswered), half_of(store, questions, place)


def read_half(name, people, agents, fixtures):
    """A half of the data sets `people` and `agents`, and of the folder `fixtures`; a folder that isn't there is empty."""
    memories, joined = [], []
    for kind, data in (("people", people), ("agents", agents)):
        memories += [memory for memory, half in memories_of(kind, data) if half == name]
        joined += data.stores
    prompts, rules = [], []
    folder = pathlib.Path(fixtures) / name
    if folder.is_dir():
        data = read_data(folder)
        more = pathlib.Path(fixtures) / "near_misses.tsv"  # About the half to tune on.
        misses = columns(more) if name == "tune" and more.exists() else ()
        memories += [memory for memory, _ in memories_of("projects", data, misses)]
        joined += data.stores
        prompts = [Prompt(*row) for row in columns(folder / "prompts.tsv")]
        rules = [Rule(*row) for row in columns(folder / "rules.tsv")]
    return Half(name, memories, prompts, rules, joined)


def renamed(store, place):
    """`store` with ids and sessions that no other store has."""
    messages = [
        dataclasses.replace(message, id=f"{place}.{number}", session=message.session and f"{place}-{message.session}")
        for number, message in enumerate(store.messages)
    ]
    return Store(store.name, messages)


# What is said first and later, what asks for it, and the values.
CONTRADICTIONS = (
    ("The {0} service listens on port {1}.", "{0} is on port {1} now.", "Which port does {0} listen on?", "8080 9443 7001 5432"),
    ("We pin {0} at version {1}.", "I raised {0} to {1} and all tests pass.", "Which version of {0} do we use?", "1.4.2 2.0.1 3.11.0 0.9.8"),
    ("Backups of {0} are written to {1}.", "The backups of {0} are written to {1} since the move.", "Where do the backups of {0} go?",
     "/srv/backup /mnt/tank/backup /var/lib/dumps /data/nightly"),
    ("{1} looks after {0}.", "From this week on {1} looks after {0}.", "Who looks after {0}?", "Marit Osei Tomas Ilse"),
    ("The timeout of {0} is {1} seconds.", "I changed the timeout of {0} to {1} seconds.", "what is the timeout of {0}?", "15 30 45 90"),
    ("{0} runs on the host {1}.", "We moved {0}: it runs on the host {1}.", "on which host does {0} run?", "kestrel plover dipper avocet"),
    ("Sessions of {0} are kept for {1} days.", "Sessions of {0} are kept for {1} days, the lawyers said so.",
     "How long are the sessions of {0} kept?", "14 30 60 365"),
    ("The release branch of {0} is called {1}.", "The release branch of {0} is called {1} from now on.",
     "What is the release branch of {0} called?", "stable release-3 production freeze"),
    ("{0} deploys at {1}.", "{0} deploys at {1} instead.", "When does {0} deploy?", "06:30 14:00 21:15 03:45"),
    ("The config of {0} is in {1}.", "The config of {0} is in {1} now, the old file is gone.", "Where is the config of {0}?",
     "config/main.toml settings/base.yaml etc/app.json conf/site.ini"),
    ("Der Dienst {0} hört auf Port {1}.", "Der Dienst {0} hört jetzt auf Port {1}.", "Auf welchem Port hört {0}?", "8081 9090 7443 6100"),
    ("Le service {0} écoute sur le port {1}.", "Le service {0} écoute maintenant sur le port {1}.", "Sur quel port écoute {0} ?",
     "8082 9191 7544 6200"),
)


def contradictions(seed, end):
    """A store of messages that contradict each other in pairs, the newest before `end`, and the pairs."""
    names = rare_words(f"pairs {seed}")
    pick = random.Random(f"values {seed}")
    said, pairs = [], []
    for number in range(PAIRS):
        first, later, asks, values = CONTRADICTIONS[number % len(CONTRADICTIONS)]
        name, chosen = next(names), pick.sample(values.split(), 2)
        time = end - datetime.timedelta(hours=6 * number + 1)
        for which, form, value, at in (("a", first, chosen[0], time - LATER), ("b", later, chosen[1], time)):
            key, session = f"pair-{number}{which}", f"{at:%Y-%m-%d}"
            said.append(Message(key, form.format(name, value), "user", session, at))
            said.append(Message(f"{key}-answer", "Noted.", "assistant", session, at + datetime.timedelta(seconds=40)))
        pairs.append(Pair(f"pair-{number}a", f"pair-{number}b", asks.format(name)))
    said.sort(key=lambda message: message.time)
    return Store("pairs", said), pairs


def sample(things, count, *seeds):
    """At most `count` of them, the same in each run."""
    things = list(things)
    return random.Random(" ".join(map(str, seeds))).sample(things, min(count, len(things)))


def latest_time(stores):
    times = [time for time in (store.latest_time() for store in stores) if time]
    return max(times, default=datetime.datetime.now(UTC))
