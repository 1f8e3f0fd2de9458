// return_lines.hpp - lines that come back into the logs they left: from the evicted, from the
// deleted.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct ReturningLine {
  EntryType type = EntryType::kConversation;
  std::string_view line;
};

/// What is to come back, and what came of it.
struct ReturnOutcome {
  std::vector<bool> is_back;            ///< For each line.
  std::vector<std::string> in_use_ids;  ///< Of lines that stayed away, since their id is in a log.
};

/// Appends those of `lines` whose id is among `ids` (any when empty) and not in use in its log now:
/// in no line there, or only in such as come back. Each line once, in their order, so that the last
/// version of an entry comes last. Killed half-way, it can be called again. Durable on success. The
/// caller holds the session's lock, `guard`. Errors: E_SIZE_LIMIT when they don't fit; as the
/// log's.
Result<ReturnOutcome> bring_back_lines(Store& store, const std::string& session_id,
                                       const FileLock::Guard& guard,
                                       std::span<const ReturningLine> lines,
                                       std::span<const std::string> ids);

/// Whether bring_back_lines(), for any id, would append some of `lines`. Writes nothing.
Result<bool> are_lines_missing(FileSystem& files, const std::string& session_id,
                               std::span<const ReturningLine> lines);

}  // namespace bmad_mem
