// compaction_test.cpp - a session that grows stays below its quota and loses nothing.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::compaction_test {
namespace {

using Ids = std::vector<std::string>;

/// A root whose sessions hold 100 kB.
void make_small(MemoryFixture& memory) {
  std::ofstream(memory.root() + "/config.json")
      << R"({"memory_config":{"storage":{"max_session_size_mb":0.1},)"
      << R"("compaction":{"trigger_threshold_mb":0.09}}})";
  memory.reopen();
}

}  // namespace

TEST_CASE("compaction keeps the more relevant four fifths and says what went where") {
  MemoryFixture memory;
  memory.session();
  for (int i = 0; i < 10; ++i) {
    memory.add_fact(fmt::format("f{}", i), fmt::format("text {}", i));
    memory.clock.advance(std::chrono::seconds(1));
  }
  const std::string before = memory.read(EntryType::kFact);
  const CompactionReport plan = memory->compact("s1", {.dry_run = true, .force = true}).value();
  CHECK(plan.evicted == 2);
  CHECK(plan.removed.size() == 2);
  CHECK_FALSE(plan.removed[0].headline.empty());
  CHECK(memory.read(EntryType::kFact) == before);

  const CompactionReport report = memory->compact("s1", {.force = true}).value();
  CHECK(report.evicted == 2);
  CHECK(report.entries_after == 8);
  CHECK(report.bytes_after < report.bytes_before);
  CHECK(memory.listed(ArchivedSessions::kWithout).size() == 8);
  CHECK(memory.found("text", ArchivedSessions::kWithout).size() == 8);
  CHECK(memory.found("text").size() == 10);
  CHECK(memory->audit().value().back().action == "compact");
}

TEST_CASE("the evicted come back") {
  MemoryFixture memory;
  memory.session();
  for (int i = 0; i < 10; ++i) {
    memory.add_fact(fmt::format("f{}", i), fmt::format("text {}", i));
  }
  const Ids all = memory.listed();
  const std::vector<RemovedEntry> removed = memory->compact("s1", {.force = true}).value().removed;
  REQUIRE(removed.size() == 2);
  CHECK(memory->restore_evicted("s1", Ids{removed[0].id}).value() == 1);
  CHECK(memory.listed(ArchivedSessions::kWithout).size() == 9);
  CHECK(memory->restore_evicted("s1").value() == 1);
  CHECK(memory.listed() == all);
  CHECK(memory->restore_evicted("s1").value() == 0);
}

TEST_CASE("folding alone loses no entry, and a second run has nothing to do") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "one");
  memory.add_fact("a", "two");
  memory.add_fact("b", "three");
  const CompactionReport report = memory->compact("s1", {.keep_share = 1}).value();
  CHECK(report.superseded == 1);
  CHECK(report.evicted == 0);
  CHECK(memory.listed() == Ids{"a", "b"});
  CHECK(memory.found("one").empty());
  const std::vector<Entry> history = memory->history("a").value();
  REQUIRE(history.size() == 2);
  CHECK(history[0].evicted);
  CHECK_FALSE(history[1].evicted);
  CHECK(memory->compact("s1", {.keep_share = 1}).value().removed.empty());
}

TEST_CASE("below its trigger a session only folds, and says what force would do") {
  MemoryFixture memory;
  memory.session();
  for (int i = 0; i < 10; ++i) {
    memory.add_fact(fmt::format("f{}", i), fmt::format("text {}", i));
  }
  memory.add_fact("f0", "text 0, corrected");
  const CompactionReport first = memory->compact("s1").value();
  CHECK(first.below_trigger);
  CHECK(first.superseded == 1);
  CHECK(first.evicted == 0);
  CHECK(first.force_evicts == 2);
  CHECK(first.force_bytes > 0);
  const std::string manifest = memory.folder.read("memory/sessions/s1/manifest.json");
  const CompactionReport second = memory->compact("s1").value();
  CHECK(second.removed.empty());
  CHECK(second.force_evicts == 2);
  CHECK(memory.listed(ArchivedSessions::kWithout).size() == 10);
  CHECK(memory.folder.read("memory/sessions/s1/manifest.json") == manifest);
  CHECK(memory->compact("s1", {.force = true}).value().evicted == 2);
}

