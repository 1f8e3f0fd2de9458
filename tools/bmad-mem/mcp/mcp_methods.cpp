// mcp_methods.cpp - what each method answers: the members of its result.
#include <algorithm>
#include <array>
#include <exception>
#include <ranges>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "mcp/mcp_server.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

using Members = McpServer::Members;

constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

/// Most resources that one connection may watch: each costs a comparison for every entry written.
constexpr std::size_t kSubscriptionsMax = 1000;

/// What a client sent, cut so that an answer stays small.
std::string at_most_200(std::string_view text) { return std::string(utf8_prefix(text, 200)); }

auto text_block(std::string_view text) {
  return [text](JsonWriter& json) { put_all(json, "type", "text", "text", text); };
}

std::string capabilities_json(const McpCapabilities& can) {
  const auto tools = json_object("listChanged", if_some(can.tools_list_changed));
  const auto resources = json_object("listChanged", if_some(can.resources_list_changed),
                                     "subscribe", if_some(can.resources_subscribe));
  const auto none = raw_json("{}");
  return json_object("tools", only_if(can.tools, raw_json(tools)), "resources",
                     only_if(can.resources, raw_json(resources)), "prompts",
                     only_if(can.prompts, none), "completions", only_if(can.completions, none),
                     "logging", only_if(can.logging, none));
}

Members initialize(McpServer& it, McpCall& call) {
  const JsonValue params = call.message().params;
  const std::string_view asked = params["protocolVersion"].string();
  const std::span<const std::string_view> known = mcp_legacy_versions();
  const bool is_known = std::ranges::find(known, asked) != known.end();
  {
    const std::scoped_lock lock(it.mutex);
    it.client = params["clientInfo"]["name"].string();
  }
  return json_members_of("protocolVersion", is_known ? asked : known.front(), "capabilities",
                         raw_json(capabilities_json(it.can())), "serverInfo",
                         raw_json(it.server_info), "instructions",
                         if_some(it.service.identity.instructions));
}

Members discover(McpServer& it, McpCall& /*call*/) {
  return json_members_of("supportedVersions", raw_json(mcp_supported_versions()), "capabilities",
                         raw_json(capabilities_json(it.can())), "instructions",
                         if_some(it.service.identity.instructions));
}

Members set_level(McpServer& it, McpCall& call) {
  const std::optional<McpLogLevel> level =
      try_parse_mcp_log_level(call.message().params["level"].string());
  if (!level) {
    return invalid_params(
        "\"level\" must be debug, info, notice, warning, error, critical, alert or emergency");
  }
  const std::scoped_lock lock(it.mutex);
  it.log_level = *level;
  return std::string();
}

std::string list_members(std::string_view name, const McpPage& page) {
  return json_members_of(name, page.items | std::views::transform(raw_json), "nextCursor",
                         if_some(page.next_cursor));
}

/// The only page of a list that fits on one.
Members whole_list(McpServer& it, McpCall& call) {
  const std::string_view method = call.message().method;
  const std::string_view name = method == "resources/templates/list"
                                    ? "resourceTemplates"
                                    : method.substr(0, method.find('/'));
  if (call.message().params["cursor"].present()) {
    return invalid_params("unknown cursor; this list has one page");
  }
  return list_members(name, {.items = it.service.list(name)});
}

Members list_resources(McpServer& it, McpCall& call) {
  const JsonValue cursor = call.message().params["cursor"];
  if (cursor.present() && cursor.string().empty()) {
    return invalid_params("unknown cursor; leave it out for the first page");
  }
  BMAD_TRY_ASSIGN(const McpPage page, it.service.resources(cursor.string()));
  return list_members("resources", page);
}

Members call_tool(McpServer& it, McpCall& call) {
  const JsonValue params = call.message().params;
  BMAD_TRY_ASSIGN(const McpToolResult result,
                  it.service.call_tool(params["name"].string(), params["arguments"], call));
  const auto structured = only_if(!result.structured.empty(), raw_json(result.structured));
  return json_members_of("content", std::array{text_block(result.text)}, "structuredContent",
                         structured, "isError", if_some(result.is_error));
}

