// entry_text.hpp - entries as C++ structs to JSON objects.
#pragma once

#include <string>

#include "bmad_mem/entries.hpp"

namespace bmad_mem {

// Each returns one JSON object with the members that are not empty. What is missing or wrong is
// found by the validator, as for JSON that comes from outside.
std::string to_json(const ConversationEntry& entry);
std::string to_json(const DecisionRecord& entry);
std::string to_json(const FindingRecord& entry);
std::string to_json(const UserPreference& entry);
std::string to_json(const FactEntry& entry);
std::string to_json(const EventEntry& entry);
std::string to_json(const AgentStateEntry& entry);
std::string to_json(const ArtifactEntry& entry);

}  // namespace bmad_mem
