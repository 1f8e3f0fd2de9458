// writing.cpp - entries are stored, pinned, deleted and restored.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/hub_interface.hpp"
#include "cli/output.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/transcript_text.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

/// The ids, a line each, and what else happened: on stderr, or with the last id.
void print_written(Tool& tool, std::string_view session, const BatchReport& report) {
  for (std::size_t i = 0; i < report.ids.size(); ++i) {
    const bool is_last = i + 1 == report.ids.size();
    print_stored(tool, report.ids[i], session,
                 is_last ? report.notices : std::span<const std::string>());
  }
  tool.notes(report.notices);
  if (report.skipped != 0) {
    describe(tool, "skipped_entries", "skipped", report.skipped);
  }
}

/// Says where in the input the error of a batch is. Its line counts the pieces; 0 when it is about
/// the session or the disk, or about the only piece.
void place_batch_error(Error& error, const std::vector<InputPiece>& pieces) {
  const bool is_about_entry =
      (error.code == ErrorCode::E_INVALID_FORMAT && error.field != "session_id") ||
      error.code == ErrorCode::E_SCHEMA_INVALID;
  if (error.line == 0 && pieces.size() == 1 && is_about_entry) {
    error.line = 1;
  }
  if (error.line >= 1 && error.line <= pieces.size()) {
    place_error(error, pieces[error.line - 1]);
  }
}

/// The session that has the only entry of the id in `line`; empty when there is none.
Result<std::string> session_of_known(const MemoryManager& memory, std::string_view line) {
  const ParsedJson entry(line);
  const std::string id(entry ? (*entry)["id"].string() : "");
  if (id.empty()) {
    return std::string();  // What is wrong with it, the write says.
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> known, memory.get({&id, 1}));
  return known.size() == 1 ? known.front().session_id : std::string();
}

/// Adds them to `session`, which is chosen here. Where it has to be opened first, that happens only
/// when something can be written.
Result<BatchReport> add_to_session(Tool& tool, MemoryManager& memory, EntryType type,
                                   std::span<const std::string_view> texts, std::string& session) {
  const bool replaces = tool.args().has("replace");
  const BatchOptions options{
      .keep_going = tool.args().has("keep-going"),
      .known = replaces ? KnownEntries::kAppendVersion : KnownEntries::kRefuse};
  const bool may_be_known = texts.size() == 1 && texts.front().contains("\"id\"");
  if (may_be_known && !tool.args().has("session")) {
    BMAD_TRY_ASSIGN(session, session_of_known(memory, texts.front()));
    if (!session.empty()) {
      return memory.add_batch(session, type, texts, options);
    }
  }
  BatchReport checked;
  const auto is_needed = [&]() -> Result<bool> {
    BMAD_TRY_ASSIGN(checked, memory.check_batch(type, texts, options));
    return checked.rejected.size() < texts.size();
  };
  BMAD_TRY_ASSIGN(std::optional<std::string> chosen,
                  choose_or_open_session(tool, memory, is_needed));
  if (!chosen) {
    return checked;
  }
  session = *std::move(chosen);
  return memory.add_batch(session, type, texts, options);
}

/// Adds them, and prints it. `place` says where in the input an error is.
Result<ExitStatus> add_texts(Tool& tool, EntryType type, const std::vector<InputPiece>& pieces,
                             const std::function<void(Error&)>& place, AddedEntries& added) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::vector<std::string_view> texts = mapped(pieces, &InputPiece::text);
  Result<BatchReport> report = add_to_session(tool, memory, type, texts, added.session_id);
  if (!report) {
    Error error = std::move(report).error();
    place(error);
    return error;
  }
  print_written(tool, added.session_id, *report);
  note_lost_origins(tool, memory);
  for (RejectedLine& rejected : report->rejected) {
    rejected.error.line = rejected.line;
    place(rejected.error);
    tool.report(rejected.error);
  }
  if (pieces.empty() || !report->rejected.empty()) {
    describe(tool, "batch", "pieces", pieces.size(), "written", report->ids.size(), "rejected",
             report->rejected.size());
  }
  added.ids = std::move(report->ids);
  return report->rejected.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

/// What `add` is to store: "TYPE TEXT", or the text of a fact alone. A word that is nearly a type
/// is one with a slip.
struct ToAdd {
  EntryType type = EntryType::kFact;
  std::string_view text;
};
Result<ToAdd> what_to_add(const Arguments& args) {
  const std::string_view first = args.positional(0);
  const bool is_text = args.positionals().size() == 1 && !try_parse_entry_type(first) &&
                       nearest_word(first, kTypeNames).empty();
  if (is_text) {
    return ToAdd{.text = first};
  }
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(first));
  return ToAdd{.type = type, .text = args.positional(1)};
}

}  // namespace

