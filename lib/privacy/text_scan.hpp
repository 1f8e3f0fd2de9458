// text_scan.hpp - small words to read text with: runs of bytes, comparisons, base64.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "bmad_mem/text.hpp"

namespace bmad_mem {

constexpr bool is_base64(char c) { return is_alnum(c) || c == '+' || c == '/'; }
constexpr bool is_base64url(char c) { return is_alnum(c) || c == '-' || c == '_'; }

template <typename Is>
constexpr bool all_are(std::string_view text, const Is& is) {
  return std::ranges::all_of(text, is);
}
template <typename Is>
constexpr bool any_is(std::string_view text, const Is& is) {
  return std::ranges::any_of(text, is);
}

/// Whether `open` and `close` are the two ends of `text`.
constexpr bool is_enclosed(std::string_view text, std::string_view open, std::string_view close) {
  return text.size() >= open.size() + close.size() && text.starts_with(open) &&
         text.ends_with(close);
}

/// Whether `is(word)` is so for one of the words of `list`, which are apart by `apart`.
template <typename Is>
constexpr bool any_word(std::string_view list, const Is& is, char apart = ' ') {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(apart, at), list.size());
    if (is(list.substr(at, end - at))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}
/// Calls `use(word)` for each of them.
template <typename Use>
constexpr void for_each_word(std::string_view list, const Use& use, char apart = ' ') {
  any_word(
      list,
      [&](std::string_view word) {
        use(word);
        return false;
      },
      apart);
}
/// Whether `word`, which has no blanks, is one of them.
constexpr bool has_word(std::string_view list, std::string_view word) {
  return any_word(list, [&](std::string_view each) { return each == word; });
}

/// The two marks of a row of a list of words.
constexpr std::pair<std::string_view, std::string_view> marks_of(std::string_view row) {
  const std::size_t blank = row.find(' ');
  assert(blank != std::string_view::npos && "a row has two marks");
  return {row.substr(0, blank), row.substr(blank + 1)};
}

/// Whether `text` has the form of `layout`: 'h' is any hexadecimal digit, '?' one of base32, all
/// else stands for itself.
constexpr bool has_layout(std::string_view text, std::string_view layout) {
  return std::ranges::equal(text, layout, [](char c, char form) {
    return form == 'h'   ? is_hex_digit(c)
           : form == '?' ? (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7')
                         : c == form;
  });
}
inline constexpr std::string_view kUuidLayout = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

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
                    [](char wanted, char given) { return wanted == to_lower(given); });
}
constexpr bool equals_folded(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && starts_folded(text, lower);
}
constexpr bool ends_folded(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         equals_folded(text.substr(text.size() - lower.size()), lower);
}
/// Whether `lower` stands in `text` in any case. Costs both sizes' product: for short ones.
constexpr bool contains_folded(std::string_view text, std::string_view lower) {
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                     [](char given, char wanted) { return to_lower(given) == wanted; }) !=
         text.end();
}

/// The first place from `at` on where `is_inside` fails, at most `size_max` bytes further.
template <typename IsInside>
constexpr std::size_t run_end(std::string_view text, std::size_t at, const IsInside& is_inside,
                              std::size_t size_max = std::string_view::npos) {
  assert(at <= text.size() && "a run begins in the text");
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
  assert(at <= text.size() && "a run ends in the text");
  const std::size_t limit = at > size_max ? at - size_max : 0;
  while (at > limit && is_inside(text[at - 1])) {
    --at;
  }
  return at;
}

/// Where [begin, end) ends without the `signs` at its end.
constexpr std::size_t end_without(std::string_view text, std::size_t begin, std::size_t end,
                                  std::string_view signs) {
  assert(begin <= end);
  return run_begin(text, end, [&](char c) { return signs.contains(c); }, end - begin);
}

/// Both for runs of blanks.
constexpr std::size_t blanks_end(std::string_view text, std::size_t at,
                                 std::size_t size_max = std::string_view::npos) {
  return run_end(text, at, [](char c) { return is_blank(c); }, size_max);
}
constexpr std::size_t blanks_begin(std::string_view text, std::size_t at, std::size_t size_max) {
  return run_begin(text, at, [](char c) { return is_blank(c); }, size_max);
}

// disguised.cpp

/// The bytes that base64 or base64url stands for; empty when it is neither. Padding may be missing.
std::string decode_base64(std::string_view encoded);

/// Whether `text` is base64 of "name:password" in printable characters.
bool is_encoded_login(std::string_view text);

}  // namespace bmad_mem
