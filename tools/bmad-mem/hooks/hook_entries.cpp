#include "hooks/hook_entries.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "exchange/ids.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// Who did it: the sub-agent by its name, else the client.
std::string_view agent_of(const HookEvent& event) {
  return event.is_sidechain && !event.agent.empty() ? event.agent
                                                    : hook_client_info(event.client).name;
}

/// Members of "metadata" that all entries of hooks have.
void add_origin(JsonWriter& json, const HookEvent& event) {
  json.member("recorded_by", "hook");
  if (event.is_sidechain) {
    json.member("sidechain", true);
    add_if_any(json, "subagent", event.agent_instance);
  }
}

}  // namespace

std::string message_entry(const HookEvent& event, std::string_view role) {
  JsonWriter json;
  json.begin_object();
  if (!event.turn.empty()) {
    // The same words of the same turn are the same message, told by two hooks.
    json.member("id",
                content_id("msg-", fmt::format("{}\n{}\n{}\n{}\n{}", event.session_id, event.turn,
                                               event.agent_instance, role, event.text)));
  }
  const bool from_person = role == "user" && !event.is_sidechain;
  if (!from_person) {
    json.member("agent_id", agent_of(event));
  }
  json.member("role", role).member("content", event.text);
  json.key("metadata").begin_object();
  add_origin(json, event);
  json.end_object();
  json.key("source").raw(from_person ? R"({"kind":"user"})" : R"({"kind":"assistant"})");
  json.end_object();
  return json.take();
}

std::string tool_use_entry(const HookEvent& event) {
  JsonWriter json;
  json.begin_object();
  if (is_usable_id(event.tool.id)) {
    json.member("id", event.tool.id);
  }
  json.member("agent_id", agent_of(event)).member("kind", "tool_use");
  add_if_any(json, "tool", event.tool.name);
  add_if_any(json, "path", event.tool.path);
  add_if_any(json, "content", event.tool.input);
  json.key("metadata").begin_object();
  add_origin(json, event);
  json.end_object();
  json.key("source").raw(R"({"kind":"assistant"})").end_object();
  return json.take();
}

std::string tool_result_entry(const HookEvent& event) {
  const HookToolCall& tool = event.tool;
  const std::string id = tool.id + "-result";
  JsonWriter json;
  json.begin_object();
  if (is_usable_id(tool.id) && is_usable_id(id)) {
    json.member("id", id);
  }
  json.member("agent_id", agent_of(event)).member("kind", "tool_result");
  add_if_any(json, "tool", tool.name);
  add_if_any(json, "path", tool.path);
  add_if_any(json, "content", tool.output);
  json.key("metadata").begin_object().member("is_error", tool.failed);
  json.member("bytes", tool.output_bytes);
  add_origin(json, event);
  json.end_object();
  if (is_usable_id(tool.id)) {
    json.key("references").raw(fmt::format("{{\"events\":[{}]}}", json_quoted(tool.id)));
  }
  const bool from_web = tool.name.starts_with("Web") || tool.name.starts_with("web_") ||
                        tool.name.starts_with("google_web");
  json.key("source").raw(from_web ? R"({"kind":"web"})" : R"({"kind":"tool"})").end_object();
  return json.take();
}

std::string happening_entry(const HookEvent& event, std::string_view kind) {
  JsonWriter json;
  json.begin_object().member("agent_id", agent_of(event)).member("kind", kind);
  add_if_any(json, "content", utf8_prefix(event.text, kSnippetSizeMax));
  json.key("metadata").begin_object();
  add_origin(json, event);
  json.end_object();
  json.key("source").raw(R"({"kind":"assistant"})").end_object();
  return json.take();
}

std::string fenced(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string cut_at_line(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) {
    return std::string(text);
  }
  const std::string_view front = utf8_prefix(text, size_max);
  const std::size_t newline = front.rfind('\n');
  return std::string(newline == std::string_view::npos ? front : front.substr(0, newline + 1)) +
         "…\n";
}

}  // namespace bmad_mem::cli
