// sessions.cpp - a memory is made; sessions begin, end, are archived, deleted and restored.
#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/filters.hpp"
#include "cli/json_text.hpp"
#include "cli/output.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> run_init(Tool& tool) {
  BMAD_TRY_ASSIGN(const InitReport report,
                  MemoryManager::init(tool.root_to_create(), trusting_folder()));
  const bool created = report.created_config || report.created_gitignore;
  if (tool.json()) {
    print_object(tool, shaped(shape::init, report));
  } else if (tool.args().has("quiet")) {
    // Only the exit status says so.
  } else if (created) {
    tool.out().print("created memory {}\n", report.root);
    tool.note("next: bmad-mem add fact TEXT, then bmad-mem query WORDS");
  } else {
    tool.out().print("memory {} already exists; nothing changed\n", report.root);
    const Result<MemoryManager> memory = tool.open(report.root);
    if (memory && memory->is_foreign()) {
      tool.note(
          "it came from elsewhere, so all of it is quoted; `bmad-mem trust` shows it and asks");
    }
  }
  if (report.trust_problem) {
    tool.note(fmt::format("it counts as foreign, since nothing can be noted about it: {}",
                          report.trust_problem->to_string()));
  }
  return ExitStatus::kDone;
}

namespace {

/// The values of --meta as a JSON object; empty without any.
Result<std::string> metadata_from(const Arguments& args) {
  JsonWriter json;
  json.begin_object();
  for (const std::string& pair : args.all("meta")) {
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error{
          .code = ErrorCode::E_INVALID_QUERY,
          .message = fmt::format("'{}' is not KEY=VALUE, such as ticket=NB-12", printable(pair)),
          .field = "meta"};
    }
    json.key(std::string_view(pair).substr(0, equals));
    const std::string_view value = std::string_view(pair).substr(equals + 1);
    json.raw(value.empty() ? "null" : json_quoted(value));
  }
  json.end_object();
  return args.has("meta") ? json.take() : std::string();
}

}  // namespace

