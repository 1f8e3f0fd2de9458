#include "cli/text.hpp"

#include <array>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "exchange/ids.hpp"

namespace bmad_mem::cli::text_test {
namespace {

TEST_CASE("sizes and counts read well") {
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(1023) == "1023 B");
  CHECK(format_size(1024) == "1.0 KiB");
  CHECK(format_size(57651) == "56.3 KiB");
  CHECK(format_size(1048575) == "1.0 MiB");
  CHECK(format_size(10485760) == "10.0 MiB");
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(1234567) == "1,234,567");
  CHECK(format_count(1, "entry", "entries") == "1 entry");
  CHECK(format_count(2, "entry", "entries") == "2 entries");
}

TEST_CASE("a number is the whole of a text, decimal and finite") {
  CHECK(real_in("0.25") == 0.25);
  CHECK(real_in(".5") == 0.5);
  CHECK(real_in("-1e-3") == -0.001);
  for (const std::string_view text : {"", ".", "1.5x", " 1", "+1", "1e999", "nan", "inf", "0x10"}) {
    CHECK_MESSAGE(!real_in(text), text);
  }
}

TEST_CASE("text is cut and padded by characters, not bytes") {
  CHECK(text_width("héé") == 3);
  CHECK(padded("hé", 4) == "hé  ");
  CHECK(padded_left("hé", 4) == "  hé");
  CHECK(shortened("héé", 3) == "héé");
  CHECK(shortened("hééé", 3) == "hé…");
  CHECK(shortened("hééé", 1) == "…");
}

TEST_CASE("what steers a terminal becomes blanks") {
  CHECK(printable("a\x1b[31mb\tc\x7f") == "a [31mb c ");
  CHECK(printable("a\xC2\x9b"
                  "31mb") == "a 31mb");
  CHECK(printable("é \xC2\xA0\nb") == "é \xC2\xA0 b");
}

TEST_CASE("what turns the direction of writing, or is there only for programs, is not shown") {
  CHECK(printable("a\u202Eb\u200Bc\u2066d\uFEFFe\U000E0041f") == "abcdef");
  CHECK(printable("\u0645\u06CC\u200C\u062E \U0001F468\u200D\U0001F469\uFE0F") ==
        "\u0645\u06CC\u200C\u062E \U0001F468\u200D\U0001F469\uFE0F");
}

TEST_CASE("an age is told in the unit that says most") {
  struct Row {
    const char* time;
    const char* age;
  };
  static constexpr Row kRows[] = {
      {"2026-03-10T12:00:00Z", "just now"},     {"2026-03-10T11:59:01Z", "just now"},
      {"2026-03-10T11:59:00Z", "1 minute ago"}, {"2026-03-10T11:00:01Z", "59 minutes ago"},
      {"2026-03-10T11:00:00Z", "1 hour ago"},   {"2026-03-09T12:00:01Z", "23 hours ago"},
      {"2026-03-09T12:00:00Z", "1 day ago"},    {"2026-02-25T12:00:00Z", "13 days ago"},
      {"2026-02-24T12:00:00Z", "2 weeks ago"},  {"2026-01-10T12:00:00Z", "8 weeks ago"},
      {"2026-01-09T12:00:00Z", "2 months ago"}, {"2024-03-11T12:00:00Z", "24 months ago"},
      {"2024-03-10T12:00:00Z", "2 years ago"},  {"1970-01-01T00:00:00Z", "56 years ago"},
      {"2026-03-10T12:00:59Z", "just now"},     {"2026-03-10T14:00:00Z", "in 2 hours"},
      {"2026-03-11T12:00:00Z", "in 1 day"},
  };
  const Timestamp now = *try_parse_rfc3339("2026-03-10T12:00:00Z");
  for (const Row& row : kRows) {
    CAPTURE(row.time);
    CHECK(format_age(*try_parse_rfc3339(row.time), now) == row.age);
  }
}

TEST_CASE("bars are long to an eighth of a block, and never vanish") {
  CHECK(block_bar(0, 4).empty());
  CHECK(block_bar(1, 4) == "████");
  CHECK(block_bar(0.5, 4) == "██");
  CHECK(block_bar(0.25, 2) == "▌");
  CHECK(block_bar(0.0001, 4) == "▏");
  CHECK(block_bar(7, 2) == "██");
}

TEST_CASE("a place in a text is pointed out below it") {
  CHECK(pointed_out("why \"postgres", 0, 5, 76) == "  why \"postgres\n      ^\n");
  CHECK(pointed_out("ä \"x", 0, 4, 76) == "  ä \"x\n    ^\n");
  CHECK(pointed_out("ab", 0, 3, 76) == "  ab\n    ^\n");
  CHECK(pointed_out("ab", 0, 99, 76) == "  ab\n    ^\n");
  CHECK(pointed_out("", 0, 1, 76) == "  \n  ^\n");
  SUBCASE("in the line that is meant") {
    CHECK(pointed_out("{\n \"a\":1,\n \"b\":2}", 2, 2, 76) == "   \"a\":1,\n   ^\n");
    CHECK(pointed_out("a\nb", 7, 1, 76) == "  \n  ^\n");
  }
  SUBCASE("in a text of several lines whose bytes are counted through") {
    CHECK(pointed_out("ab\ncd", 0, 5, 76) == "  ab cd\n      ^\n");
  }
  SUBCASE("with what is around it when the line is long") {
    CHECK(pointed_out("0123456789äbcdefghij", 0, 1, 9) == "  01234567…\n  ^\n");
    CHECK(pointed_out("0123456789äbcdefghij", 0, 13, 9) == "  …789äbcd…\n       ^\n");
  }
  SUBCASE("whatever the bytes are") {
    CHECK(pointed_out("a\xff\x1b[2J", 0, 3, 76) == "  a\uFFFD [2J\n    ^\n");
  }
}

TEST_CASE("the nearest word is what was meant, or none") {
  static constexpr std::array<std::string_view, 5> kWords = {"query", "list", "session", "verify",
                                                             "stats"};
  CHECK(nearest_word("qery", kWords) == "query");
  CHECK(nearest_word("lsit", kWords) == "list");
  CHECK(nearest_word("stat", kWords) == "stats");
  CHECK(nearest_word("ses", kWords) == "session");
  CHECK(nearest_word("compact", kWords).empty());
  CHECK(nearest_word("", kWords).empty());
}

TEST_CASE("ids made from content are usable and do not change") {
  const std::string id = content_id("fact-", R"({"content":"It rains"})");
  CHECK(is_usable_id(id));
  // Stored ids depend on it: a change would import everything again.
  CHECK(id == "fact-0g9sr6c8sykz2q886z04dj23b4");
  CHECK(content_id("fact-", "a") != content_id("fact-", "b"));
  CHECK(!is_usable_id(""));
  CHECK(!is_usable_id("-a"));
  CHECK(!is_usable_id("a b"));
  CHECK(is_usable_id("toolu_01-result"));
  CHECK(session_id_from("cc-", "A B/../c") == "cc-a-b-..-c");
  CHECK(session_id_from("cc-", std::string(100, 'x')).size() == 64);
}

}  // namespace
}  // namespace bmad_mem::cli::text_test
