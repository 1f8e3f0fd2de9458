// app.hpp - what the local server answers, all of it.
//
//   guard ──> /auth/…      codes, cookies, links         (auth.cpp)
//         ├─> /mcp                                       (mcp_endpoint.hpp)
//         ├─> /memory/events                             (event_hub.hpp)
//         ├─> /memory/…    the API                       (router.hpp)
//         └─> /, /search … the pages                     (pages.hpp)
#pragma once

#include <string>

#include "bmad_mem/memory_manager.hpp"
#include "http/access.hpp"
#include "http/auth.hpp"
#include "http/endpoint.hpp"
#include "http/event_hub.hpp"
#include "http/guard.hpp"
#include "http/http_message.hpp"
#include "http/mcp_endpoint.hpp"
#include "http/router.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

class App : public HttpHandler {
 public:
  /// All must outlive it. `agents` is what /mcp shows.
  App(MemoryManager& memory, McpService& agents, Access& access);

  bool admits(const HttpRequest& head, HttpResponse& refusal) override;
  [[nodiscard]] bool knows(const HttpRequest& head) const override;
  [[nodiscard]] std::size_t body_size_max(const HttpRequest& head) const override;
  HttpResponse handle(const HttpRequest& request) override;
  /// Takes what is new into the index.
  void rest() override;

 private:
  Guard guard_;
  Auth auth_;
  EventHub events_;
  McpEndpoint mcp_;
  ApiContext context_;
  ApiRouter router_;
};

}  // namespace bmad_mem::cli
