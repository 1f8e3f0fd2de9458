// knowledge_item.hpp - from lines of facts and preferences to what is known.
//
//   lines of all sessions --(category, key)--> chains --newest of the trusted--> items
//
// Pure: bytes and a clock value in, items out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

/// A line of a log: any version of a fact or a preference.
struct KnowledgeLine {
  std::string_view session_id;
  EntryType type = EntryType::kFact;
  std::string_view text;  ///< One JSON object.
};

/// What counts as stated by somebody not to be trusted: it never displaces what was stated by
/// others, however new it is.
inline constexpr double kLowTrust = 0.5;

/// The items that `lines` state, sorted by category, key and id. `as_of`: only what was stated
/// until then. Lines that are no entries are passed over. Scores and accesses are left at 0.
///
/// Lines of one log must come in its order. Same category and key are one item; a line without key
/// is one item with its later versions. Of an item, the newest statement holds, by time, then by
/// session; those below kLowTrust hold only where there is no other. Candidates and dropped ones
/// are items of their own and never part of another's chain.
std::vector<KnowledgeItem> collect_knowledge(std::span<const KnowledgeLine> lines,
                                             std::optional<Timestamp> as_of = {});

}  // namespace bmad_mem