Result<ExitStatus> run_session_new(Tool& tool) {
  const Arguments& args = tool.args();
  SessionParams params;
  if (const auto id = args.maybe("id")) {
    if (id->empty()) {
      // The library would make one up; an empty variable of a script must not go unnoticed.
      return Error{.code = ErrorCode::E_INVALID_FORMAT,
                   .message = "the session id is empty; leave --id out to have one made",
                   .field = "session_id"};
    }
    params.session_id = *id;
  }
  params.user_id = args.value("user");
  params.agent_ids = args.all("agent");
  params.project_name = args.value("project");
  params.session_type = args.value("type");
  params.tags = args.all("tag");
  params.title = args.value("title");
  BMAD_TRY_ASSIGN(params.metadata_json, metadata_from(args));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string id, memory.create_session(params));
  note_maintenance(tool, memory);
  if (tool.json()) {
    print_object(tool, "session_id", id);
  } else {
    tool.out().print("{}\n", id);
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_session_set(Tool& tool) {
  const Arguments& args = tool.args();
  SessionChange change;
  if (args.positionals().size() > 1) {
    change.title = args.positional(1);
  }
  BMAD_TRY_ASSIGN(change.metadata_json, metadata_from(args));
  if (!change.title && change.metadata_json.empty()) {
    return tool.wrong_usage("nothing to change; give a TITLE or --meta KEY=VALUE");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const Session session, memory.update_session(args.positional(0), change));
  if (tool.json()) {
    tool.out().print("{}\n", session_as_json(memory, session));
  } else {
    tool.out().print("changed {}: {}\n", tool.style().id(session.session_id),
                     printable(session.title));
  }
  return ExitStatus::kDone;
}

namespace {

/// What a person looks for in the list, behind the times and the size.
std::string about(const Session& session, bool is_sealed) {
  std::string out;
  std::string title;
  if (session.title_from != TitleSource::kDay) {  // That says what stands beside it.
    title = session.title;
  }
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
  if (title.empty() && out.empty()) {
    return is_sealed && session.size_bytes > 0 ? "(sealed)" : "(no words yet)";
  }
  return printable(title + (title.empty() || out.empty() ? "" : "  ") + out);
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
  std::erase_if(sessions, [&](const Session& session) {
    return only_open && (session.closed_at || session.problem);
  });
  std::vector<Session> shown = sessions;  // Without what is the same in all.
  const auto leave_out_same = [&](auto member) {
    const auto is_same = [&](const Session& each) {
      return each.*member == sessions.front().*member;
    };
    for (Session& each : shown) {
      each.*member = sessions.size() > 1 && std::ranges::all_of(sessions, is_same)
                         ? std::remove_reference_t<decltype(each.*member)>()
                         : each.*member;
    }
  };
  leave_out_same(&Session::project_name);
  leave_out_same(&Session::user_id);
  leave_out_same(&Session::agent_ids);
  leave_out_same(&Session::tags);
  std::error_code failed;
  const bool is_sealed = std::filesystem::exists(memory.root() + "/sealing.json", failed);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Session& session = sessions[i];
    rows.push_back({.id = session.session_id,
                    .state = std::string(session_state(memory, session)),
                    .text = session.problem
                                ? printable(session.problem->to_string())
                                : fmt::format("{}  {}  {}", shown_minute(session.last_write),
                                              padded_left(format_size(session.size_bytes), 9),
                                              about(shown[i], is_sealed)),
                    .json = session_as_json(memory, session),
                    .is_bad = session.problem.has_value()});
  }
  return {};
}

Status add_archived(const MemoryManager& memory, std::vector<Row>& rows) {
  BMAD_TRY_ASSIGN(std::vector<ArchivedSession> sessions, memory.archived_sessions());
  std::ranges::sort(sessions, std::ranges::greater(), &ArchivedSession::archived_at);
  for (const ArchivedSession& session : sessions) {
    const bool has_title = session.title_from != TitleSource::kDay;
    rows.push_back({.id = session.session_id,
                    .state = "archived",
                    .text = fmt::format("{}  {}  of {}{}{}", shown_minute(session.archived_at),
                                        padded_left(format_size(session.compressed_bytes), 9),
                                        format_size(session.original_bytes), has_title ? "  " : "",
                                        has_title ? printable(session.title) : std::string()),
                    .json = json_object(shaped(shape::session_in_archive, session)),
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
    const std::string what = deletion.whole_session
                                 ? format_count(deletion.entries, "entry", "entries")
                                 : format_count(deletion.entries, "line", "lines") + " of it";
    rows.push_back(
        {.id = deletion.session_id,
         .state = deletion.whole_session ? "deleted" : "entries",
         .text = fmt::format(
             "{}  {}, until {}{}", shown_minute(deletion.deleted_at), what,
             shown_minute(deletion.expires_at),
             deletion.agent_id.empty() ? std::string() : ", by " + printable(deletion.agent_id)),
         .json = json_object(shaped(shape::deleted_session, deletion)),
         .is_bad = false});
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_session_list(Tool& tool) {
  const Arguments& args = tool.args();
  const bool all = args.has("all");
  const bool is_special = args.has("archived") || args.has("deleted");
  BMAD_TRY_ASSIGN(const Page page, read_page(args, 0));
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
  const std::span<const Row> shown = page.of(rows);
  std::size_t id_width = 0;
  for (const Row& row : shown) {
    id_width = std::max(id_width, row.id.size());
  }
  for (const Row& row : shown) {
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

namespace {

/// A value of the metadata for people: text without quotes.
std::string metadata_value(std::string_view json) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(json);
  return value && value->is_string() ? std::string(value->string()) : json_compact(json);
}

}  // namespace

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
  show("title", session.title);
  show("request", session.first_request == session.title ? std::string() : session.first_request);
  show("created", shown_time(session.created_at));
  show("last write", shown_time(session.last_write));
  show("closed", session.closed_at ? shown_time(*session.closed_at) : "");
  show("user", session.user_id);
  show("agents", joined(session.agent_ids));
  show("project", session.project_name);
  show("type", session.session_type);
  show("tags", joined(session.tags));
  for (const MemberText& member : json_members(session.metadata_json)) {
    show(member.key, metadata_value(member.value));
  }
  show("entries", format_count(statistics.entries()));
  show("size", format_size(session.size_bytes));
  return ExitStatus::kDone;
}

Result<ExitStatus> run_session_close(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  std::string id(tool.args().positional(0));
  if (tool.args().positionals().empty()) {
    BMAD_TRY_ASSIGN(id, choose_session(tool, memory));
  }
  BMAD_TRY_ASSIGN(const Session session, memory.close_session(id));
  note_maintenance(tool, memory);
  if (tool.json()) {
    tool.out().print("{}\n", session_as_json(memory, session));
  } else {
    tool.out().print("closed {} at {}\n", session.session_id,
                     format_rfc3339(session.closed_at.value_or(session.last_write)));
  }
  if (!session.notice.empty()) {
    tool.note(session.notice);
  }
  return ExitStatus::kDone;
}

namespace {

void print_report(Tool& tool, const ArchiveReport& report, bool dry_run) {
  if (tool.json()) {
    print_object(tool, shaped(shape::archive, report, dry_run ? "would be archived" : "archived"));
    return;
  }
  tool.out().print(
      "{} {}: {}, {} {} {}; {} searchable\n", dry_run ? "would archive" : "archived",
      tool.style().id(report.session_id), format_count(report.files, "file", "files"),
      format_size(report.original_bytes), dry_run ? "would become" : "became",
      format_size(report.compressed_bytes),
      report.kept == 1 ? "1 entry stays" : format_count(report.kept) + " entries stay");
}

}  // namespace

Result<ExitStatus> run_session_archive(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const bool dry_run = tool.args().has("dry-run");
  return for_all(tool, tool.args().positionals(), [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(const ArchiveReport report, memory.archive_session(id, {.dry_run = dry_run}));
    print_report(tool, report, dry_run);
    if (!report.notice.empty()) {
      tool.note(report.notice);
    }
    return {};
  });
}

Result<ExitStatus> run_session_restore(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  return for_all(tool, tool.args().positionals(), [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(const Session session, memory.restore_session(id));
    if (tool.json()) {
      tool.out().print("{}\n", session_as_json(memory, session));
    } else {
      tool.out().print("restored {}, {}\n", tool.style().id(session.session_id),
                       format_size(session.size_bytes));
    }
    return {};
  });
}

Result<ExitStatus> run_session_delete(Tool& tool) {
  const Arguments& args = tool.args();
  const DeleteOptions options{.dry_run = args.has("dry-run"), .purge = args.has("purge")};
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (!options.dry_run &&
      !is_confirmed(tool, fmt::format("{} {}{}?", options.purge ? "purge" : "delete",
                                      fmt::join(args.positionals(), ", "),
                                      options.purge ? ", permanently" : ""))) {
    return ExitStatus::kFailed;
  }
  return for_all(tool, args.positionals(), [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(const DeletionReport report, memory.delete_session(id, options));
    print_deletion(tool, report, options);
    return {};
  });
}

Result<ExitStatus> run_session_undelete(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  return undelete_and_tell(tool, memory, {.ids = {}, .sessions = tool.args().positionals()});
}

}  // namespace bmad_mem::cli
