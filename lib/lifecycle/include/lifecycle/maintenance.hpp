// maintenance.hpp - what is done to sessions as they age and come to their end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "lifecycle/log_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<MaintenanceReport> maintain(Store& store, const MaintainOptions& options);
/// Does what is due, shortly, and without a word when it fails: for those who came for something
/// else. Returns what was done.
std::vector<MaintenanceAction> maintain_by_the_way(Store& store);
/// Sorts the provenance log of who wrote the lines when it has doubled. With `may_read_all`, also
/// removes from it what has long gone from the store. What fails here fails nothing.
void compact_provenance(const Store& store, bool may_read_all);
/// purge_deleted() by the clock, as maintenance does it: no earlier for a clock that jumps.
Result<DeletionReport> purge_by_clock(Store& store);

/// When maintenance last ran here, and whether that is too long ago. Reads one small file.
Result<MaintenanceAge> maintenance_age(const Store& store);

Result<Session> close_session(Store& store, const std::string& session_id);

Result<std::vector<DecayReport>> age_sessions(Store& store, std::span<const std::string> sessions,
                                              std::optional<Timestamp> as_of, bool write);
std::vector<DecayTableLine> list_decay(const Store& store);

/// See MemoryManager::learned_decay().
Result<std::vector<LearnedRate>> learn_decay(const Store& store);

// A newer version of an entry.

/// See MemoryManager::update_entry().
Result<Entry> update_entry(Store& store, const std::string& id, std::string_view changes,
                           std::span<const std::string> sessions);
/// See MemoryManager::move_entries().
Result<MoveReport> move_entries(Store& from, Store& to, std::span<const std::string> ids);
/// The newest version with `id`. Errors: E_ENTRY_NOT_FOUND where there is none, E_INVALID_QUERY
/// where several of `sessions` have one.
Result<Entry> entry_to_change(const Store& store, const std::string& id,
                              std::span<const std::string> sessions);
/// The line of the next version of an entry. It is called again when another process has changed
/// the entry meanwhile.
using MakeVersion = std::function<Result<std::string>(const Entry& old)>;
/// Appends what `make` makes of the entry, unless that is the line it has. Returns the newest
/// version. Errors: as update_entry(); those of `make`.
Result<Entry> change_entry(Store& store, const std::string& id,
                           std::span<const std::string> sessions, const MakeVersion& make);
/// As add_lines(). Where a line replaces an entry, a summary that rules wrote is written again: it
/// may quote what was replaced.
Result<BatchReport> add_versions(Store& store, const std::string& session_id, EntryType type,
                                 std::span<const std::string_view> lines,
                                 const BatchOptions& options);
/// See MemoryManager::link().
Result<LinkReport> link_entries(Store& store, const LinkRequest& request);
Result<PinReport> pin_entries(Store& store, std::span<const std::string> ids, bool pinned,
                              std::span<const std::string> sessions);

Result<std::vector<AuditRecord>> list_audit(const Store& store, const AuditFilter& filter);

// A session made smaller, and what left it brought back.

Result<CompactionReport> compact_session(Store& store, const std::string& session_id,
                                         const CompactOptions& options);
/// Moves the lines that `find` finds to the evicted ones: another mirror of the memory has evicted
/// them.
Status evict_lines(Store& store, const std::string& session_id, const FindLines& find,
                   const std::string& reason);
Result<std::uint64_t> restore_evicted_entries(Store& store, const std::string& session_id,
                                              std::span<const std::string> ids);

// A session into its archive and back.

Result<ArchiveReport> archive_session(Store& store, const std::string& session_id,
                                      const ArchiveOptions& options = {});
/// Error where the session is not as it was written and nothing but damage explains it: packed,
/// that would not be seen any more. `notice`: line_hash_notice(), also of what is no damage. May
/// run git.
Status check_undamaged(const Store& store, const std::string& session_id, std::string& notice);
Result<Session> restore_session(Store& store, const std::string& session_id);
/// See MemoryManager::resolve_session().
Result<bool> settle_session(Store& store, const std::string& session_id);
Result<std::vector<ArchivedSession>> list_archived(const Store& store);
/// Removes archive, its manifest and what was kept. The caller holds the root's lock.
Status remove_archive(FileSystem& files, const std::string& session_id);
/// Removes the folder of a session of which only remains are left, and says whether there was one.
/// The caller holds the root's lock, and not the session's.
Result<bool> clear_remains(Store& store, const std::string& session_id);

// Who did what to memory, and when: ids and counts, never content.
//
//   {"at":"2026-…Z","agent_id":"ann","action":"delete","count":2,"ids":["f1","f2"],"detail":"tags"}
//
// The log lies in the session's folder. For a session that is gone it lies under deleted/, so that
// what became of it can still be read; so it does for what maintenance does in a root that git
// tracks, and for archiving. One write a record; the caller holds the session's lock.

/// Most ids that a record names; `count` counts them all.
inline constexpr std::size_t kAuditIdsMax = 1000;
inline constexpr std::uint64_t kAuditSizeMax = 64U << 20U;

/// While one that is on lives, what this thread records goes under deleted/, which git ignores: for
/// what happens without being asked for, at a time that differs by machine.
class LocalAudit {
 public:
  explicit LocalAudit(bool is_on);
  ~LocalAudit();
  LocalAudit(const LocalAudit&) = delete;
  LocalAudit& operator=(const LocalAudit&) = delete;

 private:
  bool before_;
};

/// Appends `record` to the audit log of its session. Durable on return.
Status append_audit(FileSystem& files, const AuditRecord& record);

/// The same with the time and the agent of `store`: `record` says what was done.
Status append_audit(const Store& store, AuditRecord record);

/// How many bytes append_audit() adds for `record`.
std::uint64_t audit_size(const AuditRecord& record);

/// The records in `text`, the content of an audit log of session `session_id`, as they stand.
/// Lines that are none are passed over; `verify` names them.
std::vector<AuditRecord> parse_audit(std::string_view text, const std::string& session_id);

/// The records of `session_id`, from its folder and from deleted/, by time. None: empty.
Result<std::vector<AuditRecord>> read_audit(FileSystem& files, const std::string& session_id);

}  // namespace bmad_mem
