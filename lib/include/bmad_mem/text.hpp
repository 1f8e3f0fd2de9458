// text.hpp - classes of ASCII characters and small steps over text, whatever the locale says.
//
// Bytes beyond ASCII belong to no class: who scans looks at ASCII and steps over the rest.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bmad_mem {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_upper(c) || is_lower(c); }
constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_word_byte(char c) { return is_alnum(c) || c == '_'; }
constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80U; }
constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
/// A space or a tab.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// A blank or a part of a line break: what JSON calls white space.
constexpr bool is_space(char c) { return is_blank(c) || c == '\n' || c == '\r'; }

constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// The value of a hexadecimal digit, 0 to 15; -1 for any other character.
constexpr int hex_value(char c) {
  const char lower = to_lower(c);
  return is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
constexpr bool is_hex_digit(char c) { return hex_value(c) >= 0; }

constexpr std::string_view kWhiteSpace = " \t\r\n";

/// Whether `text` is empty or white space alone.
constexpr bool is_blank(std::string_view text) {
  return text.find_first_not_of(kWhiteSpace) == std::string_view::npos;
}

/// `text` without the characters of `what` around it: a view into it.
constexpr std::string_view trimmed(std::string_view text, std::string_view what = kWhiteSpace) {
  const std::size_t begin = text.find_first_not_of(what);
  return begin == std::string_view::npos
             ? text.substr(0, 0)
             : text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

/// `text` without the line breaks at its end: a view into it.
constexpr std::string_view without_line_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

/// Cuts the first line off `text`; without its '\n'.
constexpr std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

/// How many `c` follow each other in `text` at most.
constexpr std::size_t longest_run(std::string_view text, char c) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char each : text) {
    run = each == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// The whole of `text` as a number, written to `base`; nothing for anything else.
template <typename Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number, base);
  return problem == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// `text` with the letters A to Z in lower case; see lower_case() for those of all languages.
inline std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = to_lower(c);
  }
  return lower;
}

/// `text` with each "%41" as the byte it stands for. What is no such sequence stays as it is.
inline std::string percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 2 < text.size() && is_hex_digit(text[at + 1]) &&
        is_hex_digit(text[at + 2])) {
      decoded += static_cast<char>(hex_value(text[at + 1]) * 16 + hex_value(text[at + 2]));
      at += 2;
    } else {
      decoded += text[at];
    }
  }
  return decoded;
}

/// Whether `list` holds `item`.
template <typename List, typename Item>
constexpr bool is_among(const List& list, const Item& item) {
  for (const auto& each : list) {
    if (each == item) {
      return true;
    }
  }
  return false;
}

}  // namespace bmad_mem
