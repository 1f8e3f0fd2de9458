// hub.hpp - one memory on many machines: the feed of a project, and who keeps it.
//
//   seq   op      session  log       target  line
//   1     line    s1       facts             {"id":"f1",…}
//   2     line    s1       facts             {"id":"f2",…}
//   3     delete  s1       facts     1                        f1 goes to deleted/ everywhere
//   4     purge   s1       facts     2                        f2 is gone for good, here too
//
// The files of a root stay its store. A hub holds what is shared: an ordered feed of lines, and of
// operations on them. Each root is a mirror: it applies the feed in its order. Two roots at the
// same place of the feed, without lines of their own, have the same logs, byte for byte.
//
// Nobody but who is given a Hub connects to anything. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// What a row of the feed does. The numbers are the hub's, so they never change.
enum class FeedOp : std::uint8_t {
  kLine = 0,      ///< `line` stands behind the lines before it in its log.
  kDelete = 1,    ///< The line `target` is deleted; it can be brought back for a while.
  kPurge = 2,     ///< The session's entry `entry_id` is gone for good, in all versions, everywhere.
  kRedact = 3,    ///< The line `target` becomes `line`.
  kEvict = 4,     ///< Compaction moved the line `target` out of its log.
  kSession = 5,   ///< The session was deleted as a whole.
  kManifest = 6,  ///< `line` is the manifest of the session.
};

struct FeedRow {
  std::uint64_t seq = 0;  ///< Its place in the feed, from 1; the hub gives it. Some have no row.
  std::string replica;    ///< Who pushed it.
  FeedOp op = FeedOp::kLine;
  std::string session_id;
  EntryType log = EntryType::kConversation;
  std::uint64_t target =
      0;                 ///< The seq of the line it is about; 0 for a line, a purge, a manifest.
  std::string entry_id;  ///< Empty for what is about a session.
  std::optional<std::string> line;  ///< Without its '\n'; nothing once it was purged.
  std::string who = {};             ///< The role that pushed it; the hub says it.

  bool operator==(const FeedRow&) const = default;
};

/// Most rows, and bytes of their lines, of one push: one statement of the hub's.
inline constexpr std::size_t kPushRowsMax = 500;
inline constexpr std::size_t kPushBytesMax = 4U << 20U;
/// Most rows and, about, bytes of one pull.
inline constexpr std::size_t kPullRowsMax = 5000;
inline constexpr std::size_t kPullBytesMax = 16U << 20U;

/// The version of the hub's tables that this program knows.
inline constexpr int kHubVersion = 2;

/// How the hub stands, as one replica sees it.
struct HubHead {
  std::uint64_t head = 0;    ///< The seq of the last row.
  std::uint64_t pushed = 0;  ///< How many rows this replica has pushed in all.
  bool is_replica = false;   ///< Whether the hub knows this replica.
  std::string rights;        ///< Of the role that is connected: "read", "write", "forget", "admin".
  int version = 0;           ///< Of the tables.
  int min_client = 0;        ///< Programs that know less must not write.
  std::string policy;        ///< TOML of redaction rules that all must apply; empty: none.
  Timestamp now{};           ///< The hub's clock; zero: it has none.
  Timestamp seen_at{};       ///< When this replica pushed or confirmed something, by that clock.
};

/// A row of the feed that no mirror can apply: all go on behind it.
struct SkippedRow {
  std::uint64_t seq = 0;
  std::string who;         ///< The role that pushed it; empty when the hub does not know.
  std::string session_id;  ///< As it says, and cut.
  std::string why;
};

/// One mirror, as the hub knows it.
struct HubReplica {
  std::string replica;  ///< Its id.
  std::string who;      ///< The role that joined it.
  std::string host;
  std::uint64_t cursor = 0;  ///< What it has applied.
  std::uint64_t pushed = 0;
  Timestamp seen_at{};
};

/// A role of the hub that has rights in a project.
struct HubMember {
  std::string who;
  std::string rights;  ///< "read", "write", "forget" or "admin", each with those before it.

  bool operator==(const HubMember&) const = default;
};

