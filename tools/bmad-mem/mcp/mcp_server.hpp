// mcp_server.hpp - the Model Context Protocol itself: one message in, messages out.
//
//   McpServer server(service, sink);
//   if (auto task = server.accept(line, sink)) {
//     task();                     // Here, or on another thread: it may take a while.
//   }
//
// One server is one connection. It speaks both eras at once, and each request chooses:
//
//   legacy   2024-11-05 … 2025-11-25   initialize; subscriptions, log level and the client's name
//                                      hold for the connection
//   modern   2026-07-28                `params._meta` of every request says all; nothing is kept
//                                      but the streams of subscriptions/listen
//
// Knows nothing of memory and nothing of descriptors. A server is cheap: behind HTTP each request
// may have its own. Threads: safe.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// Where messages go: each one JSON text without line breaks.
class McpSink {
 public:
  virtual ~McpSink() = default;
  /// From any thread. Who can't send any more drops the message.
  virtual void send(std::string_view message) = 0;
};

/// The error codes of JSON-RPC and MCP.
enum class McpErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kResourceNotFound = -32002,  ///< Legacy only.
  kHeaderMismatch = -32020,    ///< Of HTTP and the message.
  kUnsupportedProtocolVersion = -32022,
};

struct McpConnection;

class McpServer {
 public:
  /// `service` must outlive the server. `events` takes what no request asked for: notifications of
  /// the legacy era. What would reach a client later, or holds for more than a request, is offered
  /// only if the connection `lasts`.
  McpServer(McpService& service, std::shared_ptr<McpSink> events, bool lasts = true);
  /// Waits for no task: all must have run, or been dropped, before.
  ~McpServer();

  /// The rest of the work on a message; must not outlive the server.
  using Task = std::function<void()>;

  /// Takes one message. Answers go to `answers`: at once what takes no time, so that a ping is
  /// answered and a request cancelled while others run. What may take its time is returned as a
  /// task, which answers when it is run; an empty one otherwise.
  Task accept(std::string_view message, std::shared_ptr<McpSink> answers);

  /// Makes running calls see that nobody waits for them.
  void cancel_all();
  /// Ends subscriptions; the modern ones are told.
  void close();

 private:
  std::unique_ptr<McpConnection> it_;
};

}  // namespace bmad_mem::cli
