// unreadable_test.cpp - a session that can't be read silences no other.
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "knowledge/knowledge_store.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/repair.hpp"
#include "operations/rooms.hpp"
#include "search/reads.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::unreadable_test {
namespace {

/// Two sessions with a fact each, f1 in s1 and f2 in s2, over a disk that can fail.
class TwoSessions {
 public:
  TwoSessions() {
    disk.make_folders(kSessionsFolder);
    auto faulty = std::make_unique<FaultyFileSystem>(disk);
    files = faulty.get();
    store.files = std::move(faulty);
    store.lock_timeout = std::chrono::milliseconds(1000);
    store.on_problem = [this](const Error& error) { told.push_back(error); };
    REQUIRE(create_session(store, {.session_id = "s1"}).has_value());
    REQUIRE(create_session(store, {.session_id = "s2"}).has_value());
    REQUIRE(add("s1", "f1").has_value());
    REQUIRE(add("s2", "f2").has_value());
  }

  Result<BatchReport> add(const std::string& session_id, const std::string& id) {
    const std::string line = MemoryFixture::fact(id, "heron");
    const std::string_view view = line;
    return add_lines(store, session_id, EntryType::kFact, {&view, 1}, {});
  }
  /// From now on the log of s1 can't be read.
  void break_s1(int error_number) {
    for (const Operation operation : {Operation::kOpen, Operation::kReadAt}) {
      files->fail({.operation = operation,
                   .error_number = error_number,
                   .from_then_on = true,
                   .path_part = "sessions/s1/facts.jsonl"});
    }
  }

  MemoryFileSystem disk;
  FaultyFileSystem* files = nullptr;
  ManualClock clock;
  Store store{clock, all_rooms()};
  std::vector<Error> told;
};

/// How many entries each way of reading all sessions gives.
std::vector<std::size_t> counts_of_all_reads(TwoSessions& two) {
  const std::vector<std::string> ids = {"f1", "f2"};
  return {list_entries(two.store, {}).value().size(),
          find_entries(two.store, ids, {}, false).value().size(),
          find_entries(two.store, ids, {}, true).value().size(),
          answer_query(two.store, {.text = "heron"}).value().hits.size(),
          all_knowledge(two.store, {}, {}).value().size(),
          read_entries(two.store, {}, {}, false).value().size(),
          list_entries(two.store, {.as_of = two.clock.now()}).value().size(),
          find_entries(two.store, ids, {}, false, two.clock.now()).value().size(),
          answer_query(two.store, {.text = "heron", .filter = {.as_of = two.clock.now()}})
              .value()
              .hits.size()};
}

}  // namespace

TEST_CASE("a session that can't be read is left out of every answer, and named once") {
  for (const int error_number : {EIO, EACCES, ELOOP}) {
    CAPTURE(error_number);
    TwoSessions two;
    CHECK(counts_of_all_reads(two) == std::vector<std::size_t>(9, 2));
    two.store.forget_session("s1");
    two.break_s1(error_number);
    const std::vector<std::size_t> counts = counts_of_all_reads(two);
    CHECK(counts == std::vector<std::size_t>(9, 1));
    REQUIRE(two.told.size() == 1);
    CHECK(two.told[0].message.find("session s1 is left out") != std::string::npos);
    CHECK(two.told[0].path.find("s1") != std::string::npos);
    CHECK(two.store.problems().size() == 1);
  }
}

TEST_CASE("the only session that was asked for is not left out: its error is the answer") {
  TwoSessions two;
  two.break_s1(EIO);
  CHECK(code_of(list_entries(two.store, {.sessions = {"s1"}})) == ErrorCode::E_STORAGE_IO);
  CHECK(code_of(answer_query(two.store, {.text = "heron", .filter = {.sessions = {"s1"}}})) ==
        ErrorCode::E_STORAGE_IO);
  CHECK(list_entries(two.store, {.sessions = {"s1", "s2"}}).value().size() == 1);
}

TEST_CASE("a process that has no descriptors left blames no session") {
  TwoSessions two;
  two.break_s1(EMFILE);
  CHECK_FALSE(list_entries(two.store, {}).has_value());
  CHECK(two.told.empty());
}

TEST_CASE("writes to other sessions go on, and so does a delete that names none") {
  TwoSessions two;
  two.break_s1(EIO);
  CHECK(two.add("s2", "f3").has_value());
  CHECK(delete_entries(two.store, {.ids = {"f2"}}, {}).value().entries == 1);
  CHECK(list_entries(two.store, {}).value().size() == 1);
}

TEST_CASE("a delete that may have missed something is no success, and has deleted what it found") {
  TwoSessions two;
  two.break_s1(EIO);
  CHECK(code_of(delete_entries(two.store, {.ids = {"f1", "f2"}}, {})) == ErrorCode::E_STORAGE_IO);
  CHECK(list_entries(two.store, {}).value().empty());
}

TEST_CASE("verify names a log that can't be read, and looks at all others") {
  TwoSessions two;
  two.break_s1(EIO);
  two.disk.write(session_file("s2", "facts.jsonl"), "damaged\n");
  const VerifyReport report = verify_store(two.store, {}, {}).value();
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings[0].kind == FindingKind::kUnreadable);
  CHECK(report.findings[0].path.ends_with("s1/facts.jsonl"));
  CHECK(report.findings[1].kind == FindingKind::kDamagedLine);
  const RepairReport repaired = repair_store(two.store, {}, {}).value();
  CHECK(repaired.actions.size() == 1);
  CHECK(repaired.left.size() == 1);
}

}  // namespace bmad_mem::test::unreadable_test
