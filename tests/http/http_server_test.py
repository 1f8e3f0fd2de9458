#!/usr/bin/env python3
"""`serve` as its clients see it: HTTP, links, and its end."""

import json
import pathlib
import re
import signal
import socket
import subprocess
import time

from own_server_fixture import TIMEOUT_S, TOOL, HttpServerTest, Stream, main


CODE = "#code="


class Http(HttpServerTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def host(self):
        return f"Host: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n".encode()

    def test_requests_on_one_connection_are_answered_in_order(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
            client.sendall(
                b"GET /auth/session HTTP/1.1\r\n" + self.host() + b"\r\n"
                b"GET /nowhere HTTP/1.1\r\n" + self.host() + b"\r\n"
                b"GET /icon.svg HTTP/1.1\r\nConnection: close\r\n" + self.host() + b"\r\n"
            )
            answer = self.read_all(client)
        self.assertEqual(re.findall(rb"HTTP/1.1 (\d+) ", answer), [b"200", b"404", b"200"])

    def test_head_is_answered_like_get_without_the_body(self):
        get, text = self.ask("GET", "/icon.svg", token=False)
        head, nothing = self.ask("HEAD", "/icon.svg", token=False)
        self.assertEqual((get.status, head.status, nothing), (200, 200, b""))
        self.assertEqual(head.getheader("content-length"), str(len(text)))

    def test_a_page_file_that_the_client_has_is_not_sent_again(self):
        first, _ = self.ask("GET", "/app.css", token=False)
        self.assertEqual(first.getheader("cache-control"), "no-cache")
        again, text = self.ask(
            "GET", "/app.css", token=False, headers={"If-None-Match": first.getheader("etag")}
        )
        self.assertEqual((again.status, text), (304, b""))

    def test_every_answer_says_what_browsers_may_do_with_it(self):
        for target, token in [("/", False), ("/nowhere", True), ("/auth/session", False)]:
            response, _ = self.ask("GET", target, token=token)
            self.assertEqual(response.getheader("x-content-type-options"), "nosniff")
            self.assertIn("default-src 'none'", response.getheader("content-security-policy"))
            self.assertIsNone(response.getheader("access-control-allow-origin"))

    def test_what_two_programs_could_understand_differently_is_refused(self):
        host = self.host()
        post = b"POST /auth/link HTTP/1.1\r\nContent-Type: application/json\r\n"
        rows = {
            "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\n" + host + b"\r\n",
            "no host": b"GET / HTTP/1.1\r\n\r\n",
            "two lengths": post + host + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            "length and chunks": post
            + host
            + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "a length that is none": post + host + b"Content-Length: +2\r\n\r\n{}",
            "not HTTP": b"hello\r\n\r\n",
            "another host in the address": b"GET http://evil/ HTTP/1.1\r\n" + host + b"\r\n",
            "a broken escape": b"GET /%zz HTTP/1.1\r\n" + host + b"\r\n",
            "an escaped NUL": b"GET /%00 HTTP/1.1\r\n" + host + b"\r\n",
        }
        for name, request in rows.items():
            with self.subTest(name):
                self.assertTrue(self.raw(request).startswith(b"HTTP/1.1 400 "), name)

    def test_the_size_of_a_head_is_bounded(self):
        host = self.host()
        rows = {
            b"414": b"GET /" + b"a" * 2000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"414 ": b"GET /?" + b"a" * 10_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"414  ": b"GET /?" + b"a" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"431": b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
            b"431 ": b"GET / HTTP/1.1\r\n" + host + b"X: a\r\n" * 100 + b"\r\n",
        }
        for status, request in rows.items():
            with self.subTest(status=status, size=len(request)):
                self.assertTrue(self.raw(request).startswith(b"HTTP/1.1 " + status.strip()))

    def test_a_body_that_is_too_large_is_refused_before_it_is_read(self):
        request = (
            b"POST /auth/link HTTP/1.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000000000\r\nExpect: 100-continue\r\n" + self.host() + b"\r\n"
        )
        self.assertTrue(self.raw(request).startswith(b"HTTP/1.1 413 "))

    def test_a_body_in_chunks_is_read_and_counted(self):
        head = (
            b"POST /auth/link HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Transfer-Encoding: chunked\r\n" + self.host() + b"\r\n"
        )
        good = self.raw(head + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
        self.assertTrue(good.startswith(b"HTTP/1.1 200 "), good[:200])
        piece = b"200\r\n" + b" " * 512 + b"\r\n"
        self.assertTrue(self.raw(head + 3 * piece + b"0\r\n\r\n").startswith(b"HTTP/1.1 413 "))

    def test_a_client_that_asks_first_is_told_to_go_on(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
            client.sendall(
                b"POST /auth/link HTTP/1.1\r\nContent-Type: application/json\r\n"
                b"Connection: close\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"
                + self.host()
                + b"\r\n"
            )
            self.assertEqual(client.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
            client.sendall(b"{}")
            self.assertTrue(self.read_all(client).startswith(b"HTTP/1.1 200 "))

    def test_the_description_is_there(self):
        response, text = self.ask("GET", "/openapi.json")
        self.assertEqual(response.status, 200)
        self.assertTrue(json.loads(text)["openapi"].startswith("3.1"))

    def test_http_1_0_gets_an_answer_that_ends_with_the_connection(self):
        answer = self.raw(b"GET / HTTP/1.0\r\n" + self.host() + b"\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 "))
        self.assertIn(b"connection: close", answer)

    def test_idle_clients_without_a_token_shut_nobody_out(self):
        held = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(192)]
        try:
            self.assertEqual(self.ask("GET", "/auth/session")[0].status, 200)
            time.sleep(0.5)  # What comes from now on is not among those that have just come.
            held += [socket.create_connection(("127.0.0.1", self.port)) for _ in range(8)]
            self.assertEqual(self.ask("GET", "/auth/session")[0].status, 200)
            self.assertLessEqual(self.open_of(held), 16)
        finally:
            for client in held:
                client.close()

    @staticmethod
    def open_of(clients):
        """How many of these, which have sent nothing, the server has not closed."""
        def is_open(client):
            client.settimeout(0.01)
            try:
                return client.recv(1) != b""
            except TimeoutError:
                return True
            except OSError:
                return False
        return sum(is_open(client) for client in clients)

    def test_a_connection_too_many_is_told_so(self):
        head = b"GET /auth/session HTTP/1.1\r\n" + self.host() + b"\r\n"
        held = []
        for _ in range(128):
            held.append(socket.create_connection(("127.0.0.1", self.port), timeout=10))
            held[-1].sendall(head)
            self.assertTrue(held[-1].recv(4096).startswith(b"HTTP/1.1 200 "))
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as client:
                self.assertTrue(self.read_all(client).startswith(b"HTTP/1.1 503 "))
        finally:
            for client in held:
                client.close()
        for _ in range(100):  # Until the server has seen that they have gone.
            try:
                if self.ask("GET", "/auth/session")[0].status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        self.fail("the server takes no connections any more")


class Links(HttpServerTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def exchange(self, link, headers=None):
        code = link.partition(CODE)[2]
        return self.ask(
            "POST", "/auth/session", {"code": code}, headers or self.origin, token=False
        )[0]

    def test_a_link_gives_a_secret_once(self):
        code = self.told["link"].partition(CODE)[2]
        response, text = self.ask("POST", "/auth/session", {"code": code}, self.origin, token=False)
        self.assertEqual(response.status, 200)
        self.assertIsNone(response.getheader("set-cookie"))
        told = json.loads(text)
        self.assertEqual(told["expires_in_s"], 12 * 3600)
        self.assertEqual(self.exchange(self.told["link"]).status, 401)
        page = {"Authorization": f"Bearer {told['secret']}"}
        told, text = self.ask("GET", "/auth/session", headers=page, token=False)
        self.assertEqual((told.status, json.loads(text)["port"]), (200, self.port))
        write = ("POST", "/auth/link", {})
        self.assertEqual(self.ask(*write, headers=page, token=False)[0].status, 200)
        foreign = {**page, "Origin": "http://127.0.0.1:1"}
        self.assertEqual(self.ask(*write, headers=foreign, token=False)[0].status, 403)
        self.assertEqual(
            self.ask("DELETE", "/auth/session", headers=page, token=False)[0].status, 204
        )
        gone, _ = self.ask("GET", "/auth/session", headers=page, token=False)
        self.assertEqual(gone.status, 401)

    def test_a_code_is_taken_from_a_page_only(self):
        self.assertEqual(self.exchange(self.told["link"], {"X": "y"}).status, 403)

    def test_a_second_serve_prints_another_link_to_the_first(self):
        told = json.loads(self.run_tool("--json", "serve"))
        self.assertEqual((told["pid"], told["port"]), (self.process.pid, self.port))
        self.assertNotEqual(told["link"], self.told["link"])
        self.assertEqual(self.exchange(told["link"]).status, 200)

    def test_an_agents_shell_gets_no_link(self):
        self.environment["CLAUDECODE"] = "1"
        for words in (("serve",), ("--json", "serve"), ("--json", "serve", "--print-token")):
            done = subprocess.run([str(TOOL), *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertNotIn("code=", done.stdout + done.stderr)
            if "--json" not in words:
                self.assertIn("$CLAUDECODE says that an agent runs this, and the link is for the user alone", done.stderr)
        self.process.terminate()
        self.process.wait()
        script = self.folder / "browser"
        script.write_text('#!/bin/sh\nmv "${1#file://}" seen\n')
        script.chmod(0o755)
        self.environment["BROWSER"] = str(script)
        self.serve("--open")
        self.assertNotIn("link", self.told)
        for _ in range(200):
            if (self.folder / "seen").exists():
                break
            time.sleep(0.02)
        link = re.search('href="([^"]*)"', (self.folder / "seen").read_text()).group(1)
        self.assertEqual(self.exchange(link).status, 200)

    def test_a_second_serve_says_what_it_cannot_have(self):
        for option in ("--read-only", "--port=1"):
            done = subprocess.run(
                [str(TOOL), "serve", option],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"process {self.process.pid} serves this memory already", done.stderr)
            self.assertIn(f"leave {option.partition('=')[0]} out", done.stderr)
        told = json.loads(self.run_tool("--json", "serve", "--print-token", f"--port={self.port}"))
        self.assertEqual(told["token"], self.token)

    def test_serving_again_right_after_the_end_works(self):
        for _ in range(3):
            self.process.terminate()
            ended = self.process
            self.serve()
            ended.wait()
            self.assertEqual(self.ask("GET", "/auth/session")[0].status, 200)

    def test_the_token_is_for_its_user_alone(self):
        token_file = pathlib.Path(self.told["token_file"])
        self.assertEqual(token_file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(token_file.parent.stat().st_mode & 0o777, 0o700)
        arguments = pathlib.Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        self.assertNotIn(self.token.encode(), arguments)

    def test_a_token_that_others_could_read_is_no_model_for_the_next(self):
        token_file = pathlib.Path(self.told["token_file"])
        elsewhere = self.folder / "elsewhere"
        self.process.kill()
        self.process.wait()
        token_file.rename(elsewhere)
        elsewhere.chmod(0o644)
        token_file.symlink_to(elsewhere)
        before = elsewhere.read_text()
        self.serve()
        self.assertFalse(token_file.is_symlink())
        self.assertEqual(token_file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(elsewhere.read_text(), before)

    def test_a_server_that_was_killed_leaves_nothing_in_the_way(self):
        self.process.kill()
        self.process.wait()
        first = self.port
        self.serve()
        self.assertNotEqual(self.ask("GET", "/auth/session")[0].status, 401)
        self.assertIsInstance(first, int)

    def test_a_browser_gets_the_link_in_no_argument(self):
        script = self.folder / "browser"
        script.write_text('#!/bin/sh\necho "$@" >seen.tmp; mv seen.tmp seen\n')
        script.chmod(0o755)
        self.process.terminate()
        self.process.wait()
        self.environment["BROWSER"] = str(script)
        self.serve("--open")
        self.check_opened(self.told["link"])
        (self.folder / "seen").unlink()
        self.check_opened(json.loads(self.run_tool("--json", "serve", "--open"))["link"])

    def check_opened(self, link):
        for _ in range(200):
            if (self.folder / "seen").exists():
                break
            time.sleep(0.02)
        seen = (self.folder / "seen").read_text().strip()
        self.assertNotIn(CODE, seen)
        page = pathlib.Path(seen.removeprefix("file://"))
        self.assertEqual(page.stat().st_mode & 0o777, 0o600)
        self.assertIn(link, page.read_text())


class Ending(HttpServerTest):
    def test_a_taken_port_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = subprocess.run(
                [str(TOOL), "serve", "--port", str(port)],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"port {port} is taken", done.stderr)

    def test_a_folder_that_others_can_read_gets_no_token(self):
        folder = self.folder / "bmad-mem"
        folder.mkdir()
        folder.chmod(0o755)
        process = subprocess.Popen(
            [str(TOOL), "--json", "serve", "--print-token"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.leave, process)
        told = json.loads(process.stdout.readline())
        self.assertNotIn("token_file", told)
        self.port = told["port"]
        self.authorized = {"Authorization": f"Bearer {told['token']}"}
        self.assertEqual(self.ask("GET", "/auth/session")[0].status, 200)
        self.assertEqual(list(folder.iterdir()), [])

    def test_it_ends_at_once_while_streams_are_open(self):
        self.serve()
        streams = [Stream(self, "/memory/events") for _ in range(20)]
        for stream in streams:
            stream.block()
        for number in (signal.SIGTERM, signal.SIGINT):
            self.process.send_signal(number)
            self.assertEqual(self.process.wait(timeout=10), 0)
            self.assertEqual([], list(self.folder.glob("bmad-mem/*.token")))
            self.serve()

    def test_it_indexes_what_was_written_while_nobody_asks(self):
        self.serve()
        for number in range(5):  # Together more than 256 KiB.
            body = {"type": "fact", "content": f"word{number} " * 9_000}
            self.assertEqual(self.ask("POST", "/memory/record", body)[0].status, 201)
        current = self.folder / ".bmad" / "memory" / "index" / "CURRENT"
        end = time.monotonic() + TIMEOUT_S
        while not current.exists() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(current.exists())

    def test_the_sample_is_served_and_removed(self):
        self.serve("--sample")
        root = pathlib.Path(self.told["root"])
        self.assertFalse(root.is_relative_to(self.folder))
        self.assertEqual(json.loads(self.ask("GET", "/memory/stats")[1])["sessions"], 4)
        self.assertEqual(json.loads(self.ask("GET", "/memory/verify")[1])["findings"], [])
        self.process.terminate()
        self.process.wait(TIMEOUT_S)
        self.assertFalse(root.parents[1].exists())

    def test_read_only_writes_nothing(self):
        self.serve("--read-only")
        body = {"type": "decision", "decision": "x"}
        self.assertEqual(self.ask("POST", "/memory/record", body)[0].status, 403)
        switch = {"key": "context.inject", "value": False}
        self.assertEqual(self.ask("PATCH", "/memory/settings", switch)[0].status, 403)
        self.assertEqual(self.run_tool("config", "get", "context.inject").strip(), "true")


if __name__ == "__main__":
    main()
