// export.cpp - GET /memory/export: what `bmad-mem export` writes, streamed.
//
//   engine ─entry─> ExportWriter ─> Output ─> HttpBodyWriter, piece by piece
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "exchange/export/export_writer.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {
namespace {

/// How an export is called and what it is.
struct FormatInfo {
  std::string_view name;
  std::string_view extension;
  std::string_view media_type;
};
constexpr std::array<FormatInfo, 5> kFormatInfos = {{
    {"jsonl", "jsonl", "application/jsonl"},
    {"json", "json", "application/json"},
    {"yaml", "yaml", "application/yaml"},
    {"markdown", "md", "text/markdown; charset=utf-8"},
    {"csv", "csv", "text/csv; charset=utf-8"},
}};

const FormatInfo& format_info(std::string_view name) {
  const auto* const found = std::ranges::find(kFormatInfos, name, &FormatInfo::name);
  return found == kFormatInfos.end() ? kFormatInfos.front() : *found;
}

/// False: it broke off.
bool stream(const MemoryManager& memory, const ExportOptions& options, std::string_view format,
            HttpBodyWriter& client) {
  Output out([&](std::string_view piece) { return client.write(piece); });
  const std::unique_ptr<ExportWriter> writer =
      make_export_writer(format, out, system_clock().now());
  // The headers Unreadable-Lines and Sealed-Entries have told how many there are.
  std::vector<Error> problems;
  WritingVisitor visitor(writer.get(), out, /*progress=*/nullptr, problems);
  writer->begin();
  const Result<ExportReport> report = memory.export_entries(options, visitor);
  if (!report) {
    return false;
  }
  writer->end();
  return out.flush();
}

/// How much can't be read, in all sessions or in those: nobody must take the export for whole.
Result<std::uint64_t> unreadable(const MemoryManager& memory,
                                 const std::vector<std::string>& sessions) {
  std::uint64_t count = 0;
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(const GlobalStatistics all, memory.global_statistics());
    count = all.problems.size();
    for (const SessionStatistics& session : all.sessions) {
      count += session.damaged_lines();
    }
    return count;
  }
  for (const std::string& id : sessions) {
    BMAD_TRY_ASSIGN(const SessionStatistics session, memory.statistics(id));
    count += session.damaged_lines();
  }
  return count;
}

}  // namespace

Result<HttpResponse> http_export(ApiContext& context, const EndpointCall& call) {
  const FormatInfo& format = format_info(call.text("format"));
  ExportOptions options;
  BMAD_TRY_ASSIGN(options.filter, read_entry_filter(call));
  const bool is_filtered = !options.filter.sessions.empty() || !options.filter.types.empty() ||
                           options.filter.since || options.filter.until || options.filter.as_of;
  options.all_versions = call.value("versions").present() ? call.boolean("versions")
                                                          : format.name == "jsonl" && !is_filtered;
  // Here and not while it streams: then it is too late to say so.
  BMAD_TRY_ASSIGN(const std::uint64_t unreadable_count,
                  unreadable(context.memory, options.filter.sessions));
  BMAD_TRY_ASSIGN(const std::uint64_t closed_count, context.memory.closed_entries(options.filter));
  HttpResponse response;
  response.content_type = format.media_type;
  response.headers.push_back({.name = "Content-Disposition",
                              .value = fmt::format("attachment; filename=\"memory-{}.{}\"",
                                                   format_date(call.now()), format.extension)});
  if (unreadable_count != 0) {
    response.headers.push_back(
        {.name = "Unreadable-Lines", .value = fmt::format("{}", unreadable_count)});
  }
  if (closed_count != 0) {
    response.headers.push_back(
        {.name = "Sealed-Entries", .value = fmt::format("{}", closed_count)});
  }
  response.write_body = [&memory = context.memory, options = std::move(options),
                         name = format.name](HttpBodyWriter& client) {
    return stream(memory, options, name, client);
  };
  return response;
}

}  // namespace bmad_mem::cli
