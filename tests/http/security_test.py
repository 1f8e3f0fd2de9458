#!/usr/bin/env python3
"""Who may ask the local server what: the table of hosts, origins, methods, types and tokens.

What a page of another site can make a browser send, what a name that resolves to 127.0.0.1 can
reach, what someone without the token gets. Seen from outside, over plain sockets.
"""

import hashlib
import itertools
import json
import os
import re
import socket
import stat
import unittest

from serve_process import Server, request_bytes
from serve_fixture import TOOL, ServeTest, main

SECRET_IN_CONFIG = "zq-only-in-the-config"
SECRET_OUTSIDE = "zq-only-outside-the-memory"
ENTRY = b'{"type":"fact","session_id":"s1","content":"by the matrix"}'


class SecurityTest(ServeTest):
    @classmethod
    def fill(cls):
        cls.tool_in_class("add", "fact", "--session", "s1", "--id", "fact-1", "the first fact")
        (cls.folder_of_all / "outside.txt").write_text(SECRET_OUTSIDE, encoding="ascii")
        (cls.folder_of_all / ".bmad" / "memory" / "outside.md").symlink_to(cls.folder_of_all / "outside.txt")

    def status(self, data, host="127.0.0.1", to_head=False):
        """The status, 0 when the server closed without an answer. No answer may hold the token."""
        answer = self.server.exchange(data, host, to_head)
        if answer is None:
            return 0
        self.assertNotIn(self.server.token.encode(), answer.raw)
        self.check_headers(answer)
        return answer.status

    def check_headers(self, answer):
        """What every answer says, whatever it is an answer to."""
        self.assertEqual(answer.header("x-content-type-options"), "nosniff", answer.raw[:600])
        self.assertEqual(answer.header("x-frame-options"), "DENY", answer.raw[:600])
        self.assertEqual(answer.header("referrer-policy"), "no-referrer", answer.raw[:600])
        self.assertEqual(answer.header("cross-origin-resource-policy"), "same-origin", answer.raw[:600])
        policy = answer.header("content-security-policy") or ""
        for directive in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
                          "base-uri 'none'", "form-action 'none'"):
            self.assertIn(directive, policy, answer.raw[:600])
        self.assertNotRegex(policy, r"unsafe|\*|https?:")
        self.assertIn(answer.header("cache-control"), ("no-store", "no-cache"), answer.raw[:600])
        for name, _ in answer.headers:
            self.assertFalse(name.startswith("access-control-"), answer.raw[:600])
            self.assertFalse(name.startswith("set-cookie"), answer.raw[:600])
        if answer.status >= 400 and answer.body:
            self.assertIn("error", answer.json(), answer.raw[:600])

    def fields(self, **others):
        return self.server.headers(**others)

    def page_secret(self, server=None):
        """Opens the one-time link that is asked for with the token, as a page does."""
        server = server or self.server
        link = server.ask("POST", "/auth/link", {}).json()["url"]
        answer = server.ask("POST", "/auth/session", {"code": link.split("#code=")[1]},
                            Authorization=None, Origin=server.origin)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.json()["secret"]


