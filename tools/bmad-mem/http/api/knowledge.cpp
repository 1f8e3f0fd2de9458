// knowledge.cpp - what agents have learned: recalled, stated, reviewed, extracted, and put together
// for a prompt.
#include "bmad_mem/knowledge.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/text.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
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
  RecallOptions options = read_recall_options(call);
  options.note_accesses = false;
  options.limit = 0;  // What is left out is counted too.
  options.offset = 0;
  options.category = categories.size() == 1 ? try_parse_category(categories.front()) : std::nullopt;
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, Knowledge(context.memory).recall(options));
  const std::vector<std::string> words = words_of(call.text("text"));
  const bool pinned_only = call.boolean("pinned");
  std::erase_if(items, [&](const KnowledgeItem& item) {
    const bool is_other =
        categories.size() > 1 && !is_among(categories, category_name(item.category));
    return is_other || (pinned_only && !item.pinned) || !has_words(item, words);
  });
  return object_response(
      "items", shaped(shape::knowledge_item, page_of(call).of(items), references_of), "total",
      items.size(), "encrypted_lines", encrypted_lines(context.memory, options.sessions),
      "incomplete", unread(context.memory));
}

Result<HttpResponse> http_remember(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(MemoryManager* const memory, memory_to_write(context, call));
  BMAD_TRY_ASSIGN(const Remembered learned, Knowledge(*memory).remember(read_statement(call)));
  return object_response(shaped(shape::remembered, learned));
}

Result<HttpResponse> http_review(ApiContext& context, const EndpointCall& call) {
  const std::vector<std::string> ids = call.texts("ids");
  const std::string review = call.text("review");
  BMAD_TRY_ASSIGN(const ReviewReport report,
                  Knowledge(context.memory)
                      .review(ids, review == "accepted" ? Review::kAccepted : Review::kDropped));
  if (report.reviewed.empty()) {
    return field_error(ErrorCode::E_ENTRY_NOT_FOUND, "ids",
                       fmt::format("there is no candidate {}; GET /memory/knowledge"
                                   "?candidates=true lists them",
                                   ids.front()));
  }
  return object_response("reviewed", shaped(shape::knowledge_item, report.reviewed, references_of),
                         "unknown_ids", report.unknown_ids);
}

Result<HttpResponse> http_extract(ApiContext& context, const EndpointCall& call) {
  const bool dry_run = call.boolean("dry_run");
  const ExtractOptions options = {
      .session_id = call.text("session_id"), .dry_run = dry_run, .use_rules = true};
  BMAD_TRY_ASSIGN(const ExtractionReport report, Knowledge(context.memory).extract(options));
  return object_response("way", "rules", "dry_run", dry_run, "learned",
                         shaped(shape::learned, report.learned), "known", report.known, "notices",
                         report.notices);
}

Result<HttpResponse> http_context(ApiContext& context, const EndpointCall& call) {
  const ContextOptions options = read_context_options(call);
  BMAD_TRY_ASSIGN(const Context told, Knowledge(context.memory).context(options));
  return read_response(context, call, shaped(shape::context, told), "items",
                       shaped(shape::told_item, told.items));
}

}  // namespace bmad_mem::cli
