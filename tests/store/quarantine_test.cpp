// quarantine_test.cpp - bytes that are no entry are kept verbatim, once, and durably.
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "store/append_log.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::quarantine_test {
namespace {

using Records = std::vector<nlohmann::json>;

/// A log with damage in it, and the quarantine beside it.
class Ward {
 public:
  explicit Ward(std::string_view log_bytes) {
    disk.make_folders("s");
    disk.write("s/facts.jsonl", log_bytes);
    log = std::move(disk.open("s/facts.jsonl", OpenMode::kRead).value());
  }

  static DamagedLine range(std::uint64_t offset, std::uint64_t size) {
    return {.offset = offset, .size = size, .line = 2, .reason = "not valid JSON"};
  }

  /// Keeps one range with a quarantine of its own, as a process started for it would.
  Status keep(std::uint64_t offset, std::uint64_t size) {
    Quarantine quarantine(files, "s/quarantine.jsonl");
    BMAD_TRY(quarantine.keep(*log, "facts.jsonl", range(offset, size), clock.now()));
    return quarantine.sync();
  }

  Records records() {
    Records found;
    const std::string text = disk.read("s/quarantine.jsonl");
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      found.push_back(nlohmann::json::parse(text.substr(at, text.find('\n', at) - at)));
    }
    return found;
  }

  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  ManualClock clock;
  std::unique_ptr<File> log;
};

}  // namespace

TEST_CASE("a kept line says where it stood, why it left, and what it was") {
  Ward ward("{\"id\":1}\n{\"id\":\"msg\n");
  REQUIRE(ward.keep(9, 10).has_value());
  CHECK(ward.disk.read("s/quarantine.jsonl") ==
        R"({"at":"2026-01-11T10:00:00Z","file":"facts.jsonl","line":2,"offset":9,"size":10,)"
        R"("xxh3":")" +
            hash_hex(xxh3("{\"id\":\"msg")) +
            R"(","reason":"not valid JSON","text":"{\"id\":\"msg"})"
            "\n");
  CHECK(ward.disk.read("s/facts.jsonl") == "{\"id\":1}\n{\"id\":\"msg\n");
}

TEST_CASE("bytes that are no text are kept as base64") {
  struct Row {
    std::string_view bytes;
    const char* base64;
  };
  static constexpr Row kRows[] = {
      {"\xFF", "/w=="},
      {{"\0", 1}, "AA=="},
      {"\xFF\xFE", "//4="},
      {"\xFF\xFE\xFD", "//79"},
      {"\xFF\xFE\xFD\xFC", "//79/A=="},
      {"caf\xC3", "Y2Fmww=="},  // Half a character.
      {{"a\0b", 3}, "YQBi"},
      {"\xED\xA0\x80", "7aCA"},  // A surrogate.
  };
  for (const Row& row : kRows) {
    CAPTURE(row.base64);
    Ward ward(row.bytes);
    REQUIRE(ward.keep(0, row.bytes.size()).has_value());
    const Records records = ward.records();
    REQUIRE(records.size() == 1);
    CHECK(records[0].at("bytes_base64") == row.base64);
    CHECK_FALSE(records[0].contains("text"));
  }
}

TEST_CASE("text is kept as text, whatever characters it has") {
  const std::string text =
      "quote \" backslash \\ tab \t newline \n DEL \x7F caf\xC3\xA9 \xF0\x9F\x98\x80";
  Ward ward(text);
  REQUIRE(ward.keep(0, text.size()).has_value());
  CHECK(ward.records().at(0).at("text") == text);
  CHECK(ward.records().size() == 1);
}

TEST_CASE("keeping the same bytes of the same place again adds nothing") {
  Ward ward("{\"id\":\n{\"id\":\n");
  REQUIRE(ward.keep(0, 6).has_value());
  const std::string once = ward.disk.read("s/quarantine.jsonl");
  ward.clock.advance(std::chrono::hours(1));

  SUBCASE("by another process") { REQUIRE(ward.keep(0, 6).has_value()); }
  SUBCASE("by the same") {
    Quarantine quarantine(ward.files, "s/quarantine.jsonl");
    REQUIRE(
        quarantine.keep(*ward.log, "facts.jsonl", Ward::range(0, 6), ward.clock.now()).has_value());
    REQUIRE(
        quarantine.keep(*ward.log, "facts.jsonl", Ward::range(0, 6), ward.clock.now()).has_value());
    REQUIRE(quarantine.sync().has_value());
  }
  CHECK(ward.disk.read("s/quarantine.jsonl") == once);
  REQUIRE(ward.keep(7, 6).has_value());  // The same bytes elsewhere are another piece.
  CHECK(ward.records().size() == 2);
}

