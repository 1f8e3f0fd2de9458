#!/usr/bin/env python3
"""A memory full of made-up entries, as the shipped program writes it, and what to ask of it.

    DIR/memory/     a memory root            DIR/fts5.db, DIR/xapian/    the same texts in the indexes of others
    DIR/complete    what it was made from, and what to ask of it; written last

Usage: ./dev bench corpus --out DIR [--bytes N] [--session-bytes N] [--seed N] [--alone]
"""

import collections
import contextlib
import json
import pathlib
import sys
import tempfile

from bench_memory import BadData, options, tell
from bench_rows import Bench, byte_count
from corpus_entries import Corpus, draw_queries, plain_words, text_for_others, time_text

# Sessions may grow as large as there is room, and stay where they are however old they get. Otherwise a full session
# would be compacted while it is filled, and those of the months before archived. Maintenance is due once.
ROOMY = {"memory_config": {"storage": {"max_session_size_mb": 4096}, "lifecycle": {"archive_after_idle_days": 0},
                           "privacy": {"auto_purge": False}, "decay": {"update_interval_hours": 876_000}}}
SAMPLE, STRIDE = 200, 7919  # Queries, and entries from anywhere in the memory.
CHUNK = 1000
PEERS = {"FTS5": "fts5.db", "Xapian": "xapian"}
# Of a memory. `texts`: as the others get them, where they are kept; `all_ids`: by the number that others know them by, less 1.
Made = collections.namedtuple("Made", "root entries log_bytes sessions queries ids texts all_ids", defaults=((), ()))
Written = collections.namedtuple("Written", "sessions lines log_bytes")


def roomy_root(bench, root):
    bench.on(root, "init")
    (root / "config.json").write_text(json.dumps(ROOMY) + "\n", encoding="utf-8")
    bench.on(root, "maintain", "--auto")
    return root


def write(bench, root, entries, size, session_size, label="corpus", see=lambda entry: None):
    """Fills a new memory with `size` bytes of logs at most, by an import. Calls see(entry)."""
    sessions, lines, log_bytes, end = [], 0, 0, 0
    export = bench.folder / "export.jsonl"
    with open(export, "w", encoding="utf-8") as file:
        for entry in entries:
            length = len(entry.line.encode()) + 1
            if log_bytes + length > size:
                break
            if not sessions or log_bytes + length > end:
                # An entry larger than a session gets one for itself.
                end = log_bytes + max(session_size, length)
                moment = time_text(entry.time)
                sessions.append(f"sess-{moment[:10]}-{label}-{len(sessions):04}")
                file.write(json.dumps({"session": {"session_id": sessions[-1], "created_at": moment, "user_id": "user-789", "project_name": "corpus",
                                                   "agent_ids": ["architect", "builder", "analyst"], "tags": ["generated"]}}) + "\n")
            file.write(f'{{"session_id":"{sessions[-1]}","type":"{entry.type}",{entry.line[1:]}\n')
            lines, log_bytes = lines + 1, log_bytes + length
            see(entry)
    roomy_root(bench, root)
    bench.on(root, "import", "--format", "export", str(export))
    export.unlink()
    return Written(sessions, lines, log_bytes)


class Gathered:
    """What is known of the entries of a memory, of each only the last version, and the indexes of others."""

    def __init__(self, probe, peers, keep_texts):
        self.probe, self.peers = probe, peers
        self.ids, self.frequencies, self.texts = [], collections.Counter(), [] if keep_texts else None
        self.finding, self.waiting = None, []

    def see(self, entry):
        """A finding that is resolved counts as its newer version."""
        if entry.type == "finding":
            if self.finding and self.finding.id != entry.id:
                self.add(self.finding)
            self.finding = entry
        else:
            self.add(entry)

    def add(self, entry):
        self.ids.append(entry.id)
        self.frequencies.update(plain_words(entry.text))
        if self.texts is not None:
            self.texts.append(text_for_others(entry.text))
        if self.peers:
            self.waiting.append(text_for_others(entry.text))
            if len(self.waiting) == CHUNK:
                self.flush()

    def flush(self, **fields):
        for peer in self.peers:
            self.probe.ask("insert", peer=peer, texts=self.waiting, **fields)
        self.waiting = []

    def end(self):
        if self.finding:
            self.add(self.finding)
        self.flush(optimize=True)


def make(bench, folder, size, session_size, alone=False, keep_texts=False):
    """A memory with so many bytes of logs as ordinary writes leave it, once: a folder that is complete is used as it is."""
    folder = pathlib.Path(folder)
    root, mark = folder / "memory", folder / "complete"
    recipe = f"seed {bench.chosen.seed}, {size} bytes, {session_size} a session"
    if mark.exists() and not keep_texts:
        known = json.loads(mark.read_text(encoding="utf-8"))
        if known.pop("recipe", None) != recipe:
            raise BadData(f"{folder}: it was not made from {recipe}")
        return Made(root, **known)
    if root.exists():
        raise BadData(f"{folder}: it was left unfinished, or is something else; remove it")
    tell(f"making {size / 1e6:.1f} MB of memory ...")
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        probe = None if alone else stack.enter_context(bench.probe())
        peers = [peer for peer in PEERS if peer in probe.ask("facts").peers] if probe else []
        for peer in peers:
            probe.ask("peer", peer=peer, kind=peer, path=str(folder / PEERS[peer]), is_new=True)
        gathered = Gathered(probe, peers, keep_texts)
        written = write(bench, root, Corpus(bench.chosen.seed), size, session_size, see=gathered.see)
        gathered.end()
    queries = [" ".join(words) for words in draw_queries(gathered.frequencies, bench.chosen.seed, SAMPLE)]
    if not queries:
        raise BadData(f"{size} bytes of memory are too few to ask about")
    made = {"entries": len(gathered.ids), "log_bytes": written.log_bytes, "sessions": written.sessions, "queries": queries,
            "ids": [gathered.ids[i * STRIDE % len(gathered.ids)] for i in range(SAMPLE)]}
    mark.write_text(json.dumps({"recipe": recipe, **made}) + "\n", encoding="utf-8")
    return Made(root, **made, texts=gathered.texts or (), all_ids=gathered.ids)


def main():
    parser = options("Makes a memory, the same for a seed, and prints what to ask of it.", data=False)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder of the memory")
    parser.add_argument("--bytes", type=byte_count, default=10_000_000, help="of its logs (10M)")
    parser.add_argument("--session-bytes", type=byte_count, default=10_000_000, help="a new session after so many (10M)")
    parser.add_argument("--seed", type=int, default=1, help="of the data (1)")
    parser.add_argument("--alone", action="store_true", help="without the indexes of others, which take minutes")
    chosen = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="bmad-bench-", dir=chosen.dir) as folder:
            made = make(Bench(chosen, pathlib.Path(folder)), chosen.out, chosen.bytes, chosen.session_bytes, chosen.alone)
    except (BadData, OSError, AssertionError) as error:
        tell(f"bench: {error}")
        return 1
    print(json.dumps({name: value for name, value in made._asdict().items() if name not in ("root", "texts", "all_ids")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
