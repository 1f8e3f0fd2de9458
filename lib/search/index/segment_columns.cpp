// segment_columns.cpp - reads lengths, flags, windows and times of slots, block by block.
#include <algorithm>
#include <cassert>
#include <numeric>
#include <ranges>

#include "base/hash.hpp"
#include "search/segment.hpp"

namespace bmad_mem {

std::uint32_t Segment::session_of(std::uint32_t slot) const {
  const auto after = std::ranges::upper_bound(sessions, slot, {}, &SegmentSession::begin);
  assert(after != sessions.begin() && "the first session begins with slot 0");
  return static_cast<std::uint32_t>(after - sessions.begin() - 1);
}

Status Segment::load_slots(std::uint32_t begin, std::uint32_t end) {
  if (begin >= end) {
    return {};
  }
  const std::uint32_t first = begin / kSlotBlock;
  const std::uint32_t last = (end - 1) / kSlotBlock;
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
  const std::uint32_t first_slot = first * kSlotBlock;
  const std::uint32_t end_slot = std::min((last + 1) * kSlotBlock, entries);
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
    for (std::uint32_t slot = block * kSlotBlock;
         slot < std::min((block + 1) * kSlotBlock, entries); ++slot) {
      std::uint32_t length = 0;
      assert(reach[slot].before <= slot && reach[slot].after < entries - slot);
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

/// The columns of a block as the file has them: of each slot the length, then the flags of each,
/// then how far their windows reach.
class PackedScores {
 public:
  PackedScores(const char* columns, std::uint32_t count) : columns_(columns), count_(count) {}

  [[nodiscard]] std::uint32_t length(std::uint32_t i) const {
    assert(i < count_);
    return little_at<std::uint16_t>(columns_ + std::size_t{2} * i);
  }
  [[nodiscard]] std::uint32_t flags(std::uint32_t i) const {
    assert(i < count_);
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
  return std::min(kSlotBlock, entries - block * kSlotBlock);
}

/// Reads the blocks from `begin` to before `end`, some at a time: `take(block, columns)`. Each slot
/// has `slot_size` bytes.
template <typename Take>
Status Segment::read_blocks(SegmentPlace where, std::uint64_t slot_size, std::uint32_t begin,
                            std::uint32_t end, const Take& take) const {
  constexpr std::uint32_t kAtOnce = 128;
  const std::uint64_t whole = kSlotBlock * slot_size + kBlockHash;
  for (std::uint32_t first = begin; first < end; first += kAtOnce) {
    const std::uint64_t offset = first * whole;
    const std::uint64_t wanted =
        std::min(std::uint64_t{std::min(kAtOnce, end - first)} * whole, place(where).size - offset);
    BMAD_TRY_ASSIGN(const std::string bytes, read(place(where), offset, wanted));
    BytesReader reader(bytes);
    for (std::uint32_t block = first; block < std::min(end, first + kAtOnce); ++block) {
      const std::string_view columns = reader.bytes(count_in_block(block) * slot_size);
      const std::string_view check = reader.bytes(kBlockHash);
      if (!reader.good()) {
        return corrupt("it is cut short");
      }
      if ((xxh3(columns) ^ salt) != little_at<std::uint64_t>(check.data())) {
        return corrupt("a block has changed");
      }
      BMAD_TRY(take(block, columns));
    }
  }
  return {};
}

/// Whether the windows of a block end where their sessions do.
Status Segment::check_scores(std::uint32_t block, std::string_view columns) const {
  const std::uint32_t first = block * kSlotBlock;
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
  assert(first <= last && last < has_scores.size());
  for (std::uint32_t block = first; block <= last; ++block) {
    std::uint32_t end = block;
    while (end <= last && !has_scores[end]) {
      ++end;
    }
    BMAD_TRY(read_blocks(SegmentPlace::kScores, kPackedSize, block, end,
                         [&](std::uint32_t number, std::string_view columns) -> Status {
                           BMAD_TRY(check_scores(number, columns));
                           take_scores(number, columns);
                           return {};
                         }));
    block = end;  // That one was read before.
  }
  return {};
}

void Segment::take_scores(std::uint32_t block, std::string_view columns) {
  assert(columns.size() == count_in_block(block) * kPackedSize && "read_blocks() gives all");
  const PackedScores scores(columns.data(), count_in_block(block));
  for (std::uint32_t i = 0; i < count_in_block(block); ++i) {
    const std::uint32_t slot = block * kSlotBlock + i;
    lengths[slot] = scores.length(i);
    flags[slot] = scores.flags(i);
    reach[slot] = scores.reach(i);
  }
  has_scores[block] = true;
}

/// A block as the file has it, which stays. A question looks into a thousand of them, here and
/// there: unpacked, they would take a page of memory for each column.
Result<const char*> Segment::packed_scores(std::uint32_t block) {
  assert(block < packed.size());
  const char* known = packed[block].load(std::memory_order_acquire);
  if (known != nullptr) {
    return known;
  }
  const std::lock_guard guard(mutex);
  known = packed[block].load(std::memory_order_relaxed);
  if (known == nullptr) {
    const auto keep = [&](std::uint32_t /*block*/, std::string_view columns) -> Status {
      BMAD_TRY(check_scores(block, columns));
      constexpr std::size_t kRoom = 64U << 10U;
      if (packed_rooms.empty() || kRoom - packed_used < columns.size()) {
        packed_rooms.push_back(std::make_unique_for_overwrite<char[]>(kRoom));
        packed_used = 0;
      }
      char* const room = packed_rooms.back().get() + packed_used;
      std::ranges::copy(columns, room);
      packed_used += columns.size();
      known = room;
      return {};
    };
    BMAD_TRY(read_blocks(SegmentPlace::kScores, kPackedSize, block, block + 1, keep));
    assert(known != nullptr && "keep() is called once for each block");
    packed[block].store(known, std::memory_order_release);
  }
  return known;
}

Result<std::uint32_t> Segment::flags_of(std::uint32_t slot) {
  const std::uint32_t block = slot / kSlotBlock;
  BMAD_TRY_ASSIGN(const char* const columns, packed_scores(block));
  return PackedScores(columns, count_in_block(block)).flags(slot % kSlotBlock);
}

Status Segment::copy_slots(std::uint32_t begin, std::uint32_t end, SlotRoom& room) {
  assert(begin <= end && end <= entries);
  room.lengths.resize(end - begin);
  room.window_lengths.resize(end - begin);
  room.flags.resize(end - begin);
  room.reach.resize(end - begin);
  // Windows reach into what is beside.
  const std::uint32_t from = begin - std::min(begin, kWindowReach);
  const std::uint32_t to = std::min(entries, end + kWindowReach);
  std::vector<std::uint32_t> around(to - from);
  for (std::uint32_t slot = from; slot < to;) {
    const std::uint32_t block = slot / kSlotBlock;
    BMAD_TRY_ASSIGN(const char* const columns, packed_scores(block));
    const PackedScores scores(columns, count_in_block(block));
    for (; slot < std::min(to, (block + 1) * kSlotBlock); ++slot) {
      around[slot - from] = scores.length(slot % kSlotBlock);
      if (slot >= begin && slot < end) {
        room.flags[slot - begin] = scores.flags(slot % kSlotBlock);
        room.reach[slot - begin] = scores.reach(slot % kSlotBlock);
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
  assert(begin <= end && end <= entries);
  const auto is_loaded = [this](std::uint32_t block) {
    return has_times[block].load(std::memory_order_acquire);
  };
  const std::uint32_t end_block = (end + kSlotBlock - 1) / kSlotBlock;
  for (std::uint32_t block = begin / kSlotBlock; block < end_block; ++block) {
    if (!is_loaded(block)) {
      const std::lock_guard guard(mutex);
      std::uint32_t behind = block;
      while (behind < end_block && !is_loaded(behind)) {
        ++behind;
      }
      const auto take = [&](std::uint32_t number, std::string_view column) -> Status {
        std::int64_t* to = times + number * kSlotBlock;
        for (; !column.empty(); column.remove_prefix(sizeof(std::int64_t))) {
          *to++ = little_at<std::int64_t>(column.data());
        }
        has_times[number].store(true, std::memory_order_release);
        return {};
      };
      BMAD_TRY(read_blocks(SegmentPlace::kTimes, sizeof(std::int64_t), block, behind, take));
    }
  }
  return {};
}

}  // namespace bmad_mem
