// memory_resources.hpp - what a host can show or attach: sessions, entries, summaries.
//
//   memory://sessions                  all sessions, JSON
//   memory://sessions/{session_id}     a session: what is known of it, its newest entries, JSON
//   memory://summaries/{session_id}    its running summary, Markdown
//   memory://entries/{id}              an entry in full, JSON
//
// What is marked sensitive is not among them: hosts hand resources to models.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// Sessions on one page of the list.
inline constexpr std::size_t kResourcePageSize = 50;

/// All sessions first, then each session, newest first.
McpAnswer<McpPage> memory_resource_page(LazyMemory& memory, std::string_view cursor);
std::vector<std::string> memory_resource_templates();
McpAnswer<std::vector<McpResourceText>> read_memory_resource(LazyMemory& memory,
                                                             std::string_view uri);
/// The name by which a resource is watched: `uri` without percent encoding. Nothing when it can't
/// be watched; it need not be there yet.
std::optional<std::string> watched_memory_resource(std::string_view uri);

}  // namespace bmad_mem::cli
