// export_test.cpp - what export_entries() hands out, in which order, and that adopt_session() makes
// the same sessions again.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::export_test {
namespace {

using Texts = std::vector<std::string>;

/// Writes down what comes: "[s1", "id", "]".
class Recorder final : public ExportVisitor {
 public:
  Status on_session(const Session& session) override {
    sessions.push_back(session);
    seen.push_back("[" + session.session_id);
    return {};
  }
  Status on_entry(const Entry& entry) override {
    if (entry.id == refused) {
      return Error{.code = ErrorCode::E_STORAGE_FULL};
    }
    entries.push_back(entry);
    seen.push_back(entry.id);
    return {};
  }
  Status on_session_end() override {
    seen.emplace_back("]");
    return {};
  }
  void on_problem(const Error& problem) override { problems.push_back(problem); }
  void on_progress(std::uint64_t done, std::uint64_t total) override {
    CHECK(done <= total);
    last_done = done;
  }

  std::string refused;
  Texts seen;
  std::vector<Session> sessions;
  std::vector<Entry> entries;
  std::vector<Error> problems;
  std::uint64_t last_done = 0;
};

Timestamp at(const std::string& time) { return parse_rfc3339(time).value(); }

std::string fact_at(const std::string& id, const std::string& time, const std::string& more = "") {
  return R"({"id":")" + id + R"(","timestamp":"2026-01-11T)" + time + R"(:00Z","content":"x")" +
         more + "}";
}

Texts exported(MemoryFixture& memory, const ExportOptions& options = {}) {
  Recorder recorder;
  const auto report = memory->export_entries(options, recorder);
  REQUIRE(report.has_value());
  CHECK(report->entries == recorder.entries.size());
  CHECK(report->sessions == recorder.sessions.size());
  return recorder.seen;
}

TEST_CASE("sessions come oldest first, and their entries in order of time over all types") {
  MemoryFixture memory;
  memory.session("b");
  memory.clock.advance(std::chrono::hours(1));
  memory.session("a");
  memory.add(EntryType::kFact, fact_at("f1", "12:00"), "b");
  memory.add(EntryType::kFact, fact_at("f0", "10:00"), "b");
  memory.add(EntryType::kEvent,
             R"({"id":"e1","timestamp":"2026-01-11T11:00:00Z","kind":"tool_use"})", "b");
  CHECK(exported(memory) == Texts{"[b", "f0", "e1", "f1", "]", "[a", "]"});
}

TEST_CASE("with all versions the order of each log is kept, whatever the times say") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kFact, fact_at("f1", "10:00"));
  memory.add(EntryType::kFact, fact_at("f2", "12:00"));
  memory.add(EntryType::kFact, fact_at("f1", "10:00", R"(,"confidence":0.5)"));
  memory.add(EntryType::kEvent,
             R"({"id":"e1","timestamp":"2026-01-11T11:00:00Z","kind":"tool_use"})");
  CHECK(exported(memory, {.all_versions = true}) == Texts{"[s1", "f1", "e1", "f2", "f1", "]"});
  CHECK(exported(memory) == Texts{"[s1", "f1", "e1", "f2", "]"});
}

TEST_CASE("a filter goes by the latest version, and sessions without entries that pass stay away") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.add(EntryType::kFact, fact_at("f1", "10:00", R"(,"tags":["x"])"));
  memory.add(EntryType::kFact, fact_at("f1", "10:00", R"(,"tags":["y"])"));
  memory.add(EntryType::kFact, fact_at("f2", "11:00", R"(,"pinned":true,"agent_id":"a")"));
  ExportOptions options{.all_versions = true};
  options.filter.tags = {"x"};
  CHECK(exported(memory, options).empty());
  options.filter.tags = {"y"};
  CHECK(exported(memory, options) == Texts{"[s1", "f1", "f1", "]"});
  ExportOptions pinned;
  pinned.filter.pinned_only = true;
  CHECK(exported(memory, pinned) == Texts{"[s1", "f2", "]"});
  ExportOptions since;
  since.filter.since = at("2026-01-11T10:30:00Z");
  CHECK(exported(memory, since) == Texts{"[s1", "f2", "]"});
  ExportOptions session;
  session.filter.sessions = {"s2", "s2"};
  CHECK(exported(memory, session) == Texts{"[s2", "]"});
}

