// mcp_methods.cpp - what each method answers: the members of its result.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "mcp/mcp_results.hpp"
#include "mcp/mcp_server_impl.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

/// Most resources that one connection may watch: each costs a comparison for every entry written.
constexpr std::size_t kSubscriptionsMax = 1000;

std::unexpected<McpError> invalid_params(std::string message) {
  return std::unexpected(
      McpError{McpError::Kind::kInvalidParams, "Invalid params: " + std::move(message)});
}

/// What a client sent, cut so that an answer stays small.
std::string quoted(std::string_view text) { return std::string(utf8_prefix(text, 200)); }

/// `answer` with its value made into members of a result.
template <typename T>
McpAnswer<std::string> as_members(McpAnswer<T> answer, std::string (*make)(const T&)) {
  if (!answer) {
    return std::unexpected(std::move(answer).error());
  }
  return make(*answer);
}

/// A notification that `uri` has changed; `meta` is a member to add, or empty.
std::string updated_notification(std::string_view uri, std::string_view meta) {
  return mcp_notification(
      "notifications/resources/updated",
      fmt::format("{}{}\"uri\":{}", meta, meta.empty() ? "" : ",", json_quoted(uri)));
}

}  // namespace

McpServer::Impl::Members McpServer::Impl::initialize(RunningCall& call) {
  const JsonValue params = call.message().params;
  const JsonValue asked = params["protocolVersion"];
  if (!asked.is_string()) {
    return invalid_params("\"protocolVersion\" must be a string");
  }
  const std::span<const std::string_view> known = mcp_legacy_versions();
  const bool is_known = std::ranges::find(known, asked.string()) != known.end();
  {
    const std::scoped_lock lock(mutex);
    client = params["clientInfo"]["name"].string();
  }
  return mcp_initialize_members(is_known ? asked.string() : known.front(), service);
}

McpServer::Impl::Members McpServer::Impl::ping(RunningCall& /*call*/) { return std::string(); }

McpServer::Impl::Members McpServer::Impl::discover(RunningCall& /*call*/) {
  return mcp_discover_members(service);
}

McpServer::Impl::Members McpServer::Impl::set_level(RunningCall& call) {
  const JsonValue name = call.message().params["level"];
  const std::optional<McpLogLevel> level = try_parse_mcp_log_level(name.string());
  if (!level) {
    return invalid_params(
        "\"level\" must be debug, info, notice, warning, error, critical, alert or emergency");
  }
  const std::scoped_lock lock(mutex);
  log_level = *level;
  return std::string();
}

McpServer::Impl::Members McpServer::Impl::whole_list(RunningCall& call, std::string_view name,
                                                     std::vector<std::string> items) {
  if (call.message().params["cursor"].present()) {
    return invalid_params("unknown cursor; this list has one page");
  }
  return mcp_list_members(name, {.items = std::move(items)});
}

McpServer::Impl::Members McpServer::Impl::list_tools(RunningCall& call) {
  return whole_list(call, "tools", service.tools());
}

McpServer::Impl::Members McpServer::Impl::list_templates(RunningCall& call) {
  return whole_list(call, "resourceTemplates", service.resource_templates());
}

McpServer::Impl::Members McpServer::Impl::list_prompts(RunningCall& call) {
  return whole_list(call, "prompts", service.prompts());
}

McpServer::Impl::Members McpServer::Impl::call_tool(RunningCall& call) {
  const JsonValue name = call.message().params["name"];
  const JsonValue arguments = call.message().params["arguments"];
  if (!name.is_string()) {
    return invalid_params("\"name\" must be a string");
  }
  if (arguments.present() && !arguments.is_object()) {
    return invalid_params("\"arguments\" must be an object");
  }
  return as_members(service.call_tool(name.string(), arguments, call), mcp_tool_members);
}

