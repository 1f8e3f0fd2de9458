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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/result.hpp"
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

/// Takes the rows out of `rows` that can't be applied: the line is no entry of its log, the id of
/// the session is none. Each is added to `skipped`.
void skip_wrong_rows(std::vector<FeedRow>& rows, JsonParser& parser,
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

}  // namespace bmad_mem
