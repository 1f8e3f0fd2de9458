// retrieval_data.hpp - messages and questions about them, read from files of JSON lines.
//
//   corpus.jsonl    {"store":"a","id":"D1:1","seq":0,"ts":"2023-05-08T13:56:00","speaker":"Ann",
//                    "session":"S1","text":"Hello!"}
//   queries.jsonl   {"store":"a","id":"q1","text":"Who said hello?","category":"greetings","ts":"",
//                    "relevant":["D1:1"]}
//
// Needed are `id` and `text`; what else is missing is empty, and what else is there is passed over.
// Each `store` is a memory of its own. Ids may be strings or whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

namespace bmad_mem::bench {

struct Message {
  std::string id;
  std::string speaker;  ///< May be empty; so may the session.
  std::string session;
  std::string text;
  std::optional<Timestamp> time;
  std::optional<std::int64_t> sequence;
};

/// The messages of one memory, in order: by `seq` where all have one, as in the file otherwise.
struct MessageStore {
  std::string name;
  std::vector<Message> messages;
};

struct Question {
  std::string store;
  std::string id;
  std::string text;
  std::string category;
  std::optional<Timestamp> time;      ///< When it is asked.
  std::vector<std::string> relevant;  ///< Ids of messages, each once; may be empty.
};

struct RetrievalData {
  std::vector<MessageStore> stores;  ///< As they first occur.
  std::vector<Question> questions;   ///< As in the file.
  /// What is odd and does not stand in the way, for people.
  std::vector<std::string> warnings;
};

/// Reads corpus.jsonl and queries.jsonl in `folder`. Throws E_STORAGE_IO when one is not there, and
/// E_INVALID_FORMAT with path, line and field for a line that is no such object.
RetrievalData read_retrieval_data(const std::string& folder);

/// A time as data sets write it: RFC 3339, the same without a zone (then UTC), with a blank for the
/// 'T', a date alone, or seconds or milliseconds since 1970. Nothing when it is none of these.
std::optional<Timestamp> lenient_time(JsonValue value);

// How the messages of a data set become entries of our store.
//
// Where at least one session has several messages, they are talk: a message becomes a conversation
// entry, and each session of the data one of ours. Otherwise they are documents, such as commits:
// events, which belong to no conversation. Nothing else is looked at, no name least of all.

struct PlannedSession {
  std::string id;                  ///< As our rules for session ids want it; unique in the plan.
  std::vector<std::string> lines;  ///< Entries as JSON objects, complete but for what we fill in.
  std::vector<std::size_t> messages;  ///< Their indexes in the store.
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

EntryPlan plan_entries(const MessageStore& store);

/// Of the latest message; nothing when no message has one.
std::optional<Timestamp> latest_time(const MessageStore& store);

/// A slip of the finger in a question, the same in each run.
class SlipMaker {
 public:
  /// Counts in how many messages of `store` each word stands.
  explicit SlipMaker(const MessageStore& store);

  /// `question` with two neighbouring letters swapped inside its rarest word: of those with four
  /// letters or more that some message holds, the one that the fewest hold; the longer, then the
  /// first of several. Never its first letter. As it is when it has no such word.
  [[nodiscard]] std::string slipped(std::string_view question) const;

 private:
  std::unordered_map<std::string, std::uint32_t> counts_;
};

}  // namespace bmad_mem::bench
