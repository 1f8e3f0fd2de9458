#!/usr/bin/env python3
"""A month and more in the life of a memory, as users have it.

    day 1 ............ 8 ............ 31 ............................. 91
    talk, commits and statements are recorded through hooks, MCP, HTTP and the command line; two agents
    at once now and then; git commits, branches and merges; maintenance as it happens by itself
        ask                ask                  ask                          ask

`bmad-mem init` and `git install`; the clock is moved with BMAD_MEM_NOW. What is asked has known answers, and
the gates are counts. What is recorded where is said in month_data.py and month_doors.py.

EveryDay goes through what a person and their agents do beside: a correction, a preference for all projects,
candidates, what expires, a worktree.

Usage: month_test.py TOOL [--long] [TEST]...
"""

import collections
import concurrent.futures
import contextlib
import datetime
import gzip
import json
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest

from month_data import DAYS, month_data
from month_doors import AS_INSTALLED, TEXT_ALONE, CommandLine, Hooks, Http, Mcp, World

LONG = "--long" in sys.argv
TOOL = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
SESSIONS, ENTRIES, STATEMENTS = (1000, 100_000, 400) if LONG else (100, 5_000, 120)
PROBE_DAYS = (1, 8, 31, DAYS)
# A share of few hangs on which of equals comes first: the long form asks all whose answers are there.
QUESTIONS_A_DAY = {1: 40, 8: 60, 31: 700 if LONG else 120, DAYS: 700 if LONG else 220}
QUESTIONS_A_DOOR = 30  # Through MCP and HTTP; the command line gets all.
QUESTIONS_RESTORED = 60
PROMPTS_A_DAY = {1: 1, 8: 4, 31: 20, DAYS: 80}
HURRIED_A_DAY = {1: 0, 8: 0, 31: 0, DAYS: 200 if LONG else 10}  # With the time that a hook has by default.
BUSY_LOOPS = 2 if LONG else 0  # Beside those.
BRANCH_EVERY = 10  # Days.
AGES = ("up to 7 days", "7 to 30 days", "beyond 30 days")

# The gates, in points of a hundred.
TEXT_LEAD_MAX = 1.5  # By which text alone may find more than the default.
DOOR_LEAD_MAX = 1.5  # By which the command line may find more than another door.
KNOWN_MIN = 95.0  # Of statements, by their rare words.
ARCHIVED_LAG_MAX = 5.0  # By which archived statements may be found less often than live ones,
RESTORED_LEAD_MAX = 2.0  # and archived answers less often than when they are brought back.
TOLD_MIN = 99.0  # Of prompts about a statement.


def age_of(days):
    return AGES[0] if days <= 7 else AGES[1] if days <= 30 else AGES[2]


class Share:
    """So many of so many."""

    def __init__(self):
        self.found = 0.0
        self.asked = 0

    def add(self, found):
        self.found += found
        self.asked += 1

    def percent(self):
        return 100 * self.found / self.asked if self.asked else 100.0

    def __str__(self):
        return f"{self.percent():5.1f} % of {self.asked}"


def sum_of(shares):
    """All of them as one."""
    whole = Share()
    for share in shares:
        whole.found += share.found
        whole.asked += share.asked
    return whole


