// summary update - lets the command of the config write the next summary.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/summary.hpp"
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "summary_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_summary_update(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  Summaries summaries(memory);
  BMAD_TRY_ASSIGN(const std::optional<SummaryUpdate> update,
                  summaries.update(session, {.force = tool.args().has("force")}));
  if (update) {
    print_summary_update(tool, *update);
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const SummaryStatus status, summaries.status(session));
  const bool was_tried = is_due(status.due);
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", session).member("due", false);
    json.member("reason", was_tried ? "tried" : summary_due_name(status.due)).end_object();
    tool.out().print("{}\n", json.text());
  } else {
    tool.note("not due: " + (was_tried ? "it was tried at this message (--force tries again)"
                                       : due_reason(status)));
  }
  return ExitStatus::kDone;
}

constexpr Option kSummaryUpdateOptions[] = {
    kSessionOption,
    {.name = "force", .help = "also when none is due"},
};
constexpr Example kSummaryUpdateExamples[] = {
    {.command = "bmad-mem -q summary update", .says = "in a hook, after each answer of the agent"},
};

}  // namespace

const Command kSummaryUpdate = {
    .name = "summary update",
    .group = Group::kKnow,
    .summary = "let the configured model write the summary, if it is due",
    .description =
        "When an update is due, gives the prompt to the program named in config.json "
        "(summarizer.command) and takes its answer, as `summary prompt` and `summary apply` do by "
        "hand. The session is not locked while the program runs. When it fails, takes too long "
        "(summarizer.timeout_ms) or answers badly, the old summary stays, and it is not asked "
        "again before there is another message.",
    .options = kSummaryUpdateOptions,
    .examples = kSummaryUpdateExamples,
    .exit_status =
        "0 done, or none was due, 1 failed (the error's code is on stderr), 2 wrong usage.",
    .run = run_summary_update,
};

}  // namespace bmad_mem::cli
