#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::test::utf8_test {
namespace {

struct Row {
  const char* name;
  std::string_view bytes;
};

constexpr Row kCharacters[] = {
    {"NUL", std::string_view("\0", 1)},
    {"U+007F", "\x7F"},
    {"U+0080, the first of two bytes", "\xC2\x80"},
    {"U+00E9", "\xC3\xA9"},
    {"U+07FF, the last of two bytes", "\xDF\xBF"},
    {"U+0800, the first of three bytes", "\xE0\xA0\x80"},
    {"U+20AC", "\xE2\x82\xAC"},
    {"U+D7FF, the last before the surrogates", "\xED\x9F\xBF"},
    {"U+E000, the first after them", "\xEE\x80\x80"},
    {"U+FEFF, the byte order mark", "\xEF\xBB\xBF"},
    {"U+FFFF", "\xEF\xBF\xBF"},
    {"U+10000, the first of four bytes", "\xF0\x90\x80\x80"},
    {"U+1F600", "\xF0\x9F\x98\x80"},
    {"U+10FFFF, the last of all", "\xF4\x8F\xBF\xBF"},
};

constexpr Row kBroken[] = {
    {"a continuation alone", "\x80"},
    {"the last continuation alone", "\xBF"},
    {"overlong NUL in two bytes", "\xC0\x80"},
    {"overlong slash in two bytes", "\xC0\xAF"},
    {"overlong U+007F", "\xC1\xBF"},
    {"overlong slash in three bytes", "\xE0\x80\xAF"},
    {"overlong U+07FF", "\xE0\x9F\xBF"},
    {"overlong slash in four bytes", "\xF0\x80\x80\xAF"},
    {"overlong U+FFFF", "\xF0\x8F\xBF\xBF"},
    {"the first surrogate", "\xED\xA0\x80"},
    {"the last surrogate", "\xED\xBF\xBF"},
    {"a surrogate pair", "\xED\xA0\xBD\xED\xB8\x80"},
    {"U+110000", "\xF4\x90\x80\x80"},
    {"far above", "\xF7\xBF\xBF\xBF"},
    {"five bytes", "\xF8\x88\x80\x80\x80"},
    {"0xFE", "\xFE"},
    {"0xFF", "\xFF"},
    {"two bytes, cut", "\xC3"},
    {"three bytes, cut", "\xE2\x82"},
    {"four bytes, cut", "\xF0\x9F\x98"},
    {"two bytes, then ASCII", "\xC3("},
    {"three bytes, then ASCII", "\xE2\x82("},
    {"four bytes, then ASCII", "\xF0\x9F\x98("},
    {"a start, then a start", "\xC3\xC3\xA9"},
};

}  // namespace

TEST_CASE("every character of one to four bytes is valid, wherever it stands") {
  for (const Row& row : kCharacters) {
    CAPTURE(row.name);
    for (std::size_t before = 0; before < 18; ++before) {
      for (const std::size_t after : {0U, 1U, 7U, 8U, 9U}) {
        const std::string text =
            std::string(before, 'a') + std::string(row.bytes) + std::string(after, 'z');
        CHECK(utf8_valid_size(text) == text.size());
      }
    }
  }
  CHECK(utf8_valid_size("") == 0);
}

TEST_CASE("what is broken is found where it starts") {
  for (const Row& row : kBroken) {
    CAPTURE(row.name);
    for (std::size_t before = 0; before < 18; ++before) {
      for (const std::size_t after : {0U, 1U, 16U}) {
        const std::string text =
            std::string(before, 'a') + std::string(row.bytes) + std::string(after, 'z');
        CHECK(utf8_valid_size(text) == before);
      }
    }
    const std::string behind_wide = "\xE2\x82\xAC" + std::string(row.bytes);
    CHECK(utf8_valid_size(behind_wide) == 3);
  }
}

TEST_CASE("a prefix cuts no character") {
  constexpr std::string_view kText = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";  // 1 2 3 4 1 bytes.
  constexpr std::size_t kSizes[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};
  for (std::size_t size_max = 0; size_max < std::size(kSizes); ++size_max) {
    CAPTURE(size_max);
    CHECK(utf8_prefix(kText, size_max) == kText.substr(0, kSizes[size_max]));
  }
  CHECK(utf8_prefix("", 10).empty());
  CHECK(utf8_prefix("\x80\x80\x80", 2).empty());  // Not UTF-8, and still no step outside.
}

TEST_CASE("repairing replaces each byte that doesn't belong, and NUL") {
  constexpr std::string_view kMark = "\xEF\xBF\xBD";
  const auto marks = [&](std::size_t count) {
    std::string text;
    while (count-- > 0) {
      text += kMark;
    }
    return text;
  };
  for (const Row& row : kBroken) {
    CAPTURE(row.name);
    const std::string repaired = utf8_repaired("ok " + std::string(row.bytes) + "!");
    CHECK(utf8_valid_size(repaired) == repaired.size());
    CHECK(repaired.starts_with("ok " + std::string(kMark)));
    CHECK(repaired.ends_with("!"));
  }
  CHECK(utf8_repaired("\xFF\xFE") == marks(2));
  CHECK(utf8_repaired("\xC3(") == marks(1) + "(");
  CHECK(utf8_repaired("\xE2\x82(") == marks(2) + "(");
  CHECK(utf8_repaired("\xC3\xC3\xA9") == marks(1) + "\xC3\xA9");
  CHECK(utf8_repaired(std::string_view("a\0b", 3)) == "a" + marks(1) + "b");
}

TEST_CASE("repairing leaves good text alone") {
  for (const Row& row : kCharacters) {
    if (row.bytes.front() != '\0') {
      CHECK(utf8_repaired(row.bytes) == row.bytes);
    }
  }
  CHECK(utf8_repaired("").empty());
}

}  // namespace bmad_mem::test::utf8_test
