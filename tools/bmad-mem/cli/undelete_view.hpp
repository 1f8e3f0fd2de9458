// undelete_view.hpp - bringing back what was deleted, for `undelete` and `session undelete`.
#pragma once

#include "bmad_mem/memory_manager.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// Brings back what `criteria` name and prints what came back. kFailed when nothing did, or not
/// all.
Result<ExitStatus> undelete_and_tell(Tool& tool, MemoryManager& memory,
                                     const UndeleteCriteria& criteria);

}  // namespace bmad_mem::cli
