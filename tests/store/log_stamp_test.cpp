// log_stamp_test.cpp - a chain goes on only where nobody but our writers touched the log.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/append_log.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/session_writer.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::log_stamp_test {
namespace {

constexpr std::string_view kLine = "{\"id\":\"0123456789\"}\n";
const std::string kLog = session_file("s1", "facts.jsonl");
const std::string kOther = session_file("s1", "events.jsonl");
const std::string kLock = lock_path("s1");

/// A session on the real disk.
struct Session {
  Session() { folder.make_folder(session_folder("s1")); }

  [[nodiscard]] SessionWriter writer() const {
    return {*files,
            clock,
            {.session_id = "s1", .log_files = {"facts.jsonl", "events.jsonl"}, .agent_id = "a"}};
  }
  /// As a process that comes, appends and goes.
  void append(const char* log_file = "facts.jsonl") const {
    SessionWriter once = writer();
    append_with(once, log_file);
  }
  void append_with(SessionWriter& writer, const char* log_file = "facts.jsonl") const {
    const FileLock::Guard guard = std::move(writer.lock("add").value());
    const AppendLog::Written written = writer.append(guard, log_file, kLine).value();
    REQUIRE(writer.settle(guard, log_file, written));
  }
  [[nodiscard]] std::optional<LogStamp> stamp(EntryType type = EntryType::kFact) const {
    return read_stamp(*files, "s1", type);
  }
  /// Of the stamp, if it describes the log; else 0.
  [[nodiscard]] std::uint64_t chain() const {
    const std::optional<LogStamp> found = stamp();
    return found && found->describes(files->info(kLog).value()) ? found->chain : 0;
  }
  /// Until the clock that files are stamped with has moved on.
  void tick() const {
    folder.write("clock", "");
    const std::int64_t before = files->info("clock")->ctime_ns;
    while (files->info("clock")->ctime_ns == before) {
      folder.write("clock", "");
    }
  }
  void put_back_time(const std::string& name, const struct timespec& time) const {
    const struct timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, folder.path(name).c_str(), times, 0) == 0);
  }
  [[nodiscard]] struct timespec time_of(const std::string& name) const {
    struct stat status{};
    REQUIRE(stat(folder.path(name).c_str(), &status) == 0);
    return status.st_mtim;
  }

  TemporaryDirectory folder;
  ManualClock clock;
  std::unique_ptr<FileSystem> files = std::move(open_posix_file_system(folder.path()).value());
};

std::string changed(std::string bytes) {
  bytes[bytes.find("0123")] = 'x';
  return bytes;
}

struct Change {
  const char* name;
  std::function<void(const Session&)> make;
};

std::vector<Change> changes_of_log() {
  return {
      {"a hand edit of the same size, in the same tick of the clock",
       [](const Session& s) { s.folder.write(kLog, changed(s.folder.read(kLog))); }},
      {"the same, with its time put back",
       [](const Session& s) {
         const struct timespec time = s.time_of(kLog);
         s.tick();
         s.folder.write(kLog, changed(s.folder.read(kLog)));
         s.put_back_time(kLog, time);
       }},
      {"a checkout",
       [](const Session& s) {
         s.folder.write(kOther, s.folder.read(kLog));
         REQUIRE(s.files->rename(kOther, kLog));
       }},
      {"a backup of an older state, put back with its times and its stamp",
       [](const Session& s) {
         const std::string log = s.folder.read(kLog);
         const std::string lock = s.folder.read(kLock);
         const struct timespec time = s.time_of(kLog);
         s.append();
         s.tick();
         s.folder.write(kLog, log);
         s.put_back_time(kLog, time);
         s.folder.write(kLock, lock);
       }},
      {"a line that somebody adds",
       [](const Session& s) { s.folder.write(kLog, s.folder.read(kLog) + std::string(kLine)); }},
      {"a line that somebody takes away", [](const Session& s) { s.folder.write(kLog, kLine); }},
      {"a writer that was killed in its write",
       [](const Session& s) { s.folder.write(kLog, s.folder.read(kLog) + "{\"id\":"); }},
      {"a writer that was killed between its write and its stamp",
       [](const Session& s) {
         const std::string lock = s.folder.read(kLock);
         s.append();
         s.folder.write(kLock, lock);
       }},
  };
}

std::vector<Change> changes_of_stamp() {
  return {
      {"no stamp", [](const Session& s) { s.folder.write(kLock, ""); }},
      {"a torn stamp",
       [](const Session& s) {
         std::string lock = s.folder.read(kLock);
         lock[lock.size() - 40] = static_cast<char>(lock[lock.size() - 40] + 1);
         s.folder.write(kLock, lock);
       }},
      {"half a stamp",
       [](const Session& s) {
         const std::string lock = s.folder.read(kLock);
         s.folder.write(kLock, lock.substr(0, lock.size() - 8));
       }},
      {"another file in place of the lock",
       [](const Session& s) { REQUIRE(s.files->remove(kLock)); }},
  };
}

}  // namespace

