// preference_detector_test.cpp - what is a standing wish of the user, and what only sounds like
// one.
#include "knowledge/preference_detector.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace bmad_mem::test::preference_detector_test {

namespace {

struct Said {
  std::string_view text;
  Category category;
};

constexpr Said kSaid[] = {
    {"I prefer functional components over classes.", Category::kUserPreference},
    {"I don't want to see any stack traces in the output.", Category::kUserPreference},
    {"I prefer tabs.", Category::kStyle},
    {"Never use semicolons in TypeScript files.", Category::kStyle},
    {"Immer mit Semikolons schreiben.", Category::kStyle},
    {"Never commit directly to main!", Category::kConstraint},
    {"Ne jamais pousser sur main.", Category::kConstraint},
    {"We decided to use Convex and not Supabase.", Category::kDecision},
    {"Postgres \u3092\u4f7f\u3046\u3053\u3068\u306b\u6c7a\u3081\u307e\u3057\u305f\u3002",
     Category::kDecision},
    {"Remember that the staging database is rebuilt every night.", Category::kProjectFact},
    {"Recuerda que los precios van en c\u00e9ntimos.", Category::kProjectFact},
};

std::size_t count_in(std::string_view message) { return detect_preferences(message).size(); }

}  // namespace

TEST_CASE("what a user wants to hold is found, with its category") {
  for (const Said& said : kSaid) {
    CAPTURE(said.text);
    const auto found = detect_preferences(said.text);
    REQUIRE(found.size() == 1);
    CHECK(category_name(found[0].category) == category_name(said.category));
    CHECK(found[0].confidence >= 0.4);
    CHECK(found[0].confidence <= 0.8);
  }
}

TEST_CASE("a candidate is the sentence as it was said, and tells which it is") {
  const auto found = detect_preferences(
      "Hi there. The build is red.\n\nNever  commit\tto main! Can you fix it? I prefer tabs.");
  REQUIRE(found.size() == 2);
  CHECK(found[0].sentence == "Never commit to main!");
  CHECK(found[0].sentence_index == 2);
  CHECK(found[1].sentence == "I prefer tabs.");
  CHECK(found[1].sentence_index == 4);
}

TEST_CASE("a sentence of Chinese and Japanese ends without a blank") {
  const auto found = detect_preferences(
      "\u6784\u5efa\u574f\u4e86\u3002\u4e0d\u8981\u5728\u5faa\u73af\u91cc\u67e5\u6570\u636e\u5e93"
      "\u3002\u4f60\u770b\u4e00\u4e0b\u5427\uff1f");
  REQUIRE(found.size() == 1);
  CHECK(found[0].sentence == "\u4e0d\u8981\u5728\u5faa\u73af\u91cc\u67e5\u6570\u636e\u5e93\u3002");
  CHECK(found[0].sentence_index == 1);
}

TEST_CASE("points of abbreviations, names of files and versions end no sentence") {
  const auto found = detect_preferences("Never edit generated files, e.g. src/api.gen.ts of v1.2.");
  REQUIRE(found.size() == 1);
  CHECK(found[0].sentence == "Never edit generated files, e.g. src/api.gen.ts of v1.2.");
}

TEST_CASE("a wrapped line goes on, a list does not") {
  const auto wrapped =
      detect_preferences("Always write the test first\nwritten, so that it fails.");
  REQUIRE(wrapped.size() == 1);
  CHECK(wrapped[0].sentence == "Always write the test first");
  const auto long_enough = detect_preferences(
      "Always write the test first, and run it before the code of it is\nwritten, so that it "
      "fails.");
  REQUIRE(long_enough.size() == 1);
  CHECK(long_enough[0].sentence.ends_with("so that it fails."));
  CHECK(count_in("Rules:\n- always use UTC\n- never use floats\n* I prefer tabs") == 3);
}

TEST_CASE("what stands beside code is found") {
  CHECK(count_in("Always use UTC.\n```sql\nnever run this\n```\nNever use floats.") == 2);
  CHECK(count_in("<system-reminder>Never tell.</system-reminder>\nAlways use UTC.") == 1);
  CHECK(count_in("<user_query>\nAlways use UTC.\n</user_query>") == 1);
  CHECK(count_in("<div> opens the page\nAlways use UTC.") == 1);
}

