// match_finder.cpp - finds the terms of a question in a text, and makes snippets of it.
#include "match_finder.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "bmad_mem/text.hpp"
#include "model/entry.hpp"

namespace bmad_mem {

namespace {

constexpr bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }
constexpr bool is_between_pieces(char c) { return static_cast<unsigned char>(c) <= ' '; }

constexpr std::size_t kBlock = 64;
constexpr std::size_t kOctet = 8;
constexpr std::uint64_t kOnes = 0x0101010101010101U;
constexpr std::uint64_t kTops = 0x80U * kOnes;

/// For eight ASCII bytes, the top bit of each that is between `first` and `last`; those beyond
/// ASCII have none.
constexpr std::uint64_t between(std::uint64_t bytes, char first, char last) {
  const std::uint64_t low = bytes & ~kTops;
  const std::uint64_t from_first = low + (0x80U - static_cast<std::uint64_t>(first)) * kOnes;
  const std::uint64_t behind_last = low + (0x7FU - static_cast<std::uint64_t>(last)) * kOnes;
  return from_first & ~behind_last & ~bytes & kTops;
}

/// The top bits of eight bytes as the lowest eight bits.
constexpr std::uint64_t gathered(std::uint64_t tops) {
  constexpr std::uint64_t kGather = 0x0102040810204080U;  // Byte k to bit 56 + k.
  return (tops >> 7U) * kGather >> 56U;
}

/// Eight bytes, the first of them lowest.
std::uint64_t octet_at(const char* bytes) {
  std::uint64_t octet = 0;
  std::memcpy(&octet, bytes, sizeof octet);
  return std::endian::native == std::endian::little ? octet : std::byteswap(octet);
}

/// Where in 64 bytes a word may begin, a bit a byte: at digits and what is beyond ASCII, and at
/// letters but for lower-case ones behind a letter. Eight bytes at a time and without branches: to
/// go through words of any length letter by letter, the processor guesses wrong once a word.
struct Beginnings {
  std::uint64_t bits = 0;
  bool ends_in_letter = false;
};
Beginnings beginnings(const char* block, bool behind_letter) {
  std::uint64_t words = 0;
  std::uint64_t letters = 0;
  std::uint64_t lower = 0;
  for (std::size_t i = 0; i < kBlock; i += kOctet) {
    const std::uint64_t bytes = octet_at(block + i);
    const std::uint64_t low = between(bytes, 'a', 'z');
    const std::uint64_t letter = low | between(bytes, 'A', 'Z');
    lower |= gathered(low) << i;
    letters |= gathered(letter) << i;
    words |= gathered(letter | between(bytes, '0', '9') | (bytes & kTops)) << i;
  }
  const std::uint64_t follows = letters << 1U | (behind_letter ? 1U : 0U);
  return {.bits = words & ~(lower & follows), .ends_in_letter = (letters >> (kBlock - 1)) != 0};
}

std::size_t begin_of_piece(std::string_view text, std::size_t at) {
  while (at > 0 && !is_between_pieces(text[at - 1])) {
    --at;
  }
  return at;
}

std::size_t end_of_piece(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_between_pieces(text[at])) {
    ++at;
  }
  return at;
}

/// How often terms stand in a stretch. There are few, so a list is faster than a map.
class TermCounts {
 public:
  [[nodiscard]] std::size_t different() const { return different_; }
  void enter(const std::string* term) {
    std::size_t& count = count_of(term);
    different_ += count == 0 ? 1 : 0;
    ++count;
  }
  void leave(const std::string* term) {
    std::size_t& count = count_of(term);
    assert(count > 0);
    --count;
    different_ -= count == 0 ? 1 : 0;
  }

 private:
  std::size_t& count_of(const std::string* term) {
    const auto known = std::ranges::find(counts_, term, &Counted::first);
    return known != counts_.end() ? known->second : counts_.emplace_back(term, 0).second;
  }

  using Counted = std::pair<const std::string*, std::size_t>;
  std::vector<Counted> counts_;
  std::size_t different_ = 0;
};

/// The match from which on `size` bytes hold the most different terms; the first of equal ones.
std::size_t best_start(const std::vector<Match>& matches, std::size_t size) {
  TermCounts inside;
  std::size_t best = 0;
  std::size_t best_count = 0;
  std::size_t last = 0;
  for (std::size_t first = 0; first < matches.size(); ++first) {
    while (last < matches.size() && matches[last].end <= matches[first].begin + size) {
      inside.enter(matches[last++].term);
    }
    if (inside.different() > best_count) {
      best = first;
      best_count = inside.different();
    }
    if (last > first) {
      inside.leave(matches[first].term);
    } else {
      last = first + 1;  // Longer than the stretch, so it never came in.
    }
  }
  return best;
}

constexpr char kBlankList[] = {' ', '\t', '\n', kTextBreak};
constexpr std::string_view kBlanks(kBlankList, sizeof kBlankList);

