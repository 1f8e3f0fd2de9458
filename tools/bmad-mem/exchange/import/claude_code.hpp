// claude_code.hpp - importing transcripts of Claude Code (~/.claude/projects/*/*.jsonl).
//
//   record                              becomes
//   user, text                          conversation, role user
//   assistant, text of one message.id   conversation, role assistant: its blocks joined
//   assistant, tool_use                 event tool_use: tool, path, a snippet of the input
//   user, tool_result                   event tool_result: the same, a snippet of the output
//   attachment, prompt typed meanwhile  conversation, role user
//   everything else                     nothing; counted by kind
//
// Ids are those of the transcript: the record's uuid, the tool_use's id, the same with "-result".
// So importing again adds nothing, and a transcript that has grown adds what is new. Records of
// subagents carry the subagent's name as agent_id, and its messages "metadata":{"sidechain":true}.
// A message answers the nearest message above it that was imported: the transcript's parents are
// often tool calls or progress.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/import_sink.hpp"
#include "exchange/import/recent_map.hpp"
#include "exchange/import/record_importer.hpp"
#include "exchange/import/transcript_writer.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file looks like such a transcript.
bool looks_like_claude_code(std::string_view beginning);

class ClaudeCodeImport final : public RecordImporter {
 public:
  /// `file` names the transcript in messages and in the entries' provenance. `session_id`: where
  /// all goes; empty: into "cc-" and the transcript's own session id.
  ClaudeCodeImport(ImportSink& sink, const std::string& file, std::string session_id);

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override;
  /// A message may still have waited for further blocks.
  Status finish() override;

 private:
  /// What all entries of a record have in common.
  struct Record {
    JsonValue value;
    std::string_view text;
    std::uint64_t line = 0;
    std::string session;
    std::string agent;
    std::string timestamp;
    std::string parent;  ///< The nearest imported message above; may be empty.
  };
  /// An assistant's message whose further blocks may still come.
  struct Message {
    std::string message_id;
    std::string id;
    std::string session;
    std::string agent;
    std::string timestamp;
    std::string parent;
    std::string text;
    std::uint64_t line = 0;
    std::size_t blocks = 0;
    bool sidechain = false;
  };
  struct ToolUse {
    std::string tool;
    std::string path;
  };

  [[nodiscard]] Record read_record(JsonValue value, std::string_view text,
                                   std::uint64_t line) const;
  Status take_user(const Record& record, std::string& stands_for);
  Status take_assistant(const Record& record, std::string& stands_for);
  Status take_attachment(const Record& record, std::string& stands_for);
  Status take_person_text(const Record& record, const std::string& text, std::string& stands_for);
  Status take_tool_use(const Record& record, JsonValue block, const std::string& message);
  Status take_tool_result(const Record& record, JsonValue block);
  Status take_assistant_text(const Record& record, std::string_view text, std::string& stands_for);
  Status flush_message();
  /// Returns the id under which it is kept.
  Result<std::string> add_message(const Message& message, std::string_view role);

  ImportSink& sink_;
  std::string file_;
  std::string session_id_;
  TranscriptWriter writer_;
  Message message_;
  RecentMap<std::string> stands_for_;  ///< A record's uuid to the message that it belongs to.
  RecentMap<std::string> kept_as_;     ///< A message's id to that of what a hook recorded of it.
  RecentMap<ToolUse> tool_uses_;       ///< By id.
};

}  // namespace bmad_mem::cli
