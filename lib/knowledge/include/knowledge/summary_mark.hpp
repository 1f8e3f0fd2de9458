// summary_mark.hpp - how far a session's running summary reaches: the front matter of summary.md.
//
//   ---
//   last_summarized_id: msg-01kaxx8v04q7m2s
//   ---
#pragma once

#include <string>
#include <string_view>

#include "base/file_system.hpp"

namespace bmad_mem {

/// Its name in the front matter of summary.md.
inline constexpr std::string_view kLastSummarizedId = "last_summarized_id";

/// Id of the last message that the summary covers; empty without a summary, or when it names none.
std::string last_summarized_id(FileSystem& files, std::string_view session_id);

}  // namespace bmad_mem
