// text_scan.hpp - small words to read text with: classes of bytes, runs, base64, randomness.
//
// Bytes beyond ASCII belong to no class: the scanners look at ASCII and step over the rest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_upper(c) || is_lower(c); }
constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_word_byte(char c) { return is_alnum(c) || c == '_'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_white(char c) { return is_blank(c) || c == '\n' || c == '\r'; }
constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
constexpr bool is_base64(char c) { return is_alnum(c) || c == '+' || c == '/'; }
constexpr bool is_base64url(char c) { return is_alnum(c) || c == '-' || c == '_'; }
constexpr char folded(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// The byte at `at`, or '\0' beyond the text.
constexpr char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '\0';
}
/// The byte before `at`, or '\0' at the begin of the text.
constexpr char byte_before(std::string_view text, std::size_t at) {
  return at > 0 ? text[at - 1] : '\0';
}

/// Whether `text` begins with `lower`, which has no capital letters, in any case.
constexpr bool starts_folded(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(),
                    [](char wanted, char given) { return wanted == folded(given); });
}
constexpr bool equals_folded(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && starts_folded(text, lower);
}
/// Whether `lower` stands in `text` in any case. Costs both sizes' product: for short ones.
bool contains_folded(std::string_view text, std::string_view lower);

/// The first place from `at` on where `is_inside` fails, at most `size_max` bytes further.
template <typename IsInside>
constexpr std::size_t run_end(std::string_view text, std::size_t at, const IsInside& is_inside,
                              std::size_t size_max = std::string_view::npos) {
  const std::size_t limit = text.size() - at > size_max ? at + size_max : text.size();
  while (at < limit && is_inside(text[at])) {
    ++at;
  }
  return at;
}
/// The same backwards: where the run that ends before `at` begins.
template <typename IsInside>
constexpr std::size_t run_begin(std::string_view text, std::size_t at, const IsInside& is_inside,
                                std::size_t size_max) {
  const std::size_t limit = at > size_max ? at - size_max : 0;
  while (at > limit && is_inside(text[at - 1])) {
    --at;
  }
  return at;
}

/// The bytes that base64 or base64url stands for; empty when it is neither. Padding may be missing.
std::string decode_base64(std::string_view encoded);

/// Whether `text` is base64 of "name:password" in printable characters.
bool is_encoded_login(std::string_view text);

/// How a value is made up.
struct Shape {
  std::size_t lower = 0;
  std::size_t upper = 0;
  std::size_t digits = 0;
  /// Neighbours of different kinds among the letters and digits: few in words, many in keys.
  std::size_t turns = 0;
};
Shape shape_of(std::string_view value);

/// Whether a machine rather than a person chose `value`: its kinds of letters change often.
bool looks_random(std::string_view value);

}  // namespace bmad_mem
