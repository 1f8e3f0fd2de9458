// memory_tools.hpp - the tools by which a model uses the memory.
//
// Answers stay below kAnswerSizeMax: hosts put longer ones into a file that the model does not see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/tool_arguments.hpp"

namespace bmad_mem::cli {

/// Most bytes of an answer; hosts pass 40,000 characters on.
inline constexpr std::size_t kAnswerSizeMax = 36'000;

/// What a handler works with: the arguments, checked by the rows of the tool, and the server.
struct MemoryToolCall : ToolArguments {
  LazyMemory& memory;
  LazyMemory& users;  ///< The user's own memory.
  WritingSession& session;
  const OfferedReviews& offered;
  McpCall& call;
  McpService& service;
  bool of_user = false;       ///< existing() gave the user's own memory.
  bool lacks_memory = false;  ///< existing() failed since there is none.

  /// The memory that is there; without one the user's own, if `or_users`. Where there is none the
  /// tool ends, and its answer is that nothing is stored yet.
  Result<MemoryManager*> existing(bool or_users = false);
};

struct MemoryTool {
  std::string_view name;
  std::string_view operation;  ///< Its row of the operation table, whose right it needs.
  std::string_view summary;    ///< A sentence.
  bool writes;                 ///< Not there with --read-only.
  /// The tool object as JSON, for with_fields(), in the core list and in the full one; may have
  /// line breaks between tokens. Empty: it is not listed there.
  std::string_view core;
  std::string_view description;
  std::span<const JsonParameter> parameters;
  /// Errors become an answer that says what to do.
  Result<McpToolResult> (*run)(MemoryToolCall& call);
};

/// All of them, in the order of tools/list, which shows a model the core ones: with each request a
/// host sends the whole list. memory_more runs the others. They are made from the operation table,
/// lib/operations/table/: a new one is a row there and a function mcp_NAME.
std::span<const MemoryTool> all_memory_tools();

/// How interfaces answer an error of the engine.
struct ErrorAnswer {
  ErrorCode code;
  std::uint16_t http_status;
  std::string_view remedy;  ///< What a model should do about it.
};
const ErrorAnswer& answer_to(ErrorCode code);

/// The answer when there is no memory yet.
McpToolResult nothing_stored_yet();

}  // namespace bmad_mem::cli
