// letta.cpp - an agent of Letta, as an agent file (.af).
//
//   member                                  becomes
//   blocks[], core_memory[]                 facts: label is the key, value the content
//   agents[].messages[], messages[]:
//     user                                  conversation, role user
//     assistant, send_message               conversation, role assistant
//     other calls, tool                     events tool_use, tool_result
//     system, heartbeats and logins         nothing; counted
//
// Blocks go into the session "letta", messages of an agent into "letta-ID".
#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "cli/json_text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

bool looks_like_letta(std::string_view beginning) {
  return first_character(beginning) == '{' &&
         ((beginning.contains("\"agents\"") && beginning.contains("\"block_ids\"")) ||
          (beginning.contains("\"core_memory\"") && beginning.contains("\"agent_type\"")) ||
          (beginning.contains("\"blocks\"") && beginning.contains("\"label\"") &&
           beginning.contains("\"agents\"")));
}

class LettaImport final : public TranscriptImporter {
 public:
  explicit LettaImport(const ImportContext& context)
      : TranscriptImporter(context, "letta", "letta"), wanted_session_(session_) {}

  /// An agent.
  Status take(JsonValue agent, std::string_view /*text*/, std::uint64_t line) override {
    const std::string_view id = agent["id"].string();
    return take_messages(agent["messages"], id.empty() ? agent["name"].string() : id, line);
  }

  Status take_member(std::string_view key, JsonValue value, std::string_view /*text*/) override {
    if (key == "blocks" || key == "core_memory") {
      for (const JsonValue block : value.elements()) {
        BMAD_TRY(take_block(block));
      }
    } else if (key == "messages") {
      const std::string_view name = base_name(file_);
      return take_messages(value, name.substr(0, name.rfind('.')), 1);
    }
    return {};
  }

 private:
  Status take_block(JsonValue block) {
    const std::string_view label = block["label"].string();
    const std::string_view value = stripped(block["value"].string());
    if (value.empty()) {
      sink_.skip("blocks without text");
      return {};
    }
    if (blocks_session_.empty()) {
      const SessionParams params{.session_id = wanted_session_.empty() ? "letta" : wanted_session_,
                                 .session_type = "letta",
                                 .tags = {"imported"}};
      if (wanted_session_.empty()) {
        BMAD_TRY_ASSIGN(blocks_session_, sink_.need_shared_session(params));
      } else {
        blocks_session_ = wanted_session_;
        BMAD_TRY(sink_.need_session(params));
      }
    }
    JsonWriter json;
    json.begin_object();
    json.member("id",
                content_id("fact-", fmt::format("{}\n{}\n{}", base_name(file_), label, value)));
    add_text(json, "timestamp", time_text(block["created_at"]));
    json.member("category", "project_fact");
    add_text(json, "key", label);
    json.member("content", value);
    add_text(json, "description", block["description"].string());
    return sink_.add(blocks_session_, EntryType::kFact,
                     fmt::format("{},{}}}", json.take(), memory_origin("letta", file_, 0)),
                     KnownEntries::kSkipId, {.file = file_});
  }

  Status take_messages(JsonValue messages, std::string_view agent, std::uint64_t line) {
    session_ = wanted_session_.empty() ? session_id_from("letta-", agent) : wanted_session_;
    last_message_.clear();
    std::uint64_t number = 0;
    for (const JsonValue message : messages.elements()) {
      BMAD_TRY(take_message(message, fmt::format("{}\n{}", agent, ++number), line));
    }
    return {};
  }

  Status take_message(JsonValue message, const std::string& salt, std::uint64_t line) {
    const std::string_view role = message["role"].string();
    const std::string time = time_text(message["created_at"]);
    std::string text(message["text"].string());
    append_part(text, message["content"].string());
    for (const JsonValue part : message["content"].elements()) {
      append_part(text, part["text"].string());
    }
    if (role == "tool") {
      const std::string call(message["tool_call_id"].string());
      return add_tool_event({.id = result_id(call),
                             .timestamp = time,
                             .tool = std::string(message["name"].string()),
                             .text = std::move(text),
                             .reference = call,
                             .line = line,
                             .is_result = true});
    }
    if (role == "user") {
      text = said_by_person(text);
    }
    if (text.empty() || (role != "user" && role != "assistant")) {
      sink_.skip(kByProgram, message["tool_calls"].is_array() ? 0 : 1);
    } else if (message["tool_calls"].is_array() && has_call_to(message, "send_message")) {
      sink_.skip(kThinking);  // What the agent says is in the call; the text is what it thought.
    } else {
      BMAD_TRY(add_next_message({.timestamp = time, .text = std::move(text), .line = line},
                                role == "user", salt));
    }
    for (const JsonValue call : message["tool_calls"].elements()) {
      BMAD_TRY(take_call(call, time, salt, line));
    }
    return {};
  }

  static bool has_call_to(JsonValue message, std::string_view tool) {
    for (const JsonValue call : message["tool_calls"].elements()) {
      if (call["function"]["name"].string() == tool) {
        return true;
      }
    }
    return false;
  }

  /// The program wraps what a person says, and speaks in the same role; empty for the latter.
  static std::string said_by_person(const std::string& text) {
    JsonParser parser;
    const Result<JsonValue> wrapped = parser.parse(text);
    if (!wrapped || !wrapped->is_object() || !(*wrapped)["type"].is_string()) {
      return text;
    }
    return std::string((*wrapped)["type"].string() == "user_message"
                           ? (*wrapped)["message"].string()
                           : std::string_view());
  }

  Status take_call(JsonValue call, const std::string& time, const std::string& salt,
                   std::uint64_t line) {
    const std::string_view name = call["function"]["name"].string();
    const std::string arguments(call["function"]["arguments"].string());
    if (name == "send_message") {
      JsonParser parser;
      const Result<JsonValue> parsed = parser.parse(arguments);
      const std::string said(parsed ? (*parsed)["message"].string() : std::string_view());
      return said.empty() ? Status()
                          : add_next_message({.timestamp = time, .text = said, .line = line}, false,
                                             salt + "\nsaid");
    }
    return add_tool_event({.id = std::string(call["id"].string()),
                           .timestamp = time,
                           .tool = std::string(name),
                           .text = arguments,
                           .reference = last_message_,
                           .line = line});
  }

  std::string wanted_session_;  ///< Where all goes; empty: each agent by itself.
  std::string blocks_session_;
};

}  // namespace

const ImportClient kLettaClient = {.looks_like = looks_like_letta,
                                   .make = make_importer<LettaImport>,
                                   .is_document = [](std::string_view) { return true; },
                                   .records_member = "agents"};

}  // namespace bmad_mem::cli
