#include "cli/deletion_options.hpp"

#include <algorithm>

#include "cli/confirmation.hpp"
#include "cli/removed_view.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

bool is_empty(const DeletionReport& report) {
  return report.entries == 0 && report.elsewhere.empty();
}

/// The ids that were asked for and are in no log. A purge that reached other files doesn't say
/// which ids those held.
std::vector<std::string> unknown_ids(const DeletionCriteria& criteria,
                                     const DeletionReport& report) {
  std::vector<std::string> unknown;
  for (const std::string& id : criteria.ids) {
    if (report.elsewhere.empty() &&
        std::ranges::find(report.removed, id, &RemovedEntry::id) == report.removed.end()) {
      unknown.push_back(id);
    }
  }
  return unknown;
}

/// What a person is asked; empty when nothing would go.
Result<std::string> question_for(MemoryManager& memory, const DeletionCriteria& criteria,
                                 const DeleteOptions& options) {
  BMAD_TRY_ASSIGN(const DeletionReport preview,
                  memory.delete_entries(criteria, {.dry_run = true, .purge = options.purge}));
  if (is_empty(preview)) {
    return std::string();
  }
  return fmt::format("{} {}{}?", options.purge ? "purge" : "delete",
                     format_count(preview.entries, "entry", "entries"),
                     options.purge ? ", for good and everywhere" : "");
}

}  // namespace

Result<std::string> read_match(const Arguments& args) {
  const auto text = args.maybe("match");
  if (text && text->empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the text to look for is empty, so that everything would match",
                 .field = "match"};
  }
  return std::string(text.value_or(""));
}

Result<ExitStatus> delete_and_tell(Tool& tool, MemoryManager& memory,
                                   const DeletionCriteria& criteria, const DeleteOptions& options) {
  if (!options.dry_run && is_asked(tool)) {
    BMAD_TRY_ASSIGN(const std::string question, question_for(memory, criteria, options));
    if (!question.empty() && !is_confirmed(tool, question)) {
      return ExitStatus::kFailed;
    }
  }
  BMAD_TRY_ASSIGN(const DeletionReport report, memory.delete_entries(criteria, options));
  const std::vector<std::string> unknown = unknown_ids(criteria, report);
  if (tool.json() || !is_empty(report)) {
    print_deletion(tool, report, options);
  } else if (unknown.empty()) {
    tool.note("there is no such entry");
  }
  if (!unknown.empty()) {
    tool.report({.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("there is no such entry: {}; `bmad-mem list` shows those "
                                        "there are",
                                        printable(joined(unknown))),
                 .field = "id"});
  }
  return unknown.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace bmad_mem::cli
