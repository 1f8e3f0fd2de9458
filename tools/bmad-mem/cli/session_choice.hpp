// session_choice.hpp - which session a command means when it isn't told, and sessions as text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// --session, else $BMAD_SESSION, else the only open session.
/// Errors: E_SESSION_NOT_FOUND when none or several are open, saying what to do.
Result<std::string> choose_session(Tool& tool, const MemoryManager& memory);

/// --session, else $BMAD_SESSION, else the open session that was written last, else a new one; a
/// note says so where there was a choice. For commands that write. Before a new one is made
/// `is_needed` is asked: an error is passed on, and when it says no, the answer is nothing.
Result<std::optional<std::string>> choose_or_open_session(
    Tool& tool, MemoryManager& memory, const std::function<Result<bool>()>& is_needed);

/// The session as one JSON object.
std::string session_as_json(const MemoryManager& memory, const Session& session);

/// "active", "idle", "closed" or "damaged".
std::string_view session_state(const MemoryManager& memory, const Session& session);

}  // namespace bmad_mem::cli
