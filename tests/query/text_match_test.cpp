// text_match_test.cpp - which texts match a question, how well, and what is shown of them.
#include "query/text_match.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem::test {
namespace {

using Words = std::vector<std::string>;

std::vector<double> scores(std::string_view question, const std::vector<std::string>& texts) {
  TextMatcher matcher(parse_query(question).value());
  for (const std::string& text : texts) {
    matcher.add(text);
  }
  return matcher.scores();
}

/// The highlighted parts of a snippet.
Words marked(const Snippet& snippet) {
  Words words;
  for (const Highlight& highlight : snippet.highlights) {
    words.push_back(snippet.text.substr(highlight.offset, highlight.size));
  }
  return words;
}

Snippet snippet_of(std::string_view question, std::string_view text, std::size_t size_max = 200) {
  return make_snippet(parse_query(question).value(), text, size_max);
}

}  // namespace

TEST_CASE("a question is its words that carry meaning, each once") {
  struct Row {
    const char* question;
    Words words;
  };
  const Row rows[] = {
      {"why postgres", {"postgres"}},
      {"PostgreSQL, POSTGRESQL; postgresql!", {"postgresql"}},
      {"what is in user_id", {"user", "id"}},
      {"caf\xC3\xA9 na\xC3\xAFve", {"caf\xC3\xA9", "na\xC3\xAFve"}},
      {"E_LOCK_TIMEOUT 5000", {"e", "lock", "timeout", "5000"}},
      {"\xE6\x95\xB0\xE6\x8D\xAE\xE5\xBA\x93", {"\xE6\x95\xB0\xE6\x8D\xAE\xE5\xBA\x93"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.question);
    CHECK(parse_query(row.question).value().words == row.words);
  }
}

TEST_CASE("function words are kept when there is nothing else") {
  CHECK(parse_query("who is it").value().words == Words{"who", "is", "it"});
}

TEST_CASE("a question without a word is invalid") {
  for (const char* question : {"", "   ", "?!.,-", "\n\t"}) {
    CAPTURE(question);
    const Result<QueryWords> words = parse_query(question);
    REQUIRE_FALSE(words.has_value());
    CHECK(words.error().code == ErrorCode::E_INVALID_QUERY);
    CHECK(words.error().field == "text");
  }
}

TEST_CASE("texts without any of the words score nothing, the others between 0 and 1") {
  const std::vector<double> found =
      scores("postgres pool", {"we use postgres", "a pool of postgres connections", "mysql", ""});
  CHECK(found[2] == 0);
  CHECK(found[3] == 0);
  CHECK(found[0] > 0);
  CHECK(found[1] > found[0]);  // Both words.
  CHECK(found[1] < 1);
}

TEST_CASE("a word counts whole, or as the beginning of a longer one from four letters on") {
  CHECK(scores("post", {"postgres"})[0] > 0);
  CHECK(scores("pos", {"postgres"})[0] == 0);
  CHECK(scores("gres", {"postgres"})[0] == 0);
  CHECK(scores("postgres", {"post"})[0] == 0);
  const std::vector<double> found = scores("postgres", {"postgres", "postgresql"});
  CHECK(found[0] > found[1]);
}

TEST_CASE("rare words weigh more, and short texts more than long ones") {
  const std::vector<double> rare =
      scores("common rare", {"common one", "rare one", "common two", "common three"});
  CHECK(rare[1] > rare[0]);
  const std::vector<double> length = scores(
      "word", {"word", "word and a lot of other things that have nothing to do with it at all"});
  CHECK(length[0] > length[1]);
}

TEST_CASE("a word again counts less each time, and the score never reaches 1") {
  std::string text = "word";
  double before = 0;
  for (int i = 0; i < 50; ++i) {
    const double score = scores("word", {text, "other", "third"})[0];
    CHECK(score > before);
    CHECK(score < 1);
    before = score;
    text += " word";
  }
}

TEST_CASE("scores are finite for no texts, one text, and texts without words") {
  CHECK(scores("word", {}).empty());
  for (const char* text : {"", "...", "word", "other"}) {
    const std::vector<double> found = scores("word", {text});
    REQUIRE(found.size() == 1);
    CHECK(std::isfinite(found[0]));
    CHECK(found[0] >= 0);
  }
}

TEST_CASE("a snippet shows the match in its sentence, on one line, and marks it") {
  const Snippet snippet = snippet_of("postgres", "We use\n\tPostgreSQL, not MySQL.");
  CHECK(snippet.text == "We use  PostgreSQL, not MySQL.");
  CHECK(marked(snippet) == Words{"PostgreSQL"});
}

TEST_CASE("a match far inside a long text is found and its surroundings shown") {
  const std::string text = std::string("lorem ipsum ").append(500, ' ') + "the needle is here" +
                           std::string(500, '.') + " the needle again";
  const Snippet snippet = snippet_of("needle", text, 60);
  CHECK(snippet.text.starts_with("\xE2\x80\xA6"));
  CHECK(snippet.text.ends_with("\xE2\x80\xA6"));
  CHECK(marked(snippet) == Words{"needle"});
  CHECK(snippet.text.size() <= 60 + 2 * 3);
}

TEST_CASE("a text without a match is shown from its beginning, unmarked") {
  const Snippet snippet = snippet_of("needle", "nothing of the kind");
  CHECK(snippet.text == "nothing of the kind");
  CHECK(snippet.highlights.empty());
}

TEST_CASE("a snippet is valid UTF-8 and its marks are its words, wherever it is cut") {
  const std::string text =
      "\xC3\xA9t\xC3\xA9 \xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC needle \xF0\x9F\x98\x80 \xF0\x9F\x98"
      "\x80\xF0\x9F\x98\x80 needles \xE6\x95\xB0\xE6\x8D\xAE needle";
  for (std::size_t before = 0; before < 12; ++before) {
    const std::string shifted = std::string(before, '.') + text;
    for (std::size_t size_max = 1; size_max < shifted.size() + 5; ++size_max) {
      CAPTURE(size_max);
      const Snippet snippet = snippet_of("needle", shifted, size_max);
      CHECK(utf8_valid_size(snippet.text) == snippet.text.size());
      for (const std::string& word : marked(snippet)) {
        CHECK(word.starts_with("needle"));
      }
      CHECK(std::ranges::is_sorted(snippet.highlights, {}, &Highlight::offset));
    }
  }
}

}  // namespace bmad_mem::test
