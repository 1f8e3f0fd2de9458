#include "hooks/hook_answer.hpp"

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

/// The form of Claude Code, which Codex and Gemini CLI have taken over. An event name other than
/// the event's own makes Claude Code throw the answer away.
std::string additional_context(const HookEvent& event, std::string_view context) {
  JsonWriter json;
  json.begin_object().key("hookSpecificOutput").begin_object();
  json.member("hookEventName", event.name).member("additionalContext", context);
  json.end_object().end_object();
  return json.take() + '\n';
}

std::string cursor_answer(const HookEvent& event, std::string_view context) {
  JsonWriter json;
  json.begin_object();
  if (event.kind == HookEventKind::kPrompt) {
    json.member("continue", true);
  }
  if (!context.empty()) {
    json.member("additional_context", context);
  }
  json.end_object();
  return json.text() == "{}" ? std::string() : json.take() + '\n';
}

}  // namespace

bool takes_context(const HookEvent& event) {
  switch (event.kind) {
    case HookEventKind::kSessionStart:
    case HookEventKind::kPrompt:
      return true;
    case HookEventKind::kBeforeCompact:
      // The others ignore what is printed then, or complain.
      return event.client == HookClient::kClaudeCode;
    default:
      return false;
  }
}

std::string hook_answer(const HookEvent& event, std::string_view context) {
  if (!takes_context(event)) {
    return {};
  }
  if (event.client == HookClient::kCursor) {
    return cursor_answer(event, context);
  }
  if (context.empty()) {
    return {};
  }
  if (event.kind == HookEventKind::kBeforeCompact) {
    return std::string(context) + '\n';  // Added to the instructions as it is.
  }
  return additional_context(event, context);
}

}  // namespace bmad_mem::cli
