// word_list.hpp - a list of words that is compiled in: the files words/*.txt of a room.
//
//   lib/ROOM/words/about_words.txt ──► embed_words.cmake ──► kAboutWords in "ROOM_words.hpp"
//
// One text, so that the program has no thousands of pointers to set when it starts. A look-up takes
// about 50 instructions.
//
// Threads: constant.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>

namespace bmad_mem {

class WordList {
 public:
  constexpr WordList() = default;

  /// `text`: a word a line, in the order of their bytes. `begins`: where each begins, and where one
  /// behind the last would. Both must outlive the object.
  constexpr WordList(std::string_view text, std::span<const std::uint16_t> begins)
      : text_(text), begins_(begins) {
    for (std::size_t i = 0; i < size(); ++i) {
      const std::string_view word = (*this)[i];
      size_max_ = std::max(size_max_, word.size());
      for (std::size_t group = group_of(word) + 1; group < groups_.size(); ++group) {
        ++groups_[group];
      }
    }
  }

  [[nodiscard]] constexpr std::size_t size() const {
    return begins_.empty() ? 0 : begins_.size() - 1;
  }
  [[nodiscard]] constexpr std::string_view operator[](std::size_t i) const {
    assert(i < size());
    return {text_.data() + begins_[i], begins_[i + 1] - begins_[i] - std::size_t{1}};
  }
  [[nodiscard]] constexpr bool is_sorted() const {
    for (std::size_t i = 1; i < size(); ++i) {
      if ((*this)[i] <= (*this)[i - 1]) {
        return false;
      }
    }
    return true;
  }

  /// Whether `word` is one of them.
  [[nodiscard]] constexpr bool contains(std::string_view word) const {
    if (word.empty() || word.size() > size_max_) {
      return false;
    }
    const std::size_t group = group_of(word);
    std::size_t first = groups_[group];
    std::size_t last = groups_[group + 1];
    while (first < last) {
      const std::size_t middle = (first + last) / 2;
      const int order = (*this)[middle].compare(word);
      if (order == 0) {
        return true;
      }
      (order < 0 ? first : last) = order < 0 ? middle + 1 : middle;
    }
    return false;
  }

  /// All of them, as long as the list is there.
  [[nodiscard]] constexpr auto words() const {
    return std::views::iota(std::size_t{0}, size()) |
           std::views::transform([this](std::size_t i) { return (*this)[i]; });
  }

  /// Whether `is` says so of one of them.
  template <typename Is>
  [[nodiscard]] constexpr bool any(const Is& is) const {
    return std::ranges::any_of(words(), is);
  }

 private:
  static constexpr std::size_t kGroupCount = 28;

  /// By the first byte: digits, signs and capitals, each small letter of ASCII, what is beyond.
  static constexpr std::size_t group_of(std::string_view word) {
    const auto first = static_cast<unsigned char>(word.front());
    return first < 'a' ? 0U : first > 'z' ? kGroupCount - 1 : first - 'a' + std::size_t{1};
  }

  std::string_view text_;
  std::span<const std::uint16_t> begins_;
  std::size_t size_max_ = 0;                             // Of a word, in bytes.
  std::array<std::uint16_t, kGroupCount + 1> groups_{};  // Where each begins, and the end.
};

/// Where each word of `kText` begins, and where one behind the last would.
template <const std::string_view& kText>
inline constexpr auto kWordBegins = [] {
  static_assert(kText.size() < UINT16_MAX);
  std::array<std::uint16_t, std::ranges::count(kText, '\n') + 2> begins{};
  std::size_t begin = 0;
  for (std::uint16_t& each : begins) {
    each = static_cast<std::uint16_t>(begin);
    begin = std::min(kText.find('\n', begin), kText.size()) + 1;
  }
  begins.back() = static_cast<std::uint16_t>(kText.size() + 1);
  return begins;
}();

/// The list of `kText`, whose words embed_words.cmake has sorted.
template <const std::string_view& kText>
consteval WordList words_of() {
  constexpr WordList kWords(kText, kWordBegins<kText>);
  static_assert(kWords.is_sorted());
  return kWords;
}

}  // namespace bmad_mem
