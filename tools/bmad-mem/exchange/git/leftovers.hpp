// leftovers.hpp - `--verify`: is what was purged really gone?
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/memory_manager.hpp"
#include "command.hpp"
#include "exchange/git/git_history.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {

/// Searches every byte below the root and the surrounding git history for `text`, and prints what
/// is left, where, and what to do about it. kFailed when something is left.
Result<ExitStatus> verify_gone(Tool& tool, const MemoryManager& memory, std::string_view text);

/// Prints what a search of the history found. kFailed when that is something.
ExitStatus print_git_search(Tool& tool, const GitSearch& search);

}  // namespace bmad_mem::cli
