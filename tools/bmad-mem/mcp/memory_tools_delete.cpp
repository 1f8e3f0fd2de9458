// memory_tools_delete.cpp - memory_delete: what would go, its deletion, and its return.
#include <algorithm>
#include <string>
#include <vector>

#include "bmad_mem/utf8.hpp"
#include "mcp/memory_tools.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

struct DeletionCall {
  std::vector<std::string> ids;
  std::string action;
};

/// What became of a deletion, and what to do `next`.
McpToolResult deletion_result(const DeletionCall& wanted, std::uint64_t count,
                              const std::vector<RemovedEntry>& removed,
                              const std::vector<std::string>& unknown,
                              std::optional<Timestamp> expires, std::string_view next) {
  std::vector<RemovedEntry> entries;
  for (const RemovedEntry& entry : removed) {  // One with several versions stands there once.
    if (entries.empty() || entries.back().session_id != entry.session_id ||
        entries.back().id != entry.id) {
      entries.push_back(entry);
    }
  }
  return {.text = std::string(next),
          .structured = json_object("action", wanted.action, "count", count, "entries",
                                    shaped(shape::entry_name, entries), "unknown_ids", unknown,
                                    "recoverable_until", expires, "next", next)};
}

Result<McpToolResult> restore(MemoryManager& memory, const DeletionCall& wanted) {
  BMAD_TRY_ASSIGN(const UndeleteReport report,
                  memory.undelete({.ids = wanted.ids, .sessions = {}}));
  return deletion_result(
      wanted, report.lines, {}, report.left_behind, {},
      report.lines != 0 ? "They are found again."
                        : "Nothing came back: these ids aren't deleted, or their time is over.");
}

}  // namespace

Result<McpToolResult> mcp_delete(MemoryToolCall& call) {
  const DeletionCall wanted = {.ids = call.texts("ids"), .action = call.text("action")};
  const std::vector<std::string> sessions = call.listed("session_id");
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
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
  const std::string_view next =
      report.entries == 0 ? "None of these ids exists; use memory_search to find entries."
      : is_preview        ? "Nothing was changed. To delete them call again with action delete."
                          : "Deleted. To undo call again with the same ids and action restore.";
  return deletion_result(wanted, report.entries, report.removed, unknown, report.expires_at, next);
}

}  // namespace bmad_mem::cli
