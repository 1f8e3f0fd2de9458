#!/usr/bin/env python3
"""Where imports find files, how they know what is in them, and what becomes of files that are damaged or packed.

Usage: import_places_test.py TOOL
"""

import json
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import zipfile
import zlib

import import_test
from import_test import IS_SANITIZED
from tool_under_test import SOURCE, TOOL, ToolTest, main

SHIPPED = SOURCE / "tests/clients/fixtures"
KNOWN = "known are gemini, qwen"
MIB = 1 << 20


def codex(session, text, cwd="/w"):
    """Lines of a rollout."""
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return "".join(
        json.dumps({"timestamp": "2026-02-10T00:00:00.000Z", "type": kind, "payload": payload}) + "\n"
        for kind, payload in (("session_meta", {"id": session, "cwd": str(cwd)}), ("response_item", said))
    )


def chatgpt(session, text):
    node = {"parent": None, "message": {"id": f"{session}-m", "author": {"role": "user"}, "create_time": 1760000000,
                                        "content": {"content_type": "text", "parts": [text]}}}
    return {"title": "t", "id": session, "current_node": "n", "mapping": {"n": node}}


def zstd(data):
    """A frame of raw blocks: what any program may write that packs."""
    blocks = [data[at : at + 100_000] for at in range(0, len(data), 100_000)]
    heads = [struct.pack("<I", (at + 1 == len(blocks)) | len(block) << 3)[:3] for at, block in enumerate(blocks)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(head + block for head, block in zip(heads, blocks))


def zstd_bomb(size):
    """A frame of `size` spaces, four bytes for each 128 KiB."""
    count = size >> 17
    blocks = (struct.pack("<I", (at + 1 == count) | 1 << 1 | 1 << 17 << 3)[:3] + b" " for at in range(count))
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(blocks)


def task(folder, name, text, cwd):
    """A task of Cline or Roo Code."""
    (folder / name).mkdir(parents=True)
    said = [{"ts": 1767000000000, "type": "say", "say": "text", "text": text}]
    (folder / name / "ui_messages.json").write_text(json.dumps(said))
    told = [{"role": "user", "content": [{"type": "text", "text": f"<task>x</task> # Current Working Directory ({cwd}) Files"}]}]
    (folder / name / "api_conversation_history.json").write_text(json.dumps(told))


class Places(ToolTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder / "here"
        self.project.mkdir()
        self.environment["BMAD_MEMORY_ROOT"] = str(self.project / ".bmad/memory")
        self.run_tool("--quiet", "init")

    def done(self, *words, status=0):
        done = subprocess.run([TOOL, "--json", "import", *map(str, words)], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def report(self, *words, status=0):
        return json.loads(self.done(*words, status=status).stdout)

    def contents(self):
        lines = self.run_tool("--json", "list", "--limit", "0", "--type", "conversation").splitlines()
        return sorted(json.loads(line)["content"] for line in lines)

    def write(self, path, content):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    # Places.

    def test_the_folders_of_shipped_programs_are_found_and_a_variable_moves_them(self):
        for client, folder, variable, moved in (
            ("claude-code", ".claude", "CLAUDE_CONFIG_DIR", "x"), ("codex", ".codex", "CODEX_HOME", "x"),
            ("qwen", ".qwen", "QWEN_HOME", "x"), ("copilot", ".copilot", "COPILOT_HOME", "x"),
            ("gemini", ".gemini", "GEMINI_CLI_HOME", "x/.gemini"), ("cline", ".cline", "CLINE_DIR", "x"),
            ("cline", ".cline/data", "CLINE_DATA_DIR", "x"), ("cline", ".cline/data/sessions", "CLINE_SESSION_DATA_DIR", "x"),
        ):  # fmt: skip
            with self.subTest(client, variable=variable):
                (shipped,) = SHIPPED.glob(f"{client}-[0-9]*")
                shutil.copytree(shipped / "home" / folder.split("/")[0], self.folder / folder.split("/")[0])
                self.assertGreater(self.report("--from", client, "--all-projects", "--dry-run")["imported"], 0)
                self.environment[variable] = str(self.folder / moved.split("/")[0])
                self.done("--from", client, "--all-projects", "--dry-run", status=1)
                shutil.copytree(self.folder / folder, self.folder / moved)
                shutil.rmtree(self.folder / folder.split("/")[0])
                self.assertGreater(self.report("--from", client, "--all-projects", "--dry-run")["imported"], 0)
                listed = self.run_tool("import", "--list")
                self.assertRegex(listed, rf"\n?{client} .*\({re.escape(str(self.folder / moved))}[/),]")
                del self.environment[variable]
                shutil.rmtree(self.folder / "x")

    def test_tasks_are_found_in_each_editor_on_each_system_and_on_servers(self):
        self.environment["APPDATA"] = str(self.folder / "AppData")
        self.environment["XDG_CONFIG_HOME"] = str(self.folder / ".config")  # The same as without it: found once.
        homes = [f"{config}/{editor}/User" for config in (".config", "Library/Application Support", "AppData")
                 for editor in ("Code", "Code - Insiders", "VSCodium", "Cursor")]
        homes += [".vscode-server/data/User", ".vscode-server-insiders/data/User", ".cursor-server/data/User"]
        said = []
        for number, home in enumerate(homes):
            for extension in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"):
                said.append(f"{number} {extension}")
                tasks = self.folder / home / "globalStorage" / extension / "tasks"
                task(tasks, str(1767000000000 + len(said)), said[-1], self.project)
                task(tasks, str(1768000000000 + len(said)), "of another project", self.folder)
        self.assertEqual(self.report("--from", "cline")["files"], len(said))
        self.assertEqual(self.contents(), sorted(said))

    def test_chats_of_cursor_3_are_the_projects_by_their_headers(self):
        user = self.folder / "Library/Application Support/Cursor/User"
        (user / "globalStorage").mkdir(parents=True)
        chats = [(name, name, [{"bubbleId": f"b-{name}", "type": 1, "text": f"said in {name}"}]) for name in ("here", "elsewhere")]
        database = import_test.cursor_state(user / "globalStorage/state.vscdb", chats)
        database.execute("CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, isSubagent INT, value TEXT)")
        for name in ("here", "elsewhere"):
            value = {"name": name, "workspaceIdentifier": {"id": name, "uri": {"fsPath": str(self.folder / name)}}}
            database.execute("INSERT INTO composerHeaders VALUES (?, ?, 0, ?)", (name, name, json.dumps(value)))
        database.commit()
        database.close()
        self.report("--from", "cursor")
        self.assertEqual(self.contents(), ["said in here"])

    def test_a_database_that_its_program_has_locked_is_no_silence(self):
        path = self.folder / ".config/Cursor/User/globalStorage/state.vscdb"
        path.parent.mkdir(parents=True)
        database = import_test.cursor_state(path, [("c", "", [{"bubbleId": "b", "type": 1, "text": "Just said"}])])
        database.isolation_level = None
        database.execute("BEGIN EXCLUSIVE")
        database.execute("INSERT INTO ItemTable VALUES ('k', 'v')")
        database.execute("PRAGMA cache_spill=1")
        journal = pathlib.Path(f"{path}-journal")
        journal.write_bytes(journal.read_bytes() or b"x")
        self.assertIn("close the program that uses it", self.done("--from", "cursor", "--all-projects", status=1).stderr)
        database.execute("COMMIT")
        database.close()
        self.assertEqual(self.report("--from", "cursor", "--all-projects")["imported"], 1)

    # Nothing ends silent.

    def test_an_unknown_file_of_lines_is_one_error_with_what_is_known(self):
        lines = {
            "tasks.jsonl": {"id": "t-1", "name": "Mend it", "state": "open"},
            "history.jsonl": {"session_id": "s", "ts": 1767000000, "text": "hello"},
            "claude-history.jsonl": {"display": "hello", "pastedContents": {}, "timestamp": 1767000000000, "project": "/w"},
            "session.jsonl": {"type": "meta", "role": "user", "say": "hello"},
        }
        for name, line in lines.items():
            with self.subTest(name):
                said = self.done(self.write(name, (json.dumps(line) + "\n") * 50), status=1).stderr
                self.assertEqual(said.count("E_"), 1, said)
                self.assertIn(KNOWN, said)
        # A single line of ours among them is a reason to report each of the others.
        mixed = json.dumps({"type": "fact", "session_id": "s1", "category": "project_fact", "content": "x"}) + '\n{"id":"x"}\n'
        self.assertEqual(self.report(self.write("mixed.jsonl", mixed), status=1)["refused"], 1)
        self.assertIn("the line has no type", self.done("--format", "entries", self.folder / "tasks.jsonl", status=1).stderr)

    def test_a_long_first_line_of_an_unknown_file_is_one_error(self):
        said = self.done(self.write("x.jsonl", json.dumps({"data": "A" * 4_000_000}) + '\n{"a":1}\n'), status=1).stderr
        self.assertEqual(said.count("E_"), 1, said)
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000_000}}
        said = {"role": "user", "content": [image, {"type": "text", "text": "What is wrong here?"}]}
        self.assertEqual(self.report(self.write("c.jsonl", import_test.record("user", "p", 0, message=said) + "\n"))["imported"], 1)

    def test_a_folder_is_searched_by_what_the_files_begin_with(self):
        self.write("all/a/rollout.jsonl", codex("c1", "from codex"))
        self.write("all/b/anything.txt", import_test.record("user", "s", 0, message={"role": "user", "content": "from claude"}))
        self.write("all/conversations.json", json.dumps([chatgpt("g", "from chatgpt")]))
        self.write("all/photo.png", b"\x89PNG\r\n\x1a\n" + bytes(1000))
        self.write("all/issues.jsonl", '{"id":"bd-1"}\n')
        self.write("all/empty.jsonl", "")
        with zipfile.ZipFile(self.folder / "all/export.zip", "w") as packed:
            packed.writestr("conversations.json", json.dumps([chatgpt("z", "from the zip")]))
        task(self.folder / "all/tasks", "1767000000000", "from cline", "/w")
        said = self.run_command("sh", "-c", "bmad-mem import --dry-run all 2>&1")
        self.assertIn("found 2 files of chatgpt, 1 file of claude-code, 1 file of cline, 1 file of codex", said)
        done = self.done(self.folder / "all")
        self.assertEqual(self.contents(), ["from chatgpt", "from claude", "from cline", "from codex", "from the zip"])
        left_out = json.loads(done.stdout)["skipped"]
        self.assertEqual((left_out["files of no known format"], left_out["files that hold nothing of their own"]), (2, 1))
        shutil.rmtree(self.folder / "all/a")
        said = self.done(self.write("none/issues.jsonl", '{"id":"bd-1"}\n').parent, status=1).stderr
        self.assertIn(KNOWN, said)
        self.assertIn("--from", said)

    # Packed files.

    def test_a_zip_is_read_where_it_is(self):
        path = self.folder / "export.zip"
        claude = [{"uuid": "u", "name": "n", "created_at": "2026-02-10T00:00:00Z", "chat_messages": [
            {"uuid": "m", "sender": "human", "created_at": "2026-02-10T00:00:00Z", "text": "from claude.ai"}]}]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("chat.html", "<html>" + "x" * 100_000)
            packed.writestr("../../conversations.json", json.dumps([chatgpt("g", "from chatgpt")]))
            packed.writestr("data/", "")
            packed.writestr(zipfile.ZipInfo("/data/conversations.json"), json.dumps(claude))  # Stored.
        before = sorted(self.folder.rglob("*"))
        for words, count in ((("--from", "chatgpt", "--dry-run", path), 1), ((path,), 2)):
            self.assertEqual(self.report(*words)["imported"], count)
        self.assertEqual(self.contents(), ["from chatgpt", "from claude.ai"])
        self.assertEqual([one for one in sorted(self.folder.rglob("*")) if self.project not in one.parents],
                         [one for one in before if self.project not in one.parents])
        origin = json.loads(self.run_tool("--json", "list", "--limit", "1").splitlines()[0])["imported_from"]["file"]
        self.assertEqual(origin, "conversations.json")
        self.assertEqual(self.report(path)["known"], 2)

    def test_a_zip_that_is_damaged_or_a_bomb_is_named_and_left(self):
        conversation = json.dumps([chatgpt("g", "from chatgpt")]).encode()
        with zipfile.ZipFile(self.folder / "whole.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("conversations.json", conversation)
        whole = (self.folder / "whole.zip").read_bytes()
        with zipfile.ZipFile(self.folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            with packed.open("conversations.json", "w", force_zip64=False) as member:
                member.write(conversation[:-1])
                for _ in range(1024):
                    member.write(b" " * MIB)
        # Many members of the same bytes.
        directory = whole.index(b"PK\x01\x02")
        end = whole.index(b"PK\x05\x06")
        entries = whole[directory:end] * 5000
        shared = whole[:directory] + entries + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 5000, 5000, len(entries), directory, 0)
        for name, content, reason in (
            ("cut.zip", whole[:-30], "the end of the zip is missing"),
            ("shared.zip", shared, "share bytes"),
            ("bytes.zip", whole[:40] + b"\xff" * 20 + whole[60:], "damaged"),
            ("zip64.zip", whole[:end] + whole[end : end + 16] + b"\xff" * 4 + whole[end + 20 :], "ZIP64"),
            ("bomb.zip", None, "E_SIZE_LIMIT"),
        ):  # fmt: skip
            if name == "bomb.zip" and IS_SANITIZED:
                continue  # 450 MB of what is unpacked, ten times as slow.
            with self.subTest(name):
                path = self.folder / name if content is None else self.write(name, content)
                for words in ((path,), ("--from", "chatgpt", path)):
                    said = self.done(*words, status=1).stderr
                    self.assertIn(reason, said)
                    self.assertIn(name, said)

    def test_packed_rollouts_are_those_of_codex(self):
        rollout = "rollout-2026-02-10T00-00-00-019d0000-0000-7000-8000-00000000000a.jsonl"
        name = f".codex/sessions/2026/02/10/{rollout}"
        content = codex("019d0000-0000-7000-8000-00000000000a", "cold " + "x" * 300_000, self.project).encode()
        path = self.write(f"{name}.zst", zstd(content))
        self.assertEqual(self.report("--from", "codex")["imported"], 1)
        self.assertEqual(self.report(self.write("any-name", zstd(content[:2000]) + zstd(content[2000:])))["known"], 1)
        path.unlink()
        self.write(name, content)
        self.assertEqual(self.report("--from", "codex")["known"], 1)
        # What is damaged is named, and what comes before is imported.
        many = b"".join(codex(f"s{i}", f"message {i}").encode() for i in range(2000))
        cut = self.write("cut.jsonl.zst", zstd(many)[:-1000])
        said = self.done(cut, status=1)
        self.assertIn("cut.jsonl.zst", said.stderr)
        self.assertGreater(json.loads(said.stdout)["imported"], 500)
        bomb = self.write("bomb.jsonl.zst", zstd(codex("b", "first").encode()) + zstd_bomb(2048 * MIB))
        self.assertIn("E_SIZE_LIMIT", self.done(bomb, status=1).stderr)

    # Lines.

    def test_lines_that_are_glued_or_cut_lose_no_whole_record(self):
        def entity(name):
            return json.dumps({"type": "entity", "name": name, "entityType": "t", "observations": [f"{{\"of\": {name}\\"]})

        cut = entity("cut")
        lines = [entity("a") + entity("b"), cut[:40] + entity("c"), cut[:-1] + entity("d") + " " + entity("e"), cut[:-2],
                 entity("f") + entity("g") + entity("h")]  # fmt: skip
        report = self.report("--from", "server-memory", self.write("m.jsonl", "\n".join(lines)))
        self.assertEqual(report["skipped"], {"missing line breaks": 3, "unreadable lines": 3})
        lines = self.run_tool("--json", "list", "--limit", "0", "--type", "fact").splitlines()
        names = sorted(one["entity"]["name"] for one in map(json.loads, lines) if "entity" in one)
        self.assertEqual(names, ["a", "b", "c", "e", "f", "g", "h"])
        # A value inside of a record that is cut behind it is no record.
        inner = '{"timestamp":"2026-02-10T00:00:00Z","type":"response_item","payload":{"type":"entity","name":"no","entityType":"t","observations":[]}'
        self.report("--from", "server-memory", self.write("n.jsonl", inner), status=1)

    def test_a_line_of_many_brackets_takes_no_longer_than_its_size(self):
        # The square of the size would take longer than any command may.
        for line in ("{" * 4_000_000, "{}" * 2_000_000, '{"a' * 1_000_000 + "}", '"\\' * 2_000_000 + "}", "[" * 2_000_000 + "}" * 2_000_000):
            path = self.write("x.jsonl", json.dumps({"type": "entity", "name": "n", "entityType": "t", "observations": []}) + "\n" + line)
            self.assertEqual(self.report("--from", "server-memory", "--dry-run", path)["imported"], 1)

    # What Codex remembers.

    def test_what_codex_remembers_is_told_once_and_of_this_project(self):
        def group(name, applies):
            return f"# Task Group: {name}\n\nscope: x\napplies_to: {applies}; reuse_rule=safe\n\n## Reusable knowledge\n\nA fact of {name}.\n\n"

        here = str(self.project)
        memories = group("here", f"cwd={here}") + group("elsewhere", "cwd=/home/ann/the other and /srv/x") + group("deep", f"cwd=/srv and cwd={here}/sub") \
            + group("around", f"cwd={self.folder}") + group("all", "cwd=unknown") + group("sibling", f"cwd={here}-2")  # fmt: skip
        self.write(".codex/memories/MEMORY.md", memories)
        for name in ("raw_memories.md", "memory_summary.md", "rollout_summaries/a.md", "skills/s/SKILL.md"):
            self.write(f".codex/memories/{name}", "# Derived\n\nA fact of here.\n")
        self.write(".codex/memories/extensions/ad_hoc/notes/n.md", "The ferry is late.\n")

        def told():
            lines = self.run_tool("--json", "list", "--limit", "0", "--type", "fact").splitlines()
            texts = (json.loads(line)["content"] for line in lines)
            return sorted(text for text in texts if not text.startswith("scope"))

        report = self.report("--from", "codex-memories")
        self.assertEqual(told(), ["A fact of all.", "A fact of around.", "A fact of deep.", "A fact of here.", "The ferry is late."])
        self.assertEqual(report["skipped"], {"facts of other projects": 4, "files that hold nothing of their own": 4})
        self.report("--from", "codex-memories", "--all-projects")
        self.assertIn("A fact of elsewhere.", told())
        self.assertEqual(self.report("--from", "codex-memories", self.folder / ".codex/memories/raw_memories.md")["imported"], 1)

    # Two at once.

    def test_two_imports_at_once_store_everything_once(self):
        for attempt in range(3):
            path = self.write("t.jsonl", "\n".join(import_test.transcript(f"t{attempt}", attempt * 10_000, 2000)))
            processes = [subprocess.Popen([TOOL, "--json", "import", "--session", f"x{attempt}", path], cwd=self.folder, env=self.environment,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
            said = [process.communicate(timeout=60) for process in processes]
            self.assertEqual([process.returncode for process in processes], [0, 0, 0], said)
            ids = [json.loads(line)["id"] for line in
                   self.run_tool("--json", "list", "--limit", "0", "--session", f"x{attempt}").splitlines()]
            self.assertEqual((len(ids), len(set(ids))), (1600, 1600))

    # Aider.

    def test_aider_and_its_model_do_not_speak_for_others(self):
        lines = """
# aider chat started at 2026-02-10 08:00:00

> Aider v0.86  
> Repo-map can't include x
second line of the output

#### Which pier?  
#### And when?  
> a.c  

#### Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: all  
> Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: a  

<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>

The user wants a pier.

#### A heading of a thought
> quoted

</thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>

► **ANSWER**

Pier nine.

> Tokens: 1k sent.  

#### /git log  
> commit 1234
Author: Ann

    Paint the boat

#### /ask Why nine?  

The others are full.

#### Thanks  
"""
        path = self.write("here/.aider.chat.history.md", lines)
        report = self.report("--from", "aider")
        entries = [json.loads(line) for line in self.run_tool("--json", "list", "--limit", "0").splitlines()]
        said = [(one["role"], one["content"]) for one in sorted(entries, key=lambda one: one["imported_from"]["line"])]
        self.assertEqual(said, [("user", "Which pier?\nAnd when?"), ("assistant", "► **ANSWER**\n\nPier nine."),
                                ("user", "Why nine?"), ("assistant", "The others are full."), ("user", "Thanks")])
        self.assertEqual(report["skipped"]["questions of Aider"], 1)
        self.assertEqual(report["skipped"]["commands"], 1)
        self.assertIn("lines of thinking", report["skipped"])


if __name__ == "__main__":
    main()