TEST_CASE("an append leaves a stamp that says what the log looks like, and the next ones go on") {
  const Session session;
  CHECK_FALSE(session.stamp());
  session.append();
  const std::uint64_t chain = session.chain();
  CHECK(chain != 0);
  session.append();
  CHECK(session.chain() == chain);
  session.append("events.jsonl");
  CHECK(session.stamp(EntryType::kEvent)->chain != chain);
  session.append();
  CHECK(session.chain() == chain);
  CHECK_FALSE(session.stamp(EntryType::kDecision));
}

TEST_CASE("whatever else happens to a log, or to its stamp, begins another chain") {
  std::vector<Change> changes = changes_of_log();
  std::ranges::move(changes_of_stamp(), std::back_inserter(changes));
  for (const Change& change : changes) {
    CAPTURE(change.name);
    const Session session;
    session.append();
    session.append();
    const std::uint64_t chain = session.chain();
    change.make(session);
    CHECK(session.chain() == 0);
    session.append();
    CHECK(session.chain() != chain);
    CHECK(session.chain() != 0);
  }
}

TEST_CASE("a writer that stays goes on with its chain until others touch the log") {
  for (const Change& change : changes_of_log()) {
    CAPTURE(change.name);
    const Session session;
    SessionWriter writer = session.writer();
    session.append_with(writer);
    const std::uint64_t chain = session.chain();
    session.append_with(writer);
    CHECK(session.chain() == chain);
    change.make(session);
    session.append_with(writer);
    CHECK(session.chain() != chain);
    CHECK(session.chain() != 0);
  }
}

TEST_CASE("a writer that stays sees that the last line has lost its end, though not its size") {
  const Session session;
  SessionWriter writer = session.writer();
  session.append_with(writer);
  session.append_with(writer);
  std::string log = session.folder.read(kLog);
  log.back() = ' ';
  session.folder.write(kLog, log);
  session.append_with(writer);
  CHECK(session.folder.read(kLog).ends_with("\n" + std::string(kLine)));
}

TEST_CASE("the stamp in a copied folder says nothing of the copy, nor does another session's") {
  const Session session;
  session.append();
  const std::uint64_t chain = session.chain();
  std::filesystem::copy(session.folder.path(session_folder("s1")),
                        session.folder.path(session_folder("s2")),
                        std::filesystem::copy_options::recursive);
  const std::string copy = session_file("s2", "facts.jsonl");
  session.put_back_time(copy, session.time_of(kLog));
  const std::optional<LogStamp> copied = read_stamp(*session.files, "s2", EntryType::kFact);
  REQUIRE(copied);
  CHECK(copied->chain == chain);
  CHECK_FALSE(copied->describes(session.files->info(copy).value()));
  CHECK(session.chain() == chain);
}

TEST_CASE("a record at the place of another type is none") {
  const Session session;
  session.append();
  std::string lock = session.folder.read(kLock);
  const std::size_t at = static_cast<std::size_t>(EntryType::kFact) * 64;
  REQUIRE(lock.size() == at + 64);
  session.folder.write(kLock, lock + lock.substr(at));
  CHECK_FALSE(session.stamp(static_cast<EntryType>(static_cast<int>(EntryType::kFact) + 1)));
  CHECK(session.stamp());
}

TEST_CASE("where times can't be set, or are rounded, there is no stamp, and lines are written") {
  MemoryFileSystem disk;
  const ManualClock clock;
  disk.make_folders(session_folder("s1"));
  SessionWriter writer(disk, clock, {.session_id = "s1", .log_files = {"facts.jsonl"}});
  const FileLock::Guard guard = std::move(writer.lock("add").value());
  REQUIRE(writer.append(guard, "facts.jsonl", kLine));
  CHECK(disk.read(kLog) == kLine);
  CHECK_FALSE(read_stamp(disk, "s1", EntryType::kFact));
  disk.let_times_be_set();
  REQUIRE(writer.append(guard, "facts.jsonl", kLine));
  CHECK(read_stamp(disk, "s1", EntryType::kFact));
}

TEST_CASE("a file that is no log gets no stamp") {
  CHECK(entry_type_of_log_file("facts.jsonl") == EntryType::kFact);
  CHECK_FALSE(entry_type_of_log_file("access.jsonl"));
  CHECK_FALSE(entry_type_of_log_file(""));
}

}  // namespace bmad_mem::test::log_stamp_test
