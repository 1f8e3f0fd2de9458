// copilot.cpp - sessions of Copilot CLI (~/.copilot/session-state/ID/events.jsonl, ID.jsonl).
//
//   event                        becomes
//   session.start                nothing: the session's id and folder
//   user.message                 conversation, role user
//   assistant.message            conversation, role assistant
//   tool.execution_start         event tool_use
//   tool.execution_complete      event tool_result
//   others                       nothing; counted
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kCopilotCallsRemembered = 1U << 12U;

bool looks_like_copilot(std::string_view beginning) {
  JsonParser parser;
  const Result<JsonValue> first = first_record(parser, beginning);
  return first && (*first)["data"].is_object() && (*first)["id"].is_string() &&
         ((*first)["type"].string().starts_with("session.") ||
          (*first)["type"].string() == "user.message");
}

class CopilotImport final : public TranscriptImporter {
 public:
  explicit CopilotImport(const ImportContext& context)
      : TranscriptImporter(context, "copilot", "copilot"),
        has_session_(!session_.empty()),
        calls_(kCopilotCallsRemembered) {
    if (!has_session_) {
      std::string_view name = base_name(file_);
      if (name == "events.jsonl" && file_.size() > name.size()) {  // The folder has the id.
        name = base_name(std::string_view(file_).substr(0, file_.size() - name.size() - 1));
      }
      session_ = session_id_from("copilot-", name.substr(0, name.rfind(".jsonl")));
    }
  }

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    const std::string_view type = record["type"].string();
    const JsonValue data = record["data"];
    const std::string time = time_text(record["timestamp"]);
    if (type == "session.start") {
      if (const std::string_view id = data["sessionId"].string(); !has_session_ && !id.empty()) {
        session_ = session_id_from("copilot-", id);
      }
      if (const std::string_view cwd = data["context"]["cwd"].string(); !cwd.empty()) {
        project_ = base_name(cwd);
      }
      return {};
    }
    if (type == "user.message" || type == "assistant.message") {
      const std::string_view said = stripped(data["content"].string());
      if (said.empty() || is_machine_text(said)) {
        sink_.skip(said.empty() ? "messages without text" : kByProgram);
        return {};
      }
      return add_next_message({.id = std::string(record["id"].string()),
                               .timestamp = time,
                               .text = std::string(said),
                               .line = line},
                              type == "user.message", time);
    }
    const std::string id(data["toolCallId"].string());
    if (type == "tool.execution_start") {
      const TranscriptToolEvent call = {.id = id,
                                        .timestamp = time,
                                        .tool = std::string(data["toolName"].string()),
                                        .path = std::string(tool_path(data["arguments"])),
                                        .text = tool_input_text(data["arguments"]),
                                        .reference = last_message_,
                                        .line = line};
      calls_.set(id, {call.tool, call.path});
      return add_tool_event(call);
    }
    if (type == "tool.execution_complete") {
      const auto* call = calls_.find(id);
      const std::string_view problem = data["error"]["message"].string();
      const std::string_view output = data["result"]["content"].string();
      return add_tool_event({.id = result_id(id),
                             .timestamp = time,
                             .tool = call != nullptr ? call->first : "",
                             .path = call != nullptr ? call->second : "",
                             .text = std::string(output.empty() ? problem : output),
                             .reference = id,
                             .line = line,
                             .is_result = true,
                             .is_error = data["success"].present() && !data["success"].boolean()});
    }
    sink_.skip(record_reason(type));
    return {};
  }

 private:
  bool has_session_;
  RecentMap<std::pair<std::string, std::string>> calls_;  ///< Tool and path, by id.
};

}  // namespace

const ImportClient kCopilotClient = {.looks_like = looks_like_copilot,
                                     .make = make_importer<CopilotImport>};

}  // namespace bmad_mem::cli
