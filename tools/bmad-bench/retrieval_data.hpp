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

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"

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

/// Reads corpus.jsonl and queries.jsonl in `folder`. Errors: E_STORAGE_IO when one is not there;
/// E_INVALID_FORMAT with path, line and field for a line that is no such object.
Result<RetrievalData> read_retrieval_data(const std::string& folder);

/// A time as data sets write it: RFC 3339, the same without a zone (then UTC), with a blank for the
/// 'T', a date alone, or seconds or milliseconds since 1970. Nothing when it is none of these.
std::optional<Timestamp> lenient_time(JsonValue value);

}  // namespace bmad_mem::bench
