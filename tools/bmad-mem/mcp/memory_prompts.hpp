// memory_prompts.hpp - prompts that a person picks in the host, and what completes their arguments
// and those of resource templates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

std::vector<std::string> memory_prompts();
McpAnswer<McpPromptResult> get_memory_prompt(LazyMemory& memory, std::string_view name,
                                             JsonValue arguments);
McpAnswer<McpCompletion> complete_for_memory(LazyMemory& memory, const McpCompletionQuery& query);

}  // namespace bmad_mem::cli
