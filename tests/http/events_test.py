#!/usr/bin/env python3
"""/memory/events of `serve`: what is told, to whom, and how nothing is missed."""

import secrets

from own_server_fixture import HttpServerTest, Stream, main


class Events(HttpServerTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_what_another_process_writes_is_told(self):
        stream = Stream(self, "/memory/events")
        self.assertEqual(stream.response.getheader("content-type"), "text/event-stream; charset=utf-8")
        self.assertEqual(stream.block()["retry"], "2000")
        self.add("fact-1")
        event = stream.event()
        self.assertEqual(event["event"], "memory_update")
        self.assertEqual(
            {key: event["data"][key] for key in ("session_id", "type", "id", "headline", "pinned")},
            {
                "session_id": "s1",
                "type": "fact",
                "id": "fact-1",
                "headline": "pool size",
                "pinned": False,
            },
        )

    def test_who_comes_back_gets_what_was_missed(self):
        stream = Stream(self, "/memory/events")
        stream.block()  # From now on it is told.
        self.add("fact-1")
        first = stream.event()
        stream.connection.close()
        other = Stream(self, "/memory/events")  # Sees to it that the next two are seen.
        other.block()
        self.add("fact-2")
        self.add("fact-3")
        for _ in range(2):
            other.event()
        again = Stream(self, "/memory/events", {"Last-Event-ID": first["id"]})
        self.assertEqual([again.event()["data"]["id"] for _ in range(2)], ["fact-2", "fact-3"])
        self.add("fact-4")
        self.assertEqual(again.event()["data"]["id"], "fact-4")

    def test_who_is_cut_off_before_the_first_event_misses_nothing_either(self):
        last = Stream(self, "/memory/events").block()["id"]
        other = Stream(self, "/memory/events")
        self.add("fact-1")
        other.event()
        again = Stream(self, "/memory/events", {"Last-Event-ID": last})
        self.assertEqual(again.event()["data"]["id"], "fact-1")

    def test_who_asks_for_too_much_is_told_to_load_anew(self):
        for last in ("00000000-1", "nonsense", "-"):
            stream = Stream(self, "/memory/events", {"Last-Event-ID": last})
            event = stream.event()
            self.assertEqual((event["event"], event["data"]), ("reset", {}))

    def test_a_rewritten_log_is_a_reset(self):
        self.add("fact-1")
        stream = Stream(self, "/memory/events")
        stream.block()
        self.run_tool("delete", "fact-1", "--session", "s1", "--yes")
        while stream.event()["event"] != "reset":
            pass

    def test_filters_leave_out_what_nobody_asked_for(self):
        self.run_tool("session", "new", "--id", "s2")
        both = Stream(self, "/memory/events?session_id=s1&session_id=s2&type=decisions")
        one = Stream(self, "/memory/events?session_id=s2")
        self.add("fact-1")
        self.add("fact-2", session="s2")
        self.run_tool("add", "decision", "--session", "s1", "--id", "d-1", "--decision", "pool")
        self.assertEqual(one.event()["data"]["id"], "fact-2")
        self.assertEqual(both.event()["data"]["id"], "d-1")

    def test_a_live_query_hears_of_what_is_new_and_matches(self):
        stream = Stream(self, "/memory/events?q=%2Bledger")
        last = stream.block()["id"]
        self.add("fact-1")
        self.run_tool("add", "decision", "--session", "s1", "--id", "d-1", "--decision", "One ledger for all")
        self.assertEqual(stream.event()["data"]["id"], "d-1")
        again = Stream(self, "/memory/events?q=ledgers", {"Last-Event-ID": last})
        self.assertEqual(again.event()["data"]["id"], "d-1")

    def test_without_the_key_nothing_is_told_of_an_encrypted_entry(self):
        self.environment["BMAD_MEM_KEY"] = secrets.token_hex(32)  # Not the server's.
        self.run_tool("session", "new", "--id", "s2")
        self.run_tool("encrypt", "on", "--session", "s1", "--yes")
        streams = [Stream(self, target) for target in ("/memory/events", "/memory/events?q=pool")]
        for stream in streams:
            stream.block()
        self.add("sealed")
        self.run_tool("edit", "sealed", "--set", "content=pool")
        self.add("open", session="s2")
        for stream in streams:
            self.assertEqual(stream.event()["data"]["id"], "open")

    def test_parameters_that_make_no_sense_are_named(self):
        for target in ("/memory/events?q=a&q=b", "/memory/events?q=status:nonsense"):
            self.assertEqual(Stream(self, target).status, 400)
        for target in ("/memory/events?sesion_id=s1", "/memory/events?type=fax"):
            self.assertEqual(Stream(self, target).status, 400)


if __name__ == "__main__":
    main()
