// mcp_server_impl.hpp - the inside of McpServer: its state, and the table of its methods.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/mcp_messages.hpp"
#include "mcp/mcp_results.hpp"
#include "mcp/mcp_server.hpp"
#include "mcp/running_call.hpp"

namespace bmad_mem::cli {

/// The stream of one subscriptions/listen request.
struct McpListening {
  std::shared_ptr<RunningCall> call;
  std::string meta;                         ///< `"_meta":{"…/subscriptionId":X}`
  std::set<std::string, std::less<>> uris;  ///< That are watched.
  std::vector<std::unique_ptr<McpSubscription>> subscriptions;
};

struct McpServer::Impl {
  Impl(McpService& the_service, std::shared_ptr<McpSink> the_events)
      : service(the_service),
        events(std::move(the_events)),
        server_info(mcp_server_info(the_service.identity())) {}

  using Members = McpAnswer<std::string>;
  enum class Era : std::uint8_t { kBoth, kLegacy, kModern };
  struct Method {
    std::string_view name;
    Era era;
    bool is_quick;                       ///< Answered by accept() itself.
    bool McpCapabilities::* capability;  ///< Null for what every server has.
    Members (Impl::*handle)(RunningCall& call);
  };
  static const std::array<Method, 15> kMethods;

  McpService& service;
  const std::shared_ptr<McpSink> events;
  const std::string server_info;

  // Guards what follows; taken before a call's own. No callback of a subscription takes it.
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<RunningCall>, std::less<>> running;      // By id.
  std::map<std::string, std::shared_ptr<McpListening>, std::less<>> listening;   // By id.
  std::map<std::string, std::unique_ptr<McpSubscription>, std::less<>> watched;  // By URI.
  std::string client;
  McpLogLevel log_level = McpLogLevel::kWarning;
  bool is_closed = false;

  Members initialize(RunningCall& call);
  Members ping(RunningCall& call);
  Members discover(RunningCall& call);
  Members set_level(RunningCall& call);
  Members list_tools(RunningCall& call);
  Members call_tool(RunningCall& call);
  Members list_resources(RunningCall& call);
  Members list_templates(RunningCall& call);
  Members read_resource(RunningCall& call);
  Members subscribe(RunningCall& call);
  Members unsubscribe(RunningCall& call);
  Members list_prompts(RunningCall& call);
  Members get_prompt(RunningCall& call);
  Members complete(RunningCall& call);
  Members listen(RunningCall& call);

  /// The only page of a list that fits on one.
  static Members whole_list(RunningCall& call, std::string_view name,
                            std::vector<std::string> items);

  void take_notification(const McpMessage& message);
  Task take_request(std::unique_ptr<McpMessage> message, std::shared_ptr<McpSink> answers);
  /// Null when there is none.
  [[nodiscard]] const Method* find_method(std::string_view name, bool is_modern) const;
  void describe(RunningCall& call);
  Members handle(const Method& method, RunningCall& call);
  void run(const Method& method, RunningCall& call);
  void tell_updated(std::string_view uri);
  std::string start_listening(McpListening& stream, JsonValue wanted);
  [[nodiscard]] std::string end_of_stream(const McpListening& stream) const;
};

}  // namespace bmad_mem::cli
