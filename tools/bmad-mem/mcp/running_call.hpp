// running_call.hpp - one request while it is worked on: what the service sees of it, and the gate
// through which all that it sends goes.
//
// Invariant: nothing is sent for a request once it is answered or cancelled.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/mcp_messages.hpp"
#include "mcp/mcp_server.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

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
  [[nodiscard]] const std::shared_ptr<McpSink>& sink() const { return sink_; }

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

}  // namespace bmad_mem::cli
