#!/usr/bin/env python3
"""Compares every #include under lib/ and tools/ with the tables of rooms and folders below, and the names
of functions with those of std.

A room includes rooms of lower rank, never a higher one nor a neighbour; a folder of the tool includes
those that the table names for it; and each third-party library enters through one room, so that
replacing it touches one room. Linking alone does not enforce this: a wrong include of a header builds.

No function outside a class has the name of one in std: called with a std::string it competes with std's,
which argument-dependent lookup finds wherever a header of the compiler's version happens to declare it.

Usage: check_layering.py [SOURCE_FOLDER]. Prints one line per wrong include or name; exit status 1 if any.
"""

import pathlib
import re
import sys
from typing import NamedTuple

# The rank of each room: a room may include the rooms of a lower rank.
RANKS = {
    "base": 0,
    "model": 1,
    "store": 2,
    "encoder": 3,
    "search": 4,
    "knowledge": 5,
    "lifecycle": 6,
    "privacy": 7,
    "hub": 8,
    "operations": 9,
    "hub_postgres": 9,
}

# The libraries that enter through a room. fmt is allowed in every room and tool. RE2 has two doors:
# the patterns that users write for what is learned, and the rules for secrets, compiled as one;
# libsodium has two as well, for hashes with a key and for what is redacted.
THIRD_PARTY = {
    "base": {"xxHash", "simdjson", "nlohmann", "libsodium"},
    "store": {"libarchive", "zlib"},
    "encoder": {"utf8proc", "intrinsics", "Boost.Asio", "Boost.Beast"},
    "search": {"libstemmer", "utf8proc"},
    "knowledge": {"RE2", "libyaml"},
    "privacy": {"RE2", "libsodium", "toml++"},
    "hub_postgres": {"libpq"},
}

# The rooms that are a library of their own, since few programs link them, and who does.
TOOL_ROOMS = {"bmad-mem-hub": {"hub_postgres"}}

# The same for tools. A tool uses the public headers (bmad_mem/...) and no other room.
TOOL_THIRD_PARTY = {
    "bmad-mem": {"toml++", "libyaml", "libsodium", "SQLite", "Boost.Asio", "Boost.Beast", "utf8proc", "zlib", "zstd"},
    "bmad-mem-hub": set(),
    "bmad-bench": {"SQLite", "Xapian"},
}

# A program that is another one and something more: it includes headers of both.
TOOL_OF = {"bmad-mem-hub": "bmad-mem"}

# The folders of tools/bmad-mem, with what is below them, and which others each may include. "cli" is
# the folder of that name and what lies in tools/bmad-mem itself. No folder may come back to itself.
TOOL_FOLDERS = {
    # What people type and read: arguments, options, views, texts.
    "cli": set(),
    # What others read and write. In front: ids, whole files, lines, texts of transcripts.
    "exchange": {"cli"},
    "exchange/memory_tool": {"cli", "exchange"},
    "exchange/git": {"cli", "exchange"},
    "exchange/graph": {"cli", "exchange", "exchange/git"},
    "exchange/export": {"cli", "exchange", "exchange/graph"},
    "exchange/import": {"cli", "exchange", "exchange/git", "exchange/graph", "exchange/export"},
    # What is known of clients.
    "clients": set(),
    # Protocols.
    "install": {"cli", "exchange", "clients", "hooks"},
    "hooks": {"cli", "exchange", "clients"},
    "mcp": {"cli", "exchange", "exchange/graph"},
    "http": {"cli", "exchange", "exchange/export", "mcp"},
}
# The commands bring all of it together.
TOOL_FOLDERS["commands"] = set(TOOL_FOLDERS)
# Which headers belong to which library.
LIBRARY_HEADERS = [
    ("fmt", r"fmt/.+"),
    ("xxHash", r"xxhash\.h|xxh3\.h"),
    ("simdjson", r"simdjson\.h|simdjson/.+"),
    ("nlohmann", r"nlohmann/.+"),
    ("Boost.Asio", r"boost/asio(/.+|\.hpp)"),
    ("Boost.Beast", r"boost/beast(/.+|\.hpp)"),
    ("libstemmer", r"libstemmer(/libstemmer)?\.h"),
    ("utf8proc", r"utf8proc\.h"),
    ("RE2", r"re2/.+"),
    ("libyaml", r"yaml\.h"),
    ("libsodium", r"sodium\.h|sodium/.+"),
    ("libarchive", r"archive(_entry)?\.h"),
    ("zlib", r"zlib\.h"),
    ("zstd", r"zstd\.h"),
    ("toml++", r"toml\+\+/.+"),
    ("SQLite", r"sqlite3\.h"),
    ("intrinsics", r"immintrin\.h|arm_neon\.h"),
    ("Xapian", r"xapian(\.h|/.+)"),
    ("libpq", r"libpq-fe\.h"),
]

