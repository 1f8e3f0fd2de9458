// append_log_test.cpp - what a log promises to those who append: all or none, torn ends mended,
// nothing acknowledged that a sync did not cover.
#include "store/append_log.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::append_log_test {
namespace {

constexpr const char* kLog = "s/facts.jsonl";
constexpr const char* kQuarantine = "s/quarantine.jsonl";

/// Five entries; one with characters of two, three and four bytes, so that a cut can fall inside.
constexpr std::string_view kFive =
    "{\"id\":\"a\",\"content\":\"one\"}\n"
    "{\"id\":\"b\",\"content\":\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"}\n"
    "{\"id\":\"c\",\"content\":\"\\\"quoted\\\" {braces}\"}\n"
    "{\"id\":\"d\"}\n"
    "{\"id\":\"e\",\"state\":{\"n\":[1,2,{\"x\":null}]}}\n";

constexpr std::string_view kNext = "{\"id\":\"next\"}\n";

std::string base64_decoded(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned group = 0;
  int bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    group = group << 6U | static_cast<unsigned>(kAlphabet.find(c));
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(group >> static_cast<unsigned>(bits) & 0xFFU);
    }
  }
  return bytes;
}

/// One session's folder with one log, on a disk whose calls can be made to fail.
class LogStore {
 public:
  LogStore() { disk.make_folders("s"); }

  /// The log as another process would open it.
  AppendLog open() { return {files, clock, kLog, kQuarantine}; }

  /// prepare, write and sync, as a session's writer does under its lock.
  static Status append(AppendLog& log, std::string_view lines) {
    BMAD_TRY(log.prepare());
    BMAD_TRY_ASSIGN(const AppendLog::Written written, log.write(lines));
    return AppendLog::sync(written);
  }
  Status append(std::string_view lines) {
    AppendLog log = open();
    return append(log, lines);
  }

  std::string bytes() { return disk.read(kLog); }
  std::uint64_t inode() { return disk.info(kLog).value().inode; }

  /// The bytes that the quarantine holds, piece by piece.
  std::vector<std::string> quarantined() {
    std::vector<std::string> pieces;
    if (!disk.info(kQuarantine)) {
      return pieces;
    }
    std::string_view rest = lines_ = disk.read(kQuarantine);
    while (!rest.empty()) {
      const auto record = nlohmann::json::parse(rest.substr(0, rest.find('\n')));
      pieces.push_back(record.contains("text")
                           ? record.at("text").get<std::string>()
                           : base64_decoded(record.at("bytes_base64").get<std::string>()));
      rest.remove_prefix(rest.find('\n') + 1);
    }
    return pieces;
  }

  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  ManualClock clock;

 private:
  std::string lines_;
};

std::string whole_lines(std::string_view bytes) {
  const std::size_t newline = bytes.rfind('\n');
  return std::string(bytes.substr(0, newline == std::string_view::npos ? 0 : newline + 1));
}

}  // namespace