@contextlib.contextmanager
def busy_loops(count):
    """Processes that never rest, beside what is done meanwhile."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Stopwatch:
    """Seconds by the clock, and of CPU by the processes that ended meanwhile."""

    def __init__(self):
        self.laps = {}

    def lap(self, name, begin):
        before = self.laps.get(name, (0.0, 0.0))
        now = self.now()
        self.laps[name] = tuple(sum(parts) for parts in zip(before, (now[0] - begin[0], now[1] - begin[1])))

    @staticmethod
    def now():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.monotonic(), usage.ru_utime + usage.ru_stime


class Scenario:
    """Runs once for all tests; what they look at is gathered on the way."""

    def __init__(self, folder):
        self.world = World(TOOL, folder)
        self.data = month_data(SESSIONS, ENTRIES, STATEMENTS)
        self.command_line = CommandLine(self.world)
        self.hooks = Hooks(self.world)
        self.days = {}  # Key of a message or statement -> the day on which it was recorded.
        self.ids = {}  # The same -> the id that was acknowledged.
        self.homes = {}  # The same -> its session.
        self.recall = collections.defaultdict(lambda: collections.defaultdict(Share))  # day, age -> way -> share
        self.doors = collections.defaultdict(Share)  # Door -> recall of the questions that all were asked.
        self.known = collections.defaultdict(Share)  # (door, archived) -> statements found by rare words
        self.switched = Share()  # What one conversation said on two branches, after that and after their merge.
        self.told = Share()
        self.told_in_time = Share()
        self.told_again = Share()
        self.prompted = set()  # Keys of the statements that a prompt was about.
        self.contexts = Share()
        self.unanswered = []
        self.untold = []  # Statements, and what a context holds in their place.
        self.archived = set()
        self.restored = collections.defaultdict(Share)  # Whether they live again -> recall of the same questions.
        self.missing = []
        self.verified = ""
        self.stopwatch = Stopwatch()

    # Recording.

    def run(self):
        self.world.run("init")
        self.world.run("config", "set", "lifecycle.archive", "always")  # clones_test.py has the default: text.
        self.world.git("init", "-q", "-b", "main")
        self.world.run("git", "install")
        (self.world.project / "README").write_text("A project.\n", encoding="ascii")
        by_day = collections.defaultdict(list)
        for session in self.data.sessions:
            by_day[session.day].append(session)
        for day in range(1, DAYS):
            self.world.move_to(day, 10)
            begin = Stopwatch.now()
            self.live(day, by_day[day])
            self.stopwatch.lap("recording", begin)
            if day in PROBE_DAYS:
                self.world.move_to(day, 18)
                self.probe(day)
        # In the morning of the last day, so that nothing is older than messages are kept: 90 days.
        self.world.move_to(DAYS, 8)
        self.probe(DAYS)
        self.world.move_to(DAYS, 9)
        self.check()

    def live(self, day, sessions):
        """A day: on a branch of its own now and then."""
        branch = day % BRANCH_EVERY == 0
        if branch:
            self.world.git("checkout", "-q", "-b", f"feature-{day}")
        self.record(day, sessions)
        if branch:
            self.say_on_branch(day, "feature")
        self.commit(day)
        if branch:
            self.world.git("checkout", "-q", "main")
            self.say_on_branch(day, "main")
            self.commit(day)
            self.world.git("merge", "-q", "--no-ff", "-m", f"Merge feature-{day}", f"feature-{day}")
            for where in ("feature", "main"):
                self.switched.add(self.is_said_on_branch(day, where))

    def commit(self, day):
        self.world.git("add", "-A")
        self.world.git("commit", "-q", "--allow-empty", "-m", f"Day {day}")

    def say_on_branch(self, day, where):
        """One conversation, which goes on while git changes the branch under it."""
        self.hooks.prompt(f"switch-{day}", f"Zorblax{day}{where} is what we said on this branch.")
        self.switched.add(self.is_said_on_branch(day, where) and not self.world.errors)

    def is_said_on_branch(self, day, where):
        return f"orblax{day}{where}" in self.world.run("list", "--session", f"cc-switch-{day}", "--limit", "0")

    def record(self, day, sessions):
        pairs = [sessions[i : i + 2] for i in range(0, len(sessions), 2)]
        for number, pair in enumerate(pairs):
            if (day + number) % 3 == 0:  # Two agents at once.
                with concurrent.futures.ThreadPoolExecutor(2) as agents:
                    list(agents.map(lambda session: self.record_session(day, session), pair))
            else:
                for session in pair:
                    self.record_session(day, session)
        self.record_statements(day)

    def door_of(self, session):
        if session.kind == "commits" or session.name.startswith("filler"):
            return "command line"
        talk = [each.name for each in self.data.sessions if each.kind == "talk"]
        return ("hooks", "MCP", "HTTP", "command line")[talk.index(session.name) % 4]

    def record_session(self, day, session):
        door = self.door_of(session)
        begin = Stopwatch.now()
        home, ids = self.record_through(door, session)
        assert len(ids) == len(session.messages)
        for message, entry in zip(session.messages, ids):
            self.note(message.key, entry, day, home)
        self.stopwatch.lap(f"recording by {door}", begin)

    def record_through(self, door, session):
        """(the session of ours, the ids)"""
        if door == "MCP":
            with Mcp(self.world) as mcp:
                return mcp.record(session)
        if door == "HTTP":
            with Http(self.world) as http:
                return http.record(session)
        if door == "hooks":
            return Hooks(self.world).record(session)
        return CommandLine(self.world).record(session)

    def record_statements(self, day):
        """In turn by the command line and by a client over MCP, into one session at once."""
        today = [statement for statement in self.data.statements if statement.day == day]
        if not today:
            return
        name = f"day-{day}"
        self.world.run("session", "new", "--id", name)
        half = len(today) // 2
        with Mcp(self.world) as mcp, concurrent.futures.ThreadPoolExecutor(2) as agents:
            by_mcp = agents.submit(lambda: [mcp.state(statement, name) for statement in today[:half]])
            by_line = agents.submit(lambda: [self.command_line.state(each, name) for each in today[half:]])
            ids = by_mcp.result() + by_line.result()
        for statement, entry in zip(today, ids):
            self.note(statement.key, entry, day, name)

    def note(self, key, entry, day, home):
        self.days[key] = day
        self.homes[key] = home
        self.ids[key] = entry

    # Asking.

    def probe(self, day):
        begin = Stopwatch.now()
        self.archived = {line.split()[0] for line in self.world.run("session", "list", "--archived").splitlines()}
        self.ask_questions(day)
        self.ask_for_statements(day)
        self.stopwatch.lap(f"asking on day {day}", begin)

    def shares(self, day, question, found):
        """(age, share found) for each age of what answers."""
        by_age = collections.defaultdict(list)
        for key in question.relevant:
            by_age[age_of(day - self.days[key])].append(self.ids[key] in found)
        return [(age, sum(hits) / len(hits)) for age, hits in by_age.items()]

    def ask_questions(self, day):
        """By default and by text alone, at the same moment."""
        questions = [q for q in self.data.questions if all(key in self.days for key in q.relevant)]
        questions = questions[: QUESTIONS_A_DAY[day]]

        def ask(question):
            return (question, set(self.command_line.ask(question.text)),
                    set(self.command_line.ask(question.text, *TEXT_ALONE)))

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(ask, questions))
        for question, by_default, by_text in answers:
            if not by_default:
                self.unanswered.append(question.text)
            for way, found in (("default", by_default), ("text alone", by_text)):
                for age, share in self.shares(day, question, found):
                    self.recall[day, age][way].add(share)
        with Mcp(self.world) as mcp, Http(self.world) as http:
            for question, by_default, _ in answers[:QUESTIONS_A_DOOR]:
                found = {"command line": by_default, "MCP": mcp.ask(question.text), "HTTP": set(http.ask(question.text))}
                for door, ids in found.items():
                    hits = [self.ids[key] in ids for key in question.relevant]
                    self.doors[door].add(sum(hits) / len(hits))

    def ask_for_statements(self, day):
        known = [statement for statement in self.data.statements if statement.key in self.days]
        with Mcp(self.world) as mcp, Http(self.world) as http:
            for statement in known if day == DAYS else known[-10:]:
                question = statement.question()
                found = {"command line": self.command_line.ask(question), "MCP": mcp.ask(question),
                         "HTTP": http.ask(question)}
                for door, ids in found.items():
                    self.known[door, self.is_archived(statement)].add(self.ids[statement.key] in ids)
        # A prompt is remembered itself, and who asks again in the same words may be told that it was asked.
        fresh = [statement for statement in known if statement.key not in self.prompted]
        count = PROMPTS_A_DAY[day]
        chosen = random.Random(day).sample(fresh, min(count + HURRIED_A_DAY[day], len(fresh)))
        self.prompted.update(statement.key for statement in chosen)
        chosen, hurried = chosen[:count], chosen[count:]
        for statement in chosen[:10]:
            self.hear(self.contexts, statement, self.command_line.context(statement.prompt()))
        for number, statement in enumerate(chosen):
            self.hear(self.told, statement, self.hooks.prompt(f"asked-{day}-{number}", statement.prompt()))
        with busy_loops(BUSY_LOOPS if hurried else 0):
            for number, statement in enumerate(hurried):
                told = self.hooks.prompt(f"hurried-{day}-{number}", statement.prompt(), *AS_INSTALLED)
                self.hear(self.told_in_time, statement, told)
        # No gate: see above.
        for number, statement in enumerate(chosen[:10]):
            told = self.hooks.prompt(f"again-{day}-{number}", statement.prompt())
            self.told_again.add(self.is_told(statement, told))

    def hear(self, share, statement, told):
        """Counts whether it is told, and keeps what is told instead."""
        share.add(self.is_told(statement, told))
        if not self.is_told(statement, told):
            self.untold.append(f"{statement.text}\n{told}")

    def is_archived(self, statement):
        return self.homes[statement.key] in self.archived

    @staticmethod
    def is_told(statement, told):
        return statement.text.rstrip(".") in told

    # At the end.

    def check(self):
        begin = Stopwatch.now()
        with Mcp(self.world) as mcp:
            self.missing = mcp.missing(sorted(set(self.ids.values())))
        self.verified = self.world.run("verify", statuses=(0, 1))
        self.ask_twice()
        self.stopwatch.lap("checking", begin)

    def ask_twice(self):
        """Questions whose answers are archived, then the same when these are brought back: all else is alike."""
        archived = [q for q in self.data.questions if all(self.homes[key] in self.archived for key in q.relevant)]
        archived = archived[:QUESTIONS_RESTORED]
        for live in (False, True):
            if live:
                for session in sorted({self.homes[key] for question in archived for key in question.relevant}):
                    self.world.run("session", "restore", session)
            for question in archived:
                found = self.command_line.ask(question.text)
                hits = [self.ids[key] in found for key in question.relevant]
                self.restored[live].add(sum(hits) / len(hits))

    def report(self):
        lines = [f"{self.data.about}", f"{len(self.ids)} entries in {len(self.data.sessions)} sessions and one for each "
                 f"day with statements; {len(self.archived)} archived"]
        lines += [f"day {day:2}, {age:14}  " + "; ".join(f"{way} {share}" for way, share in ways.items())
                  for (day, age), ways in self.recall.items()]
        lines += [f"the same questions by {door}: {share}" for door, share in self.doors.items()]
        lines += [f"statements by {door}, {'archived' if archived else 'live'}: {share}"
                  for (door, archived), share in sorted(self.known.items())]
        lines += [f"the same questions, answers {'brought back' if live else 'archived'}: {share}"
                  for live, share in self.restored.items()]
        lines += [f"told to a prompt: {self.told}; in the time that a hook has: {self.told_in_time}; asked again: "
                  f"{self.told_again}; in a context: {self.contexts}",
                  f"said on a branch and the next: {self.switched}",
                  f"missing: {len(self.missing)} of {len(self.ids)}",
                  *(f"{what}: {seconds:.1f} s, {cpu:.1f} s of CPU" for what, (seconds, cpu) in self.stopwatch.laps.items())]
        return "\n".join(lines)


class Month(unittest.TestCase):
    """Reads off what one run of the scenario has gathered."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bmad-month-")
        cls.addClassCleanup(folder.cleanup)
        cls.scenario = Scenario(pathlib.Path(folder.name))
        cls.scenario.run()
        print(cls.scenario.report(), flush=True)

    def test_by_default_as_much_is_found_as_by_text_alone_at_every_age(self):
        # The days together: on one of them three answers of 171 are more, as much as chance takes.
        for age in AGES:
            ways = {way: sum_of(shares[way] for (_, its), shares in self.scenario.recall.items() if its == age)
                    for way in ("default", "text alone")}
            with self.subTest(age=age):
                text = ways["text alone"]
                self.assertGreater(text.asked, 0)
                # Two answers of few are more than that, and may be lost: which of equals comes first is chance.
                lead = max(TEXT_LEAD_MAX, 200 / text.asked)
                self.assertGreaterEqual(ways["default"].percent(), text.percent() - lead - 1e-9)

    def test_every_door_finds_the_same(self):
        doors = self.scenario.doors
        for door in ("MCP", "HTTP"):
            with self.subTest(door=door):
                self.assertGreaterEqual(doors[door].percent(), doors["command line"].percent() - DOOR_LEAD_MAX)

    def test_no_question_is_refused_or_emptied(self):
        self.assertEqual(self.scenario.unanswered, [])

    def test_sessions_were_archived_by_themselves(self):
        self.assertGreater(len(self.scenario.archived), len(self.scenario.data.sessions) // 3)

    def test_what_was_archived_is_found_as_well_as_what_was_not(self):
        for door in ("command line", "MCP", "HTTP"):
            archived, live = (self.scenario.known[door, flag] for flag in (True, False))
            with self.subTest(door=door):
                self.assertGreater(archived.asked, 0)
                self.assertGreaterEqual(archived.percent(), KNOWN_MIN)
                self.assertGreaterEqual(live.percent(), KNOWN_MIN)
                self.assertGreaterEqual(archived.percent(), live.percent() - ARCHIVED_LAG_MAX)

    def test_what_was_archived_is_found_as_well_as_when_it_is_brought_back(self):
        archived, live = (self.scenario.restored[flag] for flag in (False, True))
        self.assertGreater(archived.asked, 0)
        self.assertGreaterEqual(archived.percent(), live.percent() - RESTORED_LEAD_MAX)

    def test_a_prompt_about_something_known_is_told_it(self):
        untold = "\n".join(self.scenario.untold)
        self.assertGreaterEqual(self.scenario.told.percent(), TOLD_MIN, untold)
        self.assertGreaterEqual(self.scenario.contexts.percent(), TOLD_MIN, untold)

    @unittest.skipUnless(LONG, "the machine may not have the time when other tests run beside")
    def test_a_prompt_is_told_it_in_time_beside_busy_loops(self):
        self.assertGreaterEqual(self.scenario.told_in_time.asked, 100)
        self.assertGreaterEqual(self.scenario.told_in_time.percent(), TOLD_MIN, "\n".join(self.scenario.untold))

    def test_nothing_acknowledged_is_missing(self):
        self.assertNotIn("", self.scenario.ids.values())
        self.assertEqual(self.scenario.missing, [])

    def test_a_conversation_goes_on_when_the_branch_changes_under_it(self):
        self.assertGreater(self.scenario.switched.asked, 0)
        self.assertEqual(self.scenario.switched.percent(), 100.0)

    def test_the_memory_verifies(self):
        self.assertNotIn("error", self.scenario.verified)


class EveryDay(unittest.TestCase):
    """What a person and their agents do beside asking: correct, decide, keep apart, let go."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bmad-days-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.world = World(TOOL, self.folder)
        self.world.run("init")

    def in_project(self, name):
        """Another project of the same user."""
        other = World(TOOL, self.folder, name)
        other.base, other.set_at = self.world.base, self.world.set_at
        return other

    def test_a_corrected_decision_is_found_as_corrected_and_keeps_the_rest(self):
        entry = self.world.run("add", "decision", "--decision", "Use PostgreSQL 16", "--rationale", "It was measured.",
                               "--tag", "database", "--impact", "high").strip()
        self.world.move_to(8)
        self.world.run("edit", entry, "Use PostgreSQL 17")
        self.world.move_to(31)
        told = Hooks(self.world).prompt("s1", "Which PostgreSQL do we use?")
        self.assertIn("PostgreSQL 17", told)
        self.assertNotIn("PostgreSQL 16", told)
        found = json.loads(self.world.run("--json", "get", entry))
        self.assertEqual((found["rationale"], found["tags"], found["impact"]), ("It was measured.", ["database"], "high"))

    def test_what_the_user_wants_everywhere_is_told_in_a_second_project(self):
        with Mcp(self.world) as mcp:
            mcp.call("memory_remember", category="style", key="commits", value="Subjects of at most fifty signs",
                     scope="user")
        self.world.run("--scope", "user", "review", "--accept",
                       json.loads(self.world.run("--json", "--scope", "user", "review"))["id"])
        self.world.move_to(8)
        other = self.in_project("second")
        other.run("init")
        self.assertIn("fifty signs", Hooks(other).fire("s1", "SessionStart", source="startup"))
        self.assertIn("yours", other.run("query", "commit subjects"))
        other.run("remember", "--category", "style", "--key", "commits", "Subjects with the number of the ticket")
        told = Hooks(other).fire("s2", "SessionStart", source="startup")
        self.assertIn("number of the ticket", told)
        self.assertNotIn("fifty signs", told)

    def test_candidates_are_offered_and_accepted_through_mcp_and_pages(self):
        hooks = Hooks(self.world)
        hooks.fire("s1", "SessionStart", source="startup")
        for text in ("I prefer tabs in Makefiles.", "Please always run the linter before a commit."):
            hooks.prompt("s1", text)
        hooks.fire("s1", "SessionEnd", reason="other")
        self.world.move_to(2)
        told = hooks.fire("s2", "SessionStart", source="startup")
        self.assertRegex(told, r"(?s)Waiting for the user.*linter before a commit.*tabs in Makefiles")
        with Mcp(self.world) as mcp:
            offered = mcp.call("memory_recall", candidates=True)["content"][0]["text"]
            tabs = re.search(r"(pref-\w+|fact-\w+)[^\n]*\n[^\n]*tabs", offered).group(1)
            with self.assertRaisesRegex(AssertionError, "only the user accepts"):
                mcp.call("memory_review", ids=[tabs], review="accepted")
            self.assertIn("tabs", json.dumps(mcp.process.request("prompts/get", {"name": "review"})))
            accepted = mcp.call("memory_review", ids=[tabs], review="accepted")["structuredContent"]
            self.assertEqual(accepted, {"reviewed": [tabs], "unknown_ids": []})
        with Http(self.world) as http:
            waiting = http.server.ask("GET", "/memory/knowledge?candidates=true").json()["items"]
            self.assertEqual(len(waiting), 1)
            accepts = ("POST", "/memory/knowledge/review", {"ids": [waiting[0]["id"]], "review": "accepted"})
            self.assertEqual(http.server.ask(*accepts).status, 403, "a program is not the user")
            link = http.server.ask("POST", "/auth/link", {}).json()["url"]
            page = {"Origin": f"http://127.0.0.1:{http.server.port}"}
            secret = http.server.ask("POST", "/auth/session", {"code": link.split("#code=")[1]}, **page).json()["secret"]
            answer = http.server.ask(*accepts, Authorization=f"Bearer {secret}", **page)
            self.assertEqual(answer.status, 200)
        told = hooks.fire("s3", "SessionStart", source="startup")
        self.assertIn("tabs", told)
        self.assertNotIn("wait", told)
        # What the session start told isn't told again.
        self.assertIn("linter", told + hooks.prompt("s3", "Commit this, please; is the linter to run first?"))

    def test_what_has_expired_is_gone_from_all_files(self):
        """Deleted, archived and kept ones, too."""
        self.world.run("session", "new", "--id", "old")
        word = "quibblefrotz"
        until = (self.world.now() + datetime.timedelta(days=20)).isoformat(timespec="seconds").replace("+00:00", "Z")
        self.world.run("add", "fact", "--session", "old", "--expires-at", until, f"The {word} is free")
        self.world.run("add", "fact", "--session", "old", "The harbour stays")
        self.world.run("session", "close", "old")
        self.world.run("session", "archive", "old")
        self.assertIn(word, self.world.run("query", word))
        for day in (31, 40, 80):
            self.world.move_to(day)
            self.assertNotIn(word, self.world.run("query", word, statuses=(0, 1)))
            self.world.run("maintain")
        for path in (self.world.project / ".bmad").rglob("*"):
            if path.is_file():
                text = path.read_bytes()
                text = gzip.decompress(text) if path.suffix == ".gz" else text
                self.assertNotIn(word.encode(), text, path)
        self.assertIn("harbour", self.world.run("query", "harbour"))

    def test_a_worktree_shares_the_memory_of_the_main_one(self):
        self.world.git("init", "-q", "-b", "main")
        (self.world.project / ".gitignore").write_text(".bmad\n", encoding="ascii")
        self.world.git("add", "-A")
        self.world.git("commit", "-q", "-m", "Begin")
        self.world.git("worktree", "add", "-q", "../tree", "-b", "feature")
        tree = self.in_project("tree")
        Hooks(tree).prompt("s1", "The zorblax is built on this branch.")
        self.assertIn("zorblax", self.world.run("query", "zorblax"))
        self.world.run("remember", "--category", "constraint", "--confidence", "1", "Never push on Fridays")
        self.assertIn("Fridays", Hooks(tree).fire("s2", "SessionStart", source="startup"))


if __name__ == "__main__":
    if TOOL is None or not TOOL.exists():
        sys.exit(f"usage: {sys.argv[0]} TOOL [--long]")
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[2:] if word != "--long")], verbosity=2)
