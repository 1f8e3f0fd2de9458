// session_choice.hpp - which session a command means when it isn't told, which entry by the
// beginning of an id, and sessions as text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Runs a command whose row says that it opens a memory, or a session of it. Errors: as
/// Tool::open() and choose_session().
template <Result<ExitStatus> (*kRun)(Tool& tool, MemoryManager& memory)>
Result<ExitStatus> with_memory(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  return kRun(tool, memory);
}
template <Result<ExitStatus> (*kRun)(Tool& tool, MemoryManager& memory, const std::string& session)>
Result<ExitStatus> with_session(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  return kRun(tool, memory, session);
}

/// `ids`, those that no entry has completed: an id may be given by its first characters, at least
/// 4, if one entry alone begins so (of many entries, one that bmad-mem made). What stays
/// unknown is for the caller to name. Errors: E_INVALID_QUERY for a beginning that several entries
/// have, with some of them.
Result<std::vector<std::string>> whole_ids(const MemoryManager& memory,
                                           std::vector<std::string> ids);

/// Completes the names of sessions on the command line that were given by their first characters,
/// at least 4, if one session alone begins so, be it archived or deleted. Errors: E_INVALID_QUERY,
/// as those of whole_ids(). What stays unknown is for the command to name.
Status complete_session_names(Tool& tool, const Command& command);

/// The session as one JSON object.
std::string session_as_json(const MemoryManager& memory, const Session& session);

/// "active", "idle", "closed" or "damaged".
std::string_view session_state(const MemoryManager& memory, const Session& session);

}  // namespace bmad_mem::cli
