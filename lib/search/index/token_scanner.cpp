#include "token_scanner.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "token_block.hpp"

namespace bmad_mem {
namespace {

/// Whether it is passed over where no word is going on.
constexpr bool is_gap(CharClass c) {
  return c == CharClass::kOther || c == CharClass::kJoint || c == CharClass::kApostrophe;
}

}  // namespace

std::span<const Token> TokenScanner::scan(std::string_view text) {
  assert(text.size() <= std::numeric_limits<std::uint32_t>::max());
  token_count_ = 0;
  folder_.clear();
  copy(text);
  chunks_.set_text(text_);
  for (std::size_t at = take_words(0); at < text_.size(); at = take_words(at)) {
    at = byte_class(text_[at]) == CharClass::kWide ? take_wide(at) : take_chunk(at);
  }
  return std::span(tokens_).first(token_count_);
}

void TokenScanner::copy(std::string_view text) {
  const std::size_t room = text.size() + 2 * TextBlock::kSize;  // One begun, and one of NULs.
  if (copy_.size() < room) {
    copy_.resize(room);
    lowered_.resize(room);
  }
  std::copy(text.begin(), text.end(), copy_.begin());
  std::memset(copy_.data() + text.size(), 0, 2 * TextBlock::kSize);
  for (std::size_t i = 0; i < text.size(); i += TextBlock::kSize) {
    TextBlock::load(copy_.data() + i).store_lower(lowered_.data() + i);
  }
  text_ = {copy_.data(), text.size()};
}

/// Takes words of ASCII letters, and chunks that begin with one, from `at` on. Where something else
/// begins, or the end.
std::size_t TokenScanner::take_words(std::size_t at) {
  const char* const text = text_.data();
  const char* const lowered = lowered_.data();
  const std::size_t text_size = text_.size();
  while (at < text_size) {
    const CharClass first = byte_class(text[at]);
    if (is_gap(first)) {
      ++at;
      continue;
    }
    if (first != CharClass::kLower && first != CharClass::kUpper) {
      return at;
    }
    TextBlock block = TextBlock::load(text + at);
    std::size_t letters = block.letter_count();
    bool plain = !block.has_capital(1, letters);
    std::size_t end = at + letters;
    while (letters == TextBlock::kSize) {
      block = TextBlock::load(text + end);
      letters = block.letter_count();
      plain = plain && !block.has_capital(0, letters);
      end += letters;
    }
    const std::size_t size = end - at;
    CharClass after = byte_class(text[end]);
    if (after == CharClass::kApostrophe || (after == CharClass::kJoint && text[end] != '#')) {
      after = byte_class(text[end + 1]);  // A full stop, a colon, a closing quote.
    }
    if (plain && after == CharClass::kOther && size <= kTokenSizeMax) {
      put({lowered + at, size}, at, size, false);
      at = end + 1;
    } else {
      at = take_chunk(at);
    }
  }
  return std::min(at, text_size);
}

std::size_t TokenScanner::take_chunk(std::size_t begin) {
  const Chunk chunk = chunks_.read(begin);
  if (chunk.is_name && chunk.end - chunk.begin <= kTokenSizeMax) {
    // Terms stand in JSON without escapes.
    std::replace(lowered_.begin() + static_cast<std::ptrdiff_t>(chunk.begin),
                 lowered_.begin() + static_cast<std::ptrdiff_t>(chunk.end), '\\', '/');
    add(chunk.begin, chunk.end, chunk.wide, true);
  }
  for (const TextRun& run : chunks_.runs()) {
    add_run(run, chunk.wide);
  }
  return chunk.end;
}

void TokenScanner::add_run(const TextRun& run, bool wide) {
  // What is longer than a token is encoded data: its changes of case mean nothing.
  const bool may_have_parts = run.has_inner_capital && run.end - run.begin <= kTokenSizeMax;
  std::size_t begin = run.begin;
  std::size_t end = may_have_parts ? chunks_.end_of_part(begin, run.end) : run.end;
  if (end < run.end) {
    add(begin, run.end, wide, true);
  }
  add(begin, end, wide, false);
  while (end < run.end) {
    begin = end;
    end = chunks_.end_of_part(begin, run.end);
    add(begin, end, wide, false);
  }
}

void TokenScanner::add(std::size_t begin, std::size_t end, bool wide, bool whole) {
  end = chunks_.without_possessive(begin, end);
  if (wide) {
    add_folded(begin, end, whole);
  } else {
    const std::size_t size = end - begin;
    put({lowered_.data() + begin, std::min(size, kTokenSizeMax)}, begin, size, whole);
  }
}

void TokenScanner::add_folded(std::size_t begin, std::size_t end, bool whole) {
  const std::string_view token = folder_.fold(text_.substr(begin, end - begin), kTokenSizeMax);
  if (!token.empty()) {
    put(token, begin, end - begin, whole);
  }
}

std::size_t TokenScanner::take_wide(std::size_t begin) {
  const Character c = wide_at(text_, begin);
  if (c.cls == CharClass::kUnspaced) {
    return take_unspaced(begin);
  }
  return is_word_class(c.cls) ? take_chunk(begin) : begin + c.size;
}

/// Pairs of neighbouring characters; a character alone stays alone.
std::size_t TokenScanner::take_unspaced(std::size_t begin) {
  std::size_t first = begin;
  std::size_t second = unit_end(begin);
  if (character_at(text_, second).cls != CharClass::kUnspaced) {
    add_folded(first, second, false);
    return second;
  }
  while (character_at(text_, second).cls == CharClass::kUnspaced) {
    const std::size_t next = unit_end(second);
    add_folded(first, next, false);
    first = second;
    second = next;
  }
  return second;
}

/// The end of the character at `begin` and the marks upon it.
std::size_t TokenScanner::unit_end(std::size_t begin) const {
  std::size_t at = begin;
  do {
    at += character_at(text_, at).size;
  } while (character_at(text_, at).cls == CharClass::kMark);
  return at;
}

}  // namespace bmad_mem
