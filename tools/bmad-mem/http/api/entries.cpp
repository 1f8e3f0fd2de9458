// entries.cpp - finding entries: searched; one by its id, its versions, what is related to it;
// lists, topics, and how many there are over time.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "cli/views.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

HttpResponse entries_response(const ApiContext& context, const EndpointCall& call,
                              std::string_view name, std::span<const Entry> entries) {
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  add_array(json, name, entries, write_entry);
  add_incomplete(json, context.memory);
  return object_response(json);
}

TimelineUnit unit_of(std::string_view name) {
  if (name == "hour") {
    return TimelineUnit::kHour;
  }
  if (name == "week") {
    return TimelineUnit::kWeek;
  }
  return name == "month" ? TimelineUnit::kMonth : TimelineUnit::kDay;
}

}  // namespace

Result<HttpResponse> http_get(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries, entries_of_path(context, call));
  return entries_response(context, call, "entries", entries);
}

Result<HttpResponse> http_history(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("id");
  BMAD_TRY_ASSIGN(std::vector<Entry> versions,
                  context.memory.history(id, call.texts("session_id")));
  if (versions.empty()) {
    return context.memory.no_entry(id);
  }
  const auto offset = std::min(static_cast<std::size_t>(call.number("offset")), versions.size());
  versions.erase(versions.begin(), versions.begin() + static_cast<std::ptrdiff_t>(offset));
  const auto limit = static_cast<std::size_t>(call.number("limit"));
  versions.resize(limit == 0 ? versions.size() : std::min(versions.size(), limit));
  return entries_response(context, call, "versions", versions);
}

Result<HttpResponse> http_related(ApiContext& context, const EndpointCall& call) {
  const EntryFilter filter = {.limit = static_cast<std::size_t>(call.number("limit")),
                              .offset = static_cast<std::size_t>(call.number("offset"))};
  BMAD_TRY_ASSIGN(const std::vector<RelatedEntry> related,
                  context.memory.related(call.in_path("id"), filter,
                                         static_cast<std::size_t>(call.number("depth"))));
  JsonWriter json;
  json.begin_object();
  add_array(json, "related", related, [&](const RelatedEntry& each) {
    json.begin_object().key("entry");
    write_entry(json, each.entry);
    json.member("relation", relation_name(each.relation)).member("relevance", each.relevance);
    if (is_typed(each.relation)) {
      json.member("depth", std::uint64_t{each.depth}).member("via", each.via);
    }
    json.end_object();
  });
  add_incomplete(json, context.memory);
  return object_response(json);
}

/// By a query and not by list(): the indexes are in memory, and only what is shown is read.
Result<HttpResponse> http_list(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  Query query;
  query.topics = call.texts("topic");
  query.filter = query_filter(std::move(filter));
  query.filter.limit = static_cast<std::size_t>(call.number("limit"));
  query.filter.offset = static_cast<std::size_t>(call.number("offset"));
  query.sort = SortOrder::kTimeDesc;
  query.snippet_size = 0;
  BMAD_TRY_ASSIGN(const std::vector<Hit> hits, context.memory.query(query));
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  add_array(json, "entries", hits, write_entry_found);
  add_closed_lines(json, context.memory, query.filter);
  add_unreadable(json, context.memory);
  return object_response(json);
}

Result<HttpResponse> http_topics(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  filter.limit = static_cast<std::size_t>(call.number("limit"));
  filter.offset = static_cast<std::size_t>(call.number("offset"));
  BMAD_TRY_ASSIGN(const std::vector<TopicCount> topics, context.memory.topics(filter));
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  add_array(json, "topics", topics, [&](const TopicCount& topic) {
    json.begin_object().member("topic", topic.topic).member("entries", topic.entries);
    json.member("sessions", topic.sessions);
    json.member("newest", format_rfc3339(topic.newest)).end_object();
  });
  add_incomplete(json, context.memory);
  return object_response(json);
}

