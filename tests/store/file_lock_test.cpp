// file_lock_test.cpp - one writer at a time among the threads of a process. What other processes
// see of it is in tests/concurrency/.
#include "store/file_lock.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/disk/kernel_lock.hpp"
#include "store/posix_file_system.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::file_lock_test {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

class MemoryStore {
 public:
  FileSystem& files() { return files_; }
  std::string read(const std::string& name) { return files_.read(name); }
  void write(const std::string& name, std::string_view bytes) { files_.write(name, bytes); }
  ManualClock clock;

 private:
  MemoryFileSystem files_;
};

class PosixStore {
 public:
  PosixStore() : files_(std::move(open_posix_file_system(folder_.path()).value())) {}
  FileSystem& files() { return *files_; }
  std::string read(const std::string& name) { return folder_.read(name); }
  void write(const std::string& name, std::string_view bytes) { folder_.write(name, bytes); }
  ManualClock clock;

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<FileSystem> files_;
};

template <typename Store>
FileLock lock_of(Store& store, const std::string& folder = "") {
  return {store.files(), store.clock, folder + ".lock", folder + ".lock.json"};
}

FileLock::Guard taken(FileLock& lock, std::string_view operation = "add") {
  return std::move(
      lock.acquire({.operation = operation, .agent_id = "architect", .timeout = milliseconds(5000)})
          .value());
}

/// The error of asking for the lock while it is held. Asks from another thread, since locks are not
/// recursive.
Error refused(FileLock& lock, milliseconds timeout = milliseconds(10)) {
  Error error;
  std::thread([&] {
    const Result<FileLock::Guard> guard =
        lock.acquire({.operation = "add", .agent_id = "reviewer", .timeout = timeout});
    error = guard ? Error{.message = "got the lock"} : guard.error();
  }).join();
  return error;
}

}  // namespace

