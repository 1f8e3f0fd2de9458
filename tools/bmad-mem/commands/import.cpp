// import - takes in entries and transcripts from files.
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "import/import_files.hpp"
#include "progress.hpp"
#include "removed_view.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 4> kFormatNames = {"auto", "entries", "export",
                                                          "claude-code"};
constexpr std::array<ImportFormat, 4> kFormats = {ImportFormat::kAuto, ImportFormat::kEntries,
                                                  ImportFormat::kOwnExport,
                                                  ImportFormat::kClaudeCode};

/// Refused lines that are told one by one; the rest is counted.
constexpr std::uint64_t kRefusedShownMax = 20;

std::optional<ImportFormat> find_format(std::string_view name) {
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    if (kFormatNames[i] == name) {
      return kFormats[i];
    }
  }
  return std::nullopt;
}

void print_json(Tool& tool, const ImportReport& report, bool dry_run) {
  JsonWriter json;
  json.begin_object().member("dry_run", dry_run).member("files", report.files);
  json.member("imported", report.written_in_all()).member("known", report.known);
  json.member("refused", report.refused).key("types").begin_object();
  for (const EntryType type : kEntryTypes) {
    if (const std::uint64_t count = report.written[static_cast<std::size_t>(type)]; count != 0) {
      json.member(entry_type_name(type), count);
    }
  }
  json.end_object().key("sessions").begin_array();
  for (const std::string& session : report.sessions) {
    json.string(session);
  }
  json.end_array().key("skipped").begin_object();
  for (const auto& [reason, count] : report.skipped) {
    json.member(reason, count);
  }
  json.end_object();
  if (!report.notices.empty()) {
    add_texts(json, "notices", report.notices);
  }
  json.end_object();
  tool.out().print("{}\n", json.text());
}

void print_text(Tool& tool, const ImportReport& report, bool dry_run) {
  tool.out().print("{} {} from {} into {}", dry_run ? "would import" : "imported",
                   format_count(report.written_in_all(), "entry", "entries"),
                   format_count(report.files, "file", "files"),
                   format_count(report.sessions.size(), "session", "sessions"));
  if (report.known != 0) {
    tool.out().print("; {} there already",
                     report.known == 1 ? "1 was" : format_count(report.known) + " were");
  }
  tool.out().write("\n");
  const auto line = [&](std::uint64_t count, std::string_view what) {
    if (count != 0) {
      tool.out().print("  {}  {}\n", padded_left(format_count(count), 9), what);
    }
  };
  for (const EntryType type : kEntryTypes) {
    line(report.written[static_cast<std::size_t>(type)], entry_type_info(type).plural);
  }
  if (!report.skipped.empty()) {
    tool.out().write("left out:\n");
    for (const auto& [reason, count] : report.skipped) {
      line(count, reason);
    }
  }
  if (report.refused != 0) {
    tool.out().print("refused: {}\n", format_count(report.refused, "line", "lines"));
  }
}

/// Where goes what names no session; empty when there is no such place.
std::string fallback_session(Tool& tool, const MemoryManager* memory) {
  if (memory == nullptr) {
    return "(one that is open)";
  }
  return choose_session(tool, *memory).value_or("");
}

