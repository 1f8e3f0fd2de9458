// agent_memory.hpp - the memory as one agent sees it while it works in a session.
//
//   auto access = bmad_mem::read_workflow("workflow.yaml");
//   auto memory = bmad_mem::MemoryManager::open({.root = root, .access = *access});
//   bmad_mem::AgentMemory mine(*memory, {.agent_id = "architect", .session_id = session});
//   auto talk = mine.get_conversation_context(5);
//   auto decisions = mine.get_relevant_decisions("database");
//
// The interface of session-memory-smp, 8.1; MemoryManager and Knowledge have the rest. What the
// agent's workflow does not allow is E_ACCESS_DENIED.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entries.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A message of the user and all that was said until the next one.
struct ConversationTurn {
  std::vector<Entry> messages;  ///< Oldest first; the first is the user's, but for the first turn.
};

struct AgentMemoryOptions {
  std::string agent_id;    ///< Who records: fills in agent_id, made_by and discovered_by.
  std::string session_id;  ///< Where it records and whose conversation it reads.
};

class AgentMemory {
 public:
  /// `memory` must outlive this.
  AgentMemory(MemoryManager& memory, AgentMemoryOptions options);

  /// The last `turn_count` turns of the session, oldest first. Errors: as MemoryManager::list().
  [[nodiscard]] Result<std::vector<ConversationTurn>> get_conversation_context(
      std::size_t turn_count) const;
  /// Decisions about `topic`, of all sessions, best first. Errors: as MemoryManager::query().
  [[nodiscard]] Result<std::vector<Hit>> get_relevant_decisions(std::string_view topic,
                                                                std::size_t limit = 10) const;

  // Each returns the id of the entry, durable. Errors: as MemoryManager's calls.

  Result<std::string> record_decision(DecisionRecord entry);
  Result<std::string> record_finding(FindingRecord entry);

 private:
  MemoryManager* memory_;
  AgentMemoryOptions options_;
};

}  // namespace bmad_mem
