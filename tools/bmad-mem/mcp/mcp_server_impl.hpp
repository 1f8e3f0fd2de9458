// mcp_server_impl.hpp - the inside of McpServer: a request while it is worked on, the state of a
// connection, and the table of its methods.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/mcp_messages.hpp"
#include "mcp/mcp_server.hpp"

namespace bmad_mem::cli {

/// What a service sees of a request, and the gate through which all that it sends goes. Invariant:
/// nothing is sent for a request once it is answered or cancelled.
class RunningCall : public McpCall {
 public:
  RunningCall(std::unique_ptr<McpMessage> message, std::shared_ptr<McpSink> sink)
      : message_(std::move(message)), sink_(std::move(sink)) {}

  // Set before the call is shared between threads.
  bool is_modern = false;
  std::string client;
  std::optional<McpLogLevel> log_level;  ///< The least severe that is wanted; none when absent.
  std::function<void(std::string_view uri)> on_resource_updated;

  [[nodiscard]] const McpMessage& message() const { return *message_; }

  // McpCall.
  [[nodiscard]] bool cancelled() const override;
  void progress(double done, std::optional<double> total, std::string_view message) override;
  void log(McpLogLevel level, std::string_view message) override;
  void resource_updated(std::string_view uri) override;
  [[nodiscard]] std::string client_name() const override { return client; }
  [[nodiscard]] JsonValue meta() const override { return message_->meta; }

  /// Nothing is sent from now on.
  void cancel();
  /// Sends the answer, unless the request was cancelled.
  void answer(std::string_view text);
  /// Sends something that belongs to the request, before its answer.
  void send(std::string_view text);
  /// Nothing but an answer is sent until send_first().
  void hold_back();
  void send_first(std::string_view text);

 private:
  std::unique_ptr<McpMessage> message_;
  std::shared_ptr<McpSink> sink_;
  mutable std::mutex mutex_;  // Guards the rest, and is held while something is sent.
  bool is_cancelled_ = false;
  bool is_over_ = false;
  bool is_held_back_ = false;
  std::optional<double> last_progress_;
};

/// The stream of one subscriptions/listen request.
struct McpListening {
  std::shared_ptr<RunningCall> call;
  std::string meta;                         ///< `"_meta":{"…/subscriptionId":X}`
  std::set<std::string, std::less<>> uris;  ///< That are watched.
  std::vector<McpSubscription> subscriptions;
};

struct McpConnection {
  McpConnection(McpService& the_service, std::shared_ptr<McpSink> the_events, bool it_lasts);

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
    std::int64_t kept_ms;
    Members (*handle)(McpConnection& it, RunningCall& call);
  };
  static std::span<const Method> methods();

  McpService& service;
  const std::shared_ptr<McpSink> events;
  const bool lasts;  ///< Else each request stands for itself.
  const std::string server_info;

  // Guards what follows; taken before a call's own. No callback of a subscription takes it.
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<RunningCall>, std::less<>> running;     // By id.
  std::map<std::string, std::shared_ptr<McpListening>, std::less<>> listening;  // By id.
  std::map<std::string, McpSubscription, std::less<>> watched;                  // By URI.
  std::string client;
  McpLogLevel log_level = McpLogLevel::kWarning;
  bool is_closed = false;

  /// What the service can do for such a connection.
  [[nodiscard]] McpCapabilities can() const;
  void take_notification(const McpMessage& message);
  McpServer::Task take_request(std::unique_ptr<McpMessage> message,
                               std::shared_ptr<McpSink> answers);
  /// Null when there is none.
  [[nodiscard]] const Method* find_method(std::string_view name, bool is_modern) const;
  void describe(RunningCall& call);
  Members handle(const Method& method, RunningCall& call);
  void run(const Method& method, RunningCall& call);
  void tell_updated(std::string_view uri);
};

/// A notification that `uri` has changed; `meta` is a member to add, or empty.
std::string mcp_updated_notification(std::string_view uri, std::string_view meta);

}  // namespace bmad_mem::cli
