#!/usr/bin/env python3
"""The pages are true where a test can check them: their blocks run, and what they name exists."""

import functools
import json
import re
import subprocess
import sys
import tomllib

from page_claims import CONSTANTS
from tool_under_test import SOURCE, TOOL, ToolTest, main

sys.path[:0] = [str(SOURCE / "tests/layering"), str(SOURCE / "tests/package")]
import check_layering  # noqa: E402
import install_lines  # noqa: E402

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
# Those that keep to the glossary and name commands for users. Others speak to contributors.
USER_PAGES = [page for page in PAGES if page.name not in ("architecture.md", "benchmarks.md", "glossary.md")]

# Words that the glossary replaces, and constructions that its style excludes.
REPLACED = [
    r"anew", r"somebody", r"nobody", r"anybody", r"whoever", r"behind", r"tells?", r"told", r"stands?", r"displaces?",
    r"mends?", r"mended", r"passed over", r"but for", r"so many", r"by itself", r"by themselves", r"for good",
    r"brings? back", r"brought back", r"takes? out", r"taken out", r"turned around", r"spelt", r"no way back",
    r"blanks?", r"small letters", r"capitals", r"by the way", r"stated", r"what holds", r"what is known", r"is due by",
    r"make room", r"moved out", r"fades?", r"doors?", r"in the place of",
]
# Lines that need the word: (page, text in the line).
ALLOWED = [("how-it-works.md", '"tell me"')]

# A command as the pages show it: in a block or a span, also behind a pipe.
COMMAND = r"(?:^|[\s|(;])bmad-mem ([a-z][a-z-]*)(?= |$|\n|`)(?: ([a-z][a-z-]*)(?![\w:.-]))?"

# Options of other programs that the pages show.
FOREIGN_OPTIONS = {
    "--silent", "--show-error", "--fail-with-body", "--scope", "--ignore-missing", "--check", "--save-dev", "--global",
    "--formula", "--rm", "--cached", "--merge", "--theirs", "--ours", "--name-only", "--diff-filter", "--no-textconv",
    "--tool", "--force", "--output-format", "--debug", "--install", "--prefix", "--uninstall",
    "--strip-components", "--offline",
}  # fmt: skip


def text_of(page):
    return page.read_text(encoding="utf-8")


def code_of(text):
    """What the page shows as code: blocks of three back-ticks, indented lines, and spans."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return blocks + re.findall(r"^    .*$", rest, re.MULTILINE) + re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", rest)


def prose_of(text, keep_links=False):
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^ {4}.*$", "", rest, flags=re.MULTILINE)
    rest = re.sub(r"`[^`\n]*`", " ", rest)
    return rest if keep_links else re.sub(r"\]\([^)]*\)", "]", rest)


def anchors_of(text):
    """The anchors of the headings, as hosting sites make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


