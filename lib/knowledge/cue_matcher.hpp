// cue_matcher.hpp - whether a cue stands at a place of a sentence; preference_cues.hpp says what
// cues are made of.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "sentence_words.hpp"

namespace bmad_mem {

/// Whether `word` is one of `choices`, which are divided by '|'. The empty word is none.
bool is_one_of(std::string_view choices, std::string_view word);

/// For the words of one sentence, which must outlive it.
class CueMatcher {
 public:
  explicit CueMatcher(const std::vector<SentenceWord>& words) : words_(words) {}

  /// Where `cue` ends that begins at word `at`: the index behind its last word.
  [[nodiscard]] std::optional<std::size_t> end_of(std::string_view cue, std::size_t at) const;

  /// Whether what stands at `at` tells somebody to do something.
  [[nodiscard]] bool is_instruction(std::size_t at) const;

 private:
  [[nodiscard]] std::string_view word(std::size_t at) const;
  [[nodiscard]] bool is_of_kind(std::string_view element, std::size_t at) const;
  [[nodiscard]] bool is_verb(std::size_t at) const;
  [[nodiscard]] bool is_no_subject(std::size_t at, bool is_first) const;
  [[nodiscard]] std::optional<std::size_t> end_after_gap(std::string_view rest, std::size_t at,
                                                         std::size_t min, std::size_t max,
                                                         bool is_subject) const;

  const std::vector<SentenceWord>& words_;
};

}  // namespace bmad_mem
