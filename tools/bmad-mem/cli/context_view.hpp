// context_view.hpp - a context as JSON, and as a table that says why each item is in it.
#pragma once

#include <optional>

#include "bmad_mem/knowledge.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

void print_context_as_json(Tool& tool, const Context& context, std::optional<Timestamp> as_of);

/// What is said and why, and what is left out and why.
void print_context_table(Tool& tool, const Context& context);

}  // namespace bmad_mem::cli
