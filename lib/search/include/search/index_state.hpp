// index_state.hpp - index/CURRENT: which segments there are, and what of each session's logs they
// cover. docs/files.md draws it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "search/log_cover.hpp"
#include "search/segment.hpp"
#include "store/store_watch.hpp"

namespace bmad_mem {

/// A log as it is covered. Its ctime is 0 where it doesn't matter.
struct CoveredLog {
  EntryType type = EntryType::kConversation;
  LogCover cover;
};

/// "s1"; "s1/evicted" for what compaction moved out of it, "s1/evicted.2" for the second part.
std::string covered_key(std::string_view session_id, std::uint32_t evicted_part);

/// When a session was last found as covered. Threads: safe.
struct LastLook {
  std::atomic<std::uint64_t> number{0};       // See Question.
  std::atomic<StoreWatch::Moment> moment{0};  // 0: it says nothing.

  LastLook() = default;
  LastLook(const LastLook& other) : number(other.number.load()), moment(other.moment.load()) {}
  LastLook& operator=(const LastLook& other) {
    number = other.number.load();
    moment = other.moment.load();
    return *this;
  }
};

/// A session in a segment, or what was evicted from one.
struct CoveredSession {
  std::uint32_t segment = 0;  // In IndexState::segments.
  std::uint32_t number = 0;   // In the segment.
  std::uint64_t package = 0;  // Of an archive, or of what was evicted.
  std::uint64_t folder_inode = 0;
  std::int64_t folder_mtime_ns = 0;  // 0: it says nothing.
  std::uint32_t empty_logs = 0;      // By type: those that were there; their folder won't tell.
  std::uint64_t encrypted = 0;       // Lines of what is packed; of logs, each says it.
  std::vector<CoveredLog> logs;
  mutable LastLook last_look;
};
/// How many encrypted lines the session has.
std::uint64_t encrypted_lines(const CoveredSession& covered);
using CoveredSessions = std::map<std::string, CoveredSession, std::less<>>;  // By covered_key().

/// What CURRENT says.
struct IndexState {
  std::uint64_t next = 1;  // The number of the next segment.
  std::vector<std::string> names;
  std::vector<std::shared_ptr<Segment>> segments;  // Null: it can't be read.
  CoveredSessions sessions;
  FileInfo file;  // CURRENT.
};

/// "index/{name}".
std::string segment_path(std::string_view name);
/// Whether it is a number and ".seg".
bool is_segment_name(std::string_view name);

/// The segment of that name if it has that hash, or null.
using OpenSegment =
    std::function<std::shared_ptr<Segment>(const std::string& name, std::uint64_t hash)>;

/// What `text` says; null when it does not hold, or is of another version, analyzer or language.
/// Sessions whose segment can't be opened are left out. `text` is not moved where it has room for
/// kJsonPadding bytes more.
std::shared_ptr<IndexState> parse_index_state(std::string text, std::string_view language,
                                              const OpenSegment& open);
std::string index_state_text(const IndexState& state, std::string_view language);

class SegmentVectors;
/// Those of each segment; null where there are none.
std::vector<std::shared_ptr<SegmentVectors>> vectors_of_all(const IndexState& state);

}  // namespace bmad_mem
