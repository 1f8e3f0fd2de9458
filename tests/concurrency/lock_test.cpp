// lock_test.cpp - one writer at a time among processes: who holds it, who waits, who dies.
//
// The parent asks doctest; children answer by their exit status (see child.hpp).
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "concurrency/child.hpp"
#include "store/file_lock.hpp"
#include "store/posix_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::lock_test {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// A folder with a lock in it. Each process opens its own after the fork, or keeps the parent's.
class LockFolder {
 public:
  explicit LockFolder(std::string path)
      : path_(std::move(path)),
        files_(std::move(open_posix_file_system(path_).value())),
        lock_(*files_, clock_, ".lock", ".lock.json") {}

  Result<FileLock::Guard> acquire(milliseconds timeout, std::string_view operation = "add",
                                  std::string_view agent = "architect") {
    return lock_.acquire({.operation = operation, .agent_id = agent, .timeout = timeout});
  }
  [[nodiscard]] nlohmann::json info() const {
    std::ifstream file(path_ + "/.lock.json");
    return nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  }

 private:
  std::string path_;
  ManualClock clock_;
  std::unique_ptr<FileSystem> files_;
  FileLock lock_;
};

/// What other programs use: a POSIX lock on a whole file, held for as long as its process lives.
class PosixLock {
 public:
  explicit PosixLock(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}

  [[nodiscard]] bool lock() const { return set(F_SETLKW, F_WRLCK); }
  [[nodiscard]] bool try_lock() const { return set(F_SETLK, F_WRLCK); }
  [[nodiscard]] bool unlock() const { return set(F_SETLK, F_UNLCK); }

 private:
  [[nodiscard]] bool set(int command, short type) const {
    struct flock range{};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    return ::fcntl(file_, command, &range) == 0;
  }

  int file_;
};

constexpr milliseconds kLong(60'000);
constexpr milliseconds kShort(20);

bool times_out(const Result<FileLock::Guard>& guard) {
  return !guard && guard.error().code == ErrorCode::E_LOCK_TIMEOUT;
}

/// In a child: takes the lock, says so, and keeps it until it is killed.
int hold(const std::string& path, const Signal& held, std::string_view operation = "repair",
         std::string_view agent = "reviewer") {
  LockFolder folder(path);
  const Result<FileLock::Guard> guard = folder.acquire(kLong, operation, agent);
  if (!guard) {
    return 1;
  }
  held.raise();
  wait_to_be_killed();
}

/// When process `pid` started, as proc(5) has it in field 22.
std::uint64_t start_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(0, text.rfind(')') + 2);
  for (int field = 3; field < 22; ++field) {
    text.erase(0, text.find(' ') + 1);
  }
  return std::stoull(text);
}

std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace

TEST_CASE("processes take turns") {
  constexpr int kProcesses = 8;
  constexpr int kTurns = 100;
  TemporaryDirectory folder;
  Shared<int> counter;  // Neither atomic nor guarded by anything but the lock.
  std::vector<Child> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      LockFolder own(folder.path());
      for (int turn = 0; turn < kTurns; ++turn) {
        const Result<FileLock::Guard> guard = own.acquire(kLong);
        if (!guard) {
          return 1;
        }
        const int seen = *static_cast<volatile int*>(&*counter);
        ::sched_yield();  // Whoever else were inside would now be seen.
        *counter = seen + 1;
      }
      return 0;
    });
  }
  for (Child& child : children) {
    CHECK(child.wait() == 0);
  }
  CHECK(*counter == kProcesses * kTurns);
}

