// store.hpp - what the parts of the engine share: one opened memory root.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/access_notes.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "base/file_system.hpp"
#include "base/ids.hpp"
#include "base/workspace.hpp"
#include "search/readable_index.hpp"
#include "search/session_index.hpp"
#include "lifecycle/trusted_clock.hpp"
#include "store/config.hpp"
#include "store/file_lock.hpp"
#include "store/manifest.hpp"
#include "store/session_writer.hpp"
#include "store/unpacked_cache.hpp"

namespace bmad_mem {

class PackedSession;
class StoreRedaction;

/// A session as this process writes to it.
struct OpenSession {
  OpenSession(FileSystem& files, const Clock& clock, SessionWriterOptions options)
      : writer(files, clock, std::move(options)) {}

  SessionWriter writer;
  // Guarded by the session's lock: which manifest was read last, and whether it says closed.
  FileInfo manifest_file;
  bool manifest_known = false;
  std::string manifest_text;  // As it was then.
  bool closed = false;
};

/// A writer in the table of the open ones.
struct SessionSlot {
  std::shared_ptr<OpenSession> session;
  std::uint64_t used = 0;  ///< The greater, the later it was asked for.
};

/// How many writers stay open when nobody uses them: with the lock, its information file and eight
/// logs each takes ten descriptors at most, and all of them two thirds of what the process may
/// have.
std::size_t writers_max();

class RootIndex;
class StoreWatch;
struct KeptSessions;

/// One opened root. Threads: safe; `sessions` and `indexes` have their own mutexes, all else is
/// constant.
struct Store {
  std::string root;
  Workspace workspace;
  std::string agent_id;
  std::optional<MemoryAccess> access;  // Everything is allowed without.
  const Clock& clock;
  std::unique_ptr<FileSystem> files;
  Config config;
  std::vector<std::string> config_warnings;
  std::optional<Error> config_problem;  // Only with tolerate_bad_config.
  std::optional<Error> newer_layout;    // A newer program made the root: `files` only reads.
  std::chrono::milliseconds lock_timeout{0};
  IdGenerator ids;
  std::unique_ptr<StoreRedaction> redaction;  // Null where the config says no.

  std::mutex sessions_mutex;
  std::map<std::string, SessionSlot, std::less<>> sessions;
  std::uint64_t session_uses = 0;

  mutable std::mutex indexes_mutex;
  mutable std::map<std::string, std::shared_ptr<SessionIndex>, std::less<>> indexes;
  /// What was unpacked of archives and evicted entries, and how many bytes of it stay for the next
  /// question.
  mutable UnpackedCache unpacked;
  std::uint64_t archives_size_max = 64U << 20U;
  /// What is in an archive, or was evicted, by the file it is in; see packed_session.hpp.
  /// indexes_mutex guards it as well.
  mutable std::map<std::string, std::shared_ptr<PackedSession>, std::less<>> packed;

  /// Packed files and sessions' folders that can't be read, by path, as they were then.
  struct Damage {
    FileInfo file;
    std::chrono::steady_clock::time_point at;
    Error error;
    bool is_lasting = false;   ///< As long as the file is the same.
    bool is_readable = false;  ///< It is a problem, and no reason to leave the file out.
  };
  mutable std::mutex damaged_mutex;
  mutable std::map<std::string, Damage, std::less<>> damaged;
  mutable std::atomic<std::uint64_t> damages{0};  // How often one was noted.
  std::function<void(const Error&)> on_problem;   // See OpenOptions; damaged_mutex guards it.

  std::unique_ptr<StoreWatch> watch;  // Null unless OpenOptions wants one.
  mutable std::mutex present_mutex;
  mutable std::shared_ptr<const KeptSessions> present;  // With `watch`: as last looked for.
  std::unique_ptr<RootIndex> root_index;                // Never null.
  bool indexes_at_the_end = false;                      // As OpenOptions has it.
  mutable std::atomic<bool> is_index_wanting{false};    // Somebody would have made one.

  bool notes_accesses = true;  // What the config says, unless whoever opened the root wants none.
  mutable AccessNotes accesses;

  explicit Store(const Clock& used_clock);
  /// Writes what is still noted of accesses.
  ~Store();

  /// Notes that the packed file at `path` can't be read. What a disk does may pass: that is
  /// believed for some seconds.
  void note_damage(const std::string& path, const FileInfo& file, const Error& error) const;
  /// The same without the words about what is left out; with `is_readable` nothing is.
  void note_problem(const std::string& path, const FileInfo& file, Error error,
                    bool is_readable = false) const;
  /// Whether damage was noted of the very `file`.
  [[nodiscard]] bool is_damaged(const std::string& path, const FileInfo& file) const;
  /// Whether anything was.
  [[nodiscard]] bool has_problem(const std::string& path, const FileInfo& file) const;
  /// For who reads many sessions: notes that `session_id`, a folder, is left out because of
  /// `error`. Errors: `error` itself when it says nothing of the session's files, as when the
  /// session went meanwhile.
  Status leave_out(const std::string& session_id, Error error) const;
  /// Whether that was noted a moment ago.
  [[nodiscard]] bool is_left_out(const std::string& session_id) const;
  /// Why packed files and sessions that are there can't be read.
  [[nodiscard]] std::vector<Error> problems() const;

