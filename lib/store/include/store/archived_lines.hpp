// archived_lines.hpp - which of the lines that left a session's logs may still be read, or come
// back.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "store/evicted_file.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What of a session was deleted or purged: it must not come back from what was evicted.
struct GoneEntries {
  std::set<std::string, std::less<>> ids;
  std::optional<Timestamp> session_until;  ///< When a session of that id went as a whole.

  [[nodiscard]] bool hold(const EvictedLine& line, std::string_view id) const;
};
Result<GoneEntries> gone_entries(const Store& store, const std::string& session_id);

/// Whether it was evicted as there is a newer version, and not the entry itself.
bool is_older_version(const EvictedLine& line);

/// What may come back from an archive into the folder beside it: its lines, but for those that were
/// deleted or evicted since. They point into `members`.
Result<std::vector<ReturningLine>> archived_lines(const Store& store, const std::string& session_id,
                                                  std::span<const ArchivedFile> members);
/// Whether the archive of a session that is a folder, too, holds lines that the folder does not.
/// Errors: as read_session_archive().
Result<bool> holds_more_than_folder(const Store& store, const std::string& session_id);

}  // namespace bmad_mem
