#include "store/access_log.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "concurrency/child.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::access_log_test {
namespace {

using std::chrono::seconds;

constexpr const char* kSession = "s1";
constexpr const char* kLog = "sessions/s1/access.jsonl";

const Timestamp kNine = try_parse_rfc3339("2026-01-12T09:00:00Z").value();

bool keep_all(std::string_view /*id*/) { return true; }

/// A session on a disk that can be made to fail.
struct Session {
  Session() { disk.make_folders("sessions/s1"); }

  void access(const std::vector<std::string>& ids, Timestamp at = kNine) {
    REQUIRE(append_accesses(files, clock, kSession, ids, at).has_value());
  }
  AccessTable table() { return read_accesses(files, kSession).value(); }
  void fold(const std::function<bool(std::string_view)>& keep = keep_all) {
    REQUIRE(fold_accesses(files, kSession, keep).has_value());
  }

  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  ManualClock clock;
};

/// The ids of a query that found `count` entries, each one of `entries`.
std::vector<std::string> found_ids(std::size_t query, std::size_t count, std::size_t entries) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(fmt::format("msg-01kaxx8v04{:05}", (query * 7 + i * i * 31) % entries));
  }
  return ids;
}

/// A log that has no room for another line, with `line` in it.
std::string full_log(const std::string& line) {
  std::string text;
  while (text.size() + line.size() < kAccessLogSizeMax) {
    text += line;
  }
  return text;
}

constexpr const char* kOldLine =
    "{\"id\":\"msg-1\",\"count\":1,\"last\":\"2026-01-12T08:15:00Z\"}\n";

}  // namespace

TEST_CASE("what queries returned is counted, with the latest time") {
  Session session;
  session.access({"msg-1", "dec-1"}, kNine);
  session.access({"msg-1", "msg-1"}, kNine + seconds(90));
  session.access({"msg-1"}, kNine - seconds(90));
  const AccessTable table = session.table();
  REQUIRE(table.entries().size() == 2);
  CHECK(table.find("msg-1")->count == 4);
  CHECK(table.find("msg-1")->last == kNine + seconds(90));
  CHECK(table.find("dec-1")->count == 1);
  CHECK(table.find("dec-2") == nullptr);
  CHECK(table.damaged_count() == 0);
}

TEST_CASE("an access is noted by the second") {
  Session session;
  session.access({"msg-1"}, kNine + std::chrono::milliseconds(1999));
  CHECK(session.table().find("msg-1")->last == kNine + seconds(1));
}

TEST_CASE("noting accesses is one open and one write, without a sync or a lock") {
  Session session;
  session.access({"msg-1", "dec-1"});
  CHECK(session.disk.read(kLog) ==
        "{\"at\":\"2026-01-12T09:00:00Z\",\"ids\":[\"msg-1\",\"dec-1\"]}\n");
  CHECK(session.files.count(Operation::kOpen) == 1);
  CHECK(session.files.count(Operation::kWrite) == 1);
  CHECK(session.files.count(Operation::kSyncData) + session.files.count(Operation::kSyncAll) +
            session.files.count(Operation::kSyncDirectory) ==
        0);
  session.files.clear_log();
  session.access({});
  CHECK(session.files.log().empty());
}

TEST_CASE("a session that isn't there is not made") {
  Session session;
  const std::vector<std::string> ids = {"msg-1"};
  CHECK(append_accesses(session.files, session.clock, "other", ids, kNine).error().os_error ==
        ENOENT);
  CHECK(session.disk.list("sessions").value() == std::vector<std::string>{"s1"});
}

TEST_CASE("without a log there are no accesses, for one system call") {
  Session session;
  CHECK(session.table().entries().empty());
  CHECK(session.table().log_size() == 0);
  CHECK(session.files.log().size() == 2);
}

