// mcp_results.hpp - what a service gives, as the members of a JSON-RPC result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// The revisions with a handshake, newest first.
std::span<const std::string_view> mcp_legacy_versions();
inline constexpr std::string_view kMcpModernVersion = "2026-07-28";
/// The newest of each era, as discovery and errors name them: a JSON array.
std::string mcp_supported_versions();

/// {"name":…,"title":…,"version":…}
std::string mcp_server_info(const McpIdentity& identity);
/// {"tools":{…},…}
std::string mcp_capabilities(const McpCapabilities& capabilities);

// Members without braces.

std::string mcp_initialize_members(std::string_view version, const McpService& service);
std::string mcp_discover_members(const McpService& service);
/// `"tools":[…],"nextCursor":"…"`
std::string mcp_list_members(std::string_view name, const McpPage& page);
std::string mcp_tool_members(const McpToolResult& result);
std::string mcp_contents_members(const std::vector<McpResourceText>& texts);
std::string mcp_prompt_members(const McpPromptResult& prompt);
std::string mcp_completion_members(const McpCompletion& completion);

/// How long a client may keep a result of this method, in ms; nothing when the method's results say
/// nothing about it.
std::optional<std::int64_t> mcp_time_to_live_ms(std::string_view method);
/// `members`, and what every result of the modern era has beside them.
std::string mcp_modern_members(std::string_view method, std::string_view members,
                               std::string_view server_info);

}  // namespace bmad_mem::cli
