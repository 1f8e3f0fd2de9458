// speakers.hpp - whom a question names: "What did Caroline decide?", "What did I say?"
//
// In a store of up to a dozen participants a participant's name is no word to look for but chooses
// who speaks; in a larger one it is a word, and chooses only when it is capitalised and not the
// first word. "I" and "you" stand for the roles user and assistant. Two people named: nobody is
// chosen. (The measurements are in docs/how-it-works.md.)
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "search/indexed_session.hpp"

namespace bmad_mem {

/// Whom a question is about: at most one of the two is set.
struct Speaker {
  std::string who;                    ///< Entry::who.
  EntryRole role = EntryRole::kNone;  ///< Of a conversation.

  [[nodiscard]] bool is_named() const { return !who.empty() || role != EntryRole::kNone; }
};

/// Finds names in the words of one question.
class SpeakerFinder {
 public:
  explicit SpeakerFinder(std::span<IndexedSession* const> sessions);

  /// Looks at the next word of the question: its token, how it begins in the text, and whether it
  /// is the question's first. Returns whether the word is a name and nothing else.
  bool take(std::string_view token, bool capitalised, bool is_first);

  /// Whether a word, in lower case, is part of a participant's name.
  [[nodiscard]] bool is_name(std::string_view token) const { return parts_.contains(token); }

  /// Who was named by all words taken.
  [[nodiscard]] Speaker speaker() const;

 private:
  // By name, or first name, in lower case; empty where two share it.
  std::map<std::string, std::string, std::less<>> names_;
  std::set<std::string, std::less<>> parts_;  // Of all names, in lower case.
  std::size_t participant_count_ = 0;
  std::set<std::string> named_;
  bool has_roles_ = false;
  bool names_user_ = false;
  bool names_assistant_ = false;
};

}  // namespace bmad_mem
