// root_index.hpp - the index of the whole memory: which sessions its segments cover, and whether
// that still holds.
//
//   index/CURRENT    JSON: the segments with their hashes, and what of each session's logs they
//   cover; replaced whole index/N.seg      some sessions each (index/segment.hpp); never changed
//
//   sessions there are --sweep--> as covered: in a part          one stat a log
//                             +-> anything else: an index of its own (SessionIndex)
//
// All of it is derived. What is missing, damaged or of another program costs time and no answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/log_cover.hpp"
#include "index/segment.hpp"
#include "index/session_index.hpp"

namespace bmad_mem {

struct Store;

/// Threads: safe.
class RootIndex {
 public:
  explicit RootIndex(const Store& store) : store_(store) {}

  /// A session that may be covered.
  struct Candidate {
    std::string id;
    bool archived = false;
    bool is_covered = false;  ///< What sweep() found out.
  };

  /// Looks which of `candidates` are as the segments have them. Their parts, in no order; a part
  /// that was made for the same sessions before is the same one.
  std::vector<std::shared_ptr<SegmentPart>> sweep(std::span<Candidate> candidates);

  /// What a segment knows of a session, whatever its logs hold by now; nothing where none does.
  std::optional<SessionBase> base_of(const std::string& session_id);

  /// `part` without the session `session_id`; null when no other is in it.
  [[nodiscard]] std::shared_ptr<SegmentPart> without(const SegmentPart& part,
                                                     std::string_view session_id) const;

  /// From now on the segment of that path is not believed, in this process.
  void distrust(std::string_view path);

  /// Takes `indexes`, which are of sessions that sweep() found not covered, into the segments when
  /// they hold enough that is new, or with `any`, if anything; merges segments where there are too
  /// many. Nothing happens while another process is at it. What fails here fails nothing.
  void seal(std::span<const std::shared_ptr<SessionIndex>> indexes, bool any = false);

  /// Takes what of `candidates` is not covered into the segments, some sessions at a time, where it
  /// is too much to be held in memory together, as after a clone. Whether it did.
  bool seal_in_turns(std::span<const Candidate> candidates);

  /// When it returns, no byte of these sessions is in a segment. Waits for who is at it.
  /// Errors: as the file system's.
  Status remove(std::span<const std::string> session_ids);

  /// Makes all anew, when the next one asks.
  Status clear();

 private:
  /// A log as it is covered. Sixty-four bytes, since there may be twenty thousand.
  struct CoveredLog {
    EntryType type = EntryType::kConversation;
    bool mtime_is_telling = false;
    std::uint64_t bytes = 0;
    std::uint64_t xxh3 = 0;
    std::uint64_t size = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t mtime_ns = 0;
    std::uint64_t lines = 0;
  };
  struct Covered {
    std::uint32_t segment = 0;  // In State::segments.
    std::uint32_t number = 0;   // In the segment.
    std::uint64_t package = 0;  // Of an archive.
    std::uint64_t folder_inode = 0;
    std::int64_t folder_mtime_ns = 0;  // 0: it says nothing.
    std::uint32_t empty_logs = 0;      // By type: those that were there; their folder won't tell.
    std::vector<CoveredLog> logs;
  };
  struct State {
    std::uint64_t next = 1;  // The number of the next segment.
    std::vector<std::string> names;
    std::vector<std::shared_ptr<Segment>> segments;  // Null: it can't be read.
    std::map<std::string, Covered, std::less<>> sessions;
    FileInfo file;  // CURRENT.
  };
  using SharedState = std::shared_ptr<const State>;

  SharedState state();
  [[nodiscard]] SharedState read_state() const;
  [[nodiscard]] std::shared_ptr<State> parse_state(const std::string& text) const;
  Status write_state(State& state);
  [[nodiscard]] bool is_as_covered(const std::string& id, const Covered& covered,
                                   std::optional<Covered>& remembered) const;
  [[nodiscard]] bool is_log_as_covered(const std::string& path, CoveredLog& log,
                                       bool& is_other) const;
  [[nodiscard]] std::optional<bool> is_empty_log(const std::string& id, EntryType type) const;
  std::shared_ptr<SegmentPart> part_of(const std::shared_ptr<Segment>& segment,
                                       std::vector<std::uint32_t> wanted);
  [[nodiscard]] FilesOf files_of() const;
  void remember(const SharedState& now, const std::map<std::string, Covered, std::less<>>& changed);
  [[nodiscard]] bool is_distrusted(std::string_view name) const;
  Status add_segments(State& state, std::span<const std::shared_ptr<SessionIndex>> indexes);
  Status merge_segments(State& state, const std::set<std::uint32_t>& which);
  Status merge_where_many(State& state);
  std::string new_name(State& state) const;
  Status remove_unused(const State& state) const;
  [[nodiscard]] Result<bool> is_missing() const;

  const Store& store_;
  mutable std::mutex mutex_;  // Guards what follows.
  SharedState state_;
  std::set<std::string, std::less<>> distrusted_;
  struct Part {
    std::shared_ptr<Segment> segment;
    std::vector<std::uint32_t> wanted;
    std::shared_ptr<SegmentPart> part;
  };
  std::vector<Part> parts_;
};

}  // namespace bmad_mem
