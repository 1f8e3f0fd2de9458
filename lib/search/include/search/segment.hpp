// segment.hpp - a segment of the index, read in place, and the sessions of it that are searched.
//
//   Segment        the file: opened by its footer, the rest when somebody asks for it
//   SegmentPart    some of its sessions, as an IndexPart: the others are newer elsewhere, or not
//                  asked for
//
// Everything is checked before it is believed. A column that does not hold is noticed where no
// error can be returned: the values are 0 then, and status() tells.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "base/recent.hpp"
#include "bmad_mem/result.hpp"
#include "search/entry_columns.hpp"
#include "search/indexed_session.hpp"
#include "search/segment_format.hpp"
#include "search/segment_vectors.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {

inline constexpr std::uint32_t kNotHere = ~std::uint32_t{0};

struct SegmentSession {
  std::uint32_t begin = 0;  // First slot.
  std::uint32_t count = 0;
  SlotTotals totals;
  Timestamp newest{};
  Timestamp oldest{};
  bool archived = false;
  std::uint32_t evicted = 0;  // The part of what was evicted; 0: none.
  bool has_user = false;
  bool has_assistant = false;
  std::vector<std::uint32_t> participants;  // In Segment::participants.
  std::string id;
};

/// A key as the dictionary has it.
struct SegmentKey {
  std::string key;
  std::uint64_t count = 0;    // Of entries.
  SlotPosting only;           // Of one entry, by slot of the segment.
  std::uint32_t windows = 0;  // Of that one; so for the next.
  Impact impact = 0;
  std::uint64_t offset = 0;  // Of the list of more, in the lists of its kind.
  std::uint64_t size = 0;
};

/// What is under a key in some sessions, in one array.
struct CachedPostings {
  std::vector<SlotPosting> postings;  // By slot of their session.
  std::vector<Impact> impacts;        // Of each, for terms.
  std::vector<SessionPostings> sessions;
};

/// Threads: safe.
struct Segment {
  /// Errors: E_STORAGE_CORRUPT when it is none, or one of another version, analyzer or language; as
  /// the file system's.
  static Result<std::shared_ptr<Segment>> open(FileSystem& files, const std::string& path,
                                               std::string_view language);
  /// What did not hold, if anything.
  [[nodiscard]] Status status() const;

  FileSystem* files = nullptr;
  std::string path;
  std::unique_ptr<File> file;
  std::uint64_t number_of_all = 0;  // That this process has opened.
  std::uint64_t size = 0;
  std::uint64_t salt = 0;
  std::uint64_t hash = 0;  // Of the footer, which has that of all before it.
  std::uint32_t entries = 0;
  std::array<Stretch, kPlaceCount> stretches{};
  std::vector<SegmentSession> sessions;
  std::vector<std::string> participants;

  /// A second question asks it: what is read is kept for the next.
  std::atomic<bool> is_held{false};

  // Filled when somebody asks.
  mutable std::mutex mutex;  // Guards the members below, except those that are filled.
  std::array<std::atomic<bool>, kSegmentKindCount> has_top{};
  std::array<std::string, kSegmentKindCount> tops;
  std::optional<LazyColumns> memory;
  WindowReach* reach = nullptr;
  std::uint32_t* lengths = nullptr;
  std::uint32_t* flags = nullptr;
  std::uint32_t* windows = nullptr;
  std::int64_t* times = nullptr;
  std::vector<bool> has_scores;                  // By block.
  std::vector<std::atomic<const char*>> packed;  // By block of scores; null: not read.
  std::vector<std::unique_ptr<char[]>> packed_rooms;
  std::size_t packed_used = 0;                 // Of the last of them.
  std::vector<std::atomic<bool>> has_times;    // By block.
  std::vector<std::atomic<bool>> has_windows;  // By block, of scores.
  std::atomic<bool> has_odd{false};
  std::map<std::uint32_t, OddEntry> odd;  // By slot.
  std::atomic<bool> has_sums{false};
  std::vector<SessionSums> sums;  // Of each session.
  std::atomic<bool> has_statements{false};
  std::vector<StatementRow> statements;     // Session by session.
  std::vector<std::size_t> statement_ends;  // Of each session in them.
  std::optional<Error> damage;
  std::shared_ptr<SegmentVectors> known_vectors;

