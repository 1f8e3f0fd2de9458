// log_rewrite_test.cpp - lines leave a log, and no other byte changes.
#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/append_log.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::log_rewrite_test {
namespace {

/// Removes ranges from a text, in the simplest way.
std::string without(const std::string& text, const std::vector<ByteRange>& gaps) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool gone = false;
    for (const ByteRange& gap : gaps) {
      gone = gone || (i >= gap.begin && i < gap.end);
    }
    if (!gone) {
      kept += text[i];
    }
  }
  return kept;
}

struct Desk {
  Desk() { disk.make_folders("s"); }
  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
};

}  // namespace

TEST_CASE("a log is rewritten without the lines that go") {
  const std::string text = "one\ntwo\nthree\nfour\n";
  const std::vector<ByteRange> rows[] = {
      {}, {{0, 4}}, {{4, 8}}, {{14, 19}}, {{0, 4}, {4, 8}}, {{0, 4}, {8, 14}}, {{0, 19}}};
  for (const std::vector<ByteRange>& gaps : rows) {
    Desk desk;
    desk.disk.write("s/x", text);
    REQUIRE(rewrite_log_without(desk.files, "s/x", gaps).has_value());
    CHECK(desk.disk.read("s/x") == without(text, gaps));
  }
}

TEST_CASE("gaps may lie across the pieces in which a long log is copied") {
  constexpr std::size_t kPiece = 1U << 20U;
  std::string text;
  while (text.size() < 3 * kPiece + 100) {
    text += std::string(text.size() % 97, static_cast<char>('a' + text.size() % 26)) + "\n";
  }
  const std::vector<std::vector<ByteRange>> rows = {
      {{kPiece - 5, kPiece + 5}},
      {{kPiece, 2 * kPiece}},
      {{10, 2 * kPiece + 10}},
      {{kPiece - 1, kPiece}, {kPiece, kPiece + 1}, {3 * kPiece, text.size()}}};
  for (const std::vector<ByteRange>& gaps : rows) {
    Desk desk;
    desk.disk.write("s/x", text);
    REQUIRE(rewrite_log_without(desk.files, "s/x", gaps).has_value());
    CHECK((desk.disk.read("s/x") == without(text, gaps)));
  }
}

TEST_CASE("on a full disk lines are overwritten with blanks") {
  Desk desk;
  desk.disk.write("s/x", "one\ntwo\nthree\n");
  desk.files.fail({.operation = Operation::kWrite, .error_number = ENOSPC});
  REQUIRE(remove_lines(desk.files, "s/x", std::vector<ByteRange>{{4, 8}}).has_value());
  CHECK(desk.disk.read("s/x") == "one\n   \nthree\n");
  CHECK(desk.disk.list("s").value() == std::vector<std::string>{"x"});
}

TEST_CASE("a disk that is full once the copy is in place takes no other line") {
  for (const int error : {ENOSPC, EDQUOT, EIO}) {
    Desk desk;
    desk.disk.write("s/x", "one\ntwo\nthree\nfour\n");
    desk.files.fail({.operation = Operation::kSyncDirectory, .error_number = error});
    CHECK_FALSE(remove_lines(desk.files, "s/x", std::vector<ByteRange>{{0, 4}}).has_value());
    CHECK(desk.disk.read("s/x") == "two\nthree\nfour\n");
  }
}

TEST_CASE("another failure than a full disk leaves the log as it was") {
  for (const Operation operation : {Operation::kWrite, Operation::kSyncAll, Operation::kRename}) {
    Desk desk;
    desk.disk.write("s/x", "one\ntwo\n");
    desk.files.fail({.operation = operation, .error_number = EIO});
    CHECK_FALSE(remove_lines(desk.files, "s/x", std::vector<ByteRange>{{4, 8}}).has_value());
    CHECK(desk.disk.read("s/x") == "one\ntwo\n");
  }
}

}  // namespace bmad_mem::test::log_rewrite_test