TEST_CASE("lines in any JSON that says the same are read; damaged ones are passed over") {
  struct Row {
    const char* name;
    const char* line;
    std::uint64_t count;  // Of "a"; 0: damaged.
  };
  constexpr Row kRows[] = {
      {"batch", R"({"at":"2026-01-12T09:00:00Z","ids":["a","b"]})", 1},
      {"folded", R"({"at":"2026-01-12T09:00:00Z","count":3,"ids":["a","b"]})", 3},
      {"folded, with blanks", R"({"at": "2026-01-12T09:00:00Z", "count": 3, "ids": ["a"]})", 3},
      {"by version 0.1", R"({"id":"a","count":3,"last":"2026-01-12T09:00:00Z"})", 3},
      {"blanks", R"({ "id": "a", "count": 3, "last": "2026-01-12T09:00:00Z" })", 3},
      {"order", R"({"last":"2026-01-12T10:00:00+01:00","count":3,"id":"a"})", 3},
      {"more members", R"({"at":"2026-01-12T09:00:00Z","ids":["a"],"by":"x"})", 1},
      {"escapes", R"({"at":"2026-01-12T09:00:00Z","ids":["\u0061"]})", 1},
      {"no time", R"({"at":"","ids":["a"]})", 0},
      {"a count below", R"({"at":"2026-01-12T09:00:00Z","count":-3,"ids":["a"]})", 0},
      {"a count that is none", R"({"at":"2026-01-12T09:00:00Z","count":"3","ids":["a"]})", 0},
      {"no count", R"({"id":"a","count":-3,"last":"2026-01-12T09:00:00Z"})", 0},
      {"too large a count",
       R"({"id":"a","count":18446744073709551615,"last":"2026-01-12T09:00:00Z"})", 0},
      {"numbers", R"({"at":"2026-01-12T09:00:00Z","ids":["a",1]})", 0},
      {"no ids", R"({"at":"2026-01-12T09:00:00Z"})", 0},
      {"two in one", R"({"at":"2026-01-12T09:00:00Z","ids":["a{"at":"2026-01-12T09:00:00Z")", 0},
      {"cut", R"({"at":"2026-01-12T09:00:00Z","ids":["a")", 0},
      {"something else", "hello", 0},
      {"empty", "", 0},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      Session session;
      session.disk.write(kLog, std::string(row.line) + '\n');
      session.access({"z"});
      const AccessTable table = session.table();
      CHECK(table.find("z") != nullptr);
      CHECK(table.damaged_count() == (row.count == 0 ? 1 : 0));
      REQUIRE((table.find("a") != nullptr) == (row.count != 0));
      if (row.count != 0) {
        CHECK(table.find("a")->count == row.count);
        CHECK(table.find("a")->last == kNine);
      }
    }
  }
}

TEST_CASE("a log that is cut anywhere loses no whole line") {
  Session session;
  session.access({"a", "b"});
  const std::string first = session.disk.read(kLog);
  session.access({"c"}, kNine + seconds(1));
  const std::string both = session.disk.read(kLog);
  for (std::size_t size = first.size(); size < both.size(); ++size) {
    session.disk.write(kLog, both.substr(0, size));
    const AccessTable table = session.table();
    CHECK(table.entries().size() == 2);
    CHECK(table.damaged_count() == 0);
  }
}

TEST_CASE("a table that was moved finds what it found before") {
  Session session;
  session.access({"msg-1"});
  AccessTable table = session.table();
  const AccessTable moved = std::move(table);
  REQUIRE(moved.find("msg-1") != nullptr);
  CHECK(moved.find("msg-1")->count == 1);
}

TEST_CASE("folding leaves each id once, the latest first, with the hour") {
  Session session;
  session.access({"msg-2", "msg-1", "msg-3"});
  session.access({"msg-1", "gone"}, kNine + seconds(3599));
  session.disk.write(kLog, session.disk.read(kLog) + "damaged\n" + kOldLine +
                               R"({"at":"2026-01-12T09:00:00Z","ids":["no id"]})" + '\n');
  session.fold([](std::string_view id) { return id != "gone"; });
  const std::string folded = R"({"at":"2026-01-12T09:00:00Z","count":3,"ids":["msg-1"]})"
                             "\n"
                             R"({"at":"2026-01-12T09:00:00Z","ids":["msg-2","msg-3"]})"
                             "\n";
  CHECK(session.disk.read(kLog) == folded);
  session.fold();
  CHECK(session.disk.read(kLog) == folded);
  session.access({"msg-2"}, kNine + seconds(2));
  CHECK(session.table().find("msg-1")->count == 3);
  CHECK(session.table().find("msg-2")->count == 2);
  CHECK(session.table().damaged_count() == 0);
}

