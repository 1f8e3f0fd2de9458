// gemini.hpp - importing chats of Gemini CLI (~/.gemini/tmp/*/chats/session-*.json and *.jsonl).
//
//   record                          becomes
//   {sessionId, projectHash, …}     nothing: the session's id
//   message of type user            conversation, role user
//   message of type gemini          conversation, role assistant
//   its toolCalls                   events tool_use and tool_result
//   its thoughts, other types       nothing; counted
//   {"$set":{…}}                    with messages: they replace all that came before
//   {"$rewindTo":id}                that message and all behind it are dropped
//
// The old form is one object with messages[]; the new one has a record a line, where a message that
// comes again replaces the earlier one. So all is gathered, cut to what is kept of it, and handed
// on at the end. Ids are those of messages and tool calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/record_importer.hpp"
#include "exchange/import/transcript_writer.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file looks like such a chat.
bool looks_like_gemini(std::string_view beginning);

class GeminiImport final : public RecordImporter {
 public:
  /// `session_id`: where all goes; empty: into "gemini-" and the chat's own id. `project`: the name
  /// of the project that the chat belongs to, which the file does not tell; may be empty.
  GeminiImport(ImportSink& sink, const std::string& file, const std::string& session_id,
               std::string_view project);

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override;
  Status take_member(std::string_view key, JsonValue value) override;
  Status finish() override;

 private:
  struct ToolCall {
    std::string id;
    std::string timestamp;
    std::string tool;
    std::string path;
    std::string input;
    std::string output;
    std::size_t output_size = 0;  ///< Of the whole output; `output` may be the beginning of it.
    bool has_output = false;
    bool is_error = false;
  };
  struct Message {
    std::string id;
    std::string timestamp;
    std::string type;
    std::string text;
    std::uint64_t line = 0;
    std::uint64_t thoughts = 0;
    std::vector<ToolCall> calls;
  };

  void take_message(JsonValue message, std::uint64_t line);
  void rewind_to(std::string_view id);
  [[nodiscard]] static ToolCall read_call(JsonValue call, const std::string& timestamp);
  Status put(const Message& message);
  Status put_calls(const Message& message, const std::string& belongs_to);

  ImportSink& sink_;
  TranscriptWriter writer_;
  std::string session_;
  bool has_session_;
  std::vector<Message> messages_;
  std::string last_message_;
};

}  // namespace bmad_mem::cli
