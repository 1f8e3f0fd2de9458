#include "snippet.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem {
namespace {

/// A token that matched.
struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  const std::string* term = nullptr;
};

/// Tells most tokens that can't match without stemming them, which is most of the work.
class BeginningFilter {
 public:
  BeginningFilter(const Analyzer& analyzer, const TermSet& wanted)
      : filters_(analyzer.keeps_beginnings()) {
    for (const std::string& term : wanted) {
      seen_[beginning(term)] = true;
    }
  }
  [[nodiscard]] bool may_match(std::string_view token) const {
    // Stemmers take accents away (árbol is arbol) where the bytes are no ASCII.
    return !filters_ || !is_ascii(token.substr(0, 2)) || seen_[beginning(token)];
  }

 private:
  /// Two bytes as a number; the table is small, so different ones may share a place. "dying" has
  /// the stem "die", so y counts as i.
  static std::size_t beginning(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.empty() ? '\0' : text[0]);
    const auto second =
        static_cast<unsigned char>(text.size() < 2 ? '\0' : (text[1] == 'y' ? 'i' : text[1]));
    return (first & 31U) << 5U | (second & 31U);
  }
  static bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  }

  bool filters_;
  std::array<bool, 1024> seen_{};
};

std::vector<Match> find_matches(Analyzer& analyzer, const TermSet& wanted, std::string_view text) {
  const BeginningFilter filter(analyzer, wanted);
  std::vector<Match> matches;
  for (const Token& token : analyzer.tokenize(text)) {
    if (!filter.may_match(token.text)) {
      continue;
    }
    const auto found = wanted.find(analyzer.term(token.text, token.whole));
    if (found != wanted.end()) {
      const std::size_t begin = token.offset;
      const std::size_t end = begin + token.size;
      // A whole comes before its parts, and marks them.
      if (matches.empty() || begin >= matches.back().end) {
        matches.push_back({.begin = begin, .end = end, .term = &*found});
      } else if (end > matches.back().end) {
        matches.back().end = end;
      }
    }
  }
  return matches;
}

/// The match from which on `size` bytes hold the most different terms; the first of equal ones.
std::size_t best_start(const std::vector<Match>& matches, std::size_t size) {
  std::map<const std::string*, int> inside;
  std::size_t best = 0;
  std::size_t best_count = 0;
  std::size_t last = 0;
  for (std::size_t first = 0; first < matches.size(); ++first) {
    while (last < matches.size() && matches[last].end <= matches[first].begin + size) {
      ++inside[matches[last++].term];
    }
    if (inside.size() > best_count) {
      best = first;
      best_count = inside.size();
    }
    const auto leaving = inside.find(matches[first].term);
    if (leaving != inside.end() && --leaving->second == 0) {
      inside.erase(leaving);
    }
    last = std::max(last, first + 1);
  }
  return best;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// A little before `match`, at the start of a word, so that it is read in its sentence.
std::size_t start_before(std::string_view text, std::size_t match, std::size_t lead) {
  if (match <= lead) {
    return 0;
  }
  const std::size_t blank = text.find_first_of(" \t\n", match - lead);
  if (blank < match) {
    return blank + 1;
  }
  std::size_t begin = match - lead;
  while (begin < match && is_continuation(text[begin])) {
    ++begin;
  }
  return begin;
}

}  // namespace

Snippet make_snippet(Analyzer& analyzer, const TermSet& wanted, std::string_view text,
                     std::size_t size_max) {
  const std::vector<Match> matches = find_matches(analyzer, wanted, text);
  const std::size_t lead = size_max / 3;
  std::size_t begin = 0;
  if (!matches.empty() && text.size() > size_max) {
    begin = start_before(text, matches[best_start(matches, size_max - lead)].begin, lead);
  }
  const std::string_view part = utf8_prefix(text.substr(begin), size_max);
  Snippet snippet;
  snippet.text = begin > 0 ? "…" : "";
  const std::size_t shift = snippet.text.size();
  for (const char c : part) {
    snippet.text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  for (const Match& match : matches) {
    if (match.begin >= begin && match.end <= begin + part.size()) {
      snippet.highlights.push_back(
          {.offset = match.begin - begin + shift, .size = match.end - match.begin});
    }
  }
  if (begin + part.size() < text.size()) {
    snippet.text += "…";
  }
  return snippet;
}

bool holds_phrase(Analyzer& analyzer, const std::vector<std::string>& phrase,
                  std::string_view text) {
  if (phrase.empty()) {
    return true;
  }
  std::vector<std::string_view> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    if (!token.whole) {
      tokens.push_back(token.text);
    }
  }
  return std::ranges::search(tokens, phrase).begin() != tokens.end();
}

}  // namespace bmad_mem
