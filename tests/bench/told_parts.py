"""The parts of `bench briefings`: each asks a memory and yields what it saw.

    Job(part, name, measure)     measure(folder) yields Seen
    Seen(figure, group, value)   a number of a mean; of a weighted one a pair: the number and its weight;
                                 of an AUC a pair: whether the question is answered, and its score; None: not measurable
"""

import collections
import datetime
import functools
import pathlib
import sys

from bench_data import score_ranking
from bench_memory import SOURCE, WEIGHTS
from month_data import statements
from month_doors import CommandLine, Hooks
from told_data import Pair, contradictions, latest_time, renamed, sample
from told_memory import FilledMemory, holds, holds_rule, is_statement, letters, lines_of, tokens_of

sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from stand_in import StandIn  # noqa: E402

Job = collections.namedtuple("Job", "part name measure")
Seen = collections.namedtuple("Seen", "figure group value detail", defaults=(None,))
PARTS = ("unrelated", "evidence", "lines", "rules", "contradicting", "again", "certainty")

AGES = ((7, "0-7 days"), (30, "7-30 days"), (90, "30-90 days"), (365, "90-365 days"))
CLOCKS = (0, 20, 60, 200)  # Days after the newest message on which is asked.
PER_AGE = {"people": 40, "agents": 40, "projects": 15}  # Questions to a memory.
SESSION_PROMPTS = 40
ORDINARY_A_QUESTION = 4  # Of the prompts of a person who works.
MONTH_DAYS = 30
QUESTIONS_A_DAY = 2
STATEMENTS = 60
ASKED_AGAIN = 25  # Questions to a memory.
TIMES_ASKED = (0, 3, 10)
CERTAINTY_QUESTIONS = 40
NO_CONTENT = "Let me check the configuration."
PEOPLE, AGENTS, PROJECTS = "people's chats", "agent chats", "projects"
GROUPS = {"people": PEOPLE, "agents": AGENTS, "projects": PROJECTS}


class Tools:
    """What all parts share: the options and a half of the data."""

    def __init__(self, chosen, half):
        self.chosen, self.half = chosen, half

    def number(self, count):
        """So many of `count` as are asked."""
        return max(1, round(self.chosen.scale * count))

    def sample(self, things, count, *seeds):
        return sample(things, self.number(count), self.half.name, *seeds)

    def open(self, folder, *stores, encoder=None):
        return FilledMemory(self.chosen, folder / "memory", *stores, encoder=self.chosen.encoder if encoder is None else encoder)


def jobs(chosen, half):
    """The jobs of a half, the long ones first."""
    tools = Tools(chosen, half)
    found = [Job("unrelated", "joined", functools.partial(joined, tools)), Job("lines", "month", functools.partial(month, tools))]
    for memory in half.memories:
        name = f"{memory.kind} {memory.store.name}"
        for part, measure in (("evidence", questions), ("unrelated", unrelated), ("certainty", certainty)):
            found.append(Job(part, name, functools.partial(measure, tools, memory)))
    found += [Job("again", memory.store.name, functools.partial(again, tools, memory))
              for memory in half.of_kind("people")[:1] + half.of_kind("projects")[:1]]
    found.append(Job("rules", "rules", functools.partial(rules, tools)))
    ways = (False, True) if (pathlib.Path(chosen.tool).parent / WEIGHTS).exists() else (False,)
    found += [Job("contradicting", f"pairs{', encoder' * way}", functools.partial(contradicting, tools, encoder=way)) for way in ways]
    found += [Job("contradicting", memory.store.name, functools.partial(updated, tools, memory)) for memory in half.of_kind("projects")]
    return found


# Prompts that ask nothing.


