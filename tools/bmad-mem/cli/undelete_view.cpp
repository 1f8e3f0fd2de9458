#include "cli/undelete_view.hpp"

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "cli/removed_view.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> undelete_and_tell(Tool& tool, MemoryManager& memory,
                                     const UndeleteCriteria& criteria) {
  BMAD_TRY_ASSIGN(const UndeleteReport report, memory.undelete(criteria));
  const bool nothing = report.lines == 0 && report.sessions.empty();
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("lines", report.lines);
    add_texts(json, "sessions", report.sessions);
    add_texts(json, "left_behind", report.left_behind);
    json.end_object();
    tool.out().print("{}\n", json.text());
  } else if (!nothing) {
    std::string what;
    if (report.lines > 0 || report.sessions.empty()) {
      what = format_count(report.lines, "line", "lines");
    }
    if (!report.sessions.empty()) {
      what += fmt::format("{}{} {}", what.empty() ? "" : " and ",
                          report.sessions.size() == 1 ? "session" : "sessions",
                          fmt::join(report.sessions, ", "));
    }
    tool.out().print("brought back {}\n", what);
  }
  for (const Error& problem : report.damaged) {
    tool.report(problem);
  }
  if (!report.left_behind.empty()) {
    tool.note(fmt::format("stayed deleted, since these ids are in use again: {}",
                          printable(joined(report.left_behind))));
  } else if (nothing && report.damaged.empty()) {
    tool.report(
        {.code = ErrorCode::E_SESSION_NOT_FOUND,
         .message = "nothing of that is deleted; `bmad-mem session list --deleted` shows what is"});
  }
  return nothing || !report.left_behind.empty() || !report.damaged.empty() ? ExitStatus::kFailed
                                                                           : ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
