// alike.hpp - entries that say the same, and those that say it with another value.
//
//   "The staging port is 8080"  ---- one word of one differs ---->  "The staging port is 8443 now"
//        said before                                                     leads, being newer
//
// A word is compared unless it is a function word, says nothing in a conversation ("now"), or says
// that something became another ("moved to"); one that is asked for always is. A value is
//
//   a number or a path, the only one of its text that the other lacks, where both have the same
//   form. Each text may say more: but not instead of a word of the other (in the same place), nor a
//   subject that the question names. Of the texts, or of sentences of them.
//   "The heron service listens on port 7001"       "heron is on port 5432 now"
//
//   or the only words, side by side, that the texts don't share, with something before them and not
//   a number behind them that both have. The question does not name them. They come first where it
//   names all the rest, and the newer text speaks of a change.
//   "Marit looks after heron"                      "From this week on Tomas looks after heron"
//
// With words in sentences, 6 of 100 hits in chats of people were marked: of 29 read, all wrongly.
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
    std::uint32_t shape = 0;  ///< Of a number or a path: numbers of one form have the same.
    bool is_asked = false;    ///< The question has it.
    bool is_subject = false;  ///< The same, and it is no work word.
  };
  std::vector<Word> words;  ///< In their order; empty for a text that is too long or too short.
  /// The same of each sentence with a number or a path, and a word that is asked for.
  std::vector<std::vector<Word>> sentences;
  bool is_change = false;  ///< It says that something became another: "now", "moved to".
};

/// `text` as it is compared; `language`: of the index; `asked`: hashes of the question's words.
ComparedText compared_text(std::string_view text, Analyzer& analyzer, std::string_view language,
                           std::span<const std::uint64_t> asked);

enum class Likeness : std::uint8_t {
  kNone,
  kSame,        ///< All words are the same.
  kOtherValue,  ///< All but a value.
};

/// Of entries, and their times.
Likeness likeness_of(const ComparedText& older, const ComparedText& newer);

/// Orders the first entries of `found`, best first, so that of those with another value the newest
/// leads its group; the others follow it, marked Found::said_before. Of equal messages
/// that state nothing the newest stays in its place, and the others come last of all. Errors: as
/// IndexedSession::line(), with the session in Error::field.
Status lead_with_newest(std::span<IndexedSession* const> sessions, const Plan& plan,
                        std::string_view language, ReadingTools& tools, std::vector<Found>& found);

}  // namespace bmad_mem
