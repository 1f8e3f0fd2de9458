// claude_code_tools.cpp - what a transcript says of tools: calls and results as events.
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/utf8.hpp"
#include "import/claude_code.hpp"
#include "import/claude_code_text.hpp"
#include "import/import_ids.hpp"

namespace bmad_mem::cli {

Status ClaudeCodeImport::take_tool_use(const Record& record, JsonValue block,
                                       const std::string& message) {
  const std::string own_id(block["id"].string());
  const std::string_view path = tool_path(block["input"]);
  const std::string text = tool_input_text(block["input"]);
  tool_uses_.set(own_id, {.tool = std::string(block["name"].string()), .path = std::string(path)});
  JsonWriter json;
  json.begin_object();
  json.member("id", is_usable_id(own_id) ? own_id : content_id("evt-", record.text));
  add_if_any(json, "timestamp", record.timestamp);
  json.member("agent_id", record.agent).member("kind", "tool_use");
  add_if_any(json, "tool", block["name"].string());
  add_if_any(json, "path", path);
  add_if_any(json, "content", utf8_prefix(trimmed(text), kSnippetSizeMax));
  if (!message.empty()) {
    json.key("references").raw(fmt::format("{{\"conversations\":[{}]}}", json_quoted(message)));
  }
  json.key("source").raw(R"({"kind":"assistant"})");
  json.key("imported_from").raw(provenance(record.line)).end_object();
  return put(record.session, EntryType::kEvent, json.take(), KnownEntries::kSkipId, record.line);
}

Status ClaudeCodeImport::take_tool_result(const Record& record, JsonValue block) {
  const std::string use_id(block["tool_use_id"].string());
  const ToolUse* use = tool_uses_.find(use_id);
  const std::string text =
      tool_result_text(block["content"], [&](std::string_view) { sink_.skip(kSkippedBlocks); });
  const std::string_view whole = trimmed(text);
  JsonWriter json;
  json.begin_object();
  json.member("id", is_usable_id(use_id + "-result") ? use_id + "-result"
                                                     : content_id("evt-", record.text));
  add_if_any(json, "timestamp", record.timestamp);
  json.member("agent_id", record.agent).member("kind", "tool_result");
  if (use != nullptr) {
    add_if_any(json, "tool", use->tool);
    add_if_any(json, "path", use->path);
  }
  add_if_any(json, "content", utf8_prefix(whole, kSnippetSizeMax));
  json.key("metadata").begin_object().member("is_error", block["is_error"].boolean());
  json.member("bytes", static_cast<std::uint64_t>(whole.size())).end_object();
  if (is_usable_id(use_id)) {
    json.key("references").raw(fmt::format("{{\"events\":[{}]}}", json_quoted(use_id)));
  }
  const bool from_web = use != nullptr && use->tool.starts_with("Web");
  json.key("source").raw(from_web ? R"({"kind":"web"})" : R"({"kind":"tool"})");
  json.key("imported_from").raw(provenance(record.line)).end_object();
  return put(record.session, EntryType::kEvent, json.take(), KnownEntries::kSkipId, record.line);
}

}  // namespace bmad_mem::cli
