// codex.hpp - importing rollouts of Codex ($CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl).
//
//   record                                becomes
//   session_meta, or the oldest first     nothing: the session's id and folder
//   response_item message, user           conversation, role user
//   response_item message, assistant      conversation, role assistant
//   …_call, web_search_call               event tool_use: tool and a snippet of the arguments
//   …_call_output                         event tool_result: the same, a snippet of the output
//   everything else                       nothing; counted by kind. event_msg repeats the items
//
// The oldest files have bare items instead of {timestamp, type, payload}, and no times but that of
// the first line. Tool events have the call's id, the result's with "-result". Messages have none:
// theirs comes from session, line and text, which is stable because the files only grow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/recent_map.hpp"
#include "exchange/import/record_importer.hpp"
#include "exchange/import/transcript_writer.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file looks like such a rollout.
bool looks_like_codex(std::string_view beginning);

class CodexImport final : public RecordImporter {
 public:
  /// `session_id`: where all goes; empty: into "codex-" and the rollout's own id.
  CodexImport(ImportSink& sink, const std::string& file, const std::string& session_id);

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override;
  Status finish() override { return {}; }

 private:
  /// A response_item, with or without envelope.
  struct Item {
    JsonValue value;
    std::string timestamp;
    std::uint64_t line = 0;
  };

  void take_meta(JsonValue meta);
  Status take_item(const Item& item, std::string_view type);
  Status take_message(const Item& item);
  Status take_call(const Item& item, std::string_view type);
  Status take_output(const Item& item);

  ImportSink& sink_;
  TranscriptWriter writer_;
  std::string session_;
  bool has_session_;        ///< Asked for, or named by the file.
  std::string started_at_;  ///< The time of what has none.
  std::string last_message_;
  RecentMap<std::string> tools_;  ///< By call id.
};

}  // namespace bmad_mem::cli