/// A little before `match`, at the start of a word, so that it is read in its sentence.
std::size_t start_before(std::string_view text, std::size_t match, std::size_t lead) {
  if (match <= lead) {
    return 0;
  }
  const std::size_t blank = text.find_first_of(kBlanks, match - lead);
  if (blank < match) {
    return blank + 1;
  }
  std::size_t begin = match - lead;
  while (begin < match && is_continuation(text[begin])) {
    ++begin;
  }
  return begin;
}

/// The start of the line of `match` where that is less than `reach` before it, else `otherwise`.
std::size_t line_start(std::string_view text, std::size_t match, std::size_t otherwise,
                       std::size_t reach) {
  const std::size_t line = match == 0 ? 0 : text.rfind('\n', match - 1) + 1;
  return match - line <= reach ? line : otherwise;
}

/// The front of `text`, of at most `size_max` bytes: up to the end of a paragraph, a line or a
/// sentence behind `least`, if there is one.
std::string_view whole_passage(std::string_view text, std::size_t size_max, std::size_t least) {
  const std::string_view part = utf8_prefix(text, size_max);
  if (part.size() == text.size()) {
    return part;
  }
  for (const std::string_view end : {"\n\n", "\n", ". ", "。"}) {
    const std::size_t at = part.rfind(end);
    if (at != std::string_view::npos && at > std::max(least, size_max / 2)) {
      return part.substr(0, end == "\n\n" || end == "\n" ? at : at + end.size());
    }
  }
  return part;
}

/// Appends `part` without control characters. Where each of its bytes, and its end, came to stand.
std::vector<std::size_t> append_one_line(std::string_view part, std::string& out) {
  std::vector<std::size_t> places;
  places.reserve(part.size() + 1);
  for (const char c : part) {
    places.push_back(out.size());
    if (c == kTextBreak) {
      while (out.ends_with(' ')) {
        out.pop_back();
      }
      out += " · ";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  }
  places.push_back(out.size());
  assert(places.size() == part.size() + 1);
  return places;
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
  padded_.assign(text);
  padded_.append(kBlock, ' ');
  std::size_t done = 0;  // Pieces before have been taken apart.
  bool behind_letter = false;
  for (std::size_t block = 0; block < text.size(); block += kBlock) {
    const Beginnings begin = beginnings(padded_.data() + block, behind_letter);
    behind_letter = begin.ends_in_letter;
    for (std::uint64_t bits = begin.bits; bits != 0; bits &= bits - 1) {
      const std::size_t at = block + static_cast<std::size_t>(std::countr_zero(bits));
      assert(at < text.size() && "no word begins in the blanks after it");
      const char c = padded_[at];
      if (at >= done && (is_wide(c) || may_begin_[beginning(c, padded_[at + 1])])) {
        const std::size_t piece = begin_of_piece(text, at);
        done = end_of_piece(text, at);
        find_in_piece(text.substr(piece, done - piece), piece);
      }
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
  assert(!token.empty());
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
  assert(match.begin < match.end);
  assert(matches_.empty() || match.begin >= matches_.back().begin);
  if (matches_.empty() || match.begin >= matches_.back().end) {
    matches_.push_back(match);
  } else {
    matches_.back().end = std::max(matches_.back().end, match.end);
  }
}

Result<ReadingTools*> reading_tools(std::string_view language) {
  thread_local std::string known_language;
  thread_local std::optional<ReadingTools> tools;
  if (!tools || known_language != language) {
    BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(language));
    tools.reset();
    tools.emplace(ReadingTools{.analyzer = std::move(analyzer)});
    known_language = language;
  }
  return &*tools;
}

Snippet make_snippet(MatchFinder& finder, std::string_view text, std::size_t size_max,
                     bool begins_passage) {
  const std::vector<Match>& matches = finder.find(text);
  const std::size_t lead = size_max / 3;
  std::size_t begin = 0;
  std::string_view part = utf8_prefix(text, size_max);
  if (!matches.empty() && text.size() > size_max) {
    const std::size_t match = matches[best_start(matches, size_max - lead)].begin;
    begin = start_before(text, match, lead);
    if (begins_passage) {
      begin = line_start(text, match, begin, size_max / 2);
      part = whole_passage(text.substr(begin), size_max, match - begin);
    } else {
      part = utf8_prefix(text.substr(begin), size_max);
    }
  }
  Snippet snippet;
  snippet.text = begin > 0 ? "…" : "";
  const std::vector<std::size_t> places = append_one_line(part, snippet.text);
  for (const Match& match : matches) {
    if (match.begin >= begin && match.end <= begin + part.size()) {
      const std::size_t offset = places[match.begin - begin];
      snippet.highlights.push_back({.offset = offset, .size = places[match.end - begin] - offset});
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
