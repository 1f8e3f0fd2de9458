// memory_tools.hpp - the tools by which a model uses the memory.
//
// Who changes a tool's arguments changes its schema, its handler and docs/mcp.md together. Answers
// stay below kAnswerSizeMax: hosts put longer ones into a file that the model does not see.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"
#include "mcp/writing_session.hpp"

namespace bmad_mem::cli {

/// Most bytes of an answer; hosts pass 40,000 characters on.
inline constexpr std::size_t kAnswerSizeMax = 36'000;

/// What a handler works with.
struct MemoryToolCall {
  LazyMemory& memory;
  WritingSession& session;
  JsonValue arguments;
  McpCall& call;
};

struct MemoryTool {
  std::string_view name;
  bool writes;  ///< Not there with --read-only.
  /// The tool object as JSON, for with_fields(); may have line breaks between tokens.
  std::string_view description;
  /// Errors become an answer that says what to do.
  Result<McpToolResult> (*run)(MemoryToolCall& call);
};

// The groups, each in the order of tools/list.

std::span<const MemoryTool> memory_tools_to_find();
std::span<const MemoryTool> memory_tools_to_write();
std::span<const MemoryTool> memory_tools_about();

/// The answer when there is no memory yet.
McpToolResult nothing_stored_yet();

/// What failed inside, for who asked for a resource or a prompt.
std::unexpected<McpError> internal_error(const Error& error);

}  // namespace bmad_mem::cli
