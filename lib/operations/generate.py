#!/usr/bin/env python3
"""Makes the tables of C++ and the pages of the reference from the rows in table/*.toml, while building.

    table/*.toml ──> generate.py ──┬─> operation_rows.cpp    names and rights, for the dispatcher
                                   ├─> command_table.cpp     arguments, help, completion, man page
                                   ├─> endpoint_table.cpp    HTTP routes, OpenAPI
                                   ├─> tool_table.cpp        MCP tools with their schemas
                                   ├─> result_shapes.hpp     the members of results in JSON
                                   └─> docs/reference/*.md   the same for people

What a row may say stands at the head of table/parameters.toml; operation_tables.py reads and checks it. A
mistake in a row ends the build with its file and line. What is JSON is made by interface_json.py, the pages
by reference_pages.py.

Usage: generate.py PART OUTPUT TABLE.toml...; the parts are PARTS, PAGES and "json", which writes any tables
as one. An output that stays the same is not written: a change of a text builds no room again. Exit status:
1 for a mistake in a file, 2 for wrong arguments.
"""

import json
import pathlib
import re
import sys

from interface_json import Verbatim, object_schema, operation_json, tool_json, written
from operation_tables import Mistake, Tables, read_all, sentence, with_underscores
from reference_pages import commands_page, endpoints_page, tools_page

RIGHTS = ("none", "read", "write", "change", "manage")
COUNT_MAX = 1_000_000  # Of a list that states none.
# What a command may have opened before it runs, with the parameters of its function.
OPENED = {
    "": "Tool& tool",
    "memory": "Tool& tool, MemoryManager& memory",
    "session": "Tool& tool, MemoryManager& memory, const std::string& session",
}


def enumerator(name):
    """ "kSessionNew" for "session new"."""
    return Verbatim("k" + "".join(word[:1].upper() + word[1:] for word in re.split("[ -]", name)))


def struct(separator=", ", **members):
    """A value of a C++ struct by the names of its members."""
    return "{" + separator.join(f".{name} = {written(value)}" for name, value in members.items()) + "}"


def row_of(**members):
    """A row of a C++ table, each member on its line."""
    return struct(separator=",\n     ", **members)


def function_of(prefix, row):
    return Verbatim(f"{prefix}_{with_underscores(row['name'])}")


def declared(prefix, result, parameters, rows):
    """The declarations of the functions that rows of an interface name."""
    return [f"Result<{result}> {function_of(prefix, row)}({parameters});\n" for row in rows]


def run_of(row):
    """The function that runs a command: its own, or one that opens for it what the row says."""
    opens = row["cli"]["opens"]
    if opens not in OPENED:
        row["cli"].fail("opens", f"{row['name']} opens something else; write one of {', '.join(OPENED)}")
    run = function_of("run", row)
    return Verbatim(f"with_{opens}<{run}>") if opens else run


def array_of(kind, name, elements):
    """A C++ array, an element a line."""
    lines = "".join(f"    {element},\n" for element in elements)
    return f"constexpr {kind} {name}[] = {{\n{lines}}};\n"


