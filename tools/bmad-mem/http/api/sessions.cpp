// sessions.cpp - sessions as a whole: what there is, one in numbers, making, closing, archiving;
// deleting them and entries, bringing these back, pinning them; and what happened in one: its
// entries in order, its summary, the documents that it keeps.
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

#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
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

/// The member "metadata" as JSON; the memory says what is wrong with it. Empty without it.
std::string metadata_of(const EndpointCall& call) {
  const JsonValue metadata = call.value("metadata");
  return metadata.present() ? json_of(metadata) : std::string();
}

}  // namespace

Result<HttpResponse> http_session_list(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, context.memory.list_sessions());
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, context.memory.archived_sessions());
  std::ranges::stable_sort(sessions, std::ranges::greater(), &Session::last_write);
  const auto shown = [&](const Session& session) { return session_json(context.memory, session); };
  return object_response("sessions", page_of(call).of(sessions) | std::views::transform(shown),
                         "archived", shaped(shape::archived_session, archived), "total",
                         sessions.size());
}

Result<HttpResponse> http_session_new(ApiContext& context, const EndpointCall& call) {
  const SessionParams params{.session_id = call.text("session_id"),
                             .user_id = call.text("user_id"),
                             .agent_ids = call.texts("agent_ids"),
                             .project_name = call.text("project_name"),
                             .session_type = call.text("session_type"),
                             .tags = call.texts("tags"),
                             .title = call.text("title"),
                             .metadata_json = metadata_of(call)};
  BMAD_TRY_ASSIGN(const std::string id, context.memory.create_session(params));
  return object_response("session_id", id, "maintained",
                         shaped(shape::any_action, context.memory.maintained_by_the_way()));
}

Result<HttpResponse> http_session_set(ApiContext& context, const EndpointCall& call) {
  SessionChange change;
  if (call.value("title").present()) {
    change.title = call.text("title");
  }
  change.metadata_json = metadata_of(call);
  if (!change.title && change.metadata_json.empty()) {
    return bad_argument("title", "is required, or metadata: what to change");
  }
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.update_session(call.in_path("session_id"), change));
  return object_response("session_id", session.session_id, "session",
                         session_json(context.memory, session));
}

Result<HttpResponse> http_session_show(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("session_id");
  BMAD_TRY_ASSIGN(const Session session, context.memory.load_session(id));
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, context.memory.statistics(id));
  return object_response("session", session_json(context.memory, session, statistics.entries()),
                         "statistics", shaped(shape::statistics_of_session, statistics), "manifest",
                         raw_json(session.manifest));
}

Result<HttpResponse> http_session_close(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session, context.memory.close_session(call.in_path("session_id")));
  return object_response("session_id", session.session_id, "closed_at", session.closed_at,
                         "maintained",
                         shaped(shape::any_action, context.memory.maintained_by_the_way()));
}

Result<HttpResponse> http_session_archive(ApiContext& context, const EndpointCall& call) {
  const ArchiveOptions options = {.dry_run = call.boolean("dry_run")};
  BMAD_TRY_ASSIGN(const ArchiveReport report,
                  context.memory.archive_session(call.in_path("session_id"), options));
  return object_response(shaped(shape::archive_report, report, options.dry_run));
}

Result<HttpResponse> http_session_restore(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.restore_session(call.in_path("session_id")));
  return object_response("session_id", session.session_id, "session",
                         session_json(context.memory, session));
}

namespace {

/// The entries as they are now: what a pin reports has the line and the versions from before.
Result<std::vector<Entry>> read_again(const MemoryManager& memory,
                                      const std::vector<Entry>& entries) {
  std::vector<Entry> out;
  for (const Entry& entry : entries) {
    BMAD_TRY_ASSIGN(std::vector<Entry> found, memory.get({&entry.id, 1}, {&entry.session_id, 1}));
    for (Entry& each : found) {
      if (each.type == entry.type) {
        out.push_back(std::move(each));
      }
    }
  }
  return out;
}

DeleteOptions delete_options(const EndpointCall& call) {
  return {.dry_run = call.boolean("dry_run"), .purge = call.boolean("purge")};
}

}  // namespace

Result<HttpResponse> http_delete(ApiContext& context, const EndpointCall& call) {
  const DeletionCriteria criteria{.ids = {std::string(call.in_path("id"))},
                                  .sessions = call.texts("session_id")};
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report, context.memory.delete_entries(criteria, options));
  if (report.removed.empty() && report.elsewhere.empty()) {
    return context.memory.no_entry(call.in_path("id"));
  }
  return object_response(shaped(shape::deletion_report, report, options.dry_run));
}

Result<HttpResponse> http_session_delete(ApiContext& context, const EndpointCall& call) {
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report,
                  context.memory.delete_session(call.in_path("session_id"), options));
  return object_response(shaped(shape::deletion_report, report, options.dry_run));
}

Result<HttpResponse> http_undelete(ApiContext& context, const EndpointCall& call) {
  const UndeleteCriteria criteria = {.ids = call.texts("ids"), .sessions = call.texts("sessions")};
  if (criteria.ids.empty() && criteria.sessions.empty()) {
    return bad_argument("ids", "is required, or sessions: what to bring back");
  }
  BMAD_TRY_ASSIGN(const UndeleteReport report, context.memory.undelete(criteria));
  if (report.lines == 0 && report.sessions.empty() && report.left_behind.empty()) {
    return field_error(
        criteria.ids.empty() ? ErrorCode::E_SESSION_NOT_FOUND : ErrorCode::E_ENTRY_NOT_FOUND,
        criteria.ids.empty() ? "sessions" : "ids",
        "there is no deletion of that name, or it was purged");
  }
  return object_response(shaped(shape::undelete, report));
}

Result<HttpResponse> http_pin(ApiContext& context, const EndpointCall& call) {
  std::vector<std::string> ids = call.texts("ids");
  if (std::string id = call.text("id"); !id.empty()) {
    ids.push_back(std::move(id));
  }
  if (ids.empty()) {
    return bad_argument("id", "is required, or ids: which entries");
  }
  const bool pinned = call.boolean("pinned");
  BMAD_TRY_ASSIGN(const PinReport report,
                  context.memory.pin(ids, pinned, call.listed("session_id")));
  if (report.changed.empty() && report.unchanged.empty()) {
    return context.memory.no_entry(ids.front());
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> changed, read_again(context.memory, report.changed));
  return object_response("changed", shaped(shape::entry, changed), "unchanged",
                         shaped(shape::entry, report.unchanged), "unknown_ids", report.unknown_ids);
}

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
    folder = Descriptor(  // Below none there is none.
        ::openat(folder.number(), step.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
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
  return HttpResponse{.content_type = "text/plain; charset=utf-8", .body = std::move(text)};
}

}  // namespace bmad_mem::cli
