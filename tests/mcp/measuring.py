"""What measurements share: texts that are the same each time, and an MCP server on stdio."""

import json
import os
import random
import subprocess
import sys
import time

SEED = 20261122
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {},
         "clientInfo": {"name": "measure", "version": "1"}}


class Texts:
    """Sentences of words that are as unevenly frequent as words are."""

    def __init__(self):
        self.random = random.Random(SEED)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.random.choices(letters, k=self.random.randint(3, 9)))
                      for _ in range(8000)]
        self.weights = [1 / (i + 1) for i in range(len(self.words))]

    def sentence(self):
        return " ".join(self.random.choices(self.words, self.weights, k=14))

    def query(self):
        return " ".join(self.random.choices(self.words[20:2000], k=2))


class Server:
    def __init__(self, command, folder, **environment):
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment})
        self.number = 0

    def ask(self, method, **params):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                break
        if "error" in answer or answer["result"].get("isError"):
            sys.exit(f"{method} failed: {json.dumps(answer)[:500]}")
        return answer["result"]

    def call(self, tool, **arguments):
        begin = time.perf_counter()
        self.ask("tools/call", name=tool, arguments=arguments)
        return (time.perf_counter() - begin) * 1000

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
