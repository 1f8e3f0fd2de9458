// session_writer_test.cpp - lock, logs, quarantine and quota of one session together.
#include "store/session_writer.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::session_writer_test {
namespace {

constexpr std::string_view kLine = "{\"id\":\"0123456789\"}\n";  // 20 bytes.

/// One session with two logs and a quota.
class Session {
 public:
  explicit Session(std::uint64_t size_max = 10U << 20U) : size_max_(size_max) {
    disk.make_folders(session_folder("s1"));
  }

  /// A writer as another process would have it.
  SessionWriter writer() {
    return {files,
            clock,
            {.session_id = "s1",
             .log_files = {"facts.jsonl", "events.jsonl"},
             .size_max = size_max_,
             .lock_timeout = std::chrono::milliseconds(50),
             .agent_id = "architect"}};
  }
  std::string log(const char* name) { return disk.read(session_file("s1", name)); }
  void put(const char* name, std::size_t size) {
    disk.write(session_file("s1", name), std::string(size - 1, 'x') + "\n");
  }

  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  ManualClock clock;

 private:
  std::uint64_t size_max_;
};

/// As an add does it: the lock, one write, and the sync without the lock.
Status append_durably(SessionWriter& writer, const std::string& log_file, std::string_view lines) {
  AppendLog::Written written;
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, writer.lock("add"));
    BMAD_TRY_ASSIGN(written, writer.append(guard, log_file, lines));
  }
  return AppendLog::sync(written);
}

ErrorCode code_of(const Status& status) {
  REQUIRE_FALSE(status.has_value());
  return status.error().code;
}

}  // namespace

TEST_CASE("a writer that was never used has touched nothing") {
  Session session;
  const SessionWriter writer = session.writer();
  CHECK(session.files.log().empty());
}

TEST_CASE("lines go to the log they are for") {
  Session session;
  SessionWriter writer = session.writer();
  REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  REQUIRE(append_durably(writer, "events.jsonl", "{\"id\":1}\n").has_value());
  REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  CHECK(session.log("facts.jsonl") == std::string(kLine) + std::string(kLine));
  CHECK(session.log("events.jsonl") == "{\"id\":1}\n");
}

TEST_CASE("the sync of a durable append comes after the lock was given back") {
  Session session;
  SessionWriter writer = session.writer();
  REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  const FileLock::Guard guard = std::move(writer.lock("test").value());
  const AppendLog::Written written = writer.append(guard, "facts.jsonl", kLine).value();
  CHECK(written.offset == kLine.size());
  CHECK(session.files.log().back().starts_with("write sessions/s1/facts.jsonl"));
  CHECK(AppendLog::sync(written).has_value());
  CHECK(session.files.log().back() == "sync_data sessions/s1/facts.jsonl");
}

TEST_CASE("who holds the session's lock keeps other writers out") {
  Session session;
  SessionWriter holder = session.writer();
  SessionWriter other = session.writer();
  FileLock::Guard guard = std::move(holder.lock("repair").value());
  const Status appended = append_durably(other, "facts.jsonl", kLine);
  CHECK(code_of(appended) == ErrorCode::E_LOCK_TIMEOUT);
  CHECK(appended.error().message.find("agent \"architect\", repair") != std::string::npos);
  guard.release();
  CHECK(append_durably(other, "facts.jsonl", kLine).has_value());
}

TEST_CASE("a session that isn't there is not found") {
  Session session;
  SessionWriter writer = session.writer();
  REQUIRE(session.disk.remove_directory(session_folder("s1")).has_value());
  const Status appended = append_durably(writer, "facts.jsonl", kLine);
  CHECK(code_of(appended) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(appended.error().message ==
        "there is no session s1; `bmad-mem session list` shows the ones there are");
  CHECK_FALSE(session.disk.info(session_folder("s1")).has_value());
}

TEST_CASE("a warm writer notices that the session's folder was moved away") {
  Session session;
  SessionWriter writer = session.writer();
  REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  REQUIRE(session.disk.rename(session_folder("s1"), "moved").has_value());

  SUBCASE("and nothing came in its place") {
    CHECK(code_of(append_durably(writer, "facts.jsonl", kLine)) == ErrorCode::E_SESSION_NOT_FOUND);
  }
  SUBCASE("and another one came") {
    session.disk.make_folders(session_folder("s1"));
    REQUIRE(append_durably(writer, "facts.jsonl", "{\"id\":1}\n").has_value());
    CHECK(session.log("facts.jsonl") == "{\"id\":1}\n");
  }
  CHECK(session.disk.read("moved/facts.jsonl") == kLine);
}

TEST_CASE("a session takes bytes up to its quota, and no more") {
  Session session(5 * kLine.size());
  SessionWriter writer = session.writer();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  }
  const Status appended = append_durably(writer, "facts.jsonl", "\n");
  CHECK(code_of(appended) == ErrorCode::E_SIZE_LIMIT);
  CHECK(appended.error().message.find("storage.max_session_size_mb") != std::string::npos);
  CHECK(appended.error().path == "memory:/sessions/s1");
  CHECK(session.log("facts.jsonl").size() == 5 * kLine.size());
  // Nothing is wrong with the log: what frees bytes lets it grow again.
  session.put("facts.jsonl", 10);
  CHECK(append_durably(writer, "facts.jsonl", kLine).has_value());
}

