// hook_tool_text.hpp - what is kept of a tool's call: where, what with, what came out.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "hooks/hook_event.hpp"

namespace bmad_mem::cli {

/// The call that `payload` tells of, with snippets of at most kSnippetSizeMax bytes.
HookToolCall read_tool_call(std::string_view event_name, JsonValue payload);

/// A short diff of the edits in a tool's input (`old_string` and `new_string`, or a list `edits` of
/// such); empty when it edits nothing.
std::string edit_diff(JsonValue input);

}  // namespace bmad_mem::cli
