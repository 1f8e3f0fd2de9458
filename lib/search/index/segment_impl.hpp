// segment_impl.hpp - what a Segment holds, for its source files.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/segment.hpp"
#include "segment_format.hpp"
#include "store/lazy_columns.hpp"

namespace bmad_mem {

inline constexpr std::uint32_t kNotHere = ~std::uint32_t{0};

struct SegmentSession {
  std::uint32_t begin = 0;  // First slot.
  std::uint32_t count = 0;
  SlotTotals totals;
  Timestamp newest{};
  bool archived = false;
  bool evicted = false;
  bool has_user = false;
  bool has_assistant = false;
  std::vector<std::uint32_t> participants;  // In Impl::participants.
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
struct HeldPostings {
  std::vector<SlotPosting> postings;  // By slot of their session.
  std::vector<Impact> impacts;        // Of each, for terms.
  std::vector<SessionPostings> sessions;
};

struct Segment::Impl {
  FileSystem* files = nullptr;
  std::string path;
  std::unique_ptr<File> file;
  std::uint64_t size = 0;
  std::uint64_t salt = 0;
  std::uint64_t hash = 0;  // Of the footer, which has that of all before it.
  std::uint32_t entries = 0;
  std::array<Stretch, kPlaceCount> stretches{};
  std::vector<SegmentSession> sessions;
  std::vector<std::string> participants;

  // Filled when somebody asks.
  std::mutex mutex;  // Guards what follows, but for what is filled already.
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
  std::atomic<bool> has_statements{false};
  std::vector<StatementRow> statements;     // Session by session.
  std::vector<std::size_t> statement_ends;  // Of each session in them.
  std::optional<Error> damage;

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
  Status check_scores(std::uint32_t block, std::string_view bytes) const;
  [[nodiscard]] std::uint32_t count_in_block(std::uint32_t block) const;
  Result<const char*> packed_scores(std::uint32_t block);
  /// The columns of a few slots, without those of the others.
  Status copy_slots(std::uint32_t begin, std::uint32_t end, SlotRoom& room);
  Result<std::uint32_t> flags_of(std::uint32_t slot);
  /// The number of the session that has `slot`.
  [[nodiscard]] std::uint32_t session_of(std::uint32_t slot) const;
  Status load_odd();
  Status load_statements();
  /// Those of a session; load_statements() comes first.
  [[nodiscard]] std::span<const StatementRow> statements_of(std::uint32_t session) const;
  Result<std::int64_t> time(std::uint32_t slot);
  /// The times of the slots from `begin` to before `end`.
  Status load_times(std::uint32_t begin, std::uint32_t end);
  Status read_times(std::uint32_t begin, std::uint32_t end);
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
  Result<HeldPostings> decode(std::size_t kind, const SegmentKey& key,
                              std::span<const std::uint32_t> numbers) const;
  Result<std::optional<SegmentKey>> find(std::size_t kind, std::string_view key);
};

}  // namespace bmad_mem
