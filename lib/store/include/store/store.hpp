// store.hpp - one opened memory root, which all operations work on.
//
// What rooms above this one keep for a root hangs here without being known: its indexes, and who
// takes out secrets. What a write needs of them is done by RoomsAbove.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "store/access_log.hpp"
#include "store/config.hpp"
#include "store/file_lock.hpp"
#include "store/line_encryption.hpp"
#include "store/manifest.hpp"
#include "store/retention.hpp"
#include "store/root_trust.hpp"
#include "store/session_writer.hpp"
#include "store/unpacked_cache.hpp"

namespace bmad_mem {

// What git tracks of a memory, read from git's index without running git.
//
//   PROJECT/.git            a folder, or in a worktree a file: "gitdir: PATH"
//   PROJECT/.git/index      the tracked paths, sorted, each with the stage of an unfinished merge
//
// When in doubt, as for an index that is split, sparse or can't be read, all is tracked.

/// Nothing is read before the first question, and again only when git has changed its index.
/// Threads: safe.
class TrackedFiles {
 public:
  /// `root`: the folder of the memory, which outlives this.
  explicit TrackedFiles(const std::string& root) : root_(root) {}

  /// Whether the memory is in a repository.
  [[nodiscard]] bool in_repository();
  /// Whether git tracks anything in the memory.
  [[nodiscard]] bool any();
  /// Whether git tracks a file in the folder of this session, or of its archive.
  [[nodiscard]] bool has_session(std::string_view session_id);
  /// How many logs of events git tracks.
  [[nodiscard]] std::size_t count_event_logs();
  /// The sessions that an unfinished merge waits for: one side changed a file that the other one
  /// removed, or both have an archive. Sorted.
  [[nodiscard]] std::set<std::string> sessions_in_conflict();

 private:
  void find_index();
  void refresh();
  template <typename Ask>
  auto after_refresh(const Ask& ask);

  const std::string& root_;
  std::mutex mutex_;  ///< Guards all below.
  bool is_looked_for_ = false;
  std::string index_file_;             ///< Empty outside of a repository.
  std::string prefix_;                 ///< Of the memory's files, from the top of the working tree.
  std::optional<std::uint64_t> seen_;  ///< Which index was read last.
  bool is_readable_ = true;
  bool has_any_ = false;
  std::size_t event_logs_ = 0;
  std::set<std::string, std::less<>> sessions_;
  std::set<std::string> in_conflict_;
};

struct EncoderChoice;
class ArchiveReader;
class RootIndex;
class SessionIndex;
class StoreWatch;
struct CachedSessions;
struct Store;

/// How much redact_entry() looks for.
enum class RedactPass : std::uint8_t {
  kWhole,
  kNextLine,  ///< The same. Another line was looked at a moment ago: what other processes have
              ///< judged since is not asked.
  kRepeated,  ///< Only what was judged in the session before, also by that other line.
};

/// Takes secrets out of what is written; StoreRedaction (privacy/redaction.hpp) is the one.
class WriteRedaction {
 public:
  virtual ~WriteRedaction() = default;

  /// `line`, one JSON object, without secrets; nothing when it may be written as it is. `entry` is
  /// its value. Adds to `counts`. An entry with something doubtful in it comes back as a sensitive
  /// one.
  [[nodiscard]] virtual std::optional<std::string> redact_entry(
      JsonValue entry, std::string_view line, std::string_view session_id, RedactionCounts& counts,
      RedactPass pass = RedactPass::kWhole) const = 0;
  /// `json`, an object of whatever layout, without secrets.
  [[nodiscard]] virtual std::string redact_object(const std::string& json,
                                                  std::string_view session_id,
                                                  RedactionCounts& counts) const = 0;
  /// `text`, which is no JSON, without secrets. Adds to `counts` if given.
  [[nodiscard]] virtual std::string redact_text(std::string_view text, std::string_view session_id,
                                                RedactionCounts* counts = nullptr) const = 0;
  /// Whether there is anything in `text` that would be taken out.
  [[nodiscard]] virtual bool has_secret(std::string_view text) const = 0;
  /// For those who look at other texts by the same rules; what was judged in any session is known.
  [[nodiscard]] virtual SecretScanner scanner() const = 0;
  /// How many this process has judged: what was redacted before may repeat one.
  [[nodiscard]] virtual std::uint64_t judged_count() const = 0;
};

/// What this room asks of those above it; all_rooms() (operations/rooms.hpp) says who does it.
struct RoomsAbove {
  std::shared_ptr<RootIndex> (*make_root_index)(const Store& store) = nullptr;
  /// Makes room in a session that is full.
  Result<CompactionReport> (*compact)(Store& store, const std::string& session_id,
                                      const CompactOptions& options) = nullptr;
  /// Brings an archived session back.
  Result<Session> (*restore)(Store& store, const std::string& session_id) = nullptr;
  /// The newest line of entry `id` of `type`; nothing where no index knows all of that log.
  std::optional<std::string> (*newest_line)(const Store& store, const std::string& session_id,
                                            EntryType type, std::string_view id) = nullptr;
  /// Takes what is new into the index of the memory, and encodes some of it.
  void (*maintain_index)(const Store& store) = nullptr;
  /// What stands for an id that must not be stored: a hash with the key of the root. `makes_key`
  /// makes that key where there is none; the caller holds the root's lock then.
  Result<std::string> (*hide_id)(const Store& store, std::string_view id, bool makes_key) = nullptr;
  /// Looks whose the lines are that an editor put into a log, before it grows.
  void (*look_before_append)(Store& store, const std::string& session_id, EntryType type) = nullptr;
  /// Opens the memory of the user that Store::user_root names.
  Result<std::unique_ptr<Store>> (*open_user)(const Store& store) = nullptr;
  /// Opens the memory of another project, of which `folder` is the root or the folder, to be
  /// searched with `store`: by its settings, and without writing anything.
  Result<std::unique_ptr<Store>> (*open_other)(const Store& store,
                                               const std::string& folder) = nullptr;
};

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