@functools.lru_cache(maxsize=None)
def sources():
    """The names of all files that git has, or would have."""
    listed = ["git", "-c", f"safe.directory={SOURCE}", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=SOURCE, text=True, stdout=subprocess.PIPE, check=False)
    names = done.stdout.split() or [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*") if path.is_file()]
    return [name for name in names if not name.startswith("build/") and (SOURCE / name).is_file()]


@functools.lru_cache(maxsize=None)
def text_below(folder, endings=(".cpp", ".hpp", "dates.txt")):
    """The text of all sources below a folder, runs of blanks as one space."""
    names = [name for name in sources() if name.startswith(f"{folder}/") and name.endswith(endings)]
    return " ".join(" ".join((SOURCE / name).read_text(encoding="utf-8").split()) for name in names)


def wrong_names(text):
    """The files and the names of code in spans of a page that are not in the sources."""
    made = re.compile(r"(?:[a-z_]+/)*(?:operation_\w+\.hpp|encoder\.bmw)")  # While building, from tables and weights.
    for span in sorted(set(re.findall(r"`([^`\n]+)`", text))):
        if re.fullmatch(r"[a-z_]+(/[a-z_*]+)+(\.[a-z]+)?/?|[a-z_*]+\.(cpp|hpp|toml|py|cmake|sh)", span) and not made.fullmatch(span):
            pattern = re.escape(span.rstrip("/")).replace(r"\*", "[^/]*")
            if not any(re.search(rf"(^|/){pattern}(\.|/|$)", name) for name in sources()):
                yield span
        elif name := re.fullmatch(r"(?:[A-Z]\w+::)?([A-Z][a-z]+[A-Z]\w+|k[A-Z]\w+|[a-z]+_[a-z_]+)(?:\(\))?", span):
            endings = (".cpp", ".hpp", ".py", ".toml", ".json", ".cmake", ".txt", ".js")
            if not any(re.search(rf"\b{name[1]}", text_below(folder, endings)) for folder in ("lib", "tools", "tests", "cmake")):
                yield span


class Documents(ToolTest):
    maxDiff = None

    def run_blocks_of(self, name):
        text = (SOURCE / name).read_text(encoding="utf-8")
        blocks = re.findall(r"<!-- runs -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertTrue(blocks, f"{name} has no block marked <!-- runs -->")
        for block in blocks:
            self.run_command("/bin/sh", "-eu", "-c", block)

    def run_every_block_of(self, name):
        """Pastes each block into an empty folder of its own. There are no exceptions: what installs
        software or never ends is shown as inline code."""
        text = (SOURCE / name).read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^```(?:bash|shell|console|zsh)", text, re.MULTILINE), [])
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        self.assertTrue(blocks, f"{name} has no block to paste")
        for number, block in enumerate(blocks):
            with self.subTest(block=block):
                folder = self.folder / f"{number}"
                folder.mkdir()
                self.run_command("/bin/sh", "-euc", f"cd {folder}\n{block}")
                self.run_command(str(TOOL), "--root", str(folder / ".bmad/memory"), "verify")

    @functools.cached_property
    def settings(self):
        """The settings that `init` writes, by their dotted names."""
        self.run_tool("--root", str(self.folder / "settings"), "init")
        found = {}

        def walk(name, value):
            found[name] = value
            for key, each in value.items() if isinstance(value, dict) else ():
                walk(f"{name}.{key}" if name else key, each)

        walk("", json.loads((self.folder / "settings/config.json").read_text())["memory_config"])
        return found

    @functools.cached_property
    def commands(self):
        """The commands that `help --all` lists, and those that only git calls."""
        listed = re.findall(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?)  +\S", self.run_tool("help", "--all"), re.MULTILINE)
        return {*listed, "textconv", "merge-driver"}

    @functools.lru_cache(maxsize=None)
    def options_of(self, command):
        """The options of a command, with the global ones."""
        text = self.run_tool("help", *command.split())
        if command == "add":
            types = ["conversation", "decision", "finding", "preference", "fact", "event", "agent_state", "artifact"]
            text += "".join(self.run_tool("help", "add", each) for each in types)
        return set(re.findall(r"--[a-z][a-z-]*", text))

    @functools.cached_property
    def options(self):
        """All options that any command takes."""
        return set().union(*(self.options_of(command) for command in self.commands), ["--all"])

    def shown_code(self):
        """The code of all pages for users, with its page."""
        return [(page, code) for page in USER_PAGES for code in code_of(text_of(page))]

    def test_every_block_of_the_readme_can_be_pasted(self):
        self.run_every_block_of("README.md")

    def test_every_block_of_the_tutorial_can_be_pasted(self):
        self.run_every_block_of("docs/getting-started.md")

    def test_links_between_pages_lead_somewhere(self):
        wrong = []
        for page in [*SOURCE.glob("*.md"), *PAGES, *SOURCE.glob("docs/decisions/*.md"), *SOURCE.glob("lib/*/README.md")]:
            for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(text_of(page), keep_links=True)):
                target, _, anchor = link.partition("#")
                path = page.parent / target if target else page
                # The pages of reference/ are made from the table of operations.
                if "://" in link or (target.startswith("reference/") and not path.parent.exists()):
                    continue
                is_there = path.exists() and (not anchor or path.suffix != ".md" or anchor in anchors_of(text_of(path)))
                wrong += [] if is_there else [f"{page.name}: {link}"]
        self.assertEqual(wrong, [])

    def test_the_index_lists_every_page(self):
        index = text_of(SOURCE / "docs/README.md")
        for page in SOURCE.glob("docs/*.md"):
            if page.name != "README.md":
                self.assertIn(f"]({page.name})", index)

    def test_the_readme_says_how_to_test(self):
        self.assertIn("./dev test", text_of(SOURCE / "README.md"))

    def test_the_page_of_errors_has_the_codes_of_the_library(self):
        header = (SOURCE / "lib/include/bmad_mem/result.hpp").read_text()
        codes = re.findall(r"^  (E_[A-Z_]+),", header, re.MULTILINE)
        page = text_of(SOURCE / "docs/commands.md")
        self.assertEqual(re.findall(r"^\| \[(E_[A-Z_]+)\]", page, re.MULTILINE), codes)
        self.assertEqual(sorted(re.findall(r"^### (E_[A-Z_]+)$", page, re.MULTILINE)), sorted(codes))
        over_http = text_of(SOURCE / "docs/api.md").split("### Errors")[1].split("###")[0]
        self.assertEqual(set(re.findall(r"E_[A-Z_]+", over_http)), set(codes))
        for other in PAGES:
            self.assertLessEqual(set(re.findall(r"\bE_[A-Z]{3,}_[A-Z_]+\b", text_of(other))), {*codes, "E_LOCK_TIMEOUT"}, other.name)

    def test_commands_that_pages_name_exist(self):
        groups = {command.split()[0] for command in self.commands if " " in command}
        wrong = []
        for page, code in self.shown_code():
            for first, second in re.findall(COMMAND, code):
                is_known = f"{first} {second}" in self.commands if first in groups and second else first in self.commands
                if not is_known:
                    wrong.append(f"{page.name}: bmad-mem {first} {second}")
        self.assertEqual(wrong, [])

    def test_options_that_pages_name_exist(self):
        known = self.options | FOREIGN_OPTIONS
        wrong = [
            f"{page.name}: {option} in {code}"
            for page, code in self.shown_code()
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", code)
            if option not in known
        ]
        self.assertEqual(wrong, [])

    def test_options_in_a_command_are_its_own(self):
        wrong = []
        for page, code in self.shown_code():
            joined = re.sub(r"\\\n\s*", " ", code)
            for line in re.findall(r"(?:^|[\s(])bmad-mem ([a-z][^|\n;&)#]*)", joined, re.MULTILINE):
                words = line.split()
                name = " ".join(words[:2]) if " ".join(words[:2]) in self.commands else words[0]
                if name in self.commands:
                    options = re.findall(r"(?<!\S)--[a-z][a-z-]*", re.sub(r"\"[^\"]*\"|'[^']*'", "", line))
                    wrong += [f"{page.name}: bmad-mem {line}" for each in options if each not in self.options_of(name)]
        self.assertEqual(wrong, [])

    def test_settings_that_pages_name_exist(self):
        no_effect = set(re.findall(r"^\| `([a-z_.]+)` \| `", text_of(SOURCE / "docs/configuration.md"), re.MULTILINE))
        sections = {name for name, value in self.settings.items() if name and "." not in name and isinstance(value, dict)}
        named = [
            (page.name, code, code.removeprefix("memory_config."))
            for page in USER_PAGES
            for code in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", text_of(page))
            if code.startswith("memory_config.")
            or (code.split(".")[0] in sections - {"context"} and not code.endswith((".hpp", ".json", ".jsonl", ".md", ".bmw")))
        ]
        known = {*self.settings, *no_effect}
        self.assertEqual([f"{page}: {code}" for page, code, name in named if name not in known], [])
        self.assertGreater(len(named), 20)

    def test_defaults_that_pages_name_are_those_of_init(self):
        tables = 0
        for page in USER_PAGES:
            table = r"^\| under `memory_config\.([a-z_]+)` \| default \|.*\n\|[-|]+\n((?:\|.*\n)+)"
            for section, rows in re.findall(table, text_of(page), re.MULTILINE):
                tables += 1
                shown = dict(re.findall(r"^\| `([a-z_]+)` \| `?([^|`]+?)`? \|", rows, re.MULTILINE))
                self.assertEqual({key: json.loads(value) for key, value in shown.items()}, self.settings[section], page.name)
        self.assertEqual(tables, 4)
        lifecycle = text_of(SOURCE / "docs/lifecycle.md")
        self.assertIn(f"`decay.minimum_factor` | {self.settings['decay.minimum_factor']} |", lifecycle)
        self.assertIn(f"`compaction.trigger_threshold_mb`: {self.settings['compaction.trigger_threshold_mb']}", lifecycle)
        for kind, rate in self.settings["decay.rates"].items():
            self.assertIn(f"{kind} {rate}", lifecycle)
        hook = self.run_tool("help", "hook")
        agents = text_of(SOURCE / "docs/agents.md")
        for option, default in re.findall(r"^- `(--[a-z-]+)`: .*?\(default: (\d+)\)", agents, re.MULTILINE | re.DOTALL):
            self.assertRegex(hook, rf"{option} N\s[^-]*(?:-[^-]+)*?\(default: {default}\)")

    def test_names_in_tables_are_those_of_the_tool(self):
        def first_column(page, heading):
            text = text_of(SOURCE / page).split(f"{heading}\n|--", 1)[1]
            rows = re.match(r".*\n((?:\|.*\n)+)", text).group(1)
            return [name for row in rows.splitlines() for name in re.findall(r"`([\w.-]+)`", row.split(" | ")[0].split(":")[0])]

        request = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
        offered = {each["name"] for profile in ("core", "full") for each in json.loads(
            self.run_tool("mcp", "--tools", profile, stdin=request + "\n"))["result"]["tools"]}
        self.assertEqual(set(first_column("docs/api.md", "| tool | purpose | answer |")), offered)
        query = self.run_tool("help", "query")
        for field in first_column("docs/search.md", "| field | in |"):
            self.assertIn(field, query)
        for kind in first_column("docs/import-export.md", "| `--from` | default location | becomes | session |"):
            self.assertIn(kind, self.run_tool("help", "import"))
        for kind in first_column("docs/import-export.md", "| `--format` | for | versions |"):
            self.assertIn(kind, self.run_tool("help", "export"))
        for client in first_column("docs/agents.md", "| client | `--scope project` | `--scope user` |"):
            self.assertIn(client, self.run_tool("help", "install"))

    def test_the_importers_are_those_of_the_tool(self):
        rows = [json.loads(line) for line in self.run_tool("--json", "import", "--list").splitlines()]
        page = text_of(SOURCE / "docs" / "import-export.md")
        table = page.partition("| `--from` |")[2].partition("\n\n")[0]
        self.assertEqual(
            {name: place.strip() != "" for name, place in re.findall(r"^\| `([a-z0-9-]+)` \|([^|]*)\|", table, re.MULTILINE)},
            {row["name"]: "place" in row for row in rows},
        )
        names = [row["name"] for row in rows]
        declared = tomllib.loads(text_of(SOURCE / "lib" / "operations" / "table" / "writing.toml"))["operation"]
        (parameters,) = (each["parameter"] for each in declared if each["name"] == "import")
        self.assertEqual(parameters["from"]["choices"], names)
        self.assertEqual(parameters["format"]["choices"], ["auto", "entries", "export", *names])

    def test_the_number_of_rules_is_that_of_the_tool(self):
        rules = self.run_tool("redact", "--rules").splitlines()
        self.assertIn(f"{len(rules)} rules", text_of(SOURCE / "README.md"))
        page = text_of(SOURCE / "docs/privacy.md")
        for tier in ("token", "assigned"):
            number = sum(line.split()[1] == tier for line in rules)
            self.assertRegex(page, rf"(?m)^\| {tier} \|.*: {number} rules \|$")

    def test_figures_of_the_first_pages_are_in_the_benchmarks(self):
        benchmarks = text_of(SOURCE / "docs/benchmarks.md")
        fast = text_of(SOURCE / "docs/how-it-works.md").split("## How good, how fast")[1]
        first = "\n".join(line for line in text_of(SOURCE / "README.md").splitlines() if "rules" not in line)
        for figure in re.findall(r"(?<![\w/:.])\d[\d,]*(?:\.\d+)?(?= (?:ms|us|MB|/s|%|durable|times|entries)|,\d)", first + fast):
            self.assertIn(figure, benchmarks, figure)

    def test_every_install_line_is_run_by_a_test_or_comes_after_publication(self):
        pages = [(page.name, text_of(page)) for page in install_lines.PAGES]
        self.assertEqual([*install_lines.untested_lines(pages), *install_lines.unknown_tests()], [])
        for line in ("npx bmad-mem init", "curl -fsSL https://x.test/i.sh | sh", "./dev install /opt", "pip install bmad-mem"):
            (message,) = install_lines.untested_lines([("x.md", f"# Install\n\nUse `{line}`.\n")])
            self.assertIn(line, message)
            self.assertEqual([*install_lines.untested_lines([("x.md", f"## After publication: npm\n\n    {line}  # once\n")])], [])

    def test_packages_that_pages_name_have_the_version_of_the_project(self):
        version = re.search(r"project\(bmad_mem VERSION ([0-9.]+)", text_of(SOURCE / "CMakeLists.txt"))[1]
        for page in PAGES:
            self.assertLessEqual(set(re.findall(r"bmad-mem[a-z0-9-]*[_-](\d+\.\d+\.\d+)[._-]", text_of(page))), {version}, page.name)

    def test_commands_of_dev_that_pages_name_exist(self):
        known = set(re.findall(r"^  ([a-z]+) ", self.run_command(str(SOURCE / "dev"), "help"), re.MULTILINE))
        for page in [SOURCE / "CONTRIBUTING.md", *PAGES]:
            self.assertLessEqual(set(re.findall(r"\./dev ([a-z]+)", "\n".join(code_of(text_of(page))))), known, page.name)

    def test_files_and_names_of_code_that_pages_name_exist(self):
        for name in ("docs/architecture.md", "docs/how-it-works.md"):
            self.assertEqual([*wrong_names(text_of(SOURCE / name))], [], name)
        wrong = ["Write" + "Reduction", "commands/add.cpp", "store/nowhere"]
        self.assertEqual([*wrong_names("".join(f"`{each}` " for each in [*wrong, "lib/store", "WriteRedaction"]))], wrong)

    def test_the_rooms_and_their_libraries_are_those_of_the_layering_test(self):
        page = text_of(SOURCE / "docs/architecture.md")
        rows = re.findall(r"^\| (\d*) ?\| `([^`]+)` \| [^|]+ \| ([^|]*)\|$", page, re.MULTILINE)
        self.assertEqual([(room, int(rank)) for rank, room, _ in rows if rank], [*check_layering.RANKS.items()])
        libraries = {**check_layering.THIRD_PARTY, **{f"tools/{name}": of for name, of in check_layering.TOOL_THIRD_PARTY.items()}}
        shown = {place: set(filter(None, text.strip().split(", "))) for _, place, text in rows}
        for place, names in shown.items():
            self.assertEqual(names, libraries.get(place, set()) - {"intrinsics"}, place)
        self.assertLessEqual(set(libraries), set(shown))
        for folder in check_layering.TOOL_FOLDERS:
            self.assertIn(f"`{folder.split('/')[-1]}/`", page)

    def test_code_that_the_page_for_newcomers_shows_is_in_the_sources(self):
        page = text_of(SOURCE / "docs/architecture.md").split("The command `schema` came in like this")[1]
        row, function = re.findall(r"^```(?:toml|cpp)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[:2]
        self.assertIn(row, text_of(SOURCE / "lib/operations/table/tool.toml"))
        self.assertIn(function, text_of(SOURCE / "tools/bmad-mem/commands/tool.cpp"))

    def test_numbers_that_are_constants_of_the_code_are_the_same(self):
        for page, claim, folder, code in CONSTANTS:
            self.assertIn(claim, " ".join(text_of(SOURCE / "docs" / page).split()))
            self.assertRegex(text_below(folder), re.escape(code) + r"(?![\w.])", f"{page}: {claim}")

    def test_the_size_of_the_binary_is_as_the_pages_say(self):
        released = SOURCE / "build/release/bmad-mem"
        if not released.exists():
            self.skipTest("there is no release build")
        # Releases are built on Debian 12; libraries of other systems have other sizes, or are shared.
        delta = 0.05 if install_lines.system_here() == install_lines.DEBIAN_12 else 0.5
        for name, claim in (("README.md", r"static binary of ([\d.]+) MB"), ("docs/benchmarks.md", r"binary has ([\d.]+) MB")):
            (said,) = re.findall(claim, text_of(SOURCE / name))
            self.assertAlmostEqual(float(said) * 1e6 / released.stat().st_size, 1, delta=delta, msg=name)

    def test_measurements_have_a_date(self):
        described = ("What is measured, and how", "Memories as they were left")  # Tables of rows, not of results.
        for section in re.split(r"^#{2,3} ", text_of(SOURCE / "docs/benchmarks.md"), flags=re.MULTILINE)[1:]:
            if "\n|--" in section and not section.startswith(described):
                self.assertRegex(section, r"\b20\d\d-\d\d-\d\d", section.splitlines()[0])

    def test_groups_of_the_benchmarks_exist(self):
        known = {program.stem for program in (SOURCE / "tests/bench").glob("*.py")}
        named = set(re.findall(r"(?:\./dev bench|bmad-bench) ([a-z]+)(?![\w-])", "\n".join(code_of(text_of(SOURCE / "docs/benchmarks.md")))))
        self.assertLessEqual(named, known)
        self.assertGreater(len(named), 5)

    def test_nothing_but_tests_and_benchmarks_reads_data_beside_the_project(self):
        place = re.compile(r"\.\./shared|BMAD_SHARED_DATA|/work/")
        allowed = ("tests/", "tools/bmad-bench/", "docs/benchmarks.md")
        for name in sources():
            if not name.startswith(allowed) and name.endswith((".md", ".cpp", ".hpp", ".txt", ".cmake", ".py", ".sh", ".toml", ".json", ".yml")):
                text = text_of(SOURCE / name).replace("~/work/", "")
                self.assertEqual(place.findall(text), [], name)

    def test_superseded_decisions_are_short_and_name_their_successor(self):
        for page in SOURCE.glob("docs/decisions/0*.md"):
            status = re.search(r"^Status: (.*)$", text_of(page), re.MULTILINE)[1]
            if re.match(r"superseded|replaced", status) or "Replaced by 00" in status:
                self.assertLessEqual(len(text_of(page).splitlines()), 8, page.name)
                self.assertRegex(status, r"^superseded by \[00\d\d\]\(", page.name)

    def test_pages_use_the_terms_of_the_glossary(self):
        words = re.compile(rf"(?<![\w-])(?:{'|'.join(REPLACED)})(?![\w-])", re.IGNORECASE)
        wrong = [
            f"{page.name}: '{found.group()}' in: {line.strip()}"
            for page in USER_PAGES
            for line in prose_of(text_of(page)).splitlines()
            for found in words.finditer(line)
            if not any(page.name == name and text in line for name, text in ALLOWED)
        ]
        self.assertEqual(wrong, [])

    def test_sentences_begin_with_a_noun(self):
        """No free relative clause ("What was deleted is …", "Who writes …") begins a sentence."""
        for page in USER_PAGES:
            clause = r"(?:^|[.:] |\| |- )((?:What|Who|Whatever|Whoever) [a-z]+ [^.?|]*[.?|])"
            for start in re.findall(clause, prose_of(text_of(page)), re.MULTILINE):
                self.assertTrue(start.endswith("?"), f"{page.name}: {start}")

    def test_the_examples_of_search_run(self):
        self.run_blocks_of("docs/search.md")

    def test_the_life_of_a_session_runs(self):
        self.run_blocks_of("docs/lifecycle.md")
        self.run_tool("verify")

    def test_the_examples_of_import_and_export_run(self):
        for number, block in enumerate(
            re.findall(r"<!-- runs -->\n```sh\n(.*?)```", text_of(SOURCE / "docs/import-export.md"), re.DOTALL)
        ):
            folder = self.folder / f"{number}"
            folder.mkdir()
            self.run_command("/bin/sh", "-euc", f"cd {folder}\n{block}\nbmad-mem verify")

    def test_the_summary_by_hand_runs(self):
        self.run_blocks_of("docs/summaries.md")
        self.run_tool("verify")

    def test_the_token_of_the_local_server_is_for_scripts(self):
        self.run_blocks_of("docs/web-interface.md")

    def test_the_examples_of_privacy_run(self):
        self.run_blocks_of("docs/privacy.md")

    def test_the_examples_of_the_http_api_run(self):
        self.run_blocks_of("docs/api.md")
        self.run_tool("verify")

    def test_the_examples_of_agents_run(self):
        self.run_blocks_of("docs/agents.md")
        self.assertIn("night boat", self.run_tool("list", "--session", "cc-s1"))
        self.run_tool("verify")

    def test_the_demo_runs(self):
        self.environment["BMAD_MEM"] = str(TOOL)
        printed = self.run_command("/bin/sh", str(SOURCE / "docs" / "demo.sh"))
        self.assertIn("all good", printed)
        self.assertIn("Next steps", printed)


if __name__ == "__main__":
    main()
