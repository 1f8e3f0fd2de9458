// token_scanner.cpp - cuts a text into words, names and their parts.
#include "token_scanner.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

namespace bmad_mem {

namespace {

/// Sixteen bytes of a text at once; the first is the lowest. Nearly all words have fewer than
/// sixteen letters. Looking at as many bytes in one register finds a word's end without a branch
/// that depends on its length: a loop over its bytes predicts most ends wrongly. Vectors as the
/// compilers have them on any processor, except one step that they have no operator for.
class TextBlock {
 public:
  static constexpr std::size_t kSize = 16;

  static TextBlock load(const char* bytes) {
    TextBlock block;
    std::memcpy(&block.value_, bytes, kSize);
    return block;
  }

  /// How many ASCII letters it begins with.
  [[nodiscard]] std::size_t letter_count() const {
    return static_cast<std::size_t>(std::countr_one(bits(letters())));
  }

  /// Whether a capital is among the first `count` bytes, which are letters, the first `skipped`
  /// aside.
  [[nodiscard]] bool has_capital(std::size_t skipped, std::size_t count) const {
    const std::uint32_t capitals = bits((value_ & kCaseBit) == 0);
    return ((capitals & ((1U << count) - 1)) >> skipped) != 0;
  }

  /// Writes the bytes to `out`, ASCII capitals in lower case.
  void store_lower(char* out) const {
    const Bytes lower = value_ | (reinterpret_cast<Bytes>(letters()) & kCaseBit);
    std::memcpy(out, &lower, kSize);
  }

 private:
  using Bytes = std::uint8_t __attribute__((vector_size(kSize)));
  using Mask = signed char __attribute__((vector_size(kSize)));  // -1 for true.
  static constexpr std::uint8_t kCaseBit = 0x20;

  TextBlock() = default;

  /// One bit for each byte.
  static std::uint32_t bits(Mask mask) {
#ifdef __SSE2__
    using Chars = char __attribute__((vector_size(kSize)));
    return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<Chars>(mask)));
#else
    std::array<std::uint64_t, 2> halves{};
    std::memcpy(halves.data(), &mask, kSize);
    const auto gathered = [](std::uint64_t half) {
      constexpr std::uint64_t kOnes = 0x0101010101010101U;
      constexpr std::uint64_t kGather = 0x0102040810204080U;  // Byte k to bit 56 + k.
      half = std::endian::native == std::endian::little ? half : __builtin_bswap64(half);
      return static_cast<std::uint32_t>((half & kOnes) * kGather >> 56U);
    };
    return gathered(halves[0]) | gathered(halves[1]) << 8U;
#endif
  }

  [[nodiscard]] Mask letters() const {
    const Bytes from_a = (value_ | kCaseBit) - static_cast<std::uint8_t>('a');
    return from_a <= static_cast<std::uint8_t>('z' - 'a');
  }

  Bytes value_;
};

/// Whether it is passed over where no word is going on.
constexpr bool is_gap(CharClass c) {
  return c == CharClass::kOther || c == CharClass::kJoint || c == CharClass::kApostrophe;
}