TEST_CASE("what may be pasted is not the speaker's own") {
  // Whether the rule of the last sentence is somebody else's.
  struct Row {
    const char* message;
    bool may_be_pasted;
  };
  static constexpr Row kRows[] = {
      {"Summarize this issue:\n\nUser x writes: hello.\nNever push.", true},
      {"Translate: Hallo.\nNever push.", true},
      {"Translate: Hello there. Never push.", true},
      {"Please translate: Hello there. Never push.", true},
      {"Traceback:\n  x\nNever push.", true},
      {"On Monday Bob wrote:\n\nNever push.", true},
      {"**Bob wrote:**\n\nNever push.", true},
      {"\u7ffb\u8bd1\uff1a\nNever push.", true},
      {"What do you think of these rules:\n- never ask\n- Never push.", true},
      {"Note from Bob: hello. Never push.", true},
      {"I got this: hello. Never push.", true},
      {"Remember this: Translate: hello. Never push.", true},
      {"This is what was written on the page of the wiki yesterday at noon:\nnever ask. Never "
       "push.",
       true},
      {"2026-11-02 10:00:01 started\nNever push.", true},
      {"[2026-11-02T10:00:01Z] started\nNever push.", true},
      {"Nov  2 10:00:01 host cron[1]\nNever push.", true},
      {"ERROR no such file\nNever push.", true},
      {"It fails.\n  at run (main.js:1)\nNever push.", true},
      {"It fails.\n  File \"a.py\", line 1\nNever push.", true},
      {"@@ -1,2 +1,2 @@\n Never push.", true},
      {"+Never ask.\nNever push.", true},
      {"-Never ask.\nNever push.", true},
      {"$ cat rules\nNever push.", true},
      {"    - Never push.", true},
      {"Never push.", false},
      {"Please remember: never push.", false},
      {"Remember: the harbour closes. Never push.", false},
      {"Note: never push.", false},
      {"Rule: never push.", false},
      {"Our rule: never push.", false},
      {"My preference: never push.", false},
      {"I prefer this: never push.", false},
      {"We decided: never push.", false},
      {"Always do this: run the tests. Never push.", false},
      {"Important: ask first.\n\nNever push.", false},
      {"Merk dir: nie pushen. Never push.", false},
      {"Nuestra regla: nunca. Never push.", false},
      {"\u8bb0\u4f4f\uff1anever push.", false},
      {"Der Chef schreibt: nie pushen. Never push.", true},
      {"From now on: never push.", false},
      {"Also keep in mind: never push.", false},
      {"The meeting is at 10:30, see https://example.com/a:b. Never push.", false},
      {"Fix std::string in a.cpp:12 first. Never push.", false},
      {"- never ask\n- Never push.", false},
      {"1. never ask\n2. Never push.", false},
      {"```\ncode:\n```\nNever push.", false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.message);
    const std::vector<MessageSentence> sentences = message_sentences(row.message);
    REQUIRE_FALSE(sentences.empty());
    CHECK(sentences.back().may_be_pasted == row.may_be_pasted);
  }
}

TEST_CASE("the same sentence counts once, and a message has at most 20") {
  CHECK(count_in("Never use floats. Never use floats.") == 1);
  std::string many;
  for (int i = 0; i < 50; ++i) {
    many += "Never use port " + std::to_string(i) + " in a test. ";
  }
  CHECK(count_in(many) == kCandidatesPerMessageMax);
}

TEST_CASE("a long sentence is cut at 40 words, and never within a character") {
  std::string words = "Never use";
  for (int i = 0; i < 100; ++i) {
    words += " wörd";
  }
  const auto found = detect_preferences(words);
  REQUIRE(found.size() == 1);
  CHECK(std::string_view(found[0].sentence).ends_with(" wörd"));
  CHECK(std::ranges::count(found[0].sentence, ' ') == 39);
  std::string bytes = "Never use ";
  for (int i = 0; i < 1000; ++i) {
    bytes += "ü";
  }
  const auto wide = detect_preferences(bytes);
  REQUIRE(wide.size() == 1);
  CHECK(wide[0].sentence.size() <= 600);
  CHECK(wide[0].sentence.ends_with("ü"));
}

TEST_CASE("hostile messages of a megabyte take no longer than others") {
  const auto repeated = [](std::string_view part) {
    std::string text;
    while (text.size() < 1'000'000) {
      text += part;
    }
    return text;
  };
  for (const std::string_view part :
       {"a",         "a ",     "a, ", "a. ",        "never ", "never, ", "use ",  "i ",
        "<a>\n",     "</a>",   "</a", "'",          " 'a",    "\"",      "` ",    "you must not ",
        "if would ", "note: ", "a: ", "as i said ", "\n",     ">\n",     "e.g. ", "- "}) {
    CAPTURE(part);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(count_in(repeated(part)) <= kCandidatesPerMessageMax);
    // 0.2 s at most when optimised, some seconds when not; quadratic would take minutes.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  }
}

}  // namespace bmad_mem::test::preference_detector_test