TEST_CASE("threads of several processes take turns") {
  constexpr int kProcesses = 3;
  constexpr int kThreads = 3;
  constexpr int kTurns = 30;
  TemporaryDirectory folder;
  Shared<int> counter;
  std::vector<Child> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.emplace_back([&] {
      LockFolder own(folder.path());
      std::atomic<int> failures = 0;
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
          for (int turn = 0; turn < kTurns; ++turn) {
            const Result<FileLock::Guard> guard = own.acquire(kLong);
            failures += guard ? 0 : 1;
            ++*counter;
          }
        });
      }
      for (std::thread& thread : threads) {
        thread.join();
      }
      return failures.load();
    });
  }
  for (Child& child : children) {
    CHECK(child.wait() == 0);
  }
  CHECK(*counter == kProcesses * kThreads * kTurns);
}

TEST_CASE("a time-out names the holder and comes when it was asked for") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  Signal held;
  Child holder([&] { return hold(folder.path(), held, "repair", "reviewer"); });
  held.wait();
  for (const milliseconds timeout : {milliseconds(0), milliseconds(50), milliseconds(200)}) {
    const auto start = SteadyClock::now();
    const Result<FileLock::Guard> guard = own.acquire(timeout);
    const auto waited = SteadyClock::now() - start;
    MESSAGE("asked for ", timeout.count(), " ms, waited ",
            std::chrono::duration<double, std::milli>(waited).count(), " ms");
    REQUIRE(times_out(guard));
    CHECK(guard.error().message.find(fmt::format(
              "it is held by process {} (agent \"reviewer\", repair) on ", holder.pid())) !=
          std::string::npos);
    CHECK(waited >= timeout);
    CHECK(waited < timeout + std::chrono::seconds(2));
  }
}

TEST_CASE("a killed holder has given the lock back when it is gone") {
  TemporaryDirectory folder;
  // Without any time to wait; from a process of its own, where no earlier wait is pending.
  const auto free_at_once = [&] {
    Child child([&] { return LockFolder(folder.path()).acquire(milliseconds(0)) ? 1 : 0; });
    return child.wait() == 1;
  };
  for (int i = 0; i < 5; ++i) {
    Signal held;
    Child holder([&] { return hold(folder.path(), held); });
    held.wait();
    REQUIRE_FALSE(free_at_once());
    holder.kill();
    CHECK(free_at_once());
  }
}

TEST_CASE("whoever waits gets the lock of a holder that is killed") {
  TemporaryDirectory folder;
  Signal held;
  Signal asking;
  Child holder([&] { return hold(folder.path(), held); });
  held.wait();
  Child waiter([&] {
    LockFolder own(folder.path());
    if (!times_out(own.acquire(kShort))) {
      return 1;
    }
    asking.raise();
    return own.acquire(kLong).has_value() ? 0 : 2;
  });
  asking.wait();
  const auto start = SteadyClock::now();
  holder.kill();
  CHECK(waiter.wait() == 0);
  const auto waited = SteadyClock::now() - start;
  MESSAGE("from the kill to the waiter's end: ",
          std::chrono::duration<double, std::milli>(waited).count(), " ms");
  CHECK(waited < std::chrono::seconds(20));
}

TEST_CASE("the name of a holder that was killed is not given for the one who came after") {
  TemporaryDirectory folder;
  Signal held;
  Child holder([&] { return hold(folder.path(), held); });
  held.wait();
  const pid_t old_pid = holder.pid();
  holder.kill();
  // A program that locks without leaving a name; only the kernel knows it.
  Signal held_again;
  Child silent([&]() -> int {
    const PosixLock lock(folder.path(".lock"));
    if (!lock.lock()) {
      return 1;
    }
    held_again.raise();
    wait_to_be_killed();
  });
  held_again.wait();
  LockFolder own(folder.path());
  const Result<FileLock::Guard> guard = own.acquire(kShort);
  REQUIRE(times_out(guard));
  CHECK(guard.error().message.find(fmt::format("process {}", old_pid)) == std::string::npos);
  CHECK(guard.error().message.find(fmt::format("held by process {};", silent.pid())) !=
        std::string::npos);
}

