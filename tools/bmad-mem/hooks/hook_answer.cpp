#include "hooks/hook_answer.hpp"

#include "bmad_mem/json_writer.hpp"
#include "cli/json_text.hpp"

namespace bmad_mem::cli {

bool takes_context(const HookEvent& event) { return event.answer != HookAnswer::kNoAnswer; }

std::string hook_answer(const HookEvent& event, std::string_view context,
                        std::string_view for_person) {
  using enum HookAnswer;
  const HookAnswer form = event.answer;
  if (form == kText) {
    return context.empty() ? std::string() : std::string(context) + '\n';
  }
  JsonWriter json;
  json.begin_object();
  if (form == kHookSpecific || form == kBothWays) {
    add_text(json, "systemMessage", for_person);
    add_text(json, "additionalContext", form == kBothWays ? context : "");
    if (!context.empty()) {
      // A name other than the event's own makes Claude Code throw the answer away.
      json.key("hookSpecificOutput").begin_object();
      json.member("hookEventName", event.name).member("additionalContext", context);
      json.end_object();
    }
  } else if (form == kCursor) {
    if (event.kind == HookEventKind::kPrompt) {
      json.member("continue", true);
    }
    add_text(json, "additional_context", context);
  } else if (form == kCline && !context.empty()) {
    json.member("cancel", false).member("contextModification", context);
  } else if (form == kContinue && !context.empty()) {
    json.member("decision", "block").member("reason", context);
  }
  json.end_object();
  return json.text() == "{}" ? std::string() : json.take() + '\n';
}

}  // namespace bmad_mem::cli
