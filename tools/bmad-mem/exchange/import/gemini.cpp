// gemini.cpp - chats of Gemini CLI (~/.gemini/tmp/*/chats/session-*.json and *.jsonl).
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
#include <algorithm>
#include <utility>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// A tool's texts are cut when they are read: the whole chat is held, and outputs are most of it.
constexpr std::size_t kToolTextMax = 2 * kSnippetSizeMax;

std::string parts_text(JsonValue content) {
  std::string out(content.string());
  for (const JsonValue part : content.elements()) {
    append_part(out, part.is_string() ? part.string() : part["text"].string(), "\n");
  }
  return out;
}

/// What a tool gave back: parts with {functionResponse:{response:{output | error}}}, or a text.
std::string result_text(JsonValue result) {
  std::string out = parts_text(result);
  for (const JsonValue part : result.elements()) {
    const JsonValue response = part["functionResponse"]["response"];
    const std::string_view output = response["output"].string();
    append_part(out, output.empty() ? tool_input_text(response) : std::string(output), "\n");
  }
  return out;
}

bool looks_like_gemini(std::string_view beginning) {
  const std::string_view front = beginning.substr(0, 4096);
  return first_character(beginning) == '{' && front.contains("\"sessionId\"") &&
         front.contains("\"projectHash\"");
}

/// Its old form is.
bool is_gemini_document(std::string_view beginning) {
  JsonParser parser;
  const Result<JsonValue> first = first_record(parser, beginning);
  return !first || (*first)["messages"].is_array();
}

class GeminiImport final : public TranscriptImporter {
 public:
  explicit GeminiImport(const ImportContext& context)
      : TranscriptImporter(context, "gemini", "gemini"), has_session_(!session_.empty()) {
    if (!has_session_) {
      const std::string_view name = base_name(file_);
      session_ = session_id_from("gemini-", name.substr(0, name.rfind('.')));
    }
  }

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    const JsonValue change = record["$set"];
    if (record["$rewindTo"].present() && !change.is_object()) {
      const auto found = std::ranges::find(messages_, record["$rewindTo"].string(), &Message::id);
      messages_.erase(found == messages_.end() ? messages_.begin() : found, messages_.end());
    } else if (change.is_object() || record["sessionId"].is_string()) {
      const JsonValue head = change.is_object() ? change : record;
      BMAD_TRY(take_member("sessionId", head["sessionId"], {}));
      if (change["messages"].is_array()) {
        messages_.clear();
      }
      for (const JsonValue message : head["messages"].elements()) {
        take_message(message, line);
      }
    } else {
      take_message(record, line);
    }
    return {};
  }

  Status take_member(std::string_view key, JsonValue value, std::string_view /*text*/) override {
    if (key == "sessionId" && value.is_string() && !has_session_) {
      session_ = session_id_from("gemini-", value.string());
      has_session_ = true;
    }
    return {};
  }

  Status finish() override {
    for (Message& message : std::exchange(messages_, {})) {
      BMAD_TRY(put(message));
    }
    return {};
  }

 private:
  struct Message {
    std::string id;
    std::string timestamp;
    std::string type;
    std::string text;
    std::uint64_t line = 0;
    std::uint64_t thoughts = 0;
    std::vector<TranscriptToolEvent> events;  ///< Each call, and its result behind it.
  };

  static void read_call(JsonValue value, Message& message) {
    const std::string own_time = time_text(value["timestamp"]);
    TranscriptToolEvent call = {.id = std::string(value["id"].string()),
                                .timestamp = own_time.empty() ? message.timestamp : own_time,
                                .tool = std::string(value["name"].string()),
                                .path = std::string(tool_path(value["args"])),
                                .line = message.line};
    TranscriptToolEvent result = call;
    call.text = utf8_prefix(tool_input_text(value["args"]), kToolTextMax);
    message.events.push_back(std::move(call));
    if (value["result"].is_array() || value["result"].is_string()) {
      const std::string_view status = value["status"].string();
      const std::string output = result_text(value["result"]);
      result.reference = result.id;
      result.id = result_id(result.id);
      result.text = utf8_prefix(stripped(output), kToolTextMax);
      result.is_result = true;
      result.is_error = status == "error" || status == "cancelled";
      result.size = stripped(output).size();
      message.events.push_back(std::move(result));
    }
  }

  void take_message(JsonValue value, std::uint64_t line) {
    Message message = {.id = std::string(value["id"].string()),
                       .timestamp = time_text(value["timestamp"]),
                       .type = std::string(value["type"].string()),
                       .text = parts_text(value["content"]),
                       .line = line};
    if (message.type.empty()) {
      sink_.skip("other records");
      return;
    }
    for ([[maybe_unused]] const JsonValue thought : value["thoughts"].elements()) {
      ++message.thoughts;
    }
    for (const JsonValue call : value["toolCalls"].elements()) {
      read_call(call, message);
    }
    // Messages are replaced while they grow, so the one in question is nearly always the last.
    const auto found = std::find_if(
        messages_.rbegin(), messages_.rend(),
        [&](const Message& other) { return !message.id.empty() && other.id == message.id; });
    if (found != messages_.rend()) {
      *found = std::move(message);
    } else {
      messages_.push_back(std::move(message));
    }
  }

  Status put(Message& message) {
    if (message.thoughts != 0) {
      sink_.skip(kThinking, message.thoughts);
    }
    if (message.type != "user" && message.type != "gemini") {
      sink_.skip(record_reason(message.type));
      return {};
    }
    const bool is_user = message.type == "user";
    if (!stripped(message.text).empty()) {
      BMAD_TRY(add_next_message({.id = message.id,
                                 .timestamp = message.timestamp,
                                 .text = message.text,
                                 .line = message.line,
                                 .may_have_grown = !is_user},
                                is_user, std::to_string(message.line)));
    }
    for (TranscriptToolEvent& event : message.events) {
      event.reference = event.is_result ? event.reference : last_message_;
      BMAD_TRY(add_tool_event(event));
    }
    return {};
  }

  bool has_session_;
  std::vector<Message> messages_;
};

}  // namespace

const ImportClient kGeminiClient = {.looks_like = looks_like_gemini,
                                    .make = make_importer<GeminiImport>,
                                    .is_document = is_gemini_document,
                                    .records_member = "messages"};

}  // namespace bmad_mem::cli
