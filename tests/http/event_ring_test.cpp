#include <string>

#include <doctest/doctest.h>

#include "http/event_hub.hpp"

namespace bmad_mem::test::event_ring_test {
namespace {

using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.
using bmad_mem::Entry;
using bmad_mem::EntryType;

Entry entry(std::string id, std::string session = "s1", EntryType type = EntryType::kFact) {
  return {.session_id = std::move(session), .type = type, .id = std::move(id)};
}

/// How many events come after this id; -1 when that is not known.
int count_after(const EventRing& ring, std::string_view id) {
  const auto events = ring.after(id);
  return events ? static_cast<int>(events->size()) : -1;
}

}  // namespace

TEST_CASE("an event is one block of text with its id and one line of data") {
  EventRing ring("b00t");
  Entry said = entry("fact-1");
  said.headline = "two\nlines \"quoted\"";
  CHECK(*ring.add(said).text ==
        "id: b00t-1\nevent: memory_update\n"
        "data: {\"session_id\":\"s1\",\"type\":\"fact\",\"id\":\"fact-1\","
        "\"timestamp\":\"1970-01-01T00:00:00Z\",\"who\":\"\","
        "\"headline\":\"two\\nlines \\\"quoted\\\"\",\"pinned\":false,\"sensitive\":false}\n\n");
  CHECK(*ring.add_reset().text == "id: b00t-2\nevent: reset\ndata: {}\n\n");
}

TEST_CASE("who names the last event that was seen gets those after it") {
  EventRing ring("b00t");
  CHECK(ring.last_id() == "b00t-0");
  CHECK(count_after(ring, "b00t-0") == 0);
  for (int i = 1; i <= 5; ++i) {
    ring.add(entry(std::to_string(i)));
  }
  CHECK(ring.last_id() == "b00t-5");
  CHECK(count_after(ring, "b00t-0") == 5);
  CHECK(count_after(ring, "b00t-3") == 2);
  CHECK(count_after(ring, "b00t-5") == 0);
}

TEST_CASE("an id that this server has not given is not known") {
  EventRing ring("b00t");
  ring.add(entry("1"));
  for (const char* id : {"", "b00t", "b00t-", "b00t-2", "other-1", "b00t-1x", "b00t--1", "b00tx-1",
                         "b00t-99999999999999999999"}) {
    CAPTURE(id);
    CHECK(count_after(ring, id) == -1);
  }
}

TEST_CASE("the oldest events make room, and are no longer known") {
  EventRing ring("b00t");
  for (std::size_t i = 0; i < EventRing::kEventsMax + 10; ++i) {
    ring.add(entry("x"));
  }
  CHECK(count_after(ring, "b00t-9") == -1);
  CHECK(count_after(ring, "b00t-10") == static_cast<int>(EventRing::kEventsMax));
  Entry large = entry("y");
  large.headline = std::string(EventRing::kSizeMax / 4, 'y');
  for (int i = 0; i < 8; ++i) {
    ring.add(large);
  }
  CHECK(count_after(ring, ring.last_id()) == 0);
  CHECK(count_after(ring, "b00t-4000") == -1);
}

TEST_CASE("a filter passes what it names, and every reset") {
  EventRing ring("b00t");
  const Event fact = ring.add(entry("1"));
  const Event decision = ring.add(entry("2", "s2", EntryType::kDecision));
  const Event reset = ring.add_reset();
  const auto passed = [&](const EventFilter& filter) {
    return std::string(passes(fact, filter) ? "f" : "") + (passes(decision, filter) ? "d" : "") +
           (passes(reset, filter) ? "r" : "");
  };
  CHECK(passed({}) == "fdr");
  CHECK(passed({.sessions = {"s1"}}) == "fr");
  CHECK(passed({.sessions = {"s1", "s2"}, .types = {EntryType::kDecision}}) == "dr");
  CHECK(passed({.sessions = {"s3"}}) == "r");
}

}  // namespace bmad_mem::test::event_ring_test
