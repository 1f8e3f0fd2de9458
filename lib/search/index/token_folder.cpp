// token_folder.cpp - the classes of characters, by Unicode's categories; folds case, accents and
// forms of letters.
#include "token_folder.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "bmad_mem/text.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

constexpr char folded_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c == '\\' ? '/' : c;
}

/// Letters that Unicode doesn't take apart, though many write them as the plain ones.
constexpr std::string_view plain_letter(utf8proc_int32_t code) {
  constexpr auto kLetters = std::to_array<std::pair<utf8proc_int32_t, std::string_view>>({
      {0x00E6, "ae"},  // æ
      {0x0153, "oe"},  // œ
      {0x00DF, "ss"},  // ß
      {0x00FE, "th"},  // þ
      {0x00F0, "d"},   // ð
      {0x0111, "d"},   // đ
      {0x0127, "h"},   // ħ
      {0x0131, "i"},   // ı
      {0x0142, "l"},   // ł
      {0x00F8, "o"},   // ø
      {0x0167, "t"},   // ŧ
  });
  const auto* const found =
      std::ranges::find(kLetters, code, [](const auto& each) { return each.first; });
  return found == kLetters.end() ? std::string_view() : found->second;
}

/// Appends the character to a string, or to a vector of bytes.
template <typename Bytes>
void append_code(utf8proc_int32_t code, Bytes& out) {
  std::array<utf8proc_uint8_t, 4> encoded{};
  const utf8proc_ssize_t size = utf8proc_encode_char(code, encoded.data());
  assert(size > 0 && "utf8proc gives characters of Unicode");
  out.insert(out.end(), encoded.begin(), encoded.begin() + size);
}

constexpr bool is_mark(utf8proc_int32_t code) { return code >= 0x0300 && code <= 0x036F; }

constexpr bool is_latin_or_greek(utf8proc_int32_t code) {
  return code < 0x0300 || (code >= 0x0370 && code < 0x0400) || (code >= 0x1E00 && code < 0x2000);
}

void append_plain(utf8proc_int32_t code, std::string& out) {
  if (const std::string_view plain = plain_letter(code); !plain.empty()) {
    out += plain;
    return;
  }
  constexpr std::size_t kPartsMax = 4;  // A Greek letter has up to three marks.
  std::array<utf8proc_int32_t, kPartsMax> parts{};
  int last_class = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(code, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &last_class);
  const bool is_letter = count > 0 && is_latin_or_greek(parts[0]) && parts[0] != code;
  const utf8proc_int32_t base = is_letter ? parts[0] : code;
  if (const std::string_view plain = plain_letter(base); !plain.empty()) {
    out += plain;  // ǽ is æ with a mark.
    return;
  }
  append_code(base, out);
}

struct Range {
  utf8proc_int32_t first;
  utf8proc_int32_t last;
};

// Scripts without blanks between words: their letters become pairs. Hangul is written with blanks.
constexpr Range kUnspaced[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x1000, 0x109F},    // Burmese
    {0x1780, 0x17FF},    // Khmer
    {0x3005, 0x3007},    // Iteration mark, closing mark, zero
    {0x3040, 0x312F},    // Kana, bopomofo
    {0x31A0, 0x31FF},    // Bopomofo and kana extensions
    {0x3400, 0x4DBF},    // Han, here and below
    {0x4E00, 0x9FFF},    //
    {0xF900, 0xFAFF},    //
    {0xFF66, 0xFF9F},    // Kana of half width
    {0x1AFF0, 0x1B16F},  // Kana extensions
    {0x20000, 0x3FFFF},  // Han
};

