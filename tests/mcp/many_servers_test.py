#!/usr/bin/env python3
"""Four servers write to one memory at once; nothing is lost, and readers see what is acknowledged."""

import json
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from mcp_process import McpProcess  # noqa: E402
from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main  # noqa: E402

SERVERS = 4
WRITES = 500


class ManyServers(ToolTest):
    def write_from_all(self, session=None):
        """Starts the servers, asks for all writes at once; the ids that were acknowledged."""
        servers = []
        for _ in range(SERVERS):
            servers.append(subprocess.Popen(
                [str(TOOL), "mcp"], cwd=self.folder, env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        inputs = []
        for number in range(SERVERS):
            where = {"session_id": session} if session else {}
            lines = [
                json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {
                    "name": "memory_add",
                    "arguments": {"type": "fact", "text": f"server {number} fact {i}", **where}}})
                for i in range(WRITES)
            ]
            inputs.append(("\n".join(lines) + "\n").encode())
        for server, data in zip(servers, inputs):
            # The answers of so many fit into no pipe, so both ends are served by a thread.
            server.reader = threading.Thread(
                target=lambda s=server, d=data: setattr(s, "told", s.communicate(d)[0]))
            server.reader.start()
        ids = []
        for server in servers:
            server.reader.join(TIMEOUT_S * 2)
            self.assertEqual(server.wait(TIMEOUT_S), 0)
            answers = [json.loads(line) for line in server.told.splitlines()]
            self.assertEqual(len(answers), WRITES)
            for answer in answers:
                self.assertNotIn("isError", answer["result"], answer)
                ids.append(answer["result"]["structuredContent"]["id"])
        return ids

    def assert_all_there(self, ids):
        self.assertEqual(len(set(ids)), SERVERS * WRITES)
        lines = self.run_tool("--json", "list", "--type", "fact", "--limit", "0").splitlines()
        entries = [json.loads(line) for line in lines]
        self.assertEqual({entry["id"] for entry in entries}, set(ids))
        texts = {entry["content"] for entry in entries}
        self.assertEqual(len(texts), SERVERS * WRITES)
        self.run_tool("verify")

    def test_each_in_a_session_of_its_own(self):
        self.run_tool("--quiet", "init")
        self.assert_all_there(self.write_from_all())

    def test_all_in_one_session(self):
        self.run_tool("--quiet", "init")
        self.run_tool("session", "new", "--id", "shared")
        self.assert_all_there(self.write_from_all("shared"))

    def test_all_make_the_memory_themselves(self):
        self.assert_all_there(self.write_from_all())


class IdleServer(ToolTest):
    def test_it_indexes_what_was_written_while_nobody_asks(self):
        self.run_tool("--quiet", "init")
        server = McpProcess([str(TOOL), "mcp"], self.folder, self.environment)
        self.addCleanup(server.leave)
        server.open()
        for number in range(5):  # Together more than 256 KiB.
            answer = server.call("memory_add", type="fact", text=f"word{number} " * 9_000)
            self.assertNotIn("isError", answer["result"])
        current = self.folder / ".bmad" / "memory" / "index" / "CURRENT"
        end = time.monotonic() + TIMEOUT_S
        while not current.exists() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(current.exists())
        server.end()


if __name__ == "__main__":
    main()
