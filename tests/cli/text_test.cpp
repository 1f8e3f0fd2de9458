#include "text.hpp"

#include <array>
#include <string_view>

#include <doctest/doctest.h>

#include "import/import_ids.hpp"
#include "nearest.hpp"

namespace bmad_mem::cli {
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
}  // namespace bmad_mem::cli
