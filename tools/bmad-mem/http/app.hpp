// app.hpp - what the local server answers, all of it.
//
//   guard ──> /auth/…      codes, secrets, links         (guard.hpp)
//         ├─> /mcp                                       (mcp_endpoint.hpp)
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

}  // namespace bmad_mem::cli
