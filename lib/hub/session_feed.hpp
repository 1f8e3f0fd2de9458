// session_feed.hpp - rows of the feed, applied to one session; and what joining and synchronizing
// share.
//
//   lock -> logs read, compared with what the hub has -> lines, redactions -> logs written, durable
//   -> unlock -> hub/sessions/{id}.json, durable
//   deletions, evictions, purges: as a user's, by the same code
//
// Applying a row again changes nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"
#include "lifecycle/log_lines.hpp"
#include "store/file_lock.hpp"
#include "store/store.hpp"

namespace bmad_mem {

// The lines of one log, each with its place in the feed.
//
//   feed:   1:a  2:b  3:c  4:d           log:   a  x  c  d  y
//   seqs:                                       1  -  3  4  -       x and y are new; 2:b has gone
//
// Lines that the hub has are in the order of the feed. New ones may be between them: those that
// have to stay here remain there.

struct SessionLine {
  std::string_view text;     ///< Without its '\n'.
  std::uint64_t hash = 0;    ///< XXH3 of the text.
  std::uint64_t seq = 0;     ///< 0: the hub does not have it.
  std::uint64_t offset = 0;  ///< In the log as it was read.
  std::uint64_t number = 0;  ///< The same, from 1.
};

class SessionLines {
 public:
  /// Reads the log of `type`; none is an empty one. Blank lines, and what is behind the last '\n',
  /// are not looked at. `feed`: what the hub has of it. Errors: E_SIZE_LIMIT; as the file system's.
  static Result<SessionLines> read(FileSystem& files, const std::string& session_id, EntryType type,
                                   const std::vector<FeedLine>& feed);

  [[nodiscard]] const std::vector<SessionLine>& lines() const { return lines_; }
  /// What the hub has and the log has not, by seq.
  [[nodiscard]] const std::vector<FeedLine>& missing() const { return missing_; }

  /// The next line of the feed: a new line of the same bytes becomes it, else it is put in, unless
  /// `puts_in` says no. Where it was put in, or became it: behind all others that the hub has.
  /// False when it was put in.
  bool take(std::uint64_t seq, std::string_view text, bool puts_in = true);
  /// The line `seq` becomes `text`. False when it is not there.
  bool replace(std::uint64_t seq, std::string_view text);
  /// The missing line `seq` was replaced by `text` here: a new line of these bytes is it.
  void adopt(std::uint64_t seq, std::string_view text);
  /// Whether there is a new line of these bytes.
  [[nodiscard]] bool has_new(std::string_view text) const;

  /// What take() and replace() have changed: lines behind the end of the log, or all of it.
  [[nodiscard]] bool is_changed() const { return is_rewritten_ || lines_.size() > read_count_; }
  [[nodiscard]] bool is_rewritten() const { return is_rewritten_; }
  /// The lines behind those that were read, or all, each with its '\n'.
  [[nodiscard]] std::string text_to_write() const;
  /// What the hub has of the log by now.
  [[nodiscard]] std::vector<FeedLine> feed() const;

 private:
  void match(const std::vector<FeedLine>& feed);

  std::deque<std::string> texts_;  // That lines_ points into: the log, and what was put in.
  std::vector<SessionLine> lines_;
  std::unordered_multiset<std::uint64_t> new_hashes_;
  std::vector<FeedLine> missing_;
  std::size_t last_ = 0;  // Behind the last line that the hub has.
  std::size_t read_count_ = 0;
  bool is_rewritten_ = false;
};

// Lines that left the logs of a session, as they are kept for those who want them
// back: under deleted/, and evicted.

/// A log, and XXH3 of a line in it.
using LineKey = std::pair<EntryType, std::uint64_t>;

struct LeftLine {
  FeedOp left_by = FeedOp::kDelete;  ///< Or kEvict.
  EntryType type = EntryType::kConversation;
  std::string line;
  std::uint64_t hash = 0;   ///< XXH3 of it.
  bool of_session = false;  ///< It was deleted with the whole session.

