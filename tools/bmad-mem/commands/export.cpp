// export - writes entries out, all of them or some, in a format for programs or for people.
#include <memory>
#include <string>
#include <vector>

#include "cli/filters.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/files.hpp"
#include "exchange/graph/graph.hpp"

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
  std::vector<Error> problems;
  Result<ExportReport> report = [&] {
    Progress progress(tool, "export");
    WritingVisitor visitor(writer.get(), out, &progress, problems);
    writer->begin();
    Result<ExportReport> done = memory.export_entries(options, visitor);
    writer->end();
    return done;
  }();
  for (const Error& problem : problems) {
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

}  // namespace bmad_mem::cli