  /// Notes that an entry was returned, unless the config says not to.
  void note_access(const std::string& session_id, const std::string& id) const;

  /// The writer of `session_id`, which must be a session id; the session need not exist. It stays
  /// open while somebody holds it; of the others, those that were used last do: writers_max().
  std::shared_ptr<OpenSession> session(const std::string& session_id);

  /// The index of `session_id`, kept as long as the root is open; refresh() it before use.
  std::shared_ptr<SessionIndex> index(const std::string& session_id) const;
  /// The same for who works through all sessions and needs each index once: one that is not there
  /// is not kept.
  std::shared_ptr<SessionIndex> passing_index(const std::string& session_id) const;
  /// Whether the index of `session_id` is in memory: refresh() takes in what is new, and no more.
  bool has_index(const std::string& session_id) const;

  /// Forgets the writer and the index of a session that has gone, and what was unpacked of it.
  void forget_session(const std::string& session_id);

  /// The lock of the root itself: for what makes sessions come and go.
  /// Waits at most lock_timeout, and at most `wait_max`.
  Result<FileLock::Guard> lock_root(
      std::string_view operation,
      std::chrono::milliseconds wait_max = std::chrono::milliseconds::max()) const;

  /// Ids of the sessions there are, sorted. A root without sessions has none.
  Result<std::vector<std::string>> session_ids() const;
  /// The same, and the ids of those of which only remains are left (session_place.hpp).
  Result<std::vector<std::string>> session_folders() const;

  /// `wanted`, checked, or all sessions when it is empty.
  Result<std::vector<std::string>> selected_sessions(std::span<const std::string> wanted) const;
};

/// The files of all logs, in the order of the types.
const std::vector<std::string>& log_files();

/// Nothing when session `session_id` exists. Errors: E_INVALID_FORMAT, E_SESSION_NOT_FOUND.
Status check_session(const Store& store, std::string_view session_id);

Result<Session> describe_session(const Store& store, const std::string& session_id);
Result<SessionStatistics> count_session(const Store& store, const std::string& session_id);
Result<std::string> create_session(Store& store, const SessionParams& params);
/// See MemoryManager::usual_session().
Result<UsualSession> usual_session(Store& store, const SessionParams& fresh,
                                   const std::function<Result<bool>()>& is_needed = {});
Status remove_unfinished_sessions(Store& store);
Result<Session> close_session(Store& store, const std::string& session_id);
/// Counts what the session holds into its manifest, unless nothing has changed since it was done
/// last. Says whether it did. Takes the session's lock.
Result<bool> refresh_manifest(Store& store, const std::string& session_id);
/// The same without a look whether it is needed. The caller holds the session's lock and saves the
/// manifest, which must be that on the disk.
Status count_into(Store& store, Manifest& manifest);
Result<BatchReport> add_lines(Store& store, const std::string& session_id, EntryType type,
                              std::span<const std::string_view> lines, const BatchOptions& options);
/// See MemoryManager::check_batch().
Result<BatchReport> check_lines(Store& store, EntryType type,
                                std::span<const std::string_view> lines,
                                const BatchOptions& options);
Result<PinReport> pin_entries(Store& store, std::span<const std::string> ids, bool pinned,
                              std::span<const std::string> sessions);
Result<std::string> add_artifact_document(Store& store, const std::string& session_id,
                                          ArtifactEntry entry, std::string_view document);
Result<VerifyReport> verify_store(const Store& store, std::span<const std::string> sessions,
                                  const MemoryManager::Progress& on_progress);
Result<RepairReport> repair_store(
    Store& store, std::span<const std::string> sessions, const MemoryManager::Progress& on_progress,
    const std::function<bool(const std::string& session_id)>& is_elsewhere = {});
/// See MemoryManager::accept_changes().
Result<RepairReport> accept_changes(Store& store, std::span<const std::string> sessions);
/// What is in sessions and archives; nothing that was evicted.
Result<std::vector<Entry>> read_entries(const Store& store, std::span<const std::string> sessions,
                                        std::span<const EntryType> types, bool all_versions,
                                        ArchivedSessions archived = ArchivedSessions::kWith);
/// The entries with these ids, wherever they are; by their places, not by the ids. With
/// `all_versions`, those that were evicted come first. `as_of`: see EntryFilter; not with both.
Result<std::vector<Entry>> find_entries(const Store& store, std::span<const std::string> ids,
                                        std::span<const std::string> sessions, bool all_versions,
                                        std::optional<Timestamp> as_of = {});
Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter);
Result<ExportReport> export_entries(const Store& store, const ExportOptions& options,
                                    ExportVisitor& visitor);
Status adopt_session(Store& store, const Session& identity);
Result<AnonymizeReport> export_anonymized(const Store& store, const AnonymizeOptions& options,
                                          ExportVisitor& visitor);