TEST_CASE("counts that are too large together are folded to one that is read") {
  Session session;
  const std::string line =
      "{\"at\":\"2026-01-12T09:00:00Z\",\"count\":999999999999999,\"ids\":[\"a\"]}\n";
  session.disk.write(kLog, line + line);
  session.fold();
  CHECK(session.table().damaged_count() == 0);
  CHECK(session.table().find("a")->count == 999'999'999'999'999);
}

TEST_CASE("what is folded stands in short lines") {
  Session session;
  std::vector<std::string> ids;
  for (int i = 0; i < 120; ++i) {
    ids.push_back(fmt::format("msg-{:03}", i));
  }
  session.access(ids);
  session.fold();
  const std::string text = session.disk.read(kLog);
  CHECK(std::ranges::count(text, '\n') == 3);
  CHECK(session.table().entries().size() == 120);
}

TEST_CASE("an empty log and one of which nothing stays cost the next reader nothing") {
  Session session;
  session.fold();
  session.access({"msg-1"});
  session.fold([](std::string_view) { return false; });
  CHECK(is_not_found(session.disk.info(kLog).error()));
}

TEST_CASE("the ids that were returned last stay when there are too many") {
  Session session;
  std::string text;
  for (std::size_t i = 0; i < kFoldedAccessesMax + 10; ++i) {
    text += fmt::format("{{\"id\":\"msg-{:05}\",\"count\":1,\"last\":\"{}\"}}\n", i,
                        format_rfc3339(kNine + seconds(i % 2 == 0 ? i : 0)));
  }
  session.disk.write(kLog, text);
  session.fold();
  const AccessTable table = session.table();
  CHECK(table.entries().size() == kFoldedAccessesMax);
  CHECK(table.find("msg-05008") != nullptr);
  CHECK(table.find("msg-00001") != nullptr);  // Equal times: the smaller ids.
  CHECK(table.find("msg-05009") == nullptr);
}

TEST_CASE("long ids leave room for others, too") {
  Session session;
  std::string text;
  for (std::size_t i = 0; i < 4000; ++i) {
    text += fmt::format("{{\"id\":\"{:0>128}\",\"count\":{},\"last\":\"{}\"}}\n", i, i,
                        format_rfc3339(kNine + seconds(i)));
  }
  session.disk.write(kLog, text);
  session.fold();
  const AccessTable table = session.table();
  CHECK(table.log_size() <= kFoldedAccessLogSizeMax);
  CHECK(table.log_size() + 1000 > kFoldedAccessLogSizeMax);
  CHECK(table.find(fmt::format("{:0>128}", 3999)) != nullptr);
}

