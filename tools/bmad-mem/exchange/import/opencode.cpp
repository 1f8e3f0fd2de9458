// opencode.cpp - a session of opencode, as `opencode export` writes it:
// {"info":{…},"messages":[{"info":{…},"parts":[…]}]}.
//
//   part                       becomes
//   text of a user             conversation, role user
//   text of an assistant       conversation, role assistant
//   tool                       events tool_use and tool_result
//   synthetic texts, others    nothing; counted
#include <chrono>
#include <cmath>

#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

bool looks_like_opencode(std::string_view beginning) {
  return first_character(beginning) == '{' && beginning.contains("\"info\"") &&
         beginning.contains("\"messages\"") && beginning.contains("\"parts\"");
}

/// Milliseconds since 1970.
std::string opencode_time(JsonValue value) {
  const double time = value.number(-1);
  return !(time > 0) || time > 253402300799000.0
             ? ""
             : format_rfc3339(Timestamp(
                   std::chrono::milliseconds(static_cast<std::int64_t>(std::floor(time)))));
}

class OpencodeImport final : public TranscriptImporter {
 public:
  explicit OpencodeImport(const ImportContext& context)
      : TranscriptImporter(context, "opencode", "opencode"), has_session_(!session_.empty()) {}

  Status take_member(std::string_view key, JsonValue value, std::string_view /*text*/) override {
    if (key == "info") {
      topic_ = utf8_prefix(value["title"].string(), 120);
      if (const std::string_view folder = value["directory"].string(); !folder.empty()) {
        project_ = base_name(folder);
      }
    }
    return {};
  }

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    const JsonValue info = record["info"];
    if (!has_session_) {
      session_ = session_id_from("opencode-", info["sessionID"].string());
    }
    const std::string time = opencode_time(info["time"]["created"]);
    std::string said;
    for (const JsonValue part : record["parts"].elements()) {
      const std::string_view type = part["type"].string();
      if (type == "text" && !part["synthetic"].boolean()) {
        append_part(said, stripped(part["text"].string()));
      } else if (type != "tool") {
        sink_.skip(type == "text"        ? std::string(kByProgram)
                   : type == "reasoning" ? std::string(kThinking)
                   : type == "file"      ? std::string(kSkippedBlocks)
                                         : record_reason(type));
      }
    }
    if (!said.empty()) {
      BMAD_TRY(add_next_message({.id = std::string(info["id"].string()),
                                 .timestamp = time,
                                 .text = std::move(said),
                                 .topic = topic_,
                                 .line = line},
                                info["role"].string() == "user", time));
    }
    for (const JsonValue part : record["parts"].elements()) {
      if (part["type"].string() == "tool") {
        BMAD_TRY(take_tool(part, time, line));
      }
    }
    return {};
  }

 private:
  Status take_tool(JsonValue part, const std::string& time, std::uint64_t line) {
    const JsonValue state = part["state"];
    const std::string own_id(part["callID"].string());
    const std::string id = is_usable_id(own_id) ? own_id : std::string(part["id"].string());
    const std::string start = opencode_time(state["time"]["start"]);
    const std::string end = opencode_time(state["time"]["end"]);
    TranscriptToolEvent event = {.id = id,
                                 .timestamp = start.empty() ? time : start,
                                 .tool = std::string(part["tool"].string()),
                                 .path = std::string(tool_path(state["input"])),
                                 .text = tool_input_text(state["input"]),
                                 .reference = last_message_,
                                 .line = line};
    BMAD_TRY(add_tool_event(event));
    const std::string_view status = state["status"].string();
    if (status != "completed" && status != "error") {
      return {};
    }
    event.id = result_id(id);
    event.timestamp = end.empty() ? event.timestamp : end;
    event.text = (status == "error" ? state["error"] : state["output"]).string();
    event.reference = id;
    event.is_result = true;
    event.is_error = status == "error";
    return add_tool_event(event);
  }

  bool has_session_;
  std::string topic_;
};

}  // namespace

const ImportClient kOpencodeClient = {.looks_like = looks_like_opencode,
                                      .make = make_importer<OpencodeImport>,
                                      .is_document = [](std::string_view) { return true; },
                                      .records_member = "messages"};

}  // namespace bmad_mem::cli
