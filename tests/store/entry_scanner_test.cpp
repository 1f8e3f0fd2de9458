// entry_scanner_test.cpp - every line of a log gets one verdict: an entry, damaged, or blank.
#include "store/entry_scanner.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "model/entry.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::entry_scanner_test {
namespace {

constexpr std::string_view kFact =
    R"({"id":"f1","timestamp":"2026-01-11T10:00:00Z","content":"x"})";

/// A log of facts and what the scanner makes of it.
struct Scanned {
  explicit Scanned(std::string_view bytes) {
    MemoryFileSystem files;
    files.write("facts.jsonl", bytes);
    JsonParser parser;
    scan = scan_log(files, "facts.jsonl", EntryType::kFact, parser,
                    {.on_entry =
                         [&](const ScannedEntry& entry) {
                           ids.emplace_back(entry_id(entry.value));
                           texts.emplace_back(entry.text);
                           lines.push_back(entry.line);
                           offsets.push_back(entry.offset);
                         },
                     .on_damage = [&](const DamagedLine& line) { damage.push_back(line); }})
               .value();
  }
  LogScan scan;
  std::vector<std::string> ids;
  std::vector<std::string> texts;
  std::vector<std::uint64_t> lines;
  std::vector<std::uint64_t> offsets;
  std::vector<DamagedLine> damage;
};

std::string fact(const std::string& id) {
  return R"({"id":")" + id + R"(","timestamp":"2026-01-11T10:00:00Z","content":"x"})";
}

}  // namespace

