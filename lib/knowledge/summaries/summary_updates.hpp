// summary_updates.hpp - Summaries::prompt() and apply() on an opened root.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/summary.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// As Summaries::prompt().
Result<SummaryPrompt> begin_summary_update(Store& store, const std::string& session_id);

/// As Summaries::apply().
Result<SummaryUpdate> finish_summary_update(Store& store, const std::string& session_id,
                                            std::string_view answer, std::string_view ticket);

}  // namespace bmad_mem
