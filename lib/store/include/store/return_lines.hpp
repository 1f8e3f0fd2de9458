// return_lines.hpp - lines that come back into the logs they left: from the evicted, from the
// deleted, from an archive; and which of them may.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "store/evicted_file.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct ReturningLine {
  EntryType type = EntryType::kConversation;
  std::string_view line;
};

/// What is to come back, and what came of it.
struct ReturnOutcome {
  std::vector<bool> is_back;            ///< For each line.
  std::vector<std::string> in_use_ids;  ///< Of lines that stayed away, since their id is in a log.
};

using EntryIds = std::set<std::pair<EntryType, std::string>>;

/// Appends those of `lines` whose id is among `ids` (any when empty) and not in use in its log now:
/// in no line there, or only in such as come back. Each line once, in their order, so that the last
/// version of an entry comes last. Killed half-way, it can be called again. Durable on success. The
/// caller holds the session's lock, `guard`. Errors: E_SIZE_LIMIT when they don't fit; as the
/// log's. `used`: ids that are in use elsewhere.
Result<ReturnOutcome> bring_back_lines(Store& store, const std::string& session_id,
                                       const FileLock::Guard& guard,
                                       std::span<const ReturningLine> lines,
                                       std::span<const std::string> ids, const EntryIds& used = {});

// Which of the lines that left a session's logs may still be read, or come
// back.

/// What of a session was deleted or purged: it must not come back from what was evicted. A deletion
/// is about the lines that it took: the id may be in use again, and what is evicted then is found.
struct GoneEntries {
  std::set<std::string, std::less<>> ids;
  std::set<std::pair<EntryType, std::string>> lines;  ///< Deleted ones.
  std::optional<Timestamp> session_until;  ///< When a session of that id went as a whole.
  const Store* store = nullptr;            ///< Whose key the hidden ones of `purged` have.
  std::vector<std::string> purged;         ///< As the record has them, sorted.

  [[nodiscard]] bool hold(std::string_view id) const;
  [[nodiscard]] bool hold(const EvictedLine& line, std::string_view id) const;
};
/// `with_sessions`: with the entries of sessions of this id that were deleted as a whole.
Result<GoneEntries> gone_entries(const Store& store, const std::string& session_id,
                                 bool with_sessions = false);

/// What was evicted, and not deleted. Cost: reads one part after the other.
Result<EntryIds> evicted_ids(const Store& store, const std::string& session_id);

/// Drops of the evicted `lines` those that were deleted since or can't be read, and those written
/// after `as_of`.
Status drop_gone(const Store& store, const std::string& session_id, std::vector<EvictedLine>& lines,
                 Timestamp as_of = Timestamp::max());

/// Of the evicted `lines`, in the order in which they went, the last version of each entry: what
/// is evicted. In the order of their times and ids, so that the same lines make the same index
/// wherever and whenever they were evicted.
void keep_last_versions(std::vector<EvictedLine>& lines);

/// What may come back from an archive into the folder beside it: its lines, but for those that were
/// deleted or evicted since. They point into `members`.
Result<std::vector<ReturningLine>> archived_lines(const Store& store, const std::string& session_id,
                                                  std::span<const ArchivedFile> members);
/// Whether the archive of a session that is a folder, too, holds lines that the folder does not.
/// Errors: as read_session_archive().
Result<bool> holds_more_than_folder(const Store& store, const std::string& session_id);

}  // namespace bmad_mem
