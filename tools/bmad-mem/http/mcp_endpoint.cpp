#include "http/mcp_endpoint.hpp"

#include <sodium.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "http/guard.hpp"
#include "mcp/mcp_messages.hpp"
#include "mcp/mcp_results.hpp"
#include "mcp/mcp_server.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
constexpr std::string_view kListen = "subscriptions/listen";
constexpr int kHeaderMismatch = -32020;

/// A service for clients of the legacy era, whose requests have no connection in common: what would
/// reach them later is not offered.
class WithoutConnection : public McpService {
 public:
  explicit WithoutConnection(McpService& service) : service_(&service) {}

  [[nodiscard]] const McpIdentity& identity() const override { return service_->identity(); }
  [[nodiscard]] McpCapabilities capabilities() const override {
    McpCapabilities can = service_->capabilities();
    can.tools_list_changed = false;
    can.resources_list_changed = false;
    can.resources_subscribe = false;
    can.logging = false;
    return can;
  }
  [[nodiscard]] std::vector<std::string> tools() const override { return service_->tools(); }
  McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue arguments,
                                     McpCall& call) override {
    return service_->call_tool(name, arguments, call);
  }
  McpAnswer<McpPage> resources(std::string_view cursor) override {
    return service_->resources(cursor);
  }
  [[nodiscard]] std::vector<std::string> resource_templates() const override {
    return service_->resource_templates();
  }
  McpAnswer<std::vector<McpResourceText>> read_resource(std::string_view uri,
                                                        McpCall& call) override {
    return service_->read_resource(uri, call);
  }
  [[nodiscard]] std::vector<std::string> prompts() const override { return service_->prompts(); }
  McpAnswer<McpPromptResult> get_prompt(std::string_view name, JsonValue arguments,
                                        McpCall& call) override {
    return service_->get_prompt(name, arguments, call);
  }
  McpAnswer<McpCompletion> complete(const McpCompletionQuery& query) override {
    return service_->complete(query);
  }

 private:
  McpService* service_;
};

/// Keeps the answer, until there is a stream to send messages to.
class AnswerSink : public McpSink {
 public:
  void send(std::string_view message) override {
    const std::scoped_lock lock(mutex_);
    const bool is_answer = !message.starts_with(R"({"jsonrpc":"2.0","method")");
    if (stream_) {
      stream_->send(std::make_shared<const std::string>(
          fmt::format("event: message\ndata: {}\n\n", message)));
      if (is_answer) {
        stream_->close();
      }
    } else if (is_answer) {
      answer_ = message;
    }  // Else nobody has asked for it: only who takes a stream gets notices.
  }

  void open(std::shared_ptr<HttpEventSink> stream) {
    const std::scoped_lock lock(mutex_);
    stream_ = std::move(stream);
  }
  [[nodiscard]] std::string take() {
    const std::scoped_lock lock(mutex_);
    return std::move(answer_);
  }

 private:
  std::mutex mutex_;  // Guards the rest.
  std::string answer_;
  std::shared_ptr<HttpEventSink> stream_;
};

/// One request while it is worked on.
struct Exchange {
  Exchange(McpService& service) : sink(std::make_shared<AnswerSink>()), server(service, sink) {}
  std::shared_ptr<AnswerSink> sink;
  McpServer server;
  McpServer::Task task;
};

HttpResponse rpc_error(std::uint16_t status, std::string_view id, int code,
                       std::string_view message) {
  return json_response(mcp_error(id, static_cast<McpErrorCode>(code), message), status);
}

