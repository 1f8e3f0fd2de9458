// statement.hpp - what a fact or a preference is about, and which of several statements about the
// same holds.
//
// Statements of one category and key are about the same, whatever session and type they have. The
// newest holds, by time, then by session; those below kLowReliability only where there is no other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

/// Below it, a statement is by somebody not to be trusted: it never displaces what others stated,
/// however new it is.
inline constexpr double kLowReliability = 0.5;

/// What an entry states, as far as others can contradict it.
struct StatementHead {
  Category category = Category::kProjectFact;
  std::string_view key;  ///< Empty: nothing else is about the same.
  Review review = Review::kNone;
  Timestamp at{};  ///< When it was stated last.
  double trust = 1;
  std::optional<Timestamp> expires_at;

  /// Nobody has accepted it, or somebody dropped it.
  [[nodiscard]] bool is_unreviewed() const { return !is_in_force(review); }
  /// What tells statements about the same; empty without a key, and for those not accepted.
  [[nodiscard]] std::string subject() const;
};

/// `entry` is a fact or a preference; of any other type, what it says is about nothing.
StatementHead statement_head(EntryType type, JsonValue entry);

/// The members of a fact or a preference that knowledge looks at, found in one walk. The views are
/// into the entry.
struct StatementMembers {
  std::string_view id;
  std::string_view timestamp;
  std::string_view updated_at;
  std::string_view category;
  std::string_view key;
  std::string_view agent_id;
  std::string_view review;
  JsonValue value;
  JsonValue source;
  JsonValue tags;
  JsonValue learned_from;
  double confidence = kUsualConfidence;
  bool pinned = false;
  bool sensitive = false;
  bool superseded = false;  ///< See EntryHead.
  std::optional<Timestamp> expires_at;

  [[nodiscard]] Timestamp created_at() const;
  /// When it was stated: updated_at, else timestamp.
  [[nodiscard]] Timestamp at() const;
  [[nodiscard]] double trust() const;
  /// The value as text; of one that is no string, its JSON in `line`, which the entry was parsed
  /// from.
  [[nodiscard]] std::string value_text(JsonValue entry, std::string_view line) const;
};
StatementMembers statement_members(EntryType type, JsonValue entry);

/// What decides which statement holds, and which are worth reading: all but the texts, which are
/// there as hashes.
struct StatementOutline {
  EntryType type = EntryType::kFact;
  Category category = Category::kProjectFact;
  Review review = Review::kNone;
  bool pinned = false;
  bool sensitive = false;
  bool superseded = false;  ///< See EntryHead. It still outranks what it replaced itself.
  std::uint64_t id_hash = 0;
  std::uint64_t key_hash = 0;  ///< 0 without a key.
  std::uint64_t value_hash = 0;
  std::uint64_t agent_hash = 0;  ///< 0 without an agent.
  Timestamp at{};
  Timestamp expires_at = Timestamp::max();  ///< Until when it is valid.
  double confidence = 0;
  double trust = 1;

  bool operator==(const StatementOutline&) const = default;
};

/// `line` is what `entry`, a fact or a preference, was parsed from.
StatementOutline statement_outline(EntryType type, JsonValue entry, std::string_view line);

/// Of an encrypted line: it replaces the versions before it, and says nothing itself.
StatementOutline encrypted_outline(EntryType type, JsonValue entry);
[[nodiscard]] bool is_encrypted(const StatementOutline& outline);

/// As StatementOutline has it: 0 for no text.
std::uint64_t outline_hash(std::string_view text);

/// The category of that name; nothing for any other text. What is stored has these names only:
/// segments keep categories as numbers, so that what a name means never changes.
std::optional<Category> stored_category(std::string_view name);

/// The category that a name means. Words that are none of ours are told apart by the type:
/// preferences are somebody's, facts are about the project.
Category category_of(EntryType type, std::string_view name);

/// The review that a name means; none for a word that is none of ours.
Review review_of(std::string_view name);

// Whose words a text is, and how far it is trusted.
//
// What a line says of its source counts only as far as its origin allows, which the provenance log
// knows (store/root_trust.hpp). Only statements of a person, and accepted ones, are told without
// quotes; output of tools never is.

/// Whether text of this origin may stand without quotes.
inline bool is_authored_here(Origin origin) {
  return origin != Origin::kElsewhere && origin != Origin::kAgent;
}

/// How far a line of `origin` is trusted that claims `trust`, for what decides which statement
/// holds: only a statement by an author of this root displaces another.
double holding_reliability(Origin origin, double trust);

/// The review of a line of `origin` that claims `review`: it is accepted only where a person has
/// accepted it. Of an agent it waits on, and from elsewhere it is as any statement from there.
inline Review review_by(Origin origin, Review review) {
  if (review != Review::kAccepted || is_authored_here(origin)) {
    return review;
  }
  return origin == Origin::kAgent ? Review::kCandidate : Review::kNone;
}

struct SourceReliability {
  std::string source_kind;  ///< user, assistant, tool, web, import, or empty.
  double trust = 1;         ///< 0 to 1; 1 when the entry names none.
  Origin origin = Origin::kAccepted;
};

/// `claimed` with what may not stand there taken out, and as far as its origin allows: an agent's
/// as what a model extracts, and what came from elsewhere less.
SourceReliability checked_reliability(SourceReliability claimed);

/// Whether it is the call of a tool, or what one printed.
bool is_printed_by_tool(EntryType type, JsonValue entry);

/// The source that the entry names, checked. What a tool has printed is of kind tool, whatever it
/// says: an event with a `tool` or of a kind such as tool_result, a message of the role tool.
SourceReliability source_reliability(EntryType type, JsonValue entry,
                                     Origin origin = Origin::kAccepted);

/// "from elsewhere, web, trust 0.30": nothing that somebody could have made up.
std::string trust_text(const SourceReliability& trust);
/// The same of a single entry: "from agent, trust 0.60".
std::string source_text(const SourceReliability& trust);

/// Whether text of this source is to be handed on as data only.
bool must_be_quoted(const SourceReliability& trust, double quote_below_trust);

}  // namespace bmad_mem
