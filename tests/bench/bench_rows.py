"""Rows of a table: what was measured, beside what, and what it is held against; whole processes in turn, and probes.

    round 1    A B C        each round begins with another one, so that none always profits from what the one
    round 2    B C A        before it read, and all meet the same seconds of the machine

Processes are started as fast as the system can, and measured from posix_spawn to the end of the wait. What happens
within a process is measured by a probe, build/release/bmad-bench, which does what it is asked to and counts itself.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import time

from bench_memory import BadData, options, percentile, table, tell

Target = collections.namedtuple("Target", "required aim of better", defaults=(None, "ours", "lower"))
LEAST_MS = 0.01  # Noise can make a start as cheap as that of an empty program.


def at_least(required, aim=None, of="ours"):
    return Target(required, aim, of, "higher")


def summary(values):
    """The middle 80 %: one value that a neighbour on the machine disturbed says nothing."""
    low, median, high = (percentile(values, share) for share in (0.1, 0.5, 0.9))
    return {"median": median, "p10": low, "p90": high, "count": len(values)}


def value_text(value, unit=""):
    """Three digits or more."""
    digits = next((digits for least, digits in ((100, 0), (10, 1), (1, 2)) if abs(value) >= least), 3)
    return f"{value:,.{digits}f} {unit}".rstrip()


class Row:
    """`beside`: the name and the values of a baseline. Of times and rates also the ratio, pair by pair: above 1 ours is faster."""

    def __init__(self, what, unit="", values=(), beside=None, wants=None, note="", problem=""):
        self.what, self.unit, self.wants, self.note, self.problem = what, unit, wants, note, problem
        self.summaries = {"ours": summary(values)} if values else {}
        self.baseline_name, theirs = beside or ("", ())
        if theirs:
            self.summaries["baseline"] = summary(theirs)
        if theirs and unit.endswith(("/s", "ms", "us")):
            ratios = [a / b if unit.endswith("/s") else b / max(a, LEAST_MS) for a, b in zip(values, theirs)]
            self.summaries["ratio"] = summary(ratios)

    def verdict(self):
        def reaches(bound):
            value = self.summaries[self.wants.of]["median"]
            return bound is not None and (value >= bound if self.wants.better == "higher" else value <= bound)

        return "aim met" if reaches(self.wants.aim) else "met" if reaches(self.wants.required) else "MISSED"

    def bound_text(self, bound):
        return "" if bound is None else ("≥ " if self.wants.better == "higher" else "≤ ") + (
            f"{bound} ×" if self.wants.of == "ratio" else value_text(bound, self.unit))

    def cells(self):
        def text(name, unit=""):
            return value_text(self.summaries[name]["median"], unit) if name in self.summaries else ""

        def spread(name):
            known = self.summaries.get(name, {"count": 0})
            return f"{value_text(known['p10'])}..{value_text(known['p90'])}" if known["count"] > 1 else ""

        wants = [self.bound_text(self.wants.required), self.bound_text(self.wants.aim), self.verdict()] if self.wants else [""] * 3
        cells = (self.what, "not measured" if self.problem else text("ours", self.unit), spread("ours"),
                 f"{text('baseline', self.unit)} {self.baseline_name}".strip(), f"{text('ratio')} ({spread('ratio')})".replace(" ()", ""), *wants)
        return dict(zip(("what", "ours", "p10..p90", "baseline", "ratio", "required", "aim", "verdict"), cells))

    def report(self):
        if self.problem:
            return {"what": self.what, "problem": self.problem}
        name = {"baseline_name": self.baseline_name} if self.baseline_name else {}
        target = {"target": {**self.wants._asdict(), "verdict": self.verdict()}} if self.wants else {}
        return {"what": self.what, "unit": self.unit, **self.summaries, **name, **target, "note": self.note}


class Bench:
    """What all rows run with: the programs, a folder, and how often something is done."""

    def __init__(self, chosen, folder):
        self.chosen, self.folder, self.tool, self.programs = chosen, folder, str(chosen.tool), chosen.tool.parent
        self.data, self.facts = {}, {}  # Shown with the rows: what the data are, and more about the programs.
        self.environment = {"HOME": str(folder), "XDG_STATE_HOME": f"{folder}/state", "LC_ALL": "C.UTF-8", "BMAD_MEM_ENCODER": ""}

    def times(self, full):
        return max(3, int(self.chosen.effort * full))

    def seconds(self, full):
        return max(0.05, self.chosen.effort * full)

    def few_or(self, many):
        """`many`, but where a run only has to prove that it runs."""
        return 20 if self.chosen.effort < 0.1 else many

    def start(self, arguments, stdin=os.devnull, stdout=os.devnull):
        """The id of a process."""
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [(os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, str(stdout), writing, 0o600),
                   (os.POSIX_SPAWN_OPEN, 2, f"{self.folder}/errors", writing, 0o600)]
        return os.posix_spawn(arguments[0], arguments, self.environment, file_actions=actions)

    def run(self, *arguments, **streams):
        """The milliseconds of a process. Its exit status must be 0."""
        begin = time.perf_counter()
        _, status = os.waitpid(self.start(arguments, **streams), 0)
        took = 1000 * (time.perf_counter() - begin)
        if status:
            said = (self.folder / "errors").read_text(encoding="utf-8")
            raise AssertionError(f"{' '.join(arguments)[:200]} ended with {os.waitstatus_to_exitcode(status)}: {said}")
        return took

    def on(self, root, *arguments, **streams):
        """The milliseconds of the tool on a root."""
        return self.run(self.tool, "--root", str(root), *arguments, **streams)

    def output(self, *arguments, stdin=os.devnull):
        self.run(*arguments, stdin=stdin, stdout=self.folder / "output")
        return (self.folder / "output").read_text(encoding="utf-8")

    def peak_mb(self, *arguments):
        """Of the resident memory. GNU time looks, which is small: Linux counts the memory of who calls exec, too."""
        peak, looker = self.folder / "peak", "/usr/bin/time"
        if not os.path.exists(looker):
            raise BadData(f"there is no {looker}; ./dev bench installs it")
        self.run(looker, "--format=%M", f"--output={peak}", *arguments)
        return int(peak.read_text()) * 1024 / 1e6

    def helper(self, name):
        """A program beside the tool."""
        if not (self.programs / name).exists():
            raise BadData(f"there is no {self.programs / name}; ./dev bench builds it")
        return str(self.programs / name)

    def probe(self):
        """A new probe; what it was built like is noted."""
        probe = Probe(self.helper("bmad-bench"), self.environment)
        answer = probe.ask("facts")
        self.facts["build"] = answer.build
        if not answer.is_fast:
            tell("WARNING: asserts or sanitizers are on: these numbers compare with nothing; build the release preset")
        return probe

    def many_sessions(self, root, count):
        """A memory with a line in each of its sessions."""
        self.on(root, "init")
        for number in range(count):
            self.on(root, "session", "new", "--id", f"session-{number:04}")
            self.on(root, "add", "event", "--session", f"session-{number:04}", '{"kind":"note","content":"Nothing is due here."}')
        return root

    def in_turn(self, steps, rounds, warm_ups=0):
        """The values of steps, functions of the round, by their names."""
        values = {name: [] for name in steps}
        names = list(steps)
        for turn in range(warm_ups + rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                value = steps[name](turn)
                if turn >= warm_ups:
                    values[name].append(value)
        return values

    def above_empty(self, steps, rounds):
        """Whole processes in turn, less the median of an empty program: no program can do without a start."""
        empty = self.helper("bmad_bench_empty")
        values = self.in_turn({**steps, "": lambda _: self.run(empty)}, rounds, min(3, rounds))
        start = percentile(values.pop(""), 0.5)
        return {name: [value - start for value in each] for name, each in values.items()}


class Answer:
    """What a probe did: from when to when in seconds, the milliseconds of each call and of the processor for all, and more."""

    def __init__(self, said):
        self.error, self.begin, self.end, self.cpu_ms, self.ms, self.ids = "", 0, 0, 0, [], []
        vars(self).update(said)
        self.rate = len(self.ms) / (self.end - self.begin) if self.end > self.begin else 0.0
        self.cpu_us = 1000 * self.cpu_ms / max(1, len(self.ms))


class Probe:
    """`bmad-bench`: does what it is asked to within its process, so often or so long, and counts how long that takes."""

    def __init__(self, program, environment):
        self.process = subprocess.Popen([program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def send(self, do, **fields):
        self.process.stdin.write(json.dumps({"do": do, **fields}).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("the probe has gone")
        return Answer(json.loads(line))

    def ask(self, do, may_fail=False, **fields):
        self.send(do, **fields)
        answer = self.answer()
        if answer.error and not may_fail:
            raise AssertionError(f"{do}: {answer.error}")
        return answer


def together(probes, do, **fields):
    """The answers of all, who work at the same time."""
    for probe in probes:
        probe.send(do, **fields)
    answers = [probe.answer() for probe in probes]
    problem = next((answer.error for answer in answers if answer.error), "")
    if problem:
        raise AssertionError(f"{do}: {problem}")
    return answers


def rate_of(answers):
    """Calls a second, of all together."""
    took = max(answer.end for answer in answers) - min(answer.begin for answer in answers)
    return sum(len(answer.ms) for answer in answers) / took


class McpServer:
    """`bmad-mem mcp` as an agent has it: a child process, spoken to line by line."""

    def __init__(self, bench, root, **environment):
        self.process = subprocess.Popen([bench.tool, "--root", str(root), "mcp"], env={**bench.environment, **environment},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.calls = 0
        self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "bench", "version": "1"})
        self.send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, **params):
        self.calls += 1
        self.send({"id": self.calls, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.calls:  # Those before it are notifications.
                return answer
        raise AssertionError("the server has gone")

    def call(self, tool, **arguments):
        """The milliseconds of a call."""
        begin = time.perf_counter()
        answer = self.request("tools/call", name=tool, arguments=arguments)
        took = 1000 * (time.perf_counter() - begin)
        if "error" in answer or answer["result"].get("isError"):
            raise AssertionError(f"{tool} failed: {answer}")
        return took

    def resident_mb(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024 / 1e6


def byte_count(text):
    """"10M" and "10e6" are ten million, "300K" are 300,000."""
    found = re.fullmatch(r"([\d.]+(?:e\d+)?)\s*([kKMGT]?)[bB]?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 10M")
    return int(float(found[1]) * 1000 ** " KMGT".index(found[2].upper() or " "))


def row_options(about, groups):
    """The parser of a benchmark of rows; `groups`: their names with what they measure."""
    lines = [f"  {name:<10} {each.__doc__.splitlines()[0]}" for name, each in groups.items() if callable(each) and each.__doc__]
    parser = options(about, data=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["groups of rows:", *lines]) if lines else ""
    parser.add_argument("--filter", default="", help=f"only groups of rows whose name holds this: {', '.join(groups)}")
    parser.add_argument("--effort", type=float, default=1, help="1 takes a minute or so; less is faster and proves less")
    parser.add_argument("--seed", type=int, default=1, help="of the data (1)")
    return parser


def measure_rows(groups, chosen, bench):
    """(report, text) of the groups of rows: functions of the bench, which return rows."""
    rows = []
    for name, measure in groups.items():
        if chosen.filter in name:
            tell(f"measuring {name} ...")
            try:
                rows += measure(bench)
            except (AssertionError, OSError, BadData, subprocess.SubprocessError) as error:
                rows.append(Row(name, problem=str(error)))
    if not rows:
        raise BadData(f'no group of rows matches "{chosen.filter}"; there are: {", ".join(groups)}')
    notes = "".join(f"\n- {row.what}: {row.note}{row.problem}" for row in rows if row.note or row.problem)
    data = {**bench.data, "seed": chosen.seed, "effort": chosen.effort}
    facts = {**bench.facts, "data": ", ".join(f"{name} {value}" for name, value in data.items())}
    report = {**data, "facts": facts, "rows": [row.report() for row in rows]}
    return report, f"{table([row.cells() for row in rows], aligned=True)}{notes}\n"