TEST_CASE(
    "an encrypted line is neither an entry nor damage, and is passed over unless it is asked for") {
  struct Row {
    const char* name;
    std::string line;
    std::uint64_t encrypted;
    std::uint64_t damaged;
  };
  const Row rows[] = {
      {"sealed", R"({"id":"f2","timestamp":"2026-01-11T10:00:00Z","sealed":"1.x.y"})", 1, 0},
      {"with a version time",
       R"({"id":"f2","timestamp":"2026-01-11T10:00:00Z","updated_at":"x","sealed":"1.x.y"})", 1, 0},
      {"an entry with such a field",
       R"({"id":"f2","timestamp":"2026-01-11T10:00:00Z","content":"x","sealed":"1.x.y"})", 0, 0},
      {"without id", R"({"timestamp":"2026-01-11T10:00:00Z","sealed":"1.x.y"})", 0, 1},
      {"without time", R"({"id":"f2","sealed":"1.x.y"})", 0, 1},
      {"no time", R"({"id":"f2","timestamp":"today","sealed":"1.x.y"})", 0, 1},
      {"nothing encrypted", R"({"id":"f2","timestamp":"2026-01-11T10:00:00Z","sealed":""})", 0, 1},
      {"a number", R"({"id":"f2","timestamp":"2026-01-11T10:00:00Z","sealed":1})", 0, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Scanned scanned(fact("f1") + "\n" + row.line + "\n" + fact("f3") + "\n");
    CHECK(scanned.scan.encrypted == row.encrypted);
    CHECK(scanned.scan.damaged == row.damaged);
    CHECK(scanned.scan.entries == 3 - row.encrypted - row.damaged);
    CHECK(scanned.lines.back() == 3);
  }
  MemoryFileSystem files;
  files.write("facts.jsonl", fact("f1") + "\n" + rows[0].line + "\n");
  JsonParser parser;
  std::vector<std::string> ids;
  REQUIRE(scan_log(files, "facts.jsonl", EntryType::kFact, parser,
                   {.on_entry = [](const ScannedEntry&) {},
                    .on_encrypted =
                        [&](const ScannedEntry& entry) {
                          ids.emplace_back(entry_id(entry.value));
                          CHECK(entry.text == rows[0].line);
                          CHECK(entry.line == 2);
                        }}));
  CHECK(ids == std::vector<std::string>{"f2"});
}

TEST_CASE("a log that isn't there is empty") {
  MemoryFileSystem files;
  JsonParser parser;
  const LogScan scan =
      scan_log(files, "facts.jsonl", EntryType::kFact, parser, {.on_entry = {}}).value();
  CHECK(scan.entries == 0);
  CHECK(scan.damaged == 0);
  CHECK(scan.whole_end == 0);
  CHECK(scan.torn_size == 0);
  CHECK(scan.torn_line == 1);
}

TEST_CASE("entries come in order, with their places and their bytes") {
  const Scanned log(fact("a") + "\n" + fact("b") + "\n" + fact("a") + "\n");
  CHECK(log.ids == std::vector<std::string>{"a", "b", "a"});
  CHECK(log.texts == std::vector<std::string>{fact("a"), fact("b"), fact("a")});
  CHECK(log.lines == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(log.offsets == std::vector<std::uint64_t>{0, 60, 120});
  CHECK(log.scan.entries == 3);
  CHECK(log.scan.whole_end == 180);
}

TEST_CASE("blank lines are neither entries nor damage, and a CR belongs to the line's end") {
  const Scanned log("\n" + fact("a") + "\r\n  \t \r\n\r\n" + fact("b") + "\n");
  CHECK(log.texts == std::vector<std::string>{fact("a"), fact("b")});
  CHECK(log.lines == std::vector<std::uint64_t>{2, 5});
  CHECK(log.scan.damaged == 0);
}

TEST_CASE("bytes behind the last newline are torn, and not looked at") {
  const Scanned log(fact("a") + "\n" + fact("b"));
  CHECK(log.ids == std::vector<std::string>{"a"});
  CHECK(log.scan.whole_end == 60);
  CHECK(log.scan.torn_size == 59);
  CHECK(log.scan.torn_line == 2);
  CHECK(log.scan.damaged == 0);
}

TEST_CASE("a damaged line is named by line, column, field and reason, and its neighbours stay") {
  struct Row {
    const char* name;
    std::string line;
    std::uint64_t column;
    const char* field;
    const char* reason;  // Part of it.
  };
  const Row rows[] = {
      {"cut off", R"({"id":"x","timestamp")", 22, "timestamp", "not valid JSON"},
      {"no JSON", "hello", 1, "", "not valid JSON"},
      {"bad UTF-8", "{\"id\":\"\xFF\"}", 8, "", "not valid UTF-8: byte 0xff"},
      {"NUL", std::string("{\"id\":\"\0\"}", 10), 8, "", "NUL"},
      {"escaped NUL", R"({"id":"\u0000"})", 7, "id", "NUL"},
      {"byte order mark", "\xEF\xBB\xBF" + fact("x"), 1, "", "byte order mark"},
      {"a key twice", R"({"id":"x","id":"y"})", 11, "id", "twice"},
      {"a number too large", R"({"id":1e400})", 7, "id", "too large"},
      {"an array", "[]", 1, "", "must be an object"},
      {"a missing field", R"({"id":"x","timestamp":"2026-01-11T10:00:00Z"})", 1, "content",
       "needs this field"},
      {"a wrong field", R"({"id":"x","timestamp":"yesterday","content":"x"})", 11, "timestamp",
       "is not a time"},
      {"a field inside another",
       R"({"id":"x","timestamp":"2026-01-11T10:00:00Z","content":"x","source":{"kind":"me"}})", 60,
       "source.kind", "is not one of"},
      {"a conflict marker", "<<<<<<< HEAD", 1, "", "a conflict marker that a merge left"},
      {"another", "=======", 1, "", "a conflict marker"},
      {"the last", ">>>>>>> branch", 1, "", "a conflict marker"},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) {
      const Scanned log(fact("a") + "\n" + row.line + "\n" + fact("b") + "\n");
      CHECK(log.ids == std::vector<std::string>{"a", "b"});
      REQUIRE(log.damage.size() == 1);
      const DamagedLine& damage = log.damage.front();
      CHECK(damage.line == 2);
      CHECK(damage.offset == 60);
      CHECK(damage.size == row.line.size());
      CHECK(damage.column == row.column);
      CHECK(damage.field == row.field);
      CAPTURE(damage.reason);
      CHECK(damage.reason.find(row.reason) != std::string::npos);
    }
  }
}

TEST_CASE("a line of just the largest size is an entry, one byte more is damage") {
  std::string largest = fact("a");
  largest.insert(largest.size() - 2, std::string(kEntrySizeMax - largest.size(), 'x'));
  REQUIRE(largest.size() == kEntrySizeMax);
  std::string larger = largest;
  larger.insert(larger.size() - 2, "y");
  const Scanned log(larger + "\n" + largest + "\n" + larger + "\n" + fact("b") + "\n");
  CHECK(log.ids == std::vector<std::string>{"a", "b"});
  REQUIRE(log.damage.size() == 2);
  CHECK(log.damage[0].reason ==
        "the line has 1048577 bytes, more than the 1048576 an entry may have");
  CHECK(log.damage[1].line == 3);
  CHECK(log.damage[1].size == kEntrySizeMax + 1);
}

TEST_CASE("damage is counted when nobody asks for the reason") {
  MemoryFileSystem files;
  files.write("facts.jsonl", "x\n" + std::string(kFact) + "\ny\n");
  JsonParser parser;
  const LogScan scan = scan_log(files, "facts.jsonl", EntryType::kFact, parser,
                                {.on_entry = [](const ScannedEntry&) {}})
                           .value();
  CHECK(scan.damaged == 2);
  CHECK(scan.entries == 1);
}

TEST_CASE("an entry of another type is damage in this log") {
  const Scanned log(R"({"id":"d","timestamp":"2026-01-11T10:00:00Z","decision":"Use PostgreSQL"})"
                    "\n");
  CHECK(log.scan.entries == 0);
  REQUIRE(log.damage.size() == 1);
  CHECK(log.damage[0].field == "content");
}

TEST_CASE("how far a scan is, is told every 256 KiB") {
  MemoryFileSystem files;
  std::string bytes;
  while (bytes.size() < (1U << 20U)) {
    bytes += kFact;
    bytes += '\n';
  }
  files.write("facts.jsonl", bytes);
  JsonParser parser;
  std::vector<std::uint64_t> steps;
  REQUIRE(scan_log(files, "facts.jsonl", EntryType::kFact, parser,
                   {.on_entry = [](const ScannedEntry&) {},
                    .on_progress = [&](std::uint64_t offset) { steps.push_back(offset); }})
              .has_value());
  CHECK(steps.size() == 3);
  CHECK(std::ranges::is_sorted(steps));
  CHECK(steps.front() >= 256U << 10U);
  CHECK(steps.back() < bytes.size());
}

TEST_CASE("a disk that fails in the middle of a scan is an error") {
  MemoryFileSystem disk;
  disk.write("facts.jsonl", std::string(kFact) + "\n");
  for (const Operation operation : {Operation::kOpen, Operation::kFileInfo, Operation::kReadAt}) {
    FaultyFileSystem files(disk);
    files.fail({.operation = operation});
    JsonParser parser;
    const Result<LogScan> scan = scan_log(files, "facts.jsonl", EntryType::kFact, parser,
                                          {.on_entry = [](const ScannedEntry&) {}});
    REQUIRE_FALSE(scan.has_value());
    CHECK(scan.error().code == ErrorCode::E_STORAGE_IO);
  }
}

}  // namespace bmad_mem::test::entry_scanner_test