# Slow to compile: a header that includes one makes every file that includes it slow.
NOT_IN_HEADERS = {
    "RE2",
    "simdjson",
    "nlohmann",
    "toml++",
    "Boost.Asio",
    "Boost.Beast",
}

POSIX = re.compile(
    r"(sys|linux|arpa|net|netinet)/.+\.h"
    r"|(aio|malloc|dirent|dlfcn|elf|fcntl|fnmatch|ftw|glob|grp|langinfo|netdb|poll|pthread|pwd|sched|semaphore"
    r"|mntent|spawn|strings|syslog|termios|ucontext|unistd|utime|wordexp)\.h"
)
# Effects live in the store; base needs the system for random numbers and to notice a fork only, the
# encoder to know what the processor can do, to ask for large pages, and to keep its socket from programs,
# the hub to wait for its socket.
POSIX_ROOMS = {"store"}
POSIX_ELSEWHERE = {
    "base": {"pthread.h", "sys/random.h", "unistd.h"},
    "encoder": {"fcntl.h", "sys/auxv.h", "sys/mman.h"},
    "hub_postgres": {"poll.h"},
}

# C++ headers have no extension; these are the C headers the C++ standard knows.
STANDARD = re.compile(
    r"[a-z0-9_]+"
    r"|(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal"
    r"|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|tgmath|time|uchar|wchar"
    r"|wctype)\.h"
)

# The names of the functions in std, std::chrono and std::filesystem, as libstdc++ 14 and libc++ 19 declare
# them in C++23.
STD_FUNCTIONS = set(
    pathlib.Path(__file__).with_name("std_functions.txt").read_text(encoding="utf-8").split()
)
# A function outside a class begins a line, since clang-format indents no namespace.
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
FUNCTION = re.compile(r"^(?:[A-Za-z_][\w:<>,&*\[\] ]*[ &*])?([a-z_]\w*)\(", re.MULTILINE)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(?:<([^>\n]+)>|"([^"\n]+)"|(.*))', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class Place(NamedTuple):
    """Where a file stands in the house."""

    kind: str  # "public", "room" or "tool"
    name: str  # The room's or the tool's name.
    is_header: bool
    file: str = ""  # Of a tool: the path in its folder.


def place_of(path):
    """The place of `path`, relative to the source folder; None when it is in no room."""
    parts = pathlib.PurePosixPath(path).parts
    is_header = path.endswith((".hpp", ".h"))
    if parts[:3] == ("lib", "include", "bmad_mem"):
        return Place("public", "bmad_mem", is_header)
    if parts[0] == "lib" and len(parts) > 2 and parts[1] in RANKS:
        return Place("room", parts[1], is_header)
    if parts[0] == "tools" and len(parts) > 2:
        return Place("tool", parts[1], is_header, "/".join(parts[2:]))
    return None


def why_not_ours(place, header, folder_headers):
    """Why `place` may not include "header", one of the project's own; None when it may."""
    if ".." in pathlib.PurePosixPath(header).parts:
        return "an include never climbs with '..'"
    first, _, rest = header.partition("/")
    if first == "bmad_mem":
        return None
    if rest and first in RANKS:
        if place.kind == "public":
            return "a public header includes std and bmad_mem/ only"
        if place.kind == "tool" and first in TOOL_ROOMS.get(place.name, set()):
            return None
        if place.kind == "tool":
            return f"a tool uses the public headers only, not the room {first}"
        if first == place.name or RANKS[first] < RANKS[place.name]:
            return None
        kind = "a neighbour" if RANKS[first] == RANKS[place.name] else "of a higher rank"
        return f"{first} is {kind}: {place.name} may include lower ranks only"
    # Made of lib/ROOM/words/*.txt, of tables, prompts or statements, while building, for the sources of that room.
    made = tuple(f"{place.name}_{kind}.hpp" for kind in ("words", "tables", "prompts", "statements"))
    if place.kind == "room" and not place.is_header and header in made:
        return None
    # Made of lib/operations/table/results.toml while building.
    if place.kind == "tool" and header == "result_shapes.hpp":
        return None
    if header not in folder_headers:
        return "neither a room's header nor a private header of the same folder"
    return why_not_folder(place.file, folder_headers[header]) if place.name == "bmad-mem" else None


