#include "mcp/mcp_server.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "mcp/mcp_server_impl.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";

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

/// Why a request can't be taken at all: with its own code, since McpError has none for it.
struct Turned {
  McpErrorCode code = McpErrorCode::kInvalidParams;
  std::string message;
  std::string data = {};
};

/// What is wrong with the `_meta` that every request of the modern era carries.
std::optional<Turned> problem_of_meta(JsonValue meta) {
  const JsonValue version = meta[kMetaVersion];
  if (!version.is_string()) {
    return Turned{.message =
                      fmt::format("Invalid params: _meta[\"{}\"] must be a string", kMetaVersion)};
  }
  if (version.string() != kMcpModernVersion) {
    const std::string_view requested = utf8_prefix(version.string(), 200);
    return Turned{.code = McpErrorCode::kUnsupportedProtocolVersion,
                  .message = "Unsupported protocol version",
                  .data = fmt::format(R"({{"supported":{},"requested":{}}})",
                                      mcp_supported_versions(), json_quoted(requested))};
  }
  if (!meta[kMetaCapabilities].is_object()) {
    return Turned{.message = fmt::format("Invalid params: _meta[\"{}\"] must be an object",
                                         kMetaCapabilities)};
  }
  const JsonValue level = meta[kMetaLogLevel];
  if (level.present() && !try_parse_mcp_log_level(level.string())) {
    return Turned{.message =
                      fmt::format("Invalid params: _meta[\"{}\"] is no log level", kMetaLogLevel)};
  }
  return std::nullopt;
}

}  // namespace

const std::array<McpServer::Impl::Method, 15> McpServer::Impl::kMethods = {{
    {"initialize", Era::kLegacy, true, nullptr, &Impl::initialize},
    {"ping", Era::kLegacy, true, nullptr, &Impl::ping},
    {"server/discover", Era::kModern, true, nullptr, &Impl::discover},
    {"logging/setLevel", Era::kLegacy, true, &McpCapabilities::logging, &Impl::set_level},
    {"tools/list", Era::kBoth, true, &McpCapabilities::tools, &Impl::list_tools},
    {"tools/call", Era::kBoth, false, &McpCapabilities::tools, &Impl::call_tool},
    {"resources/list", Era::kBoth, false, &McpCapabilities::resources, &Impl::list_resources},
    {"resources/templates/list", Era::kBoth, true, &McpCapabilities::resources,
     &Impl::list_templates},
    {"resources/read", Era::kBoth, false, &McpCapabilities::resources, &Impl::read_resource},
    {"resources/subscribe", Era::kLegacy, false, &McpCapabilities::resources_subscribe,
     &Impl::subscribe},
    {"resources/unsubscribe", Era::kLegacy, false, &McpCapabilities::resources_subscribe,
     &Impl::unsubscribe},
    {"prompts/list", Era::kBoth, true, &McpCapabilities::prompts, &Impl::list_prompts},
    {"prompts/get", Era::kBoth, false, &McpCapabilities::prompts, &Impl::get_prompt},
    {"completion/complete", Era::kBoth, false, &McpCapabilities::completions, &Impl::complete},
    {"subscriptions/listen", Era::kModern, false, nullptr, &Impl::listen},
}};

/// The method that a request names, if its era and this service have it.
const McpServer::Impl::Method* McpServer::Impl::find_method(std::string_view name,
                                                            bool is_modern) const {
  const auto* const found =
      std::ranges::find_if(kMethods, [&](const Method& method) { return method.name == name; });
  if (found == kMethods.end() || (found->era == Era::kLegacy && is_modern)) {
    return nullptr;
  }
  if (found->capability != nullptr && !(service.capabilities().*found->capability)) {
    return nullptr;
  }
  return found;
}

/// Fills in what the request's era says of the client.
void McpServer::Impl::describe(RunningCall& call) {
  const JsonValue meta = call.message().meta;
  if (call.is_modern) {
    call.client = meta[kMetaClientInfo]["name"].string();
    call.log_level = try_parse_mcp_log_level(meta[kMetaLogLevel].string());
  } else {
    const std::scoped_lock lock(mutex);
    call.client = client;
    call.log_level = log_level;
  }
  if (!service.capabilities().logging) {
    call.log_level.reset();
  }
  call.on_resource_updated = [this](std::string_view uri) { tell_updated(uri); };
}

