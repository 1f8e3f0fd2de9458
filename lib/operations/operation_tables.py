"""Reads the operation table, table/*.toml, and checks what its rows say, for generate.py."""

import dataclasses
import pathlib
import re
import tomllib


class Mistake(Exception):
    """A row or file that cannot be used; the text has file, line and what to write instead."""


# Kinds of members: what a message calls them, and a value of that kind. Without the member a list is empty,
# all others have this value.
KINDS = {
    "needed": ("a text", ""),
    "text": ("a text", ""),
    "flag": ("true or false", False),
    "number": ("a whole number", 0),
    "range": ("two whole numbers", (0, 0)),
    "texts": ("a list of texts", [""]),
    "pairs": ("a list of pairs of texts", [("", "")]),
}


def shape(**kinds):
    """The members that a table may have, with their kinds: KIND="NAME NAME..."."""
    return {name: kind for kind, names in kinds.items() for name in names.split()}


# What the members mean stands at the head of table/parameters.toml. "*" is any name.
COMMON = shape(
    text="help default kind",
    texts="choices",
    range="range",
    flag="repeatable required may_be_empty not_empty",
)
VIEW = COMMON | shape(text="name schema", number="length_max count_min count_max")
PARAMETER = COMMON | shape(text="argument value letter complete", range="count", flag="alone")
CLI = shape(
    needed="group description",
    text="everyday exit_status glossary_title opens",
    texts="takes aliases",
    pairs="advice glossary examples refusals",
    number="everyday_place",
    flag="fields reads",
)
MCP = shape(needed="tool title description", text="output", texts="takes takes_more hints", number="place")
HTTP = shape(
    needed="route",
    text="summary request answer media_type headers",
    texts="takes body",
    number="status",
    flag="needs_body",
)
PARAMETERS = {"*": PARAMETER | {"http": VIEW, "mcp": VIEW}}
SHAPES = {
    "operation": shape(needed="name summary rights")
    | {"parameter": PARAMETERS, "cli": CLI, "mcp": MCP, "http": HTTP},
    "result": shape(needed="name", texts="with members"),
}


def fits(value, like):
    """Whether a value is of the kind of `like`: [""] is a list of texts, ("", "") a list of two."""
    if isinstance(like, tuple):
        return isinstance(value, list) and len(value) == len(like) and all(map(fits, value, like))
    if isinstance(like, list):
        return isinstance(value, list) and all(fits(each, like[0]) for each in value)
    return type(value) is type(like)