/// What the hub still has of purged entries.
struct ForgottenRows {
  std::uint64_t with_content = 0;  ///< Rows whose line is there.
  std::uint64_t last_purge = 0;    ///< The seq of the last purge; who has applied it, has all.
  /// Whether the server has dropped all old versions of rows from its table. Not without the right
  /// to vacuum it, nor while an older transaction may still read them. Backups and archived
  /// write-ahead logs are beyond it.
  bool is_vacuumed = false;
};

struct PushBatch {
  std::uint64_t pushed = 0;  ///< What HubHead::pushed was when the batch was made.
  /// Of each the seq and the replica are the hub's. At most kPushRowsMax, and kPushBytesMax unless
  /// it is one.
  std::vector<FeedRow> rows;
  /// Only when this is the last seq of the feed: what the rows say depends on what is there.
  std::optional<std::uint64_t> only_at_head;
};

struct PushAnswer {
  /// Whether the rows are in the feed. If not, nothing is: `pushed` or the head was another.
  bool is_stored = false;
  /// The seq of each row; 0 for a line whose entry was purged, which nobody gets again.
  std::vector<std::uint64_t> seqs;
};

/// What pull() gives.
struct PullRange {
  std::uint64_t after = 0;                     ///< Rows behind this seq,
  std::optional<std::uint64_t> until = {};     ///< up to this one;
  std::optional<std::string> session_id = {};  ///< of this session alone.
};

/// The feed of one project, as one replica. Errors of all calls: E_HUB_AWAY when the hub can't be
/// reached or does not answer in time: whether the call took effect is unknown; E_HUB_FULL;
/// E_HUB_VERSION; E_ACCESS_DENIED for what the role may not.
class Hub {
 public:
  Hub() = default;
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  virtual ~Hub() = default;

  virtual Result<HubHead> head() = 0;
  /// The next rows of the range by seq: kPullRowsMax, or fewer with about kPullBytesMax. Empty at
  /// its end.
  virtual Result<std::vector<FeedRow>> pull(const PullRange& range) = 0;
  /// The rows with these seqs, by seq; those that are not there are left out.
  virtual Result<std::vector<FeedRow>> rows(std::span<const std::uint64_t> seqs) = 0;
  /// Adds rows to the feed, all or none, in one step: exactly once, however often it is called
  /// with one batch. A purge empties the lines of its entry here, a redaction replaces its target.
  virtual Result<PushAnswer> push(const PushBatch& batch) = 0;
  /// Notes what this replica has applied.
  virtual Status confirm(std::uint64_t cursor) = 0;

  /// From here on this is replica `replica`, which joins. Fine when the hub knows it.
  virtual Status add_replica(const std::string& replica, const std::string& host) = 0;
  virtual Status drop_replica(const std::string& replica) = 0;
  /// Takes a row that no mirror can apply out of the feed, for admins.
  virtual Status drop_row(std::uint64_t seq) = 0;
  virtual Result<std::vector<HubReplica>> replicas() = 0;
  /// Whether what is said is encrypted on its way.
  [[nodiscard]] virtual bool is_tls() const { return false; }
};

/// Lines that stay here, by the reason.
struct WithheldLines {
  std::uint64_t sensitive = 0;  ///< Sensitive, or about a file outside the project.
  std::uint64_t local = 0;      ///< Of sessions with the metadata "local": true.
  std::uint64_t secrets = 0;    ///< A rule of today finds a secret in them.
  std::uint64_t encrypted = 0;
  std::uint64_t damaged = 0;
  std::uint64_t purged = 0;  ///< Their entry was purged.

  [[nodiscard]] std::uint64_t total() const {
    return sensitive + local + secrets + encrypted + damaged + purged;
  }
  WithheldLines& operator+=(const WithheldLines& more) {
    sensitive += more.sensitive;
    local += more.local;
    secrets += more.secrets;
    encrypted += more.encrypted;
    damaged += more.damaged;
    purged += more.purged;
    return *this;
  }
  bool operator==(const WithheldLines&) const = default;
};

