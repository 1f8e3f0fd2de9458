// session list - all sessions, newest first.
#include <algorithm>
#include <vector>

#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// What a person looks for in the list, behind the times and the size.
std::string about(const Session& session) {
  std::string out;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) {
      out += out.empty() ? "" : ", ";
      out += text;
    }
  };
  add(session.project_name);
  add(session.user_id);
  add(joined_texts(session.agent_ids));
  for (const std::string& tag : session.tags) {
    add("#" + tag);
  }
  return printable(out);
}

Result<ExitStatus> run(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, memory.list_sessions());
  std::ranges::reverse(sessions);
  if (tool.args().has("open")) {
    std::erase_if(sessions,
                  [](const Session& session) { return session_state(session) != "open"; });
  }
  std::size_t id_width = 0;
  for (const Session& session : sessions) {
    id_width = std::max(id_width, session.session_id.size());
  }
  for (const Session& session : sessions) {
    if (tool.json()) {
      tool.out().print("{}\n", session_as_json(session));
    } else if (session.problem) {
      tool.out().print("{}  {}  {}\n", tool.style().id(padded(session.session_id, id_width)),
                       tool.style().red(session_state(session)),
                       printable(session.problem->to_string()));
    } else {
      tool.out().print("{}  {}  {}  {}  {}\n",
                       tool.style().id(padded(session.session_id, id_width)),
                       padded(session_state(session), 7), format_minute(session.last_write),
                       padded_left(format_size(session.size_bytes), 9), about(session));
    }
  }
  if (sessions.empty()) {
    tool.note("there is no such session; `bmad-mem session new` makes one");
  }
  return ExitStatus::kDone;
}

constexpr Option kOptions[] = {
    {.name = "open", .help = "only sessions that are not closed"},
};

constexpr Example kExamples[] = {
    {.command = "bmad-mem session list", .says = "newest first, with the time of the last write"},
    {.command = "bmad-mem --json session list --open", .says = "for a program"},
};

}  // namespace

const Command kSessionList = {
    .name = "session list",
    .group = Group::kStart,
    .summary = "list the sessions, newest first",
    .description =
        "Lists the sessions, newest first: id, state, last write (UTC), size, and what "
        "is known of it. A session whose manifest is damaged is listed with the reason.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace bmad_mem::cli
