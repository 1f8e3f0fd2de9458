// match_finder.hpp - where the terms of a question stand in a text, without analyzing all of it.
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
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "known_terms.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