TEST_CASE("a session that grows is compacted by the write that fills it") {
  MemoryFixture memory;
  make_small(memory);
  memory.session();
  std::vector<std::string> notices;
  std::uint64_t largest = 0;
  for (int i = 0; i < 1200; ++i) {
    const std::string json =
        MemoryFixture::fact(fmt::format("f{}", i), std::string(200, 'x') + std::to_string(i));
    const std::string_view line = json;
    const BatchReport report = memory->add_batch("s1", EntryType::kFact, {&line, 1}).value();
    notices.insert(notices.end(), report.notices.begin(), report.notices.end());
    largest = std::max(largest, memory->load_session("s1").value().size_bytes);
    memory.clock.advance(std::chrono::seconds(1));
  }
  CHECK(largest > 90'000);  // The trigger is 94,371 bytes.
  CHECK(largest < 94'700);
  CHECK(memory->load_session("s1").value().size_bytes < 100'000);
  const auto was_compacted = [](const std::string& notice) {
    return notice.find("was compacted") != std::string::npos;
  };
  const auto is_nearly_full = [](const std::string& notice) {
    return notice.find("of 0 MB") != std::string::npos || notice.find("holds") != std::string::npos;
  };
  CHECK(std::ranges::count_if(notices, was_compacted) > 5);
  CHECK(std::ranges::any_of(notices, is_nearly_full));
  // The newest entry is there; the others are in the log or in the archive, each once.
  CHECK(memory->get(Ids{"f1199"}).value().size() == 1);
}

TEST_CASE("what can never fit is refused, and nothing is lost") {
  MemoryFixture memory;
  make_small(memory);
  memory.session();
  memory.add_fact("a", "one");
  CHECK(code_of(memory->add_fact("s1", {.content = std::string(200'000, 'x')})) ==
        ErrorCode::E_SIZE_LIMIT);
  CHECK(memory.listed() == Ids{"a"});
}

TEST_CASE("a session of pinned entries is not compacted again and again") {
  MemoryFixture memory;
  make_small(memory);
  memory.session();
  std::size_t compactions = 0;
  for (int i = 0; i < 290; ++i) {
    const std::string json =
        fmt::format(R"({{"id":"f{}","timestamp":"2026-01-11T10:00:00Z","content":"{}{}",)"
                    R"("pinned":true}})",
                    i, std::string(250, 'x'), i);
    const std::string_view line = json;
    const Result<BatchReport> report = memory->add_batch("s1", EntryType::kFact, {&line, 1});
    if (report) {
      compactions += static_cast<std::size_t>(
          std::ranges::count_if(report->notices, [](const std::string& notice) {
            return notice.find("was compacted") != std::string::npos;
          }));
    }
  }
  CHECK(compactions <= 6);
}

namespace {

/// Facts with these texts, of which all but `evicted` are pinned; then `evicted` leaves the log.
void evict_one(MemoryFixture& memory, const std::string& evicted) {
  for (const std::string& id : memory.listed()) {
    if (id != evicted) {
      REQUIRE(memory->update_entry(id, R"({"pinned":true})"));
    }
  }
  REQUIRE(memory->compact("s1", {.keep_share = 0.5}).value().evicted == 1);
}

}  // namespace

TEST_CASE("an evicted entry is found, whichever hash another id has") {
  struct Row {
    EntryType type;
    const char* evicted;
    const char* other;
    const char* json;
  };
  static constexpr Row kRows[] = {
      // Their 30 bits are the same.
      {EntryType::kFact, "k-6155", "k-49393", R"("content":"zebra")"},
      {EntryType::kFact, "k-10820", "k-56053", R"("content":"zebra")"},
      {EntryType::kDecision, "k-8747", "k-51095", R"("decision":"zebra")"},
      {EntryType::kFinding, "k-9241", "k-9645", R"("description":"zebra","severity":"low")"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.evicted);
    MemoryFixture memory;
    memory.session();
    for (const char* id : {row.evicted, row.other}) {
      memory.add(row.type, fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z",{}}})", id,
                                       row.json));
    }
    evict_one(memory, row.evicted);
    const Ids evicted = {row.evicted};
    const Ids both = memory.listed();
    CHECK(std::ranges::find(both, row.evicted) != both.end());
    CHECK(both.size() == 2);
    CHECK(memory->get(evicted).value().size() == 1);
    CHECK(memory.found("zebra").size() == 2);
    CHECK(memory->list({.limit = 10}).value().size() == 2);
  }
}

TEST_CASE("what is written again after a deletion is found when it is evicted") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("x", "other");
  memory.add_fact("w", "old rule");
  REQUIRE(memory->delete_entries({.ids = Ids{"w"}}));
  bool is_same = false;
  SUBCASE("with another text") {}
  SUBCASE("byte for byte") { is_same = true; }
  memory.add_fact("w", is_same ? "old rule" : "new rule");
  evict_one(memory, "w");
  CHECK(memory.listed() == Ids{"w", "x"});
  CHECK(memory.found("rule") == Ids{"w"});
  CHECK(memory->get(Ids{"w"}).value().size() == 1);
  CHECK_FALSE(memory->history("w").value().empty());
  CHECK(memory->list({.as_of = memory.clock.now()}).value().size() == 2);
  const UndeleteReport report = memory->undelete({.ids = Ids{"w"}}).value();
  CHECK(report.lines == 0);  // The evicted one is newer.
  CHECK(memory->get(Ids{"w"}).value()[0].json.find(is_same ? "old" : "new") != std::string::npos);
  REQUIRE(memory->update_entry("w", R"({"content":"newest rule"})"));
  CHECK(memory->get(Ids{"w"}).value()[0].json.find("newest") != std::string::npos);
  CHECK(memory->history("w").value().size() == 2);
}

TEST_CASE("what was deleted stays away when everything that was evicted is restored") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("x", "other");
  memory.add_fact("w", "rule");
  evict_one(memory, "w");
  const std::string evicted = memory.folder.read("memory/archive/s1.evicted.jsonl.gz");
  REQUIRE(memory->delete_entries({.ids = Ids{"w"}}));
  // As a deletion leaves it that is killed, or git.
  memory.folder.write("memory/archive/s1.evicted.jsonl.gz", evicted);
  memory.reopen();
  CHECK(memory.listed() == Ids{"x"});
  CHECK(memory->restore_evicted("s1").value() == 0);
  CHECK(memory.listed() == Ids{"x"});
}

TEST_CASE("evicted in another order, the same entries are found in the same") {
  const auto order_of = [](bool backwards) {
    MemoryFixture memory;
    memory.session();
    for (int i = 0; i < 12; ++i) {
      memory.add_fact(fmt::format("f{}", i), fmt::format("rule {}", i % 3));
    }
    Ids ids = memory.listed();
    if (backwards) {
      std::ranges::reverse(ids);
    }
    for (const std::string& id : ids) {
      REQUIRE(memory->update_entry(id, R"({"pinned":true})"));
    }
    for (const std::string& id : ids) {
      REQUIRE(memory->update_entry(id, R"({"pinned":false})"));
      REQUIRE(memory->compact("s1", {.keep_share = 0}));
    }
    Ids found;
    const auto hits = memory->query({.text = "rule", .filter = {.limit = 20}}).value();
    for (const Hit& hit : hits) {
      found.push_back(hit.entry.id);
    }
    return found;
  };
  const Ids forwards = order_of(false);
  CHECK(forwards.size() == 12);
  CHECK(forwards == order_of(true));
}

TEST_CASE("decay is a question, and is written down only when asked to") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "one");
  const std::string before = memory.read(EntryType::kFact);
  memory.clock.advance(std::chrono::days(365));
  const std::vector<DecayReport> asked = memory->decay().value();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].entries == 1);
  CHECK(memory.read(EntryType::kFact) == before);
  const std::vector<DecayReport> written = memory->decay({}, std::nullopt, true).value();
  CHECK(written[0].rewritten == 1);
  CHECK(memory.read(EntryType::kFact).find("last_decay_update") != std::string::npos);
  // Nothing decays twice.
  CHECK(memory->decay().value()[0].mean == asked[0].mean);
}

}  // namespace bmad_mem::test::compaction_test
