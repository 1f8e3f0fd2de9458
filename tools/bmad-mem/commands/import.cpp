// import - takes in entries and transcripts from files.
#include <algorithm>
#include <filesystem>
#include <ranges>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/session_choice.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"
#include "exchange/import/import_files.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// Refused lines that are told one by one; the rest is counted.
constexpr std::uint64_t kRefusedShownMax = 20;

/// How many entries of each type were written, under the plural of its name.
std::vector<std::pair<std::string_view, std::uint64_t>> written_by_type(
    const ImportReport& report) {
  std::vector<std::pair<std::string_view, std::uint64_t>> written;
  for (const EntryType type : kEntryTypes) {
    if (const std::uint64_t count = report.written[static_cast<std::size_t>(type)]; count > 0) {
      written.emplace_back(entry_type_info(type).plural, count);
    }
  }
  return written;
}

/// The folder of the project: the one that holds .bmad, else that in which the tool was started.
std::string project_here(const Tool& tool, const MemoryManager* memory) {
  const std::string here = working_directory();
  std::string root = memory != nullptr ? memory->root() : tool.find_root().value_or("");
  if (!root.empty() && !root.starts_with('/')) {
    root = std::filesystem::path(here + "/" + root).lexically_normal().string();
  }
  const std::string project = project_folder(root);
  return project.empty() ? here : project;
}

/// The files that are named, or those in the usual places. Says what was left out.
Result<FoundImports> find_files(Tool& tool, ImportFormat format, const std::string& project,
                                const MemoryManager* memory) {
  if (const auto& named = tool.args().positionals(); !named.empty()) {
    BMAD_TRY_ASSIGN(FoundImports found, find_import_files(named, format));
    std::string formats;
    for (const auto& [name, count] : found.formats) {
      formats += fmt::format("{}{} of {}", formats.empty() ? "found " : ", ",
                             format_count(count, "file", "files"), name);
    }
    if (found.formats.size() > 1 || (found.unknown != 0 && !formats.empty())) {
      tool.note(formats);
    }
    return found;
  }
  BMAD_TRY_ASSIGN(
      FoundImports found,
      find_usual_places(format, project,
                        memory == nullptr ? std::vector<std::string>() : memory->worktrees(),
                        tool.args().has("all-projects")));
  if (found.of_other_projects != 0 && !found.files.empty()) {
    tool.note(fmt::format("{} of other projects left out; --all-projects takes them along",
                          format_count(found.of_other_projects, "file is", "files are")));
  }
  return found;
}

/// Why there was nothing, as a sentence.
std::string nothing_found(const FoundImports& found) {
  constexpr std::size_t kNamedMax = 3;
  const auto names = mapped(found.files | std::views::take(kNamedMax), [](const ImportFile& file) {
    return file.path == "-" ? "<stdin>" : file.path;
  });
  return view_line("nothing_to_import",
                   json_object("unknown", found.unknown, "formats", import_names(false),
                               "of_other_projects", found.of_other_projects, "names", names, "more",
                               found.files.size() - names.size()));
}

/// Reads all files into `sink`, with a bar, until a signal stops it; adds what goes wrong to
/// `problems`. Returns whether a file or the last batch failed as a whole.
bool import_files(Tool& tool, const std::vector<ImportFile>& files, const ImportOptions& options,
                  ImportSink& sink, std::vector<Error>& problems) {
  const std::uint64_t total = sum_of(files, &ImportFile::size);
  bool failed = false;
  const auto check = [&](const Status& status) {
    if (!status) {
      failed = true;
      problems.push_back(status.error());
    }
  };
  Progress progress(tool, "import");
  std::uint64_t done = 0;
  for (const ImportFile& file : files) {
    const Status status = import_file(
        file, options, sink, [&](std::uint64_t read) { progress.show(done + read, total); });
    done += file.size;
    if (sink.is_stopped()) {
      break;
    }
    check(status);
  }
  check(sink.finish());
  return failed;
}

