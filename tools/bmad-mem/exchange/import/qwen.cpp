// qwen.cpp - chats of Qwen Code (~/.qwen/projects/*/chats/*.jsonl).
//
//   record                               becomes
//   user                                 conversation, role user
//   assistant, text parts                conversation, role assistant
//   assistant, functionCall              event tool_use
//   tool_result, functionResponse        event tool_result
//   system, notifications, thoughts      nothing; counted
//
// Records look like those of Claude Code, but their messages have parts, as Gemini's.
#include "bmad_mem/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kQwenCallsRemembered = 1U << 12U;

bool looks_like_qwen(std::string_view beginning) {
  const std::string_view front = beginning.substr(0, 4096);
  return first_character(beginning) == '{' && front.contains("\"sessionId\"") &&
         front.contains("\"uuid\"") && beginning.contains("\"parts\"") &&
         !front.contains("\"projectHash\"");
}

class QwenImport final : public TranscriptImporter {
 public:
  explicit QwenImport(const ImportContext& context)
      : TranscriptImporter(context, "qwen", "qwen"),
        has_session_(!session_.empty()),
        calls_(kQwenCallsRemembered) {}

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    const std::string_view type = record["type"].string();
    const std::string_view subtype = record["subtype"].string();
    if (type != "user" && type != "assistant" && type != "tool_result") {
      sink_.skip(record_reason(type));
      return {};
    }
    if (!has_session_) {
      session_ = session_id_from("qwen-", record["sessionId"].string());
    }
    if (const std::string_view cwd = record["cwd"].string(); !cwd.empty()) {
      project_ = base_name(cwd);
    }
    const std::string_view provenance = record["provenance"].string();
    const bool by_person =
        type != "user" || ((subtype.empty() || subtype == "mid_turn_user_message") &&
                           (provenance.empty() || provenance == "real_user"));
    if (!by_person) {
      sink_.skip(kByProgram);
      return {};
    }
    const std::string time = time_text(record["timestamp"]);
    std::string said;
    for (const JsonValue part : record["message"]["parts"].elements()) {
      if (part["thought"].boolean()) {
        sink_.skip(kThinking);
      } else if (part["text"].is_string() && type != "tool_result") {
        append_part(said, stripped(part["text"].string()));
      } else if (!part["functionCall"].is_object() && !part["functionResponse"].is_object()) {
        sink_.skip(kSkippedBlocks);
      }
    }
    if (is_machine_text(said) && type == "user") {
      sink_.skip(kByProgram);
    } else if (!said.empty()) {
      BMAD_TRY(add_next_message({.id = std::string(record["uuid"].string()),
                                 .timestamp = time,
                                 .text = std::move(said),
                                 .line = line},
                                type == "user", time));
    }
    for (const JsonValue part : record["message"]["parts"].elements()) {
      BMAD_TRY(take_call(part["functionCall"], time, line));
      BMAD_TRY(take_response(part["functionResponse"], time, line));
    }
    return {};
  }

 private:
  Status take_call(JsonValue call, const std::string& time, std::uint64_t line) {
    if (!call.is_object()) {
      return {};
    }
    const std::string id(call["id"].string());
    const TranscriptToolEvent event = {.id = id,
                                       .timestamp = time,
                                       .tool = std::string(call["name"].string()),
                                       .path = std::string(tool_path(call["args"])),
                                       .text = tool_input_text(call["args"]),
                                       .reference = last_message_,
                                       .line = line};
    calls_.set(id, event.path);
    return add_tool_event(event);
  }

  Status take_response(JsonValue response, const std::string& time, std::uint64_t line) {
    if (!response.is_object()) {
      return {};
    }
    const std::string id(response["id"].string());
    const std::string* path = calls_.find(id);
    const JsonValue result = response["response"];
    const std::string_view output = result["output"].string();
    return add_tool_event({.id = result_id(id),
                           .timestamp = time,
                           .tool = std::string(response["name"].string()),
                           .path = path != nullptr ? *path : "",
                           .text = output.empty() ? tool_input_text(result) : std::string(output),
                           .reference = id,
                           .line = line,
                           .is_result = true,
                           .is_error = result["error"].present()});
  }

  bool has_session_;
  RecentMap<std::string> calls_;  ///< The path of a call, by id.
};

}  // namespace

const ImportClient kQwenClient = {.looks_like = looks_like_qwen, .make = make_importer<QwenImport>};

}  // namespace bmad_mem::cli
