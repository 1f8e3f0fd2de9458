// line_reader_test.cpp - bytes to lines: whole ones only, wherever the chunks end.
#include "store/line_reader.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::line_reader_test {
namespace {

constexpr std::uint64_t kLimit = 1U << 20U;
constexpr std::size_t kChunk = 256U << 10U;  // As LineReader reads.

/// A file and what a reader makes of it.
class Page {
 public:
  explicit Page(std::string_view bytes) {
    disk.write("log", bytes);
    file = std::move(files.open("log", OpenMode::kRead).value());
  }
  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
  std::unique_ptr<File> file;
};

/// What the reader must say of `bytes`, found by splitting them at once.
void check_against_split(std::string_view bytes, std::uint64_t limit = kLimit) {
  Page page(bytes);
  LineReader reader(*page.file, limit);
  Line line;
  std::uint64_t number = 0;
  std::size_t at = 0;
  while (true) {
    const std::size_t newline = bytes.find('\n', at);
    const bool more = reader.next(line).value();
    REQUIRE(more == (newline != std::string_view::npos));
    if (!more) {
      break;
    }
    const std::string_view expected = bytes.substr(at, newline - at);
    CHECK(line.number == ++number);
    CHECK(line.offset == at);
    CHECK(line.size == expected.size());
    CHECK(line.too_long == (expected.size() > limit));
    // Compared first: a failing CHECK would print the whole line.
    const bool same = line.text == (line.too_long ? std::string_view() : expected);
    CHECK(same);
    at = newline + 1;
  }
  CHECK(reader.whole_end() == at);
  CHECK(reader.torn_size() == bytes.size() - at);
  CHECK_FALSE(reader.next(line).value());  // The end stays the end.
}

}  // namespace

TEST_CASE("a line is what ends in a newline, and nothing else") {
  struct Row {
    const char* name;
    std::string_view bytes;
  };
  static constexpr Row kRows[] = {
      {"empty file", ""},
      {"one line", "abc\n"},
      {"line, then torn", "abc\nde"},
      {"torn only", "abc"},
      {"empty lines", "\n\na\n\n"},
      {"CR LF", "a\r\nb\r\n\r\n"},
      {"lone CR", "a\rb\n"},
      {"NUL and bad UTF-8", {"\0\xFF\n\xC3\n", 5}},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) { check_against_split(row.bytes); }
  }
}

TEST_CASE("a line may end anywhere around the border of a chunk") {
  for (std::size_t border : {kChunk, 2 * kChunk}) {
    for (std::size_t size = border - 3; size <= border + 3; ++size) {
      CAPTURE(size);
      const std::string first(size, 'x');
      check_against_split(first + "\n");
      check_against_split(first);
      check_against_split(first + "\nshort\n" + first + "\ntorn");
    }
  }
}

TEST_CASE("lines of many sizes are read whole over many chunks") {
  std::string bytes;
  for (std::size_t i = 0; bytes.size() < 3 * kChunk; ++i) {
    bytes += std::to_string(i) + std::string(i * 37 % 5000, static_cast<char>('a' + i % 26)) + "\n";
  }
  check_against_split(bytes);
}

TEST_CASE("a line above the limit is told, passed over, and its bytes are not kept") {
  const std::string long_line(1000, 'x');
  SUBCASE("between others") { check_against_split("a\n" + long_line + "\nb\n", 999); }
  SUBCASE("of just the limit") { check_against_split("a\n" + long_line + "\nb\n", 1000); }
  SUBCASE("first and last") { check_against_split(long_line + "\n" + long_line + "\n", 10); }
  SUBCASE("without an end") { check_against_split("a\n" + long_line, 10); }
  SUBCASE("over many chunks") {
    check_against_split("a\n" + std::string(3 * kChunk, 'x') + "\nb\n", 100);
  }
  SUBCASE("over many chunks, without an end") {
    check_against_split("a\n" + std::string(3 * kChunk, 'x'), 100);
  }
  SUBCASE("of the limit plus one, with the real limit") {
    check_against_split(std::string(kLimit, 'x') + "\n" + std::string(kLimit + 1, 'y') + "\nz\n");
  }
}

TEST_CASE("behind each line a parser may read") {
  Page page("{\"id\":1}\n{\"id\":2}\n");
  LineReader reader(*page.file, kLimit);
  Line line;
  JsonParser parser;
  std::int64_t sum = 0;
  while (reader.next(line).value()) {
    // The sanitizers would see a read beyond the buffer.
    std::size_t padding = 0;
    for (std::size_t i = 0; i < kJsonPadding; ++i) {
      padding += static_cast<unsigned char>(line.text.data()[line.text.size() + i]);
    }
    CHECK(padding < 256 * kJsonPadding);
    sum += parser.try_parse_padded(line.text).value()["id"].integer();
  }
  CHECK(sum == 3);
}

TEST_CASE("reading starts where it is told to") {
  Page page("one\ntwo\nthree\ntorn");
  LineReader reader(*page.file, kLimit);
  reader.seek(4, 2);
  Line line;
  REQUIRE(reader.next(line).value());
  CHECK(line.text == "two");
  CHECK(line.number == 2);
  CHECK(line.offset == 4);
  reader.seek(8, 3);
  REQUIRE(reader.next(line).value());
  CHECK(line.text == "three");
  CHECK_FALSE(reader.next(line).value());
  CHECK(reader.torn_size() == 4);
}