McpServer::Task McpServer::Impl::take_request(std::unique_ptr<McpMessage> message,
                                              std::shared_ptr<McpSink> answers) {
  auto call = std::make_shared<RunningCall>(std::move(message), std::move(answers));
  const McpMessage& request = call->message();
  const auto turn_away = [&](McpErrorCode code, std::string_view reason, std::string_view data) {
    call->answer(mcp_error(request.id, code, reason, data));
    return Task();
  };
  // The handshake is how a connection asks for the legacy era, whatever else it says.
  const Method* method = find_method(request.method, false);
  call->is_modern = request.meta[kMetaVersion].present() && request.method != "initialize";
  if (call->is_modern || (method != nullptr && method->era == Era::kModern)) {
    if (const std::optional<Turned> problem = problem_of_meta(request.meta)) {
      return turn_away(problem->code, problem->message, problem->data);
    }
    method = find_method(request.method, true);
  }
  if (method == nullptr) {
    return turn_away(McpErrorCode::kMethodNotFound,
                     fmt::format("Method not found: {}", utf8_prefix(request.method, 200)), {});
  }
  describe(*call);
  if (method->is_quick) {
    run(*method, *call);
    return {};
  }
  {
    const std::scoped_lock lock(mutex);
    if (listening.contains(request.id) || !running.try_emplace(request.id, call).second) {
      return turn_away(McpErrorCode::kInvalidRequest,
                       "Invalid request: a request with this id is being worked on", {});
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

/// The one place where what a call throws becomes its answer.
McpServer::Impl::Members McpServer::Impl::handle(const Method& method, RunningCall& call) {
  try {
    return (this->*method.handle)(call);
  } catch (const std::exception& failure) {
    const Error error = error_of_exception(failure);
    return std::unexpected(
        McpError{McpError::Kind::kInternal,
                 fmt::format("{}: {}", error_code_name(error.code), error.message),
                 {}});
  }
}

void McpServer::Impl::run(const Method& method, RunningCall& call) {
  const Members members = handle(method, call);
  const std::string& id = call.message().id;
  if (!members) {
    const McpError& error = members.error();
    call.answer(mcp_error(id, code_of(error.kind, call.is_modern), error.message, error.data));
  } else if (method.handle == &Impl::listen) {
    return;  // Answered when the stream ends.
  } else if (call.is_modern) {
    call.answer(mcp_result(id, mcp_modern_members(method.name, *members, server_info)));
  } else {
    call.answer(mcp_result(id, *members));
  }
}

void McpServer::Impl::take_notification(const McpMessage& message) {
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

McpServer::McpServer(McpService& service, std::shared_ptr<McpSink> events)
    : impl_(std::make_unique<Impl>(service, std::move(events))) {}

McpServer::~McpServer() { close(); }

McpServer::Task McpServer::accept(std::string_view text, std::shared_ptr<McpSink> answers) {
  auto message = std::make_unique<McpMessage>();
  McpRefusal refusal;
  switch (read_mcp_message(text, *message, refusal)) {
    case McpMessageKind::kRequest:
      return impl_->take_request(std::move(message), std::move(answers));
    case McpMessageKind::kNotification:
      impl_->take_notification(*message);
      break;
    case McpMessageKind::kRefused:
      answers->send(mcp_error(refusal.id, refusal.code, refusal.message));
      break;
    case McpMessageKind::kIgnored:
      break;
  }
  return {};
}

void McpServer::refuse(McpSink& answers, McpErrorCode code, std::string_view reason) {
  answers.send(mcp_error({}, code, reason));
}

void McpServer::cancel_all() {
  const std::scoped_lock lock(impl_->mutex);
  for (const auto& [id, call] : impl_->running) {
    call->cancel();
  }
}

void McpServer::close() {
  decltype(impl_->listening) streams;
  decltype(impl_->watched) watched;
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->is_closed = true;
    streams.swap(impl_->listening);
    watched.swap(impl_->watched);
  }
  watched.clear();
  for (const auto& [id, stream] : streams) {
    stream->subscriptions.clear();
    stream->call->answer(impl_->end_of_stream(*stream));
  }
}

}  // namespace bmad_mem::cli
