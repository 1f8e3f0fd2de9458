#include "mcp/mcp_results.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 5> kLegacyVersions = {
    "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"};

/// What doesn't change while the server runs may be kept for so long.
constexpr std::int64_t kFixedMs = 3'600'000;

/// Lists and what they may be kept for. What a memory holds changes at any time.
struct TimeToLive {
  std::string_view method;
  std::int64_t ms;
};
constexpr std::array kTimesToLive = {
    TimeToLive{"server/discover", kFixedMs}, TimeToLive{"tools/list", kFixedMs},
    TimeToLive{"prompts/list", kFixedMs},    TimeToLive{"resources/templates/list", kFixedMs},
    TimeToLive{"resources/list", 0},         TimeToLive{"resources/read", 0}};

/// The members of an object that a writer made.
std::string members_of(JsonWriter& json) {
  const std::string text = json.take();
  return text.substr(1, text.size() - 2);
}

void write_text_block(JsonWriter& json, std::string_view text) {
  json.begin_object().member("type", "text").member("text", text).end_object();
}

}  // namespace

std::span<const std::string_view> mcp_legacy_versions() { return kLegacyVersions; }

std::string mcp_supported_versions() {
  return fmt::format(R"(["{}","{}"])", kMcpModernVersion, kLegacyVersions.front());
}

std::string mcp_server_info(const McpIdentity& identity) {
  JsonWriter json;
  json.begin_object().member("name", identity.name);
  if (!identity.title.empty()) {
    json.member("title", identity.title);
  }
  json.member("version", identity.version).end_object();
  return json.take();
}

std::string mcp_capabilities(const McpCapabilities& capabilities) {
  JsonWriter json;
  json.begin_object();
  const auto flag = [&](std::string_view name, bool is_set) {
    if (is_set) {
      json.member(name, true);
    }
  };
  if (capabilities.tools) {
    json.key("tools").begin_object();
    flag("listChanged", capabilities.tools_list_changed);
    json.end_object();
  }
  if (capabilities.resources) {
    json.key("resources").begin_object();
    flag("listChanged", capabilities.resources_list_changed);
    flag("subscribe", capabilities.resources_subscribe);
    json.end_object();
  }
  const auto plain = [&](std::string_view name, bool is_there) {
    if (is_there) {
      json.key(name).raw("{}");
    }
  };
  plain("prompts", capabilities.prompts);
  plain("completions", capabilities.completions);
  plain("logging", capabilities.logging);
  json.end_object();
  return json.take();
}

std::string mcp_initialize_members(std::string_view version, const McpService& service) {
  JsonWriter json;
  json.begin_object().member("protocolVersion", version);
  json.key("capabilities").raw(mcp_capabilities(service.capabilities()));
  json.key("serverInfo").raw(mcp_server_info(service.identity()));
  if (!service.identity().instructions.empty()) {
    json.member("instructions", service.identity().instructions);
  }
  json.end_object();
  return members_of(json);
}

std::string mcp_discover_members(const McpService& service) {
  JsonWriter json;
  json.begin_object().key("supportedVersions").raw(mcp_supported_versions());
  json.key("capabilities").raw(mcp_capabilities(service.capabilities()));
  if (!service.identity().instructions.empty()) {
    json.member("instructions", service.identity().instructions);
  }
  json.end_object();
  return members_of(json);
}

std::string mcp_list_members(std::string_view name, const McpPage& page) {
  JsonWriter json;
  json.begin_object().key(name).begin_array();
  for (const std::string& item : page.items) {
    json.raw(item);
  }
  json.end_array();
  if (!page.next_cursor.empty()) {
    json.member("nextCursor", page.next_cursor);
  }
  json.end_object();
  return members_of(json);
}

std::string mcp_tool_members(const McpToolResult& result) {
  JsonWriter json;
  json.begin_object().key("content").begin_array();
  write_text_block(json, result.text);
  json.end_array();
  if (!result.structured.empty()) {
    json.key("structuredContent").raw(result.structured);
  }
  if (result.is_error) {
    json.member("isError", true);
  }
  json.end_object();
  return members_of(json);
}

std::string mcp_contents_members(const std::vector<McpResourceText>& texts) {
  JsonWriter json;
  json.begin_object().key("contents").begin_array();
  for (const McpResourceText& each : texts) {
    json.begin_object().member("uri", each.uri);
    if (!each.mime_type.empty()) {
      json.member("mimeType", each.mime_type);
    }
    json.member("text", each.text).end_object();
  }
  json.end_array().end_object();
  return members_of(json);
}

std::string mcp_prompt_members(const McpPromptResult& prompt) {
  JsonWriter json;
  json.begin_object();
  if (!prompt.description.empty()) {
    json.member("description", prompt.description);
  }
  json.key("messages").begin_array();
  for (const McpPromptMessage& message : prompt.messages) {
    json.begin_object().member("role", message.is_assistant ? "assistant" : "user");
    json.key("content");
    write_text_block(json, message.text);
    json.end_object();
  }
  json.end_array().end_object();
  return members_of(json);
}

std::string mcp_completion_members(const McpCompletion& completion) {
  const std::size_t shown = std::min(completion.values.size(), kMcpCompletionMax);
  const std::uint64_t total = completion.total.value_or(completion.values.size());
  JsonWriter json;
  json.begin_object().key("completion").begin_object().key("values").begin_array();
  for (std::size_t i = 0; i < shown; ++i) {
    json.string(completion.values[i]);
  }
  json.end_array().member("total", total).member("hasMore", total > shown);
  json.end_object().end_object();
  return members_of(json);
}

std::optional<std::int64_t> mcp_time_to_live_ms(std::string_view method) {
  const auto* const found = std::ranges::find_if(
      kTimesToLive, [&](const TimeToLive& each) { return each.method == method; });
  return found == kTimesToLive.end() ? std::nullopt : std::optional(found->ms);
}

std::string mcp_modern_members(std::string_view method, std::string_view members,
                               std::string_view server_info) {
  std::string out = R"("resultType":"complete")";
  if (!members.empty()) {
    out += ',';
    out += members;
  }
  if (const std::optional<std::int64_t> ms = mcp_time_to_live_ms(method)) {
    out += fmt::format(R"(,"ttlMs":{},"cacheScope":"private")", *ms);
  }
  out += fmt::format(R"(,"_meta":{{"io.modelcontextprotocol/serverInfo":{}}})", server_info);
  return out;
}

}  // namespace bmad_mem::cli
