#include "cli/maintenance_view.hpp"

#include <fmt/core.h>

#include "bmad_mem/rfc3339.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

std::string action_text(const MaintenanceAction& action) {
  // Some sentences begin with what is counted.
  const bool wants_count = action.what.starts_with("entries") || action.what.starts_with("lines");
  return fmt::format("{}{}{}: {}{}", action.task, action.session_id.empty() ? "" : " ",
                     action.session_id, wants_count ? format_count(action.count) + " " : "",
                     printable(action.what));
}

void add_action(JsonWriter& json, const MaintenanceAction& action) {
  json.begin_object().member("task", action.task);
  if (!action.session_id.empty()) {
    json.member("session_id", action.session_id);
  }
  json.member("count", action.count).member("what", action.what).end_object();
}

void note_maintenance(Tool& tool, MemoryManager& memory) {
  for (const MaintenanceAction& action : memory.maintained_by_the_way()) {
    tool.note(action_text(action));
  }
}

std::string due_text(Timestamp next_due, Timestamp now) {
  if (next_due == Timestamp::max()) {
    return "never";
  }
  return next_due <= now ? "now" : format_rfc3339(next_due);
}

}  // namespace bmad_mem::cli
