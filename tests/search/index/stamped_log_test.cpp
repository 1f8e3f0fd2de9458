// stamped_log_test.cpp - a stamp spares the hash where our writers appended, and never hides what
// anybody else did.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "concurrency/child.hpp"
#include "search/index/index_fixture.hpp"
#include "search/session_index.hpp"
#include "store/append_log.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/session_writer.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::stamped_log_test {
namespace {

const std::string kFacts = IndexedSession::log(EntryType::kFact);
const std::string kLock = lock_path(kSession);

/// Bytes of the log of facts that the index covers.
std::uint64_t covered_size(const SessionIndex& index) {
  return index.covers()[static_cast<std::size_t>(EntryType::kFact)].bytes;
}

/// A session on the real disk with a log that is long enough for a stamp.
struct Session {
  Session() {
    folder.make_folder(session_folder(kSession));
    for (int i = 0; i < 150; ++i) {
      append("apple pear " + std::string(500, 'x'));
    }
    REQUIRE(files->info(kFacts)->size > 64U << 10U);  // Less is scanned again.
  }

  /// As a process that comes, appends and goes.
  void append(const std::string& content) {
    SessionWriter writer(*files, system_clock(),
                         {.session_id = std::string(kSession), .log_files = {"facts.jsonl"}});
    const FileLock::Guard guard = std::move(writer.lock("add").value());
    const std::string line = fact("f" + std::to_string(++count), content).text + "\n";
    if (!writer.append(guard, "facts.jsonl", line)) {
      throw std::runtime_error("not written");
    }
  }
  [[nodiscard]] std::string log() const { return folder.read(kFacts); }
  /// In place, as an editor without a temporary file.
  void edit(const std::string& from, const std::string& to) const {
    std::string bytes = log();
    folder.write(kFacts, bytes.replace(bytes.find(from), from.size(), to));
  }
  void tick() const {
    folder.write("clock", "");
    const std::int64_t before = files->info("clock")->ctime_ns;
    while (files->info("clock")->ctime_ns == before) {
      folder.write("clock", "");
    }
  }
  [[nodiscard]] struct timespec time() const {
    struct stat status{};
    REQUIRE(stat(folder.path(kFacts).c_str(), &status) == 0);
    return status.st_mtim;
  }
  void put_back(const struct timespec& time) const {
    const struct timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, folder.path(kFacts).c_str(), times, 0) == 0);
  }
  std::unique_ptr<SessionIndex> index() {
    return std::make_unique<SessionIndex>(
        watched, system_clock(), SessionIndex::Options{.session_id = std::string(kSession)});
  }
  /// Where the first byte of the log stands that was read since clear_log().
  [[nodiscard]] std::uint64_t first_read() const {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    const std::string call = "read_at " + kFacts + " ";
    for (const std::string& each : watched.log()) {
      if (each.starts_with(call)) {
        first = std::min<std::uint64_t>(first, std::stoull(each.substr(call.size())));
      }
    }
    return first;
  }
  std::string staleness(SessionIndex& index) {
    if (const Status done = index.refresh(); !done) {
      return done.error().to_string();
    }
    const Result<std::vector<std::string>> answer = told(index);
    return answer ? first_difference(*answer, told_from_logs(*files, system_clock()))
                  : answer.error().to_string();
  }

  TemporaryDirectory folder;
  std::unique_ptr<FileSystem> files = std::move(open_posix_file_system(folder.path()).value());
  FaultyFileSystem watched{*files};
  int count = 0;
};

}  // namespace

TEST_CASE("what our writers append is taken in without a byte of what is covered") {
  Session session;
  const std::unique_ptr<SessionIndex> index = session.index();
  REQUIRE(index->refresh());
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t covered = covered_size(*index);
    session.append("fresh words");
    session.append("and others");
    session.watched.clear_log();
    REQUIRE(index->refresh());
    CHECK(session.first_read() == covered);
    CHECK(covered_size(*index) == session.log().size());
  }
  session.watched.clear_log();
  REQUIRE(index->refresh());  // A stamped time is telling at once.
  CHECK(session.watched.count(Operation::kOpen) == 0);
  CHECK(session.staleness(*index) == "");
}

