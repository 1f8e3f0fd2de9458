#!/usr/bin/env python3
"""Does to the local server what no client should, while another client goes on asking.

Whatever comes: the server lives, answers others in the meantime, closes what leads nowhere, and
does not grow. How long the others waited is printed; only a standstill fails.
"""

import json
import random
import socket
import struct
import threading
import time

from serve_process import request_bytes
from serve_fixture import SANITIZED, ServeTest, main

SEED = 20261122
GROWTH_MAX = (1024 if SANITIZED else 96) << 20  # A sanitizer keeps what was freed.
STANDSTILL_S = 20 if SANITIZED else 5
TLS_HELLO = bytes.fromhex("16030100a5010000a10303") + bytes(range(160))


class Bystander:
    """Somebody else, who asks every 20 ms on a connection of its own; knows its longest wait."""

    def __init__(self, server):
        self.server = server
        self.waits = []
        self.failures = []
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        request = request_bytes("GET", "/memory/sessions", self.server.headers())
        connection = None
        while not self.end.wait(0.02):
            begin = time.perf_counter()
            try:
                connection = connection or self.server.connect(timeout_s=STANDSTILL_S)
                connection.send(request)
                answer = connection.answer()
                if answer is None or answer.status not in (200, 503):
                    self.failures.append(answer and answer.raw[:200])
                if answer is None or answer.status == 503:
                    connection.close()
                    connection = None
                    continue
            except OSError as error:
                self.failures.append(error)
                return
            self.waits.append((time.perf_counter() - begin) * 1000)
        if connection:
            connection.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()


