"""What of a conversation must be in a memory, and in whose name: what the tests of clients share."""

from client_table import CANARY, COMMAND_TEXT, FILE_TEXT, FIRST, NEXT, ORDER, OUTPUT, REPORT, SHELL

OUR_TAG = "<bmad-memory"


def is_persons(entry):
    """Whether it says that a person wrote it."""
    return entry["role"] == "user" and entry.get("source", {}).get("kind", "user") == "user" and not is_aside(entry)


def is_aside(entry):
    return bool(entry.get("metadata", {}).get("sidechain"))


def shown(entries):
    """For a message: who says what."""
    return "\n".join(
        f"  {entry['id']} {entry['session_id']} {entry.get('role', entry.get('kind'))}"
        f" {entry.get('source', {}).get('kind', '')}{' sidechain' if is_aside(entry) else ''}: {entry.get('content', '')[:300]!r}"
        for entry in entries
    )


class EntryChecks:
    """For a TestCase that has entries(TYPE). `sessions`: in how many the first conversation may be."""

    sessions = 1

    def check_entries(self, stage, turns, whole):
        """`whole`: nothing is missing. Else only what is there is looked at."""
        messages = self.entries("conversation")
        texts = shown(messages)
        persons = [entry for entry in messages if is_persons(entry)]
        for turn in turns:
            for speaker, sentence in [("user", turn.prompt), *(("assistant", said) for said in turn.says)]:
                with self.subTest(stage=stage, sentence=sentence):
                    found = [entry for entry in messages if sentence in entry["content"]]
                    said_by = [entry["role"] for entry in found]
                    self.assertEqual(said_by, [speaker] if whole else [speaker] * min(len(found), 1), texts)
                    self.assertFalse(any(map(is_aside, found)), texts)
            with self.subTest(stage=stage, noticed=turn.noticed):
                found = [entry["role"] for entry in messages if turn.noticed and turn.noticed in entry["content"]]
                self.assertIn(found, [[], ["assistant"]], texts)
        with self.subTest(stage=stage, what="a person said the prompts and nothing else"):
            typed = [f"/{turn.command} {turn.prompt}" if turn.command else turn.prompt for turn in turns]
            others = [entry for entry in persons if entry["content"] not in (*typed, *(turn.prompt for turn in turns))]
            self.assertEqual(shown(others), "", texts)
        with self.subTest(stage=stage, what="the briefing is nobody's"):
            self.assertEqual(shown([entry for entry in messages if CANARY in entry["content"] or OUR_TAG in entry["content"]]), "", texts)
        for what in (ORDER, FILE_TEXT.strip(), COMMAND_TEXT, OUTPUT):
            with self.subTest(stage=stage, not_of_a_person=what):
                self.assertEqual(shown([entry for entry in persons if what in entry["content"]]), "", texts)
        with self.subTest(stage=stage, what="the sub-agent's answer is not the agent's"):
            self.assertEqual(shown([entry for entry in messages if REPORT in entry["content"] and not is_aside(entry)]), "", texts)
        with self.subTest(stage=stage, what="a conversation that goes on is one session"):
            sessions = {entry["session_id"] for entry in messages if any(turn.word in entry["content"] for turn in (FIRST, NEXT))}
            self.assertLessEqual(len(sessions), self.sessions, texts)
        self.check_events(stage, turns, whole)

    def check_events(self, stage, turns, whole):
        events = self.entries("event")
        if FIRST not in turns:
            return
        for kind, text in (("tool_use", SHELL), ("tool_result", OUTPUT)):
            with self.subTest(stage=stage, event=kind):
                found = [entry for entry in events if entry["kind"] == kind and text in entry.get("content", "")]
                self.assertEqual(len(found), 1 if whole else min(len(found), 1), shown(events))
