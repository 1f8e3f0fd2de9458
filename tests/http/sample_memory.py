#!/usr/bin/env python3
"""Makes a small memory that looks like a project's: four sessions, with fixed ids and times.

    sample_memory.py TOOL FOLDER

For screenshots, and for what the pages are tried on. Candidates, a contradiction, a running summary
and a document are in it, made by the commands that make them elsewhere.
"""

import json
import os
import pathlib
import subprocess
import sys

SESSIONS = {
    "checkout-retries": ("2026-11-16", "architecture_review", ["payments"]),
    "search-slow": ("2026-11-17", "debugging", ["search", "database"]),
    "invoice-pdf": ("2026-11-18", "feature", ["invoices"]),
    "release-2-4": ("2026-11-19", "release", ["release"]),
}


def said(minute, role, text, topic="", **more):
    return minute, "conversation", {"role": role, "content": text, "topic": topic, **more}


def decided(minute, who, decision, why, impact, topic, **more):
    return minute, "decision", {"made_by": who, "decision": decision, "rationale": why, "impact": impact,
                                "topic": topic, **more}


def found(minute, who, what, severity, topic, **more):
    return minute, "finding", {"discovered_by": who, "description": what, "severity": severity, "topic": topic, **more}


def happened(minute, kind, tool, path, content, topic=""):
    return minute, "event", {"kind": kind, "tool": tool, "path": path, "content": content, "agent_id": "dev",
                             "topic": topic}


def known(minute, category, key, text, confidence, who="dev", **more):
    return minute, "fact", {"category": category, "key": key, "content": text, "confidence": confidence,
                            "agent_id": who, **more}