TEST_CASE("thousands of queries leave a log below the bound, that knows the latest") {
  constexpr std::size_t kEntries = 20'000;
  Session session;
  std::uint64_t largest = 0;
  std::size_t renames = 0;
  for (std::size_t i = 0; i < 5'000; ++i) {
    session.files.clear_log();
    session.access(found_ids(i, 20, kEntries), kNine + seconds(i));
    renames += session.files.count(Operation::kRename);
    largest = std::max(largest, session.disk.info(kLog)->size);
  }
  CHECK(largest <= kAccessLogSizeMax);
  CHECK(largest + 1000 > kAccessLogSizeMax);
  CHECK(renames > 5);
  CHECK(renames < 40);
  const AccessTable table = session.table();
  CHECK(table.damaged_count() == 0);
  for (const std::string& id : found_ids(4'999, 20, kEntries)) {
    REQUIRE(table.find(id) != nullptr);
    CHECK(table.find(id)->last == kNine + seconds(4'999));
  }
}

TEST_CASE("counts of few entries are all there after thousands of queries") {
  Session session;
  for (std::size_t i = 0; i < 3'000; ++i) {
    session.access(found_ids(0, 10, 1'000), kNine + seconds(i));
  }
  for (const std::string& id : found_ids(0, 10, 1'000)) {
    CHECK(session.table().find(id)->count == 3'000);
  }
}

TEST_CASE("a full log is folded by who comes next, also one of version 0.1") {
  for (const std::size_t times : {std::size_t{1}, std::size_t{30}}) {
    CAPTURE(times);
    Session session;
    std::string text;
    for (std::size_t i = 0; i < times; ++i) {
      text += full_log(kOldLine);
    }
    session.disk.write(kLog, text);
    session.access({"msg-1", "msg-2"});
    CHECK(session.disk.info(kLog)->size < 200);
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    CHECK(session.table().find("msg-1")->count == lines + 1);
    CHECK(session.table().find("msg-2")->count == 1);
  }
  Session session;
  session.disk.write(kLog, std::string((16U << 20U) + 1, '\n'));
  CHECK(read_accesses(session.files, kSession).error().code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("a log of nothing but damage makes room for the next line") {
  Session session;
  session.disk.write(kLog, full_log("damaged\n"));
  session.access({"msg-1"});
  CHECK(session.table().entries().size() == 1);
  CHECK(session.table().damaged_count() == 0);
}

TEST_CASE("a full log waits for nobody and loses nothing of anything else") {
  Session session;
  const std::string full = full_log(kOldLine);
  session.disk.write(kLog, full);
  const std::vector<std::string> ids = {"msg-1"};
  const auto is_refused = [&] {
    const Status noted = append_accesses(session.files, session.clock, kSession, ids, kNine);
    return !noted && noted.error().code == ErrorCode::E_SIZE_LIMIT &&
           session.disk.read(kLog) == full &&
           is_not_found(session.disk.info(std::string(kLog) + ".tmp").error());
  };
  SUBCASE("somebody writes to the session") {
    FileLock lock(session.disk, session.clock, "sessions/s1/.lock", "sessions/s1/.lock.json");
    {
      const Result<FileLock::Guard> guard = lock.acquire({.operation = "add"});
      CHECK(is_refused());
    }
    session.access(ids);
    CHECK(session.disk.info(kLog)->size < 200);
  }
  SUBCASE("the disk is full") {
    session.files.fail({.operation = Operation::kWrite,
                        .error_number = ENOSPC,
                        .from_then_on = true,
                        .path_part = ".tmp"});
    CHECK(is_refused());
    CHECK(is_refused());
    session.files.heal();
    session.access(ids);
    CHECK(session.disk.info(kLog)->size < 200);
  }
  SUBCASE("nothing can be put in its place") {
    session.files.fail({.operation = Operation::kRename, .error_number = EACCES});
    CHECK(is_refused());
  }
  SUBCASE("no lock can be made") {
    session.files.fail(
        {.operation = Operation::kOpen, .error_number = EACCES, .path_part = ".lock"});
    CHECK(is_refused());
  }
  SUBCASE("it can't be read") {
    session.files.fail({.operation = Operation::kReadAt});
    CHECK(is_refused());
  }
}

TEST_CASE("in a root that can't be written to nothing is noted, tried or locked") {
  Session session;
  session.disk.write(kLog, full_log(kOldLine));
  session.files.fail({.operation = Operation::kOpen,
                      .error_number = EROFS,
                      .from_then_on = true,
                      .path_part = ""});
  const std::vector<std::string> ids = {"msg-1"};
  CHECK(append_accesses(session.files, session.clock, kSession, ids, kNine).error().os_error ==
        EROFS);
  CHECK(session.files.log().size() == 1);
}

TEST_CASE("a log that another process has folded just now is not folded again") {
  Session session;
  session.disk.write(kLog, full_log(kOldLine));
  session.files.meanwhile({.operation = Operation::kOpen, .path_part = "s1/.lock"},
                          [&] { session.disk.write(kLog, kOldLine); });
  session.access({"msg-1"});
  CHECK(session.files.count(Operation::kRename) == 0);
  CHECK(session.table().find("msg-1")->count == 2);
}

TEST_CASE("of more ids than a line has room for, the first are noted") {
  Session session;
  session.access(found_ids(0, 100'000, 100'000));
  CHECK(session.disk.info(kLog)->size < kAccessLogSizeMax / 4);
  CHECK(session.table().find(found_ids(0, 1, 100'000).front()) != nullptr);
  CHECK(session.table().damaged_count() == 0);
}

TEST_CASE("processes that note at once keep the log whole and below the bound") {
  constexpr std::size_t kQueries = 4'000;
  const TemporaryDirectory folder;
  folder.make_folder("sessions/s1");
  const auto ask = [&](std::size_t first) {
    return [&folder, first] {
      const std::unique_ptr<FileSystem> files = open_posix_file_system(folder.path()).value();
      for (std::size_t i = first; i < first + kQueries; ++i) {
        const Status noted = append_accesses(*files, system_clock(), kSession,
                                             found_ids(i, 20, 3'000), kNine + seconds(i));
        if (!noted && noted.error().code != ErrorCode::E_SIZE_LIMIT) {
          return 1;
        }
        if (files->info(kLog)->size > kAccessLogSizeMax + 4096) {  // A line of each, at most.
          return 2;
        }
      }
      return 0;
    };
  };
  Child one(ask(0));
  Child two(ask(kQueries));
  CHECK(one.wait() == 0);
  CHECK(two.wait() == 0);
  const std::unique_ptr<FileSystem> files = open_posix_file_system(folder.path()).value();
  const AccessTable table = read_accesses(*files, kSession).value();
  CHECK(table.damaged_count() == 0);
  CHECK(table.entries().size() > 2'000);
  CHECK(files->list("sessions/s1").value() ==
        std::vector<std::string>{".lock", ".lock.json", "access.jsonl"});
}

TEST_CASE("errors of the disk are reported, and a failed folding changes nothing") {
  Session session;
  const std::vector<std::string> ids = {"msg-1"};
  session.access(ids);
  const std::string before = session.disk.read(kLog);
  session.files.fail(
      {.operation = Operation::kWrite, .error_number = ENOSPC, .from_then_on = true});
  CHECK(append_accesses(session.files, session.clock, kSession, ids, kNine).error().code ==
        ErrorCode::E_STORAGE_FULL);
  CHECK(fold_accesses(session.files, kSession, keep_all).error().code == ErrorCode::E_STORAGE_FULL);
  session.files.heal();
  session.files.fail({.operation = Operation::kReadAt});
  CHECK(read_accesses(session.files, kSession).error().code == ErrorCode::E_STORAGE_IO);
  CHECK(session.disk.read(kLog) == before);
}

TEST_CASE("a write that is cut short loses itself and at most the next one") {
  Session session;
  session.access({"a"});
  session.files.shorten({.operation = Operation::kWrite}, 17);
  const std::vector<std::string> ids = {"b"};
  CHECK(append_accesses(session.files, session.clock, kSession, ids, kNine).error().code ==
        ErrorCode::E_STORAGE_FULL);
  session.access({"c"});
  session.access({"d"});
  const AccessTable table = session.table();
  CHECK(table.find("a") != nullptr);
  CHECK(table.find("d") != nullptr);
  CHECK(table.damaged_count() == 1);
}

TEST_CASE("the forms that are written are the ones that are scanned") {
  AccessLine line;
  CHECK(scan_access_line(R"({"at":"2026-01-12T09:00:00Z","ids":["a","b"]})", line));
  CHECK(line.ids == std::vector<std::string_view>{"a", "b"});
  CHECK(line.count == 1);
  CHECK(scan_access_line(R"({"at":"2026-01-12T09:00:00Z","count":7,"ids":["a","b"]})", line));
  CHECK(line.ids == std::vector<std::string_view>{"a", "b"});
  CHECK(line.count == 7);
  CHECK(scan_access_line(R"({"id":"a","count":3,"last":"2026-01-12T09:00:00.250Z"})", line));
  CHECK(line.ids == std::vector<std::string_view>{"a"});
  CHECK(line.count == 3);
  CHECK(line.last == kNine + std::chrono::milliseconds(250));
  CHECK_FALSE(scan_access_line(R"({"at":"2026-01-12T09:00:00Z","ids":[]} )", line));
}

}  // namespace bmad_mem::test::access_log_test
