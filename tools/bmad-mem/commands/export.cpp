// export.cpp - entries are written out, all of them or some, in a format for programs or for
// people; with pseudonyms for people, hosts and places, also in the memory itself.
#include <sodium.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/files.hpp"
#include "exchange/graph/graph.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

bool has_filters(const Arguments& args) {
  for (const std::string_view name :
       {"session", "type", "agent", "tag", "since", "until", "as-of", "pinned", "no-sensitive"}) {
    if (args.has(name)) {
      return true;
    }
  }
  return false;
}

Result<ExitStatus> export_to(Tool& tool, const MemoryManager& memory, const ExportOptions& options,
                             std::string_view format, Output& out) {
  const std::unique_ptr<ExportWriter> writer =
      make_export_writer(format, out, system_clock().now());
  tool.keep_format();
  Result<ExportReport> report = [&] {
    Progress progress(tool, "export");
    writer->progress = &progress;
    writer->begin();
    Result<ExportReport> done = memory.export_entries(options, *writer);
    writer->end();
    return done;
  }();
  for (const Error& problem : writer->problems) {
    tool.leave_out(problem);
  }
  if (!report && out.error() == 0) {
    return std::move(report).error();
  }
  if (!report) {
    return ExitStatus::kFailed;  // Who wrote to `out` says why it could not be written.
  }
  return describe(tool, "exported", "archived", report->archived.size(), "sensitive",
                  report->sensitive, "without_sensitive", options.filter.without_sensitive);
}

}  // namespace

Result<ExitStatus> run_export(Tool& tool, MemoryManager& memory) {
  const std::string_view format = tool.args().maybe("format").value_or("jsonl");
  ExportOptions options;
  BMAD_TRY_ASSIGN(options.filter, read_filter(tool.args(), system_clock().now()));
  options.archived = tool.args().has("archived");
  options.all_versions =
      tool.args().has("all-versions") || (format == "jsonl" && !has_filters(tool.args()));
  if (format == "server-memory") {
    options.all_versions = true;  // Only then they come in the order of the log.
  }
  if (format == "server-memory" && options.filter.sessions.empty()) {
    BMAD_TRY_ASSIGN(options.filter.sessions, graph_sessions(memory));
    options.archived = true;
    if (options.filter.sessions.empty()) {
      return path_error(ErrorCode::E_SESSION_NOT_FOUND, memory.root(),
                        "there is no graph in this memory: it would be in the session "
                        "server-memory; --session ID chooses another one");
    }
  }
  const auto path = tool.args().maybe("output");
  if (!path || *path == "-") {
    return export_to(tool, memory, options, format, tool.out());
  }
  BMAD_TRY_ASSIGN(OutputFile file,
                  OutputFile::create(std::string(*path), tool.args().has("force")));
  BMAD_TRY_ASSIGN(const ExitStatus status, export_to(tool, memory, options, format, file.out()));
  BMAD_TRY(file.commit());
  return status;
}

namespace {

using Key = std::array<unsigned char, 16>;

Error key_error(std::string_view why, const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_IO, path,
                    fmt::format("cannot use it as key file: {}", why));
}

/// The key in a file, 32 hexadecimal digits; a new one when there is no such file.
Result<Key> load_key(const std::string& path) {
  Key key{};
  if (::access(path.c_str(), F_OK) == 0) {
    BMAD_TRY_ASSIGN(const std::string text, read_whole_file(path));
    if (text.size() < 2 * key.size() ||
        sodium_hex2bin(key.data(), key.size(), text.data(), 2 * key.size(), nullptr, nullptr,
                       nullptr) != 0) {
      return key_error("it must hold 32 hexadecimal digits", path);
    }
    return key;
  }
  randombytes_buf(key.data(), key.size());
  BMAD_TRY_ASSIGN(OutputFile file, OutputFile::create(path, false));
  for (const unsigned char byte : key) {
    file.out().print("{:02x}", byte);
  }
  file.out().write("\n");
  BMAD_TRY(file.commit());
  return key;
}

/// The project around a memory that lies in its .bmad/memory.
std::string workspace_folder(const std::string& root) {
  return project_folder(root.starts_with('/') ? root
                                              : fmt::format("{}/{}", working_directory(), root));
}

/// On stderr where stdout holds the export.
void show(Tool& tool, const AnonymizeReport& report, bool on_stdout, bool dry_run) {
  if (tool.json() && !on_stdout) {
    return;
  }
  static constexpr std::string_view kKinds[] = {"name", "project", "tag", "id"};
  const auto stays = mapped(kKinds, [&](std::string_view kind) {
    const auto is_of_kind = [&](const AnonymizeLeft& left) { return left.kind == kind; };
    return raw_object("kind", kind, "texts",
                      mapped_if(report.left, is_of_kind, &AnonymizeLeft::text));
  });
  show(tool, "anonymized", shaped(shape::anonymization, report, dry_run), "on_stdout", on_stdout,
       "stays", stays);
}

Result<ExitStatus> finished(Tool& tool, const Result<AnonymizeReport>& report,
                            const std::vector<Error>& problems, bool on_stdout, bool dry_run) {
  tool.report_all(problems);
  if (!report) {
    return report.error();
  }
  show(tool, *report, on_stdout, dry_run);
  return report->problems == 0 ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> export_placeholders_to(Tool& tool, const MemoryManager& memory,
                                          const AnonymizeOptions& options, Output& out) {
  const Timestamp now = system_clock().now();
  const auto writer = options.dry_run ? std::make_unique<ExportWriter>(out, now)
                                      : make_export_writer("jsonl", out, now);
  const Result<AnonymizeReport> report = [&] {
    Progress progress(tool, "anonymize");
    writer->progress = &progress;
    return memory.export_anonymized(options, *writer);
  }();
  if (!report && out.error() != 0) {
    return ExitStatus::kFailed;  // Who wrote to `out` says why it could not be written.
  }
  return finished(tool, report, writer->problems, options.dry_run, options.dry_run);
}

Result<ExitStatus> rewrite(Tool& tool, MemoryManager& memory, const AnonymizeOptions& options) {
  if (!options.dry_run &&
      !is_confirmed(tool, "replace names in the memory itself? There is no way back.")) {
    return ExitStatus::kFailed;
  }
  std::vector<Error> problems;
  const Result<AnonymizeReport> report =
      memory.anonymize(options, [&](const Error& problem) { problems.push_back(problem); });
  return finished(tool, report, problems, true, options.dry_run);
}

}  // namespace

Result<ExitStatus> run_anonymize(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  const std::string_view paths = args.maybe("paths").value_or("outside");
  AnonymizeOptions options{.all_paths = paths == "all", .dry_run = args.has("dry-run")};
  options.sessions = args.all("session");
  options.workspace = workspace_folder(memory.root());
  note_encrypted(tool, memory, options.sessions);
  if (const auto path = args.maybe("key-file")) {
    BMAD_TRY_ASSIGN(options.key, load_key(std::string(*path)));
  }
  if (args.has("in-place")) {
    return rewrite(tool, memory, options);
  }
  const auto path = args.maybe("output");
  if (!path || *path == "-" || options.dry_run) {
    return export_placeholders_to(tool, memory, options, tool.out());
  }
  BMAD_TRY_ASSIGN(OutputFile file, OutputFile::create(std::string(*path), args.has("force")));
  BMAD_TRY_ASSIGN(const ExitStatus status,
                  export_placeholders_to(tool, memory, options, file.out()));
  BMAD_TRY(file.commit());
  return status;
}

}  // namespace bmad_mem::cli
