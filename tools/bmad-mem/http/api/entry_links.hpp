// entry_links.hpp - what an entry refers to, as its line says it.
#pragma once

#include <string>
#include <vector>

#include "bmad_mem/json_parser.hpp"

namespace bmad_mem::cli {

/// The ids that an entry refers to, each once, in their order. What the engine takes for references
/// as well: `references`, also by kind, metadata.references and context.parent_message_id.
std::vector<std::string> referenced_ids(JsonValue entry);

}  // namespace bmad_mem::cli
