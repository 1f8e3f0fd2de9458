// mcp_endpoint.hpp - POST /mcp: the Model Context Protocol over streamable HTTP.
//
//   message ──> checks of the transport ──> an McpServer of its own ──> one JSON answer
//                                                                  └──> or a stream: progress,
//                                                                  logs,
//                                                                       subscriptions/listen
//
// Nothing is kept between requests: there are no sessions, and GET and DELETE are answered with
// 405, as the protocol allows. So clients of the legacy era get no notices of changes here; those
// of the modern one listen on a stream.
#pragma once

#include <memory>
#include <string_view>

#include "http/http_message.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// Threads: safe.
class McpEndpoint {
 public:
  /// `service` must outlive this and its streams.
  explicit McpEndpoint(McpService& service);
  McpEndpoint(const McpEndpoint&) = delete;
  McpEndpoint& operator=(const McpEndpoint&) = delete;
  ~McpEndpoint();

  HttpResponse handle(const HttpRequest& request);

 private:
  McpService* service_;
  std::unique_ptr<McpService> legacy_;  // The same without what needs a connection.
};

}  // namespace bmad_mem::cli
