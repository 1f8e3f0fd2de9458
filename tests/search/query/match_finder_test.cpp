#include "search/query/match_finder.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::match_finder_test {
namespace {

using Stretches = std::vector<std::array<std::size_t, 2>>;

/// What the finder has to come to: every token of the whole text is stemmed.
Stretches naive_matches(Analyzer& analyzer, const TermSet& wanted, std::string_view text) {
  struct Own {
    std::string text;
    std::size_t begin;
    std::size_t end;
    bool whole;
  };
  std::vector<Own> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    tokens.push_back(
        {std::string(token.text), token.offset, token.offset + token.size, token.whole});
  }
  Stretches found;
  for (const Own& token : tokens) {
    if (!wanted.contains(analyzer.term(token.text, token.whole))) {
      continue;
    }
    if (found.empty() || token.begin >= found.back()[1]) {
      found.push_back({token.begin, token.end});
    } else {
      found.back()[1] = std::max(found.back()[1], token.end);
    }
  }
  return found;
}

Stretches matches(MatchFinder& finder, std::string_view text) {
  Stretches found;
  for (const Match& match : finder.find(text)) {
    found.push_back({match.begin, match.end});
  }
  return found;
}

/// Words, joints, humps, digits and what is beyond ASCII, with and without blanks between them.
std::string random_text(std::mt19937& random) {
  static constexpr std::array<std::string_view, 44> kPieces = {
      "pool",    "Pools", "POOL",  "user",  "Id",     "getUserById", "HTTPServer", "v1.2", "V2",
      "1.2",     "dying", "lying", "it's",  "O'Neil", "C++",         "C#",         "c",    "src",
      "auth.ts", "é",     "Éa",    "árbol", "日本語", "ＡＢ",        "ﬁsh",        "’s",   "_",
      "-",       "/",     "\\",    ":",     "::",     ".",           ",",          "(",    ")",
      "\n",      "\t",    "x",     "\xFF",  "vélo",   "velo",        "Øre",        "cœur"};
  std::string text;
  const std::size_t count = random() % 30;
  for (std::size_t i = 0; i < count; ++i) {
    text += kPieces[random() % kPieces.size()];
    text += random() % 3 == 0 ? "" : " ";
  }
  return text;
}

/// Terms that stand in `text`, and one that does not.
TermSet some_terms(Analyzer& analyzer, const std::string& text, std::mt19937& random) {
  TermSet terms = {"nowher"};
  std::vector<std::pair<std::string, bool>> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    tokens.emplace_back(token.text, token.whole);
  }
  for (std::size_t i = 0; i < 3 && !tokens.empty(); ++i) {
    const auto& [token, whole] = tokens[random() % tokens.size()];
    terms.emplace(analyzer.term(token, whole));
    terms.erase("");  // A stop word.
  }
  return terms;
}

}  // namespace

TEST_CASE("a finder finds what analyzing the whole text finds") {
  for (const char* const language : {"english", "german", "spanish", "french"}) {
    CAPTURE(language);
    Analyzer analyzer = Analyzer::create(language).value();
    KnownTerms known;
    for (unsigned seed = 1; seed <= 1500; ++seed) {
      std::mt19937 random(seed);
      const std::string source = random_text(random);
      const TermSet wanted = some_terms(analyzer, source, random);
      MatchFinder finder(analyzer, known, wanted);
      // The first text, and others for what the finder remembers.
      for (const std::string& text : {source, random_text(random), source}) {
        CAPTURE(seed);
        CAPTURE(text);
        CHECK(matches(finder, text) == naive_matches(analyzer, wanted, text));
      }
    }
  }
}

TEST_CASE("a word of one letter is found, whatever follows it") {
  Analyzer analyzer = Analyzer::create("english").value();
  const TermSet wanted = {"c", "c++"};
  KnownTerms known;
  MatchFinder finder(analyzer, known, wanted);
  CHECK(matches(finder, "c, C; (c) C++ and cc") == Stretches{{0, 1}, {3, 4}, {7, 8}, {10, 13}});
  CHECK(matches(finder, "in c") == Stretches{{3, 4}});
  CHECK(matches(finder, "").empty());
}

TEST_CASE("a word is found whose accents its term has not") {
  for (const char* const language : {"english", "german", "french", "spanish"}) {
    Analyzer analyzer = Analyzer::create(language).value();
    TermSet wanted;
    for (const char* const word : {"velo", "eclair", "ore"}) {
      wanted.emplace(analyzer.term(word, false));
    }
    KnownTerms known;
    MatchFinder finder(analyzer, known, wanted);
    CHECK(matches(finder, "le vélo, velo (Éclair) ØRE eclair") ==
          Stretches{{3, 8}, {10, 14}, {16, 23}, {25, 29}, {30, 36}});
  }
}

}  // namespace bmad_mem::match_finder_test