TEST_CASE("what a killed process kept without a sync is synced by the next") {
  Ward ward("{\"id\":\n");
  {
    Quarantine killed(ward.files, "s/quarantine.jsonl");
    REQUIRE(killed.keep(*ward.log, "facts.jsonl", Ward::range(0, 6), ward.clock.now()).has_value());
  }
  REQUIRE(ward.files.count(Operation::kSyncData) == 0);
  REQUIRE(ward.keep(0, 6).has_value());
  CHECK(ward.files.count(Operation::kSyncData) == 1);
  CHECK(ward.files.count(Operation::kSyncDirectory) == 1);
  CHECK(ward.records().size() == 1);
}

TEST_CASE("a large range is kept in pieces that can be put together again") {
  // A character of two bytes lies across the first border: both pieces are base64 or text.
  std::string bytes(Quarantine::kPieceSize - 1, 'x');
  bytes += "\xC3\xA9";
  bytes += std::string(Quarantine::kPieceSize, 'y');
  Ward ward("{\"id\":1}\n" + bytes + "\n");
  REQUIRE(ward.keep(9, bytes.size()).has_value());
  const Records records = ward.records();
  REQUIRE(records.size() == 3);
  std::uint64_t offset = 9;
  for (const nlohmann::json& record : records) {
    CHECK(record.at("offset") == offset);
    CHECK(record.at("line") == 2);
    const std::uint64_t size = record.at("size");
    const std::string piece = bytes.substr(offset - 9, size);
    CHECK(record.at("xxh3") == hash_hex(xxh3(piece)));
    offset += size;
  }
  CHECK(offset == 9 + bytes.size());
  CHECK(records[0].contains("bytes_base64"));
  CHECK(records[1].contains("bytes_base64"));
  CHECK(records[2].at("text") == "y");
  REQUIRE(ward.keep(9, bytes.size()).has_value());
  CHECK(ward.records().size() == 3);
}

TEST_CASE("an unfinished line of the quarantine itself goes, since its bytes are in the log") {
  Ward ward("{\"id\":\n{\"x\":\n");
  REQUIRE(ward.keep(0, 6).has_value());
  const std::string first = ward.disk.read("s/quarantine.jsonl");
  REQUIRE(ward.keep(7, 5).has_value());
  const std::string both = ward.disk.read("s/quarantine.jsonl");
  for (std::size_t cut = 0; cut < both.size(); ++cut) {
    CAPTURE(cut);
    ward.disk.write("s/quarantine.jsonl", both.substr(0, cut));
    REQUIRE(ward.keep(0, 6).has_value());
    REQUIRE(ward.keep(7, 5).has_value());
    CHECK(ward.disk.read("s/quarantine.jsonl") == both);
  }
}

TEST_CASE("a quarantine that cannot be written is an error, and the log is untouched") {
  for (const Operation operation : {Operation::kOpen, Operation::kFileInfo, Operation::kWrite,
                                    Operation::kSyncData, Operation::kSyncDirectory}) {
    CAPTURE(operation_name(operation));
    Ward ward("{\"id\":\n");
    ward.files.fail({.operation = operation, .error_number = ENOSPC});
    const Status kept = ward.keep(0, 6);
    REQUIRE_FALSE(kept.has_value());
    CHECK(kept.error().code == ErrorCode::E_STORAGE_FULL);
    CHECK(ward.disk.read("s/facts.jsonl") == "{\"id\":\n");
  }
}

TEST_CASE("nothing is written or synced when nothing is kept") {
  Ward ward("");
  Quarantine quarantine(ward.files, "s/quarantine.jsonl");
  CHECK(quarantine.sync().has_value());
  CHECK(ward.files.log().empty());
  CHECK_FALSE(ward.disk.info("s/quarantine.jsonl").has_value());
}

}  // namespace bmad_mem::test::quarantine_test
