#!/usr/bin/env python3
"""Counts the system calls of a question and the bytes that it reads, and compares both with costs.txt.

    cost_test.py TOOL            exit status 1 when a figure is above that of the file
    cost_test.py TOOL --show     prints the table of what was measured, and compares nothing
    cost_test.py TOOL --write    lowers the figures of the file to what was measured and a little more; raises none

Memories of 1, 20 and 200 sessions are written by `add` and asked once, so that they have the index that ordinary use
leaves. Then each question is asked three times under strace, with words that no earlier question had, and the least
counts. A question costs what its process and the threads of it do, and the process that a hook forks, until it has
answered. What goes on behind the answer and programs that are started do not count.

What counts: calls about files, descriptors, processes and threads, and each entry submitted to an io_uring. What does
not: memory, locks, signals and time, which sanitizers and the C library change; and files outside of the test's folder,
such as shared libraries, /proc and the parents of the project's folder, which differ from machine to machine. Bytes are
those that read, pread64, readv and preadv return: not those of mmap() or of an io_uring.
"""

import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

TIMEOUT_S = 120
SKIPPED = 77
COSTS = pathlib.Path(__file__).resolve().with_name("costs.txt")
SIZES = (1, 20, 200)  # Sessions.
ROUNDS = 3
LIMIT = 20  # Hits of a question.
SETTLED_S = 2.5  # What changed within the last 2 s is looked at again by the next question.
PROCESSORS = 2  # Of all processes here: the tool takes as many threads as there are processors.
STRACE = ("strace", "-f", "-qq", "-s", "0", "-e", "trace=%file,%desc,%process", "-e", "signal=none", "--seccomp-bpf")
# strace has these among the calls about descriptors and processes.
NOT_COUNTED = {"mmap", "arch_prctl", "exit", "exit_group"}
STARTS = {"clone", "clone3", "fork", "vfork"}
OPENS = {"open", "openat", "openat2"}
READS = {"read", "pread64", "readv", "preadv", "preadv2"}
LINE = re.compile(r"(\d+) +(.*)")
CALL = re.compile(r"(\w+)\((.*)")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
RESULT = re.compile(r" = (-?\d+)[^=]*$")
PATH = re.compile(r'"(/[^"]*)"')  # With -s 0 strace prints no text but paths.
# The machine may be slow, and what is asked here is not how long it takes.
PATIENT = ("--budget-ms", "20000", "--limit-ms", "60000")


class Call:
    """A system call: the thread that made it, its name, its arguments, and its result, -1 when there is none."""

    def __init__(self, line, thread, name, arguments):
        self.thread, self.name, self.arguments, self.result = thread, name, arguments, -1
        self.begun = self.ended = line  # Of the trace.

    def descriptor(self):
        """The first argument, if it is a number."""
        return self.arguments.partition(",")[0].partition(")")[0]


def calls_of(trace):
    """The calls in what strace wrote, in the order in which they began."""
    calls, waiting = [], {}
    for number, line in enumerate(trace.splitlines()):
        thread, text = LINE.fullmatch(line).groups()
        resumed, begun = RESUMED.match(text), CALL.match(text)
        if resumed:
            call = waiting.pop(thread)
            call.arguments += resumed[1]
        elif begun:
            call = Call(number, thread, *begun.groups())
            calls.append(call)
            if text.endswith("<unfinished ...>"):
                waiting[thread] = call
                continue
        else:
            continue  # "+++ exited with 0 +++"
        result = RESULT.search(call.arguments)
        call.result = int(result[1]) if result else -1
        call.ended = number
    return calls


class Processes:
    """Which process a thread belongs to, and which processes the caller waits for."""

    def __init__(self, calls):
        self.first = calls[0].thread
        self.starts = {str(call.result): call for call in calls if call.name in STARTS}
        self.programs = {self.process_of(call.thread) for call in calls if call.name.startswith("execve") and call.result == 0}

    def process_of(self, thread):
        while thread in self.starts and "CLONE_THREAD" in self.starts[thread].arguments:
            thread = self.starts[thread].thread
        return thread

    def is_waited_for(self, process):
        """The first one, and those that it forks: a hook does its work in such a one. Another program goes on by itself."""
        while process != self.first:
            if process in self.programs or process not in self.starts:
                return False
            process = self.process_of(self.starts[process].thread)
        return True


