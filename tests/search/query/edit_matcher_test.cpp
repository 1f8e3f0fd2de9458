#include "search/edit_matcher.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::edit_matcher_test {
namespace {

/// The distance of Lowrance and Wagner in its plainest form, without a bound, letters being bytes.
std::size_t naive_distance(std::string_view a, std::string_view b) {
  const std::size_t far = a.size() + b.size();
  std::vector<std::vector<std::size_t>> table(a.size() + 2,
                                              std::vector<std::size_t>(b.size() + 2, far));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    table[i + 1][1] = i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    table[1][j + 1] = j;
  }
  std::map<char, std::size_t> last_row;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t last_column = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t row = last_row[b[j - 1]];
      const std::size_t column = last_column;
      const bool same = a[i - 1] == b[j - 1];
      last_column = same ? j : last_column;
      table[i + 1][j + 1] = std::min(
          {table[i][j] + (same ? 0 : 1), table[i + 1][j] + 1, table[i][j + 1] + 1,
           row == 0 || column == 0 ? far
                                   : table[row][column] + (i - row - 1) + 1 + (j - column - 1)});
    }
    last_row[a[i - 1]] = i;
  }
  return table[a.size() + 1][b.size() + 1];
}

}  // namespace

TEST_CASE("an edit inserts, deletes or replaces a letter, or swaps two neighbours") {
  struct Row {
    std::string_view a;
    std::string_view b;
    std::size_t distance;
  };
  static constexpr Row kRows[] = {
      {"", "", 0},
      {"postgres", "postgres", 0},
      {"postgers", "postgres", 1},
      {"postgre", "postgres", 1},
      {"postgress", "postgres", 1},
      {"pastgres", "postgres", 1},
      {"pastgers", "postgres", 2},
      {"ca", "abc", 2},
      {"abc", "ca", 2},
      {"", "ab", 2},
      {"", "abc", 3},
      {"mongodb", "postgres", 3},
      {"Postgres", "postgres", 1},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.a));
    CAPTURE(std::string(row.b));
    CHECK(EditMatcher(row.a, 2).distance(row.b) == row.distance);
    CHECK(EditMatcher(row.b, 2).distance(row.a) == row.distance);
  }
}

TEST_CASE("letters are code points, and bytes where there is no UTF-8") {
  CHECK(EditMatcher("café", 1).distance("cafe") == 1);
  CHECK(EditMatcher("naïve", 1).distance("naïev") == 1);
  CHECK(EditMatcher("記憶装置", 1).distance("記憶置装") == 1);
  CHECK(EditMatcher("😀😀😀", 1).distance("😀😀") == 1);
  CHECK(EditMatcher("caf\xC3", 1).distance("cafe") == 1);
  CHECK(EditMatcher("\xFF\xFE", 1).distance("\xFF\xFD") == 1);
  CHECK(EditMatcher("\xE9", 1).distance("é") == 1);
}

TEST_CASE("a word may be one edit off from 3 letters on and two from 6 on") {
  CHECK(EditMatcher("io").bound() == 0);
  CHECK(EditMatcher("log").bound() == 1);
  CHECK(EditMatcher("cache").bound() == 1);
  CHECK(EditMatcher("caches").bound() == 2);
  CHECK(EditMatcher("日本語").bound() == 1);
  CHECK(EditMatcher("io").matches("io"));
  CHECK_FALSE(EditMatcher("io").matches("oi"));
  CHECK(EditMatcher("serch").matches("search"));
  CHECK_FALSE(EditMatcher("cache").matches("coach"));
  CHECK(EditMatcher("caroline").matches("carolnia"));
}

TEST_CASE("words of more than 64 letters are far from everything") {
  const std::string longest(kEditLettersMax, 'x');
  CHECK(EditMatcher(longest, 2).distance(longest) == 0);
  CHECK(EditMatcher(longest, 2).distance(longest.substr(2)) == 2);
  CHECK(EditMatcher(longest, 2).distance(longest + "x") == 3);
  CHECK(EditMatcher(longest + "x", 2).distance(longest + "x") == 3);
  CHECK(EditMatcher(longest + "x", 1).distance(longest) == 2);
  CHECK_FALSE(EditMatcher(std::string(100'000, 'x')).matches(longest));
}

TEST_CASE("the banded distance is the plain one, up to the bound") {
  constexpr std::uint32_t kSeed = 20261121;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const auto word = [&] {
    std::string letters(random() % 9, ' ');
    std::ranges::generate(letters, [&] { return static_cast<char>('a' + random() % 3); });
    return letters;
  };
  std::size_t within_count = 0;
  for (int i = 0; i < 40'000; ++i) {
    const std::string a = word();
    const std::string b = word();
    CAPTURE(a);
    CAPTURE(b);
    const std::size_t plain = naive_distance(a, b);
    for (std::size_t bound = 0; bound <= kEditBoundMax; ++bound) {
      REQUIRE(EditMatcher(a, bound).distance(b) == std::min(plain, bound + 1));
    }
    within_count += plain <= kEditBoundMax ? 1 : 0;
  }
  CHECK(within_count > 2'000);
}

}  // namespace bmad_mem::edit_matcher_test
