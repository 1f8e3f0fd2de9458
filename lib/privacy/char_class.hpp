// char_class.hpp - classes of ASCII characters, whatever the locale says.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bmad_mem {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_space(char c) { return is_blank(c) || c == '\n' || c == '\r'; }
constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80U; }
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Is>
constexpr bool all_are(std::string_view text, const Is& is) {
  return std::ranges::all_of(text, is);
}
template <typename Is>
constexpr bool any_is(std::string_view text, const Is& is) {
  return std::ranges::any_of(text, is);
}

/// `text` with small letters.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

/// `text` without blanks and line breaks around it.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// Whether `open` and `close` are the two ends of `text`.
constexpr bool is_enclosed(std::string_view text, std::string_view open, std::string_view close) {
  return text.size() >= open.size() + close.size() && text.starts_with(open) &&
         text.ends_with(close);
}

}  // namespace bmad_mem