TEST_CASE("what was ever marked as sensitive can be left out in all its versions") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kFact, fact_at("f1", "10:00"));
  memory.add(EntryType::kFact, fact_at("f1", "10:00", R"(,"sensitive":true)"));
  memory.add(EntryType::kFact, fact_at("f2", "11:00"));
  ExportOptions options{.filter = {.without_sensitive = true}, .all_versions = true};
  CHECK(exported(memory, options) == Texts{"[s1", "f2", "]"});
  Recorder recorder;
  CHECK(memory->export_entries(options, recorder).value().sensitive == 2);
}

TEST_CASE("a damaged line is named with file and line, and the rest comes") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kFact,
               MemoryFixture::fact("f1") + "\n{\"id\":\n" + MemoryFixture::fact("f2") + "\n");
  Recorder recorder;
  const auto report = memory->export_entries({}, recorder);
  REQUIRE(report.has_value());
  CHECK(recorder.seen == Texts{"[s1", "f1", "f2", "]"});
  REQUIRE(recorder.problems.size() == 1);
  CHECK(report->problems == 1);
  CHECK(recorder.problems[0].code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(recorder.problems[0].path == memory.path(EntryType::kFact));
  CHECK(recorder.problems[0].line == 2);
}

TEST_CASE("the entries of a session come although its manifest is damaged") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.write("manifest.json", "{");
  Recorder recorder;
  REQUIRE(memory->export_entries({}, recorder).has_value());
  CHECK(recorder.seen == Texts{"[s1", "f1", "]"});
  CHECK(recorder.problems.size() == 1);
  CHECK(recorder.sessions[0].problem.has_value());
}

TEST_CASE("archived sessions are left out and named, or come as a whole") {
  MemoryFixture memory;
  memory.session("s1");
  memory.add_fact("f1");
  memory.add(EntryType::kEvent, R"({"id":"e1","kind":"tool_use"})");
  REQUIRE(memory->archive_session("s1").has_value());
  Recorder without;
  CHECK(memory->export_entries({}, without).value().archived == Texts{"s1"});
  CHECK(without.seen.empty());
  ExportOptions options;
  options.archived = true;
  Recorder with;
  REQUIRE(memory->export_entries(options, with).has_value());
  CHECK(with.entries.size() == 2);
  CHECK(with.sessions.at(0).created_at == memory.clock.now());
  ExportOptions named;
  named.filter.sessions = {"s1"};
  CHECK(code_of(memory->export_entries(named, with)) == ErrorCode::E_SESSION_ARCHIVED);
}

TEST_CASE("an error of the visitor ends the export") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.add_fact("f2");
  Recorder recorder;
  recorder.refused = "f2";
  CHECK(code_of(memory->export_entries({}, recorder)) == ErrorCode::E_STORAGE_FULL);
  CHECK(recorder.seen == Texts{"[s1", "f1"});
}

TEST_CASE("an adopted session has the identity that it had elsewhere") {
  MemoryFixture memory;
  Session identity;
  identity.session_id = "old";
  identity.created_at = at("2025-01-11T10:00:00Z");
  identity.closed_at = at("2025-01-12T10:00:00.250Z");
  identity.user_id = "user-789";
  identity.agent_ids = {"architect", "builder"};
  identity.project_name = "payments";
  identity.session_type = "review";
  identity.tags = {"db"};
  REQUIRE(memory->adopt_session(identity).has_value());
  const auto files = memory.files();
  const Session session = memory->load_session("old").value();
  CHECK(session.created_at == identity.created_at);
  CHECK(session.closed_at == identity.closed_at);
  CHECK(session.user_id == "user-789");
  CHECK(session.agent_ids == identity.agent_ids);
  CHECK(session.project_name == "payments");
  CHECK(session.session_type == "review");
  CHECK(session.tags == identity.tags);

  memory.clock.advance(std::chrono::hours(1));
  REQUIRE(memory->adopt_session(identity).has_value());
  CHECK(memory.files() == files);  // Twice changes nothing.
  memory.add_fact("f1", "x", "old");
  CHECK_FALSE(memory->load_session("old").value().closed_at.has_value());
  identity.session_id = "../up";
  CHECK(code_of(memory->adopt_session(identity)) == ErrorCode::E_INVALID_FORMAT);
}

}  // namespace
}  // namespace bmad_mem::test::export_test
