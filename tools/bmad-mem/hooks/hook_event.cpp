#include "hooks/hook_event.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

using enum HookEventKind;

constexpr HookEventRow kClaudeEvents[] = {
    {"SessionStart", kSessionStart, "", 10},
    {"UserPromptSubmit", kPrompt, "prompt", 10},
    {"PreToolUse", kBeforeTool},
    {"PostToolUse", kAfterTool, "", 30, true},
    {"PostToolUseFailure", kAfterTool, "", 30, true},
    {"Stop", kMessage, "last_assistant_message", 10},
    {"SubagentStart", kSubagentStart, "", 10},
    {"SubagentStop", kSubagentStop, "last_assistant_message", 10},
    {"PreCompact", kBeforeCompact, "", 10},
    {"PostCompact", kAfterCompact, "compact_summary", 10},
    {"SessionEnd", kSessionEnd, "", 10},
};

constexpr HookEventRow kCodexEvents[] = {
    {"SessionStart", kSessionStart, "", 10},
    {"UserPromptSubmit", kPrompt, "prompt", 10},
    {"PreToolUse", kBeforeTool},
    {"PostToolUse", kAfterTool, "", 10},
    {"PostToolUseFailure", kAfterTool},
    {"Stop", kMessage, "last_assistant_message", 10},
    {"SubagentStart", kSubagentStart, "", 10},
    {"SubagentStop", kSubagentStop, "last_assistant_message", 10},
    {"PreCompact", kBeforeCompact, "", 10},
    {"PostCompact", kAfterCompact, "compact_summary", 10},
    {"SessionEnd", kSessionEnd, "", 3},
};

constexpr HookEventRow kGeminiEvents[] = {
    {"SessionStart", kSessionStart, "", 10},
    {"BeforeAgent", kPrompt, "prompt", 10},
    {"AfterAgent", kMessage, "prompt_response", 10},
    {"BeforeTool", kBeforeTool},
    {"AfterTool", kAfterTool, "", 10},
    {"PreCompress", kBeforeCompact, "", 10},
    {"SessionEnd", kSessionEnd, "", 10},
};

/// beforeShellExecution and beforeMCPExecution ask for a permission and are no place for a memory:
/// what they say, the events behind the call say as well. So it is with those that aren't asked
/// for.
constexpr HookEventRow kCursorEvents[] = {
    {"sessionStart", kSessionStart, "", 10},
    {"beforeSubmitPrompt", kPrompt, "prompt", 10},
    {"preToolUse", kBeforeTool},
    {"postToolUse", kAfterTool, "", 10},
    {"postToolUseFailure", kAfterTool, "", 10},
    {"beforeReadFile", kBeforeTool},
    {"afterShellExecution", kAfterTool},
    {"afterMCPExecution", kAfterTool},
    {"afterFileEdit", kAfterTool},
    {"afterAgentResponse", kMessage, "text", 10},
    {"stop", kMessage, "last_assistant_message"},
    {"subagentStart", kSubagentStart, "", 10},
    {"subagentStop", kSubagentStop, "summary", 10},
    {"preCompact", kBeforeCompact, "", 10},
    {"sessionEnd", kSessionEnd, "", 10},
};

/// In the order of the enum. Prefixes are parts of session ids that are stored: never change them.
constexpr HookClientInfo kHookClients[] = {
    {"claude-code", "Claude Code", "cc-", kClaudeEvents},
    {"codex", "Codex", "codex-", kCodexEvents},
    {"gemini", "Gemini CLI", "gemini-", kGeminiEvents},
    {"cursor", "Cursor", "cursor-", kCursorEvents},
};

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
  event.is_machine_text = event.kind == kPrompt && is_machine_prompt(payload, raw);
  const std::string text = without_injected(raw);
  event.text = utf8_prefix(stripped(text), kMessageSizeMax);
}

}  // namespace

const HookClientInfo& hook_client_info(HookClient client) {
  return kHookClients[static_cast<std::size_t>(client)];
}

std::optional<HookClient> find_hook_client(std::string_view name) {
  const auto* const found = std::ranges::find(kHookClients, name, &HookClientInfo::name);
  return found == std::end(kHookClients)
             ? std::nullopt
             : std::optional(static_cast<HookClient>(found - std::begin(kHookClients)));
}

HookEvent read_hook_event(HookClient client, JsonValue payload) {
  HookEvent event{.client = client};
  event.name = payload["hook_event_name"].string();
  const std::span<const HookEventRow> rows = hook_client_info(client).events;
  const auto row = std::ranges::find(rows, event.name, &HookEventRow::name);
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
  event.is_sidechain =
      event.kind == kSubagentStart || event.kind == kSubagentStop || !event.agent_instance.empty();
  if (!row->text.empty()) {
    read_text(event, payload, row->text);
  }
  if (event.kind == kBeforeTool || event.kind == kAfterTool) {
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
