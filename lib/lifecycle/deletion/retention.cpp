#include "lifecycle/retention.hpp"

#include <chrono>

namespace bmad_mem {

std::int64_t retention_days(EntryType type, const RetentionDays& days) {
  switch (type) {
    case EntryType::kConversation:
      return days.conversation;
    case EntryType::kDecision:
      return days.decision;
    case EntryType::kFinding:
      return days.finding;
    case EntryType::kPreference:
      return days.preference;
    case EntryType::kFact:
      return days.fact;
    case EntryType::kEvent:
      return days.event;
    case EntryType::kAgentState:
      return days.agent_state;
    case EntryType::kArtifact:
      return days.artifact;
  }
  return 0;
}

std::optional<Timestamp> expires_at(EntryType type, Timestamp timestamp, bool pinned,
                                    const RetentionDays& days) {
  const std::int64_t kept = retention_days(type, days);
  if (pinned || kept == 0) {
    return std::nullopt;
  }
  return timestamp + std::chrono::days(kept);
}

std::optional<Timestamp> first_expiry(Timestamp created_at, const RetentionDays& days) {
  std::optional<Timestamp> first;
  for (const EntryType type : kEntryTypes) {
    const std::optional<Timestamp> end = expires_at(type, created_at, false, days);
    if (end && (!first || *end < *first)) {
      first = end;
    }
  }
  return first;
}

}  // namespace bmad_mem
