// message_sentences.hpp - what somebody says in a message, sentence by sentence: without code,
// quotations, headings, and what a host program has put in between.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

struct MessageSentence {
  std::string text;  ///< On one line, single blanks, never empty; at most kSentenceSizeMax bytes.
  bool is_question = false;
};

/// What is longer is no sentence: its front is enough to see what it is about.
inline constexpr std::size_t kSentenceSizeMax = 4000;

/// The sentences of `message`, UTF-8, in order. Left out: fenced and indented code, lines that end
/// as code does, lines quoted with '>', headings, tables, and <tag> ... </tag> blocks that begin a
/// line (hosts put reminders and outputs of commands into messages that way), except where the
/// tag's name says that a user wrote it. Time is linear in the size of `message`.
std::vector<MessageSentence> message_sentences(std::string_view message);

}  // namespace bmad_mem
