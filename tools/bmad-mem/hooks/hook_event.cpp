#include "hooks/hook_event.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"
#include "hooks/hook_tool_text.hpp"

namespace bmad_mem::cli {
namespace {

/// Longest message that is kept, in bytes: as importers have it.

/// What an event of a client is, and the member that holds its text.
struct EventRow {
  std::string_view name;
  HookEventKind kind;
  std::string_view text = {};
};

constexpr std::array kClaudeEvents = {
    EventRow{"SessionStart", HookEventKind::kSessionStart},
    EventRow{"UserPromptSubmit", HookEventKind::kPrompt, "prompt"},
    EventRow{"PreToolUse", HookEventKind::kBeforeTool},
    EventRow{"PostToolUse", HookEventKind::kAfterTool},
    EventRow{"PostToolUseFailure", HookEventKind::kAfterTool},
    EventRow{"Stop", HookEventKind::kMessage, "last_assistant_message"},
    EventRow{"SubagentStart", HookEventKind::kSubagentStart},
    EventRow{"SubagentStop", HookEventKind::kSubagentStop, "last_assistant_message"},
    EventRow{"PreCompact", HookEventKind::kBeforeCompact},
    EventRow{"PostCompact", HookEventKind::kAfterCompact, "compact_summary"},
    EventRow{"SessionEnd", HookEventKind::kSessionEnd},
};

constexpr std::array kGeminiEvents = {
    EventRow{"SessionStart", HookEventKind::kSessionStart},
    EventRow{"BeforeAgent", HookEventKind::kPrompt, "prompt"},
    EventRow{"AfterAgent", HookEventKind::kMessage, "prompt_response"},
    EventRow{"BeforeTool", HookEventKind::kBeforeTool},
    EventRow{"AfterTool", HookEventKind::kAfterTool},
    EventRow{"PreCompress", HookEventKind::kBeforeCompact},
    EventRow{"SessionEnd", HookEventKind::kSessionEnd},
};

/// beforeShellExecution and beforeMCPExecution ask for a permission and are no place for a memory:
/// what they say, the events behind the call say as well.
constexpr std::array kCursorEvents = {
    EventRow{"sessionStart", HookEventKind::kSessionStart},
    EventRow{"beforeSubmitPrompt", HookEventKind::kPrompt, "prompt"},
    EventRow{"preToolUse", HookEventKind::kBeforeTool},
    EventRow{"postToolUse", HookEventKind::kAfterTool},
    EventRow{"postToolUseFailure", HookEventKind::kAfterTool},
    EventRow{"beforeReadFile", HookEventKind::kBeforeTool},
    EventRow{"afterShellExecution", HookEventKind::kAfterTool},
    EventRow{"afterMCPExecution", HookEventKind::kAfterTool},
    EventRow{"afterFileEdit", HookEventKind::kAfterTool},
    EventRow{"afterAgentResponse", HookEventKind::kMessage, "text"},
    EventRow{"stop", HookEventKind::kMessage, "last_assistant_message"},
    EventRow{"subagentStart", HookEventKind::kSubagentStart},
    EventRow{"subagentStop", HookEventKind::kSubagentStop, "summary"},
    EventRow{"preCompact", HookEventKind::kBeforeCompact},
    EventRow{"sessionEnd", HookEventKind::kSessionEnd},
};

std::span<const EventRow> events_of(HookClient client) {
  switch (client) {
    case HookClient::kClaudeCode:
    case HookClient::kCodex:
      return kClaudeEvents;
    case HookClient::kGemini:
      return kGeminiEvents;
    case HookClient::kCursor:
      break;
  }
  return kCursorEvents;
}

/// The first of these members that is a text with something in it.
std::string_view first_text(JsonValue payload, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view text = payload[key].string(); !text.empty()) {
      return text;
    }
  }
  return {};
}

/// Beginnings of prompts that clients write themselves, besides those in transcripts.
constexpr std::array<std::string_view, 4> kMachinePrompts = {
    "<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md"};

bool is_machine_prompt(JsonValue payload, std::string_view prompt) {
  return is_machine_text(prompt) || payload["source"].string() == "system" ||
         std::ranges::any_of(kMachinePrompts, [&](std::string_view beginning) {
           return stripped(prompt).starts_with(beginning);
         });
}

void add_folder(std::vector<std::string>& folders, std::string_view folder) {
  if (folder.starts_with('/')) {
    folders.emplace_back(folder);
  }
}

void read_text(HookEvent& event, JsonValue payload, std::string_view key) {
  const std::string_view raw = payload[key].string();
  event.is_machine_text = event.kind == HookEventKind::kPrompt && is_machine_prompt(payload, raw);
  const std::string text = without_injected(raw);
  event.text = utf8_prefix(stripped(text), kMessageSizeMax);
}

}  // namespace

HookEvent read_hook_event(HookClient client, JsonValue payload) {
  HookEvent event{.client = client};
  event.name = payload["hook_event_name"].string();
  const std::span<const EventRow> rows = events_of(client);
  const auto row = std::ranges::find(rows, event.name, &EventRow::name);
  if (row == rows.end()) {
    return event;
  }
  event.kind = row->kind;
  const std::string_view session = client == HookClient::kCursor
                                       ? first_text(payload, {"conversation_id", "session_id"})
                                       : payload["session_id"].string();
  if (!session.empty()) {
    event.session_id = session_id_from(hook_client_info(client).session_prefix, session);
  }
  add_folder(event.folders, payload["cwd"].string());
  for (const JsonValue root : payload["workspace_roots"].elements()) {
    add_folder(event.folders, root.string());
  }
  event.turn = first_text(payload, {"prompt_id", "turn_id", "generation_id"});
  event.source = payload["source"].string();
  event.agent_instance = first_text(payload, {"agent_id", "subagent_id"});
  event.agent = first_text(payload, {"agent_type", "subagent_type"});
  event.is_sidechain = event.kind == HookEventKind::kSubagentStart ||
                       event.kind == HookEventKind::kSubagentStop || !event.agent_instance.empty();
  if (!row->text.empty()) {
    read_text(event, payload, row->text);
  }
  if (event.kind == HookEventKind::kBeforeTool || event.kind == HookEventKind::kAfterTool) {
    event.tool = read_tool_call(event.name, payload);
  }
  return event;
}

bool is_own_tool_call(const HookToolCall& call) {
  static constexpr std::array<std::string_view, 10> kOurTools = {
      "memory_search", "memory_context", "memory_add",      "memory_get",   "memory_remember",
      "memory_recall", "memory_delete",  "memory_sessions", "memory_stats", "memory_summary"};
  // "mcp__bmad-mem__memory_add", "mcp_bmad-mem_memory_add", "MCP:memory_add".
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

std::string without_injected(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMarks = {{
      {kInjectedBegin, kInjectedEnd},
      {"<hook_context>", "</hook_context>"},  // What Gemini CLI puts around it.
  }};
  std::string out(text);
  for (const auto& [begin, end] : kMarks) {
    for (std::size_t at = out.find(begin); at != std::string::npos; at = out.find(begin, at)) {
      const std::size_t stop = out.find(end, at);
      out.erase(at, stop == std::string::npos ? stop : stop + end.size() - at);
    }
  }
  return out;
}

}  // namespace bmad_mem::cli