TEST_CASE("lines are appended behind each other, and their places are told") {
  LogStore store;
  AppendLog log = store.open();
  CHECK(log.prepare().value() == 0);
  const AppendLog::Written first = log.write("{\"id\":1}\n").value();
  CHECK(first.offset == 0);
  CHECK(first.end == 9);
  CHECK(log.prepare().value() == 9);
  const AppendLog::Written second = log.write("{\"id\":2}\n{\"id\":3}\n").value();
  CHECK(second.offset == 9);
  CHECK(second.end == 27);
  CHECK(AppendLog::sync(second).has_value());
  CHECK(store.bytes() == "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
}

TEST_CASE("the name of a new log is durable before its first byte, the bytes before the answer") {
  LogStore store;
  REQUIRE(store.append("{\"id\":1}\n").has_value());
  const std::vector<std::string> expected = {"info s/facts.jsonl",      "open s/facts.jsonl append",
                                             "file_info s/facts.jsonl", "sync_directory s",
                                             "write s/facts.jsonl 9",   "sync_data s/facts.jsonl"};
  CHECK(store.files.log() == expected);
}

TEST_CASE("a log cut at any byte takes the next append and loses nothing") {
  for (std::size_t cut = 0; cut <= kFive.size(); ++cut) {
    CAPTURE(cut);
    LogStore store;
    const std::string_view left = kFive.substr(0, cut);
    const std::string whole = whole_lines(left);
    const std::string_view torn = left.substr(whole.size());
    // Of these entries, only one that lost nothing but its newline is a complete object.
    const bool complete = !torn.empty() && kFive[cut] == '\n';
    store.disk.write(kLog, left);

    REQUIRE(store.append(kNext).has_value());
    if (complete) {
      CHECK(store.bytes() == whole + std::string(torn) + "\n" + std::string(kNext));
      CHECK(store.quarantined().empty());
    } else {
      CHECK(store.bytes() == whole + std::string(kNext));
      CHECK(store.quarantined() == (torn.empty() ? std::vector<std::string>()
                                                 : std::vector<std::string>{std::string(torn)}));
    }
  }
}

TEST_CASE("a torn end becomes a line when it is an object, and goes to the quarantine otherwise") {
  struct Row {
    const char* torn;
    bool is_object;
  };
  static constexpr Row kRows[] = {
      {"{}", true},
      {" {\"id\":\"x\"} ", true},
      {"7", false},
      {"\"text\"", false},
      {"[{}]", false},
      {"null", false},
      {"{}}", false},
      {" ", false},
      {"{\"a\":1e400}", false},
      {"{\"a\":1,\"a\":2}", false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.torn);
    LogStore store;
    store.disk.write(kLog, std::string("{\"id\":1}\n") + row.torn);
    REQUIRE(store.append(kNext).has_value());
    CHECK(store.bytes() == std::string("{\"id\":1}\n") +
                               (row.is_object ? std::string(row.torn) + "\n" : "") +
                               std::string(kNext));
    CHECK(store.quarantined().size() == (row.is_object ? 0 : 1));
  }
}

TEST_CASE("a torn end is durable in the quarantine before it leaves the log") {
  LogStore store;
  store.disk.write(kLog, "{\"id\":1}\n{\"id\"");
  REQUIRE(store.append(kNext).has_value());
  const std::vector<std::string> calls = store.files.log();
  const auto at = [&](const std::string& call) {
    return std::ranges::find(calls, call) - calls.begin();
  };
  CHECK(at("sync_data s/quarantine.jsonl") < at("sync_directory s"));
  CHECK(at("sync_directory s") < at("truncate s/facts.jsonl 9"));
  CHECK(at("truncate s/facts.jsonl 9") < std::ssize(calls));
}

TEST_CASE("a torn end stays in the log when the quarantine cannot take it") {
  for (const Operation operation :
       {Operation::kWrite, Operation::kSyncData, Operation::kOpen, Operation::kSyncDirectory}) {
    CAPTURE(operation_name(operation));
    LogStore store;
    store.disk.write(kLog, "{\"id\":1}\n{\"id\"");
    const bool of_folder = operation == Operation::kSyncDirectory;
    store.files.fail({.operation = operation,
                      .error_number = ENOSPC,
                      .path_part = of_folder ? "s" : "quarantine"});
    const Status appended = store.append(kNext);
    REQUIRE_FALSE(appended.has_value());
    CHECK(appended.error().code == ErrorCode::E_STORAGE_FULL);
    CHECK(store.bytes() == "{\"id\":1}\n{\"id\"");
    store.files.heal();
    CHECK(store.append(kNext).has_value());
    CHECK(store.bytes() == "{\"id\":1}\n" + std::string(kNext));
    REQUIRE(store.quarantined().size() == 1);
    CHECK(store.quarantined().front() == "{\"id\"");
  }
}

TEST_CASE("a write that the system cuts short is continued") {
  LogStore store;
  store.files.shorten({.operation = Operation::kWrite}, 3);
  store.files.shorten({.operation = Operation::kWrite, .nth = 2}, 1);
  CHECK(store.append(kNext).has_value());
  CHECK(store.bytes() == kNext);
  CHECK(store.files.count(Operation::kWrite) == 3);
}

TEST_CASE("a write that fails half-way is taken back, wherever it stopped") {
  for (std::size_t size = 0; size < kNext.size(); ++size) {
    for (const int error : {ENOSPC, EDQUOT, EFBIG, EIO}) {
      CAPTURE(size);
      CAPTURE(error);
      LogStore store;
      AppendLog log = store.open();
      REQUIRE(LogStore::append(log, kFive).has_value());
      const std::uint64_t inode = store.inode();
      store.files.shorten({.operation = Operation::kWrite}, size);
      store.files.fail({.operation = Operation::kWrite, .nth = 2, .error_number = error});

      const Status appended = LogStore::append(log, kNext);
      REQUIRE_FALSE(appended.has_value());
      // A write of nothing at all means a full disk, whatever the next call would have said.
      const bool full = error != EIO || size == 0;
      CHECK(appended.error().code == (full ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO));
      CHECK(appended.error().path == "memory:/s/facts.jsonl");
      CHECK(store.bytes() == kFive);
      store.files.heal();
      CHECK(LogStore::append(log, kNext).has_value());
      CHECK(store.bytes() == std::string(kFive) + std::string(kNext));
      CHECK(store.inode() == inode);
    }
  }
}

TEST_CASE("half a write that could not be taken back is left out by the next append") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(LogStore::append(log, kFive).has_value());
  const std::uint64_t inode = store.inode();
  store.files.shorten({.operation = Operation::kWrite}, 6);
  store.files.fail({.operation = Operation::kWrite, .nth = 2, .error_number = ENOSPC});
  store.files.fail({.operation = Operation::kTruncate});

  const Status appended = LogStore::append(log, kNext);
  REQUIRE_FALSE(appended.has_value());
  CHECK(appended.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(store.bytes() == std::string(kFive) + std::string(kNext.substr(0, 6)));

  store.files.heal();
  CHECK(LogStore::append(log, "{\"id\":\"after\"}\n").has_value());
  CHECK(store.bytes() == std::string(kFive) + "{\"id\":\"after\"}\n");
  CHECK(store.inode() != inode);
}

TEST_CASE("a sync that failed is not repeated, and its lines are left out of a new file") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(LogStore::append(log, kFive).has_value());
  const std::uint64_t inode = store.inode();
  store.files.fail({.operation = Operation::kSyncData});

  const Status refused = LogStore::append(log, "{\"id\":\"refused\"}\n");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(refused.error().message.find("do not count as written") != std::string::npos);
  CHECK(store.files.count(Operation::kSyncData) == 2);
  // Another process may have written behind it: its lines stay.
  REQUIRE(store.append("{\"id\":\"other\"}\n").has_value());

  REQUIRE(LogStore::append(log, kNext).has_value());
  CHECK(store.bytes() == std::string(kFive) + "{\"id\":\"other\"}\n" + std::string(kNext));
  CHECK(store.inode() != inode);
  // From now on it is a log like any other.
  const std::uint64_t fresh = store.inode();
  REQUIRE(LogStore::append(log, "{\"id\":\"more\"}\n").has_value());
  CHECK(store.inode() == fresh);
}