Result<ExitStatus> run_add(Tool& tool) {
  const Arguments& args = tool.args();
  if (args.positionals().empty()) {
    return tool.wrong_usage("missing argument: TEXT");
  }
  BMAD_TRY_ASSIGN(const ToAdd wanted, what_to_add(args));
  const auto& [type, text] = wanted;
  if (text == "-" || text.starts_with('{')) {
    if (has_entry_options(type, args)) {
      return tool.wrong_usage("give the fields either as options or as JSON, not both");
    }
  } else if (const std::string_view main = main_field(type).name; !text.empty() && args.has(main)) {
    return tool.wrong_usage(
        fmt::format("'{0}' would be the {1}, but --{1} is there too", text, main));
  }
  std::uint64_t applied = 0;
  if (args.has("wait-hub")) {  // Before stdin is read: another program may go on from here.
    BMAD_TRY_ASSIGN(applied, reach_hub(tool));
  }
  std::string input;
  if (text == "-") {
    BMAD_TRY_ASSIGN(input, read_stdin());
  }
  // Without a type, stdin may be a text: else it would have to be JSON.
  const bool is_plain = text == "-" && args.positionals().size() == 1 && !trimmed(input).empty() &&
                        !std::string_view("[{").contains(trimmed(input).front());
  const bool is_json = !is_plain && (text == "-" || text.starts_with('{'));
  std::vector<InputPiece> pieces =
      text == "-" ? split_input(input) : std::vector{InputPiece{.text = text}};
  std::string made;
  if (!is_json) {
    BMAD_TRY_ASSIGN(
        made, entry_from_options(type, args, is_plain ? trimmed(input) : text, tool.agent_id()));
    pieces = {{.text = made}};
  }
  const auto place = [&](Error& error) {
    if (text == "-" && is_json) {
      place_batch_error(error, pieces);
    } else if (!is_json) {
      error.column = 0;  // A place in JSON that the user has never seen.
    }
  };
  AddedEntries added;
  BMAD_TRY_ASSIGN(const ExitStatus status, add_texts(tool, type, pieces, place, added));
  return status == ExitStatus::kDone && args.has("wait-hub") ? push_to_hub(tool, added, applied)
                                                             : status;
}

Result<ExitStatus> run_edit(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  const std::string_view text = args.positional(1);
  const std::vector<std::string>& sessions = args.all("session");
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids,
                  whole_ids(memory, {std::string(args.positional(0))}));
  const std::string& id = ids.front();
  BMAD_TRY_ASSIGN(const std::vector<Entry> known, memory.get(ids, sessions));
  std::string changes = "{}";
  if (!known.empty()) {  // Else the memory says that there is none.
    BMAD_TRY_ASSIGN(changes, changes_from_options(known.front(), args, text));
  }
  BMAD_TRY_ASSIGN(const Entry entry, memory.update_entry(id, changes, sessions));
  const bool is_changed = known.empty() || known.front().json != entry.json;
  show_entry(tool, "edited", entry, "asked", id, "is_changed", is_changed);
  return ExitStatus::kDone;
}

Result<ExitStatus> run_move(Tool& tool) {
  const Arguments& args = tool.args();
  const std::string_view scope = args.value("scope");
  const std::string users = user_memory_root();
  if (users.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "neither XDG_DATA_HOME nor HOME names a folder for your own memory"};
  }
  BMAD_TRY_ASSIGN(MemoryManager project, tool.open());
  BMAD_TRY(MemoryManager::init(users, trusting_folder()));
  BMAD_TRY_ASSIGN(MemoryManager own, tool.open(users));
  const bool to_user = scope == "user";
  MemoryManager& from = to_user ? project : own;
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(from, args.positionals()));
  BMAD_TRY_ASSIGN(const MoveReport report, from.move_entries(ids, to_user ? own : project));
  for (const Entry& entry : report.moved) {
    show(tool, "moved",
         object_of("id", entry.id, "type", entry_type_name(entry.type), "scope", scope,
                   "session_id", report.session_id),
         "headline", entry.headline);
  }
  return report_unknown(tool, from, report.unknown_ids);
}

