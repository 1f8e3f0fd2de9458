// trust_offer.hpp - all that trusting a root would accept, to be read before.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/settings.hpp"

namespace bmad_mem {

/// What an entry from elsewhere says: it would be told without quotes.
struct OfferedText {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
  std::string text;
};

struct TrustOffer {
  /// Lines from elsewhere, in the order of types: of each entry the latest version, and earlier
  /// ones that tell the same. All others stay from elsewhere.
  std::array<std::uint64_t, kEntryTypeCount> lines{};
  std::array<std::uint64_t, kEntryTypeCount> by_agents{};  ///< Those stay the agents'.
  std::uint64_t sealed_lines = 0;  ///< From elsewhere: nobody can read them, so they stay so.
  /// Of the latest versions: facts and preferences first, then decisions, then all other types. Not
  /// what a tool has printed, or what says of itself that it comes from a tool, the web or an
  /// import: that is always quoted.
  std::vector<OfferedText> texts;
  /// Values of config.json that have no effect until then.
  std::vector<WaitingSetting> settings;
  /// What would take protection away, or read rules outside the project: a sentence each.
  std::vector<std::string> switches;
  std::vector<std::string> files;  ///< Of the memory tool, below memories/, while it is foreign.
};

/// What MemoryManager::trust() would accept now. Errors: as trust().
Result<TrustOffer> trust_offer(MemoryManager& memory);

}  // namespace bmad_mem
