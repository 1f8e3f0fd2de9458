// session_reading.cpp - what happened in a session: its entries in order, its summary, the
// documents that it keeps.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/summary.hpp"
#include "bmad_mem/text.hpp"
#include "cli/program.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// How many entries there are in each hour that has any, oldest first.
std::vector<TimelineBucket> density_of(const std::vector<Entry>& entries) {
  std::map<Timestamp, TimelineBucket> hours;
  for (const Entry& entry : entries) {
    const Timestamp hour = std::chrono::floor<std::chrono::hours>(entry.timestamp);
    TimelineBucket& bucket = hours[hour];
    bucket.begin = hour;
    ++bucket.entries[static_cast<std::size_t>(entry.type)];
  }
  const auto buckets = std::views::values(hours);
  return {buckets.begin(), buckets.end()};
}

Error no_document(const Entry& entry) {
  return field_error(ErrorCode::E_ENTRY_NOT_FOUND, "id",
                     fmt::format("{} keeps no document; its path says where one may be", entry.id));
}

/// Opens root/sessions/{session}/artifacts/{id}.md, step by step, so that no link leads elsewhere.
Result<Descriptor> open_document(const std::string& root, const Entry& entry) {
  Descriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& step :
       {std::string("sessions"), entry.session_id, std::string("artifacts")}) {
    if (!folder.is_open()) {
      break;
    }
    folder = Descriptor(
        ::openat(folder.number(), step.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!folder.is_open()) {
    return no_document(entry);
  }
  Descriptor file(::openat(folder.number(), (entry.id + ".md").c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file.is_open() || ::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return no_document(entry);
  }
  return file;
}

Result<std::string> read_document(const std::string& root, const Entry& entry) {
  BMAD_TRY_ASSIGN(const Descriptor file, open_document(root, entry));
  std::string text;
  if (!read_bytes(file, MemoryManager::kArtifactSizeMax, text)) {
    return Error{.message = fmt::format("cannot read the document of {}: {}", entry.id,
                                        std::strerror(errno)),  // NOLINT(concurrency-mt-unsafe)
                 .os_error = errno};
  }
  return utf8_repaired(text);
}

}  // namespace

Result<HttpResponse> http_session_timeline(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_entry_filter(call));
  filter.sessions = {std::string(call.in_path("session_id"))};
  filter.limit = 0;
  filter.with_outdated = true;
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, context.memory.list(filter));
  std::ranges::reverse(entries);
  auto first = entries.begin();
  if (const std::string after = call.text("after"); !after.empty()) {
    first = std::ranges::find(entries, after, &Entry::id);
    if (first == entries.end()) {
      return invalid_query("after",
                           fmt::format("no entry {} passes the other filters; leave it out to "
                                       "begin with the oldest",
                                       utf8_prefix(after, 200)));
    }
    ++first;
  }
  const auto left = static_cast<std::size_t>(entries.end() - first);
  const std::size_t count = std::min(left, call.count("limit"));
  return object_response("entries", shaped(shape::entry, std::span(first, count)), "more",
                         count < left, "closed_lines", closed_lines(context.memory, filter),
                         "density", shaped(shape::hour, density_of(entries)));
}

Result<HttpResponse> http_summary_show(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("session_id");
  Summaries summaries(context.memory);
  BMAD_TRY_ASSIGN(const SummaryStatus status, summaries.status(id));
  std::string text;
  if (status.exists) {  // Else show() would make one.
    BMAD_TRY_ASSIGN(text, summaries.show(id));
  }
  return object_response("exists", status.exists && !status.is_template, "markdown",
                         without_front_matter(text), "status",
                         shaped(shape::summary_state, status));
}

Result<HttpResponse> http_artifact_get(ApiContext& context, const EndpointCall& call) {
  const std::string session(call.in_path("session_id"));
  const std::string id(call.in_path("id"));
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries, context.memory.get({&id, 1}, {&session, 1}));
  const auto entry = std::ranges::find(entries, EntryType::kArtifact, &Entry::type);
  if (entry == entries.end()) {
    return context.memory.no_entry(id);
  }
  BMAD_TRY_ASSIGN(std::string text, read_document(context.memory.root(), *entry));
  BMAD_TRY_ASSIGN(text, context.memory.document_text(entry->session_id, std::move(text)));
  HttpResponse response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

}  // namespace bmad_mem::cli
