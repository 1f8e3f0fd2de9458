// left_lines.hpp - lines that left the logs of a session, as they are kept for those who want them
// back: under deleted/, and evicted.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
