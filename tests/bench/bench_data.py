"""Messages and questions about them, read from files of JSON lines, and how they become entries.

    corpus.jsonl    {"store":"a","id":"D1:1","seq":0,"ts":"2023-05-08T13:56:00","speaker":"Ann",
                     "session":"S1","text":"Hello!"}
    queries.jsonl   {"store":"a","id":"q1","text":"Who said hello?","category":"greetings","ts":"",
                     "relevant":["D1:1"]}

`id` and `text` are required. Other fields may be missing, and unknown ones are ignored. Each `store` is
a memory of its own. Ids may be strings or integers.
"""

import collections
import dataclasses
import datetime
import json
import math
import re

UTC = datetime.timezone.utc
DOCUMENT, CONVERSATION = "event", "conversation"
# A line takes 1 MiB, and JSON needs six bytes for one at worst ("\u0001").
TEXT_SIZE_MAX = 160_000
ROLES = ("user", "assistant", "system", "tool")
ENTRY_ID = re.compile(r"[A-Za-z0-9_.:@+=~-]{1,128}")
WORD = re.compile(r"(?:[A-Za-z0-9_]|[^\x00-\x7f])+")
WORDS = ("id", "store", "speaker", "session", "category", "split")  # Fields that are strings or integers.
RECALL_CUTOFFS = (1, 5, 10, 20)
GAIN_DEPTH = 10


class BadData(Exception):
    """A line of a data set that cannot be used; the text has file, line and field."""


@dataclasses.dataclass
class Message:
    id: str
    text: str
    speaker: str = ""
    session: str = ""
    time: datetime.datetime | None = None
    sequence: int | None = None


@dataclasses.dataclass
class Store:
    """The messages of one memory, ordered by `seq` where all have one, else as in the file."""

    name: str
    messages: list = dataclasses.field(default_factory=list)

    def is_conversation(self):
        """Whether a session has several messages; all other messages are documents, such as commits."""
        sessions = collections.Counter(message.session for message in self.messages if message.session)
        return any(count > 1 for count in sessions.values())

    def latest_time(self):
        return max((message.time for message in self.messages if message.time), default=None)


@dataclasses.dataclass
class Question:
    store: str
    id: str
    text: str
    category: str = ""
    time: datetime.datetime | None = None  # When it is asked.
    relevant: list = dataclasses.field(default_factory=list)  # Ids of messages, each once.
    split: str = ""  # The half of the data that it belongs to.
    older: list = dataclasses.field(default_factory=list)  # Ids of messages with a value that changed since.


@dataclasses.dataclass
class Data:
    stores: list  # In the order of the file.
    questions: list
    warnings: list


def lenient_time(value):
    """RFC 3339, also without a zone (UTC), a date, or seconds or milliseconds since 1970; else None."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # Seconds reach this bound in the year 5138; milliseconds passed it in 1973.
            seconds = value if value < 1e11 else value / 1000
            return datetime.datetime.fromtimestamp(seconds, UTC) if seconds >= 0 else None
        time = datetime.datetime.fromisoformat(value)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def word_of(value, field):
    """A string or an integer as a string; empty when it is missing or null."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadData(f"{field}: must be a string or an integer, but is {type(value).__name__}")
    return str(value)


def checked(line):
    """The fields of one line, with the types that this module promises."""
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise BadData("must be an object")
    if not word_of(fields.get("id"), "id"):
        raise BadData("id: is required, and is missing or empty")
    if not isinstance(fields.get("text"), str):
        raise BadData("text: must be a string")
    words = {name: word_of(fields.get(name), name) for name in WORDS}
    ids = {name: ids_of(fields.get(name), name) for name in ("relevant", "older")}
    return {**fields, **words, **ids, "time": lenient_time(fields.get("ts"))}


def ids_of(value, field):
    """A list of ids, each once; empty when it is missing or null."""
    if not isinstance(value, (list, type(None))):
        raise BadData(f"{field}: must be a list of ids")
    return list(dict.fromkeys(word_of(each, field) for each in value or ()))


def lines_of(path, warnings):
    """Yields the checked fields of each line; warns about times that cannot be read."""
    unread = []
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                fields = checked(line)
            except (BadData, ValueError) as error:
                raise BadData(f"{path}:{number}: {error}") from error
            if fields["time"] is None and fields.get("ts") not in (None, ""):
                unread.append(number)
            yield fields
    if unread:
        warnings.append(f"{path}:{unread[0]}: {len(unread)} times cannot be read and are ignored")


def read_data(folder):
    """The data of `folder`. Raises OSError for a missing file and BadData for a line."""
    warnings = []
    stores = {}
    for fields in lines_of(f"{folder}/corpus.jsonl", warnings):
        sequence = fields.get("seq") if isinstance(fields.get("seq"), int) else None
        message = Message(fields["id"], fields["text"], fields["speaker"], fields["session"], fields["time"], sequence)
        stores.setdefault(fields["store"], Store(fields["store"])).messages.append(message)
    for store in stores.values():
        if all(message.sequence is not None for message in store.messages):
            store.messages.sort(key=lambda message: message.sequence)
    questions = [
        Question(*(fields[name] for name in ("store", "id", "text", "category", "time", "relevant", "split", "older")))
        for fields in lines_of(f"{folder}/queries.jsonl", warnings)
    ]
    known = {(store.name, message.id) for store in stores.values() for message in store.messages}
    strangers = sum((each.store, key) not in known for each in questions for key in each.relevant)
    if strangers:
        warnings.append(f"queries.jsonl: {strangers} relevant ids are no messages; they count as not found")
    return Data(list(stores.values()), questions, warnings)


