// deletion_options.hpp - what `delete`, `purge` and `forget` have in common.
#pragma once

#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// --match, which must not be empty: an empty variable of a script would match everything.
Result<std::string> read_match(const Arguments& args);

/// Deletes what `criteria` name, prints what went, and asks before when a person is there. Entries
/// that were named by id and are nowhere make it kFailed.
Result<ExitStatus> delete_and_tell(Tool& tool, MemoryManager& memory,
                                   const DeletionCriteria& criteria, const DeleteOptions& options);

}  // namespace bmad_mem::cli
