#include "exchange/import/codex.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/json_repair.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kCodexAgent = "codex";
constexpr std::size_t kCallsRemembered = 1U << 12U;

/// What the program says in the name of the user.
constexpr std::array<std::string_view, 6> kCodexBeginnings = {
    "<environment_context>", "<user_instructions>", "<permissions instructions>",
    "# AGENTS.md",           "<turn_aborted>",      "<INSTRUCTIONS>"};

bool is_machine_message(std::string_view text) {
  return std::ranges::any_of(kCodexBeginnings, [&](std::string_view beginning) {
    return stripped(text).starts_with(beginning);
  });
}

std::string normal_time(std::string_view text) {
  const auto time = try_parse_rfc3339(text);
  return time ? format_rfc3339(*time) : "";
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
    if (is_typed && !text.empty() &&
        (item["role"].string() != "user" || !is_machine_message(text))) {
      out += out.empty() ? "" : "\n\n";
      out += text;
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

}  // namespace

bool looks_like_codex(std::string_view beginning) {
  JsonParser parser;
  const Result<JsonValue> first =
      parser.parse(repaired_json(beginning.substr(0, beginning.find('\n'))));
  if (!first || !first->is_object()) {
    return false;
  }
  return (*first)["payload"].is_object() ||
         ((*first)["id"].is_string() && (*first)["timestamp"].is_string() &&
          ((*first)["instructions"].present() || (*first)["git"].present()) &&
          !(*first)["type"].present());
}

CodexImport::CodexImport(ImportSink& sink, const std::string& file, const std::string& session_id)
    : sink_(sink),
      writer_(sink, kCodexAgent, file, kCodexAgent, ""),
      session_(session_id.empty() ? session_id_from("codex-", id_in_name(file)) : session_id),
      has_session_(!session_id.empty()),
      tools_(kCallsRemembered) {}

void CodexImport::take_meta(JsonValue meta) {
  // A fork begins with the lines of what it was made from: only the first names the session.
  if (!has_session_ && meta["id"].is_string()) {
    session_ = session_id_from("codex-", meta["id"].string());
  }
  has_session_ = true;
  if (started_at_.empty()) {
    started_at_ = normal_time(meta["timestamp"].string());
  }
  if (const std::string_view cwd = meta["cwd"].string(); !cwd.empty()) {
    writer_.set_folder(cwd);
  }
}

Status CodexImport::take(JsonValue record, std::string_view /*text*/, std::uint64_t line) {
  const std::string_view type = record["type"].string();
  const JsonValue payload = record["payload"];
  Item item{.value = payload, .timestamp = normal_time(record["timestamp"].string()), .line = line};
  if (type == "session_meta") {
    take_meta(payload);
    return {};
  }
  if (type == "turn_context" && payload["cwd"].is_string()) {
    writer_.set_folder(payload["cwd"].string());
  }
  if (type == "response_item") {
    return take_item(item, payload["type"].string());
  }
  if (payload.present()) {
    sink_.skip(record_reason(type));
    return {};
  }
  if (type.empty() && record["id"].is_string() && record["timestamp"].is_string()) {
    take_meta(record);
    return {};
  }
  item.value = record;
  item.timestamp = started_at_;
  return take_item(item, type);
}

Status CodexImport::take_item(const Item& item, std::string_view type) {
  if (type == "message") {
    return take_message(item);
  }
  if (type.ends_with("_call_output")) {
    return take_output(item);
  }
  if (type.ends_with("_call")) {
    return take_call(item, type);
  }
  sink_.skip(type == "reasoning" ? "thinking blocks" : record_reason(type));
  return {};
}

Status CodexImport::take_message(const Item& item) {
  const std::string_view role = item.value["role"].string();
  const std::string text = message_text(item.value);
  const bool is_user = role == "user";
  if ((!is_user && role != "assistant") || text.empty() || (is_user && is_machine_message(text))) {
    sink_.skip("messages made by the program");
    return {};
  }
  BMAD_TRY_ASSIGN(last_message_,
                  writer_.add_message({.id = content_id("msg-", fmt::format("{}\n{}\n{}", session_,
                                                                            item.line, text)),
                                       .session = session_,
                                       .agent = is_user ? "" : std::string(kCodexAgent),
                                       .timestamp = item.timestamp,
                                       .parent = last_message_,
                                       .role = role,
                                       .text = stripped(text),
                                       .line = item.line,
                                       .from_agent = !is_user}));
  return {};
}

Status CodexImport::take_call(const Item& item, std::string_view type) {
  std::string_view tool = item.value["name"].string();
  if (tool.empty()) {
    tool = type.substr(0, type.size() - std::string_view("_call").size());
  }
  std::string id(item.value["call_id"].string());
  if (id.empty()) {
    id = item.value["id"].string();
  }
  tools_.set(id, std::string(tool));
  const std::string text = arguments_text(item.value);
  return writer_.add_tool_call({.id = id,
                                .session = session_,
                                .agent = std::string(kCodexAgent),
                                .timestamp = item.timestamp,
                                .tool = tool,
                                .text = text,
                                .reference = last_message_,
                                .line = item.line});
}

Status CodexImport::take_output(const Item& item) {
  const std::string id(item.value["call_id"].string());
  const std::string* tool = tools_.find(id);
  bool is_error = false;
  const std::string text = output_text(item.value["output"], is_error);
  return writer_.add_tool_result({.id = id.empty() ? "" : id + "-result",
                                  .session = session_,
                                  .agent = std::string(kCodexAgent),
                                  .timestamp = item.timestamp,
                                  .tool = tool != nullptr ? std::string_view(*tool) : "",
                                  .text = text,
                                  .reference = id,
                                  .line = item.line,
                                  .is_error = is_error});
}

}  // namespace bmad_mem::cli
