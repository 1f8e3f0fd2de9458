// entry_type.hpp - the eight types of entries, their names and where each is kept.
//
//   type          log                  id         created with the session
//   conversation  conversation.jsonl   msg-…      yes
//   decision      decisions.jsonl      dec-…      yes
//   finding       findings.jsonl       finding-…  yes
//   preference    preferences.jsonl    pref-…     yes
//   fact          facts.jsonl          fact-…     on first use
//   event         events.jsonl         evt-…      on first use
//   agent_state   agent-states.jsonl   state-…    on first use
//   artifact      artifacts.jsonl      art-…      on first use
//
// A new type is an enumerator here and its rows in lib/model/entry_types.cpp; its schema and all
// interfaces follow from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The values are positions in tables and never stored: logs are told apart by their names.
enum class EntryType : std::uint8_t {
  kConversation,
  kDecision,
  kFinding,
  kPreference,
  kFact,
  kEvent,
  kAgentState,
  kArtifact,
};

inline constexpr std::size_t kEntryTypeCount = 8;

/// Every type, in the order of the enum, which is the order of lists and statistics.
inline constexpr std::array<EntryType, kEntryTypeCount> kEntryTypes = {
    EntryType::kConversation, EntryType::kDecision, EntryType::kFinding,    EntryType::kPreference,
    EntryType::kFact,         EntryType::kEvent,    EntryType::kAgentState, EntryType::kArtifact,
};

/// What is known of a type as a whole. The views are static.
struct EntryTypeInfo {
  std::string_view name;      ///< "agent_state": in JSON, on the command line, in `type:` filters.
  std::string_view plural;    ///< "agent_states": in counts and in lists of references.
  std::string_view log_name;  ///< "agent-states": the log without ".jsonl"; "conversation" for one.
  std::string_view log_file;  ///< "agent-states.jsonl".
  std::string_view id_prefix;         ///< "state-".
  bool created_with_session = false;  ///< Whether a new session gets an empty log of this type.
  double importance = 0.5;            ///< Before boosts, see importance_of().
  /// Default rate of exponential decay, per day; the config may name another.
  double decay_rate_per_day = 0.1;
};

const EntryTypeInfo& entry_type_info(EntryType type);

/// The singular name: "agent_state".
std::string_view entry_type_name(EntryType type);

/// Takes singular, plural and log name, with '-' or '_' between words: "decision", "decisions",
/// "agent-states", "agent_state". Nothing for anything else; case matters.
std::optional<EntryType> try_parse_entry_type(std::string_view text);

/// As try_parse_entry_type. Errors: E_INVALID_FORMAT with field "type", listing the types and
/// guessing which one was meant.
Result<EntryType> parse_entry_type(std::string_view text);

/// The type whose log is the file of this name ("agent-states.jsonl"), without any folder.
std::optional<EntryType> entry_type_of_log_file(std::string_view file_name);

/// The type whose ids start like `id` ("dec-01k…"): a good guess where to look first, and no more,
/// since callers may give entries ids of their own.
std::optional<EntryType> entry_type_of_id(std::string_view id);

}  // namespace bmad_mem