class HostileTest(ServeTest):
    @classmethod
    def fill(cls):
        lines = "\n".join(json.dumps({"content": f"fact {number} " + "word " * 60}) for number in range(2000))
        cls.tool_in_class("add", "fact", "--session", "s1", "-", stdin=lines)

    def setUp(self):
        super().setUp()
        self.server.ask("GET", "/memory/export?format=jsonl")
        self.before = self.server.resident_bytes()
        self.bystander = Bystander(self.server)
        self.bystander.__enter__()

    def tearDown(self):
        self.bystander.__exit__()
        waits = sorted(self.bystander.waits)
        grown = (self.server.resident_bytes() - self.before) >> 20
        if waits:
            print(f"\n  {self._testMethodName}: others asked {len(waits)} times, waited {waits[len(waits) // 2]:.1f} ms"
                  f" (median), {waits[-1]:.1f} ms (longest); grown by {grown} MiB", flush=True)
        self.assertEqual(self.bystander.failures, [])
        self.assertLess(grown << 20, GROWTH_MAX)
        self.assertEqual(self.server.ask("GET", "/memory/sessions").status, 200)
        super().tearDown()

    def post(self, *headers, body=b""):
        fields = [*self.server.headers(), ("Content-Type", "application/json"), *headers]
        return request_bytes("POST", "/memory/record", fields, body)

    def status(self, data):
        answer = self.server.exchange(data)
        return answer.status if answer else 0

    def test_slow_clients_are_put_off(self):
        """A head has 10 s, a body 30 s: whoever sends a byte now and then is closed all the same."""
        head = request_bytes("GET", "/memory/sessions", self.server.headers())
        kinds = {"head": (head[:40], 25), "body": (self.post(("Content-Length", 1000)), 55),
                 "chunks": (self.post(("Transfer-Encoding", "chunked")), 55)}
        slow = []
        for kind, (begin, limit_s) in kinds.items():
            for _ in range(5):
                connection = self.server.connect()
                connection.send(begin)
                slow.append((kind, limit_s, connection))
        begin, ended = time.monotonic(), {}
        while slow and time.monotonic() - begin < 60:
            time.sleep(0.5)  # This is the client's slowness, and nothing is waited for.
            slow = [row for row in slow if not self.is_put_off(row, time.monotonic() - begin, ended)]
        self.assertEqual([kind for kind, _, _ in slow], [], "not closed within a minute")
        print(f"\n  closed after: {ended}")
        for kind, (_, limit_s) in kinds.items():
            self.assertLess(max(ended[kind]), limit_s, kind)
        self.assertGreater(min(ended["body"]), min(ended["head"]))

    @staticmethod
    def is_put_off(row, passed_s, ended):
        kind, _, connection = row
        connection.socket.settimeout(0.001)
        try:
            piece = {"head": b"x", "body": b" ", "chunks": b"1\r\n \r\n"}[kind]
            is_open = connection.send(piece) and connection.more()
        except TimeoutError:
            return False  # It is open, and the server says nothing.
        if is_open:
            return False  # An answer such as 408; the end comes behind it.
        connection.close()
        ended.setdefault(kind, []).append(round(passed_s, 1))
        return True

    def pour(self, begin, piece, size_max):
        """Sends `piece` until the server closes or `size_max` is reached; the status, and what it took."""
        with self.server.connect(timeout_s=30) as connection:
            sent = len(begin)
            is_open = connection.send(begin)
            while is_open and sent < size_max:
                is_open = connection.send(piece)
                sent += len(piece)
            try:
                answer = connection.answer()
            except (ConnectionResetError, TimeoutError):
                answer = None
            return (answer.status if answer else 0), sent

    def test_what_never_ends_is_cut_off(self):
        good = request_bytes("GET", "/memory/sessions", self.server.headers())[:-2]
        rows = [
            ("a target", b"GET /", b"a" * 1000, {0, 414, 431, 400}),
            ("a method", b"", b"A" * 1000, {0, 400, 405, 431, 414}),
            ("a header", good + b"X: ", b"a" * 1000, {0, 431, 400}),
            ("headers", good, b"X: a\r\n" * 100, {0, 431, 400}),
            ("blank lines", b"", b"\r\n" * 1000, {0, 400, 431}),
            ("zeros", b"", b"\0" * 1000, {0, 400, 431}),
        ]
        for name, begin, piece, expected in rows:
            with self.subTest(name):
                status, sent = self.pour(begin, piece, 32 << 20)
                self.assertIn(status, expected)
                self.assertLess(sent, 32 << 20, "it was read without end")

    def test_bodies_have_a_bound(self):
        for name, length in (("10 GB", "10000000000"), ("2^63", str(1 << 63)), ("2^64-1", str((1 << 64) - 1))):
            with self.subTest(name):
                begin = time.monotonic()
                self.assertIn(self.status(self.post(("Content-Length", length))), {400, 413})
                self.assertLess(time.monotonic() - begin, STANDSTILL_S, "the body was waited for")
        for length in ("-1", "+5", "5,5", "5, 6", "0x10", "5 5", "", "five", "1e3", str(1 << 64), "9" * 200):
            with self.subTest(length):
                self.assertIn(self.status(self.post(("Content-Length", length), body=b"{}   ")), {400, 411, 413})
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        status, sent = self.pour(self.post(("Transfer-Encoding", "chunked")), chunk, 512 << 20)
        self.assertIn(status, {0, 413})
        self.assertLess(sent, 512 << 20, "a body of chunks was read without end")
        for size in (b"FFFFFFFFFFFFFFFF", b"10000000000000000", b"-1", b"xyz", b"", b"7fffffff"):
            with self.subTest(size):
                data = self.post(("Transfer-Encoding", "chunked"), body=size + b"\r\n{}\r\n0\r\n\r\n")
                self.assertIn(self.status(data), {400, 413})
        status, _ = self.pour(self.post(("Transfer-Encoding", "chunked"), body=b"2;"), b"x=y;" * 1000, 32 << 20)
        self.assertIn(status, {0, 400, 413, 431})

    def test_deep_and_odd_json_is_answered(self):
        for name, body in (("deep", b"[" * 500_000), ("deep objects", b'{"a":' * 100_000), ("a number", b"9" * 400_000),
                           ("bad UTF-8", b'{"type":"fact","content":"\xff\xfe"}'), ("an array", b"[]"), ("nothing", b""),
                           ("a NUL", b'{"type":"fact"}\0'), ("two", b'{"type":"fact"}{"type":"fact"}'),
                           ("a lone surrogate", b'{"type":"fact","session_id":"s1","content":"\\ud800"}'),
                           ("a long name", b'{"' + b"k" * 300_000 + b'":1}')):
            with self.subTest(name):
                self.assertIn(self.status(self.post(("Content-Length", len(body)), body=body)), {400, 413})

    def test_garbage_is_refused(self):
        prng = random.Random(SEED)
        print(f"\n  seed {SEED}")
        good = self.post(("Content-Length", 2), body=b"{}")
        self.assertIn(self.status(TLS_HELLO), {0, 400})
        self.assertIn(self.status(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), {0, 400, 405, 421, 505})
        for number in range(150):
            data = prng.randbytes(prng.randrange(1, 400)) + b"\r\n\r\n"
            with self.subTest(number=number):
                self.assertIn(self.status(data) // 100, {0, 4, 5})
        for number in range(300):
            data = bytearray(good)
            for _ in range(prng.randrange(1, 4)):
                data[prng.randrange(len(data))] = prng.randrange(256)
            with self.subTest(number=number, data=bytes(data)), self.server.connect(timeout_s=30) as connection:
                connection.send(bytes(data))
                connection.socket.shutdown(socket.SHUT_WR)
                answer = connection.answer()
                self.assertTrue(answer is None or answer.status != 500, answer and answer.raw)

    def test_one_request_is_never_two(self):
        """What proxies and servers have read differently; here a second request hides in the first."""
        hidden = request_bytes("GET", "/memory/sessions", self.server.headers())
        size = len(hidden)
        length, chunked = ("Content-Length", size), ("Transfer-Encoding", "chunked")
        rows = [
            ("both", self.post(("Content-Length", 5), chunked, body=b"0\r\n\r\n" + hidden)),
            ("both, the other way", self.post(chunked, length, body=b"0\r\n\r\n" + hidden)),
            ("two lengths", self.post(("Content-Length", 0), length, body=hidden)),
            ("a list of lengths", self.post(("Content-Length", f"0, {size}"), body=hidden)),
            ("a blank before the colon", self.post(("Content-Length ", size), body=hidden)),
            ("a tab before the colon", self.post(("Transfer-Encoding\t", "chunked"), length, body=hidden)),
            ("an odd coding", self.post(("Transfer-Encoding", "xchunked"), length, body=hidden)),
            ("identity", self.post(("Transfer-Encoding", "identity"), length, body=hidden)),
            ("chunked and more", self.post(("Transfer-Encoding", "chunked, identity"), body=b"0\r\n\r\n" + hidden)),
            ("chunked twice", self.post(chunked, chunked, body=b"0\r\n\r\n" + hidden)),
            ("a folded line", self.post(("Transfer-Encoding", "\r\n chunked"), length, body=b"0\r\n\r\n" + hidden)),
            ("a folded header", self.post(("X", "a\r\n\tb"), length, body=hidden)),
            ("a bare CR", self.post(("X", "a\rTransfer-Encoding: chunked"), length, body=hidden)),
            ("a NUL", self.post(("X", "a\0b"), length, body=hidden)),
            ("a bare LF in a value", self.post(("X", "a\nTransfer-Encoding: chunked"), length, body=hidden)),
            ("only LFs", self.post(length, body=hidden).replace(b"\r\n", b"\n")),
            ("a chunk with a bare LF", self.post(chunked, body=b"0\n\n" + hidden)),
        ]
        for name, data in rows:
            with self.subTest(name), self.server.connect(timeout_s=30) as connection:
                connection.send(data)
                connection.socket.shutdown(socket.SHUT_WR)
                first = connection.answer()
                self.assertTrue(first is None or 400 <= first.status < 500 or first.status in (501, 505), first and first.raw[:300])
                self.assertIsNone(connection.answer(), f"{name}: the hidden request was answered")

    def test_requests_behind_one_another_are_answered_in_order(self):
        members = {"/memory/search?q=fact&k=1": "hits", "/memory/sessions": "archived", "/memory/record/unknown-1": "error"}
        targets = list(members) * 5
        with self.server.connect() as connection:
            connection.send(b"".join(request_bytes("GET", target, self.server.headers()) for target in targets))
            for target in targets:
                self.assertIn(members[target], connection.answer().json(), target)

    def test_300_connections_at_once(self):
        self.bystander.__exit__()  # It may be refused as well; that is no failure here.
        request = request_bytes("GET", "/memory/sessions", self.server.headers())
        connections, statuses = [], []
        for _ in range(300):
            connections.append(self.server.connect())
            connections[-1].send(request)
        for connection in connections:
            answer = connection.answer()
            statuses.append(answer.status if answer else 0)
        print(f"\n  300 connections: {statuses.count(200)} answered, {statuses.count(503)} put off, {statuses.count(0)} closed")
        self.assertGreaterEqual(statuses.count(200), 100)
        self.assertLessEqual(set(statuses), {0, 200, 503})
        for connection in connections:
            connection.close()
        deadline = time.monotonic() + STANDSTILL_S
        while self.status(request) != 200:
            self.assertLess(time.monotonic(), deadline, "connections that are gone still count")

    def test_clients_that_leave_in_the_middle(self):
        export = request_bytes("GET", "/memory/export?format=jsonl", self.server.headers())
        events = request_bytes("GET", "/memory/events", self.server.headers())
        for number in range(60):
            connection = self.server.connect()
            connection.send(events if number % 3 == 0 else export)
            connection.socket.recv(100)
            if number % 2 == 0:  # A reset in place of a goodbye.
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        for data in (export[:30], export[:-1], self.post(("Content-Length", 100), body=b"{")):
            connection = self.server.connect()
            connection.send(data)
            connection.close()
        with self.server.connect() as connection:
            connection.send(request_bytes("GET", "/memory/sessions", self.server.headers()))
            connection.socket.shutdown(socket.SHUT_WR)
            answer = connection.answer()
            self.assertTrue(answer is None or answer.status == 200)

    def test_those_who_do_not_read_hold_nobody_up(self):
        """Exports and streams that nobody reads, while the tool writes to the same memory."""
        stuck = []
        for number in range(24):
            connection = self.server.connect()
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            target = "/memory/export?format=jsonl" if number < 4 else "/memory/events"
            connection.send(request_bytes("GET", target, self.server.headers()))
            stuck.append(connection)
        lines = "\n".join(json.dumps({"content": "x" * 2000}) for _ in range(500))
        begin = time.monotonic()
        for _ in range(5):
            self.tool_in_class("add", "fact", "--session", "s1", "-", stdin=lines)
        print(f"\n  5 writes of 500 entries by the tool: {time.monotonic() - begin:.2f} s")
        self.assertLess(time.monotonic() - begin, 4 * STANDSTILL_S)
        answer = self.server.ask("POST", "/memory/record", {"type": "fact", "session_id": "s1", "content": "x"})
        self.assertEqual(answer.status, 201)
        for connection in stuck:
            connection.close()


if __name__ == "__main__":
    main()
