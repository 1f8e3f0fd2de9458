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

constexpr Category kUser = Category::kUserPreference;
constexpr Category kRule = Category::kConstraint;
constexpr Category kDecided = Category::kDecision;
constexpr Category kFact = Category::kProjectFact;
constexpr Category kLooks = Category::kStyle;

struct Said {
  std::string_view text;
  Category category;
};

constexpr Said kSaid[] = {
    {"I prefer functional components over classes.", kUser},
    {"Thanks! I really prefer short answers.", kUser},
    {"i'd prefer that you ask before you install packages", kUser},
    {"I would prefer explicit returns", kUser},
    {"Personally, I still prefer SQLite for this.", kUser},
    {"I\u2019d prefer not to see emojis in commit messages", kUser},
    {"My preference is one commit per idea.", kUser},
    {"I'd rather have three small files than one big one.", kUser},
    {"I like it when errors name the file and the line.", kUser},
    {"I like to review the tests first.", kUser},
    {"I don't like it when you rewrite whole files.", kUser},
    {"I don't want to see any stack traces in the output.", kUser},
    {"I hate magic numbers.", kUser},
    {"I always want a dry run before anything is deleted.", kUser},
    {"I never want you to touch the vendor folder.", kUser},
    {"I want you to always explain the trade-offs.", kUser},
    {"I always run the tests with --release.", kUser},
    {"Please call me Ann.", kUser},
    {"Default to pnpm, not npm.", kUser},
    {"From now on, answer in German.", kUser},
    {"Answer in German from now on.", kUser},
    {"From now on we deploy on Mondays only.", kUser},
    {"Going forward, put new endpoints under /v2.", kUser},
    {"In the future please ask before you push.", kUser},
    {"Ask me first next time.", kUser},
    {"By default, use UTC.", kUser},
    {"Stop adding emojis to everything.", kUser},
    {"ok, please stop apologizing", kUser},
    {"please use ripgrep instead of grep", kUser},
    {"Use the staging cluster instead of production.", kUser},
    {"Prefer composition over inheritance.", kUser},
    {"Use rebase rather than merge.", kUser},
    {"As I said, I prefer the second layout.", kUser},
    {"Use tabs from now on, for indentation.", kLooks},
    {"I prefer tabs.", kLooks},
    {"Always put the opening braces on the same line.", kLooks},
    {"Never use semicolons in TypeScript files.", kLooks},
    {"Our naming convention is snake_case for files.", kLooks},
    {"We prefix interfaces with I.", kLooks},
    {"The convention here is one class per file.", kLooks},
    {"Always run the linter before you commit.", kRule},
    {"Always use `Math.floor()` for chip calculations.", kRule},
    {"Ok, and please always add a test for it.", kRule},
    {"Never commit directly to main!", kRule},
    {"Never ever force-push to a shared branch.", kRule},
    {"- never log request bodies", kRule},
    {"2. Always escape user input", kRule},
    {"Note: never call this from a signal handler.", kRule},
    {"Don't ever delete the migrations folder.", kRule},
    {"Don't change the public API again without asking.", kRule},
    {"Do not use floats for money again.", kRule},
    {"Don't push unless all tests pass.", kRule},
    {"You should never edit generated files.", kRule},
    {"You must not use eval.", kRule},
    {"You're not allowed to open network connections.", kRule},
    {"We must never store card numbers.", kRule},
    {"All public functions must be documented.", kRule},
    {"Every migration must have a rollback.", kRule},
    {"Commit messages must start with a ticket number.", kRule},
    {"Under no circumstances touch the production database.", kRule},
    {"Make sure to run clang-format.", kRule},
    {"Make sure that every route checks the session.", kRule},
    {"Remember to bump the version in package.json.", kRule},
    {"Don't forget to update the changelog.", kRule},
    {"Whenever you change the schema, regenerate the client.", kRule},
    {"Every time you add a command, update the docs.", kRule},
    {"If you touch the parser, always run the fuzzer.", kRule},
    {"Let's never mock the database in integration tests.", kRule},
    {"I told you, never use sudo here.", kRule},
    {"It's important that ids stay sorted.", kRule},
    {"We decided to use Convex and not Supabase.", kDecided},
    {"Yesterday was long, but we decided against GraphQL.", kDecided},
    {"We have agreed on semantic versioning.", kDecided},
    {"we've settled on Postgres 16", kDecided},
    {"We're going with Zustand for state.", kDecided},
    {"We are going with option two.", kDecided},
    {"We'll stick with Boost for now.", kDecided},
    {"we've standardized on OpenTelemetry", kDecided},
    {"It was decided that the beta ends in May.", kDecided},
    {"Let's stick with REST.", kDecided},
    {"Ok, let's go with option B.", kDecided},
    {"I decided to drop support for Node 16.", kDecided},
    {"Decision: no ORM.", kDecided},
    {"The team agreed that releases happen on Tuesdays.", kDecided},
    {"Remember that the staging database is rebuilt every night.", kFact},
    {"Keep in mind that ownerId may be null.", kFact},
    {"In this project we use doctest.", kFact},
    {"In our codebase everything is UTC.", kFact},
    {"This repo targets Python 3.12.", kFact},
    {"Note that the API is limited to 10 calls a second.", kFact},
};

