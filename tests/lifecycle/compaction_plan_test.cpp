// compaction_plan_test.cpp - what a compaction lets go, and what it never does.
#include "lifecycle/compaction_plan.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "model/decay.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::compaction_plan_test {
namespace {

using Ids = std::vector<std::string>;

Timestamp at(std::string_view text) { return try_parse_rfc3339(text).value(); }

/// A session's logs on a disk in memory.
struct Logs {
  Logs() { disk.make_folders("sessions/s1"); }

  Logs& add(EntryType type, const std::string& line) {
    const std::string path = fmt::format("sessions/s1/{}", entry_type_info(type).log_file);
    texts[path] += line + "\n";
    disk.write(path, texts[path]);
    return *this;
  }
  Logs& fact(std::string_view id, std::string_view content, std::string_view more = "",
             std::string_view time = "2026-01-10T00:00:00Z") {
    return add(EntryType::kFact, fmt::format(R"({{"id":"{}","timestamp":"{}","content":"{}"{}}})",
                                             id, time, content, more));
  }
  CompactionPlan plan(CompactionRules rules) {
    rules.decay = DecaySettings::defaults();
    rules.now = at("2026-01-11T00:00:00Z");
    return plan_compaction(disk, "s1", rules).value();
  }
  Ids gone(const CompactionRules& rules) {
    Ids ids;
    for (const PlannedRemoval& removal : plan(rules).removals) {
      ids.push_back(removal.id);
    }
    return ids;
  }

  MemoryFileSystem disk;
  std::map<std::string, std::string> texts;
};

}  // namespace

TEST_CASE("four fifths of the entries stay, and the oldest of equals go") {
  Logs logs;
  for (int i = 0; i < 10; ++i) {
    logs.fact(fmt::format("f{}", i), fmt::format("text {}", i), "",
              fmt::format("2026-01-0{}T00:00:00Z", i % 9 + 1));
  }
  const CompactionPlan plan = logs.plan({});
  CHECK(logs.gone({}) == Ids{"f0", "f9"});
  CHECK(plan.entries_before == 10);
  CHECK(plan.entries_after == 8);
  CHECK(plan.bytes_after < plan.bytes_before);
  CHECK(logs.gone({.keep_share = 1}).empty());
  CHECK(logs.gone({.keep_share = 0.85}) == Ids{"f0"});  // Rounded to keep more.
}

TEST_CASE("eviction goes on until the logs are small enough") {
  Logs logs;
  for (int i = 0; i < 10; ++i) {
    logs.fact(fmt::format("f{}", i), fmt::format("text {}", i));
  }
  const std::uint64_t size = logs.plan({}).bytes_before;
  const CompactionPlan plan = logs.plan({.keep_share = 0.8, .bytes_wanted = size / 2});
  CHECK(plan.bytes_after < size / 2);
  CHECK(plan.entries_after == 4);
}

TEST_CASE("superseded versions are folded first, and the last line of an id stays") {
  Logs logs;
  logs.fact("a", "one").fact("b", "two").fact("a", "three");
  const CompactionPlan plan = logs.plan({.keep_share = 1});
  REQUIRE(plan.removals.size() == 1);
  CHECK(plan.removals[0].kind == RemovalKind::kSuperseded);
  CHECK(plan.removals[0].line == 1);
  CHECK(plan.removals[0].reason == "superseded by line 3");
  CHECK(plan.entries_before == 2);
  CHECK(plan.entries_after == 2);
}

TEST_CASE("what says the same word for word is kept once") {
  Logs logs;
  logs.fact("a", "same").fact("b", "same").fact("c", "other");
  CHECK(logs.gone({.keep_share = 1}) == Ids{"b"});
  SUBCASE("but not at another time") {
    logs.fact("d", "same", "", "2026-01-10T00:00:01Z");
    CHECK(logs.gone({.keep_share = 1}) == Ids{"b"});
  }
  SUBCASE("nor when something refers to it") {
    logs.fact("d", "cites", R"(,"references":{"facts":["b"]})");
    CHECK(logs.gone({.keep_share = 1}).empty());
  }
}

