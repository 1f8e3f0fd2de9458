#include "model/statement.hpp"

#include <fmt/format.h>

#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem {

std::string StatementHead::subject() const {
  return key.empty() || is_unreviewed() ? std::string()
                                        : fmt::format("{}:{}", category_name(category), key);
}

StatementHead statement_head(EntryType type, JsonValue entry) {
  StatementHead head;
  if (type != EntryType::kFact && type != EntryType::kPreference) {
    return head;
  }
  std::string_view category;
  std::string_view timestamp;
  for (const JsonMember& member : entry.members()) {
    if (member.key == "category") {
      category = member.value.string();
    } else if (member.key == "key") {
      head.key = member.value.string();
    } else if (member.key == "review") {
      head.review = review_of(member.value.string());
    } else if (member.key == "updated_at" || (member.key == "timestamp" && timestamp.empty())) {
      timestamp = member.value.string();
    } else if (member.key == "source") {
      head.trust = member.value["trust"].number(1);
    }
  }
  head.category = category_of(type, category);
  const Result<Timestamp> at = parse_rfc3339(timestamp);
  head.at = at ? *at : Timestamp{};
  return head;
}

Category category_of(EntryType type, std::string_view name) {
  return try_parse_category(name).value_or(
      type == EntryType::kPreference ? Category::kUserPreference : Category::kProjectFact);
}

Review review_of(std::string_view name) {
  for (const Review review : {Review::kCandidate, Review::kAccepted, Review::kDropped}) {
    if (review_name(review) == name) {
      return review;
    }
  }
  return Review::kNone;
}

}  // namespace bmad_mem
