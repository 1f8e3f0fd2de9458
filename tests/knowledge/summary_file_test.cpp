#include "knowledge/summary_file.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::test::summary_file_test {

TEST_CASE("a summary is empty as long as it holds nothing but headings and the template's words") {
  const std::string blank(summary_template());
  CHECK(is_empty_summary(blank));
  CHECK(is_empty_summary(""));
  CHECK(is_empty_summary("\n \r\n"));
  CHECK(is_empty_summary(blank + "\n## One more\n###\n"));
  CHECK(is_empty_summary("# Session summary\n\n## Task\n"));
  CHECK_FALSE(is_empty_summary(blank + "Build the night boat.\n"));
  CHECK_FALSE(is_empty_summary("word"));
  CHECK_FALSE(is_empty_summary("#word\n"));
  CHECK_FALSE(is_empty_summary("####### seven\n"));
}

TEST_CASE("headings in a fence are none") {
  const std::vector<std::string_view> expected = {"# A", "## B", "### C"};
  CHECK(summary_headings("# A\ntext\n## B\n```sh\n# comment\n```\n### C \n#tag\n") == expected);
}

TEST_CASE("nothing that steers a terminal or a reader's eye survives") {
  struct Row {
    const char* name;
    std::string_view text;
    std::string_view clean;
  };
  using namespace std::literals;
  static constexpr Row kRows[] = {
      {"plain", "a\tb\nc", "a\tb\nc"},
      {"line ends", "a\r\nb\rc", "a\nb\nc"},
      {"escape", "a\x1B[31mb", "a[31mb"},
      {"NUL", "a\0b"sv,
       "a\xEF\xBF\xBD"
       "b"},
      {"delete",
       "a\x7F"
       "b",
       "ab"},
      {"C1",
       "a\xC2\x9B"
       "b",
       "ab"},
      {"override",
       "a\xE2\x80\xAE"
       "b",
       "ab"},
      {"isolate",
       "a\xE2\x81\xA6"
       "b",
       "ab"},
      {"tags",
       "a\xF3\xA0\x81\x81"
       "b",
       "ab"},
      {"byte order mark", "\xEF\xBB\xBF# A", "# A"},
      {"other letters", "ä漢😀", "ä漢😀"},
      {"no UTF-8", "a\xFF", "a\xEF\xBF\xBD"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    CHECK(without_controls(row.text) == row.clean);
  }
}

}  // namespace bmad_mem::test::summary_file_test