/// Whether several joints in a row hold: scopes (a::b), snake case with two bars, C++17, and those
/// of URLs and paths (://, /., :\). Ellipses, dashes and rulers do not.
bool joints_hold(std::string_view joints) {
  constexpr std::size_t kPathJointsMax = 3;
  if (joints.size() == 2 && joints[0] == joints[1] &&
      (joints[0] == ':' || joints[0] == '_' || joints[0] == '+')) {
    return true;
  }
  return joints.size() <= kPathJointsMax && joints.find_first_of("/\\") != std::string_view::npos;
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
  assert(begin < end && end <= text_.size());
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

void ChunkReader::set_text(std::string_view text) {
  text_ = text;
  chars_ = text.data();
  if (classes_.size() <= text.size()) {
    classes_.resize(text.size() + 1);
  }
}

Chunk ChunkReader::read(std::size_t begin) {
  Chunk chunk = start(begin);
  if (!read_ascii(chunk)) {
    chunk = start(begin);
    chunk.wide = true;
    read_wide(chunk);
  }
  wide_ = chunk.wide;
  assert(runs_.back().begin < chunk.end && "a run has a word character");
  runs_.back().end = chunk.end;
  const std::size_t suffix = suffix_size(chunk);
  // Words joined by hyphens are words: "well-known" is no name.
  chunk.is_name = suffix > 0 || (runs_.size() > 1 && named_);
  if (has_version_prefix(chunk)) {
    runs_.front().begin = ++chunk.begin;
  }
  chunk.end += suffix;
  return chunk;
}

Chunk ChunkReader::start(std::size_t begin) {
  runs_.clear();
  runs_.emplace_back().begin = begin;
  named_ = false;
  return {.begin = begin, .end = begin};
}

/// Reads on to the chunk's end. False when a character beyond ASCII is part of it.
bool ChunkReader::read_ascii(Chunk& chunk) {
  for (;;) {
    take_letters(chunk);
    const CharClass cls = byte_class(chars_[chunk.end]);  // The end has a class too: kOther.
    if (cls == CharClass::kDigit) {
      named_ = true;
      ++chunk.end;
    } else if (cls == CharClass::kJoint) {
      if (!take_joints(chunk)) {
        return true;
      }
    } else if (cls == CharClass::kApostrophe) {
      if (!take_apostrophe(chunk, 1)) {
        return true;
      }
    } else if (cls == CharClass::kWide) {
      const CharClass wide = wide_at(text_, chunk.end).cls;
      return !is_word_class(wide) && wide != CharClass::kMark && wide != CharClass::kApostrophe;
    } else {
      return true;
    }
  }
}

void ChunkReader::take_letters(Chunk& chunk) {
  TextRun& run = runs_.back();
  std::size_t letters = 0;
  do {
    const TextBlock block = TextBlock::load(chars_ + chunk.end);
    letters = block.letter_count();
    run.has_inner_capital =
        run.has_inner_capital || block.has_capital(chunk.end == run.begin ? 1 : 0, letters);
    chunk.end += letters;
  } while (letters == TextBlock::kSize);
}

/// The same for any chunk, its classes noted.
void ChunkReader::read_wide(Chunk& chunk) {
  for (bool more = true; more;) {
    const Character c = character_at(text_, chunk.end);
    if (is_word_class(c.cls) || c.cls == CharClass::kMark) {
      take_character(chunk, c.cls, c.size);
    } else {
      more = (c.cls == CharClass::kJoint && take_joints(chunk)) ||
             (c.cls == CharClass::kApostrophe && take_apostrophe(chunk, c.size));
    }
  }
}

void ChunkReader::take_character(Chunk& chunk, CharClass cls, std::size_t size) {
  assert(size > 0 && chunk.end + size <= text_.size());
  classes_[chunk.end] = cls;
  for (std::size_t i = 1; i < size; ++i) {
    classes_[chunk.end + i] = CharClass::kMark;
  }
  named_ = named_ || cls == CharClass::kDigit;
  TextRun& run = runs_.back();
  run.has_inner_capital =
      run.has_inner_capital || (cls == CharClass::kUpper && chunk.end != run.begin);
  chunk.end += size;
}

/// Whether the apostrophe of `size` bytes at the chunk's end leads on to a word character.
bool ChunkReader::take_apostrophe(Chunk& chunk, std::size_t size) {
  if (apostrophe_parts_ || !is_word_at(chunk.end + size)) {
    return false;
  }
  take_character(chunk, CharClass::kApostrophe, size);
  return true;
}

/// Whether the joints at the chunk's end lead on to a word character, where the next run begins.
bool ChunkReader::take_joints(Chunk& chunk) {
  std::size_t next = chunk.end + 1;
  while (byte_class(chars_[next]) == CharClass::kJoint) {
    ++next;
  }
  const bool single = next == chunk.end + 1;
  if (!is_word_at(next) || (!single && !joints_hold(text_.substr(chunk.end, next - chunk.end)))) {
    return false;
  }
  named_ = named_ || !single || chars_[chunk.end] != '-';
  runs_.back().end = chunk.end;
  runs_.emplace_back().begin = next;
  chunk.end = next;
  return true;
}

bool ChunkReader::is_word_at(std::size_t at) const {
  const CharClass cls = byte_class(chars_[at]);
  return is_word_class(cls) || (cls == CharClass::kWide && is_word_class(wide_at(text_, at).cls));
}

/// C++ and its kin end in ++, C# and F# in #, behind which nothing of the kind follows.
std::size_t ChunkReader::suffix_size(const Chunk& chunk) const {
  const char first = chars_[chunk.end];
  if (first != '+' && first != '#') {
    return 0;
  }
  const bool plusses = first == '+' && chars_[chunk.end + 1] == '+';
  const bool sharp = first == '#' && chunk.end - chunk.begin == 1;
  const std::size_t size = plusses ? 2 : 1;
  const char after = chars_[chunk.end + size];
  const CharClass last = byte_class(chars_[chunk.end - 1]);
  const bool named = last == CharClass::kLower || last == CharClass::kUpper;
  return (plusses || sharp) && named && after != '+' && after != '#' ? size : 0;
}

/// "v1.2.3" is the version "1.2.3"; "v1" is a name.
bool ChunkReader::has_version_prefix(const Chunk& chunk) const {
  if (chars_[chunk.begin] != 'v' && chars_[chunk.begin] != 'V') {
    return false;
  }
  const TextRun& run = runs_.front();
  return run.end < chunk.end && chars_[run.end] == '.' && run.end > run.begin + 1 &&
         std::all_of(chars_ + run.begin + 1, chars_ + run.end,
                     [](char c) { return byte_class(c) == CharClass::kDigit; });
}

/// The class of a byte of the chunk; kMark for a later byte of a character.
CharClass ChunkReader::class_of(std::size_t at) const {
  return wide_ ? classes_[at] : byte_class(chars_[at]);
}

std::size_t ChunkReader::end_of_part(std::size_t begin, std::size_t end) const {
  assert(begin < end && end <= text_.size());
  CharClass before = class_of(begin);
  bool has_lower = before == CharClass::kLower;
  for (std::size_t at = begin + 1; at < end; ++at) {
    const CharClass cls = class_of(at);
    if (cls == CharClass::kUpper && begins_part(at, end, before, has_lower)) {
      return at;
    }
    has_lower = has_lower || cls == CharClass::kLower;
    before = cls == CharClass::kMark ? before : cls;
  }
  return end;
}

/// Whether the capital at `at` begins a word, as in getUser, HTTPServer and base64Encode, but not
/// in APIs, SHA256SUM and 3D. `has_lower`: whether the part so far holds a lower-case letter.
bool ChunkReader::begins_part(std::size_t at, std::size_t end, CharClass before,
                              bool has_lower) const {
  if (before == CharClass::kLower) {
    return true;
  }
  const auto next_of = [&](std::size_t i) {
    do {
      ++i;
    } while (i < end && class_of(i) == CharClass::kMark);
    return i;
  };
  const std::size_t next = next_of(at);
  const bool lower_follows = next < end && class_of(next) == CharClass::kLower;
  if (before == CharClass::kDigit) {
    return lower_follows || has_lower;
  }
  if (before != CharClass::kUpper || !lower_follows) {
    return false;
  }
  const std::size_t second = next_of(next);
  const bool plural =
      chars_[next] == 's' && (second >= end || class_of(second) != CharClass::kLower);
  return !plural;
}

std::size_t ChunkReader::without_possessive(std::size_t begin, std::size_t end) const {
  constexpr std::size_t kSizeMin = 3;
  if (end - begin < kSizeMin || (chars_[end - 1] != 's' && chars_[end - 1] != 'S')) {
    return end;
  }
  std::size_t at = end - 2;
  while (at > begin && class_of(at) == CharClass::kMark) {
    --at;
  }
  return at > begin && class_of(at) == CharClass::kApostrophe ? at : end;
}

}  // namespace bmad_mem
