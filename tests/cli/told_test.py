#!/usr/bin/env python3
"""What a hook tells a model for a prompt: what is near it, the newest first, once a session; else nothing."""

import datetime
import json

from hooks_test import PROJECT, HookTest
from tool_under_test import main

NOON = datetime.datetime(2026, 9, 1, 12, tzinfo=datetime.timezone.utc)
# What a memory of a month is about; none of it is in the prompts that ask nothing.
CHAT = (
    ("Which database does the ledger use?", "The ledger uses PostgreSQL 16 with logical replication."),
    ("Where do the invoices go?", "Invoices are rendered by the billing worker and mailed at six."),
    ("Who owns the harbour service?", "The harbour service belongs to Ottilie's team."),
)
ORDINARY = ("yes", "1", "ok, continue", "looks good, thanks!", "weiter", "oui, vas-y", "はい", "好的，继续", "👍", "...",
            "run the tests", "fix the failing test please", "boil an egg for me", "explain monads in Haskell")


class ToldTest(HookTest):
    def setUp(self):
        super().setUp()
        self.make_memory()
        self.day(0)

    def day(self, days):
        self.environment["BMAD_MEM_NOW"] = (NOON + datetime.timedelta(days=days)).isoformat()

    def event(self, name, session, **members):
        return {"session_id": session, "cwd": PROJECT, "hook_event_name": name, **members}

    def prompt(self, text, session="now", **members):
        """What is told for it."""
        told, errors = self.hook("claude-code", self.event("UserPromptSubmit", session, prompt=text, **members))
        self.assertEqual(errors, "")
        return json.loads(told)["hookSpecificOutput"]["additionalContext"] if told else ""

    def start(self, session, source="startup"):
        return self.hook("claude-code", self.event("SessionStart", session, source=source))[0]

    def turn(self, question, answer, session):
        told = self.prompt(question, session)
        self.hook("claude-code", self.event("Stop", session, last_assistant_message=answer))
        return told

    def chat(self):
        for day, (question, answer) in enumerate(CHAT):
            self.day(day)
            self.turn(question, answer, f"chat-{day}")
        self.day(5)

    def say(self, text, session, role="user"):
        self.tool("session", "new", "--id", session)
        self.tool("add", "conversation", "--session", session, "--role", role, text)

    def answers(self, *words):
        return [json.loads(line) for line in self.run_tool(
            "--json", "--root", str(self.root), "query", *words).splitlines()]