Members read_resource(McpServer& it, McpCall& call) {
  const std::string_view uri = call.message().params["uri"].string();
  McpAnswer<std::vector<McpResourceText>> texts = it.service.read_resource(uri, call);
  if (!texts) {
    McpError error = std::move(texts).error();
    if (error.kind == McpError::Kind::kUnknownResource && error.data.empty()) {
      error.data = fmt::format(R"({{"uri":{}}})", json_quoted(at_most_200(uri)));
    }
    return error;
  }
  return json_members_of("contents", shaped(shape::resource_text, *texts));
}

Members subscribe(McpServer& it, McpCall& call) {
  const std::string uri(call.message().params["uri"].string());
  {
    const std::scoped_lock lock(it.mutex);
    if (it.watched.contains(uri)) {
      return std::string();
    }
    if (it.watched.size() >= kSubscriptionsMax) {
      return invalid_params(
          fmt::format("more than {} resources are watched already", kSubscriptionsMax));
    }
  }
  BMAD_TRY_ASSIGN(McpSubscription subscription, it.service.subscribe(uri, [to = it.events, uri] {
    to->send(mcp_updated_notification(uri, ""));
  }));
  // Another thread may have been faster; then this subscription goes, outside of the lock.
  const std::scoped_lock lock(it.mutex);
  if (!it.is_closed) {
    it.watched.try_emplace(uri, std::move(subscription));
  }
  return std::string();
}

Members unsubscribe(McpServer& it, McpCall& call) {
  McpSubscription gone;  // Goes outside of the lock.
  const std::scoped_lock lock(it.mutex);
  if (const auto found = it.watched.find(call.message().params["uri"].string());
      found != it.watched.end()) {
    gone = std::move(found->second);
    it.watched.erase(found);
  }
  return std::string();
}

Members get_prompt(McpServer& it, McpCall& call) {
  const JsonValue arguments = call.message().params["arguments"];
  for (const JsonMember& argument : arguments.members()) {
    if (!argument.value.is_string()) {
      return invalid_params(
          fmt::format("argument \"{}\" must be a string", at_most_200(argument.key)));
    }
  }
  BMAD_TRY_ASSIGN(const McpPromptResult prompt,
                  it.service.get_prompt(call.message().params["name"].string(), arguments, call));
  const auto message_json = [](const std::string& text) {
    return
        [&text](JsonWriter& json) { put_all(json, "role", "user", "content", text_block(text)); };
  };
  return json_members_of("description", if_some(prompt.description), "messages",
                         prompt.messages | std::views::transform(message_json));
}

Members complete(McpServer& it, McpCall& call) {
  const JsonValue params = call.message().params;
  const JsonValue ref = params["ref"];
  const JsonValue argument = params["argument"];
  const bool is_prompt = ref["type"].string() == "ref/prompt";
  const JsonValue name = ref[is_prompt ? "name" : "uri"];
  if ((!is_prompt && ref["type"].string() != "ref/resource") || !name.is_string()) {
    return invalid_params(
        R"("ref" must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…})");
  }
  if (!argument["name"].is_string() || !argument["value"].is_string()) {
    return invalid_params(R"("argument" must be {"name":…,"value":…}, both strings)");
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> values,
                  it.service.complete({.is_prompt = is_prompt,
                                       .ref = name.string(),
                                       .argument = argument["name"].string(),
                                       .value = argument["value"].string(),
                                       .arguments = params["context"]["arguments"]}));
  const std::size_t shown = std::min(values.size(), kMcpCompletionMax);
  return json_members_of("completion", object_of("values", std::span(values).first(shown), "total",
                                                 values.size(), "hasMore", values.size() > shown));
}

/// What of `wanted` is watched from now on: a JSON object.
std::string start_listening(McpServer& it, McpListening& stream, JsonValue wanted) {
  const auto tell = [&stream](std::string text) {
    return [call = stream.call, message = std::move(text)] { call->send(message); };
  };
  const bool watches_list =
      wanted["resourcesListChanged"].boolean() && it.can().resources_list_changed;
  if (watches_list) {
    stream.subscriptions.push_back(it.service.subscribe_to_list(
        tell(mcp_notification("notifications/resources/list_changed", stream.meta))));
  }
  // Tools and prompts never change while a service runs, so nothing would ever come.
  std::vector<std::string> uris;
  for (const JsonValue element : wanted["resourceSubscriptions"].elements()) {
    if (!it.can().resources_subscribe || !element.is_string() ||
        stream.subscriptions.size() >= kSubscriptionsMax) {
      continue;
    }
    const std::string uri(element.string());
    McpAnswer<McpSubscription> subscription =
        it.service.subscribe(uri, tell(mcp_updated_notification(uri, stream.meta)));
    if (subscription) {
      stream.subscriptions.push_back(std::move(*subscription));
      stream.uris.insert(uri);
      uris.push_back(uri);
    }
  }
  return json_object("resourcesListChanged", if_some(watches_list), "resourceSubscriptions", uris);
}