bool accepts(const HttpRequest& request, std::string_view type) {
  for (const HttpField& field : request.headers) {
    if (field.name == "accept" && field.value.find(type) != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool accepts_json(const HttpRequest& request) {
  return request.header_count("accept") == 0 || accepts(request, "application/json") ||
         accepts(request, "application/*") || accepts(request, "*/*");
}

/// A header's value, "=?base64?…?=" decoded; nothing when that is broken.
std::optional<std::string> decoded(std::string_view value) {
  static constexpr std::string_view kBegin = "=?base64?";
  static constexpr std::string_view kEnd = "?=";
  if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
      value.size() < kBegin.size() + kEnd.size()) {
    return std::string(value);
  }
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  std::string out(value.size(), '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(out.data()),  // NOLINT(*-reinterpret-cast)
                        out.size(), value.data(), value.size(), nullptr, &size, nullptr,
                        sodium_base64_VARIANT_ORIGINAL) != 0) {
    return std::nullopt;
  }
  out.resize(size);
  return out;
}

/// What Mcp-Name must say; nothing for methods that have no such thing.
std::optional<std::string_view> name_of(const McpMessage& message) {
  if (message.method == "tools/call" || message.method == "prompts/get") {
    return message.params["name"].string();
  }
  if (message.method == "resources/read") {
    return message.params["uri"].string();
  }
  return std::nullopt;
}

/// Which header says something else than the message; empty when none does.
std::string_view wrong_header(const HttpRequest& request, const McpMessage& message) {
  if (request.header("mcp-protocol-version") != message.meta[kMetaVersion].string()) {
    return "MCP-Protocol-Version";
  }
  if (request.header("mcp-method") != message.method) {
    return "Mcp-Method";
  }
  if (const auto name = name_of(message); name && decoded(request.header("mcp-name")) != *name) {
    return "Mcp-Name";
  }
  return {};
}

bool is_legacy_version(std::string_view version) {
  const auto known = mcp_legacy_versions();
  return std::ranges::find(known, version) != known.end();
}

/// Why the transport turns a request away; nothing when it doesn't.
std::optional<HttpResponse> transport_refusal(const HttpRequest& request, const McpMessage& message,
                                              bool is_modern) {
  const std::string_view version = request.header("mcp-protocol-version");
  if (is_modern) {
    const std::string_view wrong = wrong_header(request, message);
    if (!wrong.empty()) {
      return rpc_error(400, message.id, kHeaderMismatch,
                       fmt::format("Header mismatch: {} is missing, or says something else than "
                                   "the message",
                                   wrong));
    }
    return std::nullopt;
  }
  if (version.empty() || message.method == "initialize" || is_legacy_version(version)) {
    return std::nullopt;
  }
  if (version == kMcpModernVersion) {
    return rpc_error(400, message.id, static_cast<int>(McpErrorCode::kInvalidParams),
                     fmt::format("Invalid params: _meta[\"{}\"] must be a string", kMetaVersion));
  }
  return json_response(
      mcp_error(message.id, McpErrorCode::kUnsupportedProtocolVersion,
                "Unsupported protocol version",
                fmt::format(R"({{"supported":{},"requested":{}}})", mcp_supported_versions(),
                            json_quoted(utf8_repaired(version.substr(0, 200))))),
      400);
}

/// The status that goes with an answer that was given at once.
std::uint16_t status_of(std::string_view answer, bool is_modern) {
  static constexpr std::string_view kError = R"("error":{"code":)";
  const std::size_t at = answer.find(kError);
  // A result may quote such text; an error stands right behind the id.
  if (at == std::string_view::npos || answer.find(R"("result":)") < at) {
    return 200;
  }
  int code = 0;
  const std::string_view number = answer.substr(at + kError.size());
  std::from_chars(number.data(), number.data() + number.size(), code);
  if (code == static_cast<int>(McpErrorCode::kMethodNotFound)) {
    return is_modern ? 404 : 200;
  }
  const bool is_bad = code == static_cast<int>(McpErrorCode::kParseError) ||
                      code == static_cast<int>(McpErrorCode::kInvalidRequest);
  return is_modern || is_bad ? 400 : 200;
}

HttpResponse stream_of(std::shared_ptr<Exchange> exchange) {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers = {{"x-accel-buffering", "no"}};
  response.open_events = [exchange =
                              std::move(exchange)](std::shared_ptr<HttpEventSink> stream) mutable {
    exchange->sink->open(std::move(stream));
    exchange->task();
    exchange->task = nullptr;
    return std::static_pointer_cast<void>(exchange);
  };
  return response;
}

}  // namespace

McpEndpoint::McpEndpoint(McpService& service)
    : service_(&service), legacy_(std::make_unique<WithoutConnection>(service)) {}

McpEndpoint::~McpEndpoint() = default;

HttpResponse McpEndpoint::handle(const HttpRequest& request) {
  if (request.method != "POST") {
    return method_refusal("POST");
  }
  if (!accepts_json(request)) {
    return error_response(406, "not_acceptable",
                          "send Accept: application/json, text/event-stream");
  }
  McpMessage message;
  McpRefusal refusal;
  const McpMessageKind kind = read_mcp_message(request.body, message, refusal);
  if (kind == McpMessageKind::kNotification || kind == McpMessageKind::kIgnored) {
    return {.status = 202};  // Without a connection there is nothing that they could change.
  }
  if (kind == McpMessageKind::kRefused) {
    return json_response(mcp_error(refusal.id, refusal.code, refusal.message), 400);
  }
  const bool is_modern = message.meta[kMetaVersion].present() && message.method != "initialize";
  if (auto refused = transport_refusal(request, message, is_modern)) {
    return *std::move(refused);
  }
  auto exchange = std::make_shared<Exchange>(is_modern ? *service_ : *legacy_);
  exchange->task = exchange->server.accept(request.body, exchange->sink);
  const bool is_listening = message.method == kListen;
  if (exchange->task && (is_listening || message.meta["progressToken"].present() ||
                         message.meta[kMetaLogLevel].present())) {
    if (accepts(request, "text/event-stream")) {
      return stream_of(std::move(exchange));
    }
    if (is_listening) {
      return error_response(406, "not_acceptable", "a stream needs Accept: text/event-stream");
    }
  }
  const bool was_quick = !exchange->task;
  if (!was_quick) {
    exchange->task();
  }
  std::string answer = exchange->sink->take();
  const std::uint16_t status = was_quick ? status_of(answer, is_modern) : 200;
  return json_response(std::move(answer), status);
}

}  // namespace bmad_mem::cli
