// summary show - a session's running summary.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/summary.hpp"
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_summary_show(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const std::string text, Summaries(memory).show(session));
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", session).member("text", text).end_object();
    tool.out().print("{}\n", json.text());
  } else {
    tool.out().write(text);
  }
  return ExitStatus::kDone;
}

constexpr Option kSummaryShowOptions[] = {kSessionOption};
constexpr Example kSummaryShowExamples[] = {
    {.command = "bmad-mem summary show", .says = "what has happened in the session so far"},
};

}  // namespace

const Command kSummaryShow = {
    .name = "summary show",
    .group = Group::kKnow,
    .summary = "print the running summary of a session",
    .description =
        "Prints summary.md as it is, made from a template when there is none yet. The file may be "
        "edited by hand: its headings, and all that stands in its front matter, stay.",
    .options = kSummaryShowOptions,
    .examples = kSummaryShowExamples,
    .run = run_summary_show,
};

}  // namespace bmad_mem::cli
