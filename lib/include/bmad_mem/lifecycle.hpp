// lifecycle.hpp - what the calls of MemoryManager that care for a session's life take and give
// back: compaction, archive, deletion, maintenance, audit, decay.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A line that left a log, or that would.
struct RemovedEntry {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
  std::uint64_t line = 0;     ///< 1-based in its log, before.
  std::uint64_t bytes = 0;    ///< With its '\n'.
  std::string reason;         ///< "superseded by line 12", "least relevant (0.08)".
  std::string headline = {};  ///< One line for people; only in a dry run.
};

struct CompactOptions {
  bool dry_run = false;  ///< Say what would go, and change nothing.
  /// Share of the entries that stays. 1 only folds. When absent: that of the config (0.8) in a
  /// session from its trigger on, and 1 below.
  std::optional<double> keep_share = {};
  /// That of the config below the trigger, too. Nothing with `keep_share`.
  bool force = false;
};

/// What a compaction did to one session, or would do.
struct CompactionReport {
  std::string session_id;
  std::vector<RemovedEntry> removed = {};  ///< By type and line.
  std::uint64_t superseded = 0;            ///< How many of them are older versions,
  std::uint64_t duplicates = 0;            ///< repeat an entry word by word,
  std::uint64_t evicted = 0;               ///< or went to the archive, see `evicted_file`.
  std::uint64_t entries_before = 0;        ///< Distinct ids.
  std::uint64_t entries_after = 0;
  std::uint64_t bytes_before = 0;  ///< Of the session's tracked files.
  std::uint64_t bytes_after = 0;
  std::uint64_t trigger_bytes = 0;  ///< From this size on a session is compacted by itself.
  std::string evicted_file = {};    ///< Where the evicted are; empty when nothing was evicted.
  /// Below its trigger, without CompactOptions::keep_share and force: what force would evict more.
  bool below_trigger = false;
  std::uint64_t force_evicts = 0;  ///< Entries; and their bytes.
  std::uint64_t force_bytes = 0;
  /// Calls of tools and results beyond memory_config.events.keep: they went to the archive, too,
  /// and events of kind tool_summary count them.
  std::uint64_t folded = 0;
  /// Statements that stay of the evicted talk: its decisions, and answers that the user cited.
  std::uint64_t statements = 0;
};

/// What to delete. Entries for which everything that is given holds. At least one member must be
/// given: a session as a whole is deleted by delete_session().
struct DeletionCriteria {
  std::vector<std::string> ids;
  std::vector<std::string> sessions;  ///< All when empty.
  std::vector<EntryType> types;
  std::vector<std::string> tags;    ///< Any of them.
  std::vector<std::string> agents;  ///< Any of them, see Entry::who.
  std::optional<Timestamp> since;   ///< Inclusive.
  std::optional<Timestamp> until;   ///< Inclusive.
  std::string match;                ///< A text that the entry holds in any field, in any version.

  [[nodiscard]] bool is_empty() const {
    return ids.empty() && types.empty() && tags.empty() && agents.empty() && !since && !until &&
           match.empty();
  }
};

