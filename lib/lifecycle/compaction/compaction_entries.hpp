// compaction_entries.hpp - what a compaction knows of each line of a session's logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "lifecycle/compaction_plan.hpp"

namespace bmad_mem {

struct CompactionEntry {
  EntryType type = EntryType::kConversation;
  std::string id;
  std::string who;
  std::vector<std::string> references;  ///< Ids it cites; not the message it answers.
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;          ///< With its '\n'.
  std::uint64_t content_hash = 0;  ///< Of type and line but for the id.
  Timestamp timestamp{};
  double decay_factor = 1;
  double relevance = 0;
  bool must_stay = false;
  bool is_settled = false;  ///< A finding that is resolved or dismissed.

  // What the plan makes of it.
  bool is_gone = false;
  bool is_tiered = false;
  std::uint32_t referred_by = 0;  ///< By so many entries that stay.
  RemovalKind removal = RemovalKind::kEvicted;
  std::string reason;
};

/// All entries and versions of session `session_id`, by type and line.
Result<std::vector<CompactionEntry>> load_compaction_entries(FileSystem& files,
                                                             std::string_view session_id,
                                                             const CompactionRules& rules);

}  // namespace bmad_mem
