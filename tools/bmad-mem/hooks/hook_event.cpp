// hook_event.cpp - reads the payload of a hook by the facts of its client.
#include "hooks/hook_event.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/agents.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

using enum HookEventKind;

/// Copilot CLI calls the hooks in settings of Claude Code, too, and those of its own say the same.
/// Claude Code always names its transcript, and no time.
bool is_of_copilot(const ClientFacts& client, JsonValue payload) {
  return client.name == "claude-code" && payload["timestamp"].is_string() &&
         !payload["transcript_path"].present();
}

/// Whether nothing in the event says that the client or an agent wrote the prompt. Claude Code
/// names who did it as "source", where it does; what it writes itself begins with a tag.
bool is_typed_text(const HookEvent& event, JsonValue payload) {
  return !event.is_machine_text && first_string(payload, {"agent_id", "subagent_id"}).empty() &&
         !stripped(event.text).starts_with('<') && (event.source.empty() || event.source == "user");
}

void read_text(HookEvent& event, JsonValue payload, const HookEventRow& row) {
  std::string_view raw = payload[row.text].string();
  raw = raw.substr(0, row.until.empty() ? raw.npos : raw.find(row.until));
  event.is_machine_text =
      event.kind == kPrompt && (is_machine_text(raw) || payload["source"].string() == "system");
  const std::string text = without_injected(raw);
  const std::string_view said = stripped(text);
  // The first line stays indented: so one sees that it is code, and no sentence of the person.
  const std::size_t begin = said.empty() ? 0 : static_cast<std::size_t>(said.data() - text.data());
  const std::size_t line =
      std::string_view(text).substr(0, begin).rfind('\n') + 1;  // npos + 1 is 0.
  event.text =
      utf8_prefix(std::string_view(text).substr(line, begin - line + said.size()), kMessageSizeMax);
}

}  // namespace

HookEvent read_hook_event(const ClientFacts& client, JsonValue payload) {
  HookEvent event{.client = &client};
  event.name = first_string(payload, {client.event_key, "hook_event_name"});
  const auto row = std::ranges::find(client.events, event.name, &HookEventRow::name);
  if (row == client.events.end() || is_of_copilot(client, payload)) {
    return event;
  }
  event.kind = row->kind;
  event.answer = row->answer;
  // Cline 3 names the task by its agent; its files, and all agents of the session, have the other.
  event.transcript = first_string(payload["sessionContext"], {"rootSessionId"});
  std::string_view session = event.transcript.empty()
                                 ? first_string(payload, {client.session_key, "session_id"})
                                 : event.transcript;
  if (session == payload["agent_id"].string()) {  // Copilot has a session for each sub-agent.
    session = first_string(payload, {"parent_agent_id", "agent_id"});
  }
  if (!session.empty()) {
    event.session_id = session_id_from(client.session_prefix, session);
  }
  const JsonValue told = row->inside.empty() ? payload : payload[row->inside];
  event.folders.emplace_back(payload["cwd"].string());
  for (const std::string_view key : {"workspace_roots", "workspaceRoots"}) {
    std::ranges::move(json_strings(payload[key]), std::back_inserter(event.folders));
  }
  std::erase_if(event.folders, [](const std::string& folder) { return !folder.starts_with('/'); });
  event.turn = first_string(payload, {"prompt_id", "turn_id", "generation_id", "execution_id"});
  event.source = payload["source"].string();
  event.is_continued = payload["stop_hook_active"].boolean();
  // Cline names its agent also where that is no sub-agent.
  if (const JsonValue parent = payload["parent_agent_id"];
      !parent.present() || parent.is_string()) {
    event.agent_instance = first_string(payload, {"agent_id", "subagent_id"});
  }
  event.agent = first_string(payload, {"agent_type", "subagent_type"});
  event.is_sidechain =
      event.kind == kSubagentStart || event.kind == kSubagentStop || !event.agent_instance.empty();
  if (!row->text.empty()) {
    read_text(event, told, *row);
    event.is_typed = event.kind == kPrompt && client.proves_typed &&
                     is_typed_text(event, payload) && is_hook_of(client.name);
  }
  if (event.kind == kBeforeTool || event.kind == kAfterTool) {
    event.tool = read_tool_call(*row, told);
    if (event.tool.id.empty()) {  // Cline 3 has it beside the call, in its own form.
      event.tool.id = payload[event.name]["id"].string();
    }
  }
  return event;
}