struct DeleteOptions {
  bool dry_run = false;  ///< Say what would go, and change nothing.
  /// At once and everywhere: logs, archives, what was evicted or deleted before, quarantine,
  /// summaries. Otherwise for 30 days it can be brought back.
  bool purge = false;
  /// The session whose audit tells of it, when not the one that held the entries: that may be one
  /// of another branch, whose files should not change more than they must.
  std::string audit_session = {};
  std::string reason = {};  ///< Of a session that goes as a whole: for its audit.
  /// Of delete_entries(): told now and then how many sessions of how many are done.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

/// So many lines in one file.
struct FileCount {
  std::string path;
  std::uint64_t lines = 0;
};

struct DeletionReport {
  std::vector<RemovedEntry> removed;       ///< Lines of logs, by session, type and line.
  std::vector<FileCount> elsewhere;        ///< Where a purge reached besides the logs.
  std::uint64_t entries = 0;               ///< Distinct ids of `removed`.
  std::optional<Timestamp> expires_at;     ///< Until when they can be brought back.
  std::vector<std::string> sessions_gone;  ///< Sessions deleted as a whole.
};

/// What stands in deleted/.
struct Deletion {
  std::string session_id;
  std::string deletion_id;
  Timestamp deleted_at{};
  Timestamp expires_at{};
  std::string agent_id;  ///< Who deleted it; may be empty.
  bool whole_session = false;
  std::uint64_t entries = 0;  ///< Lines, for a whole session: entries.
};

/// Which deletions to bring back. Empty: nothing.
struct UndeleteCriteria {
  std::vector<std::string> ids = {};  ///< Entries.
  /// Whole ones, and all deleted entries of those there are.
  std::vector<std::string> sessions = {};
};

struct UndeleteReport {
  std::uint64_t lines = 0;               ///< Brought back.
  std::vector<std::string> sessions;     ///< Brought back as a whole.
  std::vector<std::string> left_behind;  ///< Ids that exist again, so the old ones stay deleted.
  std::vector<Error> damaged;            ///< Deleted lines that can't be read and stay as well.
};

/// Where a text still is after a purge.
struct Leftover {
  std::string place;   ///< A file, or "git history".
  std::string detail;  ///< "line 12", "commit 1a2b3c4".
  std::string remedy;  ///< What to do about it.
};

enum class SessionState : std::uint8_t {
  kActive,    ///< Written to within a day, and not closed.
  kIdle,      ///< Closed, or not written to for longer.
  kArchived,  ///< A file under archive/.
  kDeleted,   ///< Under deleted/, for a while.
};
/// "active", "idle", "archived", "deleted".
const char* session_state_name(SessionState state);

struct ArchiveOptions {
  bool dry_run = false;  ///< Say what would be packed, and change nothing.
};

struct ArchiveReport {
  std::string session_id;
  std::string path;                    ///< Of the archive.
  std::uint64_t files = 0;             ///< In it.
  std::uint64_t original_bytes = 0;    ///< Of them together.
  std::uint64_t compressed_bytes = 0;  ///< Of the archive.
  std::uint64_t kept = 0;              ///< Entries that stay searchable.
  std::string notice;                  ///< What was noticed of its logs; a sentence, or empty.
};

/// A session that is an archive now.
struct ArchivedSession {
  std::string session_id;
  Timestamp created_at{};
  Timestamp archived_at{};
  std::uint64_t original_bytes = 0;
  std::uint64_t compressed_bytes = 0;
  std::string title;  ///< This and the next two are as those of Session.
  TitleSource title_from = TitleSource::kDay;
  std::string first_request;
  std::string manifest;  ///< One JSON object.
};

/// One thing that maintenance did.
struct MaintenanceAction {
  std::string task;        ///< "compact", "archive", "retention", "purge".
  std::string session_id;  ///< Empty when it is about the root.
  std::uint64_t count = 0;
  std::string what = {};  ///< A sentence for people.
  /// Of a retention: from where: "log", "archive", "evicted", "kept", "deleted", or "session" for
  /// an archived session that goes as a whole; and how many entries of each type. Else empty.
  std::string place = {};
  std::vector<std::pair<EntryType, std::uint64_t>> types = {};
};

/// How far the index of the memory goes. What it does not cover, searches read from the logs.
struct IndexAge {
  bool enabled = true;         ///< memory_config.indexing.enabled
  bool exists = false;         ///< It is made once there is enough to search.
  std::uint64_t sessions = 0;  ///< That are not archived.
  std::uint64_t behind = 0;    ///< Those of them with entries that it does not cover.
};

/// When maintenance ran last.
struct MaintenanceAge {
  std::optional<Timestamp> last_run;  ///< Nothing: never in this copy of the memory.
  Timestamp next_due{};               ///< As MaintenanceReport has it.
  /// The last run was more than a week ago, or there never was one though a session is older.
  bool is_overdue = false;
};

struct MaintainOptions {
  /// Only what is due by the schedule, and nothing while another process is at it; without it
  /// everything is looked at, and others are waited for.
  bool only_due = false;
  /// Only says what would be done: changes nothing, and takes no lock.
  bool dry_run = false;
  /// Takes single lines out of files that git tracks, too.
  bool purge = false;
  /// Stop after the session at hand when it has taken that long; the next run goes on. 0: no limit.
  std::chrono::milliseconds time_limit{0};
  /// Called with the sessions done and their number; each task counts from 0.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress = {};
};

struct MaintenanceReport {
  std::vector<MaintenanceAction> done = {};
  std::vector<Error> problems;  ///< What could not be done; the rest was.
  Timestamp next_due{};
  /// Set when the clock has jumped: nothing is removed because of its age until it is confirmed.
  std::string held_back = {};
};

/// One line of an audit log.
struct AuditRecord {
  Timestamp at{};
  std::string session_id;
  std::string agent_id;
  /// "delete", "purge", "compact", "archive", "restore", "undelete", "decay" or "redact".
  std::string action;
  std::uint64_t count = 0;
  std::vector<std::string> ids;  ///< At most 1,000 of them.
  std::string detail = {};       ///< Criteria by kind; never content.
};

struct AuditFilter {
  std::vector<std::string> sessions;      ///< All when empty, archived and deleted ones too.
  std::vector<std::string> actions = {};  ///< Any of them.
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
  std::size_t limit = 0;   ///< The newest; 0: all.
  std::size_t offset = 0;  ///< Number of newer ones to skip.
};

/// How much the entries of a session count at one time.
struct DecayReport {
  std::string session_id;
  Timestamp as_of{};
  std::string model;
  std::uint64_t entries = 0;
  /// How many entries have a factor in [0,0.1), [0.1,0.2) … [0.9,1].
  std::array<std::uint64_t, 10> histogram{};
  std::array<double, kEntryTypeCount> mean{};  ///< By type; 0 without entries.
  std::uint64_t rewritten = 0;                 ///< Lines whose factor was written anew.
};

/// The ages in days of DecayTableLine::factors.
inline constexpr std::array kDecayTableAges = {0, 1, 7, 30, 90, 180, 365};

/// How much an entry that nobody asks for counts as it ages, by one type and one model.
struct DecayTableLine {
  std::string model;     ///< "exponential", "priority".
  bool is_used = false;  ///< Whether this is the model that config.json chooses.
  EntryType type = EntryType::kConversation;
  std::array<double, kDecayTableAges.size()> factors{};
};

/// Days without being returned after which the useful life of an entry has ended.
inline constexpr int kLearnedSilentDays = 30;
/// Fewer ended lives than these teach nothing: the interval would be wider than the rate itself.
inline constexpr std::uint64_t kLearnedEndsMin = 10;

/// The decay rate of a type as the access logs teach it, beside the one that is configured. Rates
/// are per day, as in config.json: half of the entries are out of use after ln 2 / rate days.
///
/// An entry is of use from its creation until it was last returned. That has ended after
/// kLearnedSilentDays of silence; else it goes on, and counts as censored. Of exponential lifetimes
/// with right censoring the maximum likelihood estimate is ended / days, all days of use together;
/// its 95 % interval is [chi2(0.025, 2 ended), chi2(0.975, 2 ended + 2)] / (2 days). Source: J. F.
/// Lawless, Statistical Models and Methods for Lifetime Data, 2nd edition 2003, section 4.1; and
/// NIST/SEMATECH e-Handbook of Statistical Methods, section 8.4.5.1.
struct LearnedRate {
  EntryType type = EntryType::kConversation;
  double configured = 0;    ///< What the exponential model uses now.
  bool is_setting = false;  ///< Whether config.json can say another one.
  std::uint64_t used = 0;   ///< Entries that were returned; pinned ones don't count.
  std::uint64_t ended = 0;  ///< Of these, out of use.
  double days = 0;          ///< That all of them were of use, together.
  bool is_enough = false;   ///< Whether that is enough to learn from; else the next three are 0.
  double rate = 0;
  double low = 0;  ///< The 95 % interval.
  double high = 0;
};

// Who writes to a memory at this moment.

class MemoryManager;

/// A lock that is held. What its holder left no word of is empty.
struct LockHolder {
  std::string session_id;  ///< Empty: the lock of the memory itself.
  int pid = 0;
  std::string host;
  std::string agent_id;
  std::string operation;
  std::optional<Timestamp> acquired_at;
};

/// The locks that are held, of the memory first, then by session. Takes none, and waits for none: a
/// write that takes microseconds is hardly ever seen. Empty where the system can't tell. Errors:
/// E_STORAGE_IO.
Result<std::vector<LockHolder>> list_lock_holders(const MemoryManager& memory);

}  // namespace bmad_mem