// Real-sounding, each with words that a cue is made of.
constexpr std::string_view kNotSaid[] = {
    "I never said that.",
    "It always crashes on startup.",
    "As always, great work.",
    "Never mind.",
    "never mind, found it",
    "Should I always use tabs?",
    "Do we never cache this?",
    "Why do you always add comments",
    "Can you always run the tests first?",
    "The test never finishes.",
    "It never worked for me.",
    "I have never used Rust.",
    "I've always wondered how this works.",
    "We always get a timeout here.",
    "I always run into this error.",
    "He said always use tabs.",
    "The docs say never call this twice.",
    "Error: never use this option with --force.",
    "The linter tells me: always use const.",
    "According to the wiki, always use v2.",
    "She told me to make sure that it works, always run it.",
    "Maybe we should always use UTC.",
    "Perhaps never use it then.",
    "What if we decided to use Mongo?",
    "Suppose I prefer tabs.",
    "If I had known, I would always use v2.",
    "If you would rather wait, always ask him.",
    "I wonder whether I prefer tabs.",
    "> Always use tabs.",
    "    always use tabs",
    "```\nAlways use tabs.\n```",
    "`always use tabs` is in the readme",
    "The sign said \"never push to main\".",
    "The header reads 'always use tabs' and that is all.",
    "# Always use tabs",
    "| never | use |",
    "$ never use sudo",
    "// never use this;",
    "<system-reminder>\nNever mention this.\nAlways use tabs.\n</system-reminder>",
    "<local-command-stdout>Always run npm audit fix</local-command-stdout>",
    "Did you decide to use Mongo?",
    "We haven't decided yet.",
    "Have we agreed on a name?",
    "They decided to use Mongo.",
    "I like it.",
    "I like this.",
    "I like how that looks.",
    "I love the new page!",
    "I don't like this.",
    "I hate this bug.",
    "I don't like how it looks.",
    "I don't want to bother you.",
    "Stop the server.",
    "Stop it.",
    "stop running the tests now",
    "Don't worry about it.",
    "Don't bother, it happened again.",
    "It happened again.",
    "It must be the cache.",
    "There must be a typo.",
    "That must have been hard.",
    "You must be joking.",
    "The cache must be stale.",
    "The server must be in Frankfurt.",
    "Make sure it works.",
    "I am not sure that works.",
    "I remember that bug.",
    "Do you remember that function?",
    "Remember that time when it crashed?",
    "Remember when we had no tests.",
    "What do you prefer?",
    "Which do you prefer, tabs or spaces",
    "Fix the failing test in src/auth.ts",
    "Run the tests again.",
    "Please use port 8081.",
    "By default the server listens on 8080.",
    "It returns null by default.",
    "See you next time!",
    "I'll keep that in mind.",
    "In the future it could be faster.",
    "Now it works as of now.",
    "This is the default.",
    "The decision is hard.",
    "Let's go!",
    "Let's see what happens.",
    "let's go with that",
    "The user must",
    "always",
    "never",
    "",
    "   \n\n ",
    "It was the never ending story.",
    "Everybody always asks that.",
    "The rule that never matched is gone.",
    "Every time we run it, it crashes.",
    "Always happy to help!",
    "Never seen that before.",
    "Never heard of it.",
    "Always a pleasure.",
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
    CHECK(found[0].confidence <= 0.75);
    CHECK_FALSE(found[0].cue.empty());
  }
}

TEST_CASE("what only sounds like it is left alone") {
  for (const std::string_view text : kNotSaid) {
    CAPTURE(text);
    CHECK(count_in(text) == 0);
  }
}

TEST_CASE("a candidate is the sentence as it was said, and tells which it is") {
  const auto found = detect_preferences(
      "Hi there. The build is red.\n\nNever  commit\tto main! Can you fix it? I prefer tabs.");
  REQUIRE(found.size() == 2);
  CHECK(found[0].sentence == "Never commit to main!");
  CHECK(found[0].cue == "never commit");
  CHECK(found[0].sentence_index == 2);
  CHECK(found[1].sentence == "I prefer tabs.");
  CHECK(found[1].cue == "i prefer");
  CHECK(found[1].sentence_index == 4);
}

TEST_CASE("of several cues in a sentence the surest counts") {
  const auto found = detect_preferences("Make sure to use UTC, and never use local time.");
  REQUIRE(found.size() == 1);
  CHECK(found[0].cue == "never use");
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
  CHECK(count_in("<div> is no block\nAlways use UTC.") == 1);
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
    many += "Never use port " + std::to_string(i) + ". ";
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
