#include "hooks/hook_clients.hpp"

#include <algorithm>
#include <cstddef>

namespace bmad_mem::cli {
namespace {

using enum HookEventKind;
using enum HookAnswer;

constexpr HookEventRow kClaudeEvents[] = {
    {"SessionStart", kSessionStart, "", 10, kHookSpecific},
    {"UserPromptSubmit", kPrompt, "prompt", 10, kHookSpecific},
    {"PreToolUse", kBeforeTool},
    {.name = "PostToolUse", .kind = kAfterTool, .timeout_s = 30, .in_background = true},
    {.name = "PostToolUseFailure", .kind = kAfterTool, .timeout_s = 30, .in_background = true},
    {"Stop", kMessage, "last_assistant_message", 10, kContinue},
    {"SubagentStart", kSubagentStart, "", 10},
    {"SubagentStop", kSubagentStop, "last_assistant_message", 10},
    {"PreCompact", kBeforeCompact, "", 10, kText},  // Added to the instructions as it is.
    {"PostCompact", kAfterCompact, "compact_summary", 10},
    {"SessionEnd", kSessionEnd, "", 10},
};

constexpr HookEventRow kCodexEvents[] = {
    {"SessionStart", kSessionStart, "", 10, kHookSpecific},
    {"UserPromptSubmit", kPrompt, "prompt", 10, kHookSpecific},
    {"PreToolUse", kBeforeTool},
    {"PostToolUse", kAfterTool, "", 10},
    {"PostToolUseFailure", kAfterTool},
    {"Stop", kMessage, "last_assistant_message", 10, kContinue},
    {"SubagentStart", kSubagentStart, "", 10},
    {"SubagentStop", kSubagentStop, "last_assistant_message", 10},
    {"PreCompact", kBeforeCompact, "", 10},
    {"PostCompact", kAfterCompact, "compact_summary", 10},
    {"SessionEnd", kSessionEnd, "", 3},
};

/// PreCompress is not asked for: what is printed then is ignored, and no event says that the
/// compression has ended.
constexpr HookEventRow kGeminiEvents[] = {
    {"SessionStart", kSessionStart, "", 10, kHookSpecific},
    {"BeforeAgent", kPrompt, "prompt", 10, kHookSpecific},
    {"AfterAgent", kMessage, "prompt_response", 10},
    {"BeforeTool", kBeforeTool},
    {"AfterTool", kAfterTool, "", 10},
    {"PreCompress", kBeforeCompact},
    {"SessionEnd", kSessionEnd, "", 10},
};

/// beforeShellExecution and beforeMCPExecution ask for a permission and are no place for a memory:
/// what they say, the events behind the call say as well. So it is with those that aren't asked
/// for. preCompact is told for nothing: it takes no answer, and no event follows it.
constexpr HookEventRow kCursorEvents[] = {
    {"sessionStart", kSessionStart, "", 10, kCursor},
    {"beforeSubmitPrompt", kPrompt, "prompt", 10, kCursor},
    {"preToolUse", kBeforeTool},
    {"postToolUse", kAfterTool, "", 10},
    {"postToolUseFailure", kAfterTool, "", 10},
    {.name = "beforeReadFile", .kind = kBeforeTool, .tool = "Read"},
    {.name = "afterShellExecution", .kind = kAfterTool, .tool = "Shell"},
    {.name = "afterMCPExecution", .kind = kAfterTool, .tool = "MCP:"},
    {.name = "afterFileEdit", .kind = kAfterTool, .tool = "Edit"},
    {"afterAgentResponse", kMessage, "text", 10},
    {"stop", kMessage, "last_assistant_message"},
    {"subagentStart", kSubagentStart, "", 10},
    {"subagentStop", kSubagentStop, "summary", 10},
    {"preCompact", kBeforeCompact},
    {"sessionEnd", kSessionEnd, "", 10},
};

/// Names in this spelling make Copilot CLI tell of its events in the form of VS Code, so that one
/// file is for both. VS Code knows no SessionEnd and no failures, and leaves them out. What is
/// printed at a prompt goes nowhere; Stop has no text.
constexpr HookEventRow kCopilotEvents[] = {
    {"SessionStart", kSessionStart, "", 10, kBothWays},
    {"UserPromptSubmit", kPrompt, "prompt", 10},
    {"PreToolUse", kBeforeTool},
    {"PostToolUse", kAfterTool, "", 10},
    {"PostToolUseFailure", kAfterTool, "", 10},
    {"Stop", kMessage, "last_assistant_message"},
    {"SubagentStart", kSubagentStart},
    {"SubagentStop", kSubagentStop, "last_assistant_message", 10},
    {"PreCompact", kBeforeCompact},
    {"SessionEnd", kSessionEnd, "", 10},
};

/// Told by our plugin (install/opencode_plugin.js), by the names that opencode has for them.
constexpr HookEventRow kOpencodeEvents[] = {
    {"session.created", kSessionStart, "", 10, kText},
    {"chat.message", kPrompt, "prompt", 10, kText},
    {"tool.execute.after", kAfterTool, "", 10},
    {"session.idle", kMessage, "text", 10},
    {"experimental.session.compacting", kBeforeCompact, "", 10, kText},
    {"session.compacted", kAfterCompact, "", 10},
};

/// Cascade says nothing of a session's start or end, and takes no context.
constexpr HookEventRow kWindsurfEvents[] = {
    {"pre_user_prompt", kPrompt, "user_prompt", 10, kNoAnswer, false, "tool_info"},
    {"post_read_code", kAfterTool, "", 10, kNoAnswer, false, "tool_info", "Read"},
    {"post_write_code", kAfterTool, "", 10, kNoAnswer, false, "tool_info", "Edit"},
    {"post_run_command", kAfterTool, "", 10, kNoAnswer, false, "tool_info", "Shell"},
    {"post_mcp_tool_use", kAfterTool, "", 10, kNoAnswer, false, "tool_info", "MCP:"},
    {"post_cascade_response", kMessage, "response", 10, kNoAnswer, false, "tool_info"},
};

/// In 0.24 tools and hooks send prompts, too: "prompt" is the text for the model, and
/// "submitted_prompt" what was typed. Without that, as in 0.15, nothing says whose words it has.
constexpr HookEventRow kQwenEvents[] = {
    {"SessionStart", kSessionStart, "", 10, kHookSpecific},
    {"UserPromptSubmit", kPrompt, "submitted_prompt", 10, kHookSpecific},
    {"PreToolUse", kBeforeTool},
    {.name = "PostToolUse", .kind = kAfterTool, .timeout_s = 30, .in_background = true},
    {.name = "PostToolUseFailure", .kind = kAfterTool, .timeout_s = 30, .in_background = true},
    {"Stop", kMessage, "last_assistant_message", 10, kContinue},
    {"SubagentStart", kSubagentStart, "", 10},
    {"SubagentStop", kSubagentStop, "last_assistant_message", 10},
    {"PreCompact", kBeforeCompact, "", 10, kHookSpecific},
    {"PostCompact", kAfterCompact, "compact_summary", 10},
    {"SessionEnd", kSessionEnd, "", 10},
};

/// Files have the names that are asked for. Cline 3 calls them as well, but by names of its own and
/// at each turn: the last ones. Before it, no event has an answer's text.
constexpr HookEventRow kClineEvents[] = {
    {"TaskStart", kSessionStart, "", 10, kCline, false, "taskStart"},
    {"TaskResume", kSessionStart, "", 10, kCline, false, "taskResume"},
    {"UserPromptSubmit", kPrompt, "prompt", 10, kCline, false, "userPromptSubmit"},
    {.name = "PreToolUse", .kind = kBeforeTool, .inside = "preToolUse"},
    {.name = "PostToolUse", .kind = kAfterTool, .timeout_s = 10, .inside = "postToolUse"},
    {"PreCompact", kBeforeCompact},
    {.name = "TaskCancel", .kind = kSessionEnd, .timeout_s = 10, .inside = "taskCancel"},
    {.name = "TaskComplete", .kind = kSessionEnd, .timeout_s = 10, .inside = "taskComplete"},
    {"agent_start", kSessionStart, "", 0, kCline, false, "taskStart"},
    {"agent_resume", kSessionStart, "", 0, kCline, false, "taskResume"},
    {"prompt_submit", kPrompt, "prompt", 0, kCline, false, "userPromptSubmit"},
    {.name = "tool_result", .kind = kAfterTool, .inside = "postToolUse"},
    {.name = "agent_end", .kind = kMessage, .text = "outputText", .inside = "turn"},
};

/// Prefixes are parts of session ids that are stored: never change them.
constexpr HookClientInfo kHookClients[] = {
    {"claude-code", "Claude Code", "cc-", "hook_event_name", "session_id", kClaudeEvents, true},
    {"codex", "Codex", "codex-", "hook_event_name", "session_id", kCodexEvents, true},
    {"gemini", "Gemini CLI", "gemini-", "hook_event_name", "session_id", kGeminiEvents},
    {"cursor", "Cursor", "cursor-", "hook_event_name", "conversation_id", kCursorEvents},
    {"copilot", "GitHub Copilot", "copilot-", "hookEventName", "sessionId", kCopilotEvents},
    {"opencode", "opencode", "opencode-", "hook_event_name", "session_id", kOpencodeEvents},
    {"windsurf", "Windsurf", "windsurf-", "agent_action_name", "trajectory_id", kWindsurfEvents},
    {"qwen", "Qwen Code", "qwen-", "hook_event_name", "session_id", kQwenEvents, true},
    {"cline", "Cline", "cline-", "hookName", "taskId", kClineEvents},
};

}  // namespace

std::span<const HookClientInfo> hook_clients() { return kHookClients; }

const HookClientInfo& hook_client_info(HookClient client) {
  return kHookClients[static_cast<std::size_t>(client)];
}

std::optional<HookClient> find_hook_client(std::string_view name) {
  const auto* const found = std::ranges::find(kHookClients, name, &HookClientInfo::name);
  return found == std::end(kHookClients)
             ? std::nullopt
             : std::optional(static_cast<HookClient>(found - std::begin(kHookClients)));
}

bool has_end_of_compaction(HookClient client) {
  return std::ranges::any_of(hook_client_info(client).events, [](const HookEventRow& event) {
    return event.kind == kAfterCompact && event.timeout_s != 0;
  });
}

}  // namespace bmad_mem::cli