TEST_CASE("a batch that is too large for the quota is refused whole") {
  Session session(5 * kLine.size());
  SessionWriter writer = session.writer();
  std::string lines;
  for (int i = 0; i < 6; ++i) {
    lines += kLine;
  }
  CHECK(code_of(append_durably(writer, "facts.jsonl", lines)) == ErrorCode::E_SIZE_LIMIT);
  CHECK(session.log("facts.jsonl").empty());
}

TEST_CASE("every tracked file counts towards the quota") {
  for (const char* name :
       {"events.jsonl", "manifest.json", "audit.jsonl", "summary.md", "quarantine.jsonl"}) {
    CAPTURE(name);
    Session session(1000);
    SessionWriter writer = session.writer();
    session.put(name, 990);
    CHECK(code_of(append_durably(writer, "facts.jsonl", kLine)) == ErrorCode::E_SIZE_LIMIT);
    session.put(name, 980);
    CHECK(append_durably(writer, "facts.jsonl", kLine).has_value());
  }
}

TEST_CASE("derived and local files do not count") {
  Session session(1000);
  SessionWriter writer = session.writer();
  for (const char* name : {"index.json", "access.jsonl", "facts.jsonl.tmp", "notes.txt"}) {
    session.put(name, 5000);
  }
  CHECK(append_durably(writer, "facts.jsonl", kLine).has_value());
}

TEST_CASE("growth of the same log by another process counts at once") {
  Session session(100 * kLine.size());
  SessionWriter writer = session.writer();
  REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  session.put("facts.jsonl", 99 * kLine.size() + 10);
  CHECK(code_of(append_durably(writer, "facts.jsonl", kLine)) == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("growth of another log by another process counts within 256 appends") {
  constexpr std::uint64_t kLimit = 100'000;
  Session session(kLimit);
  SessionWriter writer = session.writer();
  SessionWriter other = session.writer();
  REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  REQUIRE(
      append_durably(other, "events.jsonl", "{\"x\":\"" + std::string(kLimit - 1000, 'x') + "\"}\n")
          .has_value());
  // A writer that looks for the first time sees it.
  SessionWriter fresh = session.writer();
  CHECK(code_of(append_durably(fresh, "facts.jsonl", std::string(1100, ' ') + "\n")) ==
        ErrorCode::E_SIZE_LIMIT);
  int accepted = 0;
  Status appended;
  while (accepted < 1000 && appended) {
    appended = append_durably(writer, "facts.jsonl", kLine);
    accepted += appended ? 1 : 0;
  }
  CHECK(code_of(appended) == ErrorCode::E_SIZE_LIMIT);
  CHECK(accepted <= 256);
}

TEST_CASE("a log that was cut counts as what it is now") {
  Session session(5 * kLine.size());
  SessionWriter writer = session.writer();
  for (int i = 0; i < 5; ++i) {
    REQUIRE(append_durably(writer, "facts.jsonl", kLine).has_value());
  }
  session.disk.write(session_file("s1", "facts.jsonl"), kLine);
  for (int i = 0; i < 4; ++i) {
    CHECK(append_durably(writer, "facts.jsonl", kLine).has_value());
  }
  CHECK(code_of(append_durably(writer, "facts.jsonl", kLine)) == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("mending ends a torn log and tells its size") {
  Session session;
  SessionWriter writer = session.writer();
  session.disk.write(session_file("s1", "facts.jsonl"), "{\"id\":1}\n{\"id\":2");
  const FileLock::Guard guard = std::move(writer.lock("repair").value());
  CHECK(writer.mend(guard, "facts.jsonl").value() == 9);
  CHECK(session.log("facts.jsonl") == "{\"id\":1}\n");
  CHECK(session.log("quarantine.jsonl").find("\"text\":\"{\\\"id\\\":2\"") != std::string::npos);
}

TEST_CASE("the footprint sums tracked files") {
  Session session;
  const std::vector<std::string> logs = {"facts.jsonl", "events.jsonl"};
  CHECK(session_footprint(session.files, "s1", logs).value() == 0);
  session.put("facts.jsonl", 100);
  session.put("events.jsonl", 30);
  session.put("manifest.json", 7);
  session.put("index.json", 1000);
  CHECK(session_footprint(session.files, "s1", logs).value() == 137);
}

TEST_CASE("a disk that cannot be asked about sizes is an error, not an empty session") {
  Session session;
  session.put("facts.jsonl", 100);
  session.files.fail({.operation = Operation::kInfo, .path_part = "facts"});
  CHECK_FALSE(session_footprint(session.files, "s1", {"facts.jsonl"}).has_value());
}

}  // namespace bmad_mem::test::session_writer_test
