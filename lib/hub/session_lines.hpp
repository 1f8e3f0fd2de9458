// session_lines.hpp - the lines of one log, each with its place in the feed.
//
//   feed:   1:a  2:b  3:c  4:d           log:   a  x  c  d  y
//   seqs:                                       1  -  3  4  -       x and y are new; 2:b has gone
//
// Lines that the hub has are in the order of the feed. New ones may be between them: those that
// have to stay here remain there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"
#include "lifecycle/log_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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

  /// The line as operations on logs want it.
  [[nodiscard]] static LogLine log_line(EntryType type, const SessionLine& line, std::string id);

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

}  // namespace bmad_mem
