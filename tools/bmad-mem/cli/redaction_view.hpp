// redaction_view.hpp - how counts of what was taken out are shown.
#pragma once

#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/reports.hpp"

namespace bmad_mem::cli {

class Tool;

/// A member `name`: {"github-pat":2}.
void add_counts(JsonWriter& json, std::string_view name, const RedactionCounts& counts);

/// A line a rule, with its count in front.
void print_counts(Tool& tool, const RedactionCounts& counts);

}  // namespace bmad_mem::cli
