#!/usr/bin/env python3
"""Every SQL word of the hub's sources stands in sql_words.txt.

The statements are meant for whatever speaks PostgreSQL's protocol, not for PostgreSQL alone. A word
that is new is looked up in the manuals of the others before it is added to the list.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
ROOM = HERE.parents[1] / "lib" / "hub_postgres"

SQL_ELSEWHERE = re.compile(r'"[^"\n]*\b(?:bmad\.[a-z]|pg_)')


def texts_of(source):
    """The SQL texts of a source, without its comments and what stands in quotes in them."""
    for text in re.split(r"(?m)^--- k\w+$", source):
        yield re.sub(r"'[^']*'|\"[^\"]*\"|\$[a-z]+\$", " ", re.sub("--.*", "", text)).lower()


def words_of(text):
    """The words of a text. Behind bmad. or an alias and a dot stands a name of ours."""
    return set(re.findall(r"(?<![.$\w{])[a-z_][a-z0-9_]*", text))


def names_of_ours(schema, texts):
    """What the tables name, and what the statements name for themselves."""
    names = {"bmad"} | set(re.findall(r"\b(?:policy|index) ([a-z_]+)", schema))
    for table in re.findall(r"create table bmad\.\w+ \((.*?)\);", schema, re.DOTALL):
        names |= set(re.findall(r"^ +([a-z_]+) (?:uuid|text|boolean|bytea|\w*int|timestamptz)", table, re.M))
    for text in texts:
        for variables in re.findall(r"\bdeclare\b(.*?)\bbegin\b", text, re.DOTALL):
            names |= set(re.findall(r"^ +([a-z_]+) ", variables, re.M))
        names |= set(re.findall(r"\b([a-z]+) as \(", text))  # with h as (
        names |= set(re.findall(r"(?:bmad\.\w+|pg_roles) ([a-z])\b", text))  # bmad.entry e
        names |= set(re.findall(r"\bas ([a-z]+)\b", text))  # returning 1 as one
        names |= set(re.findall(r"\bu ([a-z])\b", text))  # from u v
        for columns in re.findall(r"\bas [a-z]+ \(([a-z_, ]+)\)", text):  # unnest(…) as u (o)
            names |= set(columns.split(", "))
    return names - {"select"}


def main():
    rows = (HERE / "sql_words.txt").read_text(encoding="utf-8").splitlines()
    allowed = {row for row in rows if row and not row.startswith("#")}
    sources = sorted(ROOM.glob("*.sql"))
    texts = [text for path in sources for text in texts_of(path.read_text(encoding="utf-8"))]
    if len(texts) < 20:
        print(f"only {len(texts)} texts of SQL were found")
        return 1
    ours = names_of_ours("\n".join(texts), texts)
    found = set().union(*map(words_of, texts))
    wrong = [f"not in sql_words.txt: {word}" for word in sorted(found - ours - allowed)]
    wrong += [f"in sql_words.txt, but unused: {word}" for word in sorted(allowed - found)]
    for path in sorted(ROOM.rglob("*.[ch]pp")):
        if SQL_ELSEWHERE.search(path.read_text(encoding="utf-8")):
            wrong.append(f"{path.name}: SQL stands in files of that ending only")
    print("\n".join(wrong + [f"sql words: {len(texts)} texts, {len(found)} words, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
