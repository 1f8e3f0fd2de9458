// consolidation_test.cpp - knowledge that says nearly the same becomes one item, and nothing is
// lost.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::consolidation_test {
namespace {

class MergeFixture : public MemoryFixture {
 public:
  MergeFixture() {
    session("s1");
    session("s2");
  }

  std::string fact_of(const std::string& id, const std::string& content,
                      const std::string& further = {}, const std::string& session_id = "s1") {
    return add(EntryType::kFact,
               R"({"id":")" + id + R"(","category":"project_fact","content":")" + content + "\"" +
                   (further.empty() ? "" : "," + further) + "}",
               session_id);
  }

  std::vector<MergeProposal> consolidate(bool apply, ConsolidateOptions options = {}) {
    options.dry_run = !apply;
    Result<ConsolidateReport> report = Knowledge(**this).consolidate(options);
    REQUIRE_MESSAGE(report, report.error().to_string());
    return std::move(report->merged);
  }

  std::vector<KnowledgeItem> recall() {
    Result<std::vector<KnowledgeItem>> items = Knowledge(**this).recall({.limit = 0});
    REQUIRE(items);
    return *std::move(items);
  }
};

constexpr const char* kSeats = "Seats are held for two minutes after the scan";
constexpr const char* kSeatsToo = "Seats are held for two minutes after a scan";

}  // namespace

TEST_CASE("a dry run says what would be merged and writes nothing") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":0.9)");
  memory.fact_of("b", kSeatsToo, R"("confidence":0.5)", "s2");
  const auto before = memory.files();
  const auto merged = memory.consolidate(false);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].into.id == "a");
  CHECK(merged[0].parts[0].id == "b");
  CHECK(memory.files() == before);
}

TEST_CASE("what stays has the best of all and the lowest trust; the parts say where they went") {
  MergeFixture memory;
  memory.fact_of("a", kSeats,
                 R"("confidence":0.6,"source":{"kind":"assistant","trust":0.9,"by":"x"},)"
                 R"("tags":["t1"],"mine":1.00)");
  memory.fact_of("b", kSeatsToo,
                 R"("confidence":0.6,"source":{"kind":"web","trust":0.6},"tags":["t2"],)"
                 R"("pinned":true,"learned_from":["s9"],"references":{"messages":["m7"]})",
                 "s2");
  CHECK(memory.consolidate(true).size() == 1);
  memory.reopen();
  const auto items = memory.recall();
  REQUIRE(items.size() == 1);
  CHECK(items[0].id == "a");
  CHECK(items[0].value == kSeats);
  CHECK(items[0].confidence == 0.6);
  CHECK(items[0].trust == 0.6);
  CHECK(items[0].source_kind == "assistant");
  CHECK(items[0].pinned);
  CHECK(items[0].tags == std::vector<std::string>{"t1", "t2"});
  CHECK(items[0].learned_from == std::vector<std::string>{"s9"});
  CHECK(items[0].json.find(R"("references":{"merged":["b"]})") != std::string::npos);
  CHECK(items[0].json.find(R"("by":"x")") != std::string::npos);
  CHECK(items[0].json.find(R"("mine":1.00)") != std::string::npos);
  const std::string part = memory.read(EntryType::kFact, "s2");
  CHECK(part.find(R"("review":"dropped")") != std::string::npos);
  CHECK(part.find(R"("references":{"messages":["m7"],"merged_into":["a"]})") != std::string::npos);
  CHECK(std::ranges::count(memory.read(EntryType::kFact), '\n') == 2);
  CHECK(std::ranges::count(part, '\n') == 2);
}

TEST_CASE("merging again does nothing, and merging more keeps the chain") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":0.9)");
  memory.fact_of("b", kSeatsToo);
  CHECK(memory.consolidate(true).size() == 1);
  const auto once = memory.files();
  CHECK(memory.consolidate(true).empty());
  CHECK(memory.files() == once);
  memory.fact_of("c", kSeatsToo);
  CHECK(memory.consolidate(true).size() == 1);
  const auto items = memory.recall();
  REQUIRE(items.size() == 1);
  CHECK(items[0].json.find(R"("merged":["b","c"])") != std::string::npos);
}