/// `memory` is null in a dry run where there is none.
Result<ExitStatus> import_all(Tool& tool, ImportFormat format, MemoryManager* memory) {
  const bool dry_run = tool.args().has("dry-run");
  const std::string project = project_here(tool, memory);
  BMAD_TRY_ASSIGN(FoundImports found, find_files(tool, format, project, memory));
  std::vector<Error> problems;  // Printed when the progress bar is gone.
  const auto on_refused = [&](const Error& error) {
    if (problems.size() < kRefusedShownMax) {
      problems.push_back(error);
    }
  };
  ImportSink sink(dry_run ? nullptr : memory, on_refused, memory);
  sink.skip("files of no known format", found.unknown);
  sink.skip("files that hold nothing of their own", found.beside);
  const ImportOptions options = {
      .format = format,
      .session_id = std::string(tool.args().value("session")),
      .fallback_session = memory == nullptr ? "" : choose_session(tool, *memory).value_or(""),
      .project = std::filesystem::path(project).filename().string(),
      .folder = project};
  ImportNotes notes(memory);
  std::vector<ImportFile> files = found.files;
  notes.leave_out_known(files, options);
  order_by_first_record(files);
  const Descriptor ends = dry_run ? Descriptor() : take_ending_signals();
  sink.stop_at(ends.number());
  bool failed = import_files(tool, files, options, sink, problems);
  if (!dry_run) {
    notes.save(sink.tallies());
  }
  notes.count_known(sink.report());
  // What the engine refuses comes a batch later than what the importers refuse.
  std::ranges::stable_sort(problems, [](const Error& a, const Error& b) {
    return std::tie(a.path, a.line) < std::tie(b.path, b.line);
  });
  tool.report_all(problems);
  const ImportReport& report = sink.report();
  show(tool, "imported", shaped(shape::import_report, report, dry_run), "written",
       written_by_type(report));
  if (sink.is_stopped()) {
    tool.note(fmt::format("stopped; {} of it {} stored. Run the command again to import the rest",
                          format_count(report.written_in_all(), "entry", "entries"),
                          report.written_in_all() == 1 ? "is" : "are"));
    return ExitStatus::kStopped;
  }
  if (!failed && report.refused + report.known + report.deleted + report.written_in_all() == 0) {
    tool.report({.code = ErrorCode::E_INVALID_FORMAT, .message = nothing_found(found)});
    failed = true;
  }
  return failed || report.refused != 0 ? ExitStatus::kFailed : ExitStatus::kDone;
}

/// What is wrong with the options, as a sentence; empty when nothing is.
std::string options_problem(const Arguments& args, ImportFormat format) {
  const auto from = args.maybe("from");
  const auto name = args.maybe("format");
  if (from && (format == nullptr || !format->is_source)) {
    return fmt::format("--from takes {}, not '{}'", import_names(false), *from);
  }
  if (name && find_import_format(*name) == nullptr) {
    return fmt::format("--format takes {}, not '{}'", import_names(true), *name);
  }
  if (from && name && *from != *name) {
    return "--from and --format name the same thing; give one of them";
  }
  if (args.positionals().empty() && format->places.empty()) {
    return from ? fmt::format("{} has no usual place; name the files to import", *from)
                : "name the files to import, or a client with --from";
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_import(Tool& tool) {
  if (tool.args().has("list")) {
    for (const ImportRow& row : import_rows()) {
      if (row.is_listed() && row.is_source) {
        show(tool, "import_format", shaped(shape::import_format, row, usual_place(&row)));
      }
    }
    return ExitStatus::kDone;
  }
  const auto from = tool.args().maybe("from");
  const ImportFormat format =
      find_import_format(from ? *from : tool.args().maybe("format").value_or("auto"));
  if (const std::string problem = options_problem(tool.args(), format); !problem.empty()) {
    return tool.wrong_usage(problem);
  }
  if (tool.args().has("session") && tool.args().value("session").empty()) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "session_id", "the session id is empty");
  }
  Result<MemoryManager> memory = tool.open();
  if (tool.args().has("dry-run") && !memory &&
      memory.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
    tool.note("there is no memory here yet, so it is not checked what it would refuse");
    return import_all(tool, format, nullptr);
  }
  BMAD_TRY_ASSIGN(MemoryManager opened, std::move(memory));
  return import_all(tool, format, &opened);
}

}  // namespace bmad_mem::cli
