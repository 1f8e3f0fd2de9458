// json_position.hpp - from a byte or a field of a JSON file to the line and column people look for.
#pragma once

#include <string_view>

#include "base/json_node.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Where the key of member `field` ("memory_config.storage.format") stands in `text`, a valid JSON
/// object. When there is no such member: where the deepest one above it stands; {0, 0} if none.
/// A key that is written with escapes is not found.
TextPosition position_of_member(std::string_view text, std::string_view field);

/// `problem`, as json_problem() gives it for `text`, with its column turned into line and column.
Error problem_in_file(Error problem, std::string_view text, std::string_view display_path);

}  // namespace bmad_mem
