// sessions.cpp - a memory is made; sessions begin, end, are archived, deleted and restored.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "cli/filters.hpp"
#include "cli/json_text.hpp"
#include "cli/output.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> run_init(Tool& tool) {
  BMAD_TRY_ASSIGN(const InitReport report,
                  MemoryManager::init(tool.root_to_create(), trusting_folder()));
  if (tool.json() || !tool.quiet()) {
    show(tool, "init", shaped(shape::init, report));
  }
  const bool is_new = report.created_config || report.created_gitignore;
  bool is_foreign = false;
  if (!is_new && !tool.json() && !tool.quiet()) {
    const Result<MemoryManager> memory = tool.open(report.root);
    is_foreign = memory && memory->is_foreign();
  }
  const std::optional<Error>& problem = report.trust_problem;
  return describe(tool, "init_trust", "is_foreign", is_foreign, "problem",
                  problem ? problem->to_string() : std::string());
}

namespace {

/// The session, or what `view` says of it and of `more`.
void print_session(Tool& tool, std::string_view view, const MemoryManager& memory,
                   const Session& session, const auto&... more) {
  const std::string json = session_as_json(memory, session);
  if (tool.json()) {
    tool.out().print("{}\n", json);
  }
  describe(tool, view, "session", raw_json(json), more...);
}

/// The values of --meta as a JSON object; empty without any.
Result<std::string> metadata_from(const Arguments& args) {
  JsonWriter json;
  json.begin_object();
  for (const std::string& pair : args.all("meta")) {
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return bad_value("meta", "'{}' is not KEY=VALUE, such as ticket=NB-12", printable(pair));
    }
    json.key(std::string_view(pair).substr(0, equals));
    const std::string_view value = std::string_view(pair).substr(equals + 1);
    json.raw(value.empty() ? "null" : json_quoted(value));
  }
  json.end_object();
  return args.has("meta") ? json.take() : std::string();
}

}  // namespace

