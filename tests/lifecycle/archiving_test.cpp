// archiving_test.cpp - a session as an archive: out of the way, searchable, back when needed.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::archiving_test {
namespace {

using Ids = std::vector<std::string>;

void fill(MemoryFixture& memory) {
  memory.session();
  memory.add_fact("f1", "postgres fact");
  memory.add(EntryType::kDecision,
             R"({"id":"d1","timestamp":"2026-01-11T10:00:00Z","decision":"postgres it is"})");
  memory.add(EntryType::kDecision,
             R"({"id":"d2","timestamp":"2026-01-11T10:00:00Z","decision":"postgres for good",)"
             R"("pinned":true})");
}

}  // namespace

TEST_CASE("an archived session is gone from the list, and all that it holds is found") {
  MemoryFixture memory;
  fill(memory);
  const ArchiveReport report = memory->archive_session("s1").value();
  CHECK(report.files >= 5);
  CHECK(report.kept == 3);
  CHECK(memory->list_sessions().value().empty());
  REQUIRE(memory->archived_sessions().value().size() == 1);
  CHECK(memory->archived_sessions().value()[0].session_id == "s1");
  CHECK(memory.found("postgres") == Ids{"d1", "d2", "f1"});
  CHECK(memory.found("postgres", ArchivedSessions::kOnly) == Ids{"d1", "d2", "f1"});
  CHECK(memory.found("postgres", ArchivedSessions::kWithout).empty());
  memory.reopen();
  CHECK(memory.found("postgres") == Ids{"d1", "d2", "f1"});
  CHECK(code_of(memory->load_session("s1")) == ErrorCode::E_SESSION_ARCHIVED);
  const std::vector<Hit> hits =
      memory->query({.text = "postgres", .filter = {.sessions = {"s1"}}}).value();
  REQUIRE(hits.size() == 3);
  CHECK(hits[0].entry.archived);
  CHECK_FALSE(hits[0].entry.evicted);
}

TEST_CASE("a dry run says what an archive would be, and changes nothing") {
  MemoryFixture memory;
  fill(memory);
  const ArchiveReport would = memory->archive_session("s1", {.dry_run = true}).value();
  CHECK(memory->archived_sessions().value().empty());
  CHECK(memory.found("postgres") == Ids{"d1", "d2", "f1"});
  const ArchiveReport report = memory->archive_session("s1").value();
  CHECK(would.path == report.path);
  CHECK(would.kept == report.kept);
  CHECK(would.original_bytes > 0);
  CHECK(would.compressed_bytes > 0);
  CHECK(code_of(memory->archive_session("s1", {.dry_run = true})) == ErrorCode::E_SESSION_ARCHIVED);
}

TEST_CASE("a restored session is what it was") {
  MemoryFixture memory;
  fill(memory);
  const std::string facts = memory.read(EntryType::kFact);
  const std::string decisions = memory.read(EntryType::kDecision);
  memory->archive_session("s1").value();
  CHECK(memory->restore_session("s1").value().session_id == "s1");
  CHECK(memory.read(EntryType::kFact) == facts);
  CHECK(memory.read(EntryType::kDecision) == decisions);
  CHECK(memory->archived_sessions().value().empty());
  CHECK(memory.found("postgres") == Ids{"d1", "d2", "f1"});
  CHECK(code_of(memory->restore_session("s1")) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(code_of(memory->restore_session("s9")) == ErrorCode::E_SESSION_NOT_FOUND);
}

TEST_CASE("writing to an archived session brings it back") {
  MemoryFixture memory;
  fill(memory);
  memory->archive_session("s1").value();
  const std::string added = MemoryFixture::fact("f2", "new");
  const std::string_view line = added;
  const BatchReport report = memory->add_batch("s1", EntryType::kFact, {&line, 1}).value();
  REQUIRE(report.notices.size() == 1);
  CHECK(report.notices[0].find("restored") != std::string::npos);
  CHECK(memory->list({.limit = 0}).value().size() == 4);
}

TEST_CASE("archiving and restoring leave a trace in the audit log") {
  MemoryFixture memory;
  fill(memory);
  memory->archive_session("s1").value();
  CHECK(memory->audit().value().back().action == "archive");
  memory.clock.advance(std::chrono::seconds(1));
  memory->restore_session("s1").value();
  CHECK(memory->audit().value().back().action == "restore");
}

TEST_CASE("what is archived is listed, fetched, counted and told as before") {
  MemoryFixture memory;
  fill(memory);
  memory->archive_session("s1").value();
  CHECK(memory->get(Ids{"f1"}).value().size() == 1);
  CHECK(memory->get(Ids{"d1"}).value().at(0).archived);
  CHECK(memory->get(Ids{"d1"}, Ids{"s1"}).value().size() == 1);
  CHECK(memory->history("d1").value().size() == 1);
  CHECK(memory->list({.limit = 0}).value().size() == 3);
  CHECK(memory->list({.limit = 2}).value().size() == 2);
  CHECK(memory.listed(ArchivedSessions::kWithout).empty());
  CHECK(memory->timeline({}, TimelineUnit::kDay).value().at(0).total() == 3);
  CHECK(Knowledge(*memory).recall({}).value().size() == 1);
  const Context context = Knowledge(*memory).context({.task = "postgres"}).value();
  CHECK(context.markdown.find("postgres it is") != std::string::npos);
}

TEST_CASE("entries of an archived session can be deleted") {
  MemoryFixture memory;
  fill(memory);
  memory->archive_session("s1").value();
  CHECK(memory->delete_entries({.ids = {"d1"}}, {.dry_run = true}).value().entries == 1);
  CHECK(memory->archived_sessions().value().size() == 1);
  CHECK(memory->delete_entries({.ids = {"f1"}}).value().entries == 1);
  CHECK(memory.found("postgres") == Ids{"d1", "d2"});
  memory->undelete({.ids = {"f1"}}).value();
  CHECK(memory.found("postgres") == Ids{"d1", "d2", "f1"});
}

TEST_CASE("an archived session can be deleted and brought back") {
  MemoryFixture memory;
  fill(memory);
  memory->archive_session("s1").value();
  memory->delete_session("s1").value();
  CHECK(memory.found("postgres").empty());
  memory->undelete({.sessions = {"s1"}}).value();
  CHECK(memory.found("postgres") == Ids{"d1", "d2", "f1"});
}

}  // namespace bmad_mem::test::archiving_test
