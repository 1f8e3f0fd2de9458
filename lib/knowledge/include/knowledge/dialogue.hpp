// dialogue.hpp - the messages of a conversation, in the order in which they were said.
//
// Pure: lines of logs in, messages out. A message of a sub-agent carries one of these, true:
// `metadata.sidechain`, `metadata.isSidechain`, `context.is_sidechain`, `context.isSidechain`,
// `isSidechain`, `sidechain`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"

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
};

/// The messages in `lines`, entries of a conversation's log in its order, each where it was first
/// said, with what its last version says. Lines that are no entries are passed over.
std::vector<DialogueMessage> read_dialogue(std::span<const std::string_view> lines);

/// When tools were used: the times of the events of kind tool_use in `lines`, those of sub-agents
/// left out, sorted.
std::vector<Timestamp> read_tool_uses(std::span<const std::string_view> lines);

}  // namespace bmad_mem
