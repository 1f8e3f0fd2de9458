// findings.hpp - what `verify` found, as text.
#pragma once

#include <span>
#include <string>

#include "bmad_mem/reports.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// "file:line:column: reason", leaving out what is unknown; a torn tail is named as such.
std::string finding_text(const Finding& finding);

/// {"file":…,"line":…,"column":…,"offset":…,"size":…,"kind":…,"field":…,"reason":…,"session_id":…}
std::string finding_as_json(const Finding& finding);

/// One line each, as text or JSON.
void print_findings(Tool& tool, std::span<const Finding> findings);

}  // namespace bmad_mem::cli