def unrelated(tools, memory, folder):
    group = GROUPS[memory.kind] if memory.kind != "projects" else f"{PROJECTS}, {memory.store.name}"
    filled = tools.open(folder, memory.store)
    asked = 0
    for seen in of_unrelated(tools, filled, "unrelated", group):
        asked += 1
        yield seen
        if seen.value and "evidence" in tools.chosen.part and memory.kind != "projects":
            yield Seen(f"briefings, {memory.kind}", GROUPS[memory.kind], (0, ORDINARY_A_QUESTION / tools.number(len(tools.half.prompts))))
    prompts = sample(tools.half.prompts, SESSION_PROMPTS, "session", memory.store.name)
    filled.restore()
    told = filled.hooks.fire("long", "SessionStart", source="startup")
    told += "".join(filled.turn("long", prompt.text, "Done.") for prompt in prompts)
    yield Seen("session", GROUPS[memory.kind], tokens_of(told))


def joined(tools, folder):
    stores = [renamed(store, place) for place, store in enumerate(tools.half.joined)]
    filled = tools.open(folder, *stores)
    yield from of_unrelated(tools, filled, "unrelated, joined", f"{sum(len(store.messages) for store in stores)} entries")


def of_unrelated(tools, filled, figure, group):
    for prompt in tools.sample(tools.half.prompts, len(tools.half.prompts), "unrelated"):
        told = filled.prompt(prompt.text)
        yield Seen(figure, group, bool(told), {"kind": prompt.kind, "prompt": prompt.text, "told": told})


# Questions.


def age_of(moment, times):
    """The age of the oldest of what answers; None beyond a year, or without a time."""
    if not times or None in times:
        return None
    days = (moment - min(times)).total_seconds() / 86400
    return next((name for most, name in AGES if days <= most), None)


def by_age(memory, per_age, seed):
    """(age, days after the newest message, question): of each age so many questions, asked as early as may be."""
    times = {message.id: message.time for message in memory.store.messages}
    latest = latest_time([memory.store])
    chosen = collections.defaultdict(dict)
    questions = sample(memory.questions, len(memory.questions), seed, memory.store.name)
    for clock in CLOCKS:
        for question in questions:
            age = age_of(latest + datetime.timedelta(days=clock), [times.get(key) for key in question.relevant])
            if age and len(chosen[age]) < per_age:
                chosen[age].setdefault(question.id, (age, clock, question))
    return [each for _, age in AGES for each in chosen[age].values()]


def questions(tools, memory, folder):
    filled = tools.open(folder, memory.store)
    reader = filled.reader
    figure = "evidence" if memory.kind == "people" else "evidence, agents"
    asked = by_age(memory, tools.number(PER_AGE[memory.kind]), tools.half.name)
    for age, clock, question in asked:
        told = filled.prompt(question.text, clock)
        ids = set().union(*map(reader.messages, lines_of(told)))
        found = [key in ids for key in question.relevant]
        if memory.kind != "people":
            exchanges = reader.exchanges_of(ids)
            found = [reader.exchanges.get(key) in exchanges for key in question.relevant]
        share = sum(found) / len(found)
        yield Seen(figure, f"{GROUPS[memory.kind]}, {age}", share,
                   {"store": memory.store.name, "days later": clock, "prompt": question.text, "relevant": question.relevant, "told": told})
        if told and "unrelated" in tools.chosen.part and memory.kind != "projects":
            yield Seen(f"briefings, {memory.kind}", GROUPS[memory.kind], (share > 0, 1 / len(asked)))


# A month that is lived again.


def month(tools, folder):
    """Chats and statements are recorded on their days; each day has a session of a question to four ordinary prompts."""
    memories = [*tools.half.of_kind("agents")[:1], *tools.half.of_kind("projects")[:1]] or tools.half.memories[:1]
    filled = tools.open(folder)
    lived = Lived(filled, tools, memories)
    for day in range(1, MONTH_DAYS + 1):
        lived.record(day)
        yield from lived.work(day)