bool is_own_tool_call(const HookToolCall& call) {
  static constexpr std::array<std::string_view, 16> kOurTools = {
      "memory_search",   "memory_context", "memory_add",    "memory_get",
      "memory_remember", "memory_recall",  "memory_delete", "memory_sessions",
      "memory_stats",    "memory_summary", "memory_update", "memory_forget",
      "memory_session",  "memory_link",    "memory_review", "memory_more"};
  // "mcp__bmad-mem__memory_add", "mcp_bmad-mem_memory_add", "MCP:memory_add"; and where the server
  // stands in front, "bmad-mem_memory_add", "bmad-mem-memory_add".
  const std::string_view name = call.name;
  const std::string_view command = stripped(call.command);
  const bool is_mcp = name.starts_with("mcp_") || name.starts_with("MCP:");
  const auto ends_name = [&](std::string_view tool) { return name.ends_with(tool); };
  return name.starts_with("bmad-mem_") || name.starts_with("bmad-mem-") ||
         (is_mcp && (name.contains("_bmad-mem_") || std::ranges::any_of(kOurTools, ends_name))) ||
         call.path.contains(".bmad/memory/") ||
         base_name(command.substr(0, command.find_first_of(" \t\n"))) == "bmad-mem";
}

bool takes_context(const HookEvent& event) { return event.answer != HookAnswer::kNoAnswer; }

std::string hook_answer(const HookEvent& event, std::string_view context,
                        std::string_view for_person) {
  using enum HookAnswer;
  const HookAnswer form = event.answer;
  if (form == kText) {
    return context.empty() ? std::string() : std::string(context) + '\n';
  }
  std::string json = "{}";
  if (form == kHookSpecific || form == kBothWays) {
    // A name other than the event's own makes Claude Code throw the answer away.
    const auto specific = object_of("hookEventName", event.name, "additionalContext", context);
    json = json_object("systemMessage", if_some(for_person), "additionalContext",
                       if_some(form == kBothWays ? context : ""), "hookSpecificOutput",
                       only_if(!context.empty(), specific));
  } else if (form == kCursor) {
    json = json_object("continue", if_some(event.kind == HookEventKind::kPrompt),
                       "additional_context", if_some(context));
  } else if (form == kCline && !context.empty()) {
    json = json_object("cancel", false, "contextModification", context);
  } else if (form == kContinue && !context.empty()) {
    json = json_object("decision", "block", "reason", context);
  }
  return json == "{}" ? std::string() : json + '\n';
}

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
  if (response.is_string() || response.is_array()) {
    return tool_result_text(response);
  }
  if (response["structuredPatch"].is_array()) {
    return patch_counts(response["structuredPatch"]);
  }
  if (response["stdout"].is_string() || response["stderr"].is_string()) {
    std::string said(stripped(response["stdout"].string()));
    append_part(said, stripped(response["stderr"].string()), "\n");
    return said;
  }
  if (const JsonValue file = response["file"]; file.is_object()) {  // What was read.
    return std::string(file["content"].string());
  }
  for (const JsonValue content : {response["content"], response["llmContent"]}) {
    if (content.is_string() || content.is_array()) {
      return tool_result_text(content);
    }
  }
  const std::string_view text =
      first_string(response, {"text_result_for_llm", "returnDisplay", "result", "error"});
  return text.empty() ? tool_input_text(response) : std::string(text);  // A line for each member.
}

/// Cursor hands JSON on as text.
std::string response_in_text(std::string_view text) {
  const ParsedJson value(text);
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
