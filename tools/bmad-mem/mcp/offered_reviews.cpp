// offered_reviews.cpp - memory_review: an agent drops candidates, and accepts what the user was
// shown.
#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/knowledge.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli {

void OfferedReviews::offer(std::string id, std::string value) {
  constexpr std::chrono::minutes kLasts{10};
  const std::scoped_lock lock(mutex_);
  offers_.insert_or_assign(
      std::move(id),
      Offer{.value = std::move(value), .until = std::chrono::steady_clock::now() + kLasts});
}

bool OfferedReviews::has(const std::string& id, std::string_view value) const {
  const std::scoped_lock lock(mutex_);
  const auto found = offers_.find(id);
  return found != offers_.end() && found->second.value == value &&
         std::chrono::steady_clock::now() < found->second.until;
}

std::string offered_text(const KnowledgeItem& item) {
  return fmt::format("{}\n{}\n{}", category_name(item.category), item.key, item.value);
}

namespace {

/// Nothing when a person has seen all of `ids` as they read now. Errors: E_ACCESS_DENIED.
Status check_offered(const MemoryToolCall& call, MemoryManager& memory,
                     std::span<const std::string> ids) {
  BMAD_TRY_ASSIGN(
      const std::vector<KnowledgeItem> waiting,
      Knowledge(memory).recall({.candidates = true, .note_accesses = false, .limit = 0}));
  for (const KnowledgeItem& item : waiting) {
    const bool is_wanted = std::ranges::find(ids, item.id) != ids.end();
    if (is_wanted && !call.offered.has(item.id, offered_text(item))) {
      return Error{.code = ErrorCode::E_ACCESS_DENIED,
                   .message = fmt::format(
                       "only the user accepts {}: ask the user to pick the prompt \"review\" of "
                       "this server, or to run `bmad-mem review`",
                       item.id)};
    }
  }
  return {};
}

}  // namespace

Result<McpToolResult> mcp_review(MemoryToolCall& call) {
  const std::vector<std::string> ids = call.texts("ids");
  const bool accepts = call.text("review") == "accepted";
  BMAD_TRY_ASSIGN(MemoryManager* const memory, call.existing());
  if (accepts) {
    BMAD_TRY(check_offered(call, *memory, ids));
  }
  const ActingAs person(accepts ? Origin::kPerson : Origin::kAgent);
  BMAD_TRY_ASSIGN(const ReviewReport report,
                  Knowledge(*memory).review(ids, accepts ? Review::kAccepted : Review::kDropped));
  std::vector<std::string> reviewed;
  std::ranges::transform(report.reviewed, std::back_inserter(reviewed), &KnowledgeItem::id);
  return McpToolResult{
      .text = fmt::format("{} {}.{}", accepts ? "Accepted" : "Dropped",
                          format_count(reviewed.size(), "candidate", "candidates"),
                          report.unknown_ids.empty() ? "" : " Some ids are of no candidate."),
      .structured = json_object("reviewed", reviewed, "unknown_ids", report.unknown_ids)};
}

}  // namespace bmad_mem::cli
