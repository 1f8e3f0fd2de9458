#include <string_view>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "exchange/files.hpp"

namespace bmad_mem::cli::text_diff_test {
namespace {

TEST_CASE("a diff shows what changed, with some lines around it") {
  struct Row {
    const char* name;
    std::string_view before;
    std::string_view after;
    std::string_view diff;
  };
  static constexpr Row kRows[] = {
      {"equal", "a\nb\n", "a\nb\n", ""},
      {"both empty", "", "", ""},
      {"new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
      {"removed file", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
      {"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
      {"far from the edges", "1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n",
       "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n"},
      {"two hunks", "1\n2\n3\n4\n5\n6\n7\n", "x\n2\n3\n4\n5\n6\ny\n",
       "@@ -1,2 +1,2 @@\n-1\n+x\n 2\n@@ -6,2 +6,2 @@\n 6\n-7\n+y\n"},
      {"near changes are one hunk", "1\n2\n3\n4\n", "x\n2\n3\ny\n",
       "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n-4\n+y\n"},
      {"no newline at the end", "a", "a\n",
       "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) { CHECK(unified_diff(row.before, row.after, 1) == row.diff); }
  }
}

TEST_CASE("what differs in too many lines to compare is shown as replaced") {
  std::string before = "front\n";
  std::string after = before;
  for (int i = 0; i < 1100; ++i) {
    before += fmt::format("old {}\n", i);
    after += fmt::format("new {}\n", i);
  }
  before += "back\n";
  after += "back\n";
  const std::string diff = unified_diff(before, after, 1);
  CHECK(diff.starts_with("@@ -1,1102 +1,1102 @@\n front\n-old 0\n"));
  CHECK(diff.ends_with("+new 1099\n back\n"));
}

}  // namespace
}  // namespace bmad_mem::cli::text_diff_test
