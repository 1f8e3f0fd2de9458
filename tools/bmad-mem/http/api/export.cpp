// export.cpp - GET /memory/export: what `bmad-mem export` writes, streamed.
//
//   engine ─entry─> ExportWriter ─> Output ─> a file in memory ─> HttpBodyWriter, piece by piece
//
// The writers of the formats print to a file descriptor. So there is one, in memory, which is
// emptied whenever it holds enough, and never holds more than one session.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/program.hpp"
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
  for (const FormatInfo& format : kFormatInfos) {
    if (format.name == name) {
      return format;
    }
  }
  return kFormatInfos.front();
}

/// What is printed, on its way to the client.
class Relay {
 public:
  explicit Relay(HttpBodyWriter& client)
      : file_(::memfd_create("export", MFD_CLOEXEC)), out_(file_.number()), client_(client) {}

  [[nodiscard]] Output& out() { return out_; }

  /// Hands on what was printed, when it is much or `all` of it. Errors: the client has gone.
  Status hand_on(bool all) {
    if (all && !out_.flush()) {
      return gone(out_.error());
    }
    const off_t end = ::lseek(file_.number(), 0, SEEK_CUR);
    if (end < 0) {
      return gone(errno);
    }
    if (end < kPieceSize && !all) {
      return {};
    }
    std::string piece(static_cast<std::size_t>(end), '\0');
    if (::pread(file_.number(), piece.data(), piece.size(), 0) != end ||
        ::ftruncate(file_.number(), 0) != 0 || ::lseek(file_.number(), 0, SEEK_SET) != 0) {
      return gone(errno);
    }
    return piece.empty() || client_.write(piece) ? Status() : gone(EPIPE);
  }

 private:
  static constexpr off_t kPieceSize = off_t{64} * 1024;

  static Error gone(int os_error) {
    return {.message = "the client takes no more of the export", .os_error = os_error};
  }

  Descriptor file_;
  Output out_;
  HttpBodyWriter& client_;
};

class StreamingVisitor final : public ExportVisitor {
 public:
  StreamingVisitor(ExportWriter& writer, Relay& relay) : writer_(writer), relay_(relay) {}

  Status on_session(const Session& session) override {
    writer_.session(session);
    return relay_.hand_on(false);
  }
  Status on_entry(const Entry& entry) override {
    writer_.entry(entry);
    return relay_.hand_on(false);
  }
  Status on_session_end() override {
    writer_.end_session();
    return relay_.hand_on(true);
  }
  /// The headers Unreadable-Lines and Sealed-Entries have told how many there are.
  void on_problem(const Error& /*problem*/) override {}

 private:
  ExportWriter& writer_;
  Relay& relay_;
};

/// False: it broke off.
bool stream(const MemoryManager& memory, const ExportOptions& options, std::string_view format,
            HttpBodyWriter& client) {
  Relay relay(client);
  const std::unique_ptr<ExportWriter> writer =
      make_export_writer(format, relay.out(), system_clock().now());
  StreamingVisitor visitor(*writer, relay);
  writer->begin();
  const Result<ExportReport> report = memory.export_entries(options, visitor);
  if (!report) {
    return false;
  }
  writer->end();
  return relay.hand_on(true).has_value();
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
