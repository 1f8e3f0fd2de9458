// stdio_transport.hpp - an MCP server on stdin and stdout: one message a line.
//
//   stdin ──reader──> McpServer::accept ──tasks──> workers
//                            │                        │
//                            └────── one mutex ───────┴──> stdout
//
// Ends at the end of input, when everything that was asked is answered; at SIGINT and SIGTERM, when
// what runs has ended or a moment has passed; and when nobody reads stdout any more. Nothing but
// messages goes to stdout.
#pragma once

#include <cstddef>

#include "bmad_mem/result.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// Longest line that is accepted, in bytes. A longer one is answered with an error and passed over.
inline constexpr std::size_t kMcpLineSizeMax = std::size_t{64} << 20U;

/// Serves until the end. Must be called before other threads are started, since it takes SIGINT and
/// SIGTERM for itself. Errors: E_STORAGE_IO when the system gives no descriptors.
Status serve_mcp_on_stdio(McpService& service);

}  // namespace bmad_mem::cli
