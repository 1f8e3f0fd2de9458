// dialogue_act.hpp - what a message does in a conversation: whether it states anything, or only
// asks, agrees or announces.
//
//   "yes, go on"                                   is_dialogue_only()
//   "Can you run the tests? Then commit."          states_nothing(): it asks
//   "Let me check the configuration."              states_nothing() of the assistant: it announces
//   "The tests need Redis. Can you start it?"      states something
//
// By word lists (words/) for English, German, French, Spanish, Chinese and Japanese; in other
// languages only question marks tell.
//
// Threads: pure.
#pragma once

#include <string_view>

#include "search/entry_columns.hpp"

namespace bmad_mem {

/// Whether `text`, UTF-8, consists of words that name nothing a text could be about: "yes", "go
/// on", "1". A text without words does, too.
bool is_dialogue_only(std::string_view text);

/// Whether `text` ends with a question mark, or begins with a word that begins a question.
bool asks_question(std::string_view text);

/// Whether no sentence of the message states anything: each asks for something, or is
/// is_dialogue_only(); of the assistant, each announces something or asks. Code states something.
/// Always false without a role.
bool states_nothing(std::string_view text, EntryRole role);

/// Whether `token` says nothing of what a sentence states: a function word of `language` or of
/// those above, or a word as in is_dialogue_only().
bool is_filler(std::string_view token, std::string_view language);

/// Whether `token`, a token's text, says that something becomes another: "now", "moved".
bool is_change_word(std::string_view token);

/// Whether `token`, a token's text, says little of what a text is about: it belongs to any work on
/// software ("test", "file"), is one letter, a number below 1,000, or Japanese grammar.
bool is_work_word(std::string_view token);

}  // namespace bmad_mem
