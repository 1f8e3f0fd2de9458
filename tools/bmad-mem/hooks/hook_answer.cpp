#include "hooks/hook_answer.hpp"

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

/// The form of Claude Code, which others have taken over. An event name other than the event's own
/// makes Claude Code throw the answer away.
std::string additional_context(const HookEvent& event, std::string_view context,
                               std::string_view for_person, bool both_ways) {
  JsonWriter json;
  json.begin_object();
  if (!for_person.empty()) {
    json.member("systemMessage", for_person);
  }
  if (both_ways && !context.empty()) {
    json.member("additionalContext", context);
  }
  if (!context.empty()) {
    json.key("hookSpecificOutput").begin_object();
    json.member("hookEventName", event.name).member("additionalContext", context);
    json.end_object();
  }
  json.end_object();
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

std::string cline_answer(std::string_view context) {
  JsonWriter json;
  json.begin_object().member("cancel", false).member("contextModification", context).end_object();
  return json.take() + '\n';
}

std::string continuing_answer(std::string_view reason) {
  JsonWriter json;
  json.begin_object().member("decision", "block").member("reason", reason).end_object();
  return json.take() + '\n';
}

}  // namespace

bool takes_context(const HookEvent& event) { return event.answer != HookAnswer::kNoAnswer; }

std::string hook_answer(const HookEvent& event, std::string_view context,
                        std::string_view for_person) {
  if (event.answer == HookAnswer::kCursor) {
    return cursor_answer(event, context);
  }
  const bool tells_person =
      event.answer == HookAnswer::kHookSpecific || event.answer == HookAnswer::kBothWays;
  if (context.empty() && (for_person.empty() || !tells_person)) {
    return {};
  }
  switch (event.answer) {
    case HookAnswer::kText:
      return std::string(context) + '\n';
    case HookAnswer::kHookSpecific:
      return additional_context(event, context, for_person, false);
    case HookAnswer::kBothWays:
      return additional_context(event, context, for_person, true);
    case HookAnswer::kContinue:
      return continuing_answer(context);
    case HookAnswer::kCline:
      return cline_answer(context);
    default:
      return {};
  }
}

}  // namespace bmad_mem::cli