CHECKOUT = [
    said(0, "user", "Some customers are charged twice when the payment page is slow. Please find out why.", "payments"),
    said(1, "assistant", "I will look at how the checkout retries a payment, and at the log of last Friday.", "payments",
         agent_id="dev"),
    happened(3, "tool_use", "grep", "src/checkout/retry.ts", "retryPayment(", "payments"),
    happened(3, "tool_result", "grep", "src/checkout/retry.ts", "12: export async function retryPayment(order, attempt)",
             "payments"),
    happened(6, "tool_use", "read", "logs/checkout-2026-11-13.log", "", "payments"),
    happened(6, "tool_result", "read", "logs/checkout-2026-11-13.log",
             "37 retries after a timeout of 5 s; 9 of them had been accepted by the bank before", "payments"),
    found(14, "dev", "A retry after a timeout sends a new payment, since it carries no idempotency key", "critical",
          "payments", tags=["double-charge"], evidence="9 of 37 retries of 13 November were charged twice",
          recommendation="Send the order's number as the key", references={"conversations": ["{2}", "{6}"]}),
    said(16, "assistant", "The retry carries no idempotency key. With the order's number as the key, the bank would "
         "refuse the second payment.", "payments", agent_id="dev", references={"findings": ["{7}"]}),
    said(20, "user", "Good. We decided to use the order number as idempotency key. Never store card numbers in our "
         "logs, not even in part.", "payments"),
    decided(24, "architect", "Send the order's number as idempotency key with every payment",
            "The bank refuses a second payment with the same key for 24 hours", "high", "payments",
            alternatives_considered=[{"option": "A lock in Redis", "rejected_because": "it is gone after a restart"}],
            tags=["double-charge"], references={"findings": ["{7}"], "conversations": ["{9}"]}),
    happened(35, "tool_use", "edit", "src/checkout/retry.ts", "+ headers['Idempotency-Key'] = order.number", "payments"),
    happened(40, "tool_result", "test", "src/checkout/retry.test.ts", "14 passed", "payments"),
    known(44, "constraint", "card_numbers", "Card numbers never go to a log, not even in part", 1.0, "architect", pinned=True),
    known(45, "pattern", "idempotency", "Every call that moves money carries an idempotency key", 0.95),
    said(50, "assistant", "Done: retries carry the order's number, and a test sends the same payment twice.", "payments",
         agent_id="dev", references={"decisions": ["{10}"]}),
]
SEARCH = [
    said(0, "user", "The product search takes three seconds since yesterday. I prefer short answers with the number "
         "that proves them.", "search"),
    happened(2, "tool_use", "psql", "", "EXPLAIN ANALYZE SELECT … FROM products WHERE name ILIKE '%apple%'", "search"),
    happened(2, "tool_result", "psql", "", "Seq Scan on products (actual time=2870 ms, rows=412000)", "search"),
    found(5, "dev", "The trigram index on products.name is gone: yesterday's migration made the table anew", "high",
          "search", tags=["postgres"], evidence="Seq Scan, 2870 ms", references={"conversations": ["{1}"]}),
    said(6, "assistant", "2870 ms: a sequential scan. Migration 0042 dropped the trigram index.", "search", agent_id="dev",
         references={"findings": ["{4}"]}),
    decided(9, "dev", "Create the trigram index again, concurrently, in migration 0043",
            "Without a lock on the table; takes 40 s on a copy", "medium", "search", tags=["postgres"],
            references={"findings": ["{4}"]}),
    happened(12, "approval", "psql", "migrations/0043_trigram.sql", "allowed by sam", "search"),
    happened(14, "tool_result", "psql", "migrations/0043_trigram.sql", "CREATE INDEX, 38 s", "search"),
    happened(15, "tool_result", "psql", "", "Bitmap Index Scan (actual time=11 ms)", "search"),
    said(16, "assistant", "11 ms, from 2870 ms.", "search", agent_id="dev", references={"decisions": ["{6}"]}),
    said(18, "user", "From now on every migration must list the indexes it drops. Always run EXPLAIN before and after.",
         "search"),
    known(20, "architecture", "database", "PostgreSQL 16 with pg_trgm for the product search", 0.95),
    known(21, "error_solution", "slow_search", "A slow product search: look for a Seq Scan on products first", 0.85),
    known(22, "project_fact", "deploy_window", "Deployments happen on Tuesdays and Thursdays before noon", 0.7, "ops"),
    (23, "preference", {"category": "style", "key": "answers", "value": "Short, with the number that proves it",
                        "confidence": 0.9, "agent_id": "dev"}),
]
INVOICE = [
    said(0, "user", "Customers want their invoices as PDF. I would rather not start a browser for each of them.", "invoices"),
    said(3, "assistant", "Three ways come into question: a browser, a template language for print, or a library that "
         "draws. I will compare them on 100 invoices.", "invoices", agent_id="dev"),
    happened(20, "tool_result", "bench", "bench/invoices.md", "browser 41 s, Typst 2.9 s, drawing 1.8 s", "invoices"),
    found(24, "dev", "Typst makes 100 invoices in 2.9 s, a headless browser needs 41 s", "info", "invoices",
          tags=["performance"], evidence="bench/invoices.md", references={"conversations": ["{2}"]}),
    decided(30, "architect", "Make invoices with Typst", "14 times as fast as a browser, and the template stays readable",
            "medium", "invoices", alternatives_considered=[
                {"option": "Headless browser", "rejected_because": "41 s for 100 invoices"},
                {"option": "Drawing library", "rejected_because": "each change of the layout is code"}],
            references={"findings": ["{4}"]}),
    happened(41, "tool_use", "write", "templates/invoice.typ", "#let invoice(order) = …", "invoices"),
    happened(47, "error", "test", "invoices.test.ts", "expected 19.99, got 19.990000000000002", "invoices"),
    found(50, "dev", "Sums of invoices are computed in floating point; the pennies are wrong for 3 of 1,000 orders", "high",
          "payments", tags=["money"], recommendation="Count in pennies, as whole numbers",
          references={"conversations": ["{7}"]}),
    decided(54, "architect", "Amounts of money are whole numbers of pennies, everywhere", "Floating point lost a penny in "
            "3 of 1,000 orders", "high", "payments", tags=["money"], references={"findings": ["{8}"]}),
    said(60, "assistant", "Amounts are whole numbers now; the 1,000 orders agree to the penny.", "payments", agent_id="dev",
         references={"decisions": ["{9}"]}),
    known(62, "constraint", "money", "Amounts of money are whole numbers of pennies", 1.0, "architect", pinned=True),
    known(63, "architecture", "invoices", "Invoices are made with Typst from templates/invoice.typ", 0.9),
    known(64, "project_fact", "tax_number", "The tax number on invoices is that of the branch in Graz", 0.8, "ops",
          sensitive=True),
    (65, "preference", {"category": "user_preference", "key": "no_browser", "value": "No browser on the server",
                        "confidence": 0.8, "agent_id": "dev"}),
]
RELEASE = [
    said(0, "user", "Let us prepare release 2.4. Which open findings are left?", "release"),
    said(2, "assistant", "None is critical. The double charge, the index and the pennies are done.", "release",
         agent_id="dev"),
    happened(5, "tool_use", "npm", "", "npm test", "release"),
    happened(7, "tool_result", "npm", "", "412 passed, 0 failed, 38 s", "release"),
    found(12, "ops", "The staging database runs version 15, production 16", "medium", "release", tags=["postgres"],
          recommendation="Bring staging to 16 before the release"),
    decided(15, "ops", "Release 2.4 waits until staging runs PostgreSQL 16", "The migration was never tried on 16", "medium",
            "release", tags=["postgres"], references={"findings": ["{5}"]}),
    happened(90, "tool_result", "ansible", "staging.yml", "postgresql-16 installed, 4 databases moved", "release"),
    said(95, "user", "Going forward, ask me before anything touches production. We agreed on Thursdays for releases.",
         "release"),
    known(97, "project_fact", "deploy_window", "Deployments happen on Thursdays only, after the morning's stand-up", 0.85,
          "ops"),
    known(98, "decision", "release_2_4", "2.4 goes out on 26 November", 0.9, "ops"),
    (99, "agent_state", {"agent_id": "dev", "state": {"task": "release 2.4", "left": ["changelog", "tag", "announce"]}}),
    said(100, "assistant", "Staging runs 16 now and all migrations pass. 2.4 can go out on Thursday.", "release",
         agent_id="dev", references={"decisions": ["{6}"]}),
]
SUMMARY = """# Session summary

## Current state
_What is being worked on right now, and the next step._
Done: retries carry the order's number as idempotency key; a test sends the same payment twice.

## Task
_What the user asked for, and what counts as done._
Find out why some customers are charged twice, and stop it.

## Decisions
_What was decided, and why; what was rejected._
- The order's number is the idempotency key: the bank refuses a second payment with it for 24 hours.
- No lock in Redis: it is gone after a restart.

## Files and functions
_Which of them matter, and what they do._
- `src/checkout/retry.ts`, `retryPayment()`

## Errors and corrections
_What went wrong, what helped, what the user corrected, what not to try again._
9 of 37 retries of 13 November were charged twice.

## Open questions
_What is still to be answered or done._
"""
DOCUMENT = """# How a payment is retried

1. The order's number becomes the idempotency key.
2. After 5 s without an answer the same request is sent again, at most three times.
3. Whatever the bank answers is kept with the order.
"""


