// session_feed.hpp - rows of the feed, applied to one session.
//
//   lock -> logs read, compared with what the hub has -> lines, redactions -> logs written, durable
//   -> unlock -> hub/sessions/{id}.json, durable
//   deletions, evictions, purges: as a user's, by the same code
//
// Applying a row again changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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
  HeldLines held;
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

}  // namespace bmad_mem