Result<ExitStatus> run_session_new(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  SessionParams params;
  if (const auto id = args.maybe("id")) {
    if (id->empty()) {
      // The library would make one up; an empty variable of a script must not go unnoticed.
      return field_error(ErrorCode::E_INVALID_FORMAT, "session_id",
                         "the session id is empty; leave --id out to have one made");
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
  BMAD_TRY_ASSIGN(const std::string id, memory.create_session(params));
  note_maintenance(tool, memory);
  return show(tool, "session_new", object_of("session_id", id));
}

Result<ExitStatus> run_session_set(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  SessionChange change;
  if (args.positionals().size() > 1) {
    change.title = args.positional(1);
  }
  BMAD_TRY_ASSIGN(change.metadata_json, metadata_from(args));
  if (!change.title && change.metadata_json.empty()) {
    return tool.wrong_usage("nothing to change; give a TITLE or --meta KEY=VALUE");
  }
  BMAD_TRY_ASSIGN(const Session session, memory.update_session(args.positional(0), change));
  print_session(tool, "session_set", memory, session);
  return ExitStatus::kDone;
}

namespace {

/// What a person looks for in the list, behind the times and the size.
std::string about(const Session& session, bool is_encrypted) {
  // A title of the day says what stands beside it.
  const std::string title = session.title_from != TitleSource::kDay ? session.title : "";
  std::vector<std::string> parts = {session.project_name, session.user_id,
                                    joined(session.agent_ids)};
  for (const std::string& tag : session.tags) {
    parts.push_back("#" + tag);
  }
  std::erase(parts, "");
  if (title.empty() && parts.empty()) {
    return is_encrypted && session.size_bytes > 0 ? "(encrypted)" : "(no words yet)";
  }
  return printable(title + (title.empty() || parts.empty() ? "" : "  ") + joined(parts));
}

/// Adds a line of the list: JSON, and what it doesn't say to people.
using AddRow = std::function<void(std::string json, std::string about)>;

Status add_live(const MemoryManager& memory, bool only_open, const AddRow& add) {
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
  const bool is_encrypted = std::filesystem::exists(memory.root() + "/sealing.json", failed);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Session& session = sessions[i];
    add(session_as_json(memory, session),
        session.problem ? session.problem->to_string() : about(shown[i], is_encrypted));
  }
  return {};
}

Status add_archived(const MemoryManager& memory, const AddRow& add) {
  BMAD_TRY_ASSIGN(std::vector<ArchivedSession> sessions, memory.archived_sessions());
  std::ranges::sort(sessions, std::ranges::greater(), &ArchivedSession::archived_at);
  for (const ArchivedSession& session : sessions) {
    add(json_object(shaped(shape::session_in_archive, session)), {});
  }
  return {};
}

/// Newest first. With `entries`, also what was deleted of sessions that are there.
Status add_deleted(const MemoryManager& memory, bool entries, const AddRow& add) {
  BMAD_TRY_ASSIGN(std::vector<Deletion> deletions, memory.deletions());
  std::ranges::reverse(deletions);
  for (const Deletion& deletion : deletions) {
    if (deletion.whole_session || entries) {
      add(json_object(shaped(shape::deleted_session, deletion)), {});
    }
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_session_list(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  const bool all = args.has("all");
  const bool is_special = args.has("archived") || args.has("deleted");
  BMAD_TRY_ASSIGN(const Page page, read_page(args, 0));
  std::vector<RawJson> rows;
  const auto add = [&](std::string json, const std::string& about) {
    rows.push_back(
        raw_json(tool.json() ? std::move(json)
                             : json_object("about", about, "session", raw_json(std::move(json)))));
  };
  if (all || !is_special || args.has("open")) {
    BMAD_TRY(add_live(memory, args.has("open") && !all, add));
  }
  if (all || args.has("archived")) {
    BMAD_TRY(add_archived(memory, add));
  }
  if (all || args.has("deleted")) {
    BMAD_TRY(add_deleted(memory, !all, add));
  }
  print_lines(tool, "sessions", page.of(rows));
  return describe(tool, "no_session", "is_none", rows.empty(), "is_special", is_special);
}

namespace {

/// The session of the first argument, or the one that is meant without any.
Result<std::string> named_or_chosen(Tool& tool, MemoryManager& memory) {
  return tool.args().positionals().empty() ? choose_session(tool, memory)
                                           : std::string(tool.args().positional(0));
}

/// A value of the metadata for people: text without quotes.
std::string metadata_value(std::string_view json) {
  const ParsedJson value(json);
  return value && value->is_string() ? std::string(value->string()) : json_compact(json);
}

}  // namespace

Result<ExitStatus> run_session_show(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::string id, named_or_chosen(tool, memory));
  BMAD_TRY_ASSIGN(const Session session, memory.load_session(id));
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(id));
  const auto meta = mapped(json_members(session.metadata_json), [](const MemberText& member) {
    return std::pair(std::string(member.key), metadata_value(member.value));
  });
  print_session(tool, "session", memory, session, "request",
                session.first_request == session.title ? "" : session.first_request, "meta", meta,
                "entries", statistics.entries());
  return ExitStatus::kDone;
}

Result<ExitStatus> run_session_close(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::string id, named_or_chosen(tool, memory));
  BMAD_TRY_ASSIGN(const Session session, memory.close_session(id));
  note_maintenance(tool, memory);
  print_session(tool, "session_close", memory, session, "notice", session.notice);
  return ExitStatus::kDone;
}

Result<ExitStatus> run_session_archive(Tool& tool, MemoryManager& memory) {
  const bool dry_run = tool.args().has("dry-run");
  return for_all(tool, tool.args().positionals(), [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(const ArchiveReport report, memory.archive_session(id, {.dry_run = dry_run}));
    show(tool, "archive",
         shaped(shape::archive, report, dry_run ? "would be archived" : "archived"), "notice",
         report.notice);
    return {};
  });
}

Result<ExitStatus> run_session_restore(Tool& tool, MemoryManager& memory) {
  return for_all(tool, tool.args().positionals(), [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(const Session session, memory.restore_session(id));
    print_session(tool, "session_restore", memory, session);
    return {};
  });
}

Result<ExitStatus> run_session_delete(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  const DeleteOptions options{.dry_run = args.has("dry-run"), .purge = args.has("purge")};
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

Result<ExitStatus> run_session_undelete(Tool& tool, MemoryManager& memory) {
  return undelete_and_tell(tool, memory, {.sessions = tool.args().positionals()});
}

}  // namespace bmad_mem::cli
