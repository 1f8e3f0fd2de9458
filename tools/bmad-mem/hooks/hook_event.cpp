#include "hooks/hook_event.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/agents.hpp"
#include "cli/results.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

using enum HookEventKind;

/// The first of these members that is a text with something in it.
std::string_view first_text(JsonValue payload, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = payload[key].string(); !text.empty()) {
      return text;
    }
  }
  return {};
}

bool is_machine_prompt(JsonValue payload, std::string_view prompt) {
  return is_machine_text(prompt) || payload["source"].string() == "system";
}

void add_folder(std::vector<std::string>& folders, std::string_view folder) {
  if (folder.starts_with('/')) {
    folders.emplace_back(folder);
  }
}

/// Copilot CLI calls the hooks in settings of Claude Code, too, and those of its own say the same.
/// Claude Code always names its transcript, and no time.
bool is_of_copilot(const ClientFacts& client, JsonValue payload) {
  return client.name == "claude-code" && payload["timestamp"].is_string() &&
         !payload["transcript_path"].present();
}

/// Whether nothing in the event says that the client or an agent wrote the prompt. Claude Code
/// names who did it as "source", where it does; what it writes itself begins with a tag.
bool is_typed_text(const HookEvent& event, JsonValue payload) {
  return !event.is_machine_text && first_text(payload, {"agent_id", "subagent_id"}).empty() &&
         !stripped(event.text).starts_with('<') && (event.source.empty() || event.source == "user");
}

void read_text(HookEvent& event, JsonValue payload, const HookEventRow& row) {
  std::string_view raw = payload[row.text].string();
  raw = raw.substr(0, row.until.empty() ? raw.npos : raw.find(row.until));
  event.is_machine_text = event.kind == kPrompt && is_machine_prompt(payload, raw);
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
  event.name = first_text(payload, {client.event_key, "hook_event_name"});
  const auto row = std::ranges::find(client.events, event.name, &HookEventRow::name);
  if (row == client.events.end() || is_of_copilot(client, payload)) {
    return event;
  }
  event.kind = row->kind;
  event.answer = row->answer;
  // Cline 3 names the task by its agent; its files, and all agents of the session, have the other.
  event.transcript = first_text(payload["sessionContext"], {"rootSessionId"});
  std::string_view session = event.transcript.empty()
                                 ? first_text(payload, {client.session_key, "session_id"})
                                 : event.transcript;
  if (session == payload["agent_id"].string()) {  // Copilot has a session for each sub-agent.
    session = first_text(payload, {"parent_agent_id", "agent_id"});
  }
  if (!session.empty()) {
    event.session_id = session_id_from(client.session_prefix, session);
  }
  const JsonValue told = row->inside.empty() ? payload : payload[row->inside];
  add_folder(event.folders, payload["cwd"].string());
  for (const std::string_view key : {"workspace_roots", "workspaceRoots"}) {
    for (const JsonValue root : payload[key].elements()) {
      add_folder(event.folders, root.string());
    }
  }
  event.turn = first_text(payload, {"prompt_id", "turn_id", "generation_id", "execution_id"});
  event.source = payload["source"].string();
  event.is_continued = payload["stop_hook_active"].boolean();
  // Cline names its agent also where that is no sub-agent.
  if (const JsonValue parent = payload["parent_agent_id"];
      !parent.present() || parent.is_string()) {
    event.agent_instance = first_text(payload, {"agent_id", "subagent_id"});
  }
  event.agent = first_text(payload, {"agent_type", "subagent_type"});
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
  if (name.starts_with("bmad-mem_") || name.starts_with("bmad-mem-")) {
    return true;
  }
  const bool is_mcp = call.name.starts_with("mcp_") || call.name.starts_with("MCP:");
  if (is_mcp && (call.name.contains("_bmad-mem_") ||
                 std::ranges::any_of(kOurTools, [&](std::string_view tool) {
                   return call.name.ends_with(tool);
                 }))) {
    return true;
  }
  if (call.path.contains(".bmad/memory/")) {
    return true;
  }
  const std::string_view command = stripped(call.command);
  return base_name(command.substr(0, command.find_first_of(" \t\n"))) == "bmad-mem";
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

}  // namespace bmad_mem::cli
