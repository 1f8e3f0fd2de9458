// retrieval_plan.hpp - how the messages of a data set become entries of our store.
//
// Where at least one session has several messages, they are talk: a message becomes a conversation
// entry, and each session of the data one of ours. Otherwise they are documents, such as commits:
// events, which belong to no conversation. Nothing else is looked at, no name least of all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "retrieval_data.hpp"

namespace bmad_mem::bench {

struct PlannedSession {
  std::string id;                  ///< As our rules for session ids want it; unique in the plan.
  std::vector<std::string> lines;  ///< Entries as JSON objects, complete but for what we fill in.
};

struct EntryPlan {
  EntryType type = EntryType::kConversation;
  std::vector<PlannedSession> sessions;
  /// The id of an entry -> the index of its message. Ids are those of the data where all of a store
  /// go with our rules and differ; otherwise they are made.
  std::unordered_map<std::string, std::size_t> messages;
  std::size_t shortened = 0;  ///< Texts that were cut since a line takes no more.
};

/// Whether some session of `store` has several messages.
bool is_conversation(const MessageStore& store);

/// A session that has `session_bytes` of lines is continued in another one, since a session of our
/// store is limited; the conversation stays the same.
EntryPlan plan_entries(const MessageStore& store, std::size_t session_bytes = 8'000'000);

/// Of the latest message; nothing when no message has one.
std::optional<Timestamp> latest_time(const MessageStore& store);

}  // namespace bmad_mem::bench