TEST_CASE("pinned entries, open severe findings and approved decisions stay") {
  struct Row {
    EntryType type;
    const char* members;
    bool stays;
  };
  static constexpr Row kRows[] = {
      {EntryType::kFinding, R"("severity":"high","status":"open")", true},
      {EntryType::kFinding, R"("severity":"critical")", true},
      {EntryType::kFinding, R"("severity":"high","status":"in_progress")", true},
      {EntryType::kFinding, R"("severity":"high","status":"resolved")", false},
      {EntryType::kFinding, R"("severity":"critical","status":"dismissed")", false},
      {EntryType::kFinding, R"("severity":"medium","status":"open")", false},
      {EntryType::kDecision, R"("approved_by":["ann"])", true},
      {EntryType::kDecision, R"("approved_by":[])", false},
      {EntryType::kDecision, R"("impact":"high")", false},
      {EntryType::kFact, R"("pinned":true)", true},
      {EntryType::kFact, R"("pinned":false)", false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.members);
    JsonParser parser;
    const std::string json = fmt::format(R"({{"id":"x",{}}})", row.members);
    CHECK(must_stay(row.type, parser.parse(json).value()) == row.stays);
  }
}

TEST_CASE("what an entry that stays refers to stays, however far the chain goes") {
  Logs logs;
  logs.fact("a", "root").fact("b", "cites a", R"(,"references":{"facts":["a"]})");
  logs.fact("c", "pinned", R"(,"references":{"facts":["b"]},"pinned":true)").fact("d", "alone");
  CHECK(logs.gone({.keep_share = 0}) == Ids{"d"});
}

TEST_CASE("when what refers to an entry goes, the entry may go too") {
  Logs logs;
  logs.fact("a", "cited").fact("b", "cites a", R"(,"references":{"facts":["a"]})");
  CHECK(logs.gone({.keep_share = 0}) == Ids{"a", "b"});
}

TEST_CASE("a message is not held by the one that answers it") {
  Logs logs;
  logs.add(EntryType::kConversation,
           R"({"id":"m1","timestamp":"2026-01-01T00:00:00Z","role":"assistant","content":"old"})");
  logs.add(EntryType::kConversation,
           R"({"id":"m2","timestamp":"2026-01-10T00:00:00Z","role":"assistant","content":"new",)"
           R"("context":{"parent_message_id":"m1"}})");
  CHECK(logs.gone({.keep_share = 0.5}) == Ids{"m1"});
}

TEST_CASE("the request that a session is called after stays, in its newest version") {
  Logs logs;
  logs.add(
      EntryType::kConversation,
      R"({"id":"m0","timestamp":"2025-01-01T00:00:00Z","role":"assistant","content":"hello"})");
  logs.add(EntryType::kConversation,
           R"({"id":"m1","timestamp":"2025-01-01T00:00:00Z","role":"user","content":"paint it"})");
  logs.add(EntryType::kConversation,
           R"({"id":"m2","timestamp":"2026-01-10T00:00:00Z","role":"user","content":"thanks"})");
  CHECK(logs.gone({.keep_share = 0}) == Ids{"m0", "m2"});
  logs.add(EntryType::kConversation,
           R"({"id":"m1","timestamp":"2025-01-01T00:00:00Z","role":"user","content":"paint red"})");
  CHECK(logs.gone({.keep_share = 0}) == Ids{"m0", "m1", "m2"});  // The older version of it.
}

TEST_CASE("tiers: settled findings, older states and faded entries go before the rest") {
  Logs logs;
  logs.add(
      EntryType::kFinding,
      R"({"id":"f1","timestamp":"2026-01-10T00:00:00Z","description":"x","status":"resolved"})");
  logs.add(EntryType::kAgentState,
           R"({"id":"s1","timestamp":"2026-01-10T00:00:00Z","agent_id":"ann","state":{"n":1}})");
  logs.add(EntryType::kAgentState,
           R"({"id":"s2","timestamp":"2026-01-10T00:00:00Z","agent_id":"ann","state":{"n":2}})");
  logs.add(
      EntryType::kConversation,
      R"({"id":"m0","timestamp":"2025-11-01T00:00:00Z","role":"assistant","content":"faded"})");
  logs.add(
      EntryType::kConversation,
      R"({"id":"m1","timestamp":"2026-01-03T00:00:00Z","role":"assistant","content":"covered"})");
  logs.add(
      EntryType::kConversation,
      R"({"id":"m2","timestamp":"2026-01-03T00:00:00Z","role":"assistant","content":"not yet"})");
  logs.fact("k", "kept");
  const CompactionRules rules{
      .strategy = CompactionStrategy::kTiered, .keep_share = 1, .last_summarized_id = "m1"};
  CHECK(logs.gone(rules) == Ids{"m0", "m1", "f1", "s1"});
}

