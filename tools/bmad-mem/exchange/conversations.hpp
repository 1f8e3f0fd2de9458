// conversations.hpp - which conversation a process belongs to, as its host's hooks have noted it.
//
//   claude (4711) ──┬── sh ── bmad-mem hook   notes ROOT/.lock.hosts/4711-STARTED: "cc-18a6…"
//                   └── bmad-mem mcp          looks there: what it stores belongs to that session
//
// A note is local to the machine and for the session's name only. The next one removes those of
// hosts that have ended. Only Linux has /proc: elsewhere nothing is noted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/memory_manager.hpp"

namespace bmad_mem::cli {

/// Notes that the host of this process talks in the session now. What goes wrong with it stops
/// nothing.
void note_conversation(const std::string& root, std::string_view session_id);

/// The session in which the host of this process talks; empty when none is noted.
std::string noted_conversation(const std::string& root);

/// What the person said last in the session; nothing where that is not recorded.
std::optional<Entry> last_prompt(const MemoryManager& memory, const std::string& session_id);

}  // namespace bmad_mem::cli
