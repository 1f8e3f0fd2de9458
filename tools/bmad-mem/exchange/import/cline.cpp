// cline.cpp - sessions of Cline 3 (sessions/ID/ID.messages.json), and tasks of Cline and Roo Code
// (tasks/ID/ui_messages.json, api_conversation_history.json).
//
//   ui_messages.json                          becomes
//   the first say text, say task,             conversation, role user
//   say user_feedback
//   say text, say completion_result           conversation, role assistant
//   say or ask tool, say or ask command       event tool_use
//   say command_output                        event tool_result
//   others                                    nothing; counted
//
//   api_conversation_history.json, or the     becomes
//   "messages" of Cline 3
//   user: <task>, <feedback>, <user_message>, conversation, role user
//   <user_input mode="act">
//   user: tool_result, "[tool …] Result:"     event tool_result
//   assistant: text; tool_use                 conversation, role assistant; event tool_use
//   environment details, other texts          nothing; counted
//
// Both tell the same, so a folder gives the first only: it has times.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "bmad_mem/rfc3339.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

bool looks_like_cline(std::string_view beginning) {
  const std::string_view front = beginning.substr(0, 4096);
  if (first_character(beginning) == '{') {
    return front.contains("\"sessionId\"") && front.contains("<user_input");
  }
  return first_character(beginning) == '[' &&
         ((front.contains("\"ts\"") && (front.contains("\"say\"") || front.contains("\"ask\""))) ||
          (front.contains("\"role\"") &&
           (front.contains("<task>") || front.contains("<environment_details>"))));
}

/// Milliseconds since 1970; empty for what is no time.
std::string time_of_milliseconds(JsonValue value) {
  static constexpr double kMax = 253402300799000.0;
  const double time = value.number(-1);
  if (!(time > 0) || time > kMax) {
    return {};
  }
  return format_rfc3339(
      Timestamp(std::chrono::milliseconds(static_cast<std::int64_t>(std::floor(time)))));
}

/// What stands between <tag> or <tag attributes> and </tag>; empty without.
std::string_view inside(std::string_view text, const std::string& tag) {
  const std::size_t begin = std::min(text.find("<" + tag + ">"), text.find("<" + tag + " mode="));
  const std::size_t end = text.rfind("</" + tag + ">");
  const std::size_t from = text.find('>', std::min(begin, text.size())) + 1;
  return begin == std::string_view::npos || end == std::string_view::npos || end < from
             ? std::string_view()
             : stripped(text.substr(from, end - from));
}

class ClineImport final : public TranscriptImporter {
 public:
  explicit ClineImport(const ImportContext& context)
      : TranscriptImporter(context, "cline", "cline") {
    if (session_.empty()) {
      const std::string_view path = file_;
      const std::size_t slash = path.rfind('/');
      const std::string_view task =
          slash == std::string_view::npos ? path : base_name(path.substr(0, slash));
      session_ = session_id_from("cline-", task);
    }
  }

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    line_ = line;
    time_ = time_of_milliseconds(record["ts"]);
    return record["role"].is_string() ? take_api(record) : take_ui(record);
  }

 private:
  Status say(bool is_user, std::string_view text) {
    text = stripped(text);
    if (text.empty()) {
      return {};
    }
    return add_next_message({.timestamp = time_, .text = std::string(text), .line = line_}, is_user,
                            time_.empty() ? last_message_ : time_);
  }

  Status take_ui(JsonValue record) {
    const std::string_view what =
        record["say"].is_string() ? record["say"].string() : record["ask"].string();
    const std::string_view text = record["text"].string();
    if (record["partial"].boolean()) {
      sink_.skip("partial messages");
      return {};
    }
    if (what == "user_feedback" || what == "task" || (what == "text" && !has_task_)) {
      has_task_ = true;
      return say(true, text);
    }
    if (what == "text" || what == "completion_result") {
      return say(false, text);
    }
    if (what == "tool" || what == "command") {
      JsonParser parser;
      const std::string call(text);
      const Result<JsonValue> tool = parser.parse(call);
      const bool has_json = what == "tool" && tool && tool->is_object();
      return add_tool_event(
          {.timestamp = time_,
           .tool = std::string(has_json ? (*tool)["tool"].string() : what),
           .path = has_json ? std::string(tool_path(*tool)) : "",
           .text = has_json ? std::string((*tool)["content"].string()) : std::string(text),
           .reference = last_message_,
           .line = line_});
    }
    if (what == "command_output") {
      return add_tool_event({.timestamp = time_,
                             .tool = "command",
                             .text = std::string(text),
                             .line = line_,
                             .is_result = true});
    }
    sink_.skip(what == "reasoning" ? std::string(kThinking) : record_reason(what));
    return {};
  }

  Status take_api(JsonValue record) {
    const bool is_user = record["role"].string() == "user";
    if (record["content"].is_string()) {
      return take_text(record["content"].string(), is_user);
    }
    for (const JsonValue block : record["content"].elements()) {
      const std::string_view kind = block["type"].string();
      if (kind == "text") {
        BMAD_TRY(take_text(block["text"].string(), is_user));
      } else if (kind == "tool_use") {
        BMAD_TRY(add_tool_event({.id = std::string(block["id"].string()),
                                 .timestamp = time_,
                                 .tool = std::string(block["name"].string()),
                                 .path = std::string(tool_path(block["input"])),
                                 .text = tool_input_text(block["input"]),
                                 .reference = last_message_,
                                 .line = line_}));
      } else if (kind == "tool_result") {
        const std::string id(block["tool_use_id"].string());
        BMAD_TRY(add_tool_event(
            {.id = result_id(id),
             .timestamp = time_,
             .text = tool_result_text(block["content"],
                                      [&](std::string_view) { sink_.skip(kSkippedBlocks); }),
             .reference = id,
             .line = line_,
             .is_result = true}));
      } else {
        sink_.skip(kind == "image" ? kSkippedBlocks : kThinking);
      }
    }
    return {};
  }

  /// The role of a user says little: tools and the program speak in it as well.
  Status take_text(std::string_view text, bool is_user) {
    if (!is_user) {
      return say(false, text);
    }
    text = stripped(text);
    if (const std::size_t result = text.find("] Result:");
        text.starts_with('[') && result != std::string_view::npos &&
        text.substr(0, result).find('\n') == std::string_view::npos) {
      const std::string_view call = text.substr(1, result - 1);
      return add_tool_event({.timestamp = time_,
                             .tool = std::string(call.substr(0, call.find(' '))),
                             .text = std::string(text.substr(result + 9)),
                             .line = line_,
                             .is_result = true});
    }
    for (const char* tag : {"task", "feedback", "user_message", "user_input"}) {
      if (const std::string_view said = inside(text, tag); !said.empty()) {
        return say(true, said);
      }
    }
    sink_.skip(kByProgram);
    return {};
  }

  std::string time_;
  std::uint64_t line_ = 0;
  bool has_task_ = false;
};

}  // namespace

const ImportClient kClineClient = {.looks_like = looks_like_cline,
                                   .make = make_importer<ClineImport>,
                                   .is_document = [](std::string_view) { return true; },
                                   .records_member = "messages"};

}  // namespace bmad_mem::cli
