// dialogue.hpp - the messages of a conversation, in the order in which they were said.
//
// Pure: lines of logs in, messages out. A message of a sub-agent carries one of these, true:
// `metadata.sidechain`, `metadata.isSidechain`, `context.is_sidechain`, `context.isSidechain`,
// `isSidechain`, `sidechain`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/summary.hpp"

namespace bmad_mem {

struct DialogueMessage {
  std::string id;
  Timestamp at{};
  std::string role;
  std::string content;
  /// What the message says of itself (`metadata.tokens`, `tokens`), else estimate_tokens().
  std::size_t tokens = 0;
  bool is_sidechain = false;
  bool is_sensitive = false;
  std::optional<Timestamp> expires_at = {};
};

/// The messages in `lines`, entries of a conversation's log in its order, each where it was first
/// said, with what its last version says. Lines that are no entries are passed over.
std::vector<DialogueMessage> read_dialogue(std::span<const std::string_view> lines);

/// When tools were used: the times of the events of kind tool_use in `lines`, those of sub-agents
/// left out, sorted.
std::vector<Timestamp> read_tool_uses(std::span<const std::string_view> lines);

// A conversation made short without a model: its summary, and what came
// after it word for word.

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
