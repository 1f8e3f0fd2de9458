#include "bmad_mem/agent_memory.hpp"

#include <algorithm>
#include <utility>

#include "bmad_mem/json_parser.hpp"

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
  std::ranges::reverse(turns);
  return turns;
}

Result<std::vector<Hit>> AgentMemory::find(EntryType type, std::string_view topic,
                                           std::size_t limit) const {
  Query query;
  query.text = topic;
  query.text_is_prose = true;
  query.filter.types = {type};
  query.filter.limit = limit;
  return memory_->query(query);
}

Result<std::vector<Hit>> AgentMemory::get_relevant_decisions(std::string_view topic,
                                                             std::size_t limit) const {
  return find(EntryType::kDecision, topic, limit);
}

Result<std::vector<Hit>> AgentMemory::get_relevant_findings(std::string_view topic,
                                                            std::size_t limit) const {
  return find(EntryType::kFinding, topic, limit);
}

Result<Context> AgentMemory::get_context(std::string_view task) const {
  ContextOptions options;
  options.agent_id = options_.agent_id;
  options.task = task;
  return Knowledge(*memory_).context(options);
}

Result<std::optional<Entry>> AgentMemory::get_state() const {
  return memory_->agent_state(options_.agent_id);
}

Result<std::string> AgentMemory::record_message(ConversationEntry entry) {
  if (entry.agent_id.empty()) {
    entry.agent_id = options_.agent_id;
  }
  return memory_->add_conversation(options_.session_id, entry);
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

Result<std::string> AgentMemory::set_state(std::string_view state_json) {
  AgentStateEntry entry;
  entry.agent_id = options_.agent_id;
  entry.state_json = state_json;
  return memory_->set_agent_state(options_.session_id, entry);
}

Result<Remembered> AgentMemory::remember(RememberParams params) {
  if (params.agent_id.empty()) {
    params.agent_id = options_.agent_id;
  }
  if (params.session_id.empty()) {
    params.session_id = options_.session_id;
  }
  return Knowledge(*memory_).remember(params);
}

}  // namespace bmad_mem
