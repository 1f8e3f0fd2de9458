// body.hpp - reading the members of a request's body, beside tool_arguments.hpp.
#pragma once

#include <string>
#include <string_view>

#include "mcp/tool_arguments.hpp"

namespace bmad_mem::cli {

/// Most strings that a list in a body may have.
inline constexpr std::size_t kTextsMax = 1000;

/// A flag, or `fallback` without it.
inline bool flag_or(ToolArguments& body, std::string_view name, bool fallback) {
  const JsonValue value = body.value(name);
  return value.present() && value.kind() != JsonKind::kNull ? body.boolean(name) : fallback;
}

}  // namespace bmad_mem::cli