def calls_waited_for(calls):
    """Those of the first process, and those of the processes that it forks, until they have written what it reads last:
    what a hook does behind its answer holds nobody up."""
    processes = Processes(calls)
    for call in calls:
        call.process = processes.process_of(call.thread)
    others = [call for call in calls if call.process != processes.first and processes.is_waited_for(call.process)]
    received = next((call for call in reversed(calls) if others and call.process == processes.first and call.name == "read"
                     and call.begun > others[0].begun and call.result > 0), None)
    end = max((call.begun for call in others if received and call.name == "write" and call.begun < received.ended
               and call.result == received.result), default=calls[-1].begun)
    last = max(call.begun for call in calls if call.process == processes.first)
    waited = {id(call) for call in others if call.begun <= min(end, last)}
    return [call for call in calls if call.process == processes.first or id(call) in waited]


def calls_about(calls, folder):
    """Those that are not about a file outside of `folder`, by its path or by its descriptor."""
    outside = set()  # (process, descriptor)
    for call in calls:
        paths = PATH.findall(call.arguments)
        of_file = (call.process, call.descriptor())
        is_outside = of_file in outside if not paths else not any(f"{path}/".startswith(f"{folder}/") for path in paths)
        if call.name in OPENS:
            (outside.add if is_outside else outside.discard)((call.process, str(call.result)))
        elif call.name == "close":
            outside.discard(of_file)
        if not is_outside:
            yield call


def calls_of_program(calls):
    """Those that are not UndefinedBehaviorSanitizer's: to see whether it can read an address, it makes a pipe that a
    child would inherit, writes 16 bytes from there, and closes both ends."""
    open_ends = {}  # By thread.
    for call in calls:
        if call.name == "pipe2" and call.arguments.startswith("[...], 0)"):
            open_ends[call.thread] = 2
        elif not open_ends.get(call.thread):
            yield call
        elif call.name == "close":
            open_ends[call.thread] -= 1


def cost_of(calls, begin=-1, end=float("inf")):
    """(calls, bytes that were read) of what began between these lines of the trace."""
    count = size = 0
    for call in calls:
        if begin < call.begun <= end and call.name not in NOT_COUNTED:
            submitted = re.match(r"\w+, (\d+)", call.arguments) if call.name == "io_uring_enter" else None
            count += max(1, int(submitted[1])) if submitted else 1
            size += max(0, call.result) if call.name in READS else 0
    return count, size


def word(number):
    """One of 4,900 words of two syllables, which no stemmer changes."""
    letters = [("bdfgklmnprstvz"[part % 14], "aeiou"[part % 5]) for part in divmod(number, 70)]
    return "".join(map("".join, letters)) + "k"


WORDS_ASKED = 6  # Then about half of the messages match, so that one session has enough hits.
QUESTIONS_MAX = 20
VOCABULARY = [word(311 * i % 4900) for i in range(QUESTIONS_MAX * WORDS_ASKED)]


