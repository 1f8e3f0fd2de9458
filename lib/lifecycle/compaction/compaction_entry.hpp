// compaction_entry.hpp - what a compaction knows of each line of a session's logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "lifecycle/compaction_plan.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

/// A call of a tool, or what came of one.
struct ToolEvent {
  enum class Kind : std::uint8_t {
    kNone,  ///< Any other event, or one that must not be counted: it is sensitive, or expires.
    kCall,
    kResult,
  };
  Kind kind = Kind::kNone;
  bool failed = false;
  std::string tool;
  std::string path;  ///< Empty where it lies outside the workspace.
};

ToolEvent to_tool_event(const ScannedEntry& scanned);

struct CompactionEntry : LogLine {
  std::string who = {};
  std::vector<std::string> references = {};  ///< Ids it cites; not the message it answers.
  std::uint64_t content_hash = 0;            ///< Of type and line without the id.
  Timestamp timestamp{};
  double decay_factor = 1;
  double relevance = 0;
  bool must_stay = false;
  ToolEvent tool = {};      ///< Of an event.
  bool is_settled = false;  ///< A finding that is resolved or dismissed.

  // What the plan makes of it.
  bool is_gone = false;
  bool is_tiered = false;
  std::uint32_t referred_by = 0;  ///< By so many entries that stay.
  RemovalKind removal = RemovalKind::kEvicted;
  std::string reason = {};
};

/// Marks calls of tools and their results as folded, but for the newest `kept` (0: all stay) and
/// for what an entry that stays refers to; and adds to `plan` the lines that count them.
void fold_tool_events(std::vector<CompactionEntry>& entries, std::string_view session_id,
                      std::uint64_t kept, CompactionPlan& plan);

}  // namespace bmad_mem
