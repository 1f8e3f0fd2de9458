#include "storage/access_log.hpp"

#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/rfc3339.hpp"
#include "storage/access_scanner.hpp"
#include "storage/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

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
    REQUIRE(append_accesses(files, kSession, ids, at).has_value());
  }
  AccessTable table() { return read_accesses(files, kSession).value(); }
  void fold(const std::function<bool(std::string_view)>& keep = keep_all) {
    REQUIRE(fold_accesses(files, kSession, keep).has_value());
  }

  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
};

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
  CHECK(append_accesses(session.files, "other", ids, kNine).error().os_error == ENOENT);
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
      {"folded", R"({"id":"a","count":3,"last":"2026-01-12T09:00:00Z"})", 3},
      {"blanks", R"({ "id": "a", "count": 3, "last": "2026-01-12T09:00:00Z" })", 3},
      {"order", R"({"last":"2026-01-12T10:00:00+01:00","count":3,"id":"a"})", 3},
      {"more members", R"({"at":"2026-01-12T09:00:00Z","ids":["a"],"by":"x"})", 1},
      {"escapes", R"({"at":"2026-01-12T09:00:00Z","ids":["\u0061"]})", 1},
      {"no time", R"({"at":"","ids":["a"]})", 0},
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

TEST_CASE("folding leaves one sorted line an id, and says the same as before") {
  Session session;
  session.access({"msg-2", "msg-1"});
  session.access({"msg-1", "gone"}, kNine + seconds(1));
  session.disk.write(kLog, session.disk.read(kLog) + "damaged\n");
  session.fold([](std::string_view id) { return id != "gone"; });
  const std::string folded =
      "{\"id\":\"msg-1\",\"count\":2,\"last\":\"2026-01-12T09:00:01Z\"}\n"
      "{\"id\":\"msg-2\",\"count\":1,\"last\":\"2026-01-12T09:00:00Z\"}\n";
  CHECK(session.disk.read(kLog) == folded);
  session.fold();
  CHECK(session.disk.read(kLog) == folded);
  session.access({"msg-2"}, kNine + seconds(2));
  CHECK(session.table().find("msg-2")->count == 2);
  CHECK(session.table().damaged_count() == 0);
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
  CHECK(table.find("msg-10008") != nullptr);
  CHECK(table.find("msg-00002") != nullptr);
  CHECK(table.find("msg-00001") != nullptr);  // Equal times: the smaller ids.
  CHECK(table.find("msg-10009") == nullptr);
}

TEST_CASE("a full log takes nothing until it is folded") {
  Session session;
  std::string text;
  while (text.size() < kAccessLogSizeMax - 100) {
    text += "{\"id\":\"msg-1\",\"count\":1,\"last\":\"2026-01-12T09:00:00Z\"}\n";
  }
  session.disk.write(kLog, text);
  const std::vector<std::string> ids(10, "msg-0123456789");
  CHECK(append_accesses(session.files, kSession, ids, kNine).error().code ==
        ErrorCode::E_SIZE_LIMIT);
  session.fold();
  session.access(ids);
  CHECK(session.table().entries().size() == 2);
  session.disk.write(kLog, std::string(2 * kAccessLogSizeMax + 1, '\n'));
  CHECK(read_accesses(session.files, kSession).error().code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("errors of the disk are reported, and a failed folding changes nothing") {
  Session session;
  const std::vector<std::string> ids = {"msg-1"};
  session.access(ids);
  const std::string before = session.disk.read(kLog);
  session.files.fail(
      {.operation = Operation::kWrite, .error_number = ENOSPC, .from_then_on = true});
  CHECK(append_accesses(session.files, kSession, ids, kNine).error().code ==
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
  CHECK(append_accesses(session.files, kSession, ids, kNine).error().code ==
        ErrorCode::E_STORAGE_FULL);
  session.access({"c"});
  session.access({"d"});
  const AccessTable table = session.table();
  CHECK(table.find("a") != nullptr);
  CHECK(table.find("d") != nullptr);
  CHECK(table.damaged_count() == 1);
}

TEST_CASE("the two forms that are written are the two that are scanned") {
  AccessLine line;
  CHECK(scan_access_line(R"({"at":"2026-01-12T09:00:00Z","ids":["a","b"]})", line));
  CHECK(line.ids == std::vector<std::string_view>{"a", "b"});
  CHECK(line.count == 1);
  CHECK(scan_access_line(R"({"id":"a","count":3,"last":"2026-01-12T09:00:00.250Z"})", line));
  CHECK(line.ids == std::vector<std::string_view>{"a"});
  CHECK(line.count == 3);
  CHECK(line.last == kNine + std::chrono::milliseconds(250));
  CHECK_FALSE(scan_access_line(R"({"at":"2026-01-12T09:00:00Z","ids":[]} )", line));
}

}  // namespace bmad_mem::test::access_log_test