class Lived:
    def __init__(self, filled, tools, memories):
        self.filled, self.tools = filled, tools
        self.memory = filled.memory
        self.begin = datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.timezone.utc)
        self.statements = statements(STATEMENTS, 7)
        self.line = CommandLine(self.memory)
        self.days = collections.defaultdict(list)  # Day -> sessions, as messages.
        self.askable = []  # (day, prompt, texts that answer, what it is about)
        for memory in memories:
            self.add(memory)
        for number, statement in enumerate(self.statements):
            self.askable.append((self.day_of(number), statement.prompt(), [statement.text.rstrip(".")], "statements"))

    def add(self, memory):
        sessions = collections.defaultdict(list)
        for message in memory.store.messages:
            sessions[message.session].append(message)
        texts, day_of = {}, {}
        for number, messages in enumerate(sessions.values()):
            day = 1 + number * (MONTH_DAYS - 2) // len(sessions)
            self.days[day].append(messages)
            for message, after in zip(messages, [*messages[1:], None]):
                day_of[message.id] = day
                texts[message.id] = [message.text] + ([after.text] if after and message.speaker == "user" else [])
        for question in memory.questions:
            if all(key in texts for key in question.relevant):
                answers = [text for key in question.relevant for text in texts[key]]
                self.askable.append((max(day_of[key] for key in question.relevant), question.text, answers, "talk"))

    @staticmethod
    def day_of(number):
        """On which a statement is stored."""
        return 1 + number * (MONTH_DAYS - 1) // STATEMENTS

    def at(self, day, hour):
        return self.memory.at(self.begin + datetime.timedelta(days=day - 1, hours=hour))

    def record(self, day):
        self.at(day, 0)
        for number, messages in enumerate(self.days[day]):
            name = f"talk-{day}-{number}"
            self.memory.run("session", "new", "--id", name)
            first = messages[0].speaker
            self.line.add("conversation", name, [
                {"role": "user" if message.speaker == first else "assistant", "content": message.text or "-"} for message in messages
            ])
            self.memory.run("session", "close", name)
        today = [each for number, each in enumerate(self.statements) if self.day_of(number) == day]
        if today:
            self.memory.run("session", "new", "--id", f"stated-{day}")
        for statement in today:
            self.line.state(statement, f"stated-{day}")

    def work(self, day):
        """A session of the afternoon: what was told, line by line."""
        self.at(day, 5)
        known = [each for each in self.askable if each[0] <= day]
        asked = [each[1:] for each in self.tools.sample(known, QUESTIONS_A_DAY, "month", day)]
        prompts = self.tools.sample(self.tools.half.prompts, ORDINARY_A_QUESTION * QUESTIONS_A_DAY, "month", day)
        said = [*asked, *((prompt.text, [], "ordinary prompts") for prompt in prompts)]
        self.filled.hooks.fire(f"day-{day}", "SessionStart", source="startup")
        for prompt, answers, kind in sample(said, len(said), "order", day):
            told = self.filled.turn(f"day-{day}", prompt, NO_CONTENT if answers else "Done.")
            wanted = [letters(text) for text in answers]
            right = [any(holds(line, text) for text in wanted) for line in lines_of(told)]
            for line, is_right in zip(lines_of(told), right):
                yield Seen("lines", "a month", is_right)
                yield Seen("lines, of", kind, is_right, {"prompt": prompt, "line": line})
            if answers:
                yield Seen("month", kind, any(right), {"prompt": prompt, "told": told})
        self.filled.hooks.fire(f"day-{day}", "SessionEnd", reason="other")


# Rules.


def rules(tools, folder):
    """Each in a memory of its language, or else in the first one."""
    stores = {memory.store.name: memory.store for memory in tools.half.of_kind("projects")}
    opened = {}
    for rule in sorted(tools.half.rules, key=lambda each: each.language):
        language = rule.language if rule.language in stores else next(iter(stores))
        if language not in opened:
            (folder / language).mkdir()
            filled = opened[language] = tools.open(folder / language, stores[language])
            typed = Hooks(filled.memory, StandIn(folder / language).starts())
        yield from of_rule(opened[language], typed, rule)


def of_rule(filled, typed, rule):
    filled.restore()
    typed.fire("says", "SessionStart", source="startup")
    typed.prompt("says", rule.statement)
    typed.fire("says", "Stop", stop_hook_active=False, last_assistant_message="Understood.")
    typed.fire("says", "SessionEnd", reason="other")
    told = typed.fire("asks", "SessionStart", source="startup") + "\n" + typed.prompt("asks", rule.prompt)
    lines = [line for line in lines_of(told) if holds_rule(line, rule.statement)]
    as_rule = any(map(is_statement, lines))
    detail = {"kind": rule.kind, "statement": rule.statement, "prompt": rule.prompt, "told": told}
    if rule.kind.startswith("not-"):
        yield Seen("look-alikes", "all languages", as_rule, detail)
    else:
        yield Seen("rules", "all languages", as_rule, detail)
        yield Seen("rules, or as messages", "all languages", bool(lines))


