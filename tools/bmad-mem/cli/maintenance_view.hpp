// maintenance_view.hpp - what maintenance did or would do, as text and as JSON.
#pragma once

#include <string>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// "archive s1: would be archived".
std::string action_text(const MaintenanceAction& action);

/// The action as an object, behind a key or in an array.
void add_action(JsonWriter& json, const MaintenanceAction& action);

/// Says on stderr what opening or closing a session did by the way, so that nothing goes untold.
void note_maintenance(Tool& tool, MemoryManager& memory);

/// When the next run is due: a time, "now", or "never" when nothing goes by schedule.
std::string due_text(Timestamp next_due, Timestamp now);

}  // namespace bmad_mem::cli