@dataclasses.dataclass
class Plan:
    """How a store becomes entries of one type, in sessions."""

    type: str
    sessions: dict  # Id of a session of ours -> its entries, as `add` reads them.
    ids: dict  # Id of an entry -> id of its message.
    shortened: int = 0  # Texts that were cut, since a line takes no more.


def plan_entries(store, prefix="s"):
    """Each session of a conversation becomes one of ours; documents become events of one session.

    `prefix`: of the ids of sessions, which must differ between stores that fill one memory.

    Ids stay where all can be entry ids and differ; else they are made. Nothing else is looked at.
    """
    keys = [message.id for message in store.messages]
    keep_ids = len(set(keys)) == len(keys) and all(ENTRY_ID.fullmatch(key) for key in keys)
    talk = store.is_conversation()
    plan = Plan(CONVERSATION if talk else DOCUMENT, {}, {})
    names = {}
    time = next((message.time for message in store.messages if message.time), None)
    first_speaker = next((message.speaker for message in store.messages if message.speaker not in ROLES), None)
    for number, message in enumerate(store.messages):
        name = message.session if talk else ""
        slug = re.sub(r"[^a-z0-9]", "-", name.lower()[:40])
        session = names.setdefault(name, f"{prefix}{len(names) + 1:05}-{slug}")
        entry = {"id": message.id if keep_ids else f"m-{number}"}
        plan.ids[entry["id"]] = message.id
        if time:  # A message without a time follows the one before it.
            time = message.time or time + datetime.timedelta(seconds=1)
            entry["timestamp"] = rfc3339(time)
        is_role = message.speaker in ROLES
        if message.speaker and not (talk and is_role):
            entry["agent_id"] = message.speaker
        text = message.text.encode()[:TEXT_SIZE_MAX].decode(errors="ignore")
        plan.shortened += len(text) < len(message.text)
        entry["content"] = text or "-"  # An entry needs a text; this one has no word.
        if talk:
            spoken = "user" if message.speaker == first_speaker else "assistant"
            entry["role"] = message.speaker if is_role else spoken
            entry["context"] = {"conversation_id": session}
        else:
            entry["kind"] = "document"
        plan.sessions.setdefault(session, []).append(entry)
    return plan


def rfc3339(time):
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def letters_of(text):
    """Matches of the words of `text` that are ASCII letters alone."""
    return [found for found in WORD.finditer(text) if found[0].isascii() and found[0].isalpha()]


def place_of_slip(word):
    """Where a swap with the next letter changes something: from the middle on, else before it; 0: nowhere."""
    middle = len(word) // 2 - 1
    places = [*range(max(middle, 1), len(word) - 1), *range(middle, 0, -1)]
    return next((at for at in places if word[at] != word[at + 1]), 0)


class SlipMaker:
    """A slip of the finger in a question, the same in each run."""

    def __init__(self, store):
        self.counts = collections.Counter(
            word for message in store.messages for word in {found[0].lower() for found in letters_of(message.text)}
        )

    def slipped(self, question):
        """`question` with two letters swapped inside its rarest word that some message holds.

        Of words with four letters or more; the longer, then the first of equals; never the first letter.
        """
        words = []
        for found in letters_of(question):
            count, place = self.counts[found[0].lower()], place_of_slip(found[0]) if len(found[0]) >= 4 else 0
            if count and place:
                words.append((count, -len(found[0]), found.start() + place))
        if not words:
            return question
        at = min(words)[2]
        return question[:at] + question[at + 1] + question[at] + question[at + 2 :]


def score_ranking(ranking, relevant):
    """Recall@k, MRR and nDCG@10 of `ranking`, ids with the best first, each once.

        ranking    b  x  a  y  z ...      relevant {a, c}
        Recall@1   0 of 2                 Recall@5   1 of 2
        MRR        1/3, since the first relevant one is third
        nDCG@10    1/log2(3+1), of 1/log2(1+1) + 1/log2(2+1) when both are first

    Relevance is yes or no (Järvelin and Kekäläinen, 2002). An id that is not ranked is not found.
    """
    assert relevant
    wanted = set(relevant)
    ranks = [rank for rank, key in enumerate(ranking, 1) if key in wanted]
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= GAIN_DEPTH)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), GAIN_DEPTH) + 1))
    scores = {f"recall_at_{cutoff}": sum(rank <= cutoff for rank in ranks) / len(wanted) for cutoff in RECALL_CUTOFFS}
    return {**scores, "mrr": 1 / ranks[0] if ranks else 0.0, "ndcg_at_10": gain / best}


class Mean:
    """The mean of numbers by name, such as scores, over questions of the same weight."""

    def __init__(self):
        self.sums = collections.Counter()
        self.count = 0

    def add(self, scores):
        for name, score in scores.items():
            self.sums[name] += score
        self.count += 1

    def mean(self):
        return {name: total / self.count for name, total in self.sums.items()}

    def percent(self, name):
        return 100 * self.sums[name] / self.count if self.count else 0.0
