#!/usr/bin/env python3
"""An encoder for tests: a program that speaks the protocol of docs/encoder.md, or a server.

A text is the sum of its words, each a direction of 64 numbers that a hash of the word chooses. Words of
one line of SYNONYMS count as the same, and stop words not at all: so texts that share no word can be near.

Usage: toy_encoder.py [MODE]             texts on stdin, vectors on stdout
       toy_encoder.py --serve [MODE]     the same over HTTP; prints the port, and ends with its stdin

MODE is what goes wrong: see MODES. "hang-FILE" hangs while FILE is there; "log-FILE" adds a line to
FILE for each batch: how many texts it had.
"""

import hashlib
import http.server
import json
import math
import os
import re
import sys
import threading
import time

DIMENSION = 64
SYNONYMS = [
    "car automobile vehicle",
    "buy purchase bought acquire",
    "doctor physician",
    "boat ship vessel",
    "fast quick rapid",
    "house home dwelling",
    "error failure fault",
    "begin start commence",
    "database postgres store",
    "lawyer attorney",
]
STOP = set("a an and are at did do does for had has have i in is it my of on that the to was what when where who will with you".split())
FIRST = {word: line.split()[0] for line in SYNONYMS for word in line.split()}
MODES = {
    "ok": "nothing",
    "hang": "no answer ever comes",
    "garbage": "bytes that are no JSON",
    "cut": "the answer stops in the middle",
    "count": "a vector is missing",
    "nan": "a value is NaN",
    "ragged": "vectors of different sizes",
    "zeros": "all numbers are 0",
    "huge": "an answer without an end",
    "exit": "status 1, or 500",
    "html": "a page, or a page with status 200",
    "redirect": "status 302",
    "other": "32 numbers instead of 64",
    "chunked": "nothing: the answer has no length, but chunks",
    "extension": "a chunk whose first line has no end",
    "trailer": "lines without an end behind the chunks",
    "drip": "a byte every 50 ms",
}


def direction(word, dimension):
    bits = hashlib.shake_128(word.encode()).digest(dimension)
    return [byte / 127.5 - 1 for byte in bits]


def vector(text, dimension=DIMENSION):
    total = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()):
        word = word if len(word) < 4 else word.removesuffix("s")
        if word not in STOP:
            total = [a + b for a, b in zip(total, direction(FIRST.get(word, word), dimension))]
    length = math.sqrt(sum(each * each for each in total)) or 1
    return [round(each / length, 6) for each in total]


def vectors(texts, mode):
    made = [vector(text, 32 if mode == "other" else DIMENSION) for text in texts]
    if mode == "count":
        made.pop()
    elif mode == "nan":
        made[0][3] = math.nan
    elif mode == "ragged":
        made[0].append(0.5)
    elif mode == "zeros":
        made = [[0.0] * DIMENSION for _ in made]
    return made


def effects(mode, texts):
    """What a mode does before it answers; the mode that is left."""
    if mode == "hang":
        time.sleep(3600)
    if mode.startswith("hang-"):
        while os.path.exists(mode.removeprefix("hang-")):
            time.sleep(0.02)
        return "ok"
    if mode.startswith("log-"):
        with open(mode.removeprefix("log-"), "a", encoding="utf-8") as log:
            log.write(f"{len(texts)}\n")
        return "ok"
    return mode


def run(mode):
    texts = [json.loads(line)["text"] for line in sys.stdin]
    mode = effects(mode, texts)
    if mode == "exit":
        sys.exit("toy: there is no model")
    if mode == "huge":
        while True:
            print('{"vector":[' + "1," * 10000)
    if mode == "garbage":
        print("\x00\x01 no JSON {{{")
    elif mode == "html":
        print("<html><body>hello</body></html>")
    else:
        answer = "".join(json.dumps({"vector": each}) + "\n" for each in vectors(texts, mode))
        sys.stdout.write(answer[: len(answer) // 2] if mode == "cut" else answer)


class Handler(http.server.BaseHTTPRequestHandler):
    mode = "ok"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + (100 if self.mode == "cut" else 0)))
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        mode = effects(self.mode, question["input"])
        if mode == "exit":
            return self.answer(500, b'{"error":"there is no model"}')
        if mode == "redirect":
            return self.answer(302, b"", Location="http://192.0.2.1/v1/embeddings")
        if mode == "garbage":
            return self.wfile.write(b"\x00\xffno HTTP\r\n\r\n")
        if mode == "html":
            return self.answer(200, b"<html><body>hello</body></html>", "text/html")
        if mode == "huge":
            return self.answer(200, b" " * (17 << 20))
        made = vectors(question["input"], mode)
        data = [{"object": "embedding", "index": i, "embedding": each} for i, each in enumerate(made)]
        data.reverse()  # The index counts, and not the place.
        body = json.dumps({"object": "list", "data": data, "model": question.get("model", "")}).encode()
        if mode == "chunked":
            return self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        if mode in ("extension", "trailer"):
            begin = b"2;" if mode == "extension" else b"2\r\n{}\r\n0\r\n"
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + begin)
            for _ in range(1 << 11):  # 128 MiB.
                self.wfile.write((b"x" * 62 + b"=1" if mode == "extension" else b"x: " + b"y" * 59 + b"\r\n") * 1024)
            return None
        if mode == "drip":
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(0.05)
        return self.answer(200, body)


def serve(mode):
    Handler.mode = mode
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # Who asked has gone.
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    words = sys.argv[1:]
    is_server = words[:1] == ["--serve"]
    chosen = (words[is_server:] or ["ok"])[0]
    if chosen not in MODES and not chosen.startswith(("hang-", "log-")):
        sys.exit(__doc__ + "\n" + "\n".join(f"{name}: {what}" for name, what in MODES.items()))
    serve(chosen) if is_server else run(chosen)
