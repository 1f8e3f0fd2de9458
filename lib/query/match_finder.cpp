#include "match_finder.hpp"

#include <algorithm>

namespace bmad_mem {
namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_lower(static_cast<char>(c | 0x20)); }
constexpr bool is_word_byte(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }
constexpr bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }
constexpr bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

std::size_t end_of_piece(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text[at])) {
    ++at;
  }
  return at;
}

}  // namespace

MatchFinder::MatchFinder(Analyzer& analyzer, KnownTerms& known, const TermSet& wanted)
    : analyzer_(analyzer), known_(known), wanted_(wanted), filters_(analyzer.keeps_beginnings()) {
  for (const std::string& term : wanted) {
    expect(term);
  }
}

/// Notes how words begin that may have this term.
void MatchFinder::expect(std::string_view term) {
  if (term.empty()) {
    return;
  }
  if (term.size() == 1) {  // Anything may follow it: the end of the text, a comma.
    for (std::size_t second = 0; second < 32; ++second) {
      may_begin_[beginning(term[0], static_cast<char>(second))] = true;
    }
    return;
  }
  may_begin_[beginning(term[0], term[1])] = true;
  if (term[1] == 'i') {
    may_begin_[beginning(term[0], 'y')] = true;  // "dying" has the stem "die".
  } else if (term[1] == '/') {
    may_begin_[beginning(term[0], '\\')] = true;  // Tokens have / for it.
  }
}

const std::vector<Match>& MatchFinder::find(std::string_view text) {
  matches_.clear();
  if (!filters_) {
    find_in_piece(text, 0);
    return matches_;
  }
  std::size_t piece = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (is_blank(c)) {
      piece = ++at;
    } else if (is_word_byte(c) &&
               !may_begin_[beginning(c, at + 1 < text.size() ? text[at + 1] : ' ')]) {
      // A word begins behind what is no letter, or with a capital.
      for (++at; at < text.size() && is_lower(text[at]);) {
        ++at;
      }
    } else if (is_word_byte(c) || is_wide(c)) {
      const std::size_t end = end_of_piece(text, at);
      find_in_piece(text.substr(piece, end - piece), piece);
      at = end;
    } else {
      ++at;
    }
  }
  return matches_;
}

void MatchFinder::find_in_piece(std::string_view piece, std::size_t offset) {
  for (const Token& token : analyzer_.tokenize(piece)) {
    if (!may_match(token.text)) {
      continue;
    }
    if (const std::string* term = wanted_term(token)) {
      const std::size_t begin = offset + token.offset;
      add({.begin = begin, .end = begin + token.size, .term = term});
    }
  }
}

/// Tells most tokens that can't match without stemming them.
bool MatchFinder::may_match(std::string_view token) const {
  const char first = token[0];
  const char second = token.size() < 2 ? ' ' : token[1];
  // Stemmers take accents away (árbol is arbol) where the bytes are no ASCII.
  return !filters_ || is_wide(first) || is_wide(second) || may_begin_[beginning(first, second)];
}

const std::string* MatchFinder::wanted_term(const Token& token) {
  // A whole is rare, and never a stop word.
  const auto found = wanted_.find(token.whole ? analyzer_.term(token.text, true)
                                              : known_.term(analyzer_, token.text));
  return found == wanted_.end() ? nullptr : &*found;
}

/// A whole comes before its parts, and marks them.
void MatchFinder::add(const Match& match) {
  if (matches_.empty() || match.begin >= matches_.back().end) {
    matches_.push_back(match);
  } else {
    matches_.back().end = std::max(matches_.back().end, match.end);
  }
}

}  // namespace bmad_mem
