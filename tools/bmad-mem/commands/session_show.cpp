// session show - what is known of one session.
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "session_choice.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_session_show(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  std::string id(tool.args().positional(0));
  if (tool.args().positionals().empty()) {
    BMAD_TRY_ASSIGN(id, choose_session(tool, memory));
  }
  BMAD_TRY_ASSIGN(const Session session, memory.load_session(id));
  if (tool.json()) {
    tool.out().print("{}\n", session_as_json(memory, session));
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(id));
  tool.out().print("{} {}, {}\n", tool.style().bold("session"), tool.style().id(session.session_id),
                   session_state(memory, session));
  const auto show = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      print_field(tool, name, value, 10);
    }
  };
  show("created", format_rfc3339(session.created_at));
  show("last write", format_rfc3339(session.last_write));
  show("closed", session.closed_at ? format_rfc3339(*session.closed_at) : "");
  show("user", session.user_id);
  show("agents", joined(session.agent_ids));
  show("project", session.project_name);
  show("type", session.session_type);
  show("tags", joined(session.tags));
  show("entries", format_count(statistics.entries()));
  show("size", format_size(session.size_bytes));
  return ExitStatus::kDone;
}

constexpr Positional kSessionShowPositionals[] = {
    {.name = "ID", .help = "the session", .min = 0, .completion = Completion::kSession},
};

constexpr Option kSessionShowOptions[] = {kSessionOption};

constexpr Example kSessionShowExamples[] = {
    {.command = "bmad-mem session show sess-2026-01-11-4q7m2s", .says = "one session"},
    {.command = "bmad-mem session show", .says = "the one that is open"},
};

}  // namespace

const Command kSessionShow = {
    .name = "session show",
    .group = Group::kStart,
    .summary = "show what is known of a session",
    .description =
        "Shows what is known of a session: when it was made and last written to, who "
        "takes part, its tags and its size. `stats` counts its entries by type.",
    .positionals = kSessionShowPositionals,
    .options = kSessionShowOptions,
    .examples = kSessionShowExamples,
    .run = run_session_show,
};

}  // namespace bmad_mem::cli
