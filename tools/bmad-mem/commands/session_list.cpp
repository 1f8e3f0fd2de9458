// session list - all sessions, newest first.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "text.hpp"
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
  add(joined(session.agent_ids));
  for (const std::string& tag : session.tags) {
    add("#" + tag);
  }
  return printable(out);
}

/// One line of the list.
struct Row {
  std::string id;
  std::string state;
  std::string text;  ///< What stands behind the state.
  std::string json;
  bool is_bad = false;
};

Status add_live(const MemoryManager& memory, bool only_open, std::vector<Row>& rows) {
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, memory.list_sessions());
  std::ranges::reverse(sessions);
  for (const Session& session : sessions) {
    if (only_open && (session.closed_at || session.problem)) {
      continue;
    }
    rows.push_back(
        {.id = session.session_id,
         .state = std::string(session_state(memory, session)),
         .text = session.problem
                     ? printable(session.problem->to_string())
                     : fmt::format("{}  {}  {}", format_minute(session.last_write),
                                   padded_left(format_size(session.size_bytes), 9), about(session)),
         .json = session_as_json(memory, session),
         .is_bad = session.problem.has_value()});
  }
  return {};
}

Status add_archived(const MemoryManager& memory, std::vector<Row>& rows) {
  BMAD_TRY_ASSIGN(std::vector<ArchivedSession> sessions, memory.archived_sessions());
  std::ranges::sort(sessions, std::ranges::greater(), &ArchivedSession::archived_at);
  for (const ArchivedSession& session : sessions) {
    JsonWriter json;
    json.begin_object().member("session_id", session.session_id).member("state", "archived");
    json.member("created_at", format_rfc3339(session.created_at));
    json.member("archived_at", format_rfc3339(session.archived_at));
    json.member("original_bytes", session.original_bytes);
    json.member("compressed_bytes", session.compressed_bytes).end_object();
    rows.push_back({.id = session.session_id,
                    .state = "archived",
                    .text = fmt::format("{}  {}  of {}", format_minute(session.archived_at),
                                        padded_left(format_size(session.compressed_bytes), 9),
                                        format_size(session.original_bytes)),
                    .json = json.take(),
                    .is_bad = false});
  }
  return {};
}

/// Newest first. With `entries`, also what was deleted of sessions that are there.
Status add_deleted(const MemoryManager& memory, bool entries, std::vector<Row>& rows) {
  BMAD_TRY_ASSIGN(std::vector<Deletion> deletions, memory.deletions());
  std::ranges::reverse(deletions);
  for (const Deletion& deletion : deletions) {
    if (!deletion.whole_session && !entries) {
      continue;
    }
    JsonWriter json;
    json.begin_object().member("session_id", deletion.session_id).member("state", "deleted");
    json.member("whole_session", deletion.whole_session);
    json.member("deletion_id", deletion.deletion_id);
    json.member("deleted_at", format_rfc3339(deletion.deleted_at));
    json.member("expires_at", format_rfc3339(deletion.expires_at));
    json.member("agent_id", deletion.agent_id).member("entries", deletion.entries).end_object();
    const std::string what = deletion.whole_session
                                 ? format_count(deletion.entries, "entry", "entries")
                                 : format_count(deletion.entries, "line", "lines") + " of it";
    rows.push_back(
        {.id = deletion.session_id,
         .state = deletion.whole_session ? "deleted" : "entries",
         .text = fmt::format(
             "{}  {}, until {}{}", format_minute(deletion.deleted_at), what,
             format_minute(deletion.expires_at),
             deletion.agent_id.empty() ? std::string() : ", by " + printable(deletion.agent_id)),
         .json = json.take(),
         .is_bad = false});
  }
  return {};
}

Result<ExitStatus> run_session_list(Tool& tool) {
  const Arguments& args = tool.args();
  const bool all = args.has("all");
  const bool is_special = args.has("archived") || args.has("deleted");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  std::vector<Row> rows;
  if (all || !is_special || args.has("open")) {
    BMAD_TRY(add_live(memory, args.has("open") && !all, rows));
  }
  if (all || args.has("archived")) {
    BMAD_TRY(add_archived(memory, rows));
  }
  if (all || args.has("deleted")) {
    BMAD_TRY(add_deleted(memory, !all, rows));
  }
  std::size_t id_width = 0;
  for (const Row& row : rows) {
    id_width = std::max(id_width, row.id.size());
  }
  for (const Row& row : rows) {
    if (tool.json()) {
      tool.out().print("{}\n", row.json);
    } else {
      const std::string state = row.is_bad ? tool.style().red(row.state) : padded(row.state, 8);
      tool.out().print("{}  {}  {}\n", tool.style().id(padded(row.id, id_width)), state, row.text);
    }
  }
  if (rows.empty()) {
    tool.note(is_special ? "there is no such session"
                         : "there is no such session; `bmad-mem session new` makes one");
  }
  return ExitStatus::kDone;
}

constexpr Option kSessionListOptions[] = {
    {.name = "open", .help = "only sessions that are not closed"},
    {.name = "archived", .help = "archived sessions instead: when, size of the archive"},
    {.name = "deleted",
     .help = "what is deleted instead, sessions and entries: when, how much, how long it can be "
             "brought back"},
    {.name = "all", .help = "sessions of every state"},
};

constexpr Example kSessionListExamples[] = {
    {.command = "bmad-mem session list", .says = "newest first, with the time of the last write"},
    {.command = "bmad-mem --json session list --open", .says = "for a program"},
    {.command = "bmad-mem session list --deleted", .says = "what can be brought back"},
};

}  // namespace

const Command kSessionList = {
    .name = "session list",
    .group = Group::kStart,
    .summary = "list the sessions, newest first",
    .description =
        "Lists the sessions, newest first: id, state, last write (UTC), size, and what "
        "is known of it. A session whose manifest is damaged is listed with the reason.\n\n"
        "A session is active when it was written to within a day, idle after that, closed, "
        "archived, or deleted for a while.",
    .options = kSessionListOptions,
    .examples = kSessionListExamples,
    .run = run_session_list,
};

}  // namespace bmad_mem::cli
