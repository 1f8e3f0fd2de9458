// query_error.hpp - what the parsers say about a query that they refuse.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "search/edit_matcher.hpp"

namespace bmad_mem {

/// E_INVALID_QUERY about the byte at `offset` of a query's text.
Error query_error(std::size_t offset, std::string message);

/// `text` with a blank for each character that breaks a line, steers a terminal or turns the
/// writing direction around, and U+FFFD for what is not UTF-8.
std::string printable_text(std::string_view text);

/// As much of printable_text() as a message quotes: at most 40 characters, and "…" when there was
/// more.
std::string quoted_part(std::string_view text);

/// "; did you mean X?" for the one of `known` that is nearest to `word`, or nothing.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const EditMatcher matcher(word);
  std::size_t nearest_distance = kEditBoundMax + 1;
  std::string_view nearest;
  for (const std::string_view each : known) {
    const std::size_t distance = matcher.distance(each);
    if (distance <= matcher.bound() && distance < nearest_distance) {
      nearest_distance = distance;
      nearest = each;
    }
  }
  return nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace bmad_mem