class Near(ToldTest):
    def test_a_prompt_that_asks_nothing_of_the_memory_is_told_nothing(self):
        self.chat()
        for number, prompt in enumerate(ORDINARY):
            self.assertEqual(self.prompt(prompt, f"s{number}"), "", prompt)

    def test_numbers_letters_grammar_and_words_spelt_alike_are_near_nothing(self):
        for number, text in enumerate(("Of 8 lamps 3 burn, 5 of 12 in the hall", "The tri-state bus is cool", "Panel b of c is w",
                                       "猫のえさはきれいなところに置くと決めた")):
            self.say(text, f"said-{number}")
        for number, prompt in enumerate(("wie viel sind 3/8 plus 5/12?", "comment trier un tableau en COBOL ?", "was macht %w[a b c]?",
                                         "富士山がきれいなところは？")):
            self.assertEqual(self.prompt(prompt, f"s{number}"), "", prompt)

    def test_one_word_is_not_enough_for_a_request(self):
        self.say("The harvester of Ottilie parks below the silo", "farm")
        self.assertEqual(self.prompt("oil the harvester please", "a"), "")
        self.assertIn("silo", self.prompt("drive the harvester below the silo", "b"))

    def test_what_answers_alone_is_told_alone(self):
        self.say("The harvester parks below the northern silo", "farm")
        self.say("A silo was painted", "paint")
        told = self.prompt("below which northern silo does the harvester park?")
        self.assertIn("below the northern silo", told)
        self.assertNotIn("painted", told)

    def test_an_exchange_counts_once(self):
        self.tool("config", "set", "context.snippets_max", "1")
        self.tool("session", "new", "--id", "talk")
        for minute, (role, text) in enumerate((
                ("user", "Ottilie's harvester parks below the silo."), ("assistant", "Then Ottilie's harvester stays below the silo at night."),
                ("user", "Lunch was good."), ("user", "Ottilie's harvester is green, her silo is old."))):
            self.day(minute / 1440)
            self.tool("add", "conversation", "--session", "talk", "--role", role, text)
        told = self.prompt("where below the silo is Ottilie's harvester?")
        self.assertIn("parks below", told)
        self.assertIn("at night", told)
        self.assertNotIn("green", told)

    def test_a_question_is_told_the_answer_with_its_request(self):
        self.chat()
        told = self.prompt("what does the billing worker do with invoices?")
        self.assertIn('asked "Where do the invoices go?", answered: Invoices are rendered', told)
        self.assertNotIn("PostgreSQL", told)

    def test_a_request_alone_is_never_told(self):
        self.prompt("Which database does the ledger use?", "earlier")
        self.assertEqual(self.prompt("Which database does the ledger use?"), "")

    def test_age_excludes_nothing_and_is_told(self):
        for days in (31, 91, 365):
            with self.subTest(days=days):
                self.day(-days)
                self.tool("session", "new", "--id", f"old-{days}")
                self.tool("add", "decision", "--session", f"old-{days}", "--made-by", "dev1", "--impact", "critical",
                          "--rationale", "x", "--decision", f"The rollback key {days} is kept in vault seven")
        self.day(-1)
        self.say("Lunch was good", "recent")
        self.day(0)
        told = self.prompt("where is the rollback key kept?")
        for text in ("2026-08-01 (4 weeks ago)", "2026-06-02 (3 months ago)", "2025-09-01 (12 months ago)"):
            self.assertIn(text, told)

    def test_what_a_tool_printed_is_told_where_it_is_named(self):
        for number, (command, output) in enumerate((("npm test", "Tests: 3 failed in ledger"), ("ls", "ledger.py"))):
            self.hook("claude-code", self.event(
                "PostToolUse", "earlier", tool_name="Bash", tool_use_id=f"t{number}", tool_input={"command": command},
                tool_response={"stdout": output}))
        self.assertEqual(self.prompt("which tests failed in the ledger?", "a"), "")
        told = self.prompt("what did npm test print, which failed?", "b")
        self.assertIn("Tests: 3 failed in ledger", told)
        self.assertIn("output of a tool on that day", told)

    def test_the_gate_can_be_set_and_explained(self):
        self.chat()
        explained = self.tool("context", "--prompt", "boil an egg for me", "--explain")
        self.assertIn("nothing is near: nearest", explained)
        self.assertIn("in no entry", explained)
        gate = json.loads(self.tool("--json", "context", "--prompt", "where do the invoices go?"))["gate"]
        self.assertTrue(gate["is_open"] and gate["asks"])
        self.assertIn("invoices", [each["word"] for each in gate["asked"]])
        self.assertIn("asks nothing", self.tool("context", "--prompt", "yes, go on", "--explain"))
        self.tool("config", "set", "context.gate", "1")
        self.assertEqual(self.prompt("what are invoices?"), "")


class Order(ToldTest):
    def test_the_newer_value_comes_first_and_the_older_is_marked(self):
        self.day(-60)
        self.say("The staging port is 8080", "old")
        self.day(-2)
        self.say("The staging port is 8443 now", "new")
        self.day(0)
        told = self.prompt("what is the staging port?")
        self.assertLess(told.index("8443"), told.index("8080"))
        self.assertIn("said before", told)
        first, second = self.answers("what is the staging port?")[:2]
        self.assertEqual((first["content"], second.get("said_before")), ("The staging port is 8443 now", True))

    def test_askings_do_not_hide_the_answer(self):
        question = "what is the name of the staging server?"
        self.say("The staging server is called heron and listens on port 8443.", "first", role="assistant")
        for times in range(1, 8):
            self.day(times)
            told = self.turn(question, "Let me check the configuration.", f"s{times}")
            self.assertIn("heron", told, times)
            self.assertNotIn("Let me check", told)
        hits = self.answers("--limit", "2", question)
        self.assertTrue(any("heron" in hit["content"] for hit in hits), hits)

    def test_askings_do_not_hide_an_answer_in_other_words(self):
        question = "which classical musicians does the harbour team enjoy listening to?"
        self.say("At the harbour they are fans of Bach and of most classical music.", "first")
        for times in range(1, 11):
            self.day(times)
            self.turn(question, "Let me check the configuration.", f"s{times}")
        self.assertIn("Bach", self.answers("--limit", "10", question)[0]["content"])


