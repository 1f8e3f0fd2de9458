#include "cue_matcher.hpp"

#include <algorithm>
#include <array>

#include "preference_cues.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kGapMax = 8;
constexpr std::size_t kSubjectMax = 6;

/// "adding", and not "thing" or "string".
bool is_gerund(std::string_view word) {
  return word.size() > 5 && word.ends_with("ing") &&
         !is_one_of("anything|everything|nothing|something|string|spring|during|warning|morning",
                    word);
}

}  // namespace

bool is_one_of(std::string_view choices, std::string_view word) {
  while (!word.empty() && !choices.empty()) {
    const std::size_t end = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, end) == word) {
      return true;
    }
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

std::optional<std::size_t> CueMatcher::end_of(std::string_view cue, std::size_t at) const {
  if (cue.empty()) {
    return at;
  }
  const std::size_t size = std::min(cue.find(' '), cue.size());
  const std::string_view element = cue.substr(0, size);
  const std::string_view rest = cue.substr(std::min(size + 1, cue.size()));
  switch (element.front()) {
    case '?':
      if (is_one_of(element.substr(1), word(at))) {
        if (const auto end = end_of(rest, at + 1)) {
          return end;
        }
      }
      return end_of(rest, at);
    case '*':
      return end_after_gap(rest, at, 0, kGapMax, false);
    case '!': {
      const bool fits = at < words_.size() && !is_one_of(element.substr(1), word(at));
      // What follows looks at this word itself; at the end of a cue it is the last word.
      return fits ? end_of(rest, rest.empty() ? at + 1 : at) : std::nullopt;
    }
    case '~':
      return is_one_of(element.substr(1), word(at)) ? std::nullopt : end_of(rest, at);
    case ':':
      return at > 0 && words_[at - 1].ends_clause ? end_of(rest, at) : std::nullopt;
    case '@':
      if (element == "@subject") {
        return end_after_gap(rest, at, 1, kSubjectMax, true);
      }
      return is_of_kind(element, at) ? end_of(rest, at + 1) : std::nullopt;
    default:
      break;
  }
  const bool fits = at < words_.size() && (element == "." || is_one_of(element, word(at)));
  return fits ? end_of(rest, at + 1) : std::nullopt;
}

bool CueMatcher::is_instruction(std::size_t at) const {
  static constexpr std::array<std::string_view, 10> kForms = {
      "@verb",
      "don't|always|never|please|only @verb",
      "do not @verb",
      "let's .",
      "no !problem|worries|idea|need|way|thanks|longer",
      "stop @ing",
      "i|we want|prefer|expect|need",
      "i'd prefer|like|rather",
      "you|we should|must|need|have|shall",
      "you|we ?will|always|never|only @verb",
  };
  return std::ranges::any_of(kForms, [&](auto form) { return end_of(form, at).has_value(); });
}

std::string_view CueMatcher::word(std::size_t at) const {
  return at < words_.size() ? std::string_view(words_[at].text) : std::string_view();
}

bool CueMatcher::is_of_kind(std::string_view element, std::size_t at) const {
  return element == "@ing"     ? is_gerund(word(at))
         : element == "@state" ? is_required_state(word(at))
                               : is_verb(at);
}

/// "run", but not the one of "run into".
bool CueMatcher::is_verb(std::size_t at) const {
  return is_instruction_verb(word(at)) &&
         !is_one_of("into|across|up|out|down|forever|sense|it's|that's|is|was|has", word(at + 1));
}

/// Whether the word at `at` can't be part of what a rule is about.
bool CueMatcher::is_no_subject(std::size_t at, bool is_first) const {
  static constexpr std::string_view kNoSubjects =
      "it|that|this|there|you|he|she|they|we|i|if|when|because|who|what|which|someone|somebody|"
      "one|to|but|so|as|think|guess|know|believe|thought|for|with|from|must|should|and|or|only|"
      "like|also|your|my|his|her|their";
  return is_one_of(kNoSubjects, word(at)) || words_[at].ends_clause ||
         (is_first && is_gerund(word(at)));
}

std::optional<std::size_t> CueMatcher::end_after_gap(std::string_view rest, std::size_t at,
                                                     std::size_t min, std::size_t max,
                                                     bool is_subject) const {
  for (std::size_t count = 0; count <= max && at + count <= words_.size(); ++count) {
    if (count > 0 && is_subject && is_no_subject(at + count - 1, count == 1)) {
      return std::nullopt;
    }
    if (count >= min) {
      if (const auto end = end_of(rest, at + count)) {
        return end;
      }
    }
  }
  return std::nullopt;
}

}  // namespace bmad_mem
