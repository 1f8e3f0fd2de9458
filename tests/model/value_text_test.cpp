#include "model/value_text.hpp"

#include <string>

#include <doctest/doctest.h>

#include "entry_text.hpp"

namespace bmad_mem::value_text_test {

TEST_CASE("one line holds no line break, control character or change of direction") {
  struct Row {
    const char* text;
    const char* line;
  };
  static constexpr Row kRows[] = {
      {"", ""},
      {"plain", "plain"},
      {"  two\n\n\tlines \r\n", "two lines"},
      {"a\x1b[31mred\x1b[0m", "a [31mred [0m"},
      {"del\x7f"
       "ete",
       "del ete"},
      {"c1\xc2\x9b"
       "31m",
       "c1 31m"},
      {"no\xc2\xa0"
       "break",
       "no break"},
      {"sep\xe2\x80\xa8"
       "arated",
       "sep arated"},
      {"left\xe2\x80\xae"
       "thgir",
       "leftthgir"},
      {"iso\xe2\x81\xa6late", "isolate"},
      {"naïve — 漢字 🚢", "naïve — 漢字 🚢"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(one_line(row.text, 100) == row.line);
  }
}

TEST_CASE("one line is cut at a number of characters, not of bytes") {
  CHECK(one_line("harbour", 7) == "harbour");
  CHECK(one_line("harbour", 6) == "harbo…");
  CHECK(one_line("harbour", 1) == "…");
  CHECK(one_line("🚢🚢🚢", 2) == "🚢…");
  CHECK(one_line("🚢🚢🚢", 3) == "🚢🚢🚢");
  CHECK(one_line("ferry now", 6) == "ferry…");
  CHECK(one_line("ferry   ", 5) == "ferry");
}

TEST_CASE("a value is shown as people like to see it") {
  struct Row {
    const char* json;
    const char* shown;
  };
  static constexpr Row kRows[] = {
      {R"("text")", "text"},
      {R"(true)", "true"},
      {R"(80)", "80"},
      {R"(-1.5)", "-1.5"},
      {R"([1,"two",null])", R"([1,"two",null])"},
      {R"({"a":{"b":[]},"c":"\n"})", R"({"a":{"b":[]},"c":"\n"})"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.json);
    const EntryText entry(row.json);
    std::string shown;
    append_value_shown(entry.value(), shown);
    CHECK(shown == row.shown);
  }
}

TEST_CASE("the largest whole numbers are shown with all their digits") {
  for (const char* number : {"9223372036854775807", "-9223372036854775808"}) {
    const EntryText entry(number);
    std::string shown;
    append_value_shown(entry.value(), shown);
    CHECK(shown == number);
  }
}

TEST_CASE("words are the strings, or numbers and keys as well") {
  const EntryText entry(R"({"task":"dock","n":[3,"quay",""],"done":true,"x":null})");
  std::string strings;
  append_value_words(entry.value(), false, '\n', strings);
  CHECK(strings == "dock\nquay");
  std::string everything;
  append_value_words(entry.value(), true, '\n', everything);
  CHECK(everything == "task\ndock\nn\n3\nquay\ndone\nx");
}

TEST_CASE("an excerpt quotes strings and is short") {
  CHECK(value_excerpt(EntryText(R"("hgih")").value()) == "\"hgih\"");
  CHECK(value_excerpt(EntryText("7").value()) == "7");
  CHECK(value_excerpt(EntryText('"' + std::string(500, 'x') + '"').value()).size() < 70);
}

}  // namespace bmad_mem::value_text_test
