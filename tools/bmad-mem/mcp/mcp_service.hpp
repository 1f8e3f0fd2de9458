// mcp_service.hpp - what a Model Context Protocol server is about: its tools, resources, prompts.
//
//   transport (stdio, HTTP) ──lines──> McpServer (protocol) ──calls──> McpService (this)
//
// The protocol knows nothing of memory, and a service nothing of eras or descriptors: one server
// may show several faces, and one face may stand behind several transports.
//
// Texts named "JSON" are one valid JSON value without line breaks, and are sent as they are.
// Threads: everything here is called from several threads at once.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "mcp/mcp_messages.hpp"

namespace bmad_mem::cli {

/// Why a request has no result. What a model can mend belongs into a McpToolResult instead.
struct McpError {
  enum class Kind : std::uint8_t {
    kInvalidParams,
    kUnknownResource,  ///< The protocol chooses the code, which differs from era to era.
    kUnknownMethod,    ///< Also for what a service doesn't offer.
    kInternal,
  };
  Kind kind = Kind::kInternal;
  std::string message;
  std::string data = {};  ///< JSON, or empty.
};

/// What failed inside.
McpError internal_error(const Error& error);
/// What is wrong with what was sent.
McpError invalid_params(std::string_view problem);

/// A value, or why there is none; what fails inside is passed on by BMAD_TRY.
template <typename T>
class [[nodiscard]] McpAnswer : public std::expected<T, McpError> {
 public:
  using std::expected<T, McpError>::expected;
  // NOLINTNEXTLINE(google-explicit-constructor): as of Result.
  McpAnswer(McpError error) : std::expected<T, McpError>(std::unexpected(std::move(error))) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  McpAnswer(const Error& error) : McpAnswer(internal_error(error)) {}
};

/// The severities of log messages, least severe first.
enum class McpLogLevel : std::uint8_t {
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency,
};

/// The level of this name, "debug" … "emergency"; nothing for any other text.
std::optional<McpLogLevel> try_parse_mcp_log_level(std::string_view name);

/// One request as a service sees it while it works on it, and the gate through which all that it
/// sends goes. Invariant: nothing is sent for a request once it is answered or cancelled.
class McpCall {
 public:
  McpCall(std::unique_ptr<McpMessage> message, std::shared_ptr<McpSink> sink)
      : message_(std::move(message)), sink_(std::move(sink)) {}

  /// Whether nobody waits for the answer any more. Ask between steps, and return anything.
  [[nodiscard]] bool cancelled() const;
  /// Tells how far the work is, where the client has asked for it. What doesn't grow isn't sent.
  void progress(double done, std::optional<double> total, std::string_view message);
  /// Sends a message to the client's log, where it wants messages of this level.
  void log(McpLogLevel level, std::string_view message);
  /// Tells those who watch `uri` over this connection that it has changed, before the answer. For
  /// services that know of a change because they made it; others use subscribe().
  void resource_updated(std::string_view uri);

  // Of the protocol. Set before the call is shared between threads.
  bool is_modern = false;
  std::string client;  ///< Its name, such as "claude-code"; empty when it has not said.
  std::optional<McpLogLevel> log_level;  ///< The least severe that is wanted; none when absent.
  std::function<void(std::string_view uri)> on_resource_updated;