class Once(ToldTest):
    QUESTION = "which database does the ledger use?"

    def test_a_session_is_told_an_entry_once(self):
        self.chat()
        self.assertIn("PostgreSQL", self.prompt(self.QUESTION))
        self.assertEqual(self.prompt(self.QUESTION), "")
        self.assertIn("PostgreSQL", self.prompt(self.QUESTION, "another"))

    def test_what_was_told_beside_an_entry_is_not_told_again(self):
        self.tool("session", "new", "--id", "depot")
        for text in ("Ottilie runs the crane depot.", "It opens at five, says the porter."):
            self.tool("add", "conversation", "--session", "depot", "--role", "assistant", text)
        self.day(1)
        self.assertIn("opens at five", self.prompt("when does the crane depot of Ottilie open?"))
        self.assertEqual(self.prompt("what opens at five, says the porter?"), "")
        self.assertIn("opens at five", self.prompt("what opens at five, says the porter?", "another"))

    def test_a_sub_agent_is_told_for_itself(self):
        self.chat()
        self.prompt(self.QUESTION)
        self.assertIn("PostgreSQL", self.prompt(self.QUESTION, agent_id="sub-1", agent_type="explore"))

    def test_after_a_compaction_it_is_told_anew(self):
        self.chat()
        self.prompt(self.QUESTION)
        self.start("now", "compact")
        self.assertIn("PostgreSQL", self.prompt(self.QUESTION))

    def test_what_the_start_told_is_not_told_at_a_prompt(self):
        self.chat()
        self.tool("remember", "--category", "constraint", "--confidence", "1", "The ledger counts in integer cents")
        self.assertIn("integer cents", self.start("now"))
        told = self.prompt("which database does the ledger use, and does it count in cents?")
        self.assertIn("PostgreSQL", told)
        self.assertNotIn("integer cents", told)

    def test_hooks_at_once_lose_no_note(self):
        self.chat()
        self.prompt("hello there")
        session = next((self.root / "sessions").glob("*now"))
        for line in ("x" * 40 + "\n", "not a note", "0" * 31 + "\n"):
            with (session / ".lock.told").open("a", encoding="utf-8") as log:
                log.write(line)
        self.assertIn("PostgreSQL", self.prompt(self.QUESTION))
        self.assertEqual(self.prompt(self.QUESTION), "")


class BadInput(ToldTest):
    def test_prompts_of_any_form(self):
        self.chat()
        briefing = self.prompt("which database does the ledger use?", "first")
        code = "def area(r):\n    return 3.14 * r * r\n" * 40
        trace = "Traceback (most recent call last):\n" + '  File "egg.py", line 3, in boil\n' * 50 + "ValueError: egg\n"
        for number, prompt in enumerate(("", " ", "🥚", code, trace, "Bitte 请 please お願い por favor s'il te plaît",
                                         "egg " * 262_144, "\ud83d".encode("utf-8", "replace").decode(), briefing)):
            self.assertEqual(self.prompt(prompt, f"s{number}"), "", prompt[:80])

    def test_a_memory_of_one_entry_and_one_of_questions(self):
        self.say("Which port does heron use?", "a")
        self.assertEqual(self.prompt("which port does heron use?", "s1"), "")
        self.say("heron listens on port 8443.", "b", role="assistant")
        self.assertIn("8443", self.prompt("which port does heron use?", "s2"))

    def test_many_equal_prompts(self):
        lines = "".join(json.dumps({"role": "user", "content": "which port does heron use?"}) + "\n" for _ in range(10_000))
        self.tool("session", "new", "--id", "many")
        self.tool("add", "conversation", "--session", "many", "-", stdin=lines)
        self.say("heron listens on port 8443.", "b", role="assistant")
        self.assertIn("8443", self.prompt("which port does heron listen on?", "s2"))

    def test_a_clock_that_jumps(self):
        self.day(4000)
        self.say("The crane code is 17.", "future", role="assistant")
        self.day(-4000)
        self.say("The crane code was 12.", "past", role="assistant")
        self.day(0)
        self.assertIn("17", self.prompt("what is the crane code?"))


if __name__ == "__main__":
    main()