# What contradicts.


def contradicting(tools, folder, encoder=False):
    base = tools.half.of_kind("projects")[:1]
    store, pairs = contradictions(tools.half.name, latest_time([memory.store for memory in base]))
    filled = tools.open(folder, *(renamed(memory.store, place) for place, memory in enumerate(base)), store, encoder=encoder)
    pairs = tools.sample(pairs, len(pairs), "pairs")
    yield from of_pairs(filled, pairs, "newest, encoder" if encoder else "newest", "made pairs")


def updated(tools, memory, folder):
    pairs = [Pair(question.older[0], question.relevant[0], question.text) for question in memory.questions if question.older]
    if pairs:
        yield from of_pairs(tools.open(folder, memory.store), pairs, "newest", PROJECTS)


def of_pairs(filled, pairs, figure, group):
    for pair in pairs:
        filled.restore()
        ranking, _ = filled.ranking(pair.prompt, 10)
        told = filled.prompt(pair.prompt)
        ids = [key for line in lines_of(told) for key in sorted(filled.reader.messages(line), key=lambda key: key == pair.older)]
        for way, found in (("query", ranking), ("told", ids)):
            yield Seen(figure, f"{group}, {way}", is_first(pair.newer, pair.older, found), {"prompt": pair.prompt, "told": told})


def is_first(newer, older, found):
    return newer in found and (older not in found or found.index(newer) < found.index(older))


# Asked again.


def again(tools, memory, folder):
    filled = tools.open(folder, memory.store)
    asked = tools.sample(memory.questions, ASKED_AGAIN, "again", memory.store.name)
    for times in range(max(TIMES_ASKED) + 1):
        filled.after(times)
        if times in TIMES_ASKED:
            for question in asked:
                ranking, _ = filled.ranking(question.text, 10)
                yield Seen("again", f"asked {times} times before", score_ranking(ranking, question.relevant)["recall_at_10"],
                           {"prompt": question.text, "first": ranking[:5]})
        if times < max(TIMES_ASKED):
            filled.hooks.fire(f"again-{times}", "SessionStart", source="startup")
            for question in asked:
                filled.turn(f"again-{times}", question.text, NO_CONTENT)
            filled.hooks.fire(f"again-{times}", "SessionEnd", reason="other")


# Certainty.


def certainty(tools, memory, folder):
    filled = tools.open(folder, memory.store)
    count = CERTAINTY_QUESTIONS
    own = [question.text for question in memory.questions]
    strange = [question.text for other in tools.half.memories if other is not memory for question in other.questions]
    for figure, is_answered, texts in (
        ("certainty", True, own), ("certainty", False, strange), ("certainty, near", True, own), ("certainty, near", False, memory.near_misses),
    ):
        if figure == "certainty, near" and not memory.near_misses:
            continue
        for text in tools.sample(texts, count if texts is not memory.near_misses else len(texts), "certainty", memory.store.name):
            said, nearness = certainty_of(filled, text)
            detail = {"store": memory.store.name, "prompt": text, "certainty": said, "answered": is_answered}
            known = said is not None
            yield Seen(figure, "by nearness", (is_answered, nearness) if known else None, detail)
            yield Seen(figure, "by its word", (is_answered, CERTAINTIES.index(said)) if known else None)


CERTAINTIES = ("none", "maybe", "sure")


def certainty_of(filled, text):
    """The word of the answer, None where a query has none, and the nearness of its best hit."""
    _, hits = filled.ranking(text, 3, "--explain")
    if not hits:
        return "none", -1.0
    scores = [hit.get("explanation", {}).get("nearness", {}).get("score", 0.0) for hit in hits]
    return hits[0].get("certainty"), max(scores)
