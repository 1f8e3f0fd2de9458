// entries.cpp - reading entries: one by its id, its versions, what is related to it; lists, topics,
// and how many there are over time.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/lookup.hpp"
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
  add_entries(json, name, entries);
  add_incomplete(json, context.memory);
  json.end_object();
  return json_response(json.take());
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
  BMAD_TRY_ASSIGN(const std::vector<Entry> versions,
                  context.memory.history(id, named_session(call)));
  if (versions.empty()) {
    return no_such_entry(id);
  }
  return entries_response(context, call, "versions", versions);
}

Result<HttpResponse> http_related(ApiContext& context, const EndpointCall& call) {
  const EntryFilter filter = {.limit = static_cast<std::size_t>(call.number("limit"))};
  Result<std::vector<RelatedEntry>> related = context.memory.related(call.in_path("id"), filter);
  if (!related) {
    return related.error().field == "id" ? no_such_entry(call.in_path("id"))
                                         : std::move(related).error();
  }
  JsonWriter json;
  json.begin_object().key("related").begin_array();
  for (const RelatedEntry& each : *related) {
    json.begin_object().key("entry");
    write_entry(json, each.entry);
    json.member("relation", relation_name(each.relation)).member("relevance", each.relevance);
    json.end_object();
  }
  json.end_array();
  add_incomplete(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

/// By a query and not by list(): the indexes are in memory, and only what is shown is read.
Result<HttpResponse> http_list(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(ChosenEntries chosen, choose_entries(context, call));
  if (chosen.none) {
    return entries_response(context, call, "entries", {});
  }
  Query query;
  query.topics = call.texts("topic");
  query.filter = query_filter(std::move(chosen.filter));
  query.filter.limit = static_cast<std::size_t>(call.number("limit"));
  query.sort = SortOrder::kTimeDesc;
  query.snippet_size = 0;
  BMAD_TRY_ASSIGN(const std::vector<Hit> hits, context.memory.query(query));
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  json.key("entries").begin_array();
  for (const Hit& hit : hits) {
    write_entry(json, hit.entry);
  }
  json.end_array();
  add_unreadable(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_topics(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(ChosenEntries chosen, choose_entries(context, call));
  std::vector<TopicCount> topics;
  if (!chosen.none) {
    chosen.filter.limit = static_cast<std::size_t>(call.number("limit"));
    BMAD_TRY_ASSIGN(topics, context.memory.topics(chosen.filter));
  }
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  json.key("topics").begin_array();
  for (const TopicCount& topic : topics) {
    json.begin_object().member("topic", topic.topic).member("entries", topic.entries);
    json.member("sessions", topic.sessions);
    json.member("newest", format_rfc3339(topic.newest)).end_object();
  }
  json.end_array();
  add_incomplete(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_timeline(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(ChosenEntries chosen, choose_entries(context, call));
  std::vector<TimelineBucket> buckets;
  if (!chosen.none) {
    chosen.filter.limit = static_cast<std::size_t>(call.number("limit"));
    const TimelineUnit unit = unit_of(call.text("unit").value_or("day"));
    BMAD_TRY_ASSIGN(buckets, context.memory.timeline(chosen.filter, unit));
  }
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  json.key("buckets").begin_array();
  for (const TimelineBucket& bucket : buckets) {
    json.begin_object().member("begin", format_rfc3339(bucket.begin));
    json.member("total", bucket.total()).member("sessions", bucket.sessions).key("types");
    write_type_counts(json, bucket.entries);
    json.end_object();
  }
  json.end_array();
  add_incomplete(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

}  // namespace bmad_mem::cli