TEST_CASE("reading from the end, or from behind it, finds nothing") {
  for (const std::uint64_t offset : {4U, 100U}) {
    Page page("one\n");
    LineReader reader(*page.file, kLimit);
    reader.seek(offset, 2);
    Line line;
    CHECK_FALSE(reader.next(line).value());
    CHECK(reader.torn_size() == 0);
  }
}

TEST_CASE("a file that grows while it is read ends where it ended at the start") {
  Page page("one\ntwo\n");
  LineReader reader(*page.file, kLimit);
  Line line;
  REQUIRE(reader.next(line).value());
  page.disk.write("log", "one\ntwo\nthree\n");
  REQUIRE(reader.next(line).value());
  CHECK(line.text == "two");
  CHECK_FALSE(reader.next(line).value());
}

TEST_CASE("a file that shrinks while it is read ends where it ends now") {
  const std::string rest(kChunk, 'x');
  SUBCASE("to a line's end") {
    Page page("one\n" + rest + "\nthree\n");
    LineReader reader(*page.file, kLimit);
    Line line;
    REQUIRE(reader.next(line).value());
    page.disk.write("log", "one\n");
    CHECK_FALSE(reader.next(line).value());
  }
  SUBCASE("inside a line") {
    Page page("one\n" + rest + "\nthree\n");
    LineReader reader(*page.file, kLimit);
    Line line;
    REQUIRE(reader.next(line).value());
    page.disk.write("log", "one\n" + rest.substr(0, kChunk - 1));
    CHECK_FALSE(reader.next(line).value());
    CHECK(reader.whole_end() == 4);
  }
  SUBCASE("inside a line that is passed over") {
    Page page("one\n" + rest + rest + "\nthree\n");
    LineReader reader(*page.file, 10);
    Line line;
    REQUIRE(reader.next(line).value());
    page.disk.write("log", "one\n" + rest);
    CHECK_FALSE(reader.next(line).value());
    CHECK(reader.whole_end() == 4);
  }
}

TEST_CASE("a disk that fails is an error, not the end") {
  Page page("one\ntwo\n");
  SUBCASE("looking at the file") { page.files.fail({.operation = Operation::kFileInfo}); }
  SUBCASE("reading it") { page.files.fail({.operation = Operation::kReadAt}); }
  LineReader reader(*page.file, kLimit);
  Line line;
  const Result<bool> more = reader.next(line);
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().os_error == EIO);
}

TEST_CASE("bytes are found wherever the pieces end") {
  const std::string word = "harbour";
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{9}, kChunk - 3, kChunk, kChunk + 7, 2 * kChunk + 2}) {
    std::string bytes(3 * kChunk, 'x');
    bytes.replace(at, word.size(), word);
    Page page(bytes);
    CAPTURE(at);
    CHECK(find_bytes(*page.file, 0, bytes.size(), word).value() == at);
    CHECK(find_bytes(*page.file, at, at + word.size(), word).value() == at);
    CHECK(find_bytes(*page.file, at + 1, bytes.size(), word).value() == bytes.size());
    CHECK(find_bytes(*page.file, 0, at + 1, word).value() == at + 1);
  }
  Page page("xx");
  CHECK(find_bytes(*page.file, 0, 10, word).value() == 10);  // Cut short since.
}

TEST_CASE("no line is read that is longer than any") {
  const std::string longest(kTextLineMax, 'x');
  struct Row {
    const char* name;
    std::string bytes;
    std::uint64_t line;  ///< That is too long; 0: none.
  };
  const Row rows[] = {
      {"none", "", 0},
      {"the longest ones", longest + '\n' + longest + '\n', 0},
      {"many lines", "{}\n" + longest + "\n{}\n", 0},
      {"one byte more", "{}\nx" + longest + "\n{}\n", 2},
      {"two lines before", "{}\n\n" + longest + longest + '\n', 3},
      {"a torn one", "{}\n" + longest + longest, 2},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    MemoryFileSystem disk;
    disk.write("facts.jsonl", row.bytes);
    disk.write("facts.json", row.bytes);
    const Result<std::string> text = read_file(disk, "facts.jsonl", 5 * kTextLineMax);
    CHECK(text.has_value() == (row.line == 0));
    const bool is_whole = text.value_or(row.bytes) == row.bytes;
    CHECK(is_whole);
    if (!text) {
      CHECK(text.error().code == ErrorCode::E_SIZE_LIMIT);
      CHECK(text.error().line == row.line);
    }
    CHECK(read_file(disk, "facts.json", 5 * kTextLineMax).value().size() == row.bytes.size());
  }
}

TEST_CASE("a small file is read in one piece") {
  Page page("one\ntwo\nthree\n");
  LineReader reader(*page.file, kLimit);
  Line line;
  while (reader.next(line).value()) {
  }
  CHECK(page.files.count(Operation::kReadAt) == 1);
}

}  // namespace bmad_mem::test::line_reader_test