class Source:
    """A C++ file of tables, with the arrays that their rows point to; equal ones once. `prefix` makes their
    names other than those of another file."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.names = {}

    def array(self, kind, elements):
        """The name of an array of that type; "{}" without elements."""
        if not elements:
            return Verbatim("{}")
        return self.names.setdefault((kind, *elements), Verbatim(f"k{self.prefix}Array{len(self.names)}"))

    def words(self, texts):
        return self.array("std::string_view", list(map(written, texts)))

    def pairs(self, kind, pairs):
        return self.array(kind, [f"{{{written(one)}, {written(other)}}}" for one, other in pairs])

    def file(self, header, declared, *tables):
        """The file, with a function for each table: (TYPE, NAME, FUNCTION, rows). `declared`: the functions
        that the rows name. No header has them, so that a new row compiles no source but this one."""
        arrays = "".join(array_of(kind, name, elements) for (kind, *elements), name in self.names.items())
        bodies = "\n".join(array_of(kind, name, rows) for kind, name, _, rows in tables)
        functions = "".join(
            f"std::span<const {kind}> {function}() {{ return {name}; }}\n"
            for kind, name, function, _ in tables
        )
        return (
            f'#include "{header}"\n\nnamespace bmad_mem::cli {{\n\n{"".join(declared)}\n'
            f"namespace {{\n\n{arrays}{bodies}\n}}  // namespace\n\n"
            f"{functions}\n}}  // namespace bmad_mem::cli\n"
        )


def completion_and_choices(source, parameter):
    """What a shell completes, as members of a positional or option."""
    choices = parameter["choices"]
    completion = parameter["complete"].replace("nothing", "none")
    if not completion:  # A flag with choices takes --name=CHOICE, which shells don't complete.
        takes_value = "value" in parameter or "argument" in parameter
        completion = "choice" if takes_value and choices else "none"
    return {"completion": Verbatim("Completion::" + enumerator(completion)), "choices": source.words(choices)}


def positional(source, parameter):
    least, most = parameter.get("count", (1, 1))
    name, help = parameter["argument"], parameter["help"]
    return struct(name=name, help=help, min=least, max=most, **completion_and_choices(source, parameter))


def option(source, name, parameter):
    return struct(
        name=name,
        letter=Verbatim(f"'{parameter['letter'] or chr(92) + '0'}'"),
        value=parameter["value"],
        help=parameter["help"],
        repeatable=parameter["repeatable"],
        fallback=parameter["default"],
        **completion_and_choices(source, parameter),
    )


def command(source, tables, row):
    cli = row["cli"]
    parameters = tables.parameters(row, "cli", "takes")
    positionals = [positional(source, each) for each in parameters.values() if "argument" in each]
    options = [option(source, *each) for each in parameters.items() if "argument" not in each[1]]
    return row_of(
        name=row["name"],
        group=Verbatim("Group::" + enumerator(cli["group"])),
        everyday=cli["everyday"],
        everyday_place=cli["everyday_place"],
        summary=row["summary"],
        description=cli["description"],
        positionals=source.array("Positional", positionals),
        options=source.array("Option", options),
        glossary_title=cli["glossary_title"],
        glossary=source.pairs("Explained", cli["glossary"]),
        examples=source.pairs("Example", cli["examples"]),
        refusals=source.pairs("Explained", cli["refusals"]),
        exit_status=cli["exit_status"],
        options_of=Verbatim("options_of_entry" if cli["fields"] else "nullptr"),
        run=run_of(row),
        reads=cli["reads"],
    )


def synonyms_of(cli, index):
    """The rows of other words for the command at `index`: those that it takes, and those it advises on."""
    place = Verbatim(f"&kCommands[{index}]")
    taken = [struct(word=alias, command=place) for alias in cli["aliases"]]
    return taken + [struct(word=word, command=place, advice=advice) for word, advice in cli["advice"]]


def commands(tables):
    source = Source("Command")
    rows = tables.rows_of("cli")
    synonyms = [synonym for index, row in enumerate(rows) for synonym in synonyms_of(row["cli"], index)]
    functions = [
        declaration
        for row in rows
        for declaration in declared("run", "ExitStatus", OPENED[row["cli"]["opens"]], [row])
    ]
    functions.append("std::span<const Option> options_of_entry(std::string_view type_name);\n")
    rows = [command(source, tables, row) for row in rows]
    return source.file(
        "cli/session_choice.hpp",
        functions,
        ("Command", "kCommands", "all_commands", rows),
        ("Synonym", "kSynonyms", "all_synonyms", synonyms),
    )


def argument_row(source, view, kind, said, not_empty=False):
    """The row by which a member of JSON is read, or a parameter of a query; `said` has its default."""
    least, most = view.all["range"]
    if kind in ("texts", "types"):
        least, most = view.own["count_min"], view.own["count_max"] or COUNT_MAX
    return struct(
        name=view.name,
        key=with_underscores(view.key),
        kind=Verbatim("ArgumentKind::" + enumerator(kind)),
        required=said["required"],
        not_empty=not_empty,
        min=least,
        max=most,
        fallback=said["default"],
        choices=source.words(view.all["choices"] if kind in ("choice", "texts") else []),
    )


def object_rows(source, views):
    """The rows by which the members of an object are read."""
    kinds = ["json" if view.own["schema"] else view.argument_kind for view in views]
    return [argument_row(source, view, kind, view.own) for view, kind in zip(views, kinds)]


def tool(source, tables, row):
    mcp = row["mcp"]
    core = object_schema(tables.views(row, "mcp", "takes"), is_brief=True)
    arguments = tables.views(row, "mcp", "takes", "takes_more")
    return row_of(
        name=mcp["tool"],
        operation=row["name"],
        summary=sentence(row["summary"]),
        writes="writes" in mcp["hints"],
        core=tool_json(mcp, core, is_brief=True) if "core" in mcp["hints"] else "",
        description="" if "core_only" in mcp["hints"] else tool_json(mcp, object_schema(arguments)),
        parameters=source.array("JsonParameter", object_rows(source, arguments)),
        run=function_of("mcp", row),
    )


def tools(tables):
    source = Source("Tool")
    rows = sorted(tables.rows_of("mcp"), key=lambda row: row["mcp"]["place"])
    functions = declared("mcp", "McpToolResult", "MemoryToolCall& call", rows)
    rows = [tool(source, tables, row) for row in rows]
    return source.file("mcp/memory_tools.hpp", functions, ("MemoryTool", "kTools", "all_memory_tools", rows))


def query_row(source, view):
    """The row by which a parameter of a query is read."""
    kind = view.all["kind"] or "text"
    is_text = kind in ("text", "choice", "time")
    if kind == "type":
        kind = "types"
    elif is_text and view.all["repeatable"]:
        kind = "texts"
    return argument_row(source, view, kind, view.all, is_text and not view.all["may_be_empty"])


def endpoint(source, tables, row):
    http = row["http"]
    method, _, path = http["route"].partition(" ")
    if not path.startswith("/"):
        http.fail("route", 'http.route must be a method and a path, such as "GET /memory/stats"')
    query, body = tables.views(row, "http", "takes"), tables.views(row, "http", "body")
    body_rows = object_rows(source, body)
    return row_of(
        method=method,
        path=path,
        operation=row["name"],
        query=source.array("JsonParameter", [query_row(source, view) for view in query]),
        body=source.array("JsonParameter", body_rows),
        request=http["request"],
        description=operation_json(row, method, path, query, body),
        status=http["status"] or 200,
        run=function_of("http", row),
    )


def endpoints(tables):
    source = Source("Endpoint")
    rows = tables.rows_of("http")
    functions = declared("http", "HttpResponse", "ApiContext& context, const EndpointCall& call", rows)
    rows = [endpoint(source, tables, row) for row in rows]
    return source.file("http/endpoint.hpp", functions, ("Endpoint", "kEndpoints", "all_endpoints", rows))


def rows(tables):
    rights = ""
    for row in tables.operations:
        right, _, kind = row["rights"].partition(" ")
        if right not in RIGHTS:
            row.fail("rights", f"{row['name']} needs other rights; write one of {', '.join(RIGHTS)}")
        rights += f"    {{{written(row['name'])}, Right::{enumerator(right)}, {written(kind)}}},\n"
    return (
        '#include "store/access.hpp"\n\nnamespace bmad_mem {\nnamespace {\n\n'
        f"constexpr OperationRow kOperations[] = {{\n{rights}}};\n\n}}  // namespace\n\n"
        "std::span<const OperationRow> all_operations() { return kOperations; }\n\n}  // namespace bmad_mem\n"
    )


def value_of(given, path):
    """What PATH or PATH|FORM of a result is in C++: see the head of results.toml."""
    path, _, form = path.partition("|")
    is_known = re.split(r"[.[(]", path)[0] in ("it", "true", *given)
    value = written(path[1:-1]) if path.startswith("'") else path if is_known else f"it.{path}"
    return f"{form}({value})" if form else value


def member_statement(given, text):
    """The statement that writes one member of a result."""
    text, is_optional, condition = text.partition("?")
    text, _, form = text.partition("|")
    text, _, shape = text.partition(":")
    name, _, path = text.partition("=")
    if name.startswith("&"):
        return f"    {name[1:]}(json, {value_of(given, path or 'it')});\n"
    value = value_of(given, f"{path or name}|{form}")
    shaped = f"shaped({shape}, {value})" if shape else value
    statement = f"    put(json, {written(name)}, {shaped});\n"
    condition = value_of(given, condition) if condition else value
    return f"    if (is_some({condition})) {{\n  {statement}    }}\n" if is_optional else statement


def results(tables):
    out = '#pragma once\n\n#include "cli/results.hpp"\n\nnamespace bmad_mem::cli::shape {\n\n'
    for row in tables.results:
        name, given = row["name"], row["with"]
        parameters = "".join(f", const auto& {each}" for each in ["it", *given])
        statements = "".join(member_statement(given, member) for member in row["members"])
        out += f"struct {name}_t {{\n  void operator()(JsonWriter& json{parameters}) const {{\n"
        out += f"{statements}  }}\n}};\ninline constexpr {name}_t {name};\n\n"
    return out + "}  // namespace bmad_mem::cli::shape\n"


HEAD = "// Made by lib/operations/generate.py from lib/operations/table/.\n"
PARTS = {part.__name__: part for part in (rows, commands, endpoints, tools, results)}
PAGES = {page.__name__: page for page in (commands_page, endpoints_page, tools_page)}


def made(part, paths):
    """The text of a part."""
    if part == "json":
        # cli/view_text.cpp looks for members in this form.
        form = {"indent": 4, "sort_keys": True, "separators": (",", " : ")}
        return json.dumps(read_all(paths), ensure_ascii=False, **form) + "\n"
    tables = Tables(paths)
    return PAGES[part](tables) if part in PAGES else HEAD + PARTS[part](tables)


def main(arguments):
    if len(arguments) < 3:
        print("usage: generate.py PART OUTPUT TABLE.toml...", file=sys.stderr)
        return 2
    part, output, *paths = arguments
    known = ["json", *PARTS, *PAGES]
    if part not in known:
        print(f"generate.py: there is no part '{part}'; it makes {', '.join(known)}", file=sys.stderr)
        return 2
    try:
        text = made(part, paths).encode()
        file = pathlib.Path(output)
        if not file.exists() or file.read_bytes() != text:
            file.write_bytes(text)
    except (Mistake, OSError) as mistake:
        print(mistake, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