TEST_CASE("a crash between the two writes is mended by the next run") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":0.9)");
  memory.fact_of("b", kSeatsToo, {}, "s2");
  memory.consolidate(true);
  const std::string done = memory.read(EntryType::kFact);
  // As it stood before the parts were written: the one that stays knows them already.
  const std::string parts = memory.read(EntryType::kFact, "s2");
  memory.write(EntryType::kFact, parts.substr(0, parts.find('\n') + 1), "s2");
  memory.reopen();
  CHECK(memory.recall().size() == 2);
  CHECK(memory.consolidate(true).size() == 1);
  CHECK(memory.recall().size() == 1);
  CHECK(memory.read(EntryType::kFact) == done);
}

TEST_CASE("what is sensitive makes the result sensitive") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":0.9)");
  memory.fact_of("b", kSeatsToo, R"("sensitive":true)");
  CHECK(memory.consolidate(true).size() == 1);
  const auto items = memory.recall();
  REQUIRE(items.size() == 1);
  CHECK(items[0].sensitive);
  CHECK(items[0].json.find(R"("sensitive":true)") != std::string::npos);
}

TEST_CASE("contradictions, other agents and those without trust stay apart") {
  MergeFixture memory;
  memory.fact_of("a", "use tabs");
  memory.fact_of("b", "never use tabs");
  memory.fact_of("c", "the server listens on port 80");
  memory.fact_of("d", "the server listens on port 8080");
  memory.fact_of("e", kSeats, R"("agent_id":"MARS")");
  memory.fact_of("f", kSeatsToo, R"("agent_id":"VENUS")");
  memory.fact_of("g", "Berths at the quay are numbered from the north");
  memory.fact_of("h", "Berths at the quay are numbered from the north",
                 R"("source":{"kind":"web","trust":0.2})");
  CHECK(memory.consolidate(false).empty());
}

TEST_CASE("all entries of a part go, whatever session they are in") {
  MergeFixture memory;
  memory.fact_of("a", "seat hold: Seats are held for two minutes after the scan",
                 R"("confidence":1.0)");
  memory.fact_of("b", "Seats are held for a minute", R"("key":"seat_hold","confidence":0.5)", "s1");
  memory.clock.advance(std::chrono::minutes(1));
  memory.fact_of("c", kSeatsToo, R"("key":"seat_hold","confidence":0.5)", "s2");
  CHECK(memory.consolidate(true).size() == 1);
  const auto items = memory.recall();
  REQUIRE(items.size() == 1);
  CHECK(items[0].id == "a");
}

TEST_CASE("a version that is not trusted does not come to hold by a merge") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":1.0)");
  memory.fact_of("a", "Seats are held for ever", R"("source":{"kind":"web","trust":0.1})");
  memory.fact_of("b", kSeatsToo, R"("confidence":0.5)");
  CHECK(memory.consolidate(true).size() == 1);
  const auto items = memory.recall();
  REQUIRE(items.size() == 1);
  CHECK(items[0].value == kSeats);
  CHECK(items[0].trust == 1);
}

TEST_CASE("category and session narrow it down, and nonsense is refused") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":0.9)");
  memory.fact_of("b", kSeatsToo, {}, "s2");
  CHECK(memory.consolidate(false, {.category = Category::kPattern}).empty());
  CHECK(memory.consolidate(false, {.category = Category::kProjectFact}).size() == 1);
  CHECK(memory.consolidate(false, {.sessions = {"s1"}}).empty());
  CHECK(memory.consolidate(false, {.sessions = {"s1", "s2"}}).size() == 1);
  CHECK(memory.consolidate(false, {.min_similarity = 1}).empty());
  Knowledge knowledge(*memory);
  CHECK(code_of(knowledge.consolidate({.min_similarity = 0.1})) == ErrorCode::E_INVALID_QUERY);
  CHECK(code_of(knowledge.consolidate({.min_similarity = 1.5})) == ErrorCode::E_INVALID_QUERY);
  CHECK(code_of(knowledge.consolidate({.sessions = {"s7"}})) == ErrorCode::E_SESSION_NOT_FOUND);
}

TEST_CASE("what was kept of an archived session stays as it is") {
  MergeFixture memory;
  memory.fact_of("a", kSeats, R"("confidence":0.9)");
  memory.fact_of("b", kSeatsToo, {}, "s2");
  REQUIRE(memory->archive_session("s2"));
  CHECK(memory.consolidate(true).empty());
}

}  // namespace bmad_mem::test::consolidation_test
