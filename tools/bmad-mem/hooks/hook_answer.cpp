#include "hooks/hook_answer.hpp"

#include "cli/results.hpp"

namespace bmad_mem::cli {

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
