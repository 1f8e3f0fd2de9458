// mcp_messages.hpp - the messages of JSON-RPC 2.0 as MCP uses them: read, and made.
//
//   request       {"jsonrpc":"2.0","id":X,"method":M,"params":{…}}    X: a string or an integer
//   notification  the same without id; never answered
//   result        {"jsonrpc":"2.0","id":X,"result":{…}}
//   error         {"jsonrpc":"2.0","id":X,"error":{"code":…,…}}       without id when X is unknown
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli {

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

/// Where messages go: each one JSON text without line breaks.
class McpSink {
 public:
  virtual ~McpSink() = default;
  /// From any thread. Who can't send any more drops the message.
  virtual void send(std::string_view message) = 0;
};

/// The revisions with a handshake, newest first.
std::span<const std::string_view> mcp_legacy_versions();
inline constexpr std::string_view kMcpModernVersion = "2026-07-28";
/// The newest of each era, as discovery and errors name them: a JSON array.
std::string mcp_supported_versions();

/// Members of `_meta`, and the method that answers with a stream.
inline constexpr std::string_view kMcpMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMcpMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMcpListen = "subscriptions/listen";

/// A message that was taken apart. Its values live as long as it does.
struct McpMessage {
  JsonParser parser;
  std::string id;  ///< JSON; empty for a notification.
  std::string method;
  JsonValue params;  ///< An object, or absent.
  JsonValue meta;    ///< An object, or absent.

  /// The handshake is how a connection asks for the legacy era, whatever else it says.
  [[nodiscard]] bool is_modern() const {
    return meta[kMcpMetaVersion].present() && method != "initialize";
  }
};

enum class McpMessageKind : std::uint8_t {
  kRequest,
  kNotification,
  kIgnored,  ///< A response, though we ask nothing; a notification that makes no sense.
  kRefused,
};

/// Takes `text` apart into `message`, or puts the error that says why that can't be done into
/// `refusal`.
McpMessageKind read_mcp_message(std::string_view text, McpMessage& message, std::string& refusal);

/// A string or an integer as JSON, as a request id or a progress token; nothing for anything else.
std::optional<std::string> mcp_id_text(JsonValue value);

/// `members` are JSON members without braces; may be empty. So for `params`.
std::string mcp_result(std::string_view id, std::string_view members);
std::string mcp_error(std::string_view id, McpErrorCode code, std::string_view message,
                      std::string_view data = {});
/// The error for a version that we don't speak.
std::string mcp_unsupported_version(std::string_view id, std::string_view requested);
std::string mcp_notification(std::string_view method, std::string_view params);

}  // namespace bmad_mem::cli
