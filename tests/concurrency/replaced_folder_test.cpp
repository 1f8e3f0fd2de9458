// replaced_folder_test.cpp - a session's folder is moved away, as archiving does under the
// session's lock, and another one comes in its place while writers are warm.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "concurrency/child.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::replaced_folder_test {
namespace {

/// A memory root with one session, whose folder can be moved away.
class Store {
 public:
  Store() : root_(folder_.path("memory")) {
    REQUIRE(MemoryManager::init(root_).has_value());
    create();
    files_ = std::move(open_posix_file_system(root_).value());
  }
  [[nodiscard]] MemoryManager open() const {
    return std::move(MemoryManager::open({.root = root_, .agent_id = "writer"}).value());
  }
  void create() const { REQUIRE(open().create_session({.session_id = "s1"}).has_value()); }
  /// Moves the session's folder to `name`, with the lock held as it must be.
  void move_away(const std::string& name) {
    FileLock lock(*files_, clock_, lock_path("s1"), lock_info_path("s1"));
    const Result<FileLock::Guard> guard = lock.acquire({.operation = "archive"});
    REQUIRE(guard.has_value());
    REQUIRE(files_->rename(session_folder("s1"), name).has_value());
  }
  [[nodiscard]] std::string log(const std::string& folder) const {
    std::ifstream file(root_ + "/" + folder + "/facts.jsonl", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TemporaryDirectory folder_;
  ManualClock clock_;
  std::string root_;
  std::unique_ptr<FileSystem> files_;
};

std::string fact(const std::string& id) {
  return fmt::format(
      R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","content":"x","decay_factor":1.0}})", id);
}

}  // namespace

TEST_CASE("the next append of a warm writer goes to the new folder, or finds no session") {
  Store store;
  MemoryManager warm = store.open();
  REQUIRE(warm.add("s1", EntryType::kFact, fact("before")).has_value());
  store.move_away("moved");

  const Result<std::string> lost = warm.add("s1", EntryType::kFact, fact("lost"));
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().code == ErrorCode::E_SESSION_NOT_FOUND);
  store.create();
  CHECK(warm.add("s1", EntryType::kFact, fact("after")).has_value());

  CHECK(store.log("moved") == fact("before") + "\n");
  CHECK(store.log("sessions/s1") == fact("after") + "\n");
}

TEST_CASE("appends that meet a folder being replaced are in one of the folders, or refused") {
  constexpr int kReplacements = 20;
  constexpr unsigned kWriters = 3;
  struct Board {
    std::atomic<bool> done = false;
    std::atomic<unsigned> written = 0;
  };
  Store store;
  const Shared<Board> board;
  std::vector<std::unique_ptr<Signal>> progress;
  std::vector<Child> writers;
  TemporaryDirectory acknowledged;
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    progress.push_back(std::make_unique<Signal>());
    writers.emplace_back([&, writer] {
      MemoryManager memory = store.open();
      std::ofstream file(acknowledged.path(std::to_string(writer)));
      for (int i = 0; !board->done; ++i) {
        const std::string id = fmt::format("w{}-{}", writer, i);
        const Result<std::string> added = memory.add("s1", EntryType::kFact, fact(id));
        if (added) {
          file << id << std::endl;
          progress[writer]->raise();
        } else if (added.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
          fmt::print(stderr, "{}\n", added.error().to_string());
          progress[writer]->raise();
          return 1;
        }
      }
      return 0;
    });
  }
  for (int i = 0; i < kReplacements; ++i) {
    for (const auto& signal : progress) {
      signal->wait();  // Everybody is warm.
    }
    store.move_away(fmt::format("moved-{}", i));
    store.create();
  }
  board->done = true;
  for (Child& writer : writers) {
    CHECK(writer.wait() == 0);
  }

  std::string all = store.log("sessions/s1");
  for (int i = 0; i < kReplacements; ++i) {
    all += store.log(fmt::format("moved-{}", i));
  }
  std::size_t count = 0;
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    std::ifstream file(acknowledged.path(std::to_string(writer)));
    for (std::string id; std::getline(file, id); ++count) {
      const std::string line = fact(id) + "\n";
      const std::size_t at = all.find(line);
      CAPTURE(id);
      REQUIRE(at != std::string::npos);
      CHECK(all.find(line, at + 1) == std::string::npos);
    }
  }
  MESSAGE(count, " entries over ", kReplacements, " replacements");
  CHECK(static_cast<std::size_t>(std::ranges::count(all, '\n')) == count);
}

}  // namespace bmad_mem::test::replaced_folder_test
