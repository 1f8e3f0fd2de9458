// statement.cpp - what a fact or a preference states, and how far its source is trusted.
#include "model/statement.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

Timestamp time_of(std::string_view text) {
  const Result<Timestamp> time = parse_rfc3339(text);
  return time ? *time : Timestamp{};
}

constexpr double kForeignReliability = 0.4;
static_assert(kForeignReliability < kLowReliability);

/// The kinds that are always quoted.
bool is_others(std::string_view kind) {
  return kind == "tool" || kind == "web" || kind == "import";
}

}  // namespace

std::string StatementHead::subject() const {
  return key.empty() || is_unreviewed() ? std::string()
                                        : fmt::format("{}:{}", category_name(category), key);
}

StatementHead statement_head(EntryType type, JsonValue entry) {
  if (!is_statement(type)) {
    return {};
  }
  const StatementMembers members = statement_members(type, entry);
  return {.category = category_of(type, members.category),
          .key = members.key,
          .review = review_of(members.review),
          .at = members.at(),
          .trust = members.trust(),
          .expires_at = members.expires_at};
}

StatementMembers statement_members(EntryType type, JsonValue entry) {
  StatementMembers found;
  const std::pair<std::string_view, std::string_view*> texts[] = {{"id", &found.id},
                                                                  {"timestamp", &found.timestamp},
                                                                  {"updated_at", &found.updated_at},
                                                                  {"category", &found.category},
                                                                  {"key", &found.key},
                                                                  {"agent_id", &found.agent_id},
                                                                  {"review", &found.review}};
  const std::string_view value_name = type == EntryType::kFact ? "content" : "value";
  for (const JsonMember& member : entry.members()) {
    const auto* const text = std::ranges::find(
        texts, member.key, &std::pair<std::string_view, std::string_view*>::first);
    if (text != std::end(texts)) {
      *text->second = member.value.string();
    } else if (member.key == value_name) {
      found.value = member.value;
    } else if (member.key == "source") {
      found.source = member.value;
    } else if (member.key == "tags") {
      found.tags = member.value;
    } else if (member.key == "learned_from") {
      found.learned_from = member.value;
    } else if (member.key == "confidence") {
      found.confidence = member.value.number(kUsualConfidence);
    } else if (member.key == "pinned") {
      found.pinned = member.value.boolean();
    } else if (member.key == kSensitiveField) {
      found.sensitive = member.value.boolean();
    } else if (member.key == kLinksField) {
      found.superseded = is_superseded(member.value);
    } else if (member.key == kExpiresField) {
      found.expires_at = try_parse_rfc3339(member.value.string());
    }
  }
  return found;
}

Timestamp StatementMembers::created_at() const { return time_of(timestamp); }

Timestamp StatementMembers::at() const {
  return updated_at.empty() ? created_at() : time_of(updated_at);
}

double StatementMembers::trust() const { return source["trust"].number(1); }

std::string StatementMembers::value_text(JsonValue entry, std::string_view line) const {
  return value.is_string() ? std::string(value.string())
                           : std::string(ObjectText(entry, line).raw("value"));
}

StatementOutline encrypted_outline(EntryType type, JsonValue entry) {
  const StatementMembers members = statement_members(type, entry);
  return {.type = type,
          .id_hash = outline_hash(members.id),
          .at = members.at(),
          .expires_at = Timestamp{}};
}

bool is_encrypted(const StatementOutline& outline) {
  return outline.value_hash == 0 && outline.expires_at == Timestamp{};
}

StatementOutline statement_outline(EntryType type, JsonValue entry, std::string_view line) {
  assert(is_statement(type));
  const StatementMembers members = statement_members(type, entry);
  return {.type = type,
          .category = category_of(type, members.category),
          .review = review_of(members.review),
          .pinned = members.pinned,
          .sensitive = members.sensitive,
          .superseded = members.superseded,
          .id_hash = outline_hash(members.id),
          .key_hash = outline_hash(members.key),
          .value_hash = outline_hash(members.value_text(entry, line)),
          .agent_hash = outline_hash(members.agent_id),
          .at = members.at(),
          .expires_at = members.expires_at.value_or(Timestamp::max()),
          .confidence = members.confidence,
          .trust = members.trust()};
}