McpServer::Impl::Members McpServer::Impl::list_resources(RunningCall& call) {
  const JsonValue cursor = call.message().params["cursor"];
  if (cursor.present() && cursor.string().empty()) {
    return invalid_params("unknown cursor; leave it out for the first page");
  }
  McpAnswer<McpPage> page = service.resources(cursor.string());
  if (!page) {
    return std::unexpected(std::move(page).error());
  }
  return mcp_list_members("resources", *page);
}

McpServer::Impl::Members McpServer::Impl::read_resource(RunningCall& call) {
  const JsonValue uri = call.message().params["uri"];
  if (!uri.is_string()) {
    return invalid_params("\"uri\" must be a string");
  }
  McpAnswer<std::vector<McpResourceText>> texts = service.read_resource(uri.string(), call);
  if (!texts) {
    McpError error = std::move(texts).error();
    if (error.kind == McpError::Kind::kUnknownResource && error.data.empty()) {
      error.data = fmt::format(R"({{"uri":{}}})", json_quoted(quoted(uri.string())));
    }
    return std::unexpected(std::move(error));
  }
  return mcp_contents_members(*texts);
}

McpServer::Impl::Members McpServer::Impl::subscribe(RunningCall& call) {
  const JsonValue value = call.message().params["uri"];
  if (!value.is_string()) {
    return invalid_params("\"uri\" must be a string");
  }
  const std::string uri(value.string());
  {
    const std::scoped_lock lock(mutex);
    if (watched.contains(uri)) {
      return std::string();
    }
    if (watched.size() >= kSubscriptionsMax) {
      return invalid_params(
          fmt::format("more than {} resources are watched already", kSubscriptionsMax));
    }
  }
  McpAnswer<std::unique_ptr<McpSubscription>> subscription =
      service.subscribe(uri, [to = events, uri] { to->send(updated_notification(uri, "")); });
  if (!subscription) {
    return std::unexpected(std::move(subscription).error());
  }
  // Another thread may have been faster; then this subscription goes, outside of the lock.
  const std::scoped_lock lock(mutex);
  if (!is_closed) {
    watched.try_emplace(uri, std::move(*subscription));
  }
  return std::string();
}

McpServer::Impl::Members McpServer::Impl::unsubscribe(RunningCall& call) {
  const JsonValue uri = call.message().params["uri"];
  if (!uri.is_string()) {
    return invalid_params("\"uri\" must be a string");
  }
  std::unique_ptr<McpSubscription> gone;  // Goes outside of the lock.
  const std::scoped_lock lock(mutex);
  if (const auto found = watched.find(uri.string()); found != watched.end()) {
    gone = std::move(found->second);
    watched.erase(found);
  }
  return std::string();
}

McpServer::Impl::Members McpServer::Impl::get_prompt(RunningCall& call) {
  const JsonValue name = call.message().params["name"];
  const JsonValue arguments = call.message().params["arguments"];
  if (!name.is_string()) {
    return invalid_params("\"name\" must be a string");
  }
  if (arguments.present() && !arguments.is_object()) {
    return invalid_params("\"arguments\" must be an object");
  }
  for (const JsonMember& argument : arguments.members()) {
    if (!argument.value.is_string()) {
      return invalid_params(fmt::format("argument \"{}\" must be a string", quoted(argument.key)));
    }
  }
  return as_members(service.get_prompt(name.string(), arguments, call), mcp_prompt_members);
}

McpServer::Impl::Members McpServer::Impl::complete(RunningCall& call) {
  const JsonValue params = call.message().params;
  const JsonValue ref = params["ref"];
  const JsonValue argument = params["argument"];
  McpCompletionQuery query;
  query.is_prompt = ref["type"].string() == "ref/prompt";
  const JsonValue name = ref[query.is_prompt ? "name" : "uri"];
  if ((!query.is_prompt && ref["type"].string() != "ref/resource") || !name.is_string()) {
    return invalid_params(
        R"("ref" must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…})");
  }
  if (!argument["name"].is_string() || !argument["value"].is_string()) {
    return invalid_params(R"("argument" must be {"name":…,"value":…}, both strings)");
  }
  query.ref = name.string();
  query.argument = argument["name"].string();
  query.value = argument["value"].string();
  query.arguments = params["context"]["arguments"];
  return as_members(service.complete(query), mcp_completion_members);
}