class MemoryManager;

struct SyncOptions {
  bool pulls = true;
  bool pushes = true;
  bool dry_run = false;  ///< Says what would be done.
};

inline constexpr std::chrono::minutes kClockSkewMax{5};

struct SyncReport {
  std::uint64_t head = 0;               ///< Of the feed.
  std::uint64_t cursor = 0;             ///< What is applied here.
  std::uint64_t pulled_lines = 0;       ///< Lines of others.
  std::uint64_t pulled_operations = 0;  ///< Deletions, purges, manifests … of others.
  std::uint64_t pushed_lines = 0;
  std::uint64_t pushed_operations = 0;
  std::uint64_t waiting_lines = 0;       ///< New here, and not for this role to push.
  std::uint64_t waiting_operations = 0;  ///< Also of a role that may push the rest.
  std::string rights;                    ///< HubHead::rights.
  /// Of a dry run: when the first line was written that is new here.
  std::optional<Timestamp> waits_since;
  std::uint64_t refused = 0;  ///< Lines of entries that were purged elsewhere; gone here, too.
  std::vector<SkippedRow> skipped;  ///< Among the rows that were pulled.
  WithheldLines held;
  std::vector<std::string> conflicts;  ///< Ids that were changed on two machines: the newer leads.
  std::vector<Error> problems;         ///< Sessions that wait, and why.
  /// How far the clock of this machine is before the hub's; zero up to kClockSkewMax. Of two
  /// versions that meet, the one with the later time leads.
  std::chrono::seconds clock_skew{};
  bool has_new_replica = false;  ///< Another root pushes as this one did: this one got a new id.
};

struct JoinOptions {
  std::string service;
  std::string project;
  std::string host;  ///< How people know this machine.
};

/// Makes the root a mirror of the feed. Errors: E_CONCURRENT_MOD when it is one already; as Hub's.
Status join_hub(MemoryManager& memory, Hub& hub, const JoinOptions& options);
/// Makes it an ordinary root again, also when hub/ is damaged; the hub still lists the replica.
/// Errors: E_HUB_NOT_FOUND when it has joined none.
Status leave_hub(MemoryManager& memory);
/// The next sync compares all with the hub again, as if nothing had been exchanged yet; or sessions
/// that are named, at once. Lines that were cut out of logs come back; what a record says was
/// deleted does not. What the hub has lost is pushed once more. Errors: E_SESSION_NOT_FOUND for a
/// session that was deleted here, or that nobody has.
Status reclone_from_hub(MemoryManager& memory, Hub& hub, std::span<const std::string> sessions);
/// Pulls, pushes, and pulls what was pushed meanwhile. One process at a time. What fails in one
/// session does not stop the others: SyncReport::problems. Errors: E_HUB_NOT_FOUND when the
/// root has joined no hub; E_STORAGE_CORRUPT when the hub is not the one that it was; as Hub's.
/// After an error the next call goes on.
Result<SyncReport> sync_with_hub(MemoryManager& memory, Hub& hub, const SyncOptions& options = {});

/// The rows of the whole feed that mirrors skip.
Result<std::vector<SkippedRow>> skipped_rows(Hub& hub);
/// Takes one of them out of the feed. Errors: E_INVALID_FORMAT for a row that is there and can be
/// applied: entries are deleted and purged instead; E_SESSION_NOT_FOUND without such a row.
Status drop_skipped_row(Hub& hub, std::uint64_t seq);

/// What a root knows of its hub without asking it.
struct MirrorReport {
  std::string service;
  std::string project;
  std::string replica;
  std::uint64_t cursor = 0;
  std::int64_t stale_days = 0;  ///< memory_config.hub.stale_days
};
/// Errors: E_HUB_NOT_FOUND when it has joined none; E_ACCESS_DENIED.
Result<MirrorReport> mirror_report(const MemoryManager& memory);
/// How many sessions have changed since the last sync, by their files. Errors: as mirror_report().
Result<std::uint64_t> sessions_to_push(const MemoryManager& memory);

}  // namespace bmad_mem