TEST_CASE("the new file that leaves refused lines out is durable before it takes the log's place") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(LogStore::append(log, kFive).has_value());
  store.files.fail({.operation = Operation::kSyncData});
  REQUIRE_FALSE(LogStore::append(log, "{\"id\":\"refused\"}\n").has_value());
  store.files.clear_log();
  REQUIRE(LogStore::append(log, kNext).has_value());
  const std::vector<std::string> calls = store.files.log();
  const auto at = [&](const std::string& call, std::ptrdiff_t from = 0) {
    return std::find(calls.begin() + from, calls.end(), call) - calls.begin();
  };
  const auto renamed = at("rename s/facts.jsonl.tmp s/facts.jsonl");
  CHECK(at("sync_data s/quarantine.jsonl") < renamed);
  CHECK(at("sync_all s/facts.jsonl.tmp") < renamed);
  CHECK(at("sync_directory s", renamed) < at("write s/facts.jsonl 14"));
}

TEST_CASE("a suspect log that cannot be copied takes nothing, and is still suspect") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(LogStore::append(log, kFive).has_value());
  store.files.fail({.operation = Operation::kSyncData});
  REQUIRE_FALSE(LogStore::append(log, "{\"id\":\"refused\"}\n").has_value());
  store.files.heal();
  store.files.fail({.operation = Operation::kWrite, .error_number = ENOSPC, .path_part = ".tmp"});
  const Status appended = LogStore::append(log, kNext);
  REQUIRE_FALSE(appended.has_value());
  CHECK(appended.error().code == ErrorCode::E_STORAGE_FULL);
  CHECK_FALSE(store.disk.info("s/facts.jsonl.tmp").has_value());
  store.files.heal();
  CHECK(LogStore::append(log, kNext).has_value());
  CHECK(store.bytes() == std::string(kFive) + std::string(kNext));
}