Result<HttpResponse> http_timeline(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  filter.limit = static_cast<std::size_t>(call.number("limit"));
  filter.offset = static_cast<std::size_t>(call.number("offset"));
  BMAD_TRY_ASSIGN(const std::vector<TimelineBucket> buckets,
                  context.memory.timeline(filter, unit_of(call.text("unit").value_or("day"))));
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  add_array(json, "buckets", buckets, [&](const TimelineBucket& bucket) {
    json.begin_object().member("begin", format_rfc3339(bucket.begin));
    json.member("total", bucket.total()).member("sessions", bucket.sessions).key("types");
    write_type_counts(json, bucket.entries);
    json.end_object();
  });
  add_incomplete(json, context.memory);
  return object_response(json);
}

namespace {

SortOrder sort_of(const EndpointCall& call, bool has_words) {
  const std::string_view sort = call.text("sort").value_or(has_words ? "relevance" : "newest");
  if (sort == "relevance") {
    return SortOrder::kRelevanceDesc;
  }
  return sort == "newest" ? SortOrder::kTimeDesc : SortOrder::kTimeAsc;
}

/// More hits than these are not counted: to count is to find them all.
constexpr std::size_t kCountedMax = 1000;

/// How many entries are hits of `query`, in total and by type.
Status add_hit_counts(JsonWriter& json, const MemoryManager& memory, Query query) {
  query.filter.limit = kCountedMax + 1;
  query.ids_only = true;
  query.explain = false;
  query.snippet_size = 0;
  BMAD_TRY_ASSIGN(const std::vector<Hit> hits, memory.query(query));
  std::array<std::uint64_t, kEntryTypeCount> types{};
  for (const Hit& hit : hits) {
    ++types[static_cast<std::size_t>(hit.entry.type)];
  }
  json.key("counts").begin_object();
  json.member("total", std::uint64_t{std::min(hits.size(), kCountedMax)});
  json.member("is_least", hits.size() > kCountedMax).key("types");
  write_type_counts(json, types);
  json.end_object();
  return {};
}

Result<HttpResponse> as_response(const ApiContext& context, const EndpointCall& call,
                                 const Query& query, const QueryAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  add_array(json, "hits", answer.hits, write_hit);
  if (answer.certainty) {
    json.member("certainty", certainty_name(*answer.certainty));
  }
  if (call.flag("counts")) {
    BMAD_TRY(add_hit_counts(json, context.memory, query));
  }
  add_list(json, "notes", answer.notes);
  add_list(json, "instead", answer.instead);
  add_array(json, "as_prose", answer.as_prose, [&](const ProseReading& reading) {
    json.begin_object()
        .member("text", utf8_repaired(reading.text))
        .member("offset", reading.offset);
    json.member("size", reading.size).member("why", reading.why).end_object();
  });
  add_encoder(json, answer.encoder);
  add_unreadable(json, context.memory);
  return object_response(json);
}

}  // namespace

Result<HttpResponse> http_query(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, choose_entries(context, call));
  const std::string_view words = call.text("q").value_or("");
  Query query;
  query.text = words;
  query.topics = call.texts("topic");
  const bool has_words = words.find_first_not_of(' ') != std::string_view::npos;
  query.filter = has_words ? std::move(filter) : query_filter(std::move(filter));
  const auto offset = static_cast<std::size_t>(call.number("offset"));
  query.filter.limit = offset + static_cast<std::size_t>(call.number("k"));
  query.sort = sort_of(call, has_words);
  query.min_relevance = call.share("min_score");
  query.explain = call.flag("explain");
  query.use_encoder = !call.flag("no_encoder");
  Result<QueryAnswer> answer = context.memory.ask(query);
  if (!answer) {
    Error error = std::move(answer).error();
    error.field = error.field == "text" ? "q" : error.field;
    return error;
  }
  const std::size_t skipped = std::min(offset, answer->hits.size());
  answer->hits.erase(answer->hits.begin(),
                     answer->hits.begin() + static_cast<std::ptrdiff_t>(skipped));
  return as_response(context, call, query, *answer);
}

}  // namespace bmad_mem::cli
