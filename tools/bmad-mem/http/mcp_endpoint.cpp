// mcp_endpoint.cpp - serves MCP over HTTP: sessions, streams, and messages in JSON.
#include <sodium.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "http/app.hpp"
#include "mcp/mcp_messages.hpp"
#include "mcp/mcp_server.hpp"

namespace bmad_mem::cli {
namespace {

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

/// One request while it is worked on. Those of the legacy era have no connection in common: what
/// would reach a client later is not offered to it.
struct Exchange {
  Exchange(McpService& service, bool is_modern)
      : sink(std::make_shared<AnswerSink>()), server(service, sink, /*lasts=*/is_modern) {}
  std::shared_ptr<AnswerSink> sink;
  McpServer server;
  McpServer::Task task;
};

bool accepts(const HttpRequest& request, std::string_view type) {
  return std::ranges::any_of(request.headers, [&](const HttpField& field) {
    return field.name == "accept" && field.value.contains(type);
  });
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

/// Which header says something else than the message; empty when none does.
std::string_view wrong_header(const HttpRequest& request, const McpMessage& message) {
  if (request.header("mcp-protocol-version") != message.meta[kMcpMetaVersion].string()) {
    return "MCP-Protocol-Version";
  }
  if (request.header("mcp-method") != message.method) {
    return "Mcp-Method";
  }
  const bool has_name = message.method == "tools/call" || message.method == "prompts/get";
  if ((has_name || message.method == "resources/read") &&
      decoded(request.header("mcp-name")) != message.params[has_name ? "name" : "uri"].string()) {
    return "Mcp-Name";
  }
  return {};
}

/// Why the transport turns a request away; nothing when it doesn't.
std::optional<HttpResponse> transport_refusal(const HttpRequest& request, const McpMessage& message,
                                              bool is_modern) {
  const auto refuse = [&](McpErrorCode code, std::string_view reason, std::uint16_t status = 400) {
    return json_response(mcp_error(message.id, code, reason), status);
  };
  const std::string_view version = request.header("mcp-protocol-version");
  if (message.method == "initialize" && version == kMcpModernVersion) {  // That era has none.
    return refuse(McpErrorCode::kMethodNotFound, "Method not found: initialize", 404);
  }
  if (is_modern) {
    const std::string_view wrong = wrong_header(request, message);
    return wrong.empty()
               ? std::nullopt
               : std::optional(refuse(McpErrorCode::kHeaderMismatch,
                                      fmt::format("Header mismatch: {} is missing, or says "
                                                  "something else than the message",
                                                  wrong)));
  }
  if (version.empty() || message.method == "initialize" ||
      is_among(mcp_legacy_versions(), version)) {
    return std::nullopt;
  }
  if (version == kMcpModernVersion) {
    return refuse(McpErrorCode::kInvalidParams,
                  fmt::format("Invalid params: _meta[\"{}\"] must be a string", kMcpMetaVersion));
  }
  return json_response(mcp_unsupported_version(message.id, version), 400);
}

/// The status of an answer of the modern era that was given at once. An error stands right behind
/// the id; a result may quote such text.
std::uint16_t status_of(std::string_view answer, std::string_view id) {
  answer.remove_prefix(std::string_view(R"({"jsonrpc":"2.0","id":)").size() + id.size());
  if (!answer.starts_with(R"(,"error":)")) {
    return 200;
  }
  return answer.starts_with(R"(,"error":{"code":-32601,)") ? 404 : 400;  // Method not found.
}

HttpResponse stream_of(std::shared_ptr<Exchange> exchange) {
  return {.content_type = "text/event-stream",
          .headers = {{"x-accel-buffering", "no"}},
          .open_events = [exchange =
                              std::move(exchange)](std::shared_ptr<HttpEventSink> stream) mutable {
            exchange->sink->open(std::move(stream));
            exchange->task();
            exchange->task = nullptr;
            return std::static_pointer_cast<void>(exchange);
          }};
}

}  // namespace

HttpResponse answer_mcp(McpService& service, const HttpRequest& request) {
  if (request.method != "POST") {
    return method_refusal("POST");
  }
  if (!accepts_json(request)) {
    return error_response(406, "not_acceptable",
                          "send Accept: application/json, text/event-stream");
  }
  McpMessage message;
  std::string refusal;
  const McpMessageKind kind = read_mcp_message(request.body, message, refusal);
  if (kind == McpMessageKind::kNotification || kind == McpMessageKind::kIgnored) {
    return {.status = 202};  // Without a connection there is nothing that they could change.
  }
  if (kind == McpMessageKind::kRefused) {
    return json_response(std::move(refusal), 400);
  }
  const bool is_modern = message.is_modern();
  if (auto refused = transport_refusal(request, message, is_modern)) {
    return *std::move(refused);
  }
  auto exchange = std::make_shared<Exchange>(service, is_modern);
  exchange->task = exchange->server.accept(request.body, exchange->sink);
  const bool is_listening = message.method == kMcpListen;
  if (exchange->task && (is_listening || message.meta["progressToken"].present() ||
                         message.meta[kMcpMetaLogLevel].present())) {
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
  const std::uint16_t status = was_quick && is_modern ? status_of(answer, message.id) : 200;
  return json_response(std::move(answer), status);
}

}  // namespace bmad_mem::cli
