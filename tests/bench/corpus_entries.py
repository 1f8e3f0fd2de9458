"""Memory as agents would write it, made from a seed: one entry after another; and what to ask of it.

Entries come in the order in which a project would write them: conversations of 10 to 60 messages about one topic each,
tool events in between, now and then a decision, a finding, a fact, a preference, a state, an artifact. 1 in 100 is a
newer version of a finding that was resolved. Time runs from 2026-01-05 on.

Ten million bytes are about 17,000 entries and 780,000 tokens, as in the data that other search engines were measured on.

A query has 1 to 5 words. A word is drawn as often as entries hold it, so that words that many use are asked for most,
and by Zipf's law there are always rare ones among them: some queries have a handful of matches, others a third of all.
"""

import bisect
import collections
import datetime
import itertools
import json
import re

from bench_data import UTC, rfc3339
from corpus_text import WORDS, Random, TextMaker, Zipf

TOPICS = 80
START = int(datetime.datetime(2026, 1, 5, 8, tzinfo=UTC).timestamp() * 1000)
BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's.
AGENTS = ("architect", "builder", "analyst", "reviewer", "tester", "bmad-master")
SEVERITIES = ("info", "low", "medium", "medium", "high", "critical")
IMPACTS = ("low", "medium", "high", "critical")
TOOLS = ("Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "mcp__db__query")
EXTENSIONS = ("ts", "cpp", "py", "md", "sql")
# Most texts are short and few are long: up to which per cent, and between how many tokens.
USER = ((35, (3, 12)), (80, (10, 35)), (100, (35, 110)))
ASSISTANT = ((40, (10, 40)), (85, (40, 110)), (100, (110, 260)))
RESULT = ((55, (3, 20)), (85, (15, 60)), (100, (60, 160)))
# Up to how many in a thousand.
TYPES = ((580, "conversation"), (860, "event"), (910, "finding"), (950, "decision"), (975, "fact"), (985, "preference"),
         (995, "agent_state"), (1000, "artifact"))
PREFIXES = {"conversation": "msg-", "event": "evt-", "finding": "finding-", "decision": "dec-", "fact": "fact-", "preference": "pref-",
            "agent_state": "state-", "artifact": "art-"}
# The line as it is in a log, without its newline; what of it is searched, a field a line; milliseconds since 1970.
Entry = collections.namedtuple("Entry", "type id line text time")


def base32(value, bits):
    return "".join(BASE_32[value >> shift & 31] for shift in range(bits - 5, -5, -5))


def time_text(milliseconds):
    """As the engine writes it: without milliseconds where there are none."""
    return rfc3339(datetime.datetime.fromtimestamp(milliseconds / 1000, UTC)).replace(".000Z", "Z")


class Corpus:
    """The same entries for the same seed, on every machine; without end."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.text = TextMaker(seed, self.random)
        self.topics = [self.text.topic() for _ in range(TOPICS)]
        self.topic_ranks = Zipf(TOPICS)
        self.time, self.topic, self.conversation = START, None, ""
        self.messages_left, self.user_speaks = 0, True
        self.last = dict.fromkeys(("message", "decision", "finding"), "")  # Ids that entries refer to.
        self.open_finding = None  # The last one, unless it was resolved.

    def __iter__(self):
        return self

    def of_type(self, kind):
        return (entry for entry in self if entry.type == kind)

    def __next__(self):
        random = self.random
        # Seconds within a conversation; once in a while the rest of the day.
        seconds = random.between(6 * 3600, 16 * 3600) if random.below(600) == 0 else random.between(1, 120)
        self.time += seconds * 1000 + random.below(1000)
        if self.open_finding and random.percent(1):
            return self.resolve()
        kind = random.share(TYPES)
        if self.messages_left == 0:
            self.start_conversation()
        key = PREFIXES[kind] + base32(self.time, 45) + base32(random.below(1 << 30), 30)
        self.said = []
        fields = {"id": key, "timestamp": time_text(self.time), **getattr(self, f"{kind}_fields")(), "decay_factor": 1.0}
        entry = Entry(kind, key, json.dumps(fields, ensure_ascii=False, separators=(",", ":")), "\n".join(self.said), self.time)
        if kind == "conversation":
            self.last["message"] = key
            self.messages_left -= 1
            # Assistants often speak twice, since tools are used in between.
            self.user_speaks = not self.user_speaks and random.percent(60)
        elif kind in self.last:
            self.last[kind] = key
            self.open_finding = entry if kind == "finding" else self.open_finding
        return entry

    def resolve(self):
        """A newer version: the same id in a later line, with another status."""
        finding, self.open_finding = self.open_finding, None
        # Within a text value the quotes would be escaped, so these are the fields.
        line = finding.line.replace('"status":"open"', '"status":"resolved"', 1)
        begin, end = line.rsplit('"decay_factor"', 1)
        return finding._replace(line=f'{begin}"updated_at":"{time_text(self.time)}","decay_factor"{end}', time=self.time)

    def start_conversation(self):
        random = self.random
        self.topic = self.topics[self.topic_ranks.draw(random)]
        self.conversation = "conv-" + base32(random.below(1 << 30), 30)
        self.last["message"] = ""
        self.messages_left, self.user_speaks = random.between(10, 60), True

    def searched(self, text):
        self.said.append(text)
        return text

    def agent(self):
        return self.random.pick(AGENTS)

    def sentences(self, low, high):
        return self.searched(self.text.sentences(self.topic, self.random.between(low, high)))

    def phrase(self, low, high):
        return self.searched(self.text.phrase(self.topic, self.random.between(low, high)))

    def tag(self):
        return self.text.tag(self.topic)

    def tags(self, low, high):
        return [self.searched(self.tag()) for _ in range(self.random.between(low, high))]

    def path(self):
        return self.searched(f"src/{self.tag()}/{self.tag()}.{self.random.pick(EXTENSIONS)}")

    def hundredths(self, low):
        return self.random.between(low, 100) / 100

    # The fields of each type in the order in which the engine writes them; what is drawn comes in that order, too.

    def conversation_fields(self):
        random, user = self.random, self.user_speaks
        fields = {} if user else {"agent_id": self.agent()}
        fields["role"] = "user" if user else "assistant"
        size = random.between(*random.share(USER if user else ASSISTANT))
        fields["content"] = self.searched((self.text.sentences if user else self.text.document)(self.topic, size))
        parent = {"parent_message_id": self.last["message"]} if self.last["message"] else {}
        fields["context"] = {"conversation_id": self.conversation, **parent, "topic": self.topic.name}
        fields["metadata"] = {"tokens": len(fields["content"].encode()) // 4}
        if not user:
            fields["metadata"]["processing_time_ms"] = random.between(300, 9000)
        if random.percent(25) and self.last["decision"]:
            fields["metadata"]["references"] = [self.last["decision"]]
        return fields

    def decision_fields(self):
        fields = {"made_by": self.agent()}
        if self.random.percent(70):
            fields["approved_by"] = ["user-789"]
        fields.update(decision=self.sentences(5, 14), rationale=self.sentences(12, 45))
        fields["alternatives_considered"] = [{"option": self.searched(self.text.phrase(self.topic, 2)), "rejected_reason": self.sentences(5, 16)}
                                             for _ in range(self.random.between(1, 3))]
        fields.update(impact=self.random.pick(IMPACTS), tags=self.tags(1, 3))
        lists = (("conversations", "message"), ("findings", "finding"))
        return {**fields, "references": {name: [self.last[of]] for name, of in lists if self.last[of]}}

    def event_fields(self):
        random, fields = self.random, {"agent_id": self.agent()}
        result = random.percent(50)
        fields.update(kind="tool_result" if result else "tool_use", tool=self.searched(random.pick(TOOLS)))
        if random.percent(60):
            fields["path"] = self.path()
        content = self.text.code()
        if result:
            content += "\n" + self.text.sentences(self.topic, random.between(*random.share(RESULT)))
        fields["content"] = self.searched(content)
        return {**fields, "metadata": {"tool_use_id": f"toolu_{random.next():016x}", "duration_ms": random.between(2, 4000),
                                       "exit_code": 0 if random.percent(90) else 1}}

    def finding_fields(self):
        return {"discovered_by": self.agent(), "category": self.searched(self.tag()), "severity": self.random.pick(SEVERITIES),
                "description": self.sentences(6, 25), "evidence": self.searched(self.text.code()),
                "recommendation": self.sentences(5, 20), "status": "open", "tags": self.tags(1, 3)}

    def preference_fields(self):
        return {"category": self.tag(), "key": self.searched(f"{self.tag()}_{self.tag()}"), "value": self.phrase(1, 4),
                "context": self.sentences(6, 20), "confidence": self.hundredths(40)}

    def fact_fields(self):
        return {"agent_id": self.agent(), "category": self.tag(), "key": self.searched(f"{self.tag()}.{self.tag()}"),
                "content": self.sentences(6, 30), "confidence": self.hundredths(50), "tags": self.tags(0, 2)}

    def agent_state_fields(self):
        agent = self.agent()
        self.searched("task file step")  # Names are searched in a state, too.
        return {"agent_id": agent, "state": {"task": self.sentences(4, 14), "file": self.path(), "step": self.random.between(1, 12)}}

    def artifact_fields(self):
        return {"agent_id": self.agent(), "path": self.path(), "title": self.phrase(2, 7),
                "snippet": self.searched(self.text.document(self.topic, self.random.between(20, 70))), "tags": self.tags(0, 3)}


# What is asked: words that every tokenizer agrees upon, between blanks and marks. Parts of identifiers, paths and
# numbers are left out, since others split those differently. A full stop or a colon ends a word when nothing follows.
PART = r"A-Za-z0-9\x80-\U0010ffff_\-./:'@#\\=+~$"
PLAIN_WORD = re.compile(rf"(?<![{PART}])[A-Za-z][a-z]{{2,15}}(?=[.:]?(?:[ \t\r\n]|\Z)|[^{PART}])")
FUNCTION_WORDS = set(WORDS["functions"])


def plain_words(text):
    """Each once, in lower case, without function words."""
    return {word.lower() for word in PLAIN_WORD.findall(text)} - FUNCTION_WORDS


def text_for_others(text):
    """With identifiers in parts, since ours finds them by their parts and others don't: "get User By Id user id"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")


def draw_queries(frequencies, seed, count):
    """Lists of 1 to 5 words, to be joined by OR. `frequencies`: of plain words, in how many texts each is."""
    urn = sorted((word, frequency) for word, frequency in frequencies.items() if frequency >= 2)  # Those of one entry are names.
    ends = list(itertools.accumulate(frequency for _, frequency in urn))
    random = Random(seed)
    queries = []
    while urn and len(queries) < count:
        drawn = [bisect.bisect_right(ends, random.below(ends[-1])) for _ in range(random.between(1, 5))]
        queries.append(list(dict.fromkeys(urn[at][0] for at in drawn)))
    return queries