Result<AnonymizeReport> anonymize_sessions(Store& store, const AnonymizeOptions& options,
                                           const std::function<void(const Error&)>& on_problem);
Result<QueryAnswer> answer_query(const Store& store, const Query& query);
Result<std::vector<RelatedEntry>> related_entries(const Store& store, std::string_view id,
                                                  const EntryFilter& filter);
Result<std::vector<TopicCount>> list_topics(const Store& store, const EntryFilter& filter);
Result<std::vector<TimelineBucket>> list_times(const Store& store, const EntryFilter& filter,
                                               TimelineUnit unit);
Result<std::vector<IndexReport>> rebuild_indexes(Store& store, std::span<const std::string> wanted,
                                                 const MemoryManager::Progress& on_progress);

Result<CompactionReport> compact_session(Store& store, const std::string& session_id,
                                         const CompactOptions& options);
Result<std::uint64_t> restore_evicted_entries(Store& store, const std::string& session_id,
                                              std::span<const std::string> ids);
Result<ArchiveReport> archive_session(Store& store, const std::string& session_id,
                                      const ArchiveOptions& options = {});
Result<Session> restore_session(Store& store, const std::string& session_id);
/// Removes the folder of a session of which only remains are left, and says whether there was one.
/// The caller holds the root's lock, and not the session's.
Result<bool> clear_remains(Store& store, const std::string& session_id);
Result<std::vector<ArchivedSession>> list_archived(const Store& store);
Result<DeletionReport> delete_entries(Store& store, const DeletionCriteria& criteria,
                                      const DeleteOptions& options);
Result<DeletionReport> delete_session(Store& store, const std::string& session_id,
                                      const DeleteOptions& options);
Result<UndeleteReport> undelete(Store& store, const UndeleteCriteria& criteria);
Result<std::vector<Deletion>> list_deletions(const Store& store);
/// Which deletions can't be brought back any more.
struct PurgeTime {
  Timestamp now{};                 ///< As far as it is trusted; Timestamp::max(): all of them.
  const Graces* graces = nullptr;  ///< Without it, each ends when it says so itself.

  [[nodiscard]] bool ends(const Deletion& deletion) const;
};
/// Removes for good what was deleted and can't be brought back any more.
Result<DeletionReport> purge_deleted(Store& store, const PurgeTime& time);
/// The same by the clock, as maintenance does it: no earlier for a clock that jumps.
Result<DeletionReport> purge_by_clock(Store& store);
/// Deletes the entries of a session that are past their retention at `now`. Returns how many;
/// nothing, and at the cost of its manifest, when the session is too young to have any.
Result<std::optional<std::uint64_t>> delete_expired(Store& store, const std::string& session_id,
                                                    Timestamp now, bool dry_run);
Result<std::vector<Leftover>> find_text(const Store& store, std::string_view text);
Result<std::vector<AuditRecord>> list_audit(const Store& store, const AuditFilter& filter);
Result<std::vector<DecayReport>> age_sessions(Store& store, std::span<const std::string> sessions,
                                              std::optional<Timestamp> as_of, bool write);
std::vector<DecayTableLine> list_decay(const Store& store);
/// Applies the rules of today to `wanted`, or to all sessions there are in any form.
Result<std::vector<RedactReport>> redact_sessions(Store& store, std::span<const std::string> wanted,
                                                  bool dry_run);
Result<PrivacyReport> report_privacy(const Store& store, std::span<const std::string> wanted);
SessionState state_of(const Store& store, const Session& session);
Result<MaintenanceReport> maintain(Store& store, const MaintainOptions& options);
/// Does what is due, shortly, and without a word when it fails: for those who came for something
/// else. Returns what was done.
std::vector<MaintenanceAction> maintain_by_the_way(Store& store);

/// Whether there is an archive of session `session_id`, which must be a session id.
bool is_archived(const Store& store, std::string_view session_id);
/// Whether the archive of a session that is a folder, too, holds lines that the folder does not.
/// Errors: as read_session_archive().
Result<bool> holds_more_than_folder(const Store& store, const std::string& session_id);
/// Removes archive, its manifest and what was kept. The caller holds the root's lock.
Status remove_archive(FileSystem& files, const std::string& session_id);
/// Live, archived and deleted ones, sorted.
Result<std::vector<std::string>> all_session_ids(const Store& store);
/// Whether a session of `size` bytes is to be compacted: it is above its trigger, and has grown
/// since the last compaction.
bool wants_compaction(const Store& store, const std::string& session_id, std::uint64_t size);
/// Makes the index cover the logs again after a rewrite. What fails here fails nothing.
void refresh_index(Store& store, const std::string& session_id);

/// What people read of the index of a session whose logs are in `files`. It is refreshed.
/// Errors: as make_readable_index().
Result<ReadableIndex> readable_index(const Store& store, SessionIndex& index, FileSystem& files);
/// Writes it to index.json. The caller holds the session's lock.
Result<IndexReport> write_readable_index(const Store& store, SessionIndex& index);

}  // namespace bmad_mem