bool is_unspaced(utf8proc_int32_t code) {
  return std::ranges::any_of(
      kUnspaced, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

CharClass letter_class(utf8proc_int32_t code, CharClass spaced) {
  constexpr utf8proc_int32_t kHalfVoiced = 0xFF9E;  // Marks of the kana before them.
  constexpr utf8proc_int32_t kHalfSemiVoiced = 0xFF9F;
  constexpr utf8proc_int32_t kModifierApostrophe = 0x02BC;
  if (code == kHalfVoiced || code == kHalfSemiVoiced) {
    return CharClass::kMark;
  }
  if (code == kModifierApostrophe) {
    return CharClass::kApostrophe;
  }
  return is_unspaced(code) ? CharClass::kUnspaced : spaced;
}

CharClass class_of(utf8proc_int32_t code) {
  constexpr utf8proc_int32_t kTypographicApostrophe = 0x2019;
  constexpr utf8proc_int32_t kFullWidthApostrophe = 0xFF07;
  constexpr utf8proc_int32_t kZeroWidthSpace = 0x200B;
  constexpr utf8proc_int32_t kHanZero = 0x3007;
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return CharClass::kUpper;
    case UTF8PROC_CATEGORY_LL:
      return CharClass::kLower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return letter_class(code, CharClass::kLower);
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return code == kHanZero ? CharClass::kUnspaced : CharClass::kDigit;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return CharClass::kMark;
    case UTF8PROC_CATEGORY_CF:
      // Joiners, soft hyphens, direction marks. The zero-width space parts words by its purpose.
      return code == kZeroWidthSpace ? CharClass::kOther : CharClass::kMark;
    default:
      return code == kTypographicApostrophe || code == kFullWidthApostrophe ? CharClass::kApostrophe
                                                                            : CharClass::kOther;
  }
}

}  // namespace

std::string_view without_marks(std::string_view token, std::string& buffer) {
  // Leads of U+00C0 to U+03FF and U+1000 to U+1FFF: Russian, Hebrew, Han and their like pass by.
  const auto may_change = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0xC3 && byte <= 0xCF) || byte == 0xE1;
  };
  if (std::ranges::all_of(token, is_ascii) || std::ranges::none_of(token, may_change)) {
    return token;
  }
  std::string plain;
  bool behind_letter = false;
  for (std::size_t at = 0; at < token.size();) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(token.data()) + at,
                         static_cast<utf8proc_ssize_t>(token.size() - at), &code);
    const bool is_damaged = size <= 0;  // A byte that is no UTF-8 stays.
    const std::string_view character =
        token.substr(at, is_damaged ? 1 : static_cast<std::size_t>(size));
    at += character.size();
    if (!is_damaged && is_mark(code) && behind_letter) {
      continue;
    }
    behind_letter = !is_damaged && is_latin_or_greek(code);
    if (behind_letter && code >= 0x80) {
      append_plain(code, plain);
    } else {
      plain += character;
    }
  }
  assert(plain.size() <= token.size());
  buffer = std::move(plain);
  return buffer;
}

std::string_view TokenFolder::fold(std::string_view source, std::size_t size_max) {
  source = utf8_prefix(source, 4 * size_max);
  if (!fold_simple(source)) {
    fold_any(source);
  }
  const std::string_view folded = utf8_prefix({folded_.data(), folded_.size()}, size_max);
  if (folded.empty()) {
    return {};
  }
  auto* result = static_cast<char*>(results_.allocate(folded.size() + kTokenPadding, 1));
  std::memcpy(result, folded.data(), folded.size());
  return {result, folded.size()};
}

/// Does the work for characters that fold one by one, those of most texts: ASCII, the letters of
/// Latin-1, Russian, Han, the typographic apostrophe. Several times as fast as the general way.
/// False when there is any other.
bool TokenFolder::fold_simple(std::string_view source) {
  folded_.clear();
  for (std::size_t at = 0; at < source.size();) {
    if (byte_class(source[at]) != CharClass::kWide) {
      folded_.push_back(folded_ascii(source[at]));
      ++at;
    } else if (const std::size_t size = append_simple(source.substr(at)); size > 0) {
      at += size;
    } else {
      return false;
    }
  }
  return true;
}