def folder_of(file):
    """The folder of TOOL_FOLDERS that a file of tools/bmad-mem belongs to; None when it is in none."""
    parts = pathlib.PurePosixPath(file).parts[:-1]
    if not parts:
        return "cli"
    names = ["/".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return next((name for name in names if name in TOOL_FOLDERS), None)


def why_not_folder(file, header):
    """Why one file of tools/bmad-mem may not include another; None when it may."""
    folder, other = folder_of(file), folder_of(header)
    if folder is None or other is None:
        return "a folder of tools/bmad-mem that the table does not name"
    if other == folder or other in TOOL_FOLDERS[folder]:
        return None
    return f"{folder} may include {', '.join(sorted(TOOL_FOLDERS[folder])) or 'no other folder'} only"


def circle_in(folders):
    """A folder of the table that comes back to itself through what it includes; None without one."""
    for start in folders:
        seen, waiting = set(), [start]
        while waiting:
            for name in folders[waiting.pop()] - seen:
                seen.add(name)
                waiting.append(name)
        if start in seen:
            return start
    return None


def why_not_system(place, header):
    """Why `place` may not include <header>; None when it may."""
    if STANDARD.fullmatch(header):
        return None
    if place.kind == "public":
        return "a public header includes std and bmad_mem/ only"
    for library, pattern in LIBRARY_HEADERS:
        if re.fullmatch(pattern, header):
            return why_not_library(place, library)
    if POSIX.fullmatch(header):
        if place.kind == "tool" or place.name in POSIX_ROOMS:
            return None
        if header in POSIX_ELSEWHERE.get(place.name, set()):
            return None
        return f"the system is reached through the store, not from {place.name}"
    return "no library of the table has this header"


def why_not_library(place, library):
    """Why `place` may not include a header of `library`; None when it may."""
    if library == "fmt":
        return None
    table = THIRD_PARTY if place.kind == "room" else TOOL_THIRD_PARTY
    if library not in table.get(place.name, set()):
        homes = sorted(
            name for homes in (THIRD_PARTY, TOOL_THIRD_PARTY) for name in homes if library in homes[name]
        )
        return f"{library} enters through {' or '.join(homes)} only"
    if place.is_header and library in NOT_IN_HEADERS:
        return f"{library} is included by .cpp files only, since it is slow to compile"
    return None


def why_not(path, include, folder_headers=None):
    """Why the file `path` may not contain `#include {include}`, given with its <> or ""; None when
    it may. `folder_headers`: the private headers of its room or tool, as it may spell them, with
    their paths in its folder."""
    place = place_of(path)
    if place is None:
        return "this file stands in no room of the table"
    if include.startswith("<"):
        return why_not_system(place, include[1:-1])
    if include.startswith('"'):
        return why_not_ours(place, include[1:-1], folder_headers or {})
    return "an include through a macro cannot be checked"


def includes_of(text):
    """The includes of a source text, as (line number, include with its <> or "")."""
    text = COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment.group()), text)
    for match in INCLUDE.finditer(text):
        angle, quoted, other = match.groups()
        include = f"<{angle}>" if angle else f'"{quoted}"' if quoted else other.strip()
        yield text.count("\n", 0, match.start()) + 1, include


def std_names_in(text):
    """The functions of a source text, outside classes, that have a name of std's: (line number, name)."""
    text = RAW_STRING.sub(lambda string: re.sub(r"[^\n]", " ", string.group()), text)
    for match in FUNCTION.finditer(text):
        if match.group(1) in STD_FUNCTIONS:
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def private_headers(folder, includer):
    """The headers in a room's or tool's folder that are not behind its door: their paths in that
    folder, by how `includer` may spell them. As for a compiler, what lies beside it comes first."""
    headers = [
        path for path in folder.rglob("*.h*") if "include" not in path.relative_to(folder).parts
    ]
    return {
        header.relative_to(start).as_posix(): header.relative_to(folder).as_posix()
        for start in (folder, includer.parent)
        for header in headers
        if header.is_relative_to(start)
    }


def check_tree(source):
    """(number of files, what is wrong as "file:line: what: reason") under `source`."""
    wrong = []
    files = [
        path
        for root in ("lib", "tools")
        for path in sorted((source / root).rglob("*"))
        if path.suffix in {".cpp", ".hpp", ".h", ".cc", ".c"}
    ]
    for path in files:
        relative = path.relative_to(source).as_posix()
        text = path.read_text(encoding="utf-8")
        wrong += [
            f"{relative}:{line}: {name}(): std has a function of that name; choose another one"
            for line, name in std_names_in(text)
        ]
        kind, name = relative.split("/")[:2]
        headers = private_headers(source / kind / name, path)
        if kind == "tools" and name in TOOL_OF:
            other = source / kind / TOOL_OF[name]
            headers |= private_headers(other, other / path.name)
        for line, include in includes_of(text):
            reason = why_not(relative, include, headers)
            if reason:
                wrong.append(f"{relative}:{line}: {include}: {reason}")
    return len(files), wrong


def main(arguments):
    source = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2])
    count, wrong = check_tree(source)
    print("\n".join(wrong + [f"layering: {count} files, {len(wrong)} wrong"]))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
