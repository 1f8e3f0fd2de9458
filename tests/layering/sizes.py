#!/usr/bin/env python3
"""Counts how large the house is and how often it uses words that the glossary replaces, and compares each
figure with tests/layering/sizes.txt and tests/layering/replaced_words.txt.

A figure that differs fails, either way: what shrank is written down, so that it cannot grow back unseen,
and what grew is a line in the diff, with its reason in the body of the commit.

Usage: sizes.py [--write] [SOURCE_FOLDER]. Prints the figures that differ; exit status 1 if any. --write
lowers the figures of the files; those that grew are raised by hand.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

import check_layering

SIZES = "tests/layering/sizes.txt"
WORDS = "tests/layering/replaced_words.txt"
PRODUCT = ("lib", "tools", "bindings", "platform")
CPP = {".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc", ".ipp", ".m", ".mm"}
# A line of code is neither blank, nor a comment alone, nor an assert.
NOT_CODE = re.compile(r"\s*((//|assert\().*)?")
FUNCTION_LINES = 70
FILE_LINES = 500

# Figures that count lines of other files: suffixes and folders.
OTHER_LINES = {
    "lines of TOML": ({".toml"}, PRODUCT),
    "lines of JSON": ({".json"}, PRODUCT),
    "lines of JavaScript": ({".js", ".mjs"}, PRODUCT),
    "lines of word lists": ({".txt"}, ("lib/knowledge/words", "lib/privacy/words", "lib/search/words")),
    "lines of Python": ({".py"}, ("lib", "tools", "tests/bench")),
}


def files_below(source, folders, suffixes):
    """The files below `folders` with one of the suffixes, sorted."""
    return [
        path
        for folder in folders
        for path in sorted((source / folder).rglob("*"))
        if path.suffix in suffixes and path.is_file()
    ]


def text_of(path):
    return path.read_text(encoding="utf-8")


def code_lines(path):
    return sum(NOT_CODE.fullmatch(line) is None for line in text_of(path).splitlines())


def room_of(relative):
    """The room or folder of the tool that a source is counted in, such as "lib/store"."""
    parts = pathlib.PurePosixPath(relative).parts
    if parts[:2] == ("tools", "bmad-mem"):
        folder = check_layering.folder_of("/".join(parts[2:])) or parts[2]
        return f"tools/bmad-mem/{folder.split('/')[0]}"
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def tags_of(paths, kinds="fcsgut"):
    """What Universal Ctags finds in the files, of these of its kinds: dictionaries with name, path, line,
    kind and end."""
    arguments = ["ctags", "--languages=C++", f"--kinds-C++={kinds}", "--fields=+neKs"]
    found = subprocess.run(
        [*arguments, "--output-format=json", "-f", "-", "-L", "-"],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in found.stdout.splitlines()]


def interface_figures(source):
    """Commands and their options by the operation table, and the keys of config.json by its schema."""
    tables = sorted((source / "lib/operations/table").glob("*.toml"))
    rows = [row for table in tables for row in tomllib.loads(text_of(table)).get("operation", [])]
    commands = [row["cli"] for row in rows if "cli" in row]

    def leaves(schema):
        return sum(map(leaves, schema["properties"].values())) if "properties" in schema else 1

    return {
        "commands": len(commands),
        "options": len({name for command in commands for name in command.get("takes", [])}),
        "configuration keys": leaves(json.loads(text_of(source / "schemas/config.schema.json"))),
    }


def count(source):
    """Each figure by its name, in the order of the file."""
    sources = files_below(source, PRODUCT, CPP)
    rooms = {}
    for path in sources:
        room = room_of(path.relative_to(source).as_posix())
        rooms[room] = rooms.get(room, 0) + code_lines(path)
    bindings = files_below(source, ("bindings",), {".py", ".pyi", ".ts"})
    figures = {"total": sum(rooms.values()) + sum(map(code_lines, bindings)), **dict(sorted(rooms.items()))}
    for name, (suffixes, folders) in OTHER_LINES.items():
        figures[name] = sum(
            len(text_of(path).splitlines()) for path in files_below(source, folders, suffixes)
        )
    tags = tags_of(sources)
    figures["files"] = len(sources)
    figures["files over 500 lines"] = sum(
        len(text_of(path).splitlines()) > FILE_LINES for path in sources
    )
    figures["functions over 70 lines"] = sum(
        tag["kind"] == "function" and tag.get("end", 0) - tag["line"] + 1 > FUNCTION_LINES for tag in tags
    )
    figures["public types"] = sum(
        tag["kind"] != "function" and "lib/include/bmad_mem/" in tag["path"] for tag in tags
    )
    figures |= interface_figures(source)
    pages = files_below(source, ("docs",), {".md"})
    figures["words in docs"] = sum(len(text_of(page).split()) for page in pages)
    figures["lines of CHANGELOG"] = len(text_of(source / "CHANGELOG.md").splitlines())
    return figures


def count_words(source, rows):
    """How often each replaced word of `rows` occurs. "name WORD": the names of functions, types and members
    of C++ that contain it; any other row: lines of lib, tools and docs, without the glossary itself, where
    upper and lower case are the same. "tell|tells|told" counts each of its words."""
    sources = files_below(source, PRODUCT, CPP)
    prose = files_below(source, (*PRODUCT, "docs"), CPP | {".toml", ".js", ".md"})
    prose = [path for path in prose if path != source / "docs/glossary.md"]
    text = "\n".join(map(text_of, [*prose, source / "README.md"])).lower()
    names = {tag["name"] for tag in tags_of(sources, kinds="fcsgutme")}
    names = [" ".join(re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)).lower() for name in sorted(names)]

    def times(row):
        pattern = re.compile(rf"\b(?:{row.removeprefix('name ')})\b")
        if row.startswith("name "):
            return sum(pattern.search(name) is not None for name in names)
        return len(pattern.findall(text))

    return {row: times(row) for row in rows}


def read(text):
    """The figures of a file: a name and a number a line; lines with # are comments."""
    figures = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, figure = line.rpartition(" ")
            figures[name.strip()] = int(figure)
    return figures


