// knowledge.cpp - what agents have learned: recalled, stated, reviewed, extracted, and put together
// for a prompt.
#include "bmad_mem/knowledge.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/letter_case.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "cli/views.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

/// The members of something that was learned, of the object that is open.
void add_remembered(JsonWriter& json, const Remembered& learned) {
  json.member("id", learned.id).member("session_id", learned.session_id);
  json.member("category", category_name(learned.category)).member("key", learned.key);
  json.member("value", learned.value).member("confidence", learned.confidence);
  json.member("is_new", learned.is_new);
  add_text(json, "review", review_name(learned.review));
}

RememberParams read_statement(const ToolArguments& body) {
  RememberParams params;
  params.category = try_parse_category(body.text("category")).value_or(Category::kProjectFact);
  params.key = body.text("key");
  params.value = body.text("value");
  params.confidence = body.share("confidence").value_or(params.confidence);
  params.agent_id = body.text("agent_id");
  params.tags = body.texts("tags");
  return params;
}

}  // namespace

namespace {

/// Whether the item has each of `words`, in lower case, somewhere.
bool has_words(const KnowledgeItem& item, std::span<const std::string> words) {
  const std::string all = lower_case(
      fmt::format("{} {} {} {}", item.key, item.value, item.agent_id, fmt::join(item.tags, " ")));
  return std::ranges::all_of(words, [&](const std::string& word) { return all.contains(word); });
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream(lower_case(text));
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

Result<HttpResponse> http_recall(ApiContext& context, const EndpointCall& call) {
  const std::vector<std::string> categories = call.texts("category");
  const auto limit = static_cast<std::size_t>(call.number("limit"));
  RecallOptions options;
  options.agent_id = call.text("agent").value_or("");
  options.key = call.text("key").value_or("");
  options.sessions = call.texts("session_id");
  options.candidates = call.flag("candidates");
  options.contradicted_only = call.flag("contradicted");
  options.min_confidence = call.share("min_confidence");
  options.note_accesses = false;
  options.limit = 0;  // What is left out is counted too.
  if (categories.size() == 1) {
    options.category = try_parse_category(categories.front());
  }
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, Knowledge(context.memory).recall(options));
  const std::vector<std::string> words = words_of(call.text("text").value_or(""));
  const bool pinned_only = call.flag("pinned");
  std::erase_if(items, [&](const KnowledgeItem& item) {
    const bool is_other =
        categories.size() > 1 &&
        std::ranges::find(categories, category_name(item.category)) == categories.end();
    return is_other || (pinned_only && !item.pinned) || !has_words(item, words);
  });
  const std::size_t total = items.size();
  const auto offset = std::min(static_cast<std::size_t>(call.number("offset")), total);
  items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(offset));
  items.resize(limit == 0 ? items.size() : std::min(items.size(), limit));
  JsonWriter json;
  json.begin_object();
  add_array(json, "items", items, write_knowledge_item);
  json.member("total", std::uint64_t{total});
  add_sealed_lines(json, context.memory, options.sessions);
  add_incomplete(json, context.memory);
  return object_response(json);
}

Result<HttpResponse> http_remember(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const RememberParams params = read_statement(body);
  BMAD_TRY_ASSIGN(MemoryManager* const memory, memory_to_write(context, call));
  BMAD_TRY_ASSIGN(const Remembered learned, Knowledge(*memory).remember(params));
  JsonWriter json;
  json.begin_object();
  add_remembered(json, learned);
  json.member("holds", learned.holds);
  if (!learned.previous_value.empty()) {
    json.member("previous_value", learned.previous_value);
  }
  add_list(json, "notices", learned.notices);
  return object_response(json);
}

Result<HttpResponse> http_review(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const std::vector<std::string> ids = body.texts("ids");
  const std::string review = body.text("review");
  BMAD_TRY_ASSIGN(const ReviewReport report,
                  Knowledge(context.memory)
                      .review(ids, review == "accepted" ? Review::kAccepted : Review::kDropped));
  if (report.reviewed.empty()) {
    return Error{.code = ErrorCode::E_ENTRY_NOT_FOUND,
                 .message = fmt::format("there is no candidate {}; GET /memory/knowledge"
                                        "?candidates=true lists them",
                                        ids.front()),
                 .field = "ids"};
  }
  JsonWriter json;
  json.begin_object();
  add_array(json, "reviewed", report.reviewed, write_knowledge_item);
  add_list(json, "unknown_ids", report.unknown_ids);
  return object_response(json);
}

Result<HttpResponse> http_extract(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const bool dry_run = body.boolean("dry_run");
  const ExtractOptions options = {
      .session_id = std::string(*call.text("session_id")), .dry_run = dry_run, .use_rules = true};
  BMAD_TRY_ASSIGN(const ExtractionReport report, Knowledge(context.memory).extract(options));
  JsonWriter json;
  json.begin_object().member("way", "rules").member("dry_run", dry_run);
  add_array(json, "learned", report.learned, [&](const Remembered& learned) {
    json.begin_object();
    add_remembered(json, learned);
    json.end_object();
  });
  add_list(json, "known", report.known);
  add_list(json, "notices", report.notices);
  return object_response(json);
}

Result<HttpResponse> http_context(ApiContext& context, const EndpointCall& call) {
  ContextOptions options;
  options.agent_id = call.text("agent").value_or("");
  options.task = call.text("task").value_or("");
  if (call.text("max_tokens")) {
    options.max_tokens = static_cast<std::size_t>(call.number("max_tokens"));
  }
  options.as_of = call.time("as_of");
  BMAD_TRY_ASSIGN(const Context told, Knowledge(context.memory).context(options));
  JsonWriter json;
  json.begin_object();
  add_as_of(json, call);
  json.member("markdown", told.markdown);
  json.member("tokens", std::uint64_t{told.tokens});
  json.member("max_tokens", std::uint64_t{told.max_tokens});
  if (told.sealed_lines != 0) {
    json.member("sealed_lines", told.sealed_lines);
  }
  add_array(json, "items", told.items, [&](const ContextItem& item) {
    json.begin_object().member("section", context_section_name(item.section));
    json.member("session_id", item.session_id).member("type", entry_type_name(item.type));
    json.member("id", item.id).member("timestamp", format_rfc3339(item.timestamp));
    json.member("text", item.text).member("tokens", std::uint64_t{item.tokens});
    json.member("why", item.why);
    if (item.of_user) {
      json.member("scope", "user");
    }
    json.end_object();
  });
  add_incomplete(json, context.memory);
  return object_response(json);
}

}  // namespace bmad_mem::cli
