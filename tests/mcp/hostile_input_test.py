#!/usr/bin/env python3
"""Says to the MCP server what no client should, and looks that it answers, ends and keeps clean.

Whatever comes: every line on stdout is a message, nothing crashes, the exit status is 0.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main  # noqa: E402

SANITIZED = any(key.endswith("SAN_OPTIONS") for key in os.environ) or b"__asan_init" in TOOL.read_bytes()
# What "within a second" means with a sanitizer on a busy machine.
PROMPT_S = 15 if SANITIZED else 5


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def call(number, tool, /, **arguments):
    return request(number, "tools/call", name=tool, arguments=arguments)


PING = request("ping", "ping")


class McpTest(ToolTest):
    def start(self, *options, profile="core"):
        server = subprocess.Popen(
            [str(TOOL), *options, "mcp", "--tools", profile],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(self.put_away, server)
        return server

    @staticmethod
    def put_away(server):
        if server.poll() is None:
            server.kill()
        server.wait(TIMEOUT_S)
        for stream in (server.stdin, server.stdout, server.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def talk(self, data, **of_server):
        """Sends everything, ends the input; the messages that come back."""
        server = self.start(**of_server)
        out, err = server.communicate(data, TIMEOUT_S)
        self.assertEqual(server.returncode, 0, err.decode(errors="replace")[-3000:])
        self.assertNotIn(b"Sanitizer", err)
        return self.messages(out)

    def messages(self, out):
        self.assertTrue(out == b"" or out.endswith(b"\n"), out[-200:])
        found = []
        for line in out.splitlines():
            message = json.loads(line.decode("utf-8"))
            self.assertEqual(message["jsonrpc"], "2.0")
            self.assertTrue("method" in message or ("result" in message) != ("error" in message))
            found.append(message)
        return found

    def lines(self, *lines, **of_server):
        return self.talk("".join(line + "\n" for line in lines).encode(), **of_server)


class HostileInput(McpTest):
    def test_broken_messages_are_answered_and_the_next_one_as_well(self):
        broken = [
            b"garbage",
            b"{",
            b'{"jsonrpc":"2.0","id":1,"method":"ping"',
            b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
            b"\xff\xfe\x00",
            b'{"jsonrpc":"2.0","id":1,"method":"pi\xffng"}',
            b'{"jsonrpc":"2.0","id":1,"method":"p\x00ing"}',
            b"\x00" * 1000,
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 200 + b"]" * 200 + b"}",
            b"null",
            b"[]",
            b'"text"',
            b"1e999",
            b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":[1],"method":"ping"}',
            b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"method":7}',
            b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
        ]
        for line in broken:
            with self.subTest(line=line[:60]):
                answers = self.talk(line + b"\n" + PING.encode() + b"\n")
                self.assertEqual(len(answers), 2)
                self.assertIn(answers[0]["error"]["code"], (-32700, -32600, -32602))
                self.assertEqual(answers[1], {"jsonrpc": "2.0", "id": "ping", "result": {}})

    def test_lines_of_many_mebibytes(self):
        text = "memory " * 3_000_000  # 21 MB
        answers = self.lines(call(1, "memory_add", type="fact", text=text), PING)
        by_id = {answer["id"]: answer for answer in answers}
        self.assertIn("ping", by_id)
        self.assertTrue(by_id[1]["result"]["isError"])  # No entry is that long.
        self.assertIn("E_SIZE_LIMIT", by_id[1]["result"]["content"][0]["text"])

    def test_a_line_beyond_the_bound_is_refused_and_passed_over(self):
        answers = self.talk(b"x" * (70 << 20) + b"\n" + PING.encode() + b"\n")
        self.assertEqual(answers[0]["error"]["code"], -32600)
        self.assertIn("64 MiB", answers[0]["error"]["message"])
        self.assertEqual(answers[1]["id"], "ping")
        self.assertEqual(len(answers), 2)

    def test_wrong_arguments_of_every_tool_are_answers_not_ends(self):
        tools = {tool["name"]: tool for profile in ("core", "full")
                 for tool in self.lines(request(1, "tools/list"), profile=profile)[0]["result"]["tools"]}.values()
        self.assertEqual(len(tools), 16)
        values = [None, True, 0, -1, 1e300, "", "\u2028", "x" * 5000, [], [[]], [1], {}, {"a": {}}]
        random.seed(7)
        calls = []
        for tool in tools:
            names = [*tool["inputSchema"]["properties"], "nope"]
            for value in values:
                for name in names:
                    calls.append(call(len(calls), tool["name"], **{name: value}))
                calls.append(
                    call(len(calls), tool["name"], **{name: random.choice(values) for name in names})
                )
        answers = self.lines(*calls)
        self.assertEqual(len(answers), len(calls))
        for answer in answers:
            self.assertIn("result", answer)
            self.assertLess(len(json.dumps(answer)), 120_000)

    def test_random_bytes_and_random_messages(self):
        random.seed(20261122)
        methods = ["initialize", "tools/call", "resources/read", "resources/subscribe",
                   "subscriptions/listen", "notifications/cancelled", "completion/complete",
                   "prompts/get", "logging/setLevel", "resources/list", "server/discover"]
        values = [None, 0, "memory://sessions", "load_context", {}, [], {"uri": 1}, {"name": "x"},
                  "2026-07-28", "x" * 3000]
        keys = ["uri", "name", "arguments", "ref", "argument", "level", "cursor", "requestId",
                "notifications", "_meta", "protocolVersion"]
        lines = []
        for _ in range(3000):
            kind = random.random()
            if kind < 0.15:
                lines.append(bytes(random.randrange(256) for _ in range(random.randrange(80)))
                             .replace(b"\n", b" "))
                continue
            params = {random.choice(keys): random.choice(values) for _ in range(random.randrange(4))}
            if random.random() < 0.4:
                params["_meta"] = {
                    "io.modelcontextprotocol/protocolVersion": random.choice(["2026-07-28", "1", 1]),
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "progressToken": random.choice([1, "a", None]),
                }
            message = {"jsonrpc": "2.0", "id": random.choice([0, 1, "a", None, 2.5]),
                       "method": random.choice(methods), "params": params}
            text = json.dumps(message).encode()
            if kind < 0.3:
                cut = random.randrange(len(text))
                text = text[:cut] + bytes([random.randrange(256)]) + text[cut + 1:]
            lines.append(text.replace(b"\n", b" "))
        answers = self.talk(b"\n".join(lines) + b"\n" + PING.encode() + b"\n")
        self.assertIn({"jsonrpc": "2.0", "id": "ping", "result": {}}, answers)

    def test_a_thousand_calls_at_once_are_all_answered(self):
        calls = [call(f"a{i}", "memory_add", type="fact", text=f"fact number {i}") for i in range(500)]
        calls += [call(f"s{i}", "memory_search", query="number") for i in range(500)]
        random.seed(3)
        random.shuffle(calls)
        answers = self.lines(*calls)
        self.assertEqual(len({answer["id"] for answer in answers}), 1000)
        self.assertFalse([a for a in answers if a["result"].get("isError")])
        listed = self.run_tool("--json", "list", "--type", "fact", "--limit", "0").splitlines()
        self.assertEqual(len(listed), 500)

    def test_a_ping_is_answered_while_calls_run_and_cancelled_ones_are_not(self):
        server = self.start()
        calls = [call(i, "memory_add", type="fact", text=f"fact {i}") for i in range(300)]
        cancelled = [
            json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": i}}) for i in range(200, 300)
        ]
        out, _ = server.communicate("\n".join([*calls, PING, *cancelled, ""]).encode(), TIMEOUT_S)
        answers = self.messages(out)
        ids = [answer["id"] for answer in answers]
        self.assertIn("ping", ids)
        self.assertLess(ids.index("ping"), len(ids) - 1)
        self.assertLess(len(ids), 301)
        self.assertLessEqual(set(range(200)), set(ids))


class Ends(McpTest):
    def ready(self, server):
        server.stdin.write(PING.encode() + b"\n")
        server.stdin.flush()
        self.assertEqual(json.loads(server.stdout.readline())["id"], "ping")

    def ends_promptly(self, server):
        begin = time.monotonic()
        self.assertEqual(server.wait(TIMEOUT_S), 0)
        self.assertLess(time.monotonic() - begin, PROMPT_S)

    def test_the_end_of_input_ends_it(self):
        server = self.start()
        self.ready(server)
        server.stdin.close()
        self.ends_promptly(server)
        self.assertEqual(server.stdout.read(), b"")

    def test_signals_end_it_while_the_input_is_open(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                server = self.start()
                self.ready(server)
                server.send_signal(number)
                self.ends_promptly(server)

    def test_a_signal_ends_it_while_it_is_subscribed_and_busy(self):
        self.run_tool("--quiet", "init")
        server = self.start()
        self.ready(server)
        lines = [request("s", "resources/subscribe", uri="memory://sessions")]
        lines += [call(i, "memory_add", type="fact", text=f"fact {i}") for i in range(800)]
        server.stdin.write("\n".join(lines).encode() + b"\n")
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        self.ends_promptly(server)
        self.messages(server.stdout.read())
        self.run_tool("verify")

    def test_a_signal_ends_it_while_nobody_reads(self):
        server = self.start()
        self.ready(server)
        lines = [request(i, "tools/list") for i in range(200)]
        server.stdin.write("\n".join(lines).encode() + b"\n")
        server.stdin.flush()
        time.sleep(0.3)  # Until the pipe is full; if it isn't, the test is merely easier.
        server.send_signal(signal.SIGTERM)
        self.ends_promptly(server)

    def test_a_closed_output_ends_it(self):
        server = self.start()
        self.ready(server)
        server.stdout.close()
        server.stdin.write((request(1, "tools/list") + "\n").encode())
        server.stdin.flush()
        self.ends_promptly(server)

    def test_pipes_that_close_at_any_moment(self):
        self.run_tool("--quiet", "init")
        lines = [request(0, "initialize", protocolVersion="2025-11-25", capabilities={},
                         clientInfo={"name": "t", "version": "1"}),
                 request(1, "resources/subscribe", uri="memory://sessions"),
                 call(2, "memory_add", type="fact", text="something"),
                 call(3, "memory_search", query="something"), request(4, "tools/list")]
        data = ("\n".join(lines) + "\n").encode()
        random.seed(5)
        for _ in range(12 if SANITIZED else 40):
            server = self.start()
            cut = random.randrange(len(data))
            closes_output_first = random.random() < 0.5
            if closes_output_first:
                server.stdout.close()
            try:
                server.stdin.write(data[:cut])
                server.stdin.close()
            except BrokenPipeError:
                pass
            if not closes_output_first:
                if random.random() < 0.5:
                    server.stdout.close()
                else:
                    self.messages(server.stdout.read())
            self.ends_promptly(server)
            self.assertNotIn(b"Sanitizer", server.stderr.read())
        self.run_tool("verify")

    def test_what_was_asked_before_the_end_is_answered(self):
        answers = self.lines(*[call(i, "memory_add", type="fact", text=f"f {i}") for i in range(50)])
        self.assertEqual(len(answers), 50)


class WithoutMemory(McpTest):
    def test_reads_say_so_and_make_nothing(self):
        answers = self.lines(
            call(1, "memory_search", query="x"), call(2, "memory_context", task="x"),
            call(3, "memory_recall"), call(4, "memory_sessions"), call(5, "memory_stats"),
            call(6, "memory_summary"), call(7, "memory_get", ids=["x"]),
            request(8, "resources/list"), request(9, "resources/read", uri="memory://sessions"))
        self.assertEqual(len(answers), 9)
        for answer in answers:
            self.assertNotIn("error", answer)
        self.assertFalse((self.folder / ".bmad").exists())

    def test_the_first_write_makes_one_in_the_project_s_folder(self):
        project = self.folder / "project"
        project.mkdir()
        self.environment["CLAUDE_PROJECT_DIR"] = str(project)
        self.environment["CLAUDE_CODE_SESSION_ID"] = "AB12_x/Y"
        answer = self.lines(call(1, "memory_remember", category="constraint", key="k", value="v"))[0]
        self.assertEqual(answer["result"]["structuredContent"]["session_id"], "cc-ab12_x-y")
        self.assertTrue((project / ".bmad" / "memory" / "config.json").exists())
        self.assertFalse((self.folder / ".bmad").exists())

    def test_read_only_offers_no_writes_and_makes_nothing(self):
        server = subprocess.run(
            [str(TOOL), "mcp", "--read-only"], cwd=self.folder, env=self.environment,
            input="\n".join([request(1, "tools/list"),
                             call(2, "memory_add", type="fact", text="x"), ""]).encode(),
            capture_output=True, timeout=TIMEOUT_S, check=True)
        by_id = {answer["id"]: answer for answer in self.messages(server.stdout)}
        names = {tool["name"] for tool in by_id[1]["result"]["tools"]}
        self.assertEqual(len(names), 7)
        self.assertTrue(all(t["annotations"]["readOnlyHint"] for t in by_id[1]["result"]["tools"]))
        self.assertEqual(by_id[2]["error"]["code"], -32602)
        self.assertFalse((self.folder / ".bmad").exists())


if __name__ == "__main__":
    main()
