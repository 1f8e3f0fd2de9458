#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "model/value_text.hpp"

namespace bmad_mem::nearest_test {

TEST_CASE("an edit is an insertion, a deletion, a replacement or a swap of neighbours") {
  struct Row {
    const char* a;
    const char* b;
    std::size_t distance;
  };
  static constexpr Row kRows[] = {
      {"", "", 0},
      {"decision", "decision", 0},
      {"decisoin", "decision", 1},
      {"decison", "decision", 1},
      {"decission", "decision", 1},
      {"dacision", "decision", 1},
      {"desicion", "decision", 2},
      {"", "ab", 2},
      {"", "abc", 3},
      {"madeBy", "made_by", 2},
      {"finding", "decision", 3},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.a);
    CHECK(edit_distance(row.a, row.b, 2) == row.distance);
    CHECK(edit_distance(row.b, row.a, 2) == row.distance);
  }
}

TEST_CASE("very long words are far from everything") {
  const std::string word(65, 'a');
  CHECK(edit_distance(word, word, 2) == 3);
  CHECK(edit_distance(std::string(64, 'a'), std::string(64, 'a'), 2) == 0);
}

TEST_CASE("short words are only misspelt by one edit, and the shortest never") {
  CHECK(is_misspelling("desicion", "decision"));
  CHECK(is_misspelling("kye", "key"));
  CHECK(is_misspelling("hgih", "high"));
  CHECK_FALSE(is_misspelling("tag", "key"));
  CHECK_FALSE(is_misspelling("low", "loud"));
  CHECK_FALSE(is_misspelling("id", "is"));
}

TEST_CASE("the nearest word is the one with the fewest edits, or none") {
  static constexpr std::array<std::string_view, 4> kWords = {"low", "medium", "high", "critical"};
  CHECK(nearest_word("hihg", kWords) == "high");
  CHECK(nearest_word("Critical", kWords) == "critical");
  CHECK(nearest_word("severe", kWords).empty());
  CHECK(nearest_word("", kWords).empty());
}

}  // namespace bmad_mem::nearest_test