/// What of `wanted` is watched from now on: a JSON object.
std::string McpServer::Impl::start_listening(McpListening& stream, JsonValue wanted) {
  const auto tell = [&stream](std::string text) {
    return [call = stream.call, message = std::move(text)] { call->send(message); };
  };
  const McpCapabilities can = service.capabilities();
  JsonWriter json;
  json.begin_object();
  if (wanted["resourcesListChanged"].boolean() && can.resources_list_changed) {
    stream.subscriptions.push_back(service.subscribe_to_list(
        tell(mcp_notification("notifications/resources/list_changed", stream.meta))));
    json.member("resourcesListChanged", true);
  }
  // Tools and prompts never change while a service runs, so nothing would ever come.
  json.key("resourceSubscriptions").begin_array();
  for (const JsonValue element : wanted["resourceSubscriptions"].elements()) {
    if (!can.resources_subscribe || !element.is_string() ||
        stream.subscriptions.size() >= kSubscriptionsMax) {
      continue;
    }
    const std::string uri(element.string());
    McpAnswer<std::unique_ptr<McpSubscription>> subscription =
        service.subscribe(uri, tell(updated_notification(uri, stream.meta)));
    if (subscription) {
      stream.subscriptions.push_back(std::move(*subscription));
      stream.uris.insert(uri);
      json.string(uri);
    }
  }
  json.end_array().end_object();
  return json.take();
}

/// Makes no result: the stream stays until somebody ends it. The acknowledgement must come first,
/// so what changes before it is not told; a client reads after it what it wants to know.
McpServer::Impl::Members McpServer::Impl::listen(RunningCall& call) {
  const JsonValue wanted = call.message().params["notifications"];
  if (!wanted.is_object()) {
    return invalid_params("\"notifications\" must be an object");
  }
  auto stream = std::make_shared<McpListening>();
  stream->meta = fmt::format(R"("_meta":{{"{}":{}}})", kMetaSubscription, call.message().id);
  {
    const std::scoped_lock lock(mutex);
    const auto found = running.find(call.message().id);
    if (found == running.end()) {
      return std::string();  // Cancelled meanwhile.
    }
    stream->call = found->second;
  }
  call.hold_back();
  const std::string accepted = start_listening(*stream, wanted);
  call.send_first(mcp_notification("notifications/subscriptions/acknowledged",
                                   fmt::format("{},\"notifications\":{}", stream->meta, accepted)));
  const std::scoped_lock lock(mutex);
  if (!is_closed && !call.cancelled()) {
    listening[call.message().id] = std::move(stream);
  }
  return std::string();
}

void McpServer::Impl::tell_updated(std::string_view uri) {
  std::vector<std::pair<std::shared_ptr<RunningCall>, std::string>> streams;
  bool is_watched = false;
  {
    const std::scoped_lock lock(mutex);
    is_watched = watched.find(uri) != watched.end();
    for (const auto& [id, stream] : listening) {
      if (stream->uris.contains(uri)) {
        streams.emplace_back(stream->call, updated_notification(uri, stream->meta));
      }
    }
  }
  if (is_watched) {
    events->send(updated_notification(uri, ""));
  }
  for (const auto& [call, text] : streams) {
    call->send(text);
  }
}

/// Tells the client that its stream is over.
std::string McpServer::Impl::end_of_stream(const McpListening& stream) const {
  return mcp_result(stream.call->message().id,
                    fmt::format(R"("resultType":"complete",{})", stream.meta));
}

}  // namespace bmad_mem::cli