  /// Runs `load` unless that was done before; one at a time.
  template <typename Load>
  Status load_once(std::atomic<bool>& is_done, const Load& load) {
    if (is_done.load(std::memory_order_acquire)) {
      return {};
    }
    const std::lock_guard guard(mutex);
    if (!is_done.load(std::memory_order_acquire)) {
      BMAD_TRY(load());
      is_done.store(true, std::memory_order_release);
    }
    return {};
  }
  [[nodiscard]] Error corrupt(std::string_view what) const;
  Error note(Error error);
  [[nodiscard]] const Stretch& place(SegmentPlace place) const {
    return stretches[static_cast<std::size_t>(place)];
  }
  /// 0 lists, 1 keys, 2 top.
  [[nodiscard]] const Stretch& place(std::size_t kind, std::size_t which) const {
    return stretches[static_cast<std::size_t>(SegmentPlace::kLists) + 3 * kind + which];
  }

  Result<std::string> read(const Stretch& stretch, std::uint64_t offset,
                           std::uint64_t wanted) const;
  Status read_into(const Stretch& stretch, std::uint64_t offset, std::uint64_t wanted,
                   std::string& bytes) const;
  /// All of a stretch that has a hash of its own.
  Result<std::string> read_hashed(const Stretch& stretch) const;
  /// A block with its hash behind it, without it.
  Result<std::string> read_block(const Stretch& stretch, std::uint64_t offset,
                                 std::uint64_t wanted) const;
  Status read_footer(std::string_view language);
  Status read_sessions();

  /// The columns of the slots from `begin` to before `end`, windows too.
  Status load_slots(std::uint32_t begin, std::uint32_t end);
  Status load_scores(std::uint32_t first, std::uint32_t last);
  void take_scores(std::uint32_t block, std::string_view columns);
  template <typename Take>
  Status read_blocks(SegmentPlace where, std::uint64_t slot_size, std::uint32_t begin,
                     std::uint32_t end, const Take& take) const;
  Status check_scores(std::uint32_t block, std::string_view columns) const;
  [[nodiscard]] std::uint32_t count_in_block(std::uint32_t block) const;
  Result<const char*> packed_scores(std::uint32_t block);
  /// The columns of a few slots, without those of the others.
  Status copy_slots(std::uint32_t begin, std::uint32_t end, SlotRoom& room);
  Result<std::uint32_t> flags_of(std::uint32_t slot);
  /// The number of the session that has `slot`.
  [[nodiscard]] std::uint32_t session_of(std::uint32_t slot) const;
  /// The vectors of its entries, as the file beside it is now; null where there are none.
  std::shared_ptr<SegmentVectors> vectors();
  Status load_odd() {
    return load_once(has_odd, [this] { return read_odd(); });
  }
  Status load_sums() {
    return load_once(has_sums, [this] { return read_sums(); });
  }
  Status load_statements() {
    return load_once(has_statements, [this] { return read_statements(); });
  }
  Status read_odd();
  Status read_sums();
  Status read_statements();
  /// Those of a session; load_statements() comes first.
  [[nodiscard]] std::span<const StatementRow> statements_of(std::uint32_t session) const;
  Result<std::int64_t> time(std::uint32_t slot);
  /// The times of the slots from `begin` to before `end`.
  Status load_times(std::uint32_t begin, std::uint32_t end);
  /// Where the lines of `count` slots from `begin` on lie.
  [[nodiscard]] Result<std::vector<IndexRow>> rows(std::uint32_t begin, std::uint32_t count) const;
  Result<std::string_view> top(std::size_t kind);

  /// The keys of block `block`; none behind the last.
  Result<std::vector<SegmentKey>> keys_of_block(std::size_t kind, std::uint64_t block);
  [[nodiscard]] std::uint64_t block_count(std::string_view top) const;
  /// The block that may hold `key`: the last that begins with it or below.
  Result<std::uint64_t> block_of(std::size_t kind, std::string_view key);
  /// What is under `key` in the sessions that `numbers` has, by number here, with another than
  /// kNotHere, which is what they are called then.
  Result<CachedPostings> decode(std::size_t kind, const SegmentKey& key,
                                std::span<const std::uint32_t> numbers) const;
  Result<std::optional<SegmentKey>> find(std::size_t kind, std::string_view key);
};

