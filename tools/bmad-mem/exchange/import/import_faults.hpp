// import_faults.hpp - what earlier versions recorded or imported wrongly, found by what is stored:
//
//   doubles       a fork, branch or resumed copy that was stored again, with its calls
//   false lines   a person's message that a program, an agent or a tool wrote
//   what follows  facts that were learned from such a line as the person's
//
// Mending deletes them; undelete() brings them back for 30 days. What a person or an agent did say
// in a false line is stored again, as whose it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

struct ImportFault {
  std::string session_id;
  std::string id;
  std::string reason;  ///< "is a copy of one in codex-…", for people.
  std::string text;    ///< How it begins, on one line.
  /// The entry that takes its place, as JSON; empty: none does.
  std::string instead = {};
};

/// Reads messages and events of all sessions that clients wrote, a session at a time.
Result<std::vector<ImportFault>> find_import_faults(const MemoryManager& memory);

/// Deletes them, and stores what takes their place. Errors: those of delete_entries() and
/// add_batch(); what was mended before stays mended.
Status mend_import_faults(MemoryManager& memory, const std::vector<ImportFault>& faults);

}  // namespace bmad_mem::cli
