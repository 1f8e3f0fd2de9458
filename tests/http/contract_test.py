#!/usr/bin/env python3
"""Every endpoint does what /openapi.json says it does, asked of a real server.

Each answer is validated against the schema of its operation and status. An operation that no call
reaches fails the test: whoever adds an endpoint adds a call here.
"""

import hashlib
import http.client
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tool_under_test import TIMEOUT_S, TOOL, ToolTest, main  # noqa: E402

JSON = "application/json"
SCRIPT = "<script>alert(1)</script>"
# Not of the table of endpoints: what holds for all of those need not hold for these.
OUTSIDE = {"/mcp", "/auth/session", "/auth/link", "/memory/events", "/openapi.json"}
# What anybody may rebuild, and locks.
DERIVED = re.compile(r"(^|/)(\.lock[^/]*|index\.json|catalog\.json)$")

# What stands for {names} of paths in good calls.
IN_PATHS = {"session_id": "s1", "id": "dec-1"}


class Server:
    """`bmad-mem serve` of a memory, and requests to it."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(
            [TOOL, "--json", "serve"],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.about = json.loads(self.process.stdout.readline())
        self.token = pathlib.Path(self.about["token_file"]).read_text(encoding="ascii").strip()

    def stop(self):
        self.process.terminate()
        self.process.wait(TIMEOUT_S)
        self.process.stdout.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.about["port"], timeout=TIMEOUT_S)

    def ask(self, method, target, body=None, **more):
        """Status, headers by lower-case name, and the body: JSON where it is, else bytes."""
        connection = self.connect()
        headers = {"Authorization": f"Bearer {self.token}", **more}
        data = None
        if method in ("POST", "PATCH"):
            headers["Content-Type"] = JSON
            data = b""
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, target, data, headers)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        content = response.read()
        connection.close()
        if found.get("content-type") == JSON and "content-disposition" not in found:
            content = json.loads(content)
        return response.status, found, content


class ApiTest(ToolTest):
    """A memory with something of everything, and its server."""

    def setUp(self):
        super().setUp()
        self.root = self.folder / ".bmad" / "memory"
        self.run_tool("init")
        for session in ("s1", "s2", "closed"):
            self.run_tool("session", "new", "--id", session)
        self.add("s1", "conversation", {"id": "msg-1", "role": "user", "content": f"Why {SCRIPT}?",
                                        "context": {"topic": "storage"}})
        self.add("s1", "decision", {"id": "dec-1", "decision": "Use PostgreSQL", "made_by": "ann",
                                    "tags": ["db"], "topic": "storage",
                                    "references": {"conversations": ["msg-1"]}})
        self.run_tool("add", "--replace", "decision", "--session", "s1", "--id", "dec-1",
                      "Use PostgreSQL 17")
        self.add("s1", "fact", {"id": "fact-1", "content": "The pool has 20 places"})
        self.add("s1", "fact", {"id": "fact-2", "content": "The pool has 30 places"})
        self.add("s2", "finding", {"id": "finding-1", "description": "No connection pool"})
        (self.folder / "note.md").write_text("A note\n", encoding="utf-8")
        self.artifact = self.run_tool("artifact", "add", "--session", "s1", "note.md").strip()
        self.server = Server(self.folder, self.environment)
        self.addCleanup(self.server.stop)
        self.document = self.server.ask("GET", "/openapi.json")[2]

    def add(self, session, kind, entry):
        self.run_tool("add", kind, json.dumps(entry), "--session", session)

    def ask(self, method, target, body=None, status=200):
        answer = self.server.ask(method, target, body)
        self.assertEqual(answer[0], status, f"{method} {target} {body}: {answer[2]}")
        return answer[2]


def operations(document):
    """(method, template, operation) of all."""
    for template, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), template, operation


class Contract(ApiTest):
    def setUp(self):
        super().setUp()
        self.called = set()

    def template_of(self, path):
        """The path of the document that `path` is one of; those without parameters first."""
        for template in sorted(self.document["paths"], key=lambda each: each.count("{")):
            if re.fullmatch(re.sub(r"\{[a-z_]+\}", "[^/]+", template), path):
                return template
        raise AssertionError(f"the document has no path for {path}")

    def validate(self, value, schema):
        jsonschema.Draft202012Validator(
            {**schema, "components": self.document["components"]},
            format_checker=jsonschema.FormatChecker(),
        ).validate(value)

    def resolved(self, value):
        reference = value.get("$ref")
        if reference is None:
            return value
        found = self.document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        return found

    def call(self, method, target, body=None, status=None, **headers):
        """Asks, and checks the answer against the document; gives its body."""
        operation = self.document["paths"][self.template_of(target.split("?")[0])][method.lower()]
        good = next(iter(operation["responses"]))
        found, headers, content = self.server.ask(method, target, body, **headers)
        self.assertEqual(found, int(good) if status is None else status,
                         f"{method} {target} {body}: {content}")
        described = self.resolved(operation["responses"].get(str(found),
                                                             operation["responses"]["default"]))
        if "content" in described:
            media = described["content"]
            self.assertIn(headers["content-type"], media, target)
            if not isinstance(content, bytes):
                self.validate(content, media[headers["content-type"]]["schema"])
        else:
            self.assertEqual(content, b"")
        if status is None:
            self.called.add((method, self.template_of(target.split("?")[0])))
        return content

    def test_every_operation_does_what_the_document_says(self):
        self.read_everything()
        self.write_entries()
        self.change_sessions()
        self.learn()
        self.care()
        self.use_other_doors()
        wanted = {(method, path) for method, path, _ in operations(self.document)}
        self.assertEqual(wanted - self.called, set(), "no call reaches these")

    def read_everything(self):
        call = self.call
        filters = ("type=decisions&type=facts&session_id=s1&session_id=s2&since=7d&until=today"
                   "&pinned=false&sensitive=1&archived=0")
        self.assertEqual(call("GET", "/memory/search?q=postgresql&explain=true")["hits"][0]["id"],
                         "dec-1")
        call("GET", f"/memory/search?q=pool&k=3&sort=oldest&min_score=0.01&{filters}")
        self.assertEqual(len(call("GET", "/memory/search?tag=nothing")["hits"]), 0)
        self.assertEqual(len(call("GET", "/memory/search?topic=storage")["hits"]), 1)
        call("GET", f"/memory/entries?{filters}&limit=3&agent=ann&tag=db")
        call("GET", f"/memory/topics?{filters}")
        call("GET", f"/memory/timeline?unit=hour&{filters}")
        call("GET", "/memory/record/dec-1")
        self.assertEqual(len(call("GET", "/memory/record/dec-1/history?session_id=s1")["versions"]),
                         2)
        call("GET", "/memory/record/fact-1/related?limit=5")
        call("GET", "/memory/sessions")
        call("GET", "/memory/sessions/s1")
        call("GET", "/memory/sessions/s1/timeline?limit=2&type=fact&since=1h")
        call("GET", "/memory/sessions/s1/summary")
        self.assertEqual(call("GET", f"/memory/sessions/s1/artifacts/{self.artifact}"), b"A note\n")
        call("GET", "/memory/knowledge?category=project_fact&category=style&min_confidence=0")
        call("GET", "/memory/context?agent=ann&task=pool&max_tokens=200")
        graph = call("GET", "/memory/graph")
        # A newer version names nothing any more, so that nothing links the message.
        self.assertIn("e:s1/dec-1", {node["id"] for node in graph["nodes"]})
        call("GET", "/memory/stats")
        call("GET", "/memory/decay?session_id=s1&as_of=2027-01-01")
        call("GET", "/memory/settings")
        call("GET", "/memory/health")
        self.assertIn("no client is connected", [each["text"] for each in call("GET", "/memory/doctor")["checks"]])
        call("GET", "/memory/verify?session_id=s1")
        call("GET", "/memory/audit?limit=5")
        for path in ("search?q=pool&", "entries?", "topics?", "timeline?", "record/dec-1?",
                     "context?task=pool&"):
            self.assertIn("as_of", call("GET", f"/memory/{path}as_of=now"))
        call("GET", "/memory/export?as_of=2020-01-01")
        for name in ("jsonl", "json", "yaml", "markdown", "csv"):
            call("GET", f"/memory/export?format={name}&session_id=s1&type=facts&since=7d")

    def write_entries(self):
        call = self.call
        switched = call("PATCH", "/memory/settings", {"key": "context.inject", "value": True})
        self.assertEqual(switched["settings"]["memory_config"]["set_on_purpose"], ["context.inject"])
        self.assertFalse(call("PATCH", "/memory/settings", {"key": "context.inject", "value": False})
                         ["settings"]["memory_config"]["context"]["inject"])
        call("POST", "/memory/record", {"type": "prompt", "session_id": "s1", "content": "Hi"})
        call("POST", "/memory/record", {"type": "fact", "id": "mine", "content": "x", "mine": [1.0],
                                        "session_id": "new"})
        call("POST", "/memory/records", {"type": "event", "session_id": "s1",
                                         "entries": [{"kind": "a"}, {"kind": "b"}]})
        entry = call("PATCH", "/memory/record/mine", {"content": "y", "tags": ["t"]})["entry"]
        self.assertEqual((entry["versions"], entry["fields"]["mine"]), (2, [1.0]))
        call("POST", "/memory/pin", {"ids": ["mine", "nothing"]})
        call("POST", "/memory/link", {"from": "mine", "relation": "supersedes", "to": "dec-1"})
        linked = call("GET", "/memory/record/mine")["entries"][0]["linked"]
        self.assertEqual([link["relation"] for link in linked], ["supersedes"])
        related = call("GET", "/memory/record/mine/related?depth=2")["related"][0]
        self.assertEqual((related["relation"], related["via"]), ("supersedes", "mine"))
        call("GET", "/memory/graph")
        call("POST", "/memory/link",
             {"from": "mine", "relation": "supersedes", "to": "dec-1", "remove": True})
        call("DELETE", "/memory/record/mine?dry_run=true")
        call("DELETE", "/memory/record/mine")
        call("POST", "/memory/undelete", {"ids": ["mine"]})
        call("DELETE", "/memory/record/mine?purge=true&session_id=new")

    def change_sessions(self):
        call = self.call
        call("POST", "/memory/sessions", {"session_id": "made", "tags": ["t"]})
        call("POST", "/memory/sessions", {})
        named = call("PATCH", "/memory/sessions/made", {"title": "Night boats", "metadata": {"ticket": "NB-12", "n": [1]}})
        self.assertEqual((named["session"]["title"], named["session"]["metadata"]),
                         ("Night boats", {"ticket": "NB-12", "n": [1]}))
        call("PATCH", "/memory/sessions/made", {"metadata": {"tags": "t"}}, status=400)
        call("POST", "/memory/sessions/made/close")
        would = call("POST", "/memory/sessions/made/archive", {"dry_run": True})
        self.assertEqual(call("GET", "/memory/sessions")["archived"], [])
        done = call("POST", "/memory/sessions/made/archive", {})
        self.assertEqual((would["kept"], would["path"]), (done["kept"], done["path"]))
        self.assertEqual(call("GET", "/memory/sessions")["archived"][0]["session_id"], "made")
        call("POST", "/memory/sessions/made/restore", {})
        call("DELETE", "/memory/sessions/made")
        call("GET", "/memory/health")
        call("POST", "/memory/undelete", {"sessions": ["made"]})

    def learn(self):
        call = self.call
        call("POST", "/memory/knowledge", {"category": "style", "key": "indent", "value": "tabs"})
        call("POST", "/memory/knowledge", {"category": "style", "key": "indent", "value": "blanks",
                                           "confidence": 0.9, "agent_id": "ann", "tags": ["t"]})
        call("GET", "/memory/knowledge?contradicted=true")
        self.add("s2", "conversation", {"role": "user", "content": "I always prefer short names."})
        learned = call("POST", "/memory/summarize?session_id=s2")["learned"]
        call("POST", "/memory/summarize?session_id=s2", {"dry_run": True})
        call("GET", "/memory/knowledge?candidates=true")
        call("POST", "/memory/knowledge/review", {"ids": [learned[0]["id"]], "review": "accepted"}, status=403)
        call("POST", "/memory/knowledge/review", {"ids": [learned[0]["id"]], "review": "dropped"})

    def care(self):
        call = self.call
        call("POST", "/memory/compact")
        call("POST", "/memory/compact", {"session_id": "s1", "dry_run": False, "keep_share": 0.9})
        call("POST", "/memory/purge", {"all": True})
        call("POST", "/memory/purge", {"all": True, "dry_run": False})
        call("POST", "/memory/maintain")
        call("POST", "/memory/maintain", {"dry_run": False})
        self.assertGreater(len(call("GET", "/memory/audit?action=compact&action=purge")["records"]),
                           1)

    def use_other_doors(self):
        self.call("GET", "/openapi.json")
        self.call("GET", "/auth/session")
        origin = {"Origin": self.server.about["url"]}
        link = self.call("POST", "/auth/link", {})["url"]
        code = {"code": link.split("#code=")[1]}
        self.call("POST", "/auth/session", code, **origin)
        self.call("POST", "/auth/session", code, status=401, **origin)  # It works once.
        self.call("DELETE", "/auth/session", **origin)
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                 "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": {"name": "test", "version": "1"}}}
        answer = self.call("POST", "/mcp", hello, Accept="application/json, text/event-stream")
        self.assertEqual(answer["id"], 1)
        self.call("GET", "/memory/events?zz_unknown=1", status=400)
        self.call("GET", "/memory/events?type=zz", status=400)
        self.hear_an_event()

    def hear_an_event(self):
        connection = self.server.connect()
        connection.request("GET", "/memory/events?type=facts&session_id=s2",
                           headers={"Authorization": f"Bearer {self.server.token}"})
        stream = connection.getresponse()
        described = self.document["paths"]["/memory/events"]["get"]["responses"]["200"]
        self.assertEqual(stream.status, 200)
        self.assertIn(stream.getheader("content-type"), described["content"])
        self.add("s2", "fact", {"id": "fact-heard", "content": "Heard"})
        for line in stream:
            if line.startswith(b"data: {\"session_id\""):
                event = json.loads(line.removeprefix(b"data: "))
                break
        connection.close()
        self.validate(event, {"$ref": "#/components/schemas/Event"})
        self.assertEqual(event["id"], "fact-heard")
        self.called.add(("GET", "/memory/events"))

    def test_what_no_operation_takes_is_refused_by_name(self):
        for method, template, operation in operations(self.document):
            if template in OUTSIDE:
                continue
            path = template.format(**IN_PATHS)
            with self.subTest(operation["operationId"]):
                refused = self.call(method, f"{path}?zz_unknown=1", status=400)
                self.assertEqual(refused["error"]["field"], "zz_unknown")
                self.refuse_parameters(method, path, operation)
                self.refuse_bodies(method, path, operation)

    def required_of(self, operation):
        return "&".join(f"{each['name']}=s1" for each in operation["parameters"]
                        if each["in"] == "query" and each["required"])

    def refuse_parameters(self, method, path, operation):
        for parameter in operation["parameters"]:
            if parameter["in"] != "query":
                continue
            schema = self.resolved(parameter["schema"])
            schema = self.resolved(schema.get("items", schema))
            bad = ["" if schema.get("minLength") else None]
            if schema["type"] in ("integer", "number", "boolean") or "enum" in schema:
                bad = ["", "zz", "1e9"]
            if schema["type"] == "integer":
                bad += [str(schema["minimum"] - 1), str(schema["maximum"] + 1), "1.5"]
            for value in bad:
                if value is not None:
                    refused = self.call(method, f"{path}?{parameter['name']}={value}", status=400)
                    self.assertEqual(refused["error"]["field"], parameter["name"])

    def refuse_bodies(self, method, path, operation):
        if "requestBody" not in operation:
            return
        target = f"{path}?{self.required_of(operation)}".rstrip("?")
        for body in ([], "text", b"{", b'{"a":1,"a":2}', b"\xff"):
            self.call(method, target, body, status=400)
        schema = self.resolved(operation["requestBody"]["content"][JSON]["schema"])
        if operation["requestBody"]["required"]:
            self.call(method, target, {}, status=400)
        if schema.get("additionalProperties") is False:
            refused = self.call(method, target, {"zz_unknown": 1}, status=400)
            self.assertEqual(refused["error"]["field"], "zz_unknown")
            for name, member in schema["properties"].items():
                if member.get("type") != "object":  # Metadata takes anything.
                    self.call(method, target, {name: {"zz": []}}, status=400)

    def test_what_is_not_there_is_not_found(self):
        bodies = {"/memory/record/{id}": {"content": "x"}, "/memory/sessions/{session_id}": {"title": "x"}}
        for method, template, operation in operations(self.document):
            if template in OUTSIDE or "{" not in template:
                continue
            with self.subTest(operation["operationId"]):
                for name in re.findall(r"\{([a-z_]+)\}", template):
                    path = template.format(**{**IN_PATHS, name: "nothing"})
                    self.call(method, path, bodies.get(template) if method == "PATCH" else None, status=404)
        self.call("POST", "/memory/summarize?session_id=nothing", status=404)
        self.call("POST", "/memory/compact", {"session_id": "nothing"}, status=404)
        self.call("POST", "/memory/pin", {"id": "nothing"}, status=404)
        self.call("POST", "/memory/undelete", {"ids": ["nothing"]}, status=404)
        for path in ("search", "entries", "export", "graph", "decay", "verify", "knowledge"):
            self.call("GET", f"/memory/{path}?session_id=nothing", status=404)

    def test_a_path_takes_the_methods_that_the_document_names(self):
        for template, methods in self.document["paths"].items():
            if template in OUTSIDE:
                continue
            allowed = {method.upper() for method in methods}
            path = template.format(**IN_PATHS)
            for method in {"GET", "POST", "PATCH", "DELETE"} - allowed:
                with self.subTest(f"{method} {template}"):
                    status, headers, content = self.server.ask(method, path)
                    self.assertEqual((status, content["error"]["code"]),
                                     (405, "method_not_allowed"))
                    self.assertEqual(set(headers["allow"].split(", ")) - {"HEAD"}, allowed)

    def test_the_document_is_sound(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        self.assertTrue(self.document["info"]["title"] and self.document["info"]["version"])
        ids = [operation["operationId"] for _, _, operation in operations(self.document)]
        self.assertEqual(len(ids), len(set(ids)))
        used = set(re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(self.document)))
        # Only the text of the description names it: events are no JSON bodies.
        self.assertEqual(set(self.document["components"]["schemas"]) - used - {"Event"}, set())
        for reference in re.findall(r'"\$ref": "([^"]+)"', json.dumps(self.document)):
            self.assertTrue(self.resolved({"$ref": reference}))
        for schema in self.document["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        for method, template, operation in operations(self.document):
            with self.subTest(operation["operationId"]):
                self.assertTrue(operation["summary"].endswith("."))
                self.assertIn("default", operation["responses"])
                declared = {each["name"] for each in operation.get("parameters", [])
                            if each["in"] == "path"}
                self.assertEqual(declared, set(re.findall(r"\{([a-z_]+)\}", template)))
                self.assertNotIn("requestBody", operation if method == "GET" else {})


class BesideOthers(ApiTest):
    def hashes(self):
        return {
            str(path.relative_to(self.root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not DERIVED.search(str(path.relative_to(self.root)))
        }

    def test_reading_changes_nothing(self):
        before = self.hashes()
        self.assertIn("sessions/s1/decisions.jsonl", before)
        for method, template, operation in operations(self.document):
            if method == "GET" and template not in OUTSIDE:
                with self.subTest(operation["operationId"]):
                    values = {**IN_PATHS}
                    if "artifacts" in template:
                        values["id"] = self.artifact
                    self.ask("GET", template.format(**values))
        self.ask("GET", "/memory/search?q=pool&explain=true")
        for target in ("/memory/compact", "/memory/purge", "/memory/maintain"):
            self.ask("POST", target)  # A dry run, unless it is told otherwise.
        self.ask("DELETE", "/memory/record/dec-1?dry_run=true")
        self.assertEqual(self.hashes(), before)

    def test_the_server_and_the_tool_see_what_the_other_writes(self):
        for number in range(20):
            self.add("s2", "fact", {"id": f"fact-tool-{number}", "content": f"tool {number}"})
            self.ask("GET", f"/memory/record/fact-tool-{number}?session_id=s2")
            found = self.ask("GET", f"/memory/search?q=%22tool+{number}%22&session_id=s2")
            self.assertEqual([hit["id"] for hit in found["hits"]], [f"fact-tool-{number}"])
            body = {"type": "fact", "session_id": "s2", "content": f"server {number}"}
            made = self.ask("POST", "/memory/record", body, 201)
            self.assertIn(f"server {number}", self.run_tool("get", made["id"]))
        self.run_tool("verify")

    def test_both_write_one_session_at_once(self):
        lines = "".join(json.dumps({"id": f"fact-batch-{n}", "content": f"batch {n}"}) + "\n"
                        for n in range(200))
        process = subprocess.Popen([TOOL, "add", "fact", "-", "--session", "s2"], cwd=self.folder,
                                   env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        process.stdin.write(lines)
        process.stdin.close()
        made = [self.ask("POST", "/memory/record",
                         {"type": "fact", "session_id": "s2", "content": f"mine {n}"}, 201)["id"]
                for n in range(50)]
        self.assertEqual(process.wait(TIMEOUT_S), 0)
        entries = self.ask("GET", "/memory/entries?session_id=s2&type=fact&limit=1000")["entries"]
        self.assertEqual({entry["id"] for entry in entries},
                         {*made, *(f"fact-batch-{n}" for n in range(200))})
        self.run_tool("verify")

    def test_markup_comes_back_as_text(self):
        _, headers, content = self.server.ask("GET", "/memory/record/msg-1")
        self.assertEqual(headers["content-type"], JSON)
        self.assertEqual(content["entries"][0]["fields"]["content"], f"Why {SCRIPT}?")
        hits = self.ask("GET", "/memory/search?" + urllib.parse.urlencode({"q": "script"}))["hits"]
        self.assertIn(SCRIPT, hits[0]["snippet"])

    def test_an_export_is_that_of_the_tool(self):
        cases = {
            "": (),
            "format=csv": ("--format", "csv"),
            "session_id=s1&type=fact&type=decision": ("--session", "s1", "--type", "fact",
                                                      "--type", "decision"),
            "format=markdown&session_id=s1&versions=true": ("--format", "markdown", "--session",
                                                            "s1", "--all-versions"),
        }
        for query, options in cases.items():
            with self.subTest(query):
                status, headers, content = self.server.ask("GET", f"/memory/export?{query}")
                self.assertEqual((status, headers["transfer-encoding"]), (200, "chunked"))
                self.assertIn("attachment", headers["content-disposition"])
                told = subprocess.run([TOOL, "export", *options], cwd=self.folder,
                                      env=self.environment, capture_output=True, check=True).stdout
                self.assertEqual(content, told)


if __name__ == "__main__":
    main()
