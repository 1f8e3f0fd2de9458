// search.cpp - GET /memory/search.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/utf8.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

SortOrder sort_of(const EndpointCall& call, bool has_words) {
  const std::string_view sort = call.text("sort").value_or(has_words ? "relevance" : "newest");
  if (sort == "relevance") {
    return SortOrder::kRelevanceDesc;
  }
  return sort == "newest" ? SortOrder::kTimeDesc : SortOrder::kTimeAsc;
}

HttpResponse as_response(const ApiContext& context, const EndpointCall& call,
                         const QueryAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  json.key("hits").begin_array();
  for (const Hit& hit : answer.hits) {
    write_hit(json, hit);
  }
  json.end_array().key("notes").begin_array();
  for (const std::string& note : answer.notes) {
    json.string(note);
  }
  json.end_array().key("instead").begin_array();
  for (const std::string& note : answer.instead) {
    json.string(note);
  }
  json.end_array().key("as_prose").begin_array();
  for (const ProseReading& reading : answer.as_prose) {
    json.begin_object()
        .member("text", utf8_repaired(reading.text))
        .member("offset", reading.offset);
    json.member("size", reading.size).member("why", reading.why).end_object();
  }
  json.end_array();
  add_unreadable(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

}  // namespace

Result<HttpResponse> http_query(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(ChosenEntries chosen, choose_entries(context, call));
  if (chosen.none) {
    return as_response(context, call, {});
  }
  const std::string_view words = call.text("q").value_or("");
  Query query;
  query.text = words;
  query.topics = call.texts("topic");
  const bool has_words = words.find_first_not_of(' ') != std::string_view::npos;
  query.filter = has_words ? std::move(chosen.filter) : query_filter(std::move(chosen.filter));
  query.filter.limit = static_cast<std::size_t>(call.number("k"));
  query.sort = sort_of(call, has_words);
  query.min_relevance = call.share("min_score");
  query.explain = call.flag("explain");
  Result<QueryAnswer> answer = context.memory.ask(query);
  if (!answer) {
    Error error = std::move(answer).error();
    error.field = error.field == "text" ? "q" : error.field;
    return error;
  }
  return as_response(context, call, *answer);
}

}  // namespace bmad_mem::cli
