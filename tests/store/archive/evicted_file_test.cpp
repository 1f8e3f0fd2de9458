#include "store/evicted_file.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "every_fault.hpp"
#include "store/gzip.hpp"
#include "store/layout.hpp"

namespace bmad_mem::test::evicted_file_test {
namespace {

using Lines = std::vector<EvictedLine>;

constexpr const char* kPath = "archive/s1.evicted.jsonl.gz";

Timestamp time(std::string_view text) { return parse_rfc3339(text).value(); }

const Timestamp kMonday = time("2026-03-02T08:00:00Z");
const Timestamp kFriday = time("2026-03-06T08:00:00.250Z");

EvictedLine line(std::string text, Timestamp at = kMonday) {
  return {.type = EntryType::kConversation,
          .line = std::move(text),
          .reason = "relevance 0.12, the least 20 %",
          .evicted_at = at};
}

const Lines kFirst = {line(R"({"id":"msg-1", "n": 1.00,"text":"ü"})"), line(R"({"id":"msg-2"})")};
const Lines kSecond = {line(R"({"id":"msg-3"})", kFriday)};
const Lines kAll = {kFirst[0], kFirst[1], kSecond[0]};

Lines read(FileSystem& files) { return read_evicted(files, "s1").value(); }

void put_first(MemoryFileSystem& disk) { REQUIRE(append_evicted(disk, "s1", kFirst, kMonday)); }

}  // namespace

TEST_CASE("what was evicted comes back byte for byte, in order") {
  MemoryFileSystem files;
  CHECK(read(files).empty());
  put_first(files);
  REQUIRE(append_evicted(files, "s1", kSecond, kFriday));
  CHECK(read(files) == kAll);
}

TEST_CASE("the file is gzip of JSON lines, a member an append") {
  MemoryFileSystem files;
  REQUIRE(append_evicted(files, "s1", {{kFirst[1]}}, kMonday));
  const std::string first = files.read(kPath);
  CHECK(gunzip(first, 1000).value() ==
        "{\"type\":\"conversation\",\"evicted_at\":\"2026-03-02T08:00:00Z\","
        "\"reason\":\"relevance 0.12, the least 20 %\",\"entry\":{\"id\":\"msg-2\"}}\n");
  REQUIRE(append_evicted(files, "s1", kSecond, kFriday));
  CHECK(files.read(kPath).starts_with(first));
}

TEST_CASE("lines that are there already are not added again") {
  MemoryFileSystem files;
  put_first(files);
  const std::string bytes = files.read(kPath);
  REQUIRE(append_evicted(files, "s1", kFirst, kFriday));
  CHECK(files.read(kPath) == bytes);
  const Lines more = {kFirst[1], kSecond[0], kSecond[0]};
  REQUIRE(append_evicted(files, "s1", more, kFriday));
  CHECK(read(files) == kAll);
  // The same text of another type is another entry.
  EvictedLine other = kFirst[1];
  other.type = EntryType::kFact;
  REQUIRE(append_evicted(files, "s1", {{other}}, kFriday));
  CHECK(read(files).size() == 4);
}

TEST_CASE("nothing to evict makes no file") {
  MemoryFileSystem files;
  REQUIRE(append_evicted(files, "s1", {}, kMonday));
  CHECK(!files.info("archive"));
}

TEST_CASE("a member that a crash has torn is not read, and gives way to the next") {
  MemoryFileSystem whole;
  put_first(whole);
  const std::string first = whole.read(kPath);
  REQUIRE(append_evicted(whole, "s1", kSecond, kFriday));
  const std::string both = whole.read(kPath);
  for (std::size_t size = first.size(); size <= both.size() - 4; ++size) {
    for (const std::size_t unwritten : {std::size_t{0}, both.size() - size}) {
      CAPTURE(size);
      CAPTURE(unwritten);
      MemoryFileSystem files;
      files.make_folders("archive");
      files.write(kPath, both.substr(0, size) + std::string(unwritten, '\0'));
      CHECK(read(files) == kFirst);
      REQUIRE(append_evicted(files, "s1", kSecond, kFriday));
      CHECK(files.read(kPath) == both);
    }
  }
}

TEST_CASE("a damaged file is named, and never cut") {
  MemoryFileSystem files;
  put_first(files);
  REQUIRE(append_evicted(files, "s1", kSecond, kFriday));
  std::string bytes = files.read(kPath);
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  files.write(kPath, bytes);
  const Error error = read_evicted(files, "s1").error();
  CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(error.path.ends_with(kPath));
  CHECK(append_evicted(files, "s1", kSecond, kFriday).error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(files.read(kPath) == bytes);
}

TEST_CASE("a line that can't be read is named by its number") {
  MemoryFileSystem files;
  files.make_folders("archive");
  const char* const bad[] = {"{}", R"({"type":"fact","entry":{}})",
                             R"({"type":"fact","evicted_at":"soon","entry":{}})"};
  for (const char* text : bad) {
    CAPTURE(text);
    files.write(kPath, gzip("\n\n" + std::string(text) + "\n").value());
    const Error error = read_evicted(files, "s1").error();
    CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(error.line == 3);
  }
}

TEST_CASE("a file that a person wrote is read") {
  MemoryFileSystem files;
  files.make_folders("archive");
  files.write(kPath, gzip("{ \"entry\" :{\"id\": 1}, \"mine\":1,\"type\": \"facts\",\r\n"
                          "")
                         .value());
  CHECK(!read_evicted(files, "s1"));
  files.write(kPath, gzip("{ \"entry\" :{\"id\": 1}, \"mine\":1,\"type\": \"facts\", "
                          "\"evicted_at\": \"2026-03-02T08:00:00Z\"}\r\n\r\n")
                         .value());
  CHECK(
      read(files) ==
      Lines{
          {.type = EntryType::kFact, .line = "{\"id\": 1}", .reason = "", .evicted_at = kMonday}});
}

TEST_CASE("the file is replaced whole, and removed when nothing is left") {
  MemoryFileSystem files;
  REQUIRE(replace_evicted(files, "s1", {}));
  put_first(files);
  REQUIRE(replace_evicted(files, "s1", kSecond));
  CHECK(read(files) == kSecond);
  REQUIRE(replace_evicted(files, "s1", {}));
  CHECK(!files.info(kPath));
}

TEST_CASE("eviction that fails leaves what was there, with all that was to come or nothing") {
  const auto evict = [](FileSystem& files) {
    return append_evicted(files, "s1", kSecond, kFriday);
  };
  const std::size_t failures = for_every_fault(put_first, evict, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kFirst || lines == kAll));
  });
  CHECK(failures > 5);
  const auto torn = [](MemoryFileSystem& disk) {
    put_first(disk);
    disk.write(kPath, disk.read(kPath) + "\x1F\x8B\x08");
  };
  for_every_fault(torn, evict, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kFirst || lines == kAll));
  });
}

