// summaries.cpp - the running summary of a session.

#include "bmad_mem/json.hpp"
#include "bmad_mem/summary.hpp"
#include "cli/entry_options.hpp"
#include "cli/session_choice.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

/// Reports an update that was made.
void print_summary_update(Tool& tool, const SummaryUpdate& update) {
  show(tool, "summary_update",
       object_of(
           "session_id", update.session_id, [&](JsonWriter& json) { write_members(update, json); },
           "redacted", update.redacted));
}

}  // namespace

Result<ExitStatus> run_summary_show(Tool& tool, MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const std::string text, Summaries(memory).show(session));
  return show(tool, "summary", object_of("session_id", session, "text", text));
}

Result<ExitStatus> run_summary_due(Tool& tool, MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const SummaryStatus status, Summaries(memory).status(session));
  show(tool, "summary_status", shaped(shape::summary_status, status, is_due(status.due)));
  return is_due(status.due) ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

Result<ExitStatus> run_summary_prompt(Tool& tool, MemoryManager& memory,
                                      const std::string& session) {
  BMAD_TRY_ASSIGN(const SummaryPrompt prompt, Summaries(memory).prompt(session));
  return show(tool, "summary_prompt",
              object_of("session_id", session, shaped(shape::summary_prompt, prompt)));
}

Result<ExitStatus> run_summary_apply(Tool& tool, MemoryManager& memory,
                                     const std::string& session) {
  const std::string name(tool.args().positional(0));
  BMAD_TRY_ASSIGN(const std::string answer, name == "-" ? read_stdin() : read_whole_file(name));
  BMAD_TRY_ASSIGN(const SummaryUpdate update,
                  Summaries(memory).apply(session, answer, tool.args().value("ticket")));
  print_summary_update(tool, update);
  return ExitStatus::kDone;
}

Result<ExitStatus> run_summary_update(Tool& tool, MemoryManager& memory,
                                      const std::string& session) {
  Summaries summaries(memory);
  if (tool.args().has("rules")) {
    BMAD_TRY_ASSIGN(const bool written, summaries.write_by_rules(session));
    return show(tool, "summary_by_rules", object_of("session_id", session, "written", written));
  }
  BMAD_TRY_ASSIGN(const std::optional<SummaryUpdate> update,
                  summaries.update(session, {.force = tool.args().has("force")}));
  if (update) {
    print_summary_update(tool, *update);
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const SummaryStatus status, summaries.status(session));
  const bool was_tried = is_due(status.due);
  return show(tool, "summary_not_due",
              object_of("session_id", session, "due", false, "reason",
                        was_tried ? "tried" : summary_due_name(status.due)),
              "pending", object_of("by", status.pending_by));
}

Result<ExitStatus> run_summary_compact(Tool& tool, MemoryManager& memory,
                                       const std::string& session) {
  BMAD_TRY_ASSIGN(const auto max_tokens,
                  read_number<std::size_t>(tool.args(), "max-tokens", 0,
                                           "a number of tokens, such as 20000", 1));
  BMAD_TRY_ASSIGN(const CompactedConversation result,
                  Summaries(memory).compact(
                      session, {.max_tokens = max_tokens, .wait = !tool.args().has("no-wait")}));
  const bool declined = result.declined != CompactionDecline::kNone;
  if (declined) {
    show(tool, "declined_compaction",
         object_of("session_id", session, shaped(shape::declined_compaction, result)));
  } else {
    show(tool, "summary",
         object_of("session_id", session, shaped(shape::compacted_conversation, result)), "text",
         result.markdown);
  }
  return declined ? ExitStatus::kFailed : ExitStatus::kDone;
}

Result<ExitStatus> run_summary_compacting(Tool& tool, MemoryManager& memory,
                                          const std::string& session) {
  const std::string_view word = tool.args().positional(0);
  BMAD_TRY(Summaries(memory).set_compacting(session, word == "begin"));
  return ExitStatus::kDone;
}

Result<ExitStatus> run_summary_stats(Tool& tool, MemoryManager& memory,
                                     const std::string& session) {
  BMAD_TRY_ASSIGN(const SummaryStats stats, Summaries(memory).stats(session));
  if (tool.args().has("records")) {
    for (const std::string& record : stats.records) {
      tool.out().print("{}\n", record);
    }
  } else {
    show(tool, "summary_stats",
         object_of("session_id", session, [&](JsonWriter& json) { write_members(stats, json); }));
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
