// alike.hpp - entries that say the same, and those that say it with another value.
//
//   "The staging port is 8080"  ---- one word of one differs ---->  "The staging port is 8443 now"
//        said before                                                     leads, being newer
//
// A word is compared unless it is a function word, or says nothing in a conversation ("now"). What
// differs is a value when something both have in common comes before it, the question does not
// name it, and nothing behind it is a number that both have: else the subjects differ.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan.hpp"
#include "search/search.hpp"

namespace bmad_mem {

/// A text as it is compared.
struct ComparedText {
  struct Word {
    std::uint64_t hash = 0;
    bool has_digit = false;
  };
  std::vector<Word> words;  ///< In their order; empty for a text that is too long or too short.
};

/// `text` as it is compared; `language`: of the index.
ComparedText compared_text(std::string_view text, Analyzer& analyzer, std::string_view language);

enum class Likeness : std::uint8_t {
  kNone,
  kSame,        ///< All words are the same.
  kOtherValue,  ///< All but one, or a few side by side, of each.
};

/// `asked`: hashes of the question's words.
Likeness likeness_of(const ComparedText& a, const ComparedText& b,
                     std::span<const std::uint64_t> asked);

/// Orders the first entries of `found`, best first, so that of those with another value the newest
/// leads its group; the others follow it, marked Found::said_before. Of equal messages
/// that state nothing the newest stays in its place, and the others come last of all. Errors: as
/// IndexedSession::line(), with the session in Error::field.
Status lead_with_newest(std::span<IndexedSession* const> sessions, const Plan& plan,
                        std::string_view language, ReadingTools& tools, std::vector<Found>& found);

}  // namespace bmad_mem