std::uint64_t outline_hash(std::string_view text) { return text.empty() ? 0 : xxh3(text); }

std::string_view category_name(Category category) {
  assert(static_cast<std::size_t>(category) < kCategoryNames.size());
  return kCategoryNames[static_cast<std::size_t>(category)];
}

std::optional<Category> try_parse_category(std::string_view name) {
  return stored_category(name == "preference" ? category_name(Category::kUserPreference)
                         : name == "rule"     ? category_name(Category::kConstraint)
                                              : name);
}

std::optional<Category> stored_category(std::string_view name) {
  const auto* const found = std::ranges::find(kCategoryNames, name);
  if (found == kCategoryNames.end()) {
    return std::nullopt;
  }
  return static_cast<Category>(found - kCategoryNames.begin());
}

EntryType category_type(Category category) {
  const bool is_of_user = category == Category::kUserPreference || category == Category::kStyle;
  return is_of_user ? EntryType::kPreference : EntryType::kFact;
}

std::string_view review_name(Review review) {
  static constexpr std::array<std::string_view, 5> kNames = {"", "candidate", "accepted", "dropped",
                                                             "stated"};
  assert(static_cast<std::size_t>(review) < kNames.size());
  return kNames[static_cast<std::size_t>(review)];
}

Category category_of(EntryType type, std::string_view name) {
  return stored_category(name).value_or(type == EntryType::kPreference ? Category::kUserPreference
                                                                       : Category::kProjectFact);
}

Review review_of(std::string_view name) {
  for (const Review review : {Review::kCandidate, Review::kAccepted, Review::kDropped}) {
    if (review_name(review) == name) {
      return review;
    }
  }
  return Review::kNone;
}

bool is_printed_by_tool(EntryType type, JsonValue entry) {
  return (type == EntryType::kConversation && entry["role"].string() == "tool") ||
         (type == EntryType::kEvent &&
          (!entry["tool"].string().empty() || entry["kind"].string().starts_with("tool_")));
}

double holding_reliability(Origin origin, double trust) {
  return is_authored_here(origin) ? trust : std::min(trust, kForeignReliability);
}

SourceReliability checked_reliability(SourceReliability claimed) {
  static constexpr std::array<std::string_view, 5> kNamed = {"user", "assistant", "tool", "web",
                                                             "import"};
  constexpr double kAgentReliability = 0.6;
  if (std::ranges::find(kNamed, claimed.source_kind) == kNamed.end()) {
    claimed.source_kind.clear();
  }
  claimed.trust = std::clamp(claimed.trust, 0.0, 1.0);
  if (!is_authored_here(claimed.origin)) {
    claimed.trust = std::min(
        claimed.trust, claimed.origin == Origin::kAgent ? kAgentReliability : kForeignReliability);
    if (claimed.source_kind == "user") {
      claimed.source_kind.clear();  // It says so itself.
    }
  }
  assert(claimed.trust >= 0 && claimed.trust <= 1);
  return claimed;
}

SourceReliability source_reliability(EntryType type, JsonValue entry, Origin origin) {
  const JsonValue source = entry["source"];
  SourceReliability trust{.source_kind = std::string(source["kind"].string()),
                          .trust = source["trust"].number(1),
                          .origin = origin};
  if (is_printed_by_tool(type, entry) && !is_others(trust.source_kind)) {
    trust.source_kind = "tool";
  }
  return checked_reliability(std::move(trust));
}

std::string trust_text(const SourceReliability& trust) {
  const std::string_view origin = trust.origin == Origin::kElsewhere ? "from elsewhere"
                                  : trust.origin == Origin::kAgent   ? "agent"
                                  : trust.origin == Origin::kByHand  ? "edited by hand"
                                                                     : "";
  return fmt::format("{}{}{}{}trust {:.2f}", origin, origin.empty() ? "" : ", ", trust.source_kind,
                     trust.source_kind.empty() ? "" : ", ", trust.trust);
}

std::string source_text(const SourceReliability& trust) {
  const std::string text = trust_text(trust);
  return text.starts_with("from ") ? text : "from " + text;
}

bool must_be_quoted(const SourceReliability& trust, double quote_below_trust) {
  return !is_authored_here(trust.origin) || trust.trust < quote_below_trust ||
         is_others(trust.source_kind);
}

}  // namespace bmad_mem