  std::uint64_t used = 0;  ///< The greater, the later it was asked for; sessions_mutex guards it.
};

/// config.json as it is on disk; Store::config is the part in effect.
struct WrittenConfig {
  Config config = {};
  std::string text = {};
  std::vector<WaitingSetting> waiting = {};  ///< Values that hold once the user trusts them.
  std::vector<std::string> stricter = {};    ///< Keys that hold already: they protect more.
};

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
  WrittenConfig written;
  std::vector<std::string> config_warnings;
  std::optional<Error> config_problem;  // `config` is not what config.json says.
  std::optional<Error> why_read_only;   // `files` only reads.
  std::chrono::milliseconds lock_timeout{0};
  IdGenerator ids;
  const RoomsAbove above;
  std::unique_ptr<WriteRedaction> redaction;   // Null where the config says no.
  std::unique_ptr<LineEncryption> encryption;  // Never null.
  std::unique_ptr<RootOrigins> origins;        // Never null once opened.
  Origin writes_as = Origin::kPerson;          // As OpenOptions has it, and so the next.
  std::string state_folder;
  mutable TrackedFiles tracked{root};
  PastRetention past_retention{*this};

  std::mutex sessions_mutex;
  std::map<std::string, std::shared_ptr<OpenSession>, std::less<>> sessions;
  std::uint64_t session_uses = 0;

  mutable std::mutex indexes_mutex;
  mutable std::map<std::string, std::shared_ptr<SessionIndex>, std::less<>> indexes;
  /// What was unpacked of archives and evicted entries, and how many bytes of it stay for the next
  /// question.
  mutable UnpackedCache unpacked;
  mutable UnpackBudget unpack_budget;
  std::uint64_t archives_size_max = 64U << 20U;
  /// What is in an archive, or was evicted, by the file it is in; see search/archive_reader.hpp.
  /// indexes_mutex guards it as well.
  mutable std::map<std::string, std::shared_ptr<ArchiveReader>, std::less<>> packed;

  /// ArchiveReaderPtr files and sessions' folders that can't be read, by path, as they were then.
  struct Damage {
    FileInfo file;
    std::chrono::steady_clock::time_point at = {};
    Error error;
    bool is_lasting = false;   ///< As long as the file is the same.
    bool is_readable = false;  ///< It is a problem, and no reason to leave the file out.
  };
  mutable std::mutex damaged_mutex;
  mutable std::map<std::string, Damage, std::less<>> damaged;
  mutable std::atomic<std::uint64_t> damages{0};  // How often one was noted.
  /// As former processes noted it (archive/unpacked_cache.hpp); nothing until it is read.
  mutable std::optional<std::map<std::string, Error, std::less<>>> refused;
  /// See OpenOptions; damaged_mutex guards it.
  std::function<void(const Error&)> on_problem = [](const Error& /*problem*/) {};

  std::unique_ptr<StoreWatch> watch;  // Null unless OpenOptions wants one.
  mutable std::mutex present_mutex;
  mutable std::shared_ptr<const CachedSessions> present;  // As last looked for.
  /// Folders of which only remains are left, as they were then; `present_mutex` guards it.
  mutable std::map<std::string, FileInfo, std::less<>> remains;
  std::shared_ptr<RootIndex> root_index;              // Never null.
  bool indexes_at_the_end = false;                    // As OpenOptions has it.
  mutable std::atomic<bool> needs_index{false};       // Somebody would have made one.
  mutable std::atomic<bool> flushes_any{false};       // However little is new, for an encoder.
  mutable std::atomic<bool> is_index_due{false};      // A log has grown by as much as is worth it.
  mutable std::atomic<bool> replaces_vectors{false};  // Those of another encoder.

  mutable std::timed_mutex encoder_mutex;
  mutable std::shared_ptr<EncoderChoice> encoder;  // See encoder/encoder_choice.hpp.
  bool runs_programs = true;                       // As OpenOptions has it.

  std::string user_root;      // Of the user's own memory; empty: questions go without.
  std::string checkout_root;  // Of a worktree's own checkout, while the memory is the main one's.
  mutable std::mutex user_mutex;
  mutable std::unique_ptr<Store> user;  // Once somebody has asked for it and it was there.
  mutable bool user_failed = false;     // Said once.
  mutable std::unique_ptr<Store> checkout_store;
  mutable bool checkout_opened = false;

  bool notes_accesses = true;  // What the config says, unless whoever opened the root wants none.
  mutable AccessNotes accesses;

  /// As `unpack_budget`, of those that no index knows, and that were not written here: they may
  /// have come with a clone. Limited where OpenOptions::index_at_the_end is set.
  mutable UnpackBudget new_budget;

  Store(const Clock& used_clock, const RoomsAbove& rooms);
  /// Writes what is still noted of accesses.
  ~Store();

  /// Notes that the packed file at `path` can't be read. What a disk does may pass: that is
  /// believed for some seconds.
  void note_damage(const std::string& path, const FileInfo& file, const Error& error) const;
  /// The same without the words about what is left out; with `is_readable` nothing is.
  void note_problem(const std::string& path, const FileInfo& file, Error error,
                    bool is_readable = false) const;
  /// Whether damage was noted of the very `file`; with `is_new` also that it is more than
  /// `new_budget` has.
  [[nodiscard]] bool is_damaged(const std::string& path, const FileInfo& file,
                                bool is_new = false) const;
  /// Whether the packed `file` was noted as one that was written here.
  [[nodiscard]] bool is_ours(const std::string& path, const FileInfo& file) const;
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

  /// The user's own memory, which questions take in beside this one; null where there is none, the
  /// config wants none, or it can't be opened, which on_problem hears once.
  [[nodiscard]] const Store* user_store() const;
  /// The memory at checkout_root; null: none, or it can't be read.
  [[nodiscard]] const Store* checkout() const;
  /// Its sessions that this memory neither has nor had, which are read beside ours.
  [[nodiscard]] std::vector<std::string> checkout_sessions() const;

  /// Notes that an entry was returned, unless the config says not to.
  void note_access(const std::string& session_id, const std::string& id) const;

  /// The writer of `session_id`, which must be a session id; the session need not exist. It stays
  /// open while somebody holds it; of the others, those that were used last do: writers_max().
  std::shared_ptr<OpenSession> session(const std::string& session_id);

  /// The lock of session `session_id`, as SessionWriter::lock() gives it.
  Result<FileLock::Guard> lock_session(const std::string& session_id, std::string_view operation);

  /// Forgets the writer and the index of a session that has gone, and what was unpacked of it.
  void forget_session(const std::string& session_id);

  /// The lock of the root itself: for what makes sessions come and go.
  /// Waits at most lock_timeout, and at most `wait_max`.
  Result<FileLock::Guard> lock_root(
      std::string_view operation,
      std::chrono::milliseconds wait_max = std::chrono::milliseconds::max()) const;

  /// Ids of the sessions there are, sorted. A root without sessions has none.
  Result<std::vector<std::string>> session_ids() const;
  /// The same, and the ids of those of which only remains are left (layout.hpp).
  Result<std::vector<std::string>> session_folders() const;

  /// `wanted`, checked, or all sessions when it is empty.
  Result<std::vector<std::string>> selected_sessions(std::span<const std::string> wanted) const;
};

/// The files of all logs, in the order of the types.
const std::vector<std::string>& log_files();

/// Nothing when session `session_id` exists. Errors: E_INVALID_FORMAT, E_SESSION_NOT_FOUND.
Status check_session(const Store& store, std::string_view session_id);

/// Whether there is an archive of session `session_id`, which must be a session id.
bool is_archived(const Store& store, std::string_view session_id);

/// Makes `loaded`, of which the user may not have trusted all, the config of `store`.
void take_config(Store& store, LoadedConfig loaded);

}  // namespace bmad_mem
