#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "knowledge/summary_file.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::front_matter_test {

TEST_CASE("front matter is told from the text behind it") {
  struct Row {
    std::string_view text;
    std::string_view id;
    std::string_view body;
  };
  static constexpr Row kRows[] = {
      {"", "", ""},
      {"# Title\n", "", "# Title\n"},
      {"---\nid: m1\n---\n# Title\n", "m1", "# Title\n"},
      {"---\r\nid: m1\r\n---\r\n# Title\r\n", "m1", "# Title\r\n"},
      {"---\nid: \"m 1\"\nother: x\n---\n", "m 1", ""},
      {"---\nid:'m1'  \n---", "m1", ""},
      {"---\nother: id: m2\nid: m1\n---\nid: m3\n", "m1", "id: m3\n"},
      {"---\nid: \"a\\nb\\\"c\"\n---\n", "a\nb\"c", ""},
      {"---\nidea: m2\n---\n", "", ""},
      {"---\n---\nbody", "", "body"},
      {"---\nid: m1\nnever ends\n", "", "---\nid: m1\nnever ends\n"},
      {" \n---\nid: m1\n---\n", "", " \n---\nid: m1\n---\n"},
      {"----\nid: m1\n---\n", "", "----\nid: m1\n---\n"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const FrontMatter matter(row.text);
    CHECK(matter.value("id") == row.id);
    CHECK(matter.body() == row.body);
  }
}

TEST_CASE("setting a value leaves every other line as it is") {
  FrontMatter matter("---\nmine:  as  I like it \nid: m1\n# a remark\n---\n\n# Title\n");
  matter.set("id", "m2");
  matter.set("at", "2026-01-11T10:00:00Z");
  CHECK(matter.to_text() ==
        "---\nmine:  as  I like it \nid: m2\n# a remark\nat: 2026-01-11T10:00:00Z\n---\n\n"
        "# Title\n");
}

TEST_CASE("any value comes back as it was set") {
  for (const std::string value : {"m1", "", " m1 ", "a b", "a: b", "---", "\"m1\"", "'m1", "a\nb",
                                  "a\n---\nid: x", "back\\slash", "ä", "\x7F"}) {
    CAPTURE(value);
    FrontMatter matter("# Title\n");
    matter.set("id", value);
    const FrontMatter again(matter.to_text());
    CHECK(again.value("id") == value);
    CHECK(again.body() == "# Title\n");
  }
}

TEST_CASE("the mark of a summary is read where there is one") {
  MemoryFileSystem files;
  files.make_folders("sessions/s1");
  CHECK(last_summarized_id(files, "s1").empty());
  files.write("sessions/s1/summary.md", "# Title\nlast_summarized_id: m0\n");
  CHECK(last_summarized_id(files, "s1").empty());
  files.write("sessions/s1/summary.md", "---\nlast_summarized_id: m1\n---\n# Title\n");
  CHECK(last_summarized_id(files, "s1") == "m1");
}

}  // namespace bmad_mem::test::front_matter_test