namespace {

Result<DeletionCriteria> read_criteria(const Arguments& args) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_filter(args, system_clock().now()));
  BMAD_TRY_ASSIGN(std::string match, read_match(args));
  return DeletionCriteria{.ids = args.positionals(),
                          .sessions = std::move(filter.sessions),
                          .types = std::move(filter.types),
                          .tags = std::move(filter.tags),
                          .agents = std::move(filter.agents),
                          .since = filter.since,
                          .until = filter.until,
                          .match = std::move(match)};
}

}  // namespace

Result<ExitStatus> run_delete(Tool& tool) {
  const Arguments& args = tool.args();
  const DeleteOptions options{.dry_run = args.has("dry-run"), .purge = args.has("purge")};
  if (args.has("verify")) {
    pull_to_verify(tool);
  }
  BMAD_TRY_ASSIGN(DeletionCriteria criteria, read_criteria(args));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(criteria.ids, whole_ids(memory, std::move(criteria.ids)));
  return delete_and_verify(tool, memory, criteria, options);
}

Result<ExitStatus> run_undelete(Tool& tool, MemoryManager& memory) {
  return undelete_and_tell(
      tool, memory, {.ids = tool.args().positionals(), .sessions = tool.args().all("session")});
}

namespace {

Result<ExitStatus> set_pins(Tool& tool, bool pinned) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const PinReport report, memory.pin(ids, pinned, tool.args().all("session")));
  for (const Entry& entry : report.changed) {
    show_entry(tool, "pin", entry, "verb", pinned ? "pinned" : "unpinned");
  }
  for (const Entry& entry : report.unchanged) {
    describe(tool, "pinned_already", "id", entry.id, "verb", pinned ? "pinned" : "not pinned");
  }
  return report_unknown(tool, memory, report.unknown_ids);
}

}  // namespace

Result<ExitStatus> run_pin(Tool& tool) { return set_pins(tool, true); }

Result<ExitStatus> run_unpin(Tool& tool) { return set_pins(tool, false); }

Result<ExitStatus> run_link(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  const std::optional<LinkKind> kind = try_parse_link_kind(args.positional(1));
  if (!kind) {
    return bad_value("relation",
                     "'{}' is not a relation; write solves, causes, supersedes or refines",
                     printable(args.positional(1)));
  }
  BMAD_TRY_ASSIGN(
      std::vector<std::string> ids,
      whole_ids(memory, {std::string(args.positional(0)), std::string(args.positional(2))}));
  const LinkRequest request{.from = std::move(ids[0]),
                            .kind = *kind,
                            .to = std::move(ids[1]),
                            .remove = args.has("remove"),
                            .sessions = args.all("session")};
  BMAD_TRY_ASSIGN(const LinkReport report, memory.link(request));
  return show(tool, "link", shaped(shape::link_change, request, report));
}

namespace {

constexpr std::size_t kSnippetSize = 400;  // About four lines.

/// The first heading of a Markdown document; empty when it has none.
std::string first_heading(std::string_view document) {
  while (!document.empty()) {
    const std::string_view line = take_line(document);
    const std::size_t marks = std::min(line.find_first_not_of('#'), line.size());
    if (marks > 0 && marks <= 6 && marks < line.size() && line[marks] == ' ') {
      return printable(line.substr(marks + 1));
    }
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_artifact_add(Tool& tool, MemoryManager& memory, const std::string& session) {
  const Arguments& args = tool.args();
  const std::string path(args.positional(0));
  BMAD_TRY_ASSIGN(const std::string document, read_named(path));
  ArtifactEntry entry{.path = path == "-" ? "stdin" : path,
                      .title = std::string(args.value("title")),
                      .agent_id = std::string(args.maybe("agent").value_or(tool.agent_id())),
                      .snippet = std::string(utf8_prefix(document, kSnippetSize))};
  if (entry.title.empty()) {
    const std::string heading = first_heading(document);
    entry.title = heading.empty() ? std::string(base_name(entry.path)) : heading;
  }
  entry.common.tags = args.all("tag");
  BMAD_TRY_ASSIGN(const std::string id,
                  memory.add_artifact_document(session, std::move(entry), document));
  return print_stored(tool, id, session);
}

std::span<const Option> options_of_entry(std::string_view type_name) {
  if (type_name.empty()) {
    return common_entry_options();
  }
  const std::optional<EntryType> type = try_parse_entry_type(type_name);
  return type ? entry_options(*type) : std::span<const Option>();
}

}  // namespace bmad_mem::cli
