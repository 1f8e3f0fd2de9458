// entries.cpp - finding entries: searched; one by its id, its versions, what is related to it;
// lists, topics, and how many there are over time; and all of them exported, streamed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/filters.hpp"
#include "cli/text.hpp"
#include "exchange/export/export_writer.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

TimelineUnit unit_of(std::string_view name) {
  return static_cast<TimelineUnit>(std::ranges::find(kTimelineUnits, name) -
                                   kTimelineUnits.begin());
}

}  // namespace

Result<HttpResponse> http_get(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries, entries_of_path(context, call));
  return read_response(context, call, "entries", shaped(shape::entry, entries));
}

Result<HttpResponse> http_history(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("id");
  BMAD_TRY_ASSIGN(std::vector<Entry> versions,
                  context.memory.history(id, call.texts("session_id")));
  if (versions.empty()) {
    return context.memory.no_entry(id);
  }
  return read_response(context, call, "versions", shaped(shape::entry, page_of(call).of(versions)));
}

Result<HttpResponse> http_related(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_entry_filter(call));
  BMAD_TRY_ASSIGN(const std::vector<RelatedEntry> related,
                  context.memory.related(call.in_path("id"), filter, call.count("depth")));
  return object_response("related", shaped(shape::related, related), "incomplete",
                         unread(context.memory));
}

/// By a query and not by list(): the indexes are in memory, and only what is shown is read.
Result<HttpResponse> http_list(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  Query query;
  query.topics = call.texts("topic");
  query.filter = query_filter(std::move(filter));
  query.sort = SortOrder::kTimeDesc;
  query.snippet_size = 0;
  BMAD_TRY_ASSIGN(const std::vector<Hit> hits, context.memory.query(query));
  return read_response(context, call, "entries", shaped(shape::found_entry, hits), "closed_lines",
                       closed_lines(context.memory, query.filter), "problems",
                       unread(context.memory));
}

Result<HttpResponse> http_topics(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  BMAD_TRY_ASSIGN(const std::vector<TopicCount> topics, context.memory.topics(filter));
  return read_response(context, call, "topics", shaped(shape::topic, topics));
}

Result<HttpResponse> http_timeline(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  BMAD_TRY_ASSIGN(const std::vector<TimelineBucket> buckets,
                  context.memory.timeline(filter, unit_of(call.text("unit"))));
  return read_response(context, call, "buckets", shaped(shape::timeline_bucket, buckets));
}

namespace {

SortOrder sort_of(const EndpointCall& call, bool has_words) {
  const std::string sort = call.text("sort");
  if (sort == "relevance" || (sort.empty() && has_words)) {
    return SortOrder::kRelevanceDesc;
  }
  return sort == "oldest" ? SortOrder::kTimeAsc : SortOrder::kTimeDesc;
}

/// More hits than these are not counted: to count is to find them all.
constexpr std::size_t kCountedMax = 1000;

/// How many entries are hits of `query`, in total and by type.
Result<RawJson> hit_counts(const MemoryManager& memory, Query query) {
  query.filter.limit = kCountedMax + 1;
  query.ids_only = true;
  query.explain = false;
  query.snippet_size = 0;
  BMAD_TRY_ASSIGN(const std::vector<Hit> hits, memory.query(query));
  std::array<std::uint64_t, kEntryTypeCount> types{};
  for (const Hit& hit : hits) {
    ++types[static_cast<std::size_t>(hit.entry.type)];
  }
  return raw_object("total", std::min(hits.size(), kCountedMax), "is_least",
                    hits.size() > kCountedMax, "types", all_by_type(types));
}

Result<HttpResponse> as_response(const ApiContext& context, const EndpointCall& call,
                                 const Query& query, const QueryAnswer& answer) {
  std::optional<RawJson> counts;
  if (call.boolean("counts")) {
    BMAD_TRY_ASSIGN(counts, hit_counts(context.memory, query));
  }
  return read_response(context, call, "hits", shaped(shape::hit, answer.hits),
                       shaped(shape::certainty, answer), "counts", counts, "notes", answer.notes,
                       "instead", answer.instead, "as_prose",
                       shaped(shape::prose_reading, answer.as_prose), "encoder",
                       shaped(shape::encoder, answer.encoder), "problems", unread(context.memory));
}

}  // namespace

Result<HttpResponse> http_query(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  const std::string words = call.text("q");
  Query query;
  query.text = words;
  query.topics = call.texts("topic");
  const bool has_words = words.find_first_not_of(' ') != std::string_view::npos;
  query.filter = has_words ? std::move(filter) : query_filter(std::move(filter));
  query.filter.limit = page_of(call).end();
  query.filter.offset = 0;
  query.sort = sort_of(call, has_words);
  query.min_relevance = call.share("min_score").value_or(0);
  query.explain = call.boolean("explain");
  query.use_encoder = !call.boolean("no_encoder");
  Result<QueryAnswer> answer = context.memory.ask(query);
  if (!answer) {
    Error error = std::move(answer).error();
    error.field = error.field == "text" ? "q" : error.field;
    return error;
  }
  const std::size_t skipped = std::min(call.count("offset"), answer->hits.size());
  answer->hits.erase(answer->hits.begin(),
                     answer->hits.begin() + static_cast<std::ptrdiff_t>(skipped));
  return as_response(context, call, query, *answer);
}

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
  writer->begin();
  // The headers Unreadable-Lines and Encrypted-Entries have told how many problems there are.
  const Result<ExportReport> report = memory.export_entries(options, *writer);
  if (!report) {
    return false;
  }
  writer->end();
  return out.flush();
}

/// How much can't be read, in all sessions or in those: nobody must take the export for whole.
Result<std::uint64_t> unreadable(const MemoryManager& memory,
                                 const std::vector<std::string>& sessions) {
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(const GlobalStatistics all, memory.global_statistics());
    return all.problems.size() + sum_of(all.sessions, &SessionStatistics::damaged_lines);
  }
  std::uint64_t count = 0;
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
        {.name = "Encrypted-Entries", .value = fmt::format("{}", closed_count)});
  }
  response.write_body = [&memory = context.memory, options = std::move(options),
                         name = format.name](HttpBodyWriter& client) {
    return stream(memory, options, name, client);
  };
  return response;
}

}  // namespace bmad_mem::cli