/// Makes no result: the stream stays until somebody ends it. The acknowledgement must come first,
/// so what changes before it is not told; a client reads after it what it wants to know.
Members listen(McpServer& it, McpCall& call) {
  const JsonValue wanted = call.message().params["notifications"];
  if (!wanted.is_object()) {
    return invalid_params("\"notifications\" must be an object");
  }
  auto stream = std::make_shared<McpListening>();
  stream->meta = fmt::format(R"("_meta":{{"{}":{}}})", kMetaSubscription, call.message().id);
  {
    const std::scoped_lock lock(it.mutex);
    const auto found = it.running.find(call.message().id);
    if (found == it.running.end()) {
      return std::string();  // Cancelled meanwhile.
    }
    stream->call = found->second;
  }
  call.hold_back();
  const std::string accepted = start_listening(it, *stream, wanted);
  call.send_first(mcp_notification("notifications/subscriptions/acknowledged",
                                   fmt::format("{},\"notifications\":{}", stream->meta, accepted)));
  const std::scoped_lock lock(it.mutex);
  if (!it.is_closed && !call.cancelled()) {
    it.listening[call.message().id] = std::move(stream);
  }
  return std::string();
}

/// What doesn't change while the server runs may be kept for so long.
constexpr std::int64_t kFixedMs = 3'600'000;

using enum McpServer::Era;
using Can = McpCapabilities;

constexpr std::array kMethods = std::to_array<McpServer::Method>({
    {"initialize", kLegacy, true, nullptr, "protocolVersion", -1, initialize},
    {"ping", kLegacy, true, nullptr, "", -1,
     [](McpServer& /*it*/, McpCall& /*call*/) -> Members { return std::string(); }},
    {"server/discover", kModern, true, nullptr, "", kFixedMs, discover},
    {"logging/setLevel", kLegacy, true, &Can::logging, "", -1, set_level},
    {"tools/list", kBoth, true, &Can::tools, "", kFixedMs, whole_list},
    {"tools/call", kBoth, false, &Can::tools, "name", -1, call_tool},
    {"resources/list", kBoth, false, &Can::resources, "", 0, list_resources},
    {"resources/templates/list", kBoth, true, &Can::resources, "", kFixedMs, whole_list},
    {"resources/read", kBoth, false, &Can::resources, "uri", 0, read_resource},
    {"resources/subscribe", kLegacy, false, &Can::resources_subscribe, "uri", -1, subscribe},
    {"resources/unsubscribe", kLegacy, false, &Can::resources_subscribe, "uri", -1, unsubscribe},
    {"prompts/list", kBoth, true, &Can::prompts, "", kFixedMs, whole_list},
    {"prompts/get", kBoth, false, &Can::prompts, "name", -1, get_prompt},
    {"completion/complete", kBoth, false, &Can::completions, "", -1, complete},
    {kMcpListen, kModern, false, nullptr, "", -1, listen},
});

}  // namespace

std::span<const McpServer::Method> McpServer::methods() { return kMethods; }

/// The one place where what a call throws becomes its answer.
Members McpServer::handle(const Method& method, McpCall& call) {
  if (!method.needed.empty() && !call.message().params[method.needed].is_string()) {
    return invalid_params(fmt::format("\"{}\" must be a string", method.needed));
  }
  const JsonValue arguments = call.message().params["arguments"];  // Those methods that have some.
  if (arguments.present() && !arguments.is_object()) {
    return invalid_params("\"arguments\" must be an object");
  }
  try {
    return method.handle(*this, call);
  } catch (const std::exception& failure) {
    return error_of_exception(failure);
  }
}

}  // namespace bmad_mem::cli
