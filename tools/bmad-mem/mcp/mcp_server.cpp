// mcp_server.cpp - handles messages of MCP: initialization, requests, notifications, cancellation.
#include "mcp/mcp_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
constexpr std::array<std::string_view, 8> kLevelNames = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

McpErrorCode code_of(McpError::Kind kind, bool is_modern) {
  switch (kind) {
    case McpError::Kind::kInvalidParams:
      return McpErrorCode::kInvalidParams;
    case McpError::Kind::kUnknownResource:
      return is_modern ? McpErrorCode::kInvalidParams : McpErrorCode::kResourceNotFound;
    case McpError::Kind::kUnknownMethod:
      return McpErrorCode::kMethodNotFound;
    case McpError::Kind::kInternal:
      break;
  }
  return McpErrorCode::kInternalError;
}

/// What is wrong with the `_meta` that every request of the modern era carries: the answer that
/// says so, or nothing.
std::optional<std::string> refusal_of_meta(const McpMessage& request) {
  const JsonValue version = request.meta[kMcpMetaVersion];
  const JsonValue level = request.meta[kMcpMetaLogLevel];
  const auto invalid = [&](std::string_view member, std::string_view problem) {
    return mcp_error(request.id, McpErrorCode::kInvalidParams,
                     fmt::format("Invalid params: _meta[\"{}\"] {}", member, problem));
  };
  if (!version.is_string()) {
    return invalid(kMcpMetaVersion, "must be a string");
  }
  if (version.string() != kMcpModernVersion) {
    return mcp_unsupported_version(request.id, version.string());
  }
  if (!request.meta[kMetaCapabilities].is_object()) {
    return invalid(kMetaCapabilities, "must be an object");
  }
  if (level.present() && !try_parse_mcp_log_level(level.string())) {
    return invalid(kMcpMetaLogLevel, "is no log level");
  }
  return std::nullopt;
}

std::string server_info_of(const McpIdentity& identity) {
  return json_object("name", identity.name, "title", if_some(identity.title), "version",
                     identity.version);
}

/// `members`, and what every result of the modern era has beside them.
std::string modern_members(const McpServer::Method& method, std::string_view members,
                           std::string_view server_info) {
  std::string out = R"("resultType":"complete")";
  if (!members.empty()) {
    out += ',';
    out += members;
  }
  if (method.ttl_ms >= 0) {
    out += fmt::format(R"(,"ttlMs":{},"cacheScope":"private")", method.ttl_ms);
  }
  out += fmt::format(R"(,"_meta":{{"io.modelcontextprotocol/serverInfo":{}}})", server_info);
  return out;
}

/// What tells the client that its stream is over.
std::string end_of_stream(const McpListening& stream) {
  return mcp_result(stream.call->message().id,
                    fmt::format(R"("resultType":"complete",{})", stream.meta));
}

}  // namespace

std::optional<McpLogLevel> try_parse_mcp_log_level(std::string_view name) {
  const auto* const found = std::ranges::find(kLevelNames, name);
  return found == kLevelNames.end()
             ? std::nullopt
             : std::optional(static_cast<McpLogLevel>(found - kLevelNames.begin()));
}

bool McpCall::cancelled() const {
  const std::scoped_lock lock(mutex_);
  return is_cancelled_;
}

void McpCall::progress(double done, std::optional<double> total, std::string_view message) {
  const std::optional<std::string> token = mcp_id_text(message_->meta["progressToken"]);
  if (!token || !std::isfinite(done)) {
    return;
  }
  const std::string text =
      mcp_notification("notifications/progress",
                       json_members_of("progressToken", raw_json(*token), "progress", done, "total",
                                       total && std::isfinite(*total) ? total : std::nullopt,
                                       "message", if_some(message)));
  const std::scoped_lock lock(mutex_);
  if (is_over_ || (last_progress_ && done <= *last_progress_)) {
    return;
  }
  last_progress_ = done;
  sink_->send(text);
}

void McpCall::log(McpLogLevel level, std::string_view message) {
  if (!log_level || level < *log_level) {
    return;
  }
  send(mcp_notification("notifications/message",
                        json_members_of("level", kLevelNames.at(static_cast<std::size_t>(level)),
                                        "logger", "bmad-mem", "data", message)));
}

void McpCall::resource_updated(std::string_view uri) {
  if (on_resource_updated && !cancelled()) {
    on_resource_updated(uri);
  }
}

void McpCall::cancel() {
  const std::scoped_lock lock(mutex_);
  is_cancelled_ = true;
  is_over_ = true;
}

void McpCall::answer(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (!is_over_) {
    is_over_ = true;
    sink_->send(text);
  }
}

void McpCall::send(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (!is_over_ && !is_held_back_) {
    sink_->send(text);
  }
}

void McpCall::hold_back() {
  const std::scoped_lock lock(mutex_);
  is_held_back_ = true;
}

void McpCall::send_first(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  is_held_back_ = false;
  if (!is_over_) {
    sink_->send(text);
  }
}

std::string mcp_updated_notification(std::string_view uri, std::string_view meta) {
  return mcp_notification(
      "notifications/resources/updated",
      fmt::format("{}{}\"uri\":{}", meta, meta.empty() ? "" : ",", json_quoted(uri)));
}

McpServer::McpServer(McpService& the_service, std::shared_ptr<McpSink> the_events, bool it_lasts)
    : service(the_service),
      events(std::move(the_events)),
      lasts(it_lasts),
      server_info(server_info_of(the_service.identity)) {}

McpCapabilities McpServer::can() const {
  McpCapabilities can = service.capabilities;
  if (!lasts) {
    can.tools_list_changed = can.resources_list_changed = false;
    can.resources_subscribe = can.logging = false;
  }
  return can;
}