  [[nodiscard]] const McpMessage& message() const { return *message_; }
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

struct McpToolResult {
  std::string text;             ///< The one text block.
  std::string structured = {};  ///< JSON object, or empty. Hosts show a model this, not the text.
  bool is_error = false;        ///< `text` says what to do.
};

struct McpPage {
  std::vector<std::string> items;  ///< JSON.
  std::string next_cursor = {};    ///< Empty on the last page.
};

struct McpResourceText {
  std::string uri;
  std::string mime_type;
  std::string text;
};

struct McpPromptResult {
  std::string description = {};
  std::vector<std::string> messages;  ///< Of the user.
};

/// What somebody types, and what it is for.
struct McpCompletionQuery {
  bool is_prompt = false;     ///< Else a resource template.
  std::string_view ref;       ///< The prompt's name, or the template.
  std::string_view argument;  ///< Its name.
  std::string_view value;     ///< So far.
  JsonValue arguments;        ///< Those that are settled; may be absent.
};

/// Most values of a completion that are sent.
inline constexpr std::size_t kMcpCompletionMax = 100;

/// A callback is called at every change until this goes away. That waits for a call that is
/// under way, so it must not happen inside one.
using McpSubscription = std::shared_ptr<void>;
using McpOnChange = std::function<void()>;

/// What a service offers. The protocol answers the rest with "unknown method".
struct McpCapabilities {
  bool tools = false;
  bool tools_list_changed = false;
  bool resources = false;
  bool resources_list_changed = false;
  bool resources_subscribe = false;
  bool prompts = false;
  bool completions = false;
  bool logging = false;
};

struct McpIdentity {
  std::string name;
  std::string title = {};
  std::string version;
  std::string instructions = {};  ///< At most 4,096 bytes: hosts cut the rest.
};

/// What the list `name` of mcp/descriptions.json has, each as JSON: prompts, tools, resources.
std::vector<std::string> mcp_described(std::string_view name);
// Embedded by CMake: that file, and what a model is told of the memory.
std::string_view mcp_descriptions();
std::string_view mcp_instructions();

class McpService {
 public:
  McpService(McpIdentity its_identity, McpCapabilities its_capabilities)
      : identity(std::move(its_identity)), capabilities(its_capabilities) {}
  virtual ~McpService() = default;

  const McpIdentity identity;
  McpCapabilities capabilities;

  /// The objects of the list "tools", "prompts" or "resourceTemplates" as JSON, always in the same
  /// order.
  [[nodiscard]] virtual std::vector<std::string> list(std::string_view name) const = 0;
  /// `arguments` is an object, or absent. Unknown names: kInvalidParams.
  virtual McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue /*arguments*/,
                                             McpCall& /*call*/) {
    return McpError{McpError::Kind::kInvalidParams, "Unknown tool: " + std::string(name)};
  }

  /// One page of the resources; `cursor` is empty for the first one. A cursor that this service has
  /// not made: kInvalidParams.
  virtual McpAnswer<McpPage> resources(std::string_view /*cursor*/) { return McpPage{}; }
  virtual McpAnswer<std::vector<McpResourceText>> read_resource(std::string_view uri,
                                                                McpCall& /*call*/) {
    return McpError{McpError::Kind::kUnknownResource, "Resource not found: " + std::string(uri)};
  }
  /// Calls `on_change`, from any thread, whenever the resource has changed. Null for a resource
  /// that is there but changes unnoticed, or that McpCall::resource_updated() speaks of.
  virtual McpAnswer<McpSubscription> subscribe(
      const std::string& /*uri*/,
      McpOnChange /*on_change*/) {  // NOLINT(performance-unnecessary-value-param): others keep it.
    return McpSubscription();
  }
  /// The same for the list of resources.
  virtual McpSubscription subscribe_to_list(
      McpOnChange /*on_change*/) {  // NOLINT(performance-unnecessary-value-param): others keep it.
    return {};
  }

  /// Called when requests were answered and no other has come for a while: for work that can wait.
  /// Returns whether there is more of it.
  virtual bool rest() { return false; }

  virtual McpAnswer<McpPromptResult> get_prompt(std::string_view name, JsonValue /*arguments*/,
                                                McpCall& /*call*/) {
    return McpError{McpError::Kind::kInvalidParams, "Unknown prompt: " + std::string(name)};
  }
  /// What may be meant.
  virtual McpAnswer<std::vector<std::string>> complete(const McpCompletionQuery& /*query*/) {
    return std::vector<std::string>();
  }
};

}  // namespace bmad_mem::cli