def line_of(text, path, index):
    """The line where a file has member `path` of a row, such as "operation.cli.takes", else that of the table
    or row that it would be in. `index`: which [[row]] of the file; -1 for a table before them."""
    place, best, row, head = 1, "", -1, ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\[\[?([\w.-]+)\]", line):
            head = here = match[1]
            row += line.startswith("[[")
        elif match := re.match(r"([\w.-]+)\s*=", line):
            here = f"{head}.{match[1]}"
        else:
            continue
        if row == index and len(here) > len(best) and f"{path}.".startswith(f"{here}."):
            place, best = number, here
    return place


class Table(dict):
    """A table of a file with its place, checked. A member that it lacks is empty, by its kind. Lines of texts
    are joined, paragraphs stay."""

    def __init__(self, members, shape, file, path, index=-1):
        super().__init__()
        self.shape, self.file, self.path, self.index = shape, file, path, index
        for name, value in members.items():
            self[name] = self.checked(name, value)
        for name, kind in shape.items():
            if kind == "needed" and name not in self:
                self.fail(name, f"{path} needs {name}, a text; write it")

    def __missing__(self, name):
        kind = self.shape[name]
        if isinstance(kind, dict):
            return Table({}, kind, self.file, f"{self.path}.{name}", self.index)
        value = KINDS[kind][1]
        return [] if isinstance(value, list) else value

    def fail(self, name, why):
        """Ends with the place of a member."""
        text = pathlib.Path(self.file).read_text(encoding="utf-8")
        raise Mistake(f"{self.file}:{line_of(text, f'{self.path}.{name}', self.index)}: {why}")

    def checked(self, name, value):
        here = f"{self.path}.{name}"
        kind = self.shape.get(name, self.shape.get("*"))
        if kind is None:
            self.fail(name, f"{here} is unknown; {self.path} may have {', '.join(self.shape)}")
        what, like = ("a table", {}) if isinstance(kind, dict) else KINDS[kind]
        if not fits(value, like):
            self.fail(name, f"{here} must be {what}")
        if isinstance(value, dict):
            return Table(value, kind, self.file, here, self.index)
        return re.sub(r"(\n\n)|\n", lambda match: match[1] or " ", value) if isinstance(value, str) else value

    def changed_by(self, other):
        """A table with the members of `other`, and its own where that has none."""
        changed = Table({}, {}, self.file, self.path, self.index)
        changed.shape = self.shape
        changed.update(self)
        changed.update(other)
        return changed


@dataclasses.dataclass
class View:
    """How an interface sees a parameter."""

    key: str  # The name of the parameter in the table.
    own: Table  # What the interface says itself.
    all: Table  # The same, and what is said for all interfaces where it says nothing.

    @property
    def name(self):
        return self.own.get("name", with_underscores(self.key))

    @property
    def help(self):
        return sentence(self.all["help"])

    @property
    def argument_kind(self):
        """The kind of a member of JSON."""
        return self.own["kind"] or "text"

    @property
    def argument_help(self):
        """The help of an argument in JSON; models read the default in it."""
        default = self.own["default"]
        return " ".join(filter(None, [self.help, default and f"Default: {default}."]))


class Tables:
    """All that the files say: `operations` and `results` in their order, and the parameters."""

    def __init__(self, paths):
        self.operations, self.results, self.shared = [], [], {}
        for path in paths:
            tables = read(path)
            self.shared |= Table(tables.pop("parameter", {}), PARAMETERS, path, "parameter")
            for kind, all_rows in (("operation", self.operations), ("result", self.results)):
                for index, row in enumerate(tables.pop(kind, [])):
                    row = Table(row, SHAPES[kind], path, kind, index)
                    if any(row["name"] == other["name"] for other in all_rows):
                        row.fail("name", f"there are two rows [[{kind}]] of this name; rename one")
                    all_rows.append(row)
            if tables:
                raise Mistake(f"{path}:1: {', '.join(tables)}: unknown; write parameter, operation or result")

    def rows_of(self, interface):
        """The operations that an interface offers."""
        return [row for row in self.operations if interface in row]

    def parameter(self, row, name):
        """Parameter `name` of `row`: what all operations share, changed by the row; None without."""
        own, shared = row["parameter"].get(name), self.shared.get(name)
        if own is None or shared is None or own["alone"]:
            return shared if own is None else own
        return shared.changed_by(own)

    def parameters(self, row, interface, *lists):
        """The parameters that these members of an interface's table list, by their names."""
        found = {}
        for member in lists:
            for name in row[interface][member]:
                found[name] = self.parameter(row, name)
                if found[name] is None:
                    why = f"takes {name}, which is not described; write [operation.parameter.{name}]"
                    row[interface].fail(member, f"{row['name']} {why}")
        return found

    def views(self, row, interface, *lists):
        """How an interface sees these parameters."""
        return [
            View(name, parameter[interface], parameter.changed_by(parameter[interface]))
            for name, parameter in self.parameters(row, interface, *lists).items()
        ]


def read(path):
    """The tables of a file."""
    try:
        return tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise Mistake(f"{path}:{line[1] if line else 1}: {error}; correct the TOML") from error


def read_all(paths):
    """The tables of all files as one: rows of the same name one after the other."""
    together = {}
    for path in paths:
        for name, value in read(path).items():
            rows = together.get(name)
            together[name] = rows + value if isinstance(rows, list) and isinstance(value, list) else value
    return together


def with_underscores(name):
    return re.sub("[ -]", "_", name)


def sentence(text):
    """ "not after" as the sentence "Not after."."""
    return text and text[0].upper() + text[1:].removesuffix(".") + "."