class Memory:
    """A memory of so many sessions, and what a question costs there."""

    MESSAGES = 50

    def __init__(self, tool, folder, sessions):
        self.tool, self.sessions = str(tool), sessions
        self.folder = folder / f"m{sessions:03}"
        self.folder.mkdir()
        self.root = self.folder / ".bmad/memory"
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.folder), "XDG_STATE_HOME": f"{self.folder}/state", "LC_ALL": "C.UTF-8",
            "BMAD_MEM_ENCODER": "",
            # LeakSanitizer does not work under ptrace.
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        self.asked = 0
        self.begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)

    def run(self, *arguments, stdin=""):
        done = subprocess.run([self.tool, "-q", *arguments], cwd=self.folder, env=self.environment, input=stdin,
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.stderr}")
        return done.stdout

    # What it holds.

    def write(self):
        """As ordinary use leaves it, some seconds later."""
        self.run("init")
        for number in range(self.sessions):
            self.write_session(number)
        self.run("state", "set", "--session", "s000", "builder", '{"task":"count","step":2}')
        self.run("query", self.new_words(), "--limit", str(LIMIT))  # Makes the index, where there is enough for one.
        time.sleep(SETTLED_S)

    def write_session(self, number):
        draw = random.Random(number)
        session = f"s{number:03}"
        minute = 0

        def lines(count, letter, **fields):
            nonlocal minute
            for i in range(count):
                moment = self.begin + datetime.timedelta(minutes=minute, seconds=number % 60)
                minute += 1
                text = " ".join(draw.choices(VOCABULARY, k=12))
                entry = {"id": f"{letter}-{number:03}-{i:02}", "timestamp": f"{moment:%Y-%m-%dT%H:%M:%SZ}"}
                yield json.dumps(entry | {key: value or text for key, value in fields.items()})

        self.run("session", "new", "--id", session)
        for kind, made in (("conversation", lines(self.MESSAGES, "m", role="user", content="")),
                           ("decision", lines(5, "d", decision="", made_by="architect", rationale="")),
                           ("finding", lines(5, "f", description="")),
                           ("fact", lines(10, "k", content=""))):
            self.run("add", kind, "--session", session, "-", stdin="\n".join(made) + "\n")

    def new_words(self):
        """Those of the next question."""
        begin = self.asked * WORDS_ASKED
        self.asked += 1
        words = VOCABULARY[begin:begin + WORDS_ASKED]
        assert len(words) == WORDS_ASKED, "the vocabulary has no more questions"
        return " ".join(words)

    # What a question costs.

    def traced(self, arguments):
        trace = self.folder / "trace"
        return trace, [*STRACE, "-o", str(trace), self.tool, *arguments]

    def cost(self, *arguments, stdin="", status=0, wants=""):
        """(calls, bytes) of a process. Its output must contain `wants`."""
        trace, command = self.traced(arguments)
        done = subprocess.run(command, cwd=self.folder, env=self.environment, input=stdin, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        if done.returncode != status or wants not in done.stdout:
            raise AssertionError(f"{arguments} printed {done.stdout!r} and ended with {done.returncode}: {done.stderr}")
        return cost_of(self.calls_in(trace))

    def calls_in(self, trace):
        return list(calls_of_program(calls_about(calls_waited_for(calls_of(trace.read_text())), str(self.folder))))

    def hook(self, event, run, **more):
        told = {"hook_event_name": event, "session_id": "now", "cwd": str(self.folder), **more}
        return run("hook", "claude-code", *PATIENT, stdin=json.dumps(told))

    def record(self, number, run):
        return self.hook("PostToolUse", run, tool_name="Bash", tool_input={"command": f"make part{number}"},
                         tool_use_id=f"toolu_{number}", tool_response={"stdout": f"made part {number}", "stderr": ""})

    def prompt(self, run):
        return self.hook("UserPromptSubmit", run, prompt=self.new_words())

    def costs(self):
        """{question: (calls, bytes)}: the least of the rounds."""
        middle = self.sessions // 2
        last = f"s{self.sessions - 1:03}"
        questions = {
            "query": lambda i: self.cost("query", self.new_words(), "--limit", str(LIMIT), wants="conversation"),
            "get-miss": lambda i: self.cost("get", f"no-such-id-{i}", status=3),
            "get-hit": lambda i: self.cost("get", f"m-{middle:03}-{10 + i}", wants=f"m-{middle:03}-{10 + i}"),
            "list": lambda i: self.cost("list", wants="fact"),
            "context": lambda i: self.cost("context", "--task", self.new_words(), wants="message by user"),
            "state-get": lambda i: self.cost("state", "get", "--session", "s000", "builder", wants="count"),
            "session-list": lambda i: self.cost("session", "list", wants=last),
            "hook-record": lambda i: self.record(i, self.cost),
            "hook-prompt": lambda i: self.prompt(lambda *event, **more: self.cost(*event, wants="message by user", **more)),
        }
        measured = {}
        for name, ask in questions.items():
            if name == "hook-record":  # The first event makes a session.
                self.prompt(self.run)
                self.record(ROUNDS, self.run)
            measured[name] = [ask(i) for i in range(ROUNDS)]
        events = (self.root / "sessions/cc-now/events.jsonl").read_text(encoding="utf-8")
        assert events.count(f"make part{ROUNDS - 1}") > 0, events
        measured["search-warm"] = self.warm_costs()
        return {name: tuple(map(min, zip(*each))) for name, each in measured.items()}

    def warm_costs(self):
        """Of questions to a server."""
        trace, command = self.traced(["mcp"])
        with subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            guard = threading.Timer(TIMEOUT_S, process.kill)
            guard.start()

            def send(**message):
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                process.stdin.flush()

            def request(method, number, **params):
                send(id=number, method=method, params=params)
                for line in process.stdout:
                    answer = json.loads(line)
                    if answer.get("id") == number:
                        return answer
                raise AssertionError("the server has gone")

            def search(number):
                asked = {"query": self.new_words(), "limit": LIMIT, "format": "json"}
                answer = request("tools/call", number, name="memory_search", arguments=asked)
                hits = answer["result"]["structuredContent"]["hits"]
                assert len(hits) == LIMIT, answer

            request("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"})
            send(method="notifications/initialized")
            search(1)
            search(2)
            time.sleep(SETTLED_S)
            for i in range(ROUNDS):
                search(3 + i)
            process.stdin.close()
            process.wait()
            guard.cancel()
        return self.costs_of_answers(self.calls_in(trace))

    @staticmethod
    def costs_of_answers(calls):
        """Of the last ones: from the read of the request to the write of the answer."""
        asked = [call.ended for call in calls if call.name == "read" and call.descriptor() == "0" and call.result > 0]
        answered = [call.begun for call in calls if call.name == "write" and call.descriptor() == "1"]
        return [cost_of(calls, begin, min(line for line in answered if line > begin)) for begin in asked[-ROUNDS:]]