  [[nodiscard]] LineKey key() const { return {type, hash}; }
};

/// What has left a session here, and the hub does not know yet.
struct LocallyGone {
  std::map<LineKey, bool> lines;  ///< Deleted or evicted; whether deleted.
  std::vector<std::string> purged;
};

/// Errors: as read_left_lines() and load_deletion_record().
Result<LocallyGone> read_locally_gone(const Store& store, const std::string& session_id);

/// The lines in the logs of the session, of which the hub has what `mirror` says, that pass; the
/// seq of a new one is 0.
Result<std::vector<LogLine>> find_session_lines(
    FileSystem& files, const std::string& session_id, const SessionMirror& mirror,
    const std::function<bool(EntryType type, const SessionLine& line)>& passes);

/// Deleted ones first. Errors: as read_deleted() and read_evicted().
Result<std::vector<LeftLine>> read_left_lines(const Store& store, const std::string& session_id);

// The caller holds the session's lock. Durable on success.

/// The kept line `of` becomes `line`.
Status redact_left_line(Store& store, const std::string& session_id, const LineKey& of,
                        const std::string& line);
/// These are deleted no longer, and a deletion without lines is none.
Status drop_deleted_lines(Store& store, const std::string& session_id,
                          const std::set<LineKey>& keys);
/// These are evicted no longer.
Status drop_evicted_lines(Store& store, const std::string& session_id,
                          const std::set<LineKey>& keys);

/// What applying has done.
struct FeedOutcome {
  std::uint64_t lines = 0;       ///< Put into logs.
  std::uint64_t operations = 0;  ///< Rows of any other kind, of other replicas.
  /// Lines that this replica has pushed, as the hub says, and that no log had: another root pushes
  /// under the name of this one.
  std::uint64_t not_ours = 0;
  std::vector<std::string> changed;  ///< Sessions whose index does not know the new lines.
  std::vector<std::string>
      conflicts;  ///< Ids of which others wrote versions, and we have new ones.

  FeedOutcome& operator+=(const FeedOutcome& more) {
    lines += more.lines;
    operations += more.operations;
    not_ours += more.not_ours;
    changed.insert(changed.end(), more.changed.begin(), more.changed.end());
    conflicts.insert(conflicts.end(), more.conflicts.begin(), more.conflicts.end());
    return *this;
  }
};

/// Rows by session, in the order of the feed.
using SessionRows = std::map<std::string, std::vector<FeedRow>, std::less<>>;

/// The next rows of `range`, which then begins after them; nothing at its end. Rows that can't be
/// applied are left out and added to `skipped`: the line is no entry of its log, the id of the
/// session is none. Errors: E_STORAGE_CORRUPT when a row is not in the range or not after the one
/// before; as Hub's.
Result<std::optional<std::vector<FeedRow>>> next_rows(Hub& hub, PullRange& range,
                                                      JsonParser& parser,
                                                      std::vector<SkippedRow>& skipped);

/// Applies `rows`, all of session `session_id` and checked, in the order of the feed. What is
/// applied already is passed over. `replica` is our own. Durable on success; on error the rows in
/// front may be applied. The caller indexes the new lines: of all sessions in one step, since each
/// step syncs a segment and its folder.
Status apply_rows(Store& store, const std::string& session_id, std::span<const FeedRow> rows,
                  std::string_view replica, FeedOutcome& outcome);

/// The same for many sessions, several at once as far as lines are to be written: a session is
/// synced some twenty times, and a file system makes durable at once what several wait for.
Status apply_sessions(Store& store, const SessionRows& sessions, std::string_view replica,
                      FeedOutcome& outcome);

/// Indexes the sessions of FeedOutcome::changed, which is empty then.
void refresh_changed(Store& store, FeedOutcome& outcome);

/// Applies all rows of the session up to `until` as if nothing were known of it: lines that are
/// there are found, others come back unless they were deleted here. Who does not come to the end
/// leaves SessionMirror::is_behind.
Status apply_again(Store& store, Hub& hub, const std::string& session_id, std::uint64_t until,
                   FeedOutcome& outcome);

// A session that was deleted as a whole, and is kept for a while. Its logs
// are no more, but purges and redactions of the feed reach what is kept, and its own are pushed.

/// Whether the session was deleted here as a whole, which the hub will hear of. `rows` come of it:
/// where nothing is known of it yet, they tell whether it is the one that was deleted.
Result<bool> is_deleted_here(const Store& store, const std::string& session_id,
                             std::span<const FeedRow> rows = {});

/// Whether a session that is there was begun again after the one that the mirror knows was deleted,
/// of which the hub has not heard.
Result<bool> is_begun_again(const Store& store, const SessionMirror& mirror);

/// Applies `rows` to a session of which is_deleted_here(), up to its last deletion among them: what
/// follows that in the feed is a new session. Durable on success.
Status apply_to_deleted(Store& store, const std::string& session_id, std::span<const FeedRow> rows,
                        std::string_view replica, FeedOutcome& outcome);

/// Redacts the kept copy of a line that left the logs. The caller holds the session's lock, or the
/// root's when there is no session, and saves the mirror.
Status redact_out_line(Store& store, SessionMirror& mirror, const FeedRow& row);

// What is new in one session, as rows that the hub has to hear of.
//
//   line of the log        at the hub?    row
//   new                    no             line; or it stays here, see Held
//   gone: under deleted/   yes            delete
//   gone: evicted          yes            evict
//   gone: purged           yes            purge
//   gone: another is in its place, with its id      redact
//   gone without a trace   yes            none: somebody has edited the log. The session waits.
//
// What has gone is never guessed from its absence: a record says what became of it.

struct SessionChanges {
  std::vector<FeedRow> rows;
  /// Some of the rows are versions of entries that the hub has.
  bool has_versions = false;
  std::optional<Timestamp> oldest;  ///< When the first of the lines was written.
  WithheldLines held;
  std::vector<std::string> conflicts;  ///< Ids that were changed here and elsewhere.
  std::vector<FeedLine> lost;          ///< Gone without a trace.
  std::uint64_t digest = 0;            ///< SessionDigests::of() before they were looked for.
};

/// How the files of sessions look that collect_changes() reads.
class SessionDigests {
 public:
  /// Lists the folders of which most sessions have nothing, so that nine files of each are looked
  /// at instead of thirteen: a sync with nothing to do does little else.
  static Result<SessionDigests> look(const Store& store);