TEST_CASE_TEMPLATE("threads take turns, through one object or several", Store, MemoryStore,
                   PosixStore) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 100;
  Store store;
  FileLock shared = lock_of(store);
  int counter = 0;  // Not atomic: the sanitizer sees it when two are in at once.
  std::atomic<int> inside = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, own_object = i % 2 == 0] {
      FileLock own = lock_of(store);
      FileLock& lock = own_object ? own : shared;
      for (int turn = 0; turn < kTurns; ++turn) {
        const Result<FileLock::Guard> guard =
            lock.acquire({.operation = "add", .timeout = milliseconds(60'000)});
        failures += !guard || ++inside != 1 ? 1 : 0;
        ++counter;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(counter == kThreads * kTurns);
  CHECK(failures == 0);
}

TEST_CASE_TEMPLATE("the lock is given back once, by release or at the guard's end", Store,
                   MemoryStore, PosixStore) {
  Store store;
  FileLock lock = lock_of(store);
  {
    const FileLock::Guard guard = taken(lock);
    CHECK(refused(lock).code == ErrorCode::E_LOCK_TIMEOUT);
  }
  FileLock::Guard first = taken(lock);
  first.release();
  FileLock::Guard second = taken(lock);
  first.release();  // Already given back: this must not open the door for a third.
  CHECK(refused(lock).code == ErrorCode::E_LOCK_TIMEOUT);
  FileLock::Guard moved = std::move(second);
  CHECK(refused(lock).code == ErrorCode::E_LOCK_TIMEOUT);
  moved = std::move(first);  // Gives back what it held.
  CHECK(refused(lock).message == "got the lock");
}

TEST_CASE_TEMPLATE("a time-out names process, agent, operation and time of the holder", Store,
                   MemoryStore, PosixStore) {
  Store store;
  FileLock lock = lock_of(store);
  const FileLock::Guard guard = taken(lock, "repair");
  const Error error = refused(lock, milliseconds(15));
  CHECK(error.code == ErrorCode::E_LOCK_TIMEOUT);
  CHECK(error.path == store.files().display_path(".lock"));
  CHECK(error.message.starts_with(
      fmt::format("could not get the lock for \"add\" within 15 ms: it is held by process {} "
                  "(agent \"architect\", repair) on ",
                  ::getpid())));
  CHECK(error.message.ends_with(
      ", since 2026-01-11T10:00:00Z; try again when it is done, or stop it"));
}

TEST_CASE_TEMPLATE("a wait ends when it was to end", Store, MemoryStore, PosixStore) {
  Store store;
  FileLock lock = lock_of(store);
  const FileLock::Guard guard = taken(lock);
  for (const milliseconds timeout : {milliseconds(0), milliseconds(1), milliseconds(100)}) {
    const auto start = SteadyClock::now();
    CHECK(refused(lock, timeout).code == ErrorCode::E_LOCK_TIMEOUT);
    const auto waited = SteadyClock::now() - start;
    MESSAGE("asked for ", timeout.count(), " ms, waited ",
            std::chrono::duration<double, std::milli>(waited).count(), " ms");
    CHECK(waited >= timeout);
    CHECK(waited < timeout + std::chrono::seconds(2));
  }
}

TEST_CASE("a free lock is had without any time to wait") {
  PosixStore store;
  FileLock lock = lock_of(store);
  CHECK(lock.acquire({.operation = "add", .timeout = milliseconds(0)}).has_value());
}

TEST_CASE_TEMPLATE("locks of two sessions do not know each other", Store, MemoryStore, PosixStore) {
  Store store;
  REQUIRE(store.files().make_directory("a").has_value());
  REQUIRE(store.files().make_directory("b").has_value());
  FileLock a = lock_of(store, "a/");
  FileLock b = lock_of(store, "b/");
  const FileLock::Guard guard = taken(a);
  CHECK(refused(b).message == "got the lock");
  CHECK(refused(a).code == ErrorCode::E_LOCK_TIMEOUT);
}

TEST_CASE_TEMPLATE("the holder's name is JSON of one size, and the lock file stays empty", Store,
                   MemoryStore, PosixStore) {
  Store store;
  FileLock lock = lock_of(store);
  for (const std::string& agent : {std::string("architect"), std::string(1000, 'x'),
                                   std::string("\"quoted\"\n"), std::string()}) {
    const FileLock::Guard guard =
        std::move(lock.acquire({.operation = "session new", .agent_id = agent}).value());
    const std::string text = store.read(".lock.json");
    CHECK(text.size() == 512);
    CHECK(text.ends_with('\n'));
    const nlohmann::json info = nlohmann::json::parse(text);
    CHECK(info.at("pid") == ::getpid());
    CHECK(info.at("pid_start") > 0);
    CHECK(info.at("operation") == "session new");
    CHECK(info.at("agent_id") == agent.substr(0, 64));
    CHECK(info.at("acquired_at") == "2026-01-11T10:00:00Z");
    CHECK_FALSE(info.at("host").get<std::string>().empty());
    CHECK(store.read(".lock").empty());
  }
}

TEST_CASE_TEMPLATE("a name that says nothing, or that of a process that is gone, is not repeated",
                   Store, MemoryStore, PosixStore) {
  static constexpr const char* kTexts[] = {
      "",
      "half a tex",
      "[]",
      "{}",
      R"({"pid":"7"})",
      R"({"pid":-1,"host":"here"})",
      // A number above any that Linux gives out, on a host that is not named: this one.
      R"({"pid":2147483647,"pid_start":1,"operation":"add"})",
  };
  Store store;
  FileLock lock = lock_of(store);
  const FileLock::Guard guard = taken(lock);
  const auto host = nlohmann::json::parse(store.read(".lock.json")).at("host");
  for (const std::string text : kTexts) {
    CAPTURE(text);
    std::string with_host = text;
    if (with_host.ends_with("\"add\"}")) {
      with_host.insert(with_host.size() - 1, ",\"host\":" + host.dump());
    }
    store.write(".lock.json", with_host);
    CHECK(refused(lock).message.find("held by a process that left no name") != std::string::npos);
  }
}

TEST_CASE("a holder on another machine is named, whether or not its number is in use here") {
  PosixStore store;
  FileLock lock = lock_of(store);
  const FileLock::Guard guard = taken(lock);
  store.write(".lock.json", R"({"pid":2147483647,"pid_start":1,"host":"elsewhere","agent_id":"x",)"
                            R"("operation":"add","acquired_at":"2026-01-11T09:00:00Z"})");
  CHECK(refused(lock).message.find(
            "process 2147483647 (agent \"x\", add) on elsewhere, since 2026-01-11T09:00:00Z") !=
        std::string::npos);
}

TEST_CASE_TEMPLATE("whoever waited gets the lock of the folder that is there now", Store,
                   MemoryStore, PosixStore) {
  Store store;
  REQUIRE(store.files().make_directory("s").has_value());
  FileLock lock = lock_of(store, "s/");
  FileLock::Guard old_guard = taken(lock);
  std::thread waiter([&] {
    FileLock::Guard guard = taken(lock);
    guard.release();
  });
  REQUIRE(store.files().rename("s", "moved").has_value());
  REQUIRE(store.files().make_directory("s").has_value());
  FileLock fresh = lock_of(store, "s/");
  FileLock::Guard new_guard = taken(fresh);
  old_guard.release();
  // The waiter now finds that its lock file has moved, and queues up for the new one.
  new_guard.release();
  waiter.join();
  CHECK(refused(lock).message == "got the lock");
}

TEST_CASE_TEMPLATE("a folder that went away while somebody waited is not found", Store, MemoryStore,
                   PosixStore) {
  Store store;
  REQUIRE(store.files().make_directory("s").has_value());
  FileLock lock = lock_of(store, "s/");
  FileLock::Guard guard = taken(lock);
  REQUIRE(store.files().rename("s", "moved").has_value());
  guard.release();
  CHECK(is_not_found(refused(lock)));
  CHECK_FALSE(store.files().info("s").has_value());
}

TEST_CASE("a lock file that cannot be opened is an error that names it") {
  MemoryStore store;
  FaultyFileSystem files(store.files());
  FileLock lock(files, store.clock, ".lock", ".lock.json");
  for (const char* part : {".lock", ".lock.json"}) {
    files.fail({.operation = Operation::kOpen, .path_part = part});
    const Result<FileLock::Guard> guard = lock.acquire({.operation = "add"});
    REQUIRE_FALSE(guard.has_value());
    CHECK(guard.error().code == ErrorCode::E_STORAGE_IO);
    CHECK(guard.error().path == part);
    files.heal();
  }
  CHECK(lock.acquire({.operation = "add"}).has_value());
}

TEST_CASE("a link in the lock file's place is refused") {
  TemporaryDirectory outside;
  outside.write("target", "");
  TemporaryDirectory folder;
  std::filesystem::create_symlink(outside.path("target"), folder.path(".lock"));
  const auto files = std::move(open_posix_file_system(folder.path()).value());
  const ManualClock clock;
  FileLock lock(*files, clock, ".lock", ".lock.json");
  CHECK_FALSE(lock.acquire({.operation = "add"}).has_value());
}

TEST_CASE("the name of the holder that cannot be written is nobody's error") {
  MemoryStore store;
  FaultyFileSystem files(store.files());
  files.fail({.operation = Operation::kWriteAt, .error_number = 28, .from_then_on = true});
  FileLock lock(files, store.clock, ".lock", ".lock.json");
  const FileLock::Guard guard = taken(lock);
  CHECK(refused(lock).message.find("a process that left no name") != std::string::npos);
}

TEST_CASE("a file system without locks is named, with a way out") {
  for (const int error : {ENOLCK, EOPNOTSUPP}) {
    const Error refused = lock_error(error, "/mnt/share/.lock");
    CHECK(refused.code == ErrorCode::E_STORAGE_IO);
    CHECK(refused.path == "/mnt/share/.lock");
    CHECK(refused.message.contains("has no locks"));
    CHECK(refused.message.contains("--root"));
  }
}

TEST_CASE("the name of a holder that somebody has linked is written into a new file") {
  const TemporaryDirectory folder;
  const auto files = std::move(open_posix_file_system(folder.path()).value());
  const ManualClock clock;
  {
    FileLock lock(*files, clock, ".lock", ".lock.json");
    REQUIRE(lock.acquire({.operation = "add"}).has_value());
  }
  std::filesystem::create_hard_link(folder.path(".lock.json"), folder.path("outside"));
  const std::string before = read_file(*files, "outside", 4096).value();
  FileLock lock(*files, clock, ".lock", ".lock.json");
  CHECK(lock.acquire({.operation = "repair"}).has_value());
  CHECK(read_file(*files, "outside", 4096).value() == before);
}

}  // namespace bmad_mem::test::file_lock_test
