#include <numeric>
#include <set>

#include <fmt/format.h>

#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// The commands that bring back what this report tells of.
std::string undelete_hint(const DeletionReport& report) {
  if (!report.sessions_gone.empty()) {
    return fmt::format("bmad-mem session undelete {}", report.sessions_gone.front());
  }
  std::set<std::string_view> ids;
  std::set<std::string_view> sessions;
  for (const RemovedEntry& entry : report.removed) {
    ids.insert(entry.id);
    sessions.insert(entry.session_id);
  }
  constexpr std::size_t kIdsMax = 3;
  if (ids.size() <= kIdsMax) {
    std::string hint = "bmad-mem undelete";
    for (const std::string_view id : ids) {
      hint += fmt::format(" {}", printable(id));
    }
    return hint;
  }
  return fmt::format(
      "bmad-mem undelete ID... or, with all that is deleted of it, "
      "bmad-mem undelete --session {}",
      sessions.size() == 1 ? *sessions.begin() : "ID");
}

}  // namespace

std::uint64_t removed_bytes(std::span<const RemovedEntry> removed) {
  return std::accumulate(
      removed.begin(), removed.end(), std::uint64_t{0},
      [](std::uint64_t sum, const RemovedEntry& entry) { return sum + entry.bytes; });
}

void print_deletion(Tool& tool, const DeletionReport& report, const DeleteOptions& options) {
  if (options.dry_run) {
    show_all(tool, "removed", shape::removed_entry, report.removed);
  }
  show(tool, "deletion",
       object_of("summary",
                 shaped(shape::deletion_summary, report, options, removed_bytes(report.removed))),
       "hint", undelete_hint(report));
}

Result<ExitStatus> undelete_and_tell(Tool& tool, MemoryManager& memory,
                                     const UndeleteCriteria& criteria) {
  BMAD_TRY_ASSIGN(const UndeleteReport report, memory.undelete(criteria));
  const bool nothing = report.lines == 0 && report.sessions.empty();
  show(tool, "undelete", shaped(shape::undelete, report));
  tool.report_all(report.damaged);
  if (!report.left_behind.empty()) {
    tool.note(fmt::format("stayed deleted, since these ids are in use again: {}",
                          printable(joined(report.left_behind))));
  } else if (nothing && report.damaged.empty()) {
    return Error{
        .code =
            criteria.ids.empty() ? ErrorCode::E_SESSION_NOT_FOUND : ErrorCode::E_ENTRY_NOT_FOUND,
        .message = "not among the deleted entries; `bmad-mem session list --deleted` lists them"};
  }
  return nothing || !report.left_behind.empty() || !report.damaged.empty() ? ExitStatus::kFailed
                                                                           : ExitStatus::kDone;
}

void print_counts(Tool& tool, const RedactionCounts& counts) {
  describe(tool, "counts", "all", counts);
}

}  // namespace bmad_mem::cli