TEST_CASE("the holder is named whoever came between its turns, however quickly") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  for (int i = 0; i < 20; ++i) {
    {
      REQUIRE(own.acquire(kLong, "add", "parent").has_value());
    }
    Child other([&] { return LockFolder(folder.path()).acquire(kLong, "add", "other") ? 0 : 1; });
    REQUIRE(other.wait() == 0);
    const Result<FileLock::Guard> guard = own.acquire(kLong, "add", "parent");
    REQUIRE(guard.has_value());
    CHECK(own.info().at("pid") == ::getpid());
    CHECK(own.info().at("agent_id") == "parent");
  }
}

TEST_CASE("a POSIX lock on the same file keeps ours out, and ours keeps it out") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  {
    REQUIRE(own.acquire(kLong).has_value());
  }  // Makes the file.
  {
    Signal held;
    Signal release;
    Child posix_holder([&] {
      const PosixLock lock(folder.path(".lock"));
      if (!lock.lock()) {
        return 1;
      }
      held.raise();
      release.wait();
      return lock.unlock() ? 0 : 1;
    });
    held.wait();
    CHECK(times_out(own.acquire(kShort)));
    release.raise();
    CHECK(posix_holder.wait() == 0);
    CHECK(own.acquire(kLong).has_value());
  }
  const auto posix_gets_it = [&] {
    Child child([&] {
      const PosixLock lock(folder.path(".lock"));
      return lock.try_lock() ? 1 : 0;
    });
    return child.wait() == 1;
  };
  Result<FileLock::Guard> guard = own.acquire(kLong);
  REQUIRE(guard.has_value());
  CHECK_FALSE(posix_gets_it());
  // Opening and closing the file in the holder's process would take a POSIX lock away.
  ::close(::open(folder.path(".lock").c_str(), O_RDWR | O_CLOEXEC));
  CHECK_FALSE(posix_gets_it());
  guard->release();
  CHECK(posix_gets_it());
}

TEST_CASE("a forked child has no part in its parent's lock") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  Result<FileLock::Guard> guard = own.acquire(kLong, "compact", "parent");
  REQUIRE(guard.has_value());

  SUBCASE("it waits like anybody, with the objects it has from its parent") {
    Child child([&] {
      const Result<FileLock::Guard> mine = own.acquire(kShort);
      const bool names_parent =
          !mine && mine.error().message.find(fmt::format("process {} (agent \"parent\"",
                                                         ::getppid())) != std::string::npos;
      return times_out(mine) && names_parent ? 0 : 1;
    });
    CHECK(child.wait() == 0);
  }
  SUBCASE("it cannot give it back") {
    Child child([&] {
      guard->release();
      return 0;
    });
    CHECK(child.wait() == 0);
    Child other([&] {
      LockFolder fresh(folder.path());
      return times_out(fresh.acquire(kShort)) ? 0 : 1;
    });
    CHECK(other.wait() == 0);
  }
  SUBCASE("it gets it when its parent gives it back") {
    Signal asking;
    Child child([&] {
      if (!times_out(own.acquire(kShort))) {
        return 1;
      }
      asking.raise();
      return own.acquire(kLong).has_value() ? 0 : 2;
    });
    asking.wait();
    guard->release();
    CHECK(child.wait() == 0);
  }
  guard->release();
  CHECK(own.acquire(kLong).has_value());
}

TEST_CASE("a forked child leaves its own name, not its parent's") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  {
    REQUIRE(own.acquire(kLong).has_value());
  }
  CHECK(own.info().at("pid") == ::getpid());
  CHECK(own.info().at("pid_start") == start_of(::getpid()));
  // The kernel counts starts in ticks of 10 ms: a child of the same tick would prove nothing.
  Signal held;
  std::unique_ptr<Child> child;
  do {
    child = std::make_unique<Child>([&]() -> int {
      const Result<FileLock::Guard> guard = own.acquire(kLong, "add", "child");
      held.raise();
      wait_to_be_killed();
    });
    held.wait();
    REQUIRE(own.info().at("pid") == child->pid());
  } while (start_of(child->pid()) == start_of(::getpid()));
  CHECK(own.info().at("pid_start") == start_of(child->pid()));
  const Result<FileLock::Guard> guard = own.acquire(kShort);
  REQUIRE(times_out(guard));
  CHECK(guard.error().message.find(fmt::format("process {} (agent \"child\"", child->pid())) !=
        std::string::npos);
}

