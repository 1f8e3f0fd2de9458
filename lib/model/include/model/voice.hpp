// voice.hpp - whose words a text is, and how far it is trusted.
//
// What a line says of its source counts only as far as its origin allows, which the ledger knows
// (store/root_trust.hpp). Only statements of a person, and accepted ones, are told without
// quotes; output of tools never is.
#pragma once

#include <string>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

/// Whether text of this origin may stand without quotes.
inline bool has_voice(Origin origin) {
  return origin != Origin::kElsewhere && origin != Origin::kAgent;
}

/// How far a line of `origin` is trusted that claims `trust`, for what decides which statement
/// holds: only a voice displaces another.
double holding_trust(Origin origin, double trust);

/// The review of a line of `origin` that claims `review`: it is accepted only where a person has
/// accepted it. Of an agent it waits on, and from elsewhere it is as any statement from there.
inline Review review_by(Origin origin, Review review) {
  if (review != Review::kAccepted || has_voice(origin)) {
    return review;
  }
  return origin == Origin::kAgent ? Review::kCandidate : Review::kNone;
}

struct EntryTrust {
  std::string source_kind;  ///< user, assistant, tool, web, import, or empty.
  double trust = 1;         ///< 0 to 1; 1 when the entry names none.
  Origin origin = Origin::kAccepted;
};

/// `claimed` with what may not stand there taken out, and as far as its origin allows: an agent's
/// as what a model extracts, and what came from elsewhere less.
EntryTrust checked_trust(EntryTrust claimed);

/// Whether it is the call of a tool, or what one printed.
bool is_printed_by_tool(EntryType type, JsonValue entry);

/// The source that the entry names, checked. What a tool has printed is of kind tool, whatever it
/// says: an event with a `tool` or of a kind such as tool_result, a message of the role tool.
EntryTrust entry_trust(EntryType type, JsonValue entry, Origin origin = Origin::kAccepted);

/// "from elsewhere, web, trust 0.30": nothing that somebody could have made up.
std::string trust_text(const EntryTrust& trust);
/// The same of a single entry: "from agent, trust 0.60".
std::string source_text(const EntryTrust& trust);

/// Whether text of this source is to be handed on as data only.
bool must_be_quoted(const EntryTrust& trust, double quote_below_trust);

}  // namespace bmad_mem