class SampleMemory:
    def __init__(self, tool, folder, environment=None):
        self.tool = str(pathlib.Path(tool).resolve())
        self.folder = folder
        self.environment = environment or {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder),
                                           "LC_ALL": "C.UTF-8"}

    def run(self, *arguments, stdin=""):
        done = subprocess.run([self.tool, "--quiet", *arguments], cwd=self.folder, env=self.environment, input=stdin,
                              capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            sys.exit(f"{arguments}: {done.stderr}")
        return done.stdout

    def fill(self):
        self.run("init")
        for name, entries in zip(SESSIONS, (CHECKOUT, SEARCH, INVOICE, RELEASE)):
            self.add_session(name, entries)
        self.run("summary", "prompt", "--session", "checkout-retries")
        self.run("summary", "apply", "--session", "checkout-retries", "-", stdin=SUMMARY)
        document = pathlib.Path(self.folder) / "retries.md"
        document.write_text(DOCUMENT, encoding="utf-8")
        self.run("artifact", "add", "--session", "checkout-retries", "--agent", "dev", str(document))
        for name in SESSIONS:
            self.run("extract", "--rules", "--session", name)

    def add_session(self, name, entries):
        day, kind, tags = SESSIONS[name]
        self.run("session", "new", "--id", name, "--user", "sam", "--agent", "dev", "--project", "orchard", "--type", kind,
                 *(word for tag in tags for word in ("--tag", tag)))
        ids = {f"{{{number + 1}}}": f"{name}-{number + 1:02}" for number in range(len(entries))}
        lines = {}
        for number, (minute, kind, fields) in enumerate(entries):
            text = json.dumps({"id": f"{name}-{number + 1:02}", "timestamp": f"{day}T{9 + minute // 60:02}:{minute % 60:02}:00Z",
                               **{key: value for key, value in fields.items() if value != ""}}, ensure_ascii=False)
            for mark, entry_id in ids.items():
                text = text.replace(f'"{mark}"', f'"{entry_id}"')
            lines.setdefault(kind, []).append(text)
        for kind, texts in lines.items():
            self.run("add", kind, "--session", name, "-", stdin="\n".join(texts))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} TOOL FOLDER")
    SampleMemory(sys.argv[1], sys.argv[2]).fill()
