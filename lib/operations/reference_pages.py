"""The pages of docs/reference/ by the operation table, for generate.py."""

from operation_tables import sentence

HEAD = """\
<!-- Made by `./dev reference` from lib/operations/table/. Edits here are lost. -->

# {title}

{about}
"""


def cell(text):
    """A cell of a table of Markdown."""
    return text.replace("|", "\\|").replace("\n", " ")


def code(text):
    return f"`{cell(text)}`"


def table_of(head, rows):
    """A table of two columns; nothing without rows."""
    lines = "".join(f"| {first} | {second} |\n" for first, second in rows)
    return f"\n| {head} | |\n|---|---|\n{lines}".replace("|  |", "| |") if rows else ""


def remarks(help, parameter, choices=()):
    """The help of a parameter with what else is said of it, for a cell."""
    if any(choice not in help for choice in choices):
        help += ": " + ", ".join(choices)
    default = parameter["default"] and f"default: {parameter['default']}"
    more = "; ".join(filter(None, ["repeatable" if parameter["repeatable"] else "", default]))
    return cell(f"{help} ({more})" if more else help)


def usage(name, parameters):
    """The first line of a command's help."""
    words = [f"bmad-mem {name}"]
    if any("argument" not in parameter for parameter in parameters.values()):
        words.append("[OPTION]...")
    for parameter in parameters.values():
        if "argument" in parameter:
            least, most = parameter.get("count", (1, 1))
            word = parameter["argument"] + ("..." if most == 0 else "")
            words.append(f"[{word}]" if least == 0 else word)
    return " ".join(words)


def argument_word(name, parameter):
    """An argument or option as a command takes it: "-n, --limit N"."""
    if "argument" in parameter:
        return parameter["argument"]
    letter = f"-{parameter['letter']}, " if parameter["letter"] else ""
    return f"{letter}--{name} {parameter['value']}".rstrip()


def command_section(tables, row):
    cli = row["cli"]
    parameters = tables.parameters(row, "cli", "takes")
    out = f"\n## {row['name']}\n\n    {usage(row['name'], parameters)}\n\n{cli['description']}\n"
    rows = [
        (code(argument_word(name, each)), remarks(each["help"], each, each["choices"]))
        for name, each in parameters.items()
    ]
    out += table_of("argument", rows)
    if cli["glossary"]:
        rows = [(code(word), cell(meaning)) for word, meaning in cli["glossary"]]
        out += f"\n{cli['glossary_title']}\n{table_of('', rows)}"
    if cli["exit_status"]:
        out += f"\nExit status: {cli['exit_status']}\n"
    if cli["examples"]:
        out += "\n```\n" + "".join(f"# {about}\n{line}\n" for line, about in cli["examples"]) + "```\n"
    return out


def commands_page(tables):
    head = HEAD.format(
        title="Commands",
        about="All commands of `bmad-mem`, with their arguments and options. `bmad-mem help COMMAND` prints"
        " the same.",
    )
    shown = [row for row in tables.rows_of("cli") if row["cli"]["group"] != "hidden"]
    return head + "".join(command_section(tables, row) for row in shown)


def tools_page(tables):
    out = HEAD.format(
        title="MCP tools",
        about="The tools that `bmad-mem mcp` and `/mcp` of `bmad-mem serve` offer to models.",
    )
    for row in tables.rows_of("mcp"):
        rows = [
            (code(view.name) + (", required" if view.own["required"] else ""), cell(view.argument_help))
            for view in tables.views(row, "mcp", "takes", "takes_more")
        ]
        out += f"\n## {row['mcp']['tool']}\n\n{row['mcp']['description']}\n"
        out += table_of("argument", rows) or "\n| argument | |\n|---|---|\n"
    return out


def endpoint_section(tables, row):
    http = row["http"]
    takes = f" Takes {code(http['request'])}." if http["request"] else ""
    answers = f" Answers with {code(http['answer'])}." if http["answer"] else ""
    views = tables.views(row, "http", "takes", "body")
    rows = [(code(view.name), remarks(view.help, view.all)) for view in views]
    summary = http["summary"] or sentence(row["summary"])
    return f"\n## {http['route']}\n\n{summary}{takes}{answers}\n{table_of('parameter', rows)}"


def endpoints_page(tables):
    head = HEAD.format(
        title="HTTP endpoints",
        about="The endpoints of `bmad-mem serve`. `GET /openapi.json` describes them and their shapes for"
        " programs.",
    )
    return head + "".join(endpoint_section(tables, row) for row in tables.rows_of("http"))