TEST_CASE("damaged lines stay where they are") {
  Logs logs;
  logs.fact("a", "one").add(EntryType::kFact, "{broken").fact("b", "two");
  const CompactionPlan plan = logs.plan({.keep_share = 0});
  CHECK(plan.bytes_after == std::string("{broken\n").size());
}

TEST_CASE("a plan holds until a log changes") {
  Logs logs;
  logs.fact("a", "one");
  const CompactionPlan plan = logs.plan({});
  CHECK(still_holds(logs.disk, "s1", plan.logs).value());
  logs.fact("b", "two");
  CHECK_FALSE(still_holds(logs.disk, "s1", plan.logs).value());
}

TEST_CASE("relevance falls with age and rises with importance and use") {
  const Timestamp now = at("2026-01-11T00:00:00Z");
  CHECK(relevance_of(1, 1, std::nullopt, now) == doctest::Approx(0.5));
  CHECK(relevance_of(1, 1, now, now) == doctest::Approx(1));
  CHECK(relevance_of(1, 1, now - std::chrono::hours(1000), now) == doctest::Approx(0.5));
  CHECK(relevance_of(0.5, 0.8, std::nullopt, now) == doctest::Approx(0.2));
}

TEST_CASE("old calls of tools are counted by day, but for what must stay") {
  Logs logs;
  const auto event = [&](std::string_view id, std::string_view day, std::string_view more = "") {
    logs.add(EntryType::kEvent,
             fmt::format(R"({{"id":"{}","timestamp":"2026-01-{}T10:00:00Z","kind":"tool_use",)"
                         R"("tool":"Read","path":"a.cpp"{}}})",
                         id, day, more));
  };
  event("a", "07");
  event("b", "08");
  event("c", "08", R"(,"outside_workspace":true)");
  event("d", "08", R"(,"sensitive":true)");
  event("e", "08", R"(,"pinned":true)");
  event("f", "08", R"(,"content":"cited")");
  event("g", "08", R"(,"content":"again")");
  logs.add(EntryType::kEvent,
           R"({"id":"x","timestamp":"2026-01-08T10:00:00Z","kind":"note","content":"no tool"})");
  event("h", "09");
  logs.fact("cites", "see f", R"(,"references":{"events":["f"]})");

  const CompactionPlan plan = logs.plan({.keep_share = 1, .tool_events_retained = 1});
  CHECK(logs.gone({.keep_share = 1, .tool_events_retained = 1}) == Ids{"b", "c", "g"});
  CHECK(plan.count(RemovalKind::kFolded) == 3);
  CHECK(plan.entries_after == plan.entries_before - 3 + 1);
  CHECK(plan.added_count == 1);
  JsonParser parser;
  const JsonValue line = parser.parse(plan.added_events).value();
  CHECK(line["kind"].string() == "tool_summary");
  CHECK(line["timestamp"].string() == "2026-01-08T10:00:00Z");
  CHECK(line["content"].string() == "3 calls: Read 3; files: a.cpp 2");
  CHECK(line["metadata"]["folded"].integer() == 3);
  CHECK(plan.removals.front().reason == fmt::format("counted in {}", line["id"].string()));

  SUBCASE("few enough stay") {
    CHECK(logs.gone({.keep_share = 1, .tool_events_retained = 8}).empty());
    CHECK(logs.gone({.keep_share = 1}).empty());
  }
}

}  // namespace bmad_mem::test::compaction_plan_test
