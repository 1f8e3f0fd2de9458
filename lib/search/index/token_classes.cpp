// token_classes.cpp - the classes of characters beyond ASCII, by Unicode's categories.
#include "token_classes.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cassert>

namespace bmad_mem {
namespace {

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
