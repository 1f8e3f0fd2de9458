// The columns of a segment: lengths, flags, windows and times of its slots.
#include <algorithm>
#include <numeric>
#include <ranges>

#include "base/hash.hpp"
#include "search/segment.hpp"

namespace bmad_mem {

std::uint32_t Segment::session_of(std::uint32_t slot) const {
  const auto after = std::ranges::upper_bound(sessions, slot, {}, &SegmentSession::begin);
  return static_cast<std::uint32_t>(after - sessions.begin() - 1);
}

Status Segment::load_slots(std::uint32_t begin, std::uint32_t end) {
  if (begin >= end) {
    return {};
  }
  const std::uint32_t first = begin / kScoreBlock;
  const std::uint32_t last = (end - 1) / kScoreBlock;
  const auto is_loaded = [this](std::uint32_t block) {
    return has_windows[block].load(std::memory_order_acquire);
  };
  const auto blocks = std::views::iota(first, last + 1);
  if (std::ranges::all_of(blocks, is_loaded)) {
    return {};
  }
  const std::lock_guard guard(mutex);
  BMAD_TRY(load_scores(first, last));
  // Windows at the ends reach into the blocks beside.
  const std::uint32_t first_slot = first * kScoreBlock;
  const std::uint32_t end_slot = std::min((last + 1) * kScoreBlock, entries);
  for (std::uint32_t i = 0; i < std::min(kWindowReach, end_slot - first_slot); ++i) {
    if (reach[first_slot + i].before > i) {
      BMAD_TRY(load_scores(first - 1, first - 1));
    }
    if (reach[end_slot - 1 - i].after > i) {
      BMAD_TRY(load_scores(last + 1, last + 1));
    }
  }
  for (const std::uint32_t block : blocks) {
    if (has_windows[block].load(std::memory_order_relaxed)) {
      continue;
    }
    for (std::uint32_t slot = block * kScoreBlock;
         slot < std::min((block + 1) * kScoreBlock, entries); ++slot) {
      std::uint32_t length = 0;
      for (std::uint32_t at = slot - reach[slot].before; at <= slot + reach[slot].after; ++at) {
        length += lengths[at];
      }
      windows[slot] = length;
    }
    has_windows[block].store(true, std::memory_order_release);
  }
  return {};
}

namespace {

constexpr std::uint64_t kPackedSize =
    2 * sizeof(std::uint16_t) + sizeof(std::uint8_t);  // A slot's.
constexpr std::uint64_t kPackedBlock = kScoreBlock * kPackedSize + kBlockHash;

/// The columns of a block as the file has them: of each slot the length, then the flags of each,
/// then how far their windows reach.
class PackedScores {
 public:
  PackedScores(const char* columns, std::uint32_t count) : columns_(columns), count_(count) {}

  [[nodiscard]] std::uint32_t length(std::uint32_t i) const {
    return little_at<std::uint16_t>(columns_ + std::size_t{2} * i);
  }
  [[nodiscard]] std::uint32_t flags(std::uint32_t i) const {
    return little_at<std::uint16_t>(columns_ + std::size_t{2} * (count_ + i));
  }
  [[nodiscard]] WindowReach reach(std::uint32_t i) const {
    const auto both = static_cast<unsigned char>(columns_[std::size_t{4} * count_ + i]);
    return {.before = static_cast<std::uint8_t>(both & 3U),
            .after = static_cast<std::uint8_t>(both >> 2U)};
  }

