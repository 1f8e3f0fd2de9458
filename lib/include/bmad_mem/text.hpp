// text.hpp - classes of ASCII characters, and small steps over text, in any locale, and
// over lists.
//
// Bytes beyond ASCII belong to no class: who scans looks at ASCII and steps over the rest.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_upper(c) || is_lower(c); }
constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_word_byte(char c) { return is_alnum(c) || c == '_'; }
constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80U; }
/// A byte of a character of UTF-8, but not its first.
constexpr bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
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

/// Whether the texts differ in the case of the letters A to Z at most.
constexpr bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
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

// Small steps over lists.

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

/// Appends `item` to `list`, unless that holds it.
template <typename List, typename Item>
void add_once(List& list, Item&& item) {
  if (!is_among(list, item)) {
    list.emplace_back(std::forward<Item>(item));
  }
}

/// The first element of `list` whose `member` is `value`; null without one.
template <typename List, typename Value, typename Member>
  requires std::ranges::borrowed_range<List>
constexpr auto* find_by(List&& list, const Value& value, Member member) {
  const auto found = std::ranges::find(list, value, member);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

/// What `each`, a function or a member, makes of the elements of `list`, in their order.
template <typename List, typename Each>
auto mapped(const List& list, const Each& each) {
  std::vector<std::decay_t<decltype(std::invoke(each, *std::begin(list)))>> made;
  for (auto&& item : list) {
    made.push_back(std::invoke(each, item));
  }
  return made;
}

/// The same of those elements alone that are `wanted`.
template <typename List, typename Wanted, typename Each>
auto mapped_if(const List& list, const Wanted& wanted, const Each& each) {
  decltype(mapped(list, each)) made;
  for (auto&& item : list) {
    if (std::invoke(wanted, item)) {
      made.push_back(std::invoke(each, item));
    }
  }
  return made;
}

/// The sum of what `each` says of the elements of `list`.
template <typename List, typename Each>
std::uint64_t sum_of(const List& list, const Each& each) {
  std::uint64_t sum = 0;
  for (const auto& item : list) {
    sum += std::invoke(each, item);
  }
  return sum;
}

// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.

/// How many bytes from the front are valid UTF-8; text.size() when all are. A character cut off by
/// the end of the text is not valid.
std::size_t utf8_valid_size(std::string_view text);

/// How many bytes the character at the front of valid UTF-8 `text` takes, which is not empty.
constexpr std::size_t utf8_character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/// The longest prefix of valid UTF-8 `text` of at most `size_max` bytes that cuts no character.
std::string_view utf8_prefix(std::string_view text, std::size_t size_max);

/// `text` with each byte that is not part of valid UTF-8, and each NUL, replaced by U+FFFD.
std::string utf8_repaired(std::string_view text);

// Letters without their case, one by one (Unicode's simple mapping).

/// `text` with every letter in lower case, as JavaScript's toLowerCase does it but for the letters
/// that become two ("İ") and the final sigma. Bytes that are no UTF-8 stay.
std::string lower_case(std::string_view text);

// How far apart two words are; what is near enough is for the caller to say.

/// How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b` (optimal
/// string alignment, by byte); `limit` + 1 for anything beyond `limit`, and for words of more than
/// 64 bytes: hostile input costs no more than that.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The first of `words` that is nearest to `word`, of those at most `limit_of(known)` apart from
/// it; empty when there is none.
template <typename Words, typename LimitOf>
std::string_view nearest_of(std::string_view word, const Words& words, const LimitOf& limit_of) {
  std::string_view nearest;
  std::size_t nearest_distance = std::string_view::npos;
  for (const std::string_view known : words) {
    const std::size_t limit = limit_of(known);
    const std::size_t distance = edit_distance(word, known, limit);
    if (distance < nearest_distance && distance <= limit) {
      nearest = known;
      nearest_distance = distance;
    }
  }
  return nearest;
}

// Ids and names that were given by their beginning.
//
//   "fact-o" of {"fact-heron-1", "fact-heron-2", "fact-owl"}   "fact-owl"
//   "fact-h" of the same                                       an error: two begin so
//   "fact-x" of the same                                       "fact-x": the caller knows what then

/// Shorter beginnings stand for nothing: "dec-" is one of every decision, but "de" would become
/// some entry as soon as there is one decision alone.
inline constexpr std::size_t kWholeNamePrefixMin = 4;

/// The one of `known` that is `given`, else the only one that begins so, else `given`. `known` may
/// repeat names. Errors: E_INVALID_QUERY with `field` for a beginning that
/// several have, with some of them; `plural` says what they are: "entries".
Result<std::string> whole_name(std::string_view given, std::span<const std::string> known,
                               std::string_view plural, std::string_view field);

}  // namespace bmad_mem