/// Folds the character beyond ASCII that `source` begins with; its size, 0 when it is no simple
/// one.
std::size_t TokenFolder::append_simple(std::string_view source) {
  assert(source.size() > 1 && "a character beyond ASCII has two bytes or more");
  const auto lead = static_cast<unsigned char>(source[0]);
  const auto next = static_cast<unsigned char>(source[1]);  // There is one, since this is UTF-8.
  const auto append2 = [&](unsigned first, unsigned second) {
    folded_.push_back(static_cast<char>(first));
    folded_.push_back(static_cast<char>(second));
    return std::size_t{2};
  };
  if (lead == 0xC3) {  // U+00C0 to U+00FF
    return next == 0x9F ? append2('s', 's') : append2(lead, next < 0x9F ? next + 0x20U : next);
  }
  if (lead ==
      0xD0) {  // U+0400 to U+043F: its first 16 letters are lower-cased by 80, 32 more by 32.
    return next < 0x90   ? append2(0xD1, next + 0x10U)
           : next < 0xA0 ? append2(lead, next + 0x20U)
           : next < 0xB0 ? append2(0xD1, next - 0x20U)
                         : append2(lead, next);
  }
  if (lead == 0xD1 && next < 0xA0) {  // U+0440 to U+045F
    return append2(lead, next);
  }
  if ((lead > 0xE4 && lead <= 0xE9) || (lead == 0xE4 && next >= 0xB8)) {  // U+4E00 to U+9FFF
    folded_.insert(folded_.end(), source.begin(), source.begin() + 3);
    return 3;
  }
  constexpr std::string_view kApostrophe = "\xE2\x80\x99";
  if (source.starts_with(kApostrophe)) {
    folded_.push_back('\'');
    return kApostrophe.size();
  }
  return 0;
}

void TokenFolder::fold_any(std::string_view source) {
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): flags, made to be combined.
  constexpr auto kOptions = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(source.data());
  const auto size = static_cast<utf8proc_ssize_t>(source.size());
  constexpr std::size_t kUsualExpansion = 4;  // The most there is, U+FDFA, is 18 a character.
  codes_.resize(std::max(codes_.size(), source.size() * kUsualExpansion));
  utf8proc_ssize_t count = utf8proc_decompose(
      bytes, size, codes_.data(), static_cast<utf8proc_ssize_t>(codes_.size()), kOptions);
  if (count > static_cast<utf8proc_ssize_t>(codes_.size())) {
    codes_.resize(static_cast<std::size_t>(count));
    count = utf8proc_decompose(bytes, size, codes_.data(), count, kOptions);
  }
  folded_.clear();
  if (count <= 0) {
    return;
  }
  assert(static_cast<std::size_t>(count) <= codes_.size());
  count = utf8proc_normalize_utf32(codes_.data(), count, kOptions);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append(source, codes_[static_cast<std::size_t>(i)]);
  }
}

void TokenFolder::append(std::string_view source, std::int32_t code) {
  constexpr std::int32_t kDotAbove = 0x0307;
  if (code == 0x2019 || code == 0x02BC) {
    code = '\'';
  }
  if (code < 0x80) {
    // Parentheses of U+2474, the full stop of U+2488, blanks of U+FDFA are not the writer's.
    const char c = static_cast<char>(code);
    if (is_word_class(byte_class(c)) || c == '\'' || source.find(c) != std::string_view::npos) {
      folded_.push_back(folded_ascii(c));
    }
  } else if (code != kDotAbove || folded_.empty() || folded_.back() != 'i') {
    append_code(code, folded_);
  }
}

std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::string_view ascii(rest.begin(), std::ranges::find_if_not(rest, is_ascii));
    lower += ascii;
    std::ranges::transform(ascii, lower.end() - std::ssize(ascii), to_lower);
    at += ascii.size();
    if (at == text.size()) {
      break;
    }
    utf8proc_int32_t code = 0;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the bytes are UTF-8.
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t size =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (size > 0) {
      append_code(utf8proc_tolower(code), lower);
    } else {
      lower += text[at];
    }
    at += size > 0 ? static_cast<std::size_t>(size) : 1;
  }
  return lower;
}

Character wide_at(std::string_view text, std::size_t at) {
  assert(at < text.size());
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                       static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (size <= 0) {
    return {};  // Not UTF-8: passed over byte by byte.
  }
  return {.cls = class_of(code), .size = static_cast<std::size_t>(size)};
}

}  // namespace bmad_mem