TEST_CASE("a sync that failed is not taken for one that succeeded later") {
  MemoryFileSystem disk;
  put_first(disk);
  FaultyFileSystem files(disk);
  files.fail({.operation = Operation::kSyncAll});
  CHECK(!append_evicted(files, "s1", kSecond, kFriday));
  CHECK(read(disk) == kFirst);
  files.clear_log();
  REQUIRE(append_evicted(files, "s1", kSecond, kFriday));
  CHECK(files.count(Operation::kWrite) == 1);
}

TEST_CASE("a replacement that fails leaves the old lines or the new ones") {
  const auto replace = [](FileSystem& files) { return replace_evicted(files, "s1", kSecond); };
  for_every_fault(put_first, replace, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kFirst || lines == kSecond));
  });
  const auto empty = [](FileSystem& files) { return replace_evicted(files, "s1", {}); };
  for_every_fault(put_first, empty, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kFirst || lines.empty()));
  });
}

TEST_CASE("what is full is followed by another part, and touched no more") {
  MemoryFileSystem files;
  const auto batch = [](int number) {
    Lines lines;
    for (int i = 0; i < 3; ++i) {
      lines.push_back(line("{\"id\":\"msg-" + std::to_string(number) + "-" + std::to_string(i) +
                           "\",\"text\":\"" + std::string(1U << 20U, 'x') + "\"}"));
    }
    return lines;
  };
  Lines all;
  std::string first;
  for (int i = 0; i < 6; ++i) {
    const Lines lines = batch(i);
    REQUIRE(append_evicted(files, "s1", lines, kMonday));
    all.insert(all.end(), lines.begin(), lines.end());
    if (evicted_parts(files, "s1").value() == 2 && first.empty()) {
      first = files.read(kPath);
    }
  }
  REQUIRE(evicted_parts(files, "s1").value() == 3);
  CHECK(files.read(kPath) == first);
  Lines got = read(files);
  for (std::uint32_t part = 1; part <= 3; ++part) {
    const std::string packed = files.read(evicted_path("s1", part));
    CHECK(gunzip(packed, kEvictedPartSize));
    CHECK(read_evicted(files, "s1", part).value().front().part == part);
  }
  for (EvictedLine& each : got) {
    each.part = 1;
  }
  CHECK(got == all);

  SUBCASE("lines of one append go to as many parts as they need") {
    MemoryFileSystem other;
    REQUIRE(append_evicted(other, "s1", all, kMonday));
    CHECK(evicted_parts(other, "s1").value() == 3);
    CHECK(read_evicted(other, "s1").value().size() == all.size());
  }
  SUBCASE("a part without lines stays as long as others follow") {
    Lines lines = read(files);
    std::erase_if(lines, [](const EvictedLine& each) { return each.part == 2; });
    REQUIRE(replace_evicted(files, "s1", lines));
    CHECK(read(files) == lines);
    CHECK(files.read(kPath) == first);
    CHECK(evicted_parts(files, "s1").value() == 3);
    REQUIRE(replace_evicted(files, "s1", {}));
    CHECK(evicted_parts(files, "s1").value() == 0);
  }
}

TEST_CASE("a file from before there were parts is read whatever its size, and followed by others") {
  MemoryFileSystem files;
  Lines lines;
  for (int i = 0; i < 20; ++i) {
    lines.push_back(line("{\"id\":\"m" + std::to_string(i) + "\",\"text\":\"" +
                         std::string(1U << 20U, 'x') + "\"}"));
  }
  REQUIRE(replace_evicted_part(files, "s1", lines, 1));
  const std::string old = files.read(kPath);
  REQUIRE(append_evicted(files, "s1", kSecond, kFriday));
  CHECK(files.read(kPath) == old);
  CHECK(evicted_parts(files, "s1").value() == 2);
  CHECK(read(files).size() == 21);
}

}  // namespace bmad_mem::test::evicted_file_test