TEST_CASE("whoever waited for the same failed sync is refused without another one") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(log.prepare().has_value());
  const AppendLog::Written first = log.write("{\"id\":1}\n").value();
  REQUIRE(log.prepare().has_value());
  const AppendLog::Written second = log.write("{\"id\":2}\n").value();
  store.files.fail({.operation = Operation::kSyncData});
  CHECK_FALSE(AppendLog::sync(first).has_value());
  CHECK_FALSE(AppendLog::sync(second).has_value());
  CHECK_FALSE(AppendLog::sync(first).has_value());
  CHECK(store.files.count(Operation::kSyncData) == 1);
  REQUIRE(LogStore::append(log, kNext).has_value());
  CHECK(store.bytes() == kNext);
}

TEST_CASE("one sync serves all who wrote before it") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(log.prepare().has_value());
  const AppendLog::Written first = log.write("{\"id\":1}\n").value();
  REQUIRE(log.prepare().has_value());
  const AppendLog::Written second = log.write("{\"id\":2}\n").value();
  CHECK(AppendLog::sync(first).has_value());
  CHECK(AppendLog::sync(second).has_value());
  CHECK(store.files.count(Operation::kSyncData) == 1);
}

TEST_CASE("lines written before the log was replaced are made durable where they are") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(log.prepare().has_value());
  const AppendLog::Written written = log.write("{\"id\":1}\n").value();
  store.disk.write("s/new", "{\"id\":\"rewritten\"}\n");
  REQUIRE(store.disk.rename("s/new", kLog).has_value());
  CHECK(AppendLog::sync(written).has_value());
  CHECK(store.files.count(Operation::kSyncData) == 1);
}

TEST_CASE("an append goes to the file that is at the path now") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(LogStore::append(log, kFive).has_value());

  SUBCASE("replaced by rename") {
    store.disk.write("s/new", "{\"id\":\"rewritten\"}\n");
    REQUIRE(store.disk.rename("s/new", kLog).has_value());
    CHECK(LogStore::append(log, kNext).has_value());
    CHECK(store.bytes() == "{\"id\":\"rewritten\"}\n" + std::string(kNext));
  }
  SUBCASE("removed") {
    REQUIRE(store.disk.remove(kLog).has_value());
    CHECK(LogStore::append(log, kNext).has_value());
    CHECK(store.bytes() == kNext);
  }
  SUBCASE("removed with its folder") {
    REQUIRE(store.disk.rename("s", "gone").has_value());
    const Status appended = LogStore::append(log, kNext);
    REQUIRE_FALSE(appended.has_value());
    CHECK(is_not_found(appended.error()));
    CHECK(store.disk.read("gone/facts.jsonl") == kFive);
  }
  SUBCASE("cut in place at a line's end") {
    store.disk.write(kLog, "{\"id\":\"a\"}\n");
    CHECK(LogStore::append(log, kNext).has_value());
    CHECK(store.bytes() == "{\"id\":\"a\"}\n" + std::string(kNext));
  }
  SUBCASE("cut in place inside a line") {
    store.disk.write(kLog, "{\"id\":\"a\"}\n{\"id\":");
    CHECK(LogStore::append(log, kNext).has_value());
    CHECK(store.bytes() == "{\"id\":\"a\"}\n" + std::string(kNext));
    REQUIRE(store.quarantined().size() == 1);
    CHECK(store.quarantined().front() == "{\"id\":");
  }
  SUBCASE("emptied in place") {
    store.disk.write(kLog, "");
    CHECK(LogStore::append(log, kNext).has_value());
    CHECK(store.bytes() == kNext);
  }
  SUBCASE("grown in place, the last line without its end") {
    store.disk.write(kLog, std::string(kFive) + "{\"id\":\"by hand\"}");
    CHECK(LogStore::append(log, kNext).has_value());
    CHECK(store.bytes() == std::string(kFive) + "{\"id\":\"by hand\"}\n" + std::string(kNext));
  }
}

