// agent_memory.cpp - reads and writes a memory for one agent in one session.
#include "bmad_mem/agent_memory.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "bmad_mem/json.hpp"

namespace bmad_mem {

AgentMemory::AgentMemory(MemoryManager& memory, AgentMemoryOptions options)
    : memory_(&memory), options_(std::move(options)) {}

Result<std::vector<ConversationTurn>> AgentMemory::get_conversation_context(
    std::size_t turn_count) const {
  EntryFilter filter;
  filter.sessions = {options_.session_id};
  filter.types = {EntryType::kConversation};
  filter.limit = 0;
  BMAD_TRY_ASSIGN(std::vector<Entry> newest_first, memory_->list(filter));
  std::vector<ConversationTurn> turns;
  ConversationTurn turn;
  JsonParser parser;
  const auto close_turn = [&] {
    assert(!turn.messages.empty());
    std::ranges::reverse(turn.messages);
    turns.push_back(std::exchange(turn, {}));
  };
  for (Entry& entry : newest_first) {
    if (turns.size() == turn_count) {
      break;
    }
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    const bool begins_turn = value["role"].string() == "user";
    turn.messages.push_back(std::move(entry));
    if (begins_turn) {
      close_turn();
    }
  }
  if (!turn.messages.empty() && turns.size() < turn_count) {
    close_turn();  // What was said before the user's first word.
  }
  assert(turns.size() <= turn_count);
  std::ranges::reverse(turns);
  return turns;
}

Result<std::vector<Hit>> AgentMemory::get_relevant_decisions(std::string_view topic,
                                                             std::size_t limit) const {
  Query query;
  query.text = topic;
  query.text_is_prose = true;
  query.filter.types = {EntryType::kDecision};
  query.filter.limit = limit;
  return memory_->query(query);
}

Result<std::string> AgentMemory::record_decision(DecisionRecord entry) {
  if (entry.made_by.empty()) {
    entry.made_by = options_.agent_id;
  }
  return memory_->add_decision(options_.session_id, entry);
}

Result<std::string> AgentMemory::record_finding(FindingRecord entry) {
  if (entry.discovered_by.empty()) {
    entry.discovered_by = options_.agent_id;
  }
  return memory_->add_finding(options_.session_id, entry);
}

}  // namespace bmad_mem