TEST_CASE("whatever anybody else does to a log is seen, and what our writers do after it") {
  struct Row {
    const char* name;
    std::function<void(Session&)> change;
  };
  for (const Row& row : {
           Row{"a hand edit of the same size in the tick of an append",
               [](Session& s) {
                 s.append("last");
                 s.edit("apple", "mango");
               }},
           Row{"a hand edit of the same size, then an append",
               [](Session& s) {
                 s.edit("apple", "mango");
                 s.append("last");
               }},
           Row{"a hand edit between two appends",
               [](Session& s) {
                 s.append("one");
                 s.edit("apple", "mango");
                 s.append("two");
               }},
           Row{"a hand edit whose time is put back, then an append",
               [](Session& s) {
                 const struct timespec time = s.time();
                 s.tick();
                 s.edit("apple", "mango");
                 s.put_back(time);
                 s.append("last");
               }},
           Row{"a checkout of an older file, which then outgrows what is covered",
               [](Session& s) {
                 const std::string bytes = s.log();
                 s.folder.write("other", bytes.substr(0, bytes.find('\n', bytes.size() / 2) + 1));
                 REQUIRE(s.files->rename("other", kFacts));
                 for (int i = 0; i < 150; ++i) {
                   s.append("plum " + std::string(500, 'x'));
                 }
               }},
           Row{"a backup that is put back with its time and its stamp, and outgrows what is "
               "covered",
               [](Session& s) {
                 s.append("kept");
                 const std::string bytes = s.log();
                 const std::string lock = s.folder.read(kLock);
                 const struct timespec time = s.time();
                 s.append("lost, but seen");
                 const std::unique_ptr<SessionIndex> other = s.index();
                 CHECK(s.staleness(*other) == "");
                 s.tick();
                 s.folder.write(kFacts, bytes);
                 s.put_back(time);
                 s.folder.write(kLock, lock);
                 s.append("another one in its place");
                 CHECK(s.staleness(*other) == "");
               }},
           Row{"a writer that was killed before its stamp, an edit, and an append",
               [](Session& s) {
                 const std::string lock = s.folder.read(kLock);
                 s.append("unstamped");
                 s.folder.write(kLock, lock);
                 s.edit("apple", "mango");
                 s.append("last");
               }},
           Row{"a writer that was killed in its write",
               [](Session& s) {
                 s.folder.write(kFacts, s.log() + R"({"id":)");
                 s.append("last");
               }},
           Row{"a stamp that is garbage",
               [](Session& s) {
                 s.folder.write(kLock, std::string(512, '\xA5'));
                 s.edit("apple", "mango");
                 s.append("last");
               }},
           Row{"a stamp of another session",
               [](Session& s) {
                 Session other;
                 s.folder.write(kLock, other.folder.read(kLock));
                 s.edit("apple", "mango");
               }},
           Row{"a compaction, and it grows again",
               [](Session& s) {
                 const std::string bytes = s.log();
                 s.folder.write("other", bytes.substr(bytes.find('\n') + 1));
                 REQUIRE(s.files->rename("other", kFacts));
                 s.append("plum " + std::string(900, 'x'));
               }},
       }) {
    for (const bool before : {false, true}) {
      CAPTURE(row.name);
      CAPTURE(before);
      Session session;
      const std::unique_ptr<SessionIndex> warm = session.index();
      REQUIRE(session.staleness(*warm) == "");
      if (before) {
        session.append("stamped growth");
        CHECK(session.staleness(*warm) == "");
      }
      row.change(session);
      CHECK(session.staleness(*warm) == "");
      CHECK(session.staleness(*session.index()) == "");
      session.append("and on");
      CHECK(session.staleness(*warm) == "");
      session.watched.clear_log();
      session.append("and on");  // By now there is a chain again.
      const std::uint64_t covered = covered_size(*warm);
      REQUIRE(warm->refresh());
      CHECK(session.first_read() == covered);
    }
  }
}

TEST_CASE("a hand edit right after an append is seen even with its time put back") {
  Session session;
  // As if the clock stood at the moment of the append, however slow this machine is.
  const struct timespec written = session.time();
  const ManualClock clock(Timestamp(std::chrono::milliseconds(
      static_cast<std::int64_t>(written.tv_sec) * 1000 + written.tv_nsec / 1'000'000)));
  SessionIndex index(session.watched, clock, {.session_id = std::string(kSession)});
  REQUIRE(index.refresh());
  REQUIRE(index.covers()[static_cast<std::size_t>(EntryType::kFact)].mtime_is_telling);
  session.tick();
  session.edit("apple", "mango");
  session.put_back(written);
  CHECK(session.staleness(index) == "");
}

TEST_CASE("lines that come while a log is looked at are of no chain, and are seen") {
  Session session;
  const std::unique_ptr<SessionIndex> index = session.index();
  session.watched.meanwhile({.operation = Operation::kOpen, .nth = 1, .path_part = "facts.jsonl"},
                            [&] { session.append("meanwhile"); });
  REQUIRE(index->refresh());
  session.watched.heal();
  CHECK(index->covers()[static_cast<std::size_t>(EntryType::kFact)].chain == 0);
  CHECK(session.staleness(*index) == "");
  CHECK(index->covers()[static_cast<std::size_t>(EntryType::kFact)].chain != 0);
}

TEST_CASE("two processes append while a third one asks") {
  Session session;
  const auto append_some = [&](int first) {
    session.count = first;
    for (int i = 0; i < 150; ++i) {
      session.append("swarm " + std::to_string(first + i));
    }
    return 0;
  };
  const std::unique_ptr<SessionIndex> index = session.index();
  const std::uint64_t last = session.log().size();
  Child one([&] { return append_some(1000); });
  Child two([&] { return append_some(2000); });
  for (int i = 0; i < 300; ++i) {
    const std::string before = session.log();
    REQUIRE(index->refresh());
    REQUIRE(covered_size(*index) >= before.rfind('\n') + 1);
  }
  CHECK(one.wait() == 0);
  CHECK(two.wait() == 0);
  CHECK(session.staleness(*index) == "");
  CHECK(covered_size(*index) > last);
  CHECK(index->entry_count() == 450);
}

}  // namespace bmad_mem::test::stamped_log_test
