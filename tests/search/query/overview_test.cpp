#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "search/query/query_fixture.hpp"
#include "search/query/slot_filter.hpp"
#include "search/search.hpp"

namespace bmad_mem::test::overview_test {
namespace {

std::string begin_text(TimelineUnit unit, std::string_view time) {
  return format_rfc3339(begin_of(unit, try_parse_rfc3339(time).value()));
}

/// "ledger 3 in 2": topic, entries, sessions.
std::vector<std::string> topics(SmallMemory& memory, const EntryFilter& filter = {}) {
  const std::vector<TopicCount> counts = count_topics(memory.sessions(), filter, {}).value();
  std::vector<std::string> lines;
  for (const TopicCount& each : counts) {
    lines.push_back(fmt::format("{} {} in {}", each.topic, each.entries, each.sessions));
  }
  return lines;
}

std::vector<std::string> times(SmallMemory& memory, TimelineUnit unit,
                               const EntryFilter& filter = {}) {
  const std::vector<TimelineBucket> buckets =
      count_by_time(memory.sessions(), filter, {}, unit).value();
  std::vector<std::string> lines;
  for (const TimelineBucket& each : buckets) {
    lines.push_back(
        fmt::format("{} {} in {}", format_date(each.begin), each.total(), each.sessions));
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a stretch of time begins where the calendar says, weeks on Monday") {
  CHECK(begin_text(TimelineUnit::kHour, "2026-01-11T10:59:59.999Z")
            .starts_with("2026-01-11T10:00:00"));
  CHECK(begin_text(TimelineUnit::kDay, "2026-01-11T10:59:59Z").starts_with("2026-01-11T00:00:00"));
  CHECK(begin_text(TimelineUnit::kWeek, "2026-01-11T23:59:59Z").starts_with("2026-01-05T00"));
  CHECK(begin_text(TimelineUnit::kWeek, "2026-01-12T00:00:00Z").starts_with("2026-01-12T00"));
  CHECK(begin_text(TimelineUnit::kMonth, "2024-02-29T12:00:00Z").starts_with("2024-02-01T00"));
  CHECK(begin_text(TimelineUnit::kDay, "1969-12-31T23:00:00Z").starts_with("1969-12-31T00"));
}

TEST_CASE("topics are counted over all sessions, most entries first, then by name") {
  SmallMemory memory;
  memory.know("s1", "x", R"("topic":"ledger")");
  memory.know("s1", "x", R"("topic":"pool")");
  memory.know("s2", "x", R"("topic":"ledger","tags":["db"])");
  memory.know("s2", "x", R"("topic":"apple","tags":["db"])");
  memory.know("s2", "x");
  CHECK(topics(memory) == Lines{"ledger 2 in 2", "apple 1 in 1", "pool 1 in 1"});
  CHECK(topics(memory, {.limit = 1}) == Lines{"ledger 2 in 2"});
  CHECK(topics(memory, {.tags = {"db"}}) == Lines{"apple 1 in 1", "ledger 1 in 1"});
  CHECK(topics(memory, {.tags = {"none"}}).empty());
}

TEST_CASE("a topic with quotes is counted once, though it is in two sessions") {
  SmallMemory memory;
  memory.know("s1", "x", R"("topic":"a\"b")");
  memory.know("s1", "x", R"("topic":"aXb")");
  memory.know("s2", "x", R"("topic":"a\"b")");
  CHECK(topics(memory) == Lines{"a\"b 2 in 2", "aXb 1 in 1"});
}

TEST_CASE("superseded entries count neither for topics nor for times") {
  SmallMemory memory;
  for (const char* topic : {"old", "new"}) {
    memory.add("s1", EntryType::kFact,
               fmt::format(R"({{"id":"f","timestamp":"2026-01-11T10:00:00Z","content":"x",)"
                           R"("topic":"{}"}})",
                           topic));
  }
  CHECK(topics(memory) == Lines{"new 1 in 1"});
  CHECK(times(memory, TimelineUnit::kDay) == Lines{"2026-01-11 1 in 1"});
}

TEST_CASE("times are counted oldest first, and a limit keeps the newest") {
  SmallMemory memory;
  memory.know("s1", "x", {}, "2026-01-11T23:59:59Z");  // A Sunday.
  memory.know("s1", "x", {}, "2026-01-12T00:00:00Z");
  memory.know("s2", "x", R"("pinned":true)", "2026-01-12T09:00:00Z");
  memory.say("s2", "Ann", "x");
  CHECK(times(memory, TimelineUnit::kDay) == Lines{"2026-01-11 2 in 2", "2026-01-12 2 in 2"});
  CHECK(times(memory, TimelineUnit::kWeek) == Lines{"2026-01-05 2 in 2", "2026-01-12 2 in 2"});
  CHECK(times(memory, TimelineUnit::kMonth) == Lines{"2026-01-01 4 in 2"});
  CHECK(times(memory, TimelineUnit::kWeek, {.limit = 1}) == Lines{"2026-01-12 2 in 2"});
  CHECK(times(memory, TimelineUnit::kDay, {.pinned_only = true}) == Lines{"2026-01-12 1 in 1"});
  CHECK(times(memory, TimelineUnit::kDay, {.types = {EntryType::kConversation}}) ==
        Lines{"2026-01-11 1 in 1"});
}

TEST_CASE("a slot filter narrows: any of some keys, none of another, words that must be there") {
  SmallMemory memory;
  memory.know("s1", "pool ledger", R"("tags":["a"])");
  memory.know("s1", "pool", R"("tags":["b"])");
  memory.know("s1", "ledger", R"("tags":["a","b"])");
  IndexedSession& session = *memory.sessions().front();
  {
    SlotFilter filter(session);
    REQUIRE(filter.any_of(PostingKind::kTerm, kTagPrefix, {}));
    CHECK(filter.take().empty());
  }
  {
    SlotFilter filter(session);
    const std::vector<std::string> wanted = {"a", "none"};
    const std::string unwanted = "b";
    REQUIRE(filter.any_of(PostingKind::kTerm, kTagPrefix, wanted));
    REQUIRE(filter.any_of(PostingKind::kTerm, kTagPrefix, {&unwanted, 1}, true));
    CHECK(filter.take() == AllowedSlots{1, 0, 0});
  }
  {
    SlotFilter filter(session);
    REQUIRE(filter.holding({{"pool", "none"}, {"ledger"}}, false));
    CHECK(filter.take() == AllowedSlots{1, 0, 0});
  }
  {
    SlotFilter filter(session);
    REQUIRE(filter.holding({{"pool"}, {"ledger"}}, true));
    CHECK(filter.take() == AllowedSlots{0, 1, 1});
  }
}

}  // namespace bmad_mem::test::overview_test
