// shingles_test.cpp - how like two statements are, and when they deny each other.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "knowledge/merge_plan.hpp"

namespace bmad_mem::test::shingles_test {
namespace {

double likeness(std::string_view a, std::string_view b) {
  return shingle_similarity(shingles_of(a), shingles_of(b));
}

bool contradict(std::string_view a, std::string_view b) {
  const bool there = may_contradict(plain_words(a), plain_words(b));
  CHECK(there == may_contradict(plain_words(b), plain_words(a)));
  return there;
}

struct Pair {
  std::string_view a;
  std::string_view b;
};

}  // namespace

TEST_CASE("words are without case and punctuation, with what holds them together") {
  using Words = std::vector<std::string>;
  CHECK(plain_words("Don't use (v1.2), see src/auth.ts!") ==
        Words{"don't", "use", "v1.2", "see", "src/auth.ts"});
  CHECK(plain_words(" -- \"Grün\"; ") == Words{"grün"});
  CHECK(plain_words("...").empty());
}

TEST_CASE("likeness is 1 for the same words, 0 for nothing in common") {
  CHECK(likeness("Always use tabs.", "always USE tabs") == 1.0);
  CHECK(likeness("Always use tabs.", "Nothing else matters") == 0.0);
  CHECK(likeness("", "") == 0.0);
  CHECK(likeness("a", "a") == 1.0);
  CHECK(likeness("a", "b") == 0.0);
  CHECK(likeness("The API is limited to 10 calls a second",
                 "The API is limited to 10 calls per second") > 0.7);
  CHECK(likeness("Seats are held for two minutes", "Seats are sold by the purser") < 0.4);
}

TEST_CASE("long texts are compared by runs of words") {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "word" + std::to_string(i) + " ";
  }
  CHECK(likeness(text, text) == 1.0);
  CHECK(shingles_of(text).size() == 98);
  CHECK(likeness(text, text + "more words") == doctest::Approx(98.0 / 100));
}

TEST_CASE("what may say the opposite is not the same") {
  static constexpr Pair kPairs[] = {
      {"use tabs", "never use tabs"},
      {"Use tabs", "Don't use tabs"},
      {"the server listens on port 80", "the server listens on port 8080"},
      {"Supports Python 3.11", "Supports Python 3.12"},
      {"enable the cache in production", "disable the cache in production"},
      {"always run the linter", "never run the linter"},
      {"prefer tabs over spaces", "prefer spaces over tabs"},
      {"lint before tests", "tests before lint"},
      {"deploy the frontend to staging", "deploy the frontend to production"},
      {"releases happen on Tuesdays", "releases happen on Mondays"},
      {"use Postgres", "use MySQL"},
      {"releases of the app happen on Tuesdays", "release of the site happens on Mondays"},
      {"calls are synchronous", "calls are asynchronous"},
      {"run it with sudo", "run it without sudo"},
      {"ids are required", "ids are optional"},
      {"the flag is true", "the flag is false"},
  };
  for (const Pair& pair : kPairs) {
    CAPTURE(pair.a);
    CAPTURE(pair.b);
    CHECK(contradict(pair.a, pair.b));
  }
}

TEST_CASE("other words for the same do not contradict") {
  static constexpr Pair kPairs[] = {
      {"Always use tabs", "always use tabs."},
      {"Always use tabs", "Always use the tabs"},
      {"The API is limited to 10 calls", "The API has a limit of 10 calls"},
      {"Commits are small", "Commits are small and have tests"},
      {"run the linter, run the tests", "run the tests, run the linter"},
      {"prefer tabs over spaces", "Prefer tabs over spaces!"},
      {"The colour scheme is dark", "The color scheme is dark"},
  };
  for (const Pair& pair : kPairs) {
    CAPTURE(pair.a);
    CAPTURE(pair.b);
    CHECK_FALSE(contradict(pair.a, pair.b));
  }
}

}  // namespace bmad_mem::test::shingles_test
