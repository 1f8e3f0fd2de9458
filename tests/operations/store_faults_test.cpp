// store_faults_test.cpp - the engine over a disk that fails: what it says, and what it leaves.
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "lifecycle/repair.hpp"
#include "operations/rooms.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::store_faults_test {
namespace {

/// A Store over a disk in memory whose calls can be made to fail.
class FaultyStore {
 public:
  FaultyStore() {
    disk.make_folders(kSessionsFolder);
    auto faulty = std::make_unique<FaultyFileSystem>(disk);
    files = faulty.get();
    store.files = std::move(faulty);
    store.lock_timeout = std::chrono::milliseconds(1000);
    REQUIRE(create_session(store, {.session_id = "s1"}).has_value());
    REQUIRE(add("f1").has_value());
  }

  Result<BatchReport> add(const std::string& id, KnownEntries rule = KnownEntries::kAppendVersion) {
    const std::string line = MemoryFixture::fact(id);
    const std::string_view view = line;
    return add_lines(store, "s1", EntryType::kFact, {&view, 1}, {.known = rule});
  }
  std::string log() { return disk.read(session_file("s1", "facts.jsonl")); }
  std::string manifest() { return disk.read(manifest_path("s1")); }

  MemoryFileSystem disk;
  FaultyFileSystem* files = nullptr;
  ManualClock clock;
  Store store{clock, all_rooms()};
};

/// "write_at" of "write_at path 0 512".
std::string name_of(const std::string& call) { return call.substr(0, call.find(' ')); }

/// Whether a call only looks at or writes the holder's name.
bool is_about_holder(const std::string& call) {
  return (name_of(call) == "write_at" || name_of(call) == "file_info") &&
         call.find(".lock.json") != std::string::npos;
}

}  // namespace

TEST_CASE("an entry whose log git takes away is in the log that is there, or not acknowledged") {
  FaultyStore store;
  const std::string log = session_file("s1", "facts.jsonl");
  const std::string before = store.log();
  const auto take_all = [&] {
    for (const auto all = store.disk.list(session_folder("s1"));
         const std::string& name : all.value()) {
      if (!name.starts_with(".lock")) {
        REQUIRE(store.disk.remove(session_file("s1", name)).has_value());
      }
    }
  };
  const auto entry = MemoryFixture::fact("f2") + "\n";
  SUBCASE("before it is written") {
    store.files->meanwhile({.operation = Operation::kWrite, .path_part = "facts.jsonl"}, take_all);
    REQUIRE(store.add("f2").has_value());
    CHECK(store.log() == entry);
    CHECK(describe_session(store.store, "s1").has_value());
  }
  SUBCASE("before it is durable") {
    store.files->meanwhile({.operation = Operation::kSyncData, .path_part = "facts.jsonl"},
                           take_all);
    CHECK(code_of(store.add("f2")) == ErrorCode::E_SESSION_NOT_FOUND);
    REQUIRE(create_session(store.store, {.session_id = "s1"}).has_value());
    REQUIRE(store.add("f2").has_value());
    CHECK(store.log() == entry);
  }
  SUBCASE("and puts another one there") {
    store.files->meanwhile({.operation = Operation::kSyncData, .path_part = "facts.jsonl"}, [&] {
      REQUIRE(store.disk.remove(log).has_value());
      store.disk.write(log, before);
    });
    REQUIRE(store.add("f2").has_value());
    CHECK(store.log() == before + entry);
  }
  SUBCASE("but a rewrite of ours takes it along") {
    store.files->meanwhile({.operation = Operation::kSyncData, .path_part = "facts.jsonl"}, [&] {
      REQUIRE(replace_file(store.disk, log, before + entry).has_value());
    });
    REQUIRE(store.add("f2").has_value());
    CHECK(store.log() == before + entry);
  }
}

TEST_CASE("a disk that cannot read a manifest does not make repair replace it") {
  for (const Operation operation : {Operation::kOpen, Operation::kFileInfo, Operation::kReadAt}) {
    CAPTURE(operation_name(operation));
    FaultyStore store;
    const std::string manifest = store.manifest();
    store.files->fail({.operation = operation, .from_then_on = true, .path_part = "manifest.json"});
    const RepairReport report = repair_store(store.store, {}, {}).value();
    REQUIRE(report.left.size() == 1);
    CHECK(report.left[0].kind == FindingKind::kUnreadable);
    CHECK(store.manifest() == manifest);
    store.files->heal();
    CHECK(repair_store(store.store, {}, {}).value().actions.empty());
  }
}

