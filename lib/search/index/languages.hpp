// languages.hpp - what the analyzer knows of each language that has stems, and its stop words.
//
// Threads: pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bmad_mem {

struct Language {
  /// The names that Snowball knows it by, apart by blanks; the first one is ours.
  std::string_view names;
  /// Its articles and pronouns are elided before a vowel: l'eau, dell'acqua.
  bool elides = false;
  /// Its stemmer leaves the first two letters of a word of three or more alone.
  bool keeps_beginnings = false;
  /// Its stemmer has no rules for accents, so they can go first. Elsewhere they are needed: parlé
  /// is parl, and so is parler, but parlee is no French.
  bool folds_first = false;
  /// Stems are stemmed again until they stay: décidée is décid, and decidee only decide. Of 58
  /// French words 54 meet themselves without accents so, else 47; of 22 Hungarian ones 22, else 18.
  /// In the other languages it gains nothing, or takes too much away.
  bool stems_again = false;

  /// "german" of "german de deu ger".
  [[nodiscard]] constexpr std::string_view name() const { return names.substr(0, names.find(' ')); }
};

/// Nothing where Snowball knows the language, and we don't.
const Language* find_language(std::string_view name);

/// The stop words of a language: one text, so that the program has no thousands of pointers to set
/// when it starts. A look-up takes about 50 instructions.
class StopWords {
 public:
  constexpr StopWords() = default;

  /// `text`: words apart by one blank, in the order of their bytes. `begins`: where each begins,
  /// and where one behind the last would. Both must outlive the object.
  constexpr StopWords(std::string_view text, std::span<const std::uint16_t> begins)
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
  /// Whether `word`, a token's text, is one of them.
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

 private:
  static constexpr std::size_t kGroupCount = 28;

  /// By the first byte: digits and signs, each letter of ASCII, what is beyond.
  static constexpr std::size_t group_of(std::string_view word) {
    const auto first = static_cast<unsigned char>(word.front());
    return first < 'a' ? 0U : first > 'z' ? kGroupCount - 1 : first - 'a' + std::size_t{1};
  }

  std::string_view text_;
  std::span<const std::uint16_t> begins_;
  std::size_t size_max_ = 0;                             // Of a word, in bytes.
  std::array<std::uint16_t, kGroupCount + 1> groups_{};  // Where each begins, and the end.
};

/// Of a language under our name; none for one that we don't know.
const StopWords& stop_words_of(std::string_view language);

}  // namespace bmad_mem
