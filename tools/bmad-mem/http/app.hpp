// app.hpp - what the local server answers, all of it.
//
//   guard ──> /auth/…      codes, secrets, links         (guard.hpp)
//         ├─> /mcp                                       (below)
//         ├─> /memory/events                             (event_hub.hpp)
//         ├─> /memory/…    the API                       (endpoint.hpp)
//         └─> /, /search … the pages                     (pages.hpp)
#pragma once

#include <memory>

#include "bmad_mem/memory_manager.hpp"
#include "http/guard.hpp"
#include "http/http_message.hpp"
#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// All must outlive it. `agents` is what /mcp shows; `users` is the user's own memory.
std::unique_ptr<HttpHandler> make_app(MemoryManager& memory, LazyMemory& users, McpService& agents,
                                      Access& access);

// POST /mcp: the Model Context Protocol over streamable HTTP.
//
//   message ──> checks of the transport ──> an McpServer of its own ──┬──> one JSON answer
//                                                                     └──> a stream: progress,
//                                                                          logs, changes
//
// Nothing is kept between requests: there are no sessions, and GET and DELETE are answered with
// 405, as the protocol allows. So clients of the legacy era get no notices of changes here; those
// of the modern one listen on a stream.

/// `service` must outlive the response and its stream. Threads: safe.
HttpResponse answer_mcp(McpService& service, const HttpRequest& request);

}  // namespace bmad_mem::cli
