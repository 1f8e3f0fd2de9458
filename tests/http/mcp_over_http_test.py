#!/usr/bin/env python3
"""/mcp of `serve`: the eras of the protocol, and the statuses of the transport."""

import base64
import http.client
import json

from own_server_fixture import HttpServerTest, main

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}


class Mcp(HttpServerTest):
    accept = {"Accept": "application/json, text/event-stream"}

    def setUp(self):
        super().setUp()
        self.serve()

    def rpc(self, message, headers=None):
        response, text = self.ask("POST", "/mcp", message, {**self.accept, **(headers or {})})
        return response.status, text

    def legacy(self, method, params=None, headers=None, id_=1):
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}
        status, text = self.rpc(message, headers)
        return status, json.loads(text)

    def modern(self, method, params=None, headers=None, name=None):
        params = {**(params or {}), "_meta": {**META, **(params or {}).get("_meta", {})}}
        sent = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if name is not None:
            sent["Mcp-Name"] = name
        sent.update(headers or {})
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        status, text = self.rpc(message, {key: value for key, value in sent.items() if value})
        return status, json.loads(text)

    def test_a_client_with_a_handshake_can_add_and_search(self):
        status, answer = self.legacy("initialize", HELLO)
        self.assertEqual((status, answer["result"]["protocolVersion"]), (200, "2025-11-25"))
        self.assertNotIn("subscribe", answer["result"]["capabilities"]["resources"])
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.assertEqual(self.rpc(done), (202, b""))
        version = {"MCP-Protocol-Version": "2025-11-25"}
        add = {"name": "memory_add", "arguments": {"type": "decision", "text": "use a pool"}}
        status, answer = self.legacy("tools/call", add, version)
        self.assertEqual((status, answer["result"].get("isError", False)), (200, False), answer)
        search = {"name": "memory_search", "arguments": {"query": "pool"}}
        self.assertIn("use a pool", json.dumps(self.legacy("tools/call", search, version)[1]))

    def test_a_client_without_one_can_too(self):
        status, answer = self.modern("server/discover")
        self.assertEqual((status, answer["result"]["resultType"]), (200, "complete"))
        add = {"name": "memory_add", "arguments": {"type": "decision", "text": "use a pool"}}
        status, answer = self.modern("tools/call", add, name="memory_add")
        self.assertEqual((status, answer["result"].get("isError", False)), (200, False), answer)

    def test_the_statuses_of_the_modern_era(self):
        call = {"name": "memory_stats", "arguments": {}}
        encoded = "=?base64?" + base64.b64encode(b"memory_stats").decode() + "?="
        rows = [
            ("unknown method", 404, -32601, self.modern("no/such")),
            ("removed method", 404, -32601, self.modern("ping")),
            ("a handshake", 404, -32601, self.modern("initialize")),
            ("a handshake with a version", 404, -32601, self.modern("initialize", HELLO)),
            ("no version header", 400, -32020, self.modern("tools/list", headers={"MCP-Protocol-Version": None})),
            ("another version", 400, -32020, self.modern("tools/list", headers={"MCP-Protocol-Version": "2025-11-25"})),
            ("no method header", 400, -32020, self.modern("tools/list", headers={"Mcp-Method": None})),
            ("another method", 400, -32020, self.modern("tools/list", headers={"Mcp-Method": "tools/call"})),
            ("no name", 400, -32020, self.modern("tools/call", call)),
            ("another name", 400, -32020, self.modern("tools/call", call, name="memory_add")),
            ("encoded name", 200, None, self.modern("tools/call", call, name=encoded)),
            ("unknown version", 400, -32022, self.modern(
                "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}},
                {"MCP-Protocol-Version": "1900-01-01"})),
            ("no capabilities", 400, -32602, self.modern(
                "tools/list", {"_meta": {"io.modelcontextprotocol/clientCapabilities": None}})),
        ]  # fmt: skip
        for name, status, code, answer in rows:
            with self.subTest(name):
                got = (answer[0], answer[1].get("error", {}).get("code"))
                self.assertEqual(got, (status, code), answer)

    def test_the_statuses_of_the_transport(self):
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        rows = [
            ("GET", None, {}, 405),
            ("DELETE", None, {}, 405),
            ("POST", request, {"Accept": "text/html"}, 406),
            ("POST", request, {"Content-Type": "text/plain"}, 415),
            ("POST", "{", {}, 400),
            ("POST", [request], {}, 400),
            ("POST", request, {"MCP-Protocol-Version": "1999-01-01"}, 400),
            ("POST", {**request, "method": "no/such"}, {}, 200),
            ("POST", {**request, "method": "initialize"}, {"MCP-Protocol-Version": "2026-07-28"}, 404),
            ("POST", {**request, "method": "initialize", "params": HELLO}, {"MCP-Protocol-Version": "2025-11-25"}, 200),
            ("POST", {"jsonrpc": "2.0", "id": 1, "result": {}}, {}, 202),
        ]
        for method, body, headers, status in rows:
            with self.subTest(method=method, body=body, headers=headers):
                got, _ = self.ask(method, "/mcp", body, {**self.accept, **headers})
                self.assertEqual(got.status, status)

    def test_a_stream_tells_of_changes(self):
        message = {
            "jsonrpc": "2.0",
            "id": "listen:0",
            "method": "subscriptions/listen",
            "params": {
                "_meta": META,
                "notifications": {"resourceSubscriptions": ["memory://sessions/s1"]},
            },
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(connection.close)
        connection.request(
            "POST",
            "/mcp",
            json.dumps(message),
            {
                **self.authorized,
                **self.accept,
                "Content-Type": "application/json",
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "subscriptions/listen",
            },
        )
        response = connection.getresponse()
        self.assertEqual(response.getheader("content-type"), "text/event-stream")

        def next_message():
            while True:
                line = response.readline().decode()
                self.assertTrue(line, "the stream has ended")
                if line.startswith("data:"):
                    return json.loads(line[5:])

        self.assertEqual(
            next_message()["method"], "notifications/subscriptions/acknowledged"
        )
        self.add("fact-1")
        told = next_message()
        self.assertEqual(told["method"], "notifications/resources/updated")
        self.assertEqual(told["params"]["uri"], "memory://sessions/s1")


if __name__ == "__main__":
    main()
