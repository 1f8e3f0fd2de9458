#include "match_finder.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

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

}  // namespace bmad_mem
