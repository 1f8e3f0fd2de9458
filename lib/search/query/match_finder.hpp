// match_finder.hpp - where the terms of a question stand in a text, without analyzing all of it;
// and the part of it that answers.
//
//   text     We dropped MongoDB: the pool's size (see docs/pool.md) was ...
//   pieces   |  |      |        |   |      |    |    |           |
//   wanted   pool          ^^^^^^          ^^^^^^
//            only pieces where a word begins like a term are taken apart
//
// No token reaches across a blank, so a piece between blanks has the tokens that it has in the
// whole text. Of a hit's 100 words two or three begin like a term, and only these are tokenized and
// stemmed: 9,000 instructions a hit instead of 31,000.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {

/// The terms of tokens met before: to stem one again takes 700 instructions, to remember it 100. Of
/// one analyzer. Threads: one object a thread.
class KnownTerms {
 public:
  /// As `analyzer.term(token, false)`; valid until the next call.
  std::string_view term(Analyzer& analyzer, std::string_view token) {
    const auto known = terms_.find(token);
    if (known != terms_.end()) {
      return known->second;
    }
    if (terms_.size() >= kCountMax) {
      terms_.clear();
    }
    return terms_.emplace(token, analyzer.term(token, false)).first->second;
  }

 private:
  /// Tokens are at most kTokenSizeMax bytes, so this is a megabyte at worst.
  static constexpr std::size_t kCountMax = 4096;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view token) const {
      return std::hash<std::string_view>()(token);
    }
  };
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> terms_;
};

/// Terms, as the analyzer makes them.
using TermSet = std::set<std::string, std::less<>>;

/// A stretch of a text that matched.
struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  const std::string* term = nullptr;  ///< In the set of those wanted.
};

/// Threads: one finder a thread.
class MatchFinder {
 public:
  /// All must outlive the finder. `known`: of this analyzer.
  MatchFinder(Analyzer& analyzer, KnownTerms& known, const TermSet& wanted);

  /// The matches in `text`, ascending and apart from each other; valid until the next call.
  const std::vector<Match>& find(std::string_view text);

 private:
  /// Two bytes as a number. The table is small, so different ones may share a place; letters share
  /// it with their capitals.
  static constexpr std::size_t beginning(char first, char second) {
    return (static_cast<unsigned char>(first) & 31U) << 5U |
           (static_cast<unsigned char>(second) & 31U);
  }
  void expect(std::string_view term);
  void find_in_piece(std::string_view piece, std::size_t offset);
  [[nodiscard]] bool may_match(std::string_view token) const;
  const std::string* wanted_term(const Token& token);
  void add(const Match& match);

  Analyzer& analyzer_;
  KnownTerms& known_;
  const TermSet& wanted_;
  bool filters_;                        // Terms begin like their words.
  std::array<bool, 1024> may_begin_{};  // By beginning().
  std::string padded_;                  // The text, and a block of blanks behind it.
  std::vector<Match> matches_;
};

// What reading questions and entries takes, made once a thread.
//
// To make an analyzer and a parser, and to give their buffers back to the system, costs a query
// 30,000 instructions and as many page faults as they have pages.

struct ReadingTools {
  Analyzer analyzer;
  KnownTerms known_terms = {};
  JsonParser parser = {};
  std::string text = {};  ///< Of the entry at hand.
};

/// Those of this thread; valid until another language is asked for on it. What a caller has from
/// them is valid until the next one on this thread uses them.
/// Errors: as Analyzer::create().
Result<ReadingTools*> reading_tools(std::string_view language);

// The part of a text that answers, with what matched marked.

struct Snippet {
  std::string text;                   ///< One line; "…" where something is left out, " · " between
                                      ///< texts (kTextBreak).
  std::vector<Highlight> highlights;  ///< In `text`, ascending, apart from each other.
};

/// About `size_max` bytes of the text that `finder` looks into: the stretch that holds the most
/// different terms. `begins_passage`: from the start of a line on, and as far as whole lines or
/// sentences fit, where there are such.
Snippet make_snippet(MatchFinder& finder, std::string_view text, std::size_t size_max = 200,
                     bool begins_passage = false);

/// Whether the tokens of `phrase` stand side by side in `text`, whatever the case.
bool holds_phrase(Analyzer& analyzer, const std::vector<std::string>& phrase,
                  std::string_view text);

}  // namespace bmad_mem
