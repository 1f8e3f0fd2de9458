// session_changes.hpp - what is new in one session, as rows that the hub has to hear of.
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
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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
