// rule_summary.hpp - the summary that rules wrote, when what it was written from has gone.
#pragma once

#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct Store;

/// Writes one that was dropped again, from what is left in the session; nothing when there is
/// nothing to say. Any other summary stays. What fails here fails nothing. The caller does not hold
/// the session's lock.
void renew_rule_summary(Store& store, const std::string& session_id);

/// Whether `text`, of a summary.md, is as rules wrote it.
bool is_summary_by_rules(std::string_view text);

/// Removes it, durably, so that no word of an entry that goes stays in it, even after a kill; the
/// next look at the session makes another. Any other summary stays. Whether there was one. The
/// caller holds the session's lock.
Result<bool> drop_rule_summary(FileSystem& files, std::string_view session_id);

}  // namespace bmad_mem