# The figures and their file.


def measure(tool):
    """{(question, sessions): (calls, kilobytes)}, in the order of the file."""
    # In memory where there is room: each write syncs, and a disk takes minutes for so many.
    with tempfile.TemporaryDirectory(prefix="bmad-cost-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        def costs(sessions):
            memory = Memory(tool, pathlib.Path(folder).resolve(), sessions)
            memory.write()
            return memory.costs()

        with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:  # The largest takes as long as the others.
            found = dict(zip(SIZES, reversed([*pool.map(costs, reversed(SIZES))])))
    return {(name, sessions): (found[sessions][name][0], -(-found[sessions][name][1] // 1024))
            for name in found[SIZES[0]] for sessions in SIZES}


def read(text):
    """The figures of the file: lines with # are comments."""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {(name, int(sessions)): (int(calls), int(kilobytes)) for name, sessions, calls, kilobytes in rows}


def rows_of(figures):
    return [f"{name:<14} {sessions:>8} {calls:>6} {kilobytes:>9}" for (name, sessions), (calls, kilobytes) in figures.items()]


def with_room(figures):
    """For what threads and the time of day change: 2 % of the calls, and 10 % of the bytes, as was seen."""
    calls, kilobytes = figures
    return calls + calls // 50 + 6, kilobytes + kilobytes // 10 + 2


def written(text, measured):
    """The file with figures lowered where what was measured, with some room, is less, and none raised."""
    head = [line for line in text.splitlines() if line.startswith("#")]
    lowered = {key: tuple(map(min, figures, with_room(measured[key]))) for key, figures in read(text).items() if key in measured}
    return "\n".join([*head, *rows_of(lowered)]) + "\n"


def differences(said, measured):
    """A sentence for each figure that is above the file's, and for each that the file lacks."""
    for (name, sessions), figures in measured.items():
        if (name, sessions) not in said:
            yield f"{name} of {sessions} sessions: {figures[0]} calls and {figures[1]} KB, and {COSTS.name} has no line for it"
        else:
            for unit, now, most in zip(("calls", "KB read"), figures, said[name, sessions]):
                if now > most:
                    yield (f"{name} of {sessions} sessions: {now} {unit}, {now - most} above the {most} of {COSTS.name}: "
                           "make it cheaper, or raise the figure by hand, with the reason in the commit")


def can_trace():
    """Why strace cannot run here; empty where it can."""
    done = subprocess.run([*STRACE, "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"it ended with {done.returncode}"


def main(arguments):
    options = [each for each in arguments if each.startswith("--")]
    tools = [pathlib.Path(each).resolve() for each in arguments if not each.startswith("--")]
    if len(tools) != 1 or not tools[0].exists() or set(options) - {"--show", "--write"}:
        sys.exit(f"usage: {sys.argv[0]} TOOL [--show | --write]")
    if shutil.which("strace") is None:
        print("skipped: there is no strace, the Debian package of that name")
        return SKIPPED
    if problem := can_trace():
        print(f"strace cannot trace here: {problem}\nAllow ptrace to this user, or remove strace to skip this test.")
        return 1
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:PROCESSORS])
    measured = measure(tools[0])
    if "--show" in options:
        print("\n".join(["question       sessions  calls  KB read", *rows_of(measured)]))
        return 0
    if "--write" in options:
        COSTS.write_text(written(COSTS.read_text(encoding="utf-8"), measured), encoding="utf-8")
    wrong = list(differences(read(COSTS.read_text(encoding="utf-8")), measured))
    print("\n".join([*wrong, f"costs: {2 * len(measured)} figures, {len(wrong)} too high"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
