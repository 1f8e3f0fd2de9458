// json_lines.hpp - the little JSON that the harness reads, by a parser of its own.
//
// The harness judges the engine, so it does not ask the engine's own JSON room whether a line is
// whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

bool is_json_object(std::string_view text);

/// The string at top-level key `name` of a JSON object; none when either is missing.
std::optional<std::string> json_string_field(std::string_view object, const char* name);

bool has_json_field(std::string_view object, const char* name);

/// The lines that end in '\n', without it.
std::vector<std::string> whole_lines(std::string_view text);

}  // namespace bmad_mem
