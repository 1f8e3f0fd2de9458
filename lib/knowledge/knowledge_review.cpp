// knowledge_review.cpp - accepting and dropping what was found without being told.
#include <algorithm>
#include <iterator>

#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/whole_name.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "model/entry.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

/// The item's line, with the review and the time written down.
Result<std::string> reviewed_line(const KnowledgeItem& item, Review review, Timestamp now) {
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(item.json));
  ObjectText object(entry, item.json);
  object.set_string("review", review_name(review));
  if (review == Review::kAccepted) {  // From now on the person says so.
    object.set("source", R"({"kind":"user"})");
  }
  object.set_string("updated_at", format_rfc3339(next_version_time(entry, now)));
  return object.to_line();
}

/// `ids`, those that were given by their beginning completed.
Result<std::vector<std::string>> whole_candidate_ids(std::span<const KnowledgeItem> known,
                                                     std::span<const std::string> ids) {
  std::vector<std::string> candidates;
  std::ranges::transform(known, std::back_inserter(candidates), &KnowledgeItem::id);
  std::vector<std::string> whole;
  for (const std::string& id : ids) {
    BMAD_TRY_ASSIGN(whole.emplace_back(), whole_name(id, candidates, "candidates", "id"));
  }
  return whole;
}

}  // namespace

Result<ReviewReport> Knowledge::review(std::span<const std::string> ids, Review review) {
  BMAD_TRY_ASSIGN(Store* const entered, MemoryInside::enter(*memory_, Operation::kReview));
  Store& store = *entered;
  if (review == Review::kAccepted && ActingAs::current(store.writes_as) == Origin::kAgent) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message =
                     "only the user accepts: ask for `bmad-mem review` in a terminal, or for "
                     "the page of `bmad-mem serve`"};
  }
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> known,
                  recall({.candidates = true, .with_foreign = true, .limit = 0}));
  BMAD_TRY_ASSIGN(const std::vector<std::string> wanted, whole_candidate_ids(known, ids));
  ReviewReport report;
  for (const std::string& id : wanted) {
    const auto found = std::ranges::find(known, id, &KnowledgeItem::id);
    const bool waits = found != known.end() &&
                       (found->review == Review::kCandidate || found->origin == Origin::kElsewhere);
    if (!waits) {
      report.unknown_ids.push_back(id);
      continue;
    }
    BMAD_TRY_ASSIGN(const std::string line, reviewed_line(*found, review, store.clock.now()));
    const std::string_view view = line;
    BMAD_TRY(add_lines(store, found->session_id, found->type, {&view, 1}, {}));
    found->review = review;
    report.reviewed.push_back(*found);
  }
  if (!report.reviewed.empty()) {
    KnownStatements all(store, {});
    if (all.gather()) {
      renew_knowledge_views(store, all.statement_count());
    } else {
      static_cast<void>(drop_knowledge_views(store));
    }
  }
  return report;
}

}  // namespace bmad_mem