class EncryptedTest(SecurityTest):
    """An encrypted session, asked by a server that has no key and by one that has it."""

    WORD = "zqcanary"
    QUERIES = {"/memory/search": "?q=boat", "/memory/context": "?task=boat"}
    # What shows an encrypted entry to who has the key.
    OPENING = {"/memory/search", "/memory/entries", "/memory/record/{id}", "/memory/record/{id}/history",
               "/memory/sessions/{session_id}/timeline", "/memory/sessions/{session_id}/artifacts/{id}", "/memory/export"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        other = cls.folder_of_all / "other"  # Else the server that runs answers for this one.
        other.mkdir(mode=0o700)
        cls.keyed = Server(TOOL, cls.folder_of_all, {**cls.class_environment, **cls.key, "XDG_RUNTIME_DIR": str(other)})
        cls.addClassCleanup(cls.keyed.process.stdout.close)
        cls.addClassCleanup(cls.keyed.stop)

    @classmethod
    def fill(cls):
        cls.key = {"BMAD_MEM_KEY": "0123456789abcdef" * 4}
        cls.tool_in_class("session", "new", "--id", "s2")
        cls.tool_in_class("add", "fact", "--session", "s2", "--id", "open", "The open boat")
        text = f"The {cls.WORD} boat"
        cls.tool_in_class("add", "fact", "--session", "s1", "--id", "f1", "--field", f"topic={cls.WORD}", text)
        cls.tool_in_class("add", "conversation", "--session", "s1", "--id", "m1", "--role", "user", text)
        cls.tool_in_class("remember", "--session", "s1", "--category", "constraint", "--key", cls.WORD, text)
        (cls.folder_of_all / "plan.md").write_text(f"# {cls.WORD} plan\n", encoding="ascii")
        cls.artifact = cls.tool_in_class("artifact", "add", "--session", "s1", "plan.md").strip()
        cls.tool_in_class("summary", "update", "--rules", "--session", "s1")
        cls.class_environment.update(cls.key)
        cls.tool_in_class("encrypt", "on", "--session", "s1", "--yes")
        del cls.class_environment["BMAD_MEM_KEY"]

    def answers(self, server):
        """The template of each path that is read, with its answer."""
        for path, methods in server.ask("GET", "/openapi.json").json()["paths"].items():
            if "get" in methods and path.startswith("/memory/") and path != "/memory/events":
                for entry in ("f1", "m1", self.artifact) if "{id}" in path else ("",):
                    target = path.format(session_id="s1", id=entry) + self.QUERIES.get(path, "")
                    yield path, server.ask("GET", target)

    def test_without_the_key_no_answer_has_an_encrypted_word(self):
        for path, answer in self.answers(self.server):
            self.assertIn(answer.status, (200, 404), (path, answer.raw))
            self.assertNotIn(self.WORD.encode(), answer.raw, path)
        shown = {path for path, answer in self.answers(self.keyed) if self.WORD.encode() in answer.body}
        self.assertEqual(shown, self.OPENING)

    def test_without_the_key_the_encrypted_entries_are_counted(self):
        for server, count in ((self.server, 4), (self.keyed, 0)):
            found = server.ask("GET", "/memory/search?q=boat").json()
            self.assertEqual(found["instead"], [f"{count} entries are encrypted and need the key; name it in $BMAD_MEM_KEY_FILE, $BMAD_MEM_KEY or "
                                                 "$BMAD_MEM_PASSPHRASE"] if count else [])
            self.assertEqual(len(found["hits"]), 1 if count else 4)
            timeline = server.ask("GET", "/memory/sessions/s1/timeline").json()
            self.assertEqual((timeline.get("closed_lines", 0), len(timeline["entries"])), (count, 4 - count))
            for name in ("jsonl", "json", "yaml", "markdown", "csv"):
                answer = server.ask("GET", f"/memory/export?format={name}")
                self.assertEqual(answer.header("encrypted-entries"), str(count) if count else None, name)
                self.assertEqual(self.WORD.encode() in answer.body, not count, name)
            self.assertEqual(server.ask("GET", "/memory/entries").json().get("closed_lines", 0), count)
            for path in ("/memory/context?task=boat", "/memory/knowledge", "/memory/stats"):
                self.assertEqual(server.ask("GET", path).json()["encrypted_lines"], 4, path)
            missing = server.ask("GET", "/memory/record/none").json()["error"]["message"]
            self.assertIn("without the key of this memory" if count else "it may have been deleted", missing)
            types = server.ask("GET", "/memory/sessions/s1").json()["statistics"]["types"]
            self.assertEqual(sum(each["encrypted_lines"] for each in types), 4)

    def test_a_document_opens_with_the_key_alone(self):
        target = f"/memory/sessions/s1/artifacts/{self.artifact}"
        self.assertEqual(self.server.ask("GET", target).status, 404)
        answer = self.keyed.ask("GET", target)
        self.assertEqual((answer.status, answer.body), (200, f"# {self.WORD} plan\n".encode()))
        self.assertEqual(answer.header("content-type"), "text/plain; charset=utf-8")
        stored = self.root / "sessions" / "s1" / "artifacts" / f"{self.artifact}.md"
        self.assertNotIn(self.WORD, stored.read_text(encoding="ascii"))

    def test_without_the_key_nothing_is_changed_or_written_in_clear(self):
        logs = {path: path.read_bytes() for path in self.root.glob("sessions/s1/*.jsonl")}
        for method, target, body, status in (
            ("POST", "/memory/record", {"type": "fact", "session_id": "s1", "content": self.WORD}, 403),
            ("POST", "/memory/records", {"type": "fact", "session_id": "s1", "entries": [{"content": self.WORD}]}, 403),
            ("POST", "/memory/knowledge", {"category": "style", "key": "x", "value": self.WORD}, 403),
            ("PATCH", "/memory/record/f1", {"content": self.WORD}, 404),
            ("POST", "/memory/pin", {"id": "f1"}, 404),
            ("POST", "/memory/link", {"from": "f1", "relation": "solves", "to": "m1"}, 404),
            ("DELETE", "/memory/record/f1?dry_run=true", None, 200),  # Which needs no key.
        ):
            answer = self.server.ask(method, target, body)
            self.assertEqual(answer.status, status, (target, answer.body))
            self.assertNotIn(self.WORD.encode(), answer.raw, target)
            if status == 403:
                self.assertIn("sealing.json", answer.json()["error"]["path"])
        self.assertEqual({path: path.read_bytes() for path in logs}, logs)


class MatrixTest(SecurityTest):
    """Every combination: an answer is one of the refusals that apply, or the request is carried out."""

    HOSTS = ("127.0.0.1:{port}", "evil.example:{port}", "127.0.0.1:1", None)
    ORIGINS = (None, "http://127.0.0.1:{port}", "http://evil.example", "null")
    FETCH_SITES = (None, "same-origin", "same-site", "cross-site")
    REQUESTS = (("GET", None), ("POST", "application/json"), ("POST", "text/plain"), ("POST", None),
                ("DELETE", None), ("OPTIONS", None))
    TOKENS = ("bearer", "page", "cookie", "wrong", "none")

    def refusals(self, host, origin, site, method, content_type, token):
        found = set()
        if host is None:
            found |= {400, 421}
        elif host != self.HOSTS[0]:
            found.add(421)
        if origin not in (None, self.ORIGINS[1]) or site in ("same-site", "cross-site"):
            found.add(403)
        if method == "OPTIONS":
            found.add(405)
        if method == "POST" and content_type != "application/json":
            found.add(415)
        if token in ("cookie", "wrong", "none"):
            found.add(401)
        return found

    def request(self, host, origin, site, method, content_type, token, secret):
        port = self.server.port
        body = ENTRY if method == "POST" else b""
        target = {"POST": "/memory/record", "DELETE": "/memory/record/unknown-1"}.get(method, "/memory/sessions")
        others = {
            "Host": host and host.format(port=port),
            "Origin": origin and origin.format(port=port),
            "Sec_Fetch_Site": site,
            "Content_Type": content_type,
            "Content_Length": len(body) if body else None,
            "Authorization": {"bearer": f"Bearer {self.server.token}", "page": f"Bearer {secret}",
                              "wrong": "Bearer " + "x" * 43}.get(token),
            "Cookie": f"bmad_mem_{port}={secret}" if token == "cookie" else None,
        }
        return request_bytes(method, target, self.fields(**others), body)

    def test_every_combination_is_refused_for_a_reason_or_carried_out(self):
        secret = self.page_secret()
        written = expected = 0
        for case in itertools.product(self.HOSTS, self.ORIGINS, self.FETCH_SITES, self.REQUESTS, self.TOKENS):
            host, origin, site, (method, content_type), token = case
            refusals = self.refusals(host, origin, site, method, content_type, token)
            status = self.status(self.request(host, origin, site, method, content_type, token, secret))
            carried_out = {"GET": 200, "POST": 201, "DELETE": 404}.get(method)
            self.assertIn(status, refusals or {carried_out}, f"{case}: {status}, not {refusals or carried_out}")
            written += status == 201
            expected += method == "POST" and not refusals
        self.assertEqual(written, expected)
        self.assertEqual(expected, 8)  # By the token 4, by the secret of a page 4.
        found = self.tool_in_class("--json", "list", "--type", "fact", "--limit", "1000").splitlines()
        self.assertEqual(len(found), written + 1, "a refused request has written, or a carried out one has not")


class TablesTest(SecurityTest):
    def check_rows(self, rows, method, target, body=b""):
        """Rows: what differs from a good request, and the statuses that are right."""
        port = self.server.port
        for others, expected in rows:
            headers = {name: value.format(port=port, other=port ^ 1, token=self.server.token,
                                          half=self.server.token[:20]) if isinstance(value, str) else value
                       for name, value in others.items()}
            if body:
                headers = {"Content_Type": "application/json", "Content_Length": len(body), **headers}
            with self.subTest(headers=str(others)[:200], method=method):
                self.assertIn(self.status(request_bytes(method, target, self.fields(**headers), body)), expected)

    def test_only_its_own_names_are_hosts(self):
        rows = [({"Host": host}, {200}) for host in ("127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}")]
        rows += [({"Host": host}, {400, 421}) for host in (
            "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}",
            "evil.example#localhost:{port}", "127.0.0.1:{port}@evil.example", "user@127.0.0.1:{port}",
            "127.0.0.1", "localhost", "127.0.0.1:{other}", "127.0.0.1:", "127.0.0.1:0{port}", "127.0.0.1:{port}0",
            "0.0.0.0:{port}", "127.0.0.2:{port}", "127.1:{port}", "2130706433:{port}", "0x7f000001:{port}",
            "[::]:{port}", "[::ffff:127.0.0.1]:{port}", "::1:{port}", "localhost.:{port}", "", ",",
            "127.0.0.1:{port}, evil.example", "127.0.0.1:{port} evil.example", "http://127.0.0.1:{port}")]
        self.check_rows(rows, "GET", "/memory/sessions")
        self.check_rows([(others, expected) for others, expected in rows if expected != {200}], "GET", "/")

    def test_one_host_and_no_other_way_to_name_it(self):
        port, good = self.server.port, f"127.0.0.1:{self.server.port}"
        token = ("Authorization", f"Bearer {self.server.token}")
        rows = [
            ("two hosts", "/memory/sessions", [("Host", good), ("Host", "evil.example")], {400, 421}),
            ("the same host twice", "/memory/sessions", [("Host", good), ("Host", good)], {400, 421}),
            ("no host", "/memory/sessions", [], {400, 421}),
            ("another's absolute target", f"http://evil.example:{port}/memory/sessions", [("Host", good)], {400, 421}),
            ("an absolute target, another's host", f"http://{good}/memory/sessions", [("Host", "evil.example")],
             {400, 421}),
            ("its own absolute target", f"http://{good}/memory/sessions", [("Host", good)], {200, 400, 421}),
            ("a forwarded host", "/memory/sessions", [("Host", "evil.example"), ("X-Forwarded-Host", good)], {421}),
            ("an authority", good, [("Host", good)], {400, 404}),
        ]
        for name, target, hosts, expected in rows:
            with self.subTest(name):
                self.assertIn(self.status(request_bytes("GET", target, [*hosts, token])), expected)
        self.assertIn(self.status(request_bytes("CONNECT", good, [("Host", good), token])), {400, 405})
        self.assertIn(self.status(request_bytes("OPTIONS", "*", [("Host", good), token])), {400, 405})
        for version in (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.10", b"HTTP/1", b"http/1.1"):
            with self.subTest(version=version):
                line = b"GET /memory/sessions " + version + b"\r\n\r\n"
                self.assertIn(self.status(line), {0, 400, 421, 505})

    def test_only_its_own_pages_are_origins(self):
        rows = [({"Origin": origin}, {200}) for origin in (
            "http://127.0.0.1:{port}", "http://localhost:{port}", "http://[::1]:{port}")]
        rows += [({"Origin": origin}, {400, 403}) for origin in (
            "null", "http://evil.example", "http://evil.example:{port}", "https://127.0.0.1:{port}",
            "http://127.0.0.1", "http://127.0.0.1:{other}", "http://127.0.0.1:{port}/", "http://127.0.0.1:{port}.evil",
            "http://localhost:{port}.evil.example", "http://x@127.0.0.1:{port}", "file://", "chrome-extension://abc",
            "127.0.0.1:{port}", "http://127.0.0.1:{port} http://evil.example", "", "*")]
        self.check_rows(rows, "GET", "/memory/sessions")
        self.check_rows([row for row in rows if row[1] != {200}], "POST", "/memory/record", ENTRY)
        two = [*self.fields(Origin=self.server.origin), ("Origin", "http://evil.example")]
        self.assertIn(self.status(request_bytes("GET", "/memory/sessions", two)), {400, 403})

    def test_a_preflight_gets_no_leave(self):
        for target in ("/memory/record", "/memory/search", "/auth/session", "/mcp", "/"):
            for origin in ("http://evil.example", self.server.origin, "null"):
                fields = self.fields(Origin=origin, Authorization=None, Access_Control_Request_Method="POST",
                                     Access_Control_Request_Headers="content-type,authorization",
                                     Access_Control_Request_Private_Network="true")
                with self.subTest(target=target, origin=origin):
                    self.assertIn(self.status(request_bytes("OPTIONS", target, fields)), {403, 405})

    def test_what_a_form_can_send_is_not_taken(self):
        rows = [({"Content_Type": kind, "Origin": "http://127.0.0.1:{port}"}, {400, 415}) for kind in (
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None, "",
            "text/plain; application/json", "application/jsonx", "text/json", "application/json; charset=utf-16",
            "application/json, text/plain", "*/*")]
        for target in ("/memory/record", "/memory/pin", "/auth/session", "/mcp"):
            with self.subTest(target):
                self.check_rows(rows, "POST", target, ENTRY)
        self.check_rows([({"Content_Type": kind}, {201}) for kind in (
            "application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8")],
            "POST", "/memory/record", ENTRY)

    def test_only_the_token_opens(self):
        rows = [({"Authorization": value}, {400, 401}) for value in (
            None, "", "Bearer", "Bearer ", "Bearer {half}", "Bearer {token}x", "Bearer x{token}", "Bearer  ",
            "Bearer {token},{token}", "Bearer {token} {token}", "Basic {token}", "{token}", "Bearer " + "x" * 43,
            "Bearer " + "\u00e9" * 43, "Bearer " + "x" * 4000)]
        rows += [({"Authorization": None, "Cookie": value}, {400, 401}) for value in (
            "bmad_mem_{port}=", "bmad_mem_{port}={token}", "bmad_mem_{other}={token}", "bmad_mem={token}",
            "bmad_mem_{port}={half}", "token={token}", "bmad_mem_{port}=x; bmad_mem_{port}=y", "; ; =", "=" * 500)]
        rows += [({"Authorization": None, name: "{token}"}, {401}) for name in ("X_Token", "X_Api_Key", "Token")]
        for target in ("/memory/sessions", "/memory/events", "/memory/export?format=jsonl", "/openapi.json",
                       "/auth/session", "/memory/no-such-place"):
            self.check_rows(rows, "GET", target)
        for query in ("token", "access_token", "authorization", "key"):
            fields = self.fields(Authorization=None)
            target = f"/memory/sessions?{query}={self.server.token}"
            self.assertIn(self.server.exchange(request_bytes("GET", target, fields)).status, {400, 401})
        two = [*self.fields(), ("Authorization", f"Bearer {self.server.token}")]
        self.assertEqual(self.status(request_bytes("GET", "/memory/sessions", two)), 400)

    def test_a_person_who_is_not_signed_in_gets_a_page(self):
        person = self.server.ask("GET", "/memory/sessions", Authorization=None, Accept="text/html,*/*;q=0.8")
        program = self.server.ask("GET", "/memory/sessions", Authorization=None, Accept="application/json")
        self.assertEqual((person.status, program.status), (401, 401))
        self.assertTrue(person.header("content-type").startswith("text/html"))
        self.assertEqual(program.header("content-type"), "application/json")
        self.assertEqual(person.body, self.server.ask("GET", "/", Authorization=None).body)

    def test_a_secret_is_for_one_server_only_and_no_cookie(self):
        other = Server(TOOL, self.second_memory(), self.class_environment)
        self.addCleanup(other.process.stdout.close)
        self.addCleanup(other.stop)
        secret, others_secret = self.page_secret(), self.page_secret(other)
        rows = [({"Authorization": f"Bearer {secret}"}, {201}),
                ({"Authorization": f"Bearer {secret}", "Cookie": "bmad_mem_{port}=x"}, {201}),
                ({"Authorization": f"Bearer {secret}", "Origin": other.origin}, {403}),
                ({"Authorization": f"Bearer {others_secret}"}, {401}),
                ({"Authorization": f"Bearer {other.token}"}, {401}),
                ({"Authorization": None, "Cookie": f"bmad_mem_{{port}}={secret}"}, {401}),
                ({"Authorization": None, "Cookie": f"bmad-mem-secret={secret}", "Origin": self.server.origin}, {401})]
        self.check_rows(rows, "POST", "/memory/record", ENTRY)
        self.check_rows([(others, {200} if expected == {201} else expected) for others, expected in rows],
                        "GET", "/memory/sessions")

    def test_what_a_browser_adds_by_itself_opens_nothing(self):
        """A browser sends its cookies to each server on this host: none of them is worth anything here."""
        secret = self.page_secret()
        for name in (f"bmad_mem_{self.server.port}", "bmad-mem-secret", "secret", "token", "Authorization"):
            for site in ("same-origin", "same-site", "none"):
                fields = self.fields(Authorization=None, Cookie=f"{name}={secret}; {name}={self.server.token}",
                                     Origin=self.server.origin, Sec_Fetch_Site=site)
                for target in ("/memory/sessions", "/memory/events", "/auth/session"):
                    self.assertIn(self.status(request_bytes("GET", target, fields)), {401, 403}, name)

    def second_memory(self):
        folder = self.folder_of_all / "second"
        folder.mkdir(exist_ok=True)
        self.tool_in_class("init", "--root", str(folder / ".bmad" / "memory"))
        return folder


class CodeTest(SecurityTest):
    def new_code(self):
        return self.server.ask("POST", "/auth/link", {}).json()["url"].split("#code=")[1]

    def use(self, code, **others):
        return self.server.ask("POST", "/auth/session", {"code": code},
                               **{"Authorization": None, "Origin": self.server.origin, **others})

    def test_a_link_opens_once(self):
        code = self.new_code()
        answer = self.use(code)
        self.check_headers(answer)
        self.assertEqual(answer.status, 200)
        self.assertRegex(answer.json()["secret"], r"^[A-Za-z0-9_-]{43}$")
        for _ in range(2):
            again = self.use(code)
            self.assertIn(again.status, (401, 403))
            self.assertNotIn(b"secret\"", again.body)
            self.assertNotIn(code, again.raw.decode())

    def test_a_foreign_page_cannot_use_a_code(self):
        code = self.new_code()
        for others in ({"Origin": "http://evil.example"}, {"Origin": None}, {"Origin": "null"},
                       {"Sec_Fetch_Site": "cross-site"}, {"Content_Type": "text/plain"}, {"Host": "evil.example"}):
            with self.subTest(others):
                answer = self.use(code, **others)
                self.assertGreaterEqual(answer.status, 400)
                self.assertNotIn(b"secret\"", answer.body)
        self.assertEqual(self.use(code).status, 200, "the code was spent by those who may not use it")

    def test_wrong_codes_open_nothing(self):
        code = self.new_code()
        wrong = ["", " ", code[:-1], code + "x", "x" * len(code), "x" * 5000, "\x00", None, 0, True, [code], {"code": code}]
        wrong += ["%032d" % number for number in range(100)]
        for value in wrong:
            with self.subTest(value=str(value)[:60]):
                answer = self.use(value)
                self.assertIn(answer.status, (400, 401, 403, 413, 429))
                self.assertNotIn(b"secret\"", answer.body)
        self.assertEqual(self.use(code).status, 200)

    def test_codes_do_not_pile_up(self):
        codes = [self.new_code() for _ in range(12)]
        opened = [self.use(code).status for code in codes]
        self.assertEqual(opened[-1], 200)
        self.assertLessEqual(opened.count(200), 8)

    def test_leaving_ends_the_page_session(self):
        as_page = {"Authorization": f"Bearer {self.page_secret()}", "Origin": self.server.origin}
        self.assertEqual(self.server.ask("GET", "/auth/session", **as_page).status, 200)
        self.assertEqual(self.server.ask("DELETE", "/auth/session", **as_page).status, 204)
        self.assertEqual(self.server.ask("GET", "/auth/session", **as_page).status, 401)
        self.assertEqual(self.server.ask("DELETE", "/auth/session").status, 204)
        self.assertEqual(self.server.ask("GET", "/auth/session").status, 200, "the token was taken as well")


class PathTest(SecurityTest):
    TRICKS = (
        "/../../../../etc/passwd", "/..%2f..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd", "/./config.json", "/config.json", "/.bmad/memory/config.json", "/js/../config.json",
        "/js/..%2fconfig.json", "/js/..%5c..%5cconfig.json", "/js/%00", "/app.css%00.html", "/js//app.js/..",
        "/app.css/", "/\\..\\..\\config.json", "/js/app.js%2f..%2f..%2fconfig.json", "/%", "/%zz", "/%2", "/%ff%fe",
        "/%c0%ae%c0%ae/%c0%ae%c0%ae/config.json", "/;/config.json", "/memory/record/..%2f..%2fconfig.json",
        "/memory/record/%2e%2e", "/memory/record/fact-1%00", "/memory/record/..", "/memory/record/fact-1/../../stats/..",
        "/memory/sessions/..%2f..%2f", "/memory/sessions/%2e%2e", "/memory/sessions/%2e", "/memory/sessions/s1%2f..%2f..",
        "/memory/sessions/s1%00", "/memory/sessions/..%5c", "/memory/sessions/s1/artifacts/..%2f..%2f..%2foutside",
        "/memory/sessions/s1/artifacts/%2e%2e%2fmanifest", "/memory/sessions/s1/artifacts/..%2f..%2f..%2fconfig.json",
        "/memory/sessions/s1/artifacts/outside", "/memory/sessions/s1/artifacts/%2fetc%2fpasswd",
        "/memory/sessions/..%2fs1/summary", "/memory/sessions/s1/../../config.json",
        "/memory/verify?session_id=..%2f..", "/memory/export?format=jsonl&session_id=..%2f..%2f..",
        "/memory/record/fact-1?session_id=..%2f..", "/memory/sessions/" + "a" * 900, "/memory/record/" + "%41" * 300,
    )

    @classmethod
    def fill(cls):
        super().fill()
        config = cls.folder_of_all / ".bmad" / "memory" / "config.json"
        settings = json.loads(config.read_text(encoding="utf-8"))
        settings["note_of_the_test"] = SECRET_IN_CONFIG
        config.write_text(json.dumps(settings), encoding="utf-8")

    def test_no_path_leads_out(self):
        for target in self.TRICKS:
            for method in ("GET", "HEAD"):
                with self.subTest(target=target[:80], method=method):
                    answer = self.server.exchange(request_bytes(method, target, self.fields()), to_head=method == "HEAD")
                    if answer is None:
                        continue
                    self.check_headers(answer)
                    self.assertNotIn(b"root:", answer.body)
                    self.assertNotIn(SECRET_IN_CONFIG.encode(), answer.body)
                    self.assertNotIn(SECRET_OUTSIDE.encode(), answer.body)
                    self.assertLess(answer.status, 500, answer.raw[:500])
                    if answer.status < 300:
                        self.assertRegex(target, r"^/memory/(verify|export|record/fact-1\?)|^/(app\.css|js/)")
                        self.assertNotIn(b"fact-1", answer.body)

    def test_a_made_up_session_is_not_made(self):
        before = sorted(path.name for path in (self.root / "sessions").iterdir())
        for name in ("../x", "..", ".", "", "a/b", "a\\b", "a\u0000b", "/etc", "x" * 300, "s1\n", "con:aux", ".hidden"):
            with self.subTest(name):
                body = {"type": "fact", "session_id": name, "content": "x"}
                answer = self.server.ask("POST", "/memory/record", body)
                self.assertIn(answer.status, (400, 404), answer.raw[:500])
        self.assertEqual(sorted(path.name for path in (self.root / "sessions").iterdir()), before)

    def test_raw_bytes_in_the_target_are_refused(self):
        for target in (b"/a b", b"/a\tb", b"/\x00", b"/\x7f", b"/\xff\xfe", b"", b"a", b"?q", b"/memory/sessions HTTP/1.1"):
            head = b"GET " + target + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % self.server.port
            with self.subTest(target=target):
                self.assertIn(self.status(head), {0, 400, 401, 404, 505})

    def test_what_is_too_long_is_refused(self):
        self.assertEqual(self.status(request_bytes("GET", "/memory/" + "a" * 1500, self.fields())), 414)
        self.assertEqual(self.status(request_bytes("GET", "/memory/search?q=" + "a" * 9000, self.fields())), 414)
        self.assertEqual(self.status(request_bytes("GET", "/memory/sessions", self.fields(X_Long="a" * 20000))), 431)
        many = self.fields() + [(f"X-{number}", "1") for number in range(150)]
        self.assertEqual(self.status(request_bytes("GET", "/memory/sessions", many)), 431)


class ReadingTest(SecurityTest):
    def digest(self):
        """Of all files below the root but those that are derived or locks."""
        found = hashlib.sha256()
        for path in sorted(self.root.rglob("*")):
            derived = ".lock" in path.name or path.name in ("index.json", "catalog.json", "access.log")
            if path.is_file() and not derived:
                found.update(str(path).encode() + b"\0" + path.read_bytes())
        return found.hexdigest()

    def test_reading_changes_nothing(self):
        before = self.digest()
        as_delete = {"X_HTTP_Method_Override": "DELETE", "X_Method_Override": "DELETE", "X_HTTP_Method": "DELETE"}
        targets = ("/", "/memory/search?q=first", "/memory/record/fact-1", "/memory/record/fact-1?_method=DELETE",
                   "/memory/record/fact-1/history", "/memory/record/fact-1/related", "/memory/entries",
                   "/memory/topics", "/memory/timeline", "/memory/sessions", "/memory/sessions/s1",
                   "/memory/sessions/s1/timeline", "/memory/sessions/s1/summary", "/memory/knowledge",
                   "/memory/context?agent=dev&task=first", "/memory/graph", "/memory/stats", "/memory/decay",
                   "/memory/settings", "/memory/health", "/memory/verify", "/memory/audit",
                   "/memory/export?format=jsonl", "/openapi.json", "/auth/session")
        for target in targets:
            for method in ("GET", "HEAD"):
                with self.subTest(target=target, method=method):
                    answer = self.server.ask(method, target, **as_delete)
                    self.assertIn(answer.status, (200, 400), answer.raw[:300])
                    self.assertEqual(method == "GET" or answer.body == b"", True)
        writers = ("/memory/record", "/memory/pin", "/memory/undelete", "/memory/summarize?session_id=s1",
                   "/memory/compact?dry_run=false", "/memory/purge?all=true", "/memory/maintain",
                   "/memory/sessions/s1/close", "/memory/sessions/s1/archive", "/auth/link")
        for target in writers:
            with self.subTest(target=target):
                answer = self.server.ask("GET", target)
                self.assertIn(answer.status, (404, 405), answer.raw[:300])
                if answer.status == 405:
                    self.assertIn("POST", answer.header("allow"))
        self.assertEqual(self.digest(), before)

    def test_every_kind_of_answer_says_the_same_about_itself(self):
        as_page = {"Authorization": f"Bearer {self.page_secret()}"}
        page = self.server.ask("GET", "/", Authorization=None)
        self.assertEqual(page.status, 200)
        self.assertNotIn(self.server.token.encode(), page.raw)
        kinds = {
            "a page": page,
            "an unchanged page": self.server.ask("GET", "/", If_None_Match=page.header("etag")),
            "a style": self.server.ask("GET", "/app.css"),
            "an answer": self.server.ask("GET", "/memory/sessions"),
            "an answer to a page": self.server.ask("GET", "/memory/sessions", **as_page),
            "the description": self.server.ask("GET", "/openapi.json"),
            "an export": self.server.ask("GET", "/memory/export?format=jsonl"),
            "something made": self.server.ask("POST", "/memory/record", {"type": "fact", "session_id": "s1", "content": "x"}),
            "nothing": self.server.ask("DELETE", "/auth/session", **as_page),
            "an unknown place": self.server.ask("GET", "/memory/nowhere"),
            "a wrong method": self.server.ask("PATCH", "/memory/sessions", {}),
            "a bad question": self.server.ask("GET", "/memory/search?k=many"),
            "no token": self.server.ask("GET", "/memory/sessions", Authorization=None),
            "not HTTP": self.server.exchange(b"hello\r\n\r\n"),
        }
        for name, answer in kinds.items():
            with self.subTest(name):
                self.check_headers(answer)
        self.assertEqual(kinds["an unchanged page"].status, 304)
        self.assertIn("Bearer", kinds["no token"].header("www-authenticate"))
        self.assertIn("attachment", kinds["an export"].header("content-disposition"))
        with self.server.connect() as stream:
            stream.send(request_bytes("GET", "/memory/events", self.fields()))
            head = stream.head()
            self.check_headers(head)
            self.assertTrue(head.header("content-type").startswith("text/event-stream"))


class PlaceTest(SecurityTest):
    def test_it_listens_on_loopback_only(self):
        listening = set()
        for table in ("tcp", "tcp6"):
            with open(f"/proc/net/{table}", encoding="ascii") as lines:
                for fields in (line.split() for line in lines):
                    address, _, port = fields[1].rpartition(":")
                    if fields[3] == "0A" and int(port, 16) == self.server.port:
                        listening.add(address)
        self.assertIn("0100007F", listening)
        self.assertLessEqual(listening, {"0100007F", "00000000000000000000000001000000"})

    def test_other_addresses_of_the_machine_refuse(self):
        addresses = {"127.0.0.2"}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # Sends nothing: it asks which address would be used.
                addresses.add(probe.getsockname()[0])
            except OSError:
                print("there is no other address than loopback's")
        for address in addresses:
            with self.subTest(address), self.assertRaises(ConnectionRefusedError):
                socket.create_connection((address, self.server.port), timeout=5)

    def test_both_loopback_addresses_answer(self):
        data = request_bytes("GET", "/memory/sessions", self.fields())
        self.assertEqual(self.status(data), 200)
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this machine has no ::1")
        self.assertEqual(self.status(data, "::1"), 200)
        self.assertEqual(self.status(request_bytes("GET", "/memory/sessions", self.fields(Host="evil.example")), "::1"), 421)
        self.assertEqual(self.status(request_bytes("GET", "/memory/sessions", self.fields(Authorization=None)), "::1"), 401)

    def test_the_token_is_for_its_owner_alone(self):
        file = self.server.token_file
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(file.parent.stat().st_mode), 0o700)
        self.assertEqual(file.stat().st_uid, os.getuid())
        self.assertGreaterEqual(len(self.server.token), 43, "fewer than 256 bits")
        self.assertRegex(self.server.token, r"^[A-Za-z0-9_-]+$")

    def test_the_token_is_said_nowhere(self):
        server = Server(TOOL, self.third_memory(), self.class_environment)
        token = server.token
        process = f"/proc/{server.process.pid}"
        for name in ("cmdline", "environ", "comm"):
            with open(f"{process}/{name}", "rb") as file:
                self.assertNotIn(token.encode(), file.read(), name)
        for target in ("/", "/memory/health", "/memory/settings", "/auth/session", "/openapi.json", "/memory/nowhere"):
            self.assertNotIn(token.encode(), server.ask("GET", target).raw, target)
        for value in (f"Bearer {token}x", f"Basic {token}", f"Bearer {token}, Bearer {token}"):
            self.assertNotIn(token.encode(), server.ask("GET", "/memory/sessions", Authorization=value).raw)
        self.assertNotIn(token.encode(), server.ask("POST", "/memory/record", {"type": "fact", token: 1}, Host="x").raw)
        for path in server.token_file.parent.iterdir():
            if path != server.token_file:
                self.assertNotIn(token.encode(), path.read_bytes(), path)
        status, rest = server.stop()
        self.assertEqual(status, 0, server.error_text())
        self.assertNotIn(token.encode(), server.first_line + rest)
        self.assertNotIn(token, server.error_text())
        self.assertFalse(server.token_file.exists(), "the token outlives the server")
        for path in self.folder_of_all.rglob("*"):
            if path.is_file() and not path.is_symlink():
                self.assertNotIn(token.encode(), path.read_bytes(), path)

    def third_memory(self):
        folder = self.folder_of_all / "third"
        folder.mkdir()
        self.tool_in_class("init", "--root", str(folder / ".bmad" / "memory"))
        return folder


# What holds what is common is no test itself.
def load_tests(loader, _, __):
    cases = (MatrixTest, TablesTest, CodeTest, PathTest, ReadingTest, PlaceTest)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    main()
