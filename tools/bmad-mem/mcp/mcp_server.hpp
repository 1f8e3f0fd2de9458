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

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

/// The stream of one subscriptions/listen request.
struct McpListening {
  std::shared_ptr<McpCall> call;
  std::string meta;                         ///< `"_meta":{"…/subscriptionId":X}`
  std::set<std::string, std::less<>> uris;  ///< That are watched.
  std::vector<McpSubscription> subscriptions;
};

struct McpServer {
  /// `service` must outlive the server. `events` takes what no request asked for: notifications of
  /// the legacy era. What would reach a client later, or holds for more than a request, is offered
  /// only if the connection `lasts`.
  McpServer(McpService& the_service, std::shared_ptr<McpSink> the_events, bool it_lasts = true);
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;
  /// Waits for no task: all must have run, or been dropped, before.
  ~McpServer() { close(); }

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

  // What mcp_methods.cpp works with.

  /// The members of a result, without braces.
  using Members = McpAnswer<std::string>;
  enum class Era : std::uint8_t { kBoth, kLegacy, kModern };
  struct Method {
    std::string_view name;
    Era era;
    bool is_quick;                       ///< Answered by accept() itself.
    bool McpCapabilities::* capability;  ///< Null for what every server has.
    std::string_view needed;             ///< A parameter that must be a string; may be empty.
    /// How long a client of the modern era may keep the result, in ms; negative: it isn't told.
    std::int64_t ttl_ms;
    Members (*handle)(McpServer& it, McpCall& call);
  };
  static std::span<const Method> methods();

  McpService& service;
  const std::shared_ptr<McpSink> events;
  const bool lasts;  ///< Else each request stands for itself.
  const std::string server_info;

  // Guards what follows; taken before a call's own. No callback of a subscription takes it.
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<McpCall>, std::less<>> running;         // By id.
  std::map<std::string, std::shared_ptr<McpListening>, std::less<>> listening;  // By id.
  std::map<std::string, McpSubscription, std::less<>> watched;                  // By URI.
  std::string client;
  McpLogLevel log_level = McpLogLevel::kWarning;
  bool is_closed = false;

  /// What the service can do for such a connection.
  [[nodiscard]] McpCapabilities can() const;
  void take_notification(const McpMessage& message);
  Task take_request(std::unique_ptr<McpMessage> message, std::shared_ptr<McpSink> answers);
  /// Null when there is none.
  [[nodiscard]] const Method* find_method(std::string_view name, bool is_modern) const;
  void describe(McpCall& call);
  Members handle(const Method& method, McpCall& call);
  void run(const Method& method, McpCall& call);
  void tell_updated(std::string_view uri);
};

/// A notification that `uri` has changed; `meta` is a member to add, or empty.
std::string mcp_updated_notification(std::string_view uri, std::string_view meta);

}  // namespace bmad_mem::cli