TEST_CASE("bytes that replace synced ones after a cut by hand are synced again") {
  LogStore store;
  AppendLog log = store.open();
  REQUIRE(LogStore::append(log, kFive).has_value());
  REQUIRE(store.files.count(Operation::kSyncData) == 1);
  store.disk.write(kLog, "");
  REQUIRE(LogStore::append(log, kNext).has_value());
  CHECK(store.files.count(Operation::kSyncData) == 2);
}

TEST_CASE("what is no regular file is no log") {
  LogStore store;
  SUBCASE("a link or device") { store.disk.make_other(kLog); }
  SUBCASE("a folder") { store.disk.make_folders(kLog); }
  AppendLog log = store.open();
  const Result<std::uint64_t> prepared = log.prepare();
  REQUIRE_FALSE(prepared.has_value());
  CHECK(prepared.error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(prepared.error().path == "memory:/s/facts.jsonl");
  CHECK(prepared.error().message == "is not a regular file; move away what is there");
}

TEST_CASE("a torn end above the size of a line is kept in pieces") {
  LogStore store;
  const std::string torn = "{\"id\":\"" + std::string(kLineSizeMax + 10, 'x') + "\"}";
  store.disk.write(kLog, "{\"id\":1}\n" + torn);
  REQUIRE(store.append(kNext).has_value());
  CHECK(store.bytes() == "{\"id\":1}\n" + std::string(kNext));
  std::string kept;
  for (const std::string& piece : store.quarantined()) {
    kept += piece;
  }
  CHECK(kept == torn);
}

TEST_CASE("any call that fails on the way leaves the whole lines as they were") {
  // The log is missing, new, warm, and torn; each call that an append makes fails once.
  for (const std::string_view start :
       {std::string_view(), kFive, kFive.substr(0, kFive.size() - 4)}) {
    for (std::size_t nth = 0;; ++nth) {
      LogStore store;
      if (!start.empty()) {
        store.disk.write(kLog, start);
      }
      LogStore reached;
      if (!start.empty()) {
        reached.disk.write(kLog, start);
      }
      REQUIRE(reached.append(kNext).has_value());
      const std::vector<std::string> calls = reached.files.log();
      if (nth == calls.size()) {
        break;
      }
      const std::string call = calls[nth].substr(0, calls[nth].find(' '));
      CAPTURE(calls[nth]);
      std::size_t count = 0;
      for (std::size_t i = 0; i <= nth; ++i) {
        count += calls[i].starts_with(call + " ") ? 1 : 0;
      }
      for (int kind = 0; kind <= static_cast<int>(Operation::kSyncDirectory); ++kind) {
        const auto operation = static_cast<Operation>(kind);
        if (operation_name(operation) == call) {
          store.files.fail({.operation = operation, .nth = count});
        }
      }
      AppendLog log = store.open();
      CHECK_FALSE(LogStore::append(log, kNext).has_value());
      const std::string whole = whole_lines(start);
      if (store.disk.info(kLog)) {
        CHECK(store.bytes().starts_with(whole));
      } else {
        CHECK(whole.empty());
      }
      store.files.heal();
      CHECK(LogStore::append(log, "{\"id\":\"after\"}\n").has_value());
      CHECK(store.bytes() == whole + "{\"id\":\"after\"}\n");
    }
  }
}

}  // namespace bmad_mem::test::append_log_test
