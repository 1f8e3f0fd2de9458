// codex.cpp - rollouts of Codex ($CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl).
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
#include <algorithm>
#include <array>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kCallsRemembered = 1U << 12U;

/// What the program says in the name of the user.
constexpr std::array<std::string_view, 6> kCodexBeginnings = {
    "<environment_context>", "<user_instructions>", "<permissions instructions>",
    "# AGENTS.md",           "<turn_aborted>",      "<INSTRUCTIONS>"};

bool is_codex_message(std::string_view text) {
  return std::ranges::any_of(kCodexBeginnings, [&](std::string_view beginning) {
    return stripped(text).starts_with(beginning);
  });
}

/// The id in "rollout-2026-11-21T20-39-27-01a1ffd5-….jsonl".
std::string_view id_in_name(std::string_view file) {
  static constexpr std::size_t kUuidSize = 36;
  std::string_view name = base_name(file);
  name = name.substr(0, name.rfind(".jsonl"));
  return name.size() > kUuidSize ? name.substr(name.size() - kUuidSize) : name;
}

/// What was typed, without what hooks and the program have put beside it.
std::string message_text(JsonValue item) {
  const JsonValue passed_through = item["internal_chat_message_metadata_passthrough"];
  std::vector<std::string_view> kinds;
  for (const JsonValue kind : passed_through["content_item_kinds"].elements()) {
    kinds.push_back(kind.string());
  }
  std::string out(item["content"].string());
  std::size_t i = 0;
  for (const JsonValue part : item["content"].elements()) {
    const bool is_typed = i >= kinds.size() || kinds[i] == "user.text";
    const std::string_view text = stripped(part["text"].string());
    ++i;
    if (is_typed && (item["role"].string() != "user" || !is_codex_message(text))) {
      append_part(out, text);
    }
  }
  return out;
}

/// A tool's output: a text, blocks of text, or an object around it; what an old version has put
/// into a text as JSON is taken out of it.
std::string output_text(JsonValue output, bool& is_error) {
  if (output.is_object()) {
    is_error = output["success"].present() && !output["success"].boolean(true);
    return output_text(output["content"], is_error);
  }
  if (output.is_array()) {
    std::string out;
    for (const JsonValue block : output.elements()) {
      out += out.empty() ? "" : "\n";
      out += block["text"].string();
    }
    return out;
  }
  const std::string_view text = output.string();
  JsonParser parser;
  if (text.starts_with("{\"output\":")) {
    if (const Result<JsonValue> inner = parser.parse(text); inner && inner->is_object()) {
      is_error = is_error || (*inner)["metadata"]["exit_code"].integer() != 0;
      return std::string((*inner)["output"].string());
    }
  }
  return std::string(text);
}

/// A call's arguments: JSON in a text, a text, or an action.
std::string arguments_text(JsonValue item) {
  for (const std::string_view name : {"arguments", "input"}) {
    if (const std::string_view text = item[name].string(); !text.empty()) {
      JsonParser parser;
      const Result<JsonValue> value = parser.parse(repaired_json(text));
      return value && value->is_object() ? tool_input_text(*value) : std::string(text);
    }
  }
  return tool_input_text(item["action"]);
}

bool looks_like_codex(std::string_view beginning) {
  JsonParser parser;
  const Result<JsonValue> first = first_record(parser, beginning);
  if (!first || !first->is_object()) {
    return false;
  }
  return (*first)["payload"].is_object() ||
         ((*first)["id"].is_string() && (*first)["timestamp"].is_string() &&
          ((*first)["instructions"].present() || (*first)["git"].present()) &&
          !(*first)["type"].present());
}

class CodexImport final : public TranscriptImporter {
 public:
  explicit CodexImport(const ImportContext& context)
      : TranscriptImporter(context, "codex", "codex"),
        has_session_(!session_.empty()),
        tools_(kCallsRemembered) {
    project_.clear();  // Records tell it.
    if (!has_session_) {
      session_ = session_id_from("codex-", id_in_name(file_));
    }
  }

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    const std::string_view type = record["type"].string();
    const JsonValue payload = record["payload"];
    if (type == "session_meta") {
      take_meta(payload);
      return {};
    }
    if (type == "turn_context") {
      take_folder(payload);
    }
    if (type == "response_item") {
      return take_item({payload, time_text(record["timestamp"]), line}, payload["type"].string());
    }
    if (payload.present()) {
      sink_.skip(record_reason(type));
      return {};
    }
    if (type.empty() && record["id"].is_string() && record["timestamp"].is_string()) {
      take_meta(record);
      return {};
    }
    return take_item({record, started_at_, line}, type);
  }

 private:
  /// A response_item, with or without envelope.
  struct Item {
    JsonValue value;
    std::string timestamp;
    std::uint64_t line = 0;
  };

  void take_meta(JsonValue meta) {
    // A fork begins with the lines of what it was made from: only the first names the session.
    if (!has_session_ && meta["id"].is_string()) {
      session_ = session_id_from("codex-", meta["id"].string());
    }
    has_session_ = true;
    if (started_at_.empty()) {
      started_at_ = time_text(meta["timestamp"]);
    }
    take_folder(meta);
  }

  void take_folder(JsonValue record) {
    if (const std::string_view cwd = record["cwd"].string(); !cwd.empty()) {
      project_ = base_name(cwd);
    }
  }

  Status take_item(const Item& item, std::string_view type) {
    if (type == "message") {
      return take_message(item);
    }
    if (type.ends_with("_call_output")) {
      return take_output(item);
    }
    if (type.ends_with("_call")) {
      return take_call(item, type);
    }
    sink_.skip(type == "reasoning" ? kThinking : record_reason(type));
    return {};
  }

  Status take_message(const Item& item) {
    const std::string_view role = item.value["role"].string();
    const bool is_user = role == "user";
    std::string text = message_text(item.value);
    if ((!is_user && role != "assistant") || text.empty() || (is_user && is_codex_message(text))) {
      sink_.skip(kByProgram);
      return {};
    }
    return add_next_message(
        {.timestamp = item.timestamp, .text = std::move(text), .line = item.line}, is_user,
        std::to_string(item.line));
  }

  Status take_call(const Item& item, std::string_view type) {
    std::string_view tool = item.value["name"].string();
    if (tool.empty()) {
      tool = type.substr(0, type.size() - std::string_view("_call").size());
    }
    std::string id(item.value["call_id"].string());
    if (id.empty()) {
      id = item.value["id"].string();
    }
    tools_.set(id, std::string(tool));
    return add_tool_event({.id = id,
                           .timestamp = item.timestamp,
                           .tool = std::string(tool),
                           .text = arguments_text(item.value),
                           .reference = last_message_,
                           .line = item.line});
  }

  Status take_output(const Item& item) {
    const std::string id(item.value["call_id"].string());
    const std::string* tool = tools_.find(id);
    bool is_error = false;
    std::string text = output_text(item.value["output"], is_error);
    return add_tool_event({.id = result_id(id),
                           .timestamp = item.timestamp,
                           .tool = tool != nullptr ? *tool : "",
                           .text = std::move(text),
                           .reference = id,
                           .line = item.line,
                           .is_result = true,
                           .is_error = is_error});
  }

  bool has_session_;              ///< Asked for, or named by the file.
  std::string started_at_;        ///< The time of what has none.
  RecentMap<std::string> tools_;  ///< By call id.
};

}  // namespace

const ImportClient kCodexClient = {.looks_like = looks_like_codex,
                                   .make = make_importer<CodexImport>};

}  // namespace bmad_mem::cli