Result<ExitStatus> import_all(Tool& tool, ImportFormat format, MemoryManager* memory) {
  BMAD_TRY_ASSIGN(const std::vector<ImportFile> files,
                  find_import_files(tool.args().positionals()));
  std::uint64_t total = 0;
  for (const ImportFile& file : files) {
    total += file.size;
  }
  std::vector<Error> problems;  // Told when the progress bar is gone.
  ImportSink sink(memory, [&](const Error& error) {
    if (problems.size() < kRefusedShownMax) {
      problems.push_back(error);
    }
  });
  const ImportOptions options = {.format = format,
                                 .session_id = std::string(tool.args().value("session")),
                                 .fallback_session = fallback_session(tool, memory)};
  bool failed = false;
  {
    Progress progress(tool, "import");
    std::uint64_t done = 0;
    for (const ImportFile& file : files) {
      const Status status = import_file(file, options, memory, sink, [&](std::uint64_t read) {
        progress.show(done + read, total);
      });
      done += file.size;
      if (!status) {
        failed = true;
        problems.push_back(status.error());
      }
    }
    if (const Status status = sink.flush(); !status) {
      failed = true;
      problems.push_back(status.error());
    }
  }
  // What the engine refuses comes a batch later than what the importers refuse.
  std::ranges::stable_sort(problems, [](const Error& a, const Error& b) {
    return std::tie(a.path, a.line) < std::tie(b.path, b.line);
  });
  for (const Error& problem : problems) {
    tool.report(problem);
  }
  const ImportReport& report = sink.report();
  if (tool.json()) {
    print_json(tool, report, memory == nullptr);
  } else {
    print_text(tool, report, memory == nullptr);
    for (const std::string& notice : report.notices) {
      tool.note(notice);
    }
  }
  return failed || report.refused != 0 ? ExitStatus::kFailed : ExitStatus::kDone;
}

Result<ExitStatus> run(Tool& tool) {
  const std::string_view name = tool.args().maybe("format").value_or("auto");
  const std::optional<ImportFormat> format = find_format(name);
  if (!format) {
    return tool.wrong_usage(
        fmt::format("--format takes auto, entries, export or claude-code, not '{}'", name));
  }
  if (tool.args().has("session") && tool.args().value("session").empty()) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the session id is empty",
                 .field = "session_id"};
  }
  if (tool.args().has("dry-run")) {
    return import_all(tool, *format, nullptr);
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  return import_all(tool, *format, &memory);
}

constexpr Positional kPositionals[] = {{.name = "FILE",
                                        .help = "a file, a folder (every *.jsonl below it), or "
                                                "'-' for stdin",
                                        .max = 0,
                                        .completion = Completion::kFile}};

constexpr Option kOptions[] = {
    {.name = "session",
     .value = "ID",
     .help = "put everything into this session; it is made when it isn't there",
     .fallback = "the one that each entry or transcript names",
     .completion = Completion::kSession},
    {.name = "format",
     .value = "NAME",
     .help = "what the files are",
     .fallback = "auto",
     .completion = Completion::kChoice,
     .choices = kFormatNames},
    {.name = "dry-run", .help = "read and count, write nothing"},
};

constexpr Example kExamples[] = {
    {.command = "bmad-mem import ~/.claude/projects/-home-me-payments",
     .says = "all sessions of a project with Claude Code, subagents included"},
    {.command = "bmad-mem export | bmad-mem --root /srv/memory import -",
     .says = "copy everything into another memory"},
    {.command = "bmad-mem import --dry-run notes.jsonl", .says = "look before"},
};

}  // namespace

const Command kImport = {
    .name = "import",
    .group = Group::kWrite,
    .summary = "take in entries and agents' transcripts",
    .description =
        "Imports exports, JSONL of our own types, as --json prints it or as it stands in a log, "
        "and "
        "transcripts of Claude Code. Each file's format is recognised. Importing again adds "
        "nothing but what is new.\n\n"
        "Own entries: \"type\" names the type, else the file's name does (decisions.jsonl); "
        "\"session_id\" names the session, which is made when it isn't there. Unknown fields are "
        "kept. Lines that are no entries are refused and reported; the others are imported.\n\n"
        "What `export` wrote in JSONL: sessions that aren't there are made as they were, entries "
        "keep "
        "ids, times and versions, and importing the same export again changes nothing.\n\n"
        "Transcripts: messages of user and assistant become conversation entries, tool calls and "
        "results become events with a snippet of at most 2,000 bytes. Each transcript goes into "
        "the session cc-ID. What the program itself wrote, thinking, base64 data and lines over "
        "1 MiB are left out and counted.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .exit_status =
        "0 done, 1 failed, or lines were refused (the others are imported), "
        "2 wrong usage.",
    .run = run,
};

}  // namespace bmad_mem::cli