def differences(file, said, counted):
    """A sentence for each figure that differs from the file's."""
    for name in [*counted, *(said.keys() - counted.keys())]:
        was, now = said.get(name, 0), counted.get(name, 0)
        if now < was:
            yield f"{name}: {now}, and {file} says {was}: lower it with ./dev sizes --write"
        elif now > was:
            yield f"{name}: {now}, and {file} says {was}: {REMEDIES[file]}, with the reason in the commit"


REMEDIES = {
    SIZES: "take out as much elsewhere, or raise the figure by hand",
    WORDS: "use the word of docs/glossary.md, or raise the figure by hand",
}


def written(text, counted):
    """The file with figures that shrank lowered, those that are gone left out, and none raised."""
    said = read(text)
    head = [line for line in text.splitlines() if line.startswith("#")]
    rows = [
        f"{name:<28} {min(figure, said[name]):>7}" for name, figure in counted.items() if name in said
    ]
    return "\n".join([*head, *rows]) + "\n"


def main(arguments):
    writes = "--write" in arguments
    folders = [each for each in arguments if each != "--write"]
    source = pathlib.Path(folders[0] if folders else pathlib.Path(__file__).parents[2]).resolve()
    wrong = []
    figures = 0
    for name in (SIZES, WORDS):
        file = source / name
        said = read(text_of(file))
        counted = count(source) if name == SIZES else count_words(source, said)
        if writes:
            file.write_text(written(text_of(file), counted), encoding="utf-8")
        wrong += differences(name, read(text_of(file)), counted)
        figures += len(counted)
    print("\n".join([*wrong, f"sizes: {figures} figures, {len(wrong)} differ"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
