// add - appends an entry, or a batch from stdin.
#include <optional>
#include <vector>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "entry_options.hpp"
#include "filters.hpp"
#include "removed_view.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// The ids, a line each, and what else happened: on stderr, or with the last id.
void print_written(Tool& tool, std::string_view session, const BatchReport& report) {
  for (std::size_t i = 0; i < report.ids.size(); ++i) {
    if (!tool.json()) {
      tool.out().print("{}\n", report.ids[i]);
      continue;
    }
    JsonWriter json;
    json.begin_object().member("id", report.ids[i]).member("session_id", session);
    if (i + 1 == report.ids.size() && !report.notices.empty()) {
      add_texts(json, "notices", report.notices);
    }
    json.end_object();
    tool.out().print("{}\n", json.text());
  }
  for (const std::string& notice : report.notices) {
    tool.note(notice);
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

/// Adds them to `session`, which is chosen here. Where it has to be opened first, that happens only
/// when something can be written.
Result<BatchReport> add_to_session(Tool& tool, MemoryManager& memory, EntryType type,
                                   std::span<const std::string_view> texts, std::string& session) {
  const BatchOptions options{.keep_going = tool.args().has("keep-going")};
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

Result<ExitStatus> add_from_stdin(Tool& tool, EntryType type) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string input, read_stdin());
  const std::vector<InputPiece> pieces = split_input(input);
  std::vector<std::string_view> texts;
  texts.reserve(pieces.size());
  for (const InputPiece& piece : pieces) {
    texts.push_back(piece.text);
  }
  std::string session;
  Result<BatchReport> report = add_to_session(tool, memory, type, texts, session);
  if (!report) {
    Error error = std::move(report).error();
    place_batch_error(error, pieces);
    return error;
  }
  print_written(tool, session, *report);
  for (RejectedLine& rejected : report->rejected) {
    rejected.error.line = rejected.line;
    place_batch_error(rejected.error, pieces);
    tool.report(rejected.error);
  }
  if (pieces.empty()) {
    tool.note("there was nothing on stdin");
  } else if (!report->rejected.empty()) {
    tool.note(fmt::format("wrote {} of {} entries", report->ids.size(), pieces.size()));
  }
  return report->rejected.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> add_one(Tool& tool, EntryType type, std::string_view text) {
  std::string json(text);
  const bool is_json = text.starts_with('{');
  if (!is_json) {
    BMAD_TRY_ASSIGN(json, entry_from_options(type, tool.args(), text, tool.agent_id()));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::string_view line = json;
  std::string session;
  Result<BatchReport> report = add_to_session(tool, memory, type, {&line, 1}, session);
  if (!report) {
    Error error = std::move(report).error();
    if (!is_json) {
      error.column = 0;  // A place in JSON that the user has never seen.
    }
    return error;
  }
  print_written(tool, session, *report);
  return ExitStatus::kDone;
}

Result<ExitStatus> run_add(Tool& tool) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(args.positional(0)));
  const std::string_view text = args.positional(1);
  if (text == "-" || text.starts_with('{')) {
    if (has_entry_options(type, args)) {
      return tool.wrong_usage("give the fields either as options or as JSON, not both");
    }
  } else if (const std::string_view main = main_field(type).name; !text.empty() && args.has(main)) {
    return tool.wrong_usage(
        fmt::format("'{0}' would be the {1}, but --{1} is there too", text, main));
  }
  if (args.has("keep-going") && text != "-") {
    return tool.wrong_usage("--keep-going is for many entries on stdin; add '-' to read them");
  }
  return text == "-" ? add_from_stdin(tool, type) : add_one(tool, type, text);
}

std::span<const Option> options_of(std::string_view first) {
  if (first.empty()) {
    return common_entry_options();
  }
  const std::optional<EntryType> type = try_parse_entry_type(first);
  return type ? entry_options(*type) : std::span<const Option>();
}

constexpr Positional kAddPositionals[] = {
    {.name = "TYPE",
     .help = "conversation, decision, finding, preference, fact, event, agent_state or artifact; "
             "`bmad-mem add TYPE --help` lists its fields",
     .completion = Completion::kChoice,
     .choices = kTypeNames},
    {.name = "TEXT|JSON|-",
     .help = "the text of the entry, or the whole entry as one JSON object, or '-': entries as "
             "JSONL, as a JSON array or one behind the other on stdin",
     .min = 0},
};

constexpr Option kAddOptions[] = {
    kWritableSessionOption,
    {.name = "keep-going",
     .help = "with '-': write the good entries and report the others; otherwise one bad entry "
             "refuses all"}};

constexpr Example kAddExamples[] = {
    {.command = "bmad-mem add decision --made-by architect --decision \"Use PostgreSQL\" "
                "--rationale ACID --impact high --tag database",
     .says = "one decision, by its fields"},
    {.command = "bmad-mem add fact \"The staging database is rebuilt every night\"",
     .says = "one fact; the text is its main field"},
    {.command = "bmad-mem add finding '{\"description\":\"No connection pool\",\"ticket\":42}'",
     .says = "as JSON, with a field of your own"},
    {.command = "bmad-mem add conversation --session $S - <messages.jsonl",
     .says = "a batch: one lock, one write, one sync; all or nothing"},
    {.command = "bmad-mem add decision --id dec-001 --decision \"Use PostgreSQL 17\"",
     .says = "a new version of dec-001, which `bmad-mem history dec-001` shows"},
};

}  // namespace

const Command kAdd = {
    .name = "add",
    .group = Group::kWrite,
    .summary = "append an entry, or a batch from stdin",
    .description =
        "Appends entries to the log of their type and prints their ids, one a line. When it is "
        "done, they survive power loss. Where no session is open, it opens one.\n\n"
        "An entry comes as options, as one JSON object, or on stdin. Fields that the engine does "
        "not know are kept as they are.",
    .positionals = kAddPositionals,
    .options = kAddOptions,
    .examples = kAddExamples,
    .options_of = options_of,
    .run = run_add,
};

}  // namespace bmad_mem::cli