/// Where the logs of a session are.
using FilesOf = std::function<Result<std::shared_ptr<FileSystem>>(const std::string& session_id,
                                                                  bool archived)>;

/// Threads: safe.
class SegmentPart final : public IndexPart {
 public:
  /// `wanted`: numbers of sessions in the segment, ascending.
  SegmentPart(std::shared_ptr<Segment> segment, std::span<const std::uint32_t> wanted,
              FilesOf files_of);

  /// In the order of the segment.
  [[nodiscard]] std::span<const std::unique_ptr<IndexedSession>> sessions() const {
    return sessions_;
  }
  [[nodiscard]] const std::shared_ptr<Segment>& shared_segment() const { return segment_; }
  /// Numbers of its sessions in the segment, ascending.
  [[nodiscard]] std::span<const std::uint32_t> numbers() const { return wanted_; }
  [[nodiscard]] const std::string& path() const { return segment_->path; }
  [[nodiscard]] Status status() const override { return in_segment(segment_->status()); }

  Result<PartPostings> part_postings(PostingKind kind, std::string_view key) override;
  Result<std::unique_ptr<KeyCursor>> keys(PostingKind kind, std::string_view prefix) override;
  Result<std::vector<PartEntry>> part_candidates(std::uint32_t id_hash) override;
  IndexedSession& session(std::uint32_t number) override { return *sessions_[number]; }
  void add_participants(Participants& all) const override;

  /// The lines of preferences, then facts, of its session `number`, each as in their log; valid as
  /// long as the segment. Errors: as status().
  Result<std::span<const StatementRow>> part_statements(std::uint32_t number);

 private:
  friend class PartSession;
  friend class PartCursor;
  /// The error says that it is the segment's, by its path.
  template <typename Outcome>
  Outcome in_segment(Outcome outcome) const {
    if (!outcome) {
      outcome.error().field = path();
    }
    return outcome;
  }
  [[nodiscard]] Result<std::shared_ptr<const CachedPostings>> decoded(std::size_t kind,
                                                                      const SegmentKey& key) const;
  void remember(std::string name, const std::shared_ptr<const CachedPostings>& made);
  Result<std::shared_ptr<const CachedPostings>> held(std::size_t kind, std::string_view key);
  [[nodiscard]] Result<std::shared_ptr<const CachedPostings>> look_up(std::size_t kind,
                                                                      std::string_view key) const;

  std::shared_ptr<Segment> segment_;
  FilesOf files_of_;
  std::vector<std::uint32_t> wanted_;   // By number in the part: number in the segment.
  std::vector<std::uint32_t> numbers_;  // By number in the segment: in the part, or kNotHere.
  std::vector<std::unique_ptr<IndexedSession>> sessions_;
  std::mutex mutex_;                                                   // Guards what follows.
  Recent<std::string, std::shared_ptr<const CachedPostings>> recent_;  // Decoded.
};

// A segment made of other indexes.
//
//   sessions   s1: 3 slots | s2: 2 slots      s9: 4 slots          a part has one session or many
//   segment    0 1 2       | 3 4              | 5 6 7 8
//
// Columns are copied session by session and keys merged part by part, so what is held in memory
// does not grow with the segment but for its dictionary. No text is analyzed.

/// Adds `sums` to those that Segment::read_sums() reads.
void put_sums(const SessionSums& sums, std::string& out);

/// Writes the segment `path` of `sessions`, in their order; those of a part stand side by side.
/// Nobody reads it before CURRENT names it; it is not synced, its readers notice what is torn.
/// Errors: those of the sessions, with the session or the segment that does not hold in
/// Error::field; E_SIZE_LIMIT for more than 2^31 entries; as the file system's.
Status write_segment(FileSystem& files, const std::string& path,
                     std::span<IndexedSession* const> sessions, std::string_view language);

}  // namespace bmad_mem
