// hook_tool_text.cpp - what is kept of a tool's call: where, what with, what came out.

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "exchange/transcript_text.hpp"
#include "hooks/hook_event.hpp"

namespace bmad_mem::cli {
namespace {

/// So much of each side of an edit is compared: a diff that is cut to a snippet needs no more.
constexpr std::size_t kEditSizeMax = 16U << 10U;

std::string with_newline(std::string_view text) {
  std::string out(utf8_prefix(text, kEditSizeMax));
  if (!out.empty() && !out.ends_with('\n')) {
    out += '\n';
  }
  return out;
}

std::string diff_of(JsonValue edit) {
  static constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
      {"old_string", "new_string"}, {"oldString", "newString"}, {"old_str", "new_str"}};
  for (const auto& [before, after] : kKeys) {
    if (edit[before].is_string() && edit[after].is_string()) {
      return unified_diff(with_newline(edit[before].string()), with_newline(edit[after].string()),
                          1);
    }
  }
  return {};
}

/// A short diff of the edits in a tool's input (`old_string` and `new_string`, or a list `edits` of
/// such; VS Code and opencode write `oldString`, Copilot CLI `old_str`); empty when it edits
/// nothing.
std::string edit_diff(JsonValue input) {
  std::string out = diff_of(input);
  for (const JsonValue edit : input["edits"].elements()) {
    if (out.size() > kSnippetSizeMax) {
      break;
    }
    out += diff_of(edit);
  }
  return out;
}

/// How many lines a patch takes away and adds: what an edit says of itself. The diff stands with
/// the call.
std::string patch_counts(JsonValue patch) {
  std::size_t added = 0;
  std::size_t removed = 0;
  for (const JsonValue hunk : patch.elements()) {
    for (const JsonValue line : hunk["lines"].elements()) {
      added += line.string().starts_with('+') ? 1 : 0;
      removed += line.string().starts_with('-') ? 1 : 0;
    }
  }
  return fmt::format("{} added, {} removed", format_count(added, "line", "lines"), removed);
}

/// The text of a tool's answer, in whatever of the known shapes.
std::string response_text(JsonValue response) {
  const auto ignore = [](std::string_view) {};
  if (response.is_string() || response.is_array()) {
    return tool_result_text(response, ignore);
  }
  if (response["structuredPatch"].is_array()) {
    return patch_counts(response["structuredPatch"]);
  }
  if (response["stdout"].is_string() || response["stderr"].is_string()) {
    const std::string_view said = stripped(response["stdout"].string());
    const std::string_view complained = stripped(response["stderr"].string());
    return fmt::format("{}{}{}", said, said.empty() || complained.empty() ? "" : "\n", complained);
  }
  if (const JsonValue file = response["file"]; file.is_object()) {  // What was read.
    return std::string(file["content"].string());
  }
  for (const JsonValue content : {response["content"], response["llmContent"]}) {
    if (content.is_string() || content.is_array()) {
      return tool_result_text(content, ignore);
    }
  }
  for (const std::string_view key : {"text_result_for_llm", "returnDisplay", "result", "error"}) {
    if (!response[key].string().empty()) {
      return std::string(response[key].string());
    }
  }
  return tool_input_text(response);  // A line for each member.
}

/// Cursor hands JSON on as text.
std::string response_in_text(std::string_view text) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(text);
  return value && value->is_object() ? response_text(*value) : std::string(text);
}

std::string snippet(std::string_view text) {
  return std::string(words_prefix(stripped(text), kSnippetSizeMax));
}

/// The first of these members that is there.
JsonValue first_of(JsonValue payload, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (payload[key].present()) {
      return payload[key];
    }
  }
  return {};
}

std::string input_text(JsonValue input) {
  if (input.is_string()) {
    return std::string(input.string());
  }
  std::string diff = edit_diff(input);
  return diff.empty() ? tool_input_text(input) : std::move(diff);
}

void read_output(HookToolCall& call, JsonValue told) {
  const JsonValue response = first_of(told, {"tool_response", "tool_output", "tool_result",
                                             "result_json", "mcp_result", "result", "output"});
  const JsonValue error = first_of(told, {"error", "error_message"});
  std::string text;
  if (error.is_string() && !error.string().empty()) {
    call.failed = true;
    text = error.string();
  } else {
    text = response.is_string() ? response_in_text(response.string()) : response_text(response);
    call.failed = call.failed || !told["success"].boolean(true) ||
                  (response["error"].present() && response["error"].kind() != JsonKind::kNull);
  }
  text = without_injected(text);
  call.output_bytes = stripped(text).size();
  call.output = snippet(text);
}

/// Of an event that is about one tool, with what others have in an object of its own.
void read_input_at_the_top(HookToolCall& call, JsonValue told) {
  call.path = told["file_path"].string();
  call.command = first_of(told, {"command", "command_line"}).string();
  call.input = snippet(call.command.empty() ? edit_diff(told) : call.command);
}

void read_input(HookToolCall& call, JsonValue input) {
  // Cline calls all tools of servers by one tool.
  if (input["server_name"].is_string() && input["tool_name"].is_string()) {
    call.name = fmt::format("MCP:{}", input["tool_name"].string());
    input = input["arguments"];
  }
  call.path = tool_path(input);
  call.command = input["command"].string();
  call.input = snippet(input_text(input));
}

}  // namespace

HookToolCall read_tool_call(const HookEventRow& row, JsonValue told) {
  static constexpr std::string_view kServerTool = "MCP:";
  HookToolCall call;
  call.name = first_of(told, {"tool_name", "toolName", "mcp_tool_name"}).string();
  call.id = first_of(told, {"tool_call_id", "tool_use_id"}).string();  // Qwen Code has both.
  call.failed = row.name.ends_with("Failure");
  if (row.tool.empty() || row.tool == kServerTool) {
    call.name.insert(0, row.tool);  // As Cursor's other events name it.
    read_input(call, first_of(told, {"tool_input", "parameters", "mcp_tool_arguments"}));
  } else {
    call.name = row.tool;
    read_input_at_the_top(call, told);
  }
  if (row.kind == HookEventKind::kAfterTool) {
    read_output(call, told);
  }
  return call;
}

}  // namespace bmad_mem::cli
