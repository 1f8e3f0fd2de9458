// What `bmad-mem decay` writes into a line, and that it decays nothing twice.
#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "entry_text.hpp"
#include "model/decay.hpp"
#include "model/entry.hpp"

namespace bmad_mem::decay_snapshot_test {
namespace {

const Timestamp kNow = try_parse_rfc3339("2026-01-18T02:00:00Z").value();

std::string snapshot(const std::string& line, double factor, Timestamp now = kNow) {
  return with_decay_snapshot(EntryText(line).value(), line, factor, now).value();
}

/// Its views are gone; what is tested are its numbers.
EntryHead head_of(const std::string& line) {
  return entry_head(EntryType::kConversation, EntryText(line).value());
}

}  // namespace

TEST_CASE("a line keeps all its bytes but those that say how far it has faded") {
  struct Row {
    const char* name;
    const char* line;
    const char* expected;
  };
  constexpr Row kRows[] = {
      {"fresh", R"({"id":"a","n":1.00,"decay_factor":1.0,"x":"\u00e9"})",
       R"({"id":"a","n":1.00,"decay_factor":0.5462,"x":"\u00e9","last_decay_update":"2026-01-18T02:00:00Z"})"},
      {"without a factor", R"({"id":"a"})",
       R"({"id":"a","decay_factor":0.5462,"last_decay_update":"2026-01-18T02:00:00Z"})"},
      {"less than 1 from the start", R"({"id":"a","decay_factor":0.50})",
       R"({"id":"a","decay_factor":0.5462,"initial_decay_factor":0.50,"last_decay_update":"2026-01-18T02:00:00Z"})"},
      {"updated before",
       R"({"decay_factor":0.9,"last_decay_update":"2026-01-12T02:00:00Z","initial_decay_factor":1.5})",
       R"({"decay_factor":0.5462,"last_decay_update":"2026-01-18T02:00:00Z","initial_decay_factor":1.5})"},
      {"updated before, from 1", R"({"decay_factor":0.9,"last_decay_update":1768701600000})",
       R"({"decay_factor":0.5462,"last_decay_update":"2026-01-18T02:00:00Z"})"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const std::string once = snapshot(row.line, 0.54624);
      CHECK(once == row.expected);
      CHECK(snapshot(once, 0.54624) == once);
    }
  }
}

TEST_CASE("where an entry began is read back, however often its factor was brought up to date") {
  struct Row {
    const char* line;
    double expected;
  };
  constexpr Row kRows[] = {
      {R"({"id":"a"})", 1},
      {R"({"id":"a","decay_factor":1.0})", 1},
      {R"({"id":"a","decay_factor":0.5})", 0.5},
      {R"({"id":"a","decay_factor":1.4})", 1.4},
      {R"({"id":"a","decay_factor":0.5,"last_decay_update":"2026-01-12T02:00:00Z"})", 1},
      {R"({"id":"a","last_decay_update":1768701600000,"decay_factor":0.5})", 1},
      {R"({"id":"a","initial_decay_factor":0.8,"decay_factor":0.5})", 0.8},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.line);
    CHECK(head_of(row.line).decay_factor == row.expected);
    std::string line = row.line;
    for (int day = 1; day <= 3; ++day) {
      const Timestamp now = kNow + std::chrono::days(day);
      const DecayInput input{.timestamp = kNow, .initial_factor = head_of(line).decay_factor};
      line = snapshot(line, effective_decay(DecaySettings::defaults(), input, now), now);
      CHECK(head_of(line).decay_factor == row.expected);
    }
  }
}

TEST_CASE("an entry that was brought up to date is a valid entry") {
  const std::string line =
      R"({"id":"msg-1","timestamp":"2026-01-11T10:05:23Z","role":"user","content":"x","decay_factor":0.5})";
  const std::string updated = snapshot(line, 0.25);
  const EntryText entry(updated);
  CHECK_FALSE(check_entry(EntryType::kConversation, entry.value()).has_value());
}

TEST_CASE("how often an entry was returned is a whole number, or nothing") {
  CHECK(head_of(R"({"access_count":3})").access_count == 3);
  CHECK(head_of(R"({"access_count":3.0})").access_count == 3);
  CHECK(head_of(R"({"access_count":-1})").access_count == 0);
  CHECK(head_of(R"({"access_count":1e300})").access_count == 0);
  CHECK(head_of(R"({"access_count":"3"})").access_count == 0);
}

TEST_CASE("what can't carry a factor is refused") {
  CHECK(with_decay_snapshot(EntryText("[1]").value(), "[1]", 1, kNow).error().code ==
        ErrorCode::E_INVALID_FORMAT);
  const std::string full = R"({"id":")" + std::string(kEntrySizeMax - 20, 'x') + R"("})";
  CHECK(with_decay_snapshot(EntryText(full).value(), full, 1, kNow).error().code ==
        ErrorCode::E_SIZE_LIMIT);
}

}  // namespace bmad_mem::decay_snapshot_test