TEST_CASE("whoever gave up waiting takes nothing later") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  Signal held;
  Signal release;
  Child holder([&] {
    LockFolder theirs(folder.path());
    Result<FileLock::Guard> guard = theirs.acquire(kLong);
    held.raise();
    release.wait();
    return 0;
  });
  held.wait();
  REQUIRE(times_out(own.acquire(kShort)));
  release.raise();
  REQUIRE(holder.wait() == 0);
  for (int i = 0; i < 3; ++i) {
    Child other([&] {
      LockFolder theirs(folder.path());
      return theirs.acquire(kLong).has_value() ? 0 : 1;
    });
    CHECK(other.wait() == 0);
    CHECK(own.acquire(kLong).has_value());
  }
}

TEST_CASE("many time-outs need one helper thread, not many") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  Signal held;
  Child holder([&] { return hold(folder.path(), held); });
  held.wait();
  const auto before = thread_count();
  for (int i = 0; i < 10; ++i) {
    REQUIRE(times_out(own.acquire(milliseconds(1))));
  }
  CHECK(thread_count() <= before + 1);
  holder.kill();
  CHECK(own.acquire(kLong).has_value());
}

TEST_CASE("who only tries sends nobody to wait") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  Signal held;
  Child holder([&] { return hold(folder.path(), held); });
  held.wait();
  const auto before = thread_count();
  REQUIRE(times_out(own.acquire(milliseconds(0))));
  CHECK(thread_count() == before);
  holder.kill();
  CHECK(own.acquire(milliseconds(0)).has_value());
}

TEST_CASE("a process that may start no thread gets an error, and the lock when it is free") {
  TemporaryDirectory folder;
  Signal held;
  Signal tried;
  Child holder([&] {
    LockFolder theirs(folder.path());
    Result<FileLock::Guard> guard = theirs.acquire(kLong);
    held.raise();
    tried.wait();
    return 0;
  });
  held.wait();
  Signal free;
  Child child([&] {
    // The limit does not hold for root.
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0) {
      for (const char* name : {"", ".lock", ".lock.json"}) {
        if (::chown(folder.path(name).c_str(), kNobody, kNobody) != 0) {
          return 1;
        }
      }
      if (::setuid(kNobody) != 0) {
        return 1;
      }
    }
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) {
      return 1;
    }
    LockFolder own(folder.path());
    // A process that stands still for a while must not be late instead.
    const Result<FileLock::Guard> refused = own.acquire(kLong);
    if (refused || refused.error().code != ErrorCode::E_STORAGE_IO ||
        refused.error().message.find("start a thread") == std::string::npos) {
      return 2;
    }
    tried.raise();
    free.wait();
    return own.acquire(kShort).has_value() ? 0 : 3;
  });
  CHECK(holder.wait() == 0);
  free.raise();
  CHECK(child.wait() == 0);
}

TEST_CASE("a lock file that somebody removed is made again, and excludes again") {
  TemporaryDirectory folder;
  LockFolder own(folder.path());
  {
    REQUIRE(own.acquire(kLong).has_value());
  }
  std::filesystem::remove(folder.path(".lock"));
  Signal held;
  Child holder([&] { return hold(folder.path(), held); });
  held.wait();
  CHECK(times_out(own.acquire(kShort)));
  holder.kill();
  CHECK(own.acquire(kLong).has_value());
}

}  // namespace bmad_mem::test::lock_test
