// memory_tools_delete.cpp - memory_delete: what would go, its deletion, and its return.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "mcp/memory_tools.hpp"
#include "mcp/tool_arguments.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

struct DeletionCall {
  std::vector<std::string> ids;
  std::string action;
};

/// What became of a deletion, as JSON.
std::string deletion_json(const DeletionCall& wanted, std::uint64_t count,
                          const std::vector<RemovedEntry>& removed,
                          const std::vector<std::string>& unknown, std::optional<Timestamp> expires,
                          std::string_view next) {
  JsonWriter json;
  json.begin_object().member("action", wanted.action).member("count", count);
  json.key("entries").begin_array();
  std::string last;
  for (const RemovedEntry& entry : removed) {
    std::string key = entry.session_id + " " + entry.id;
    if (key != last) {  // One with several versions stands there once.
      json.begin_object().member("id", entry.id).member("session_id", entry.session_id);
      json.member("type", entry_type_name(entry.type)).end_object();
    }
    last = std::move(key);
  }
  json.end_array();
  add_list(json, "unknown_ids", unknown);
  if (expires) {
    json.member("recoverable_until", format_rfc3339(*expires));
  }
  json.member("next", next).end_object();
  return json.take();
}

Result<McpToolResult> restore(MemoryManager& memory, const DeletionCall& wanted) {
  BMAD_TRY_ASSIGN(const UndeleteReport report,
                  memory.undelete({.ids = wanted.ids, .sessions = {}}));
  const std::string next =
      report.lines != 0 ? "They are found again."
                        : "Nothing came back: these ids aren't deleted, or their time is over.";
  return McpToolResult{
      .text = next,
      .structured = deletion_json(wanted, report.lines, {}, report.left_behind, {}, next)};
}

}  // namespace

Result<McpToolResult> mcp_delete(MemoryToolCall& call) {
  const DeletionCall wanted = {.ids = call.arguments.texts("ids"),
                               .action = call.arguments.text("action")};
  std::vector<std::string> sessions;
  if (std::string session = call.arguments.text("session_id"); !session.empty()) {
    sessions.push_back(std::move(session));
  }
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.memory.to_read());
  if (memory == nullptr) {
    return McpToolResult{.text = nothing_stored_yet().text, .is_error = true};
  }
  if (wanted.action == "restore") {
    return restore(*memory, wanted);
  }
  const bool is_preview = wanted.action != "delete";
  BMAD_TRY_ASSIGN(
      const DeletionReport report,
      memory->delete_entries({.ids = wanted.ids, .sessions = sessions}, {.dry_run = is_preview}));
  std::vector<std::string> unknown;
  for (const std::string& id : wanted.ids) {
    if (std::ranges::find(report.removed, id, &RemovedEntry::id) == report.removed.end()) {
      unknown.emplace_back(utf8_prefix(id, 200));
    }
  }
  const std::string next =
      report.entries == 0 ? "None of these ids exists; use memory_search to find entries."
      : is_preview        ? "Nothing was changed. To delete them call again with action delete."
                          : "Deleted. To undo call again with the same ids and action restore.";
  return McpToolResult{.text = next,
                       .structured = deletion_json(wanted, report.entries, report.removed, unknown,
                                                   report.expires_at, next)};
}

}  // namespace bmad_mem::cli
