// compaction_plan.hpp - which lines of a session can go: worked out from what is in its logs, and
// changing nothing.
//
//   1. fold       lines that a newer line with the same id supersedes
//   2. repeats    entries that say word for word what an earlier one says, at the same moment
//   3. count      calls of tools and their results, but for the newest: a line for each day says
//                 how many there were, of which tools and files
//   4. evict      the least relevant entries, until keep_share of them is left, and then until the
//                 session is smaller than its trigger
//
// Relevance without a question: decay factor x importance x access, see relevance_of(). What stays,
// however old: pinned entries, open findings of high severity, approved decisions, the request that
// the session is called after, and what an entry that stays refers to. Of equal relevance the older
// goes first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "lifecycle/log_lines.hpp"
#include "model/decay.hpp"
#include "model/entry.hpp"
#include "store/access_log.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

enum class CompactionStrategy : std::uint8_t {
  kRelevance,
  /// First what is decayed below 0.3, talk older than a week that the summary covers, findings that
  /// are resolved or dismissed, and all states of an agent but the last; then by relevance.
  kTiered,
};

struct CompactionRules {
  CompactionStrategy strategy = CompactionStrategy::kRelevance;
  double keep_share = 0.8;         ///< Of the entries that folding leaves.
  std::uint64_t bytes_wanted = 0;  ///< Evict until the logs have fewer; 0: no such aim.
  DecaySettings decay;
  Timestamp now{};
  /// Id of the last message that summary.md covers; empty without one. For kTiered.
  std::string last_summarized_id;
  /// So many of the newest calls of tools and results stay as they are; 0: all do.
  std::uint64_t tool_events_retained = 0;
  /// How often and when entries were returned; nullptr when that is not known.
  const AccessTable* accesses = nullptr;
};

/// How the reason of what was folded begins; the id of the line that counts it follows.
inline constexpr std::string_view kCountedIn = "counted in ";

/// Why a line goes.
enum class RemovalKind : std::uint8_t { kSuperseded, kDuplicate, kFolded, kEvicted };

struct PlannedRemoval : LogLine {
  RemovalKind kind = RemovalKind::kEvicted;
  std::string reason;
};

struct CompactionPlan {
  std::vector<PlannedRemoval> removals;  ///< By type and line.
  /// Lines for the log of events, each with its '\n': they count what is folded.
  std::string added_events;
  std::uint64_t added_count = 0;
  LogMarks logs;  ///< As they were planned for.
  std::uint64_t entries_before = 0;
  std::uint64_t entries_after = 0;
  std::uint64_t bytes_before = 0;  ///< Of the logs.
  std::uint64_t bytes_after = 0;

  [[nodiscard]] std::uint64_t count(RemovalKind kind) const;
};

/// Relevance of an entry that nobody asked for, in [0,1]: decay factor x importance x access, where
/// access is 0.5 for what was never returned and goes from 1 to 0.5 with exp(-0.05 x hours).
/// Specification 4.3; an entry that was used once must not count less than one that never was.
double relevance_of(double decay_factor, double importance, std::optional<Timestamp> last_accessed,
                    Timestamp now);

/// What decay depends on of an entry that was returned as `access` says, if it was.
DecayInput decay_input(EntryType type, const EntryHead& head, const Access* access);

/// Whether an event is a call of a tool, or its result.
bool is_tool_event(std::string_view kind);

/// Whether compaction must leave an entry: pinned, an open finding of high or critical severity, an
/// approved decision.
bool must_stay(EntryType type, JsonValue entry);

/// Reads the logs of session `session_id` and plans. Damaged lines stay where they are: `repair`
/// deals with them. Errors: as the file system's.
Result<CompactionPlan> plan_compaction(FileSystem& files, std::string_view session_id,
                                       const CompactionRules& rules);

// What a compaction knows of each line of a session's logs.

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
  std::optional<RemovalKind> removal = {};  ///< Nothing: it stays.
  bool is_tiered = false;
  std::uint32_t referred_by = 0;  ///< By so many entries that stay.
  std::string reason = {};

  void remove(RemovalKind kind, std::string why) {
    removal = kind;
    reason = std::move(why);
  }
};

/// Marks calls of tools and their results as folded, but for the newest `kept` (0: all stay) and
/// for what an entry that stays refers to; and adds to `plan` the lines that count them.
void fold_tool_events(std::vector<CompactionEntry>& entries, std::string_view session_id,
                      std::uint64_t kept, CompactionPlan& plan);

}  // namespace bmad_mem
