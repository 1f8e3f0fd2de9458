#include "deletion_options.hpp"

#include "confirmation.hpp"
#include "removed_view.hpp"

namespace bmad_mem::cli {
namespace {

bool is_empty(const DeletionReport& report) {
  return report.entries == 0 && report.elsewhere.empty();
}

ExitStatus tell_nothing(Tool& tool, const DeletionCriteria& criteria) {
  if (!criteria.ids.empty()) {
    tool.report({.code = ErrorCode::E_INVALID_QUERY,
                 .message = "there is no such entry; `bmad-mem list` shows those there are",
                 .field = "id"});
    return ExitStatus::kFailed;
  }
  tool.note("there is no such entry");
  return ExitStatus::kDone;
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
  if (is_empty(report) && !tool.json()) {
    return tell_nothing(tool, criteria);
  }
  print_deletion(tool, report, options);
  return is_empty(report) && !criteria.ids.empty() ? ExitStatus::kFailed : ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