/// The method that a request names, if its era and this service have it.
const McpServer::Method* McpServer::find_method(std::string_view name, bool is_modern) const {
  const auto found = std::ranges::find(methods(), name, &Method::name);
  if (found == methods().end() || (found->era == Era::kLegacy && is_modern)) {
    return nullptr;
  }
  if (found->capability != nullptr && !(can().*found->capability)) {
    return nullptr;
  }
  return &*found;
}

/// Fills in what the request's era says of the client.
void McpServer::describe(McpCall& call) {
  const JsonValue meta = call.message().meta;
  if (call.is_modern) {
    call.client = meta[kMetaClientInfo]["name"].string();
    call.log_level = try_parse_mcp_log_level(meta[kMcpMetaLogLevel].string());
  } else {
    const std::scoped_lock lock(mutex);
    call.client = client;
    call.log_level = log_level;
  }
  if (!can().logging) {
    call.log_level.reset();
  }
  call.on_resource_updated = [this](std::string_view uri) { tell_updated(uri); };
}

McpServer::Task McpServer::take_request(std::unique_ptr<McpMessage> message,
                                        std::shared_ptr<McpSink> answers) {
  auto call = std::make_shared<McpCall>(std::move(message), std::move(answers));
  const McpMessage& request = call->message();
  const auto turn_away = [&](std::string_view answer) {
    call->answer(answer);
    return McpServer::Task();
  };
  const Method* method = find_method(request.method, false);
  call->is_modern = request.is_modern();
  if (call->is_modern || (method != nullptr && method->era == Era::kModern)) {
    if (const std::optional<std::string> refusal = refusal_of_meta(request)) {
      return turn_away(*refusal);
    }
    method = find_method(request.method, true);
  }
  if (method == nullptr) {
    return turn_away(
        mcp_error(request.id, McpErrorCode::kMethodNotFound,
                  fmt::format("Method not found: {}", utf8_prefix(request.method, 200))));
  }
  describe(*call);
  if (method->is_quick) {
    run(*method, *call);
    return {};
  }
  {
    const std::scoped_lock lock(mutex);
    if (listening.contains(request.id) || !running.try_emplace(request.id, call).second) {
      return turn_away(mcp_error(request.id, McpErrorCode::kInvalidRequest,
                                 "Invalid request: a request with this id is being worked on"));
    }
  }
  return [this, method, call] {
    if (!call->cancelled()) {
      run(*method, *call);
    }
    const std::scoped_lock lock(mutex);
    const auto found = running.find(call->message().id);
    if (found != running.end() && found->second == call) {
      running.erase(found);
    }
  };
}

void McpServer::run(const Method& method, McpCall& call) {
  const Members members = handle(method, call);
  const std::string& id = call.message().id;
  if (!members) {
    const McpError& error = members.error();
    call.answer(mcp_error(id, code_of(error.kind, call.is_modern), error.message, error.data));
  } else if (method.name == kMcpListen) {
    return;  // Answered when the stream ends.
  } else if (call.is_modern) {
    call.answer(mcp_result(id, modern_members(method, *members, server_info)));
  } else {
    call.answer(mcp_result(id, *members));
  }
}

void McpServer::tell_updated(std::string_view uri) {
  std::vector<std::pair<std::shared_ptr<McpCall>, std::string>> streams;
  bool is_watched = false;
  {
    const std::scoped_lock lock(mutex);
    is_watched = watched.find(uri) != watched.end();
    for (const auto& [id, stream] : listening) {
      if (stream->uris.contains(uri)) {
        streams.emplace_back(stream->call, mcp_updated_notification(uri, stream->meta));
      }
    }
  }
  if (is_watched) {
    events->send(mcp_updated_notification(uri, ""));
  }
  for (const auto& [call, text] : streams) {
    call->send(text);
  }
}

void McpServer::take_notification(const McpMessage& message) {
  if (message.method != "notifications/cancelled") {
    return;  // Nothing else changes what we do.
  }
  const std::optional<std::string> id = mcp_id_text(message.params["requestId"]);
  if (!id) {
    return;
  }
  std::shared_ptr<McpListening> stream;  // Goes outside of the lock.
  const std::scoped_lock lock(mutex);
  if (const auto found = running.find(*id); found != running.end()) {
    found->second->cancel();
    running.erase(found);  // Its id may be used again.
  }
  if (const auto found = listening.find(*id); found != listening.end()) {
    stream = std::move(found->second);
    stream->call->cancel();
    listening.erase(found);
  }
}

McpServer::Task McpServer::accept(std::string_view text, std::shared_ptr<McpSink> answers) {
  auto message = std::make_unique<McpMessage>();
  std::string refusal;
  switch (read_mcp_message(text, *message, refusal)) {
    case McpMessageKind::kRequest:
      return take_request(std::move(message), std::move(answers));
    case McpMessageKind::kNotification:
      take_notification(*message);
      break;
    case McpMessageKind::kRefused:
      answers->send(refusal);
      break;
    case McpMessageKind::kIgnored:
      break;
  }
  return {};
}

void McpServer::cancel_all() {
  const std::scoped_lock lock(mutex);
  for (const auto& [id, call] : running) {
    call->cancel();
  }
}

void McpServer::close() {
  decltype(listening) streams;
  decltype(watched) ended;
  {
    const std::scoped_lock lock(mutex);
    is_closed = true;
    streams.swap(listening);
    ended.swap(watched);
  }
  ended.clear();
  for (const auto& [id, stream] : streams) {
    stream->subscriptions.clear();
    stream->call->answer(end_of_stream(*stream));
  }
}

}  // namespace bmad_mem::cli