 private:
  const char* columns_;
  std::uint32_t count_;
};

}  // namespace

std::uint32_t Segment::count_in_block(std::uint32_t block) const {
  return std::min(kScoreBlock, entries - block * kScoreBlock);
}

/// Whether `bytes` are the columns of a block, with their hash behind them.
Status Segment::check_scores(std::uint32_t block, std::string_view bytes) const {
  const std::string_view columns = bytes.substr(0, bytes.size() - kBlockHash);
  if ((xxh3(columns) ^ salt) != little_at<std::uint64_t>(bytes.data() + columns.size())) {
    return corrupt("a block has changed");
  }
  const std::uint32_t first = block * kScoreBlock;
  const PackedScores scores(columns.data(), count_in_block(block));
  std::uint32_t session = session_of(first);
  for (std::uint32_t i = 0; i < count_in_block(block); ++i) {
    while (first + i - sessions[session].begin >= sessions[session].count) {
      ++session;
    }
    const WindowReach around = scores.reach(i);
    const std::uint32_t in_session = first + i - sessions[session].begin;
    if (around.before > std::min(kWindowReach, in_session) ||
        around.after > std::min(kWindowReach, sessions[session].count - in_session - 1)) {
      return corrupt("its windows are none");
    }
  }
  return {};
}

/// Reads the blocks from `first` to `last` that nobody has read; those side by side at once. The
/// caller holds the mutex.
Status Segment::load_scores(std::uint32_t first, std::uint32_t last) {
  constexpr std::uint32_t kAtOnce = 128;
  for (std::uint32_t block = first; block <= last; ++block) {
    std::uint32_t end = block;
    while (end <= last && end < block + kAtOnce && !has_scores[end]) {
      ++end;
    }
    if (end == block) {
      continue;
    }
    const std::uint64_t offset = block * kPackedBlock;
    const std::uint64_t wanted =
        std::min((end - block) * kPackedBlock, place(SegmentPlace::kScores).size - offset);
    BMAD_TRY_ASSIGN(const std::string bytes, read(place(SegmentPlace::kScores), offset, wanted));
    BytesReader reader(bytes);
    for (; block < end; ++block) {
      const std::string_view columns =
          reader.bytes(count_in_block(block) * kPackedSize + kBlockHash);
      if (!reader.good()) {
        return corrupt("it is cut short");
      }
      BMAD_TRY(check_scores(block, columns));
      take_scores(block, columns);
    }
    --block;
  }
  return {};
}

void Segment::take_scores(std::uint32_t block, std::string_view columns) {
  const PackedScores scores(columns.data(), count_in_block(block));
  for (std::uint32_t i = 0; i < count_in_block(block); ++i) {
    const std::uint32_t slot = block * kScoreBlock + i;
    lengths[slot] = scores.length(i);
    flags[slot] = scores.flags(i);
    reach[slot] = scores.reach(i);
  }
  has_scores[block] = true;
}

/// A block as the file has it, which stays. A question looks into a thousand of them, here and
/// there: unpacked, they would take a page of memory for each column.
Result<const char*> Segment::packed_scores(std::uint32_t block) {
  const char* known = packed[block].load(std::memory_order_acquire);
  if (known != nullptr) {
    return known;
  }
  const std::lock_guard guard(mutex);
  known = packed[block].load(std::memory_order_relaxed);
  if (known == nullptr) {
    const std::uint64_t wanted = count_in_block(block) * kPackedSize + kBlockHash;
    BMAD_TRY_ASSIGN(const std::string bytes,
                    read(place(SegmentPlace::kScores), block * kPackedBlock, wanted));
    BMAD_TRY(check_scores(block, bytes));
    constexpr std::size_t kRoom = 64U << 10U;
    if (packed_rooms.empty() || kRoom - packed_used < bytes.size()) {
      packed_rooms.push_back(std::make_unique_for_overwrite<char[]>(kRoom));
      packed_used = 0;
    }
    char* const room = packed_rooms.back().get() + packed_used;
    std::ranges::copy(bytes, room);
    packed_used += bytes.size();
    known = room;
    packed[block].store(known, std::memory_order_release);
  }
  return known;
}

Result<std::uint32_t> Segment::flags_of(std::uint32_t slot) {
  const std::uint32_t block = slot / kScoreBlock;
  BMAD_TRY_ASSIGN(const char* const columns, packed_scores(block));
  return PackedScores(columns, count_in_block(block)).flags(slot % kScoreBlock);
}

Status Segment::copy_slots(std::uint32_t begin, std::uint32_t end, SlotRoom& room) {
  room.lengths.resize(end - begin);
  room.window_lengths.resize(end - begin);
  room.flags.resize(end - begin);
  room.reach.resize(end - begin);
  // Windows reach into what is beside.
  const std::uint32_t from = begin - std::min(begin, kWindowReach);
  const std::uint32_t to = std::min(entries, end + kWindowReach);
  std::vector<std::uint32_t> around(to - from);
  for (std::uint32_t slot = from; slot < to;) {
    const std::uint32_t block = slot / kScoreBlock;
    BMAD_TRY_ASSIGN(const char* const columns, packed_scores(block));
    const PackedScores scores(columns, count_in_block(block));
    for (; slot < std::min(to, (block + 1) * kScoreBlock); ++slot) {
      around[slot - from] = scores.length(slot % kScoreBlock);
      if (slot >= begin && slot < end) {
        room.flags[slot - begin] = scores.flags(slot % kScoreBlock);
        room.reach[slot - begin] = scores.reach(slot % kScoreBlock);
      }
    }
  }
  for (std::uint32_t i = 0; i < end - begin; ++i) {
    const auto* const own = around.data() + (begin + i - from);
    room.lengths[i] = *own;
    room.window_lengths[i] = std::accumulate(own - room.reach[i].before,
                                             own + room.reach[i].after + 1, std::uint32_t{0});
  }
  return {};
}

Result<std::int64_t> Segment::time(std::uint32_t slot) {
  BMAD_TRY(load_times(slot, slot + 1));
  return times[slot];
}

Status Segment::load_times(std::uint32_t begin, std::uint32_t end) {
  const auto is_loaded = [this](std::uint32_t block) {
    return has_times[block].load(std::memory_order_acquire);
  };
  const std::uint32_t end_block = (end + kTimeBlock - 1) / kTimeBlock;
  for (std::uint32_t block = begin / kTimeBlock; block < end_block; ++block) {
    if (!is_loaded(block)) {
      const std::lock_guard guard(mutex);
      std::uint32_t behind = block;
      while (behind < end_block && !is_loaded(behind)) {
        ++behind;
      }
      BMAD_TRY(read_times(block, behind));
    }
  }
  return {};
}

/// Reads the blocks from `begin` to before `end`, some at a time. The caller holds the mutex.
Status Segment::read_times(std::uint32_t begin, std::uint32_t end) {
  constexpr std::uint32_t kAtOnce = 128;
  constexpr std::size_t kSize = sizeof(std::int64_t);
  constexpr std::uint64_t kWhole = kTimeBlock * kSize + kBlockHash;
  for (std::uint32_t first = begin; first < end; first += kAtOnce) {
    const std::uint64_t offset = first * kWhole;
    const std::uint64_t wanted = std::min(std::uint64_t{std::min(kAtOnce, end - first)} * kWhole,
                                          place(SegmentPlace::kTimes).size - offset);
    BMAD_TRY_ASSIGN(const std::string bytes, read(place(SegmentPlace::kTimes), offset, wanted));
    BytesReader reader(bytes);
    for (std::uint32_t block = first; block < std::min(end, first + kAtOnce); ++block) {
      const std::uint32_t slot = block * kTimeBlock;
      const std::uint32_t count = std::min(kTimeBlock, entries - slot);
      const std::string_view column = reader.bytes(count * kSize);
      const std::string_view check = reader.bytes(kBlockHash);
      if (!reader.good()) {
        return corrupt("it is cut short");
      }
      if ((xxh3(column) ^ salt) != little_at<std::uint64_t>(check.data())) {
        return corrupt("a block has changed");
      }
      for (std::uint32_t i = 0; i < count; ++i) {
        times[slot + i] = little_at<std::int64_t>(column.data() + kSize * i);
      }
      has_times[block].store(true, std::memory_order_release);
    }
  }
  return {};
}

}  // namespace bmad_mem
