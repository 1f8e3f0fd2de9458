// chat_export.hpp - importing conversations.json as ChatGPT and Claude.ai export it: an array of
// conversations, each a session of its own.
//
//   ChatGPT                              becomes
//   mapping, from current_node upwards   the messages of the branch that was shown last
//   author user                          conversation, role user
//   author assistant                     conversation, role assistant
//   author assistant, to a tool          event tool_use
//   author tool                          event tool_result
//   hidden, author system, other nodes   nothing; counted
//
//   Claude.ai
//   chat_messages, human | assistant     conversation, role user | assistant
//
// The title becomes the topic of the messages. Ids are those of the messages; a session is
// "chatgpt-" or "claude-" and the conversation's id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/record_importer.hpp"
#include "exchange/import/transcript_writer.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file looks like one of these.
bool looks_like_chat_export(std::string_view beginning);

class ChatExportImport final : public RecordImporter {
 public:
  /// `session_id`: where all goes; empty: each conversation into a session of its own.
  ChatExportImport(ImportSink& sink, std::string file, std::string session_id,
                   std::string_view project);

  /// A conversation.
  Status take(JsonValue record, std::string_view text, std::uint64_t line) override;
  Status finish() override { return {}; }

 private:
  /// What the messages of one conversation have in common.
  struct Chat {
    TranscriptWriter writer;
    std::string agent;
    std::string session;
    std::string topic;
    std::string last_time;  ///< Of the message before: that of one which names none.
    std::uint64_t number = 0;
    std::string last_message = {};
  };

  Status take_chatgpt(JsonValue conversation, std::uint64_t number);
  Status take_chatgpt_message(Chat& chat, JsonValue message);
  Status take_claude(JsonValue conversation, std::uint64_t number);
  Status add(Chat& chat, JsonValue id, std::string timestamp, bool is_user, std::string_view text);

  ImportSink& sink_;
  std::string file_;
  std::string session_id_;
  std::string project_;
};

}  // namespace bmad_mem::cli
