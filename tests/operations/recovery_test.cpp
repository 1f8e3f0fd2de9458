// recovery_test.cpp - how the engine gets over what goes wrong (specification, 12.2).
//
//   a disk that stumbles      here, and storage/retrying_file_system_test.cpp
//   a damaged index           root_index_test.cpp, search_twin.cpp
//   a lock that is held       open_test.cpp: the holder is named when the time is up
//   a session that is full    compaction_test.cpp: a write makes room first
//   a session in its archive  archiving_test.cpp: "writing to an archived session brings it back"
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "operations/rooms.hpp"
#include "search/reads.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::recovery_test {
namespace {

/// A Store as MemoryManager::open() makes it, over a disk in memory that stumbles; nobody sleeps.
class StumblingStore {
 public:
  StumblingStore() {
    disk.make_folders(kSessionsFolder);
    auto faulty = std::make_unique<FaultyFileSystem>(disk);
    files = faulty.get();
    store.files = std::make_unique<RetryingFileSystem>(
        std::move(faulty), [this](std::chrono::milliseconds delay) { slept += delay; });
    store.lock_timeout = std::chrono::milliseconds(1000);
    REQUIRE(create_session(store, {.session_id = "s1"}).has_value());
    REQUIRE(add("f1").has_value());
  }

  Result<BatchReport> add(const std::string& id) {
    const std::string line = MemoryFixture::fact(id, "postgres");
    const std::string_view view = line;
    return add_lines(store, "s1", EntryType::kFact, {&view, 1}, {});
  }

  /// The next `count` calls of this kind on such a path fail.
  void stumble(Operation operation, const std::string& path_part, std::size_t count) {
    for (std::size_t nth = 1; nth <= count; ++nth) {
      files->fail(
          {.operation = operation, .nth = nth, .error_number = EIO, .path_part = path_part});
    }
  }

  MemoryFileSystem disk;
  FaultyFileSystem* files = nullptr;
  std::chrono::milliseconds slept{0};
  ManualClock clock;
  Store store{clock, all_rooms()};
};

}  // namespace

TEST_CASE("reading goes on when the disk answers at the fourth attempt") {
  for (const Operation operation : {Operation::kOpen, Operation::kReadAt}) {
    for (const std::string name : {"facts.jsonl", "manifest.json"}) {
      CAPTURE(operation_name(operation));
      CAPTURE(name);
      StumblingStore store;
      store.stumble(operation, name, 3);
      CHECK(read_entries(store.store, {}, {}, true).value().size() == 1);
      CHECK(describe_session(store.store, "s1").has_value());
      CHECK(store.slept == std::chrono::milliseconds(2600));
    }
  }
}

TEST_CASE("a query goes on over a disk that stumbles") {
  StumblingStore store;
  store.stumble(Operation::kOpen, "facts.jsonl", 2);
  CHECK(answer_query(store.store, {.text = "postgres"}).value().hits.size() == 1);
  CHECK(store.slept == std::chrono::milliseconds(600));
}

TEST_CASE("a disk that stays broken is an error, and it is named") {
  StumblingStore store;
  store.stumble(Operation::kOpen, "facts.jsonl", 100);
  const std::vector<std::string> only = {"s1"};
  const Result<std::vector<Entry>> read = read_entries(store.store, only, {}, true);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(read.error().os_error == EIO);
  CHECK(read_entries(store.store, {}, {}, true).value().empty());  // Named among the problems.
  CHECK(store.store.problems().size() == 1);
}

TEST_CASE("a write or a sync that failed is not tried again") {
  for (const Operation operation : {Operation::kWrite, Operation::kSyncData}) {
    CAPTURE(operation_name(operation));
    StumblingStore store;
    store.stumble(operation, "facts.jsonl", 1);
    CHECK(code_of(store.add("f2")) == ErrorCode::E_STORAGE_IO);
    CHECK(store.slept == std::chrono::milliseconds(0));
  }
}

}  // namespace bmad_mem::test::recovery_test
