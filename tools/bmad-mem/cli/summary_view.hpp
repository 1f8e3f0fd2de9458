// summary_view.hpp - what the summary commands share.
#pragma once

#include <string>

#include "bmad_mem/summary.hpp"

namespace bmad_mem::cli {

class Tool;

/// Reports an update that was made.
void print_summary_update(Tool& tool, const SummaryUpdate& update);

/// Why an update is due or not, as half a sentence with the numbers that decide.
std::string due_reason(const SummaryStatus& status);

}  // namespace bmad_mem::cli
