// mcp_endpoint.hpp - POST /mcp: the Model Context Protocol over streamable HTTP.
//
//   message ──> checks of the transport ──> an McpServer of its own ──┬──> one JSON answer
//                                                                     └──> a stream: progress,
//                                                                          logs, changes
//
// Nothing is kept between requests: there are no sessions, and GET and DELETE are answered with
// 405, as the protocol allows. So clients of the legacy era get no notices of changes here; those
// of the modern one listen on a stream.
#pragma once

#include "http/http_message.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// `service` must outlive the response and its stream. Threads: safe.
HttpResponse answer_mcp(McpService& service, const HttpRequest& request);

}  // namespace bmad_mem::cli