TEST_CASE("an entry that is skipped because it is known is durable all the same") {
  FaultyStore store;
  store.files->clear_log();
  const BatchReport report = store.add("f1", KnownEntries::kSkipId).value();
  CHECK(report.skipped == 1);
  CHECK(store.files->log().back() == "sync_data sessions/s1/facts.jsonl");
  store.files->fail({.operation = Operation::kSyncData});
  CHECK(code_of(store.add("f1", KnownEntries::kSkipId)) == ErrorCode::E_STORAGE_IO);
}

TEST_CASE("any call that fails during an add leaves the log whole, and the next add works") {
  FaultyStore reference;
  reference.files->clear_log();
  REQUIRE(reference.add("f2").has_value());
  const std::vector<std::string> calls = reference.files->log();
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    for (const int error : {EIO, ENOSPC, EMFILE}) {
      FaultyStore store;
      const std::string before = store.log();
      store.files->fail(fault_at(calls, nth, error));
      const Result<BatchReport> added = store.add("f2");
      store.files->heal();
      if (added) {
        // The holder's name is information only, and so are line hashes once the lines are durable.
        CHECK(store.log() == before + MemoryFixture::fact("f2") + "\n");
        continue;
      }
      CHECK(store.log().starts_with(before));
      REQUIRE(store.add("f3").has_value());
      CHECK(store.log() == before + MemoryFixture::fact("f3") + "\n");
      CHECK(verify_store(store.store, {}, {}).value().findings.empty());
    }
  }
}

TEST_CASE("any call that fails while a session is made leaves none, and the next try makes it") {
  FaultyStore reference;
  reference.files->clear_log();
  REQUIRE(create_session(reference.store, {.session_id = "s2"}).has_value());
  const std::vector<std::string> calls = reference.files->log();
  CHECK(calls.size() > 15);
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    FaultyStore store;
    store.files->fail(fault_at(calls, nth));
    const Result<std::string> made = create_session(store.store, {.session_id = "s2"});
    store.files->heal();
    if (made) {
      CHECK(is_about_holder(calls[nth]));
      continue;
    }
    const bool is_there = check_session(store.store, "s2").has_value();
    if (is_there) {
      // Only the last sync may fail with the session in place.
      CHECK(calls[nth] == "sync_directory sessions");
      CHECK(describe_session(store.store, "s2").has_value());
    } else {
      REQUIRE(create_session(store.store, {.session_id = "s2"}).has_value());
    }
    CHECK(verify_store(store.store, {}, {}).value().findings.empty());
    CHECK(store.disk.list(kSessionsFolder).value() == std::vector<std::string>{"s1", "s2"});
  }
}

TEST_CASE("any call that fails during a repair loses nothing, and the next repair ends it") {
  const auto damaged = [](FaultyStore& store) {
    store.disk.write(session_file("s1", "facts.jsonl"),
                     "broken\n" + MemoryFixture::fact("f1") + "\n{}\n{\"torn");
    store.disk.write(session_file("s1", "facts.jsonl.tmp"), "left");
    store.disk.write(manifest_path("s1"), "damaged");
    store.files->clear_log();
  };
  FaultyStore reference;
  damaged(reference);
  REQUIRE(repair_store(reference.store, {}, {}).has_value());
  const std::vector<std::string> calls = reference.files->log();
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    FaultyStore store;
    damaged(store);
    store.files->fail(fault_at(calls, nth));
    static_cast<void>(repair_store(store.store, {}, {}));
    store.files->heal();
    REQUIRE(repair_store(store.store, {}, {}).has_value());
    CHECK(verify_store(store.store, {}, {}).value().findings.empty());
    CHECK(store.log() == MemoryFixture::fact("f1") + "\n");
    const std::string kept = store.disk.read(quarantine_path("s1"));
    for (const std::string text : {"\"text\":\"broken\"", "\"text\":\"{}\"",
                                   "\"text\":\"{\\\"torn\"", "\"text\":\"damaged\""}) {
      CAPTURE(text);
      const std::size_t at = kept.find(text);
      REQUIRE(at != std::string::npos);
      CHECK(kept.find(text, at + 1) == std::string::npos);
    }
  }
}

}  // namespace bmad_mem::test::store_faults_test
