// summary_prompt.hpp - what a writer of summaries gets.
//
//   instructions
//   =====1f3870be= summary.md =====      the marks hold a key that stands nowhere between them,
//   …                                    so that no message can close them
//   =====1f3870be= messages =====
//   [user, 2026-01-11T10:00:00Z]
//   …
//   =====1f3870be= end =====
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "knowledge/dialogue.hpp"

namespace bmad_mem {

struct WriterPrompt {
  std::string text;
  std::string up_to_id;  ///< Of the last message in it.
  std::size_t messages = 0;
  std::size_t messages_left = 0;  ///< That did not fit.
  std::size_t tokens = 0;         ///< Of all of it.
};

/// Most that the messages of one prompt may be; what is beyond comes next time.
inline constexpr std::size_t kPromptTokensMax = 60'000;
/// A longer message is cut in its middle.
inline constexpr std::size_t kPromptMessageSizeMax = 16'000;

/// The prompt for the summary `body` and `messages`, of which there is at least one: the same bytes
/// for the same input. What is marked as sensitive is left out, and said to be.
WriterPrompt summary_prompt(std::string_view body, std::span<const DialogueMessage> messages);

}  // namespace bmad_mem
