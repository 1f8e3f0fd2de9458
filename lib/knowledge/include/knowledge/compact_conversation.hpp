// compact_conversation.hpp - a conversation made short without a model: its summary, and what came
// after it word for word.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "bmad_mem/summary.hpp"
#include "knowledge/dialogue.hpp"

namespace bmad_mem {

struct ConversationToCompact {
  bool enabled = true;
  /// Of summary.md; nothing when there is none.
  std::optional<std::string_view> summary = {};
  std::string_view last_summarized_id = {};
  std::span<const DialogueMessage> messages = {};  ///< In order, of the main conversation.
  std::size_t max_tokens = 0;                      ///< 0: no threshold.
};

/// Without a last summarized id (a resumed session) it takes the newest messages that fit.
CompactedConversation compact_conversation(const ConversationToCompact& input);

}  // namespace bmad_mem
