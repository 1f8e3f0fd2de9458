// utf8.cpp - finds valid UTF-8, cuts it between characters and repairs the rest.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

/// Size of the valid character at the front of `text` (1 to 4), or 0 when there is none. Table 3-7
/// of the Unicode standard: the range of the second byte depends on the first.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return text.empty() ? 0 : 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return continues(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

constexpr std::size_t kWordSizeMax = 64;

}  // namespace

std::size_t utf8_valid_size(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t word = 0;
    if (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080U) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const std::size_t size = character_size(text.substr(at));
    if (size == 0) {
      return at;
    }
    at += size;
  }
  assert(at == text.size());
  return at;
}

std::string_view utf8_prefix(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) {
    return text;
  }
  std::size_t size = size_max;
  while (size > 0 && is_continuation(text[size])) {
    --size;
  }
  return text.substr(0, size);
}

std::string utf8_repaired(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0 || text.front() == '\0') {
      out += kReplacement;
      text.remove_prefix(1);
    } else {
      out += text.substr(0, size);
      text.remove_prefix(size);
    }
  }
  return out;
}

// Optimal string alignment of two words, in three rows of its table.

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > kWordSizeMax || b.size() > kWordSizeMax) {
    return limit + 1;
  }
  // Optimal string alignment, three rows of its table at a time.
  using Row = std::array<std::size_t, kWordSizeMax + 1>;
  Row before{};
  Row previous{};
  Row current{};
  for (std::size_t j = 0; j <= b.size(); ++j) {
    previous[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = previous;
    previous = current;
  }
  assert(previous[b.size()] <= std::max(a.size(), b.size()));
  return std::min(previous[b.size()], limit + 1);
}

}  // namespace bmad_mem
