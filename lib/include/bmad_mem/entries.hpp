// entries.hpp - the eight types of entries as C++ programs write them.
//
// Empty members are left out of the line. What the structs don't name goes into `extra`: JSON
// members without braces, such as "\"ticket\":42,\"branch\":\"main\"", kept byte for byte.
// Which members are required is said at each; the store fills in id, timestamp and decay_factor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

/// Where an entry's content came from and how far it is to be trusted.
struct EntrySource {
  std::string kind;                  ///< user, assistant, tool, web or import.
  std::optional<double> trust = {};  ///< 0 to 1.
};

/// What every entry may carry.
struct EntryCommon {
  std::string id;  ///< Kept when given: letters, digits and _.:@+=~-, at most 128.
  std::optional<Timestamp> timestamp = {};
  std::vector<std::string> tags = {};
  bool pinned = false;
  std::optional<Timestamp> expires_at;  ///< Until when it is valid.
  bool sensitive = false;
  EntrySource source;
  std::string extra;
};

struct ConversationEntry {
  std::string role;     ///< Required: user, assistant, system or tool.
  std::string content;  ///< Required.
  std::string agent_id;
  std::string conversation_id;
  std::string parent_message_id;
  std::string topic;
  std::optional<std::int64_t> tokens;
  std::optional<double> processing_time_ms;
  std::vector<std::string> references;  ///< Ids of entries.
  EntryCommon common;
};

struct Alternative {
  std::string option;
  std::string rejected_reason;
};

struct DecisionRecord {
  std::string decision;  ///< Required.
  std::string made_by;
  std::vector<std::string> approved_by;
  std::string rationale;
  std::vector<Alternative> alternatives_considered;
  std::string impact;                      ///< low, medium, high or critical.
  std::vector<std::string> conversations;  ///< Ids it refers to.
  std::vector<std::string> findings;       ///< Ids it refers to.
  EntryCommon common;
};

struct FindingRecord {
  std::string description;  ///< Required.
  std::string discovered_by;
  std::string category;
  std::string severity;  ///< info, low, medium, high or critical.
  std::string evidence;
  std::string recommendation;
  std::string status;  ///< open (when empty), acknowledged, in_progress, resolved or dismissed.
  EntryCommon common;
};

struct UserPreference {
  std::string key;    ///< Required.
  std::string value;  ///< Required.
  std::string category;
  std::string context = {};
  std::optional<double> confidence;       ///< 0 to 1.
  std::vector<std::string> learned_from;  ///< Sessions.
  EntryCommon common;
};

struct FactEntry {
  std::string content;  ///< Required.
  std::string agent_id = {};
  std::string category;
  std::string key;
  std::optional<double> confidence;  ///< 0 to 1.
  std::vector<std::string> learned_from;
  EntryCommon common;
};

struct EventEntry {
  std::string kind;  ///< Required, such as tool_use.
  std::string agent_id;
  std::string tool;
  std::string path;
  std::string content;
  std::string metadata_json;  ///< A JSON object.
  EntryCommon common;
};

struct AgentStateEntry {
  std::string agent_id;    ///< Required.
  std::string state_json;  ///< Required: any JSON value but null.
  EntryCommon common;
};

struct ArtifactEntry {
  std::string path;   ///< Required.
  std::string title;  ///< Required.
  std::string agent_id;
  std::string snippet;
  EntryCommon common;
};

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