  /// Other files, or another config, give another number.
  [[nodiscard]] Result<std::uint64_t> of(const std::string& session_id) const;

 private:
  explicit SessionDigests(const Store& store) : store_(store) {}

  const Store& store_;
  std::vector<std::string> deleted_;   // Of sessions from which something was deleted; sorted.
  std::vector<std::string> archived_;  // Files; sorted.
};

/// Asks the hub for lines that are gone here, and for nothing else. Lines in which `redaction`
/// finds something stay here. A version that is older than the one of another machine is appended,
/// and the newer one once more: the last line wins. Errors: as the file system's and the hub's.
Result<SessionChanges> collect_changes(Store& store, Hub& hub, const WriteRedaction& redaction,
                                       const SessionMirror& mirror, bool dry_run);

/// A session that waits since lines that the hub has are gone without a trace.
Error lost_lines(const Store& store, const std::string& session_id,
                 const std::vector<FeedLine>& lost);

// What joining and synchronizing share: the lock, whether the feed is still the
// one that this mirror has applied, and which rows of it a role may push.
//
//   here   1:a  2:b  3:c                the mark is 3:c
//   hub    1:a  2:b  3:x  4:y           restored from a backup of two rows, and others pushed
//
// Numbers alone don't tell: the hub has as many rows as before, and they are others.

/// 128 random bits, as a UUID.
std::string new_replica_id();

/// Of a root that has joined a hub, and the lock of who changes it.
struct JoinedMirror {
  MirrorState state;
  FileLock::Guard guard;
};

/// Errors: E_HUB_NOT_FOUND when the root has joined none; E_ACCESS_DENIED for a foreign root;
/// E_LOCK_TIMEOUT.
Result<JoinedMirror> lock_mirror(Store& store, FileLock& lock);
FileLock mirror_lock(Store& store);

/// Nothing when the root may exchange with a hub that says `head`. Errors: E_HUB_VERSION;
/// E_STORAGE_CORRUPT when the hub has less than it had; E_ACCESS_DENIED when it does not know the
/// replica; E_CONCURRENT_MOD when a replica that was away for long would push and not pull.
Status check_head(const Store& store, const MirrorState& state, const HubHead& head, bool pulls);

/// The mark of a mirror that has applied `row` last. What the row says is no part of it: that is
/// emptied by a purge, and replaced by a redaction.
FeedMark mark_of(const FeedRow& row);

/// Nothing when the hub has the row that the mirror has applied last: before rows are added here or
/// there. Errors: E_STORAGE_CORRUPT, as restored_hub(); as the hub's.
Status check_feed(Hub& hub, const MirrorState& state);

/// That the hub has lost rows, and what to do.
Error restored_hub(std::uint64_t head, std::uint64_t cursor);

/// Whether a role with the rights HubHead::rights may push a row with this operation.
inline bool may_push(std::string_view rights, FeedOp op) {
  const bool forgets = op == FeedOp::kPurge || op == FeedOp::kRedact;
  return rights != "read" && (rights != "write" || !forgets);
}

/// Counts rows that wait and, when they `are_pushed`, the others.
inline void count_rows(std::span<const FeedRow> rows, bool are_pushed, SyncReport& report) {
  for (const FeedRow& row : rows) {
    const bool is_line = row.op == FeedOp::kLine;
    if (!may_push(report.rights, row.op)) {
      ++(is_line ? report.waiting_lines : report.waiting_operations);
    } else if (are_pushed) {
      ++(is_line ? report.pushed_lines : report.pushed_operations);
    }
  }
}

}  // namespace bmad_mem
