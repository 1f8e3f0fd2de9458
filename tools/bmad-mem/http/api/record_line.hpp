// record_line.hpp - from what a client posts to the line that the engine takes.
//
//   {"type":"tool_use","session_id":"s1","ts":1768125600000,"tool":"bash","workspace":"/p"}
//   event  {"timestamp":"2026-01-11T10:00:00Z","kind":"tool_use","tool":"bash",
//           "metadata":{"workspace":"/p"}}
//
// Members that mean nothing here are kept byte for byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

struct RecordLine {
  EntryType type = EntryType::kConversation;
  std::string session_id;  ///< Empty when the body names none.
  std::string id;          ///< The same.
  Timestamp timestamp{};   ///< As in the line: `now` when the body has none.
  std::string json;        ///< With a timestamp, without type and session_id.
};

/// The type of entries that a record of this type becomes: one of ours, or prompt, assistant,
/// tool_use, tool_result, approval, error. Errors: E_INVALID_QUERY with the nearest.
Result<EntryType> record_type_of(std::string_view name);

/// `raw` is the text of `body`. Errors: E_INVALID_QUERY with field. What the entry itself must have
/// is for the engine to say.
Result<RecordLine> read_record(JsonValue body, std::string_view raw, Timestamp now);
/// The lines of the member "entries" of `body`, all of type `type_name`. Errors: the same, with the
/// number of the entry as line.
Result<std::vector<std::string>> read_batch(JsonValue body, std::string_view raw,
                                            std::string_view type_name, Timestamp now);

}  // namespace bmad_mem::cli
