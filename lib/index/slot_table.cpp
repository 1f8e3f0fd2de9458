#include "index/slot_table.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace bmad_mem {
namespace {

std::uint32_t previous_distance(const EntryColumns& columns, Ordinal ordinal) {
  return columns.previous.empty() ? ((columns.flags[ordinal] & kFlagFollows) != 0 ? 1U : 0U)
                                  : columns.previous[ordinal];
}

bool is_live(std::uint32_t flags) { return (flags & kFlagTombstone) == 0; }

/// Whether slots and ordinals are the same numbers.
bool is_straight(const EntryColumns& columns) {
  for (Ordinal ordinal = 0; ordinal < columns.size(); ++ordinal) {
    if (!is_live(columns.flags[ordinal]) || previous_distance(columns, ordinal) > 1) {
      return false;
    }
  }
  return true;
}

/// Follows each conversation from its first entry on.
void number_slots(const EntryColumns& columns, SlotTable& table) {
  const auto count = static_cast<Ordinal>(columns.size());
  std::vector<Ordinal> next(count, kNoOrdinal);
  for (Ordinal ordinal = 0; ordinal < count; ++ordinal) {
    const std::uint32_t distance = previous_distance(columns, ordinal);
    if (is_live(columns.flags[ordinal]) && distance > 0) {
      next[ordinal - distance] = ordinal;
    }
  }
  table.slots.assign(count, SlotTable::kNoSlot);
  table.ordinals.reserve(count);
  for (Ordinal first = 0; first < count; ++first) {
    if (is_live(columns.flags[first]) && previous_distance(columns, first) == 0) {
      for (Ordinal at = first; at != kNoOrdinal; at = next[at]) {
        table.slots[at] = static_cast<std::uint32_t>(table.ordinals.size());
        table.ordinals.push_back(at);
      }
    }
  }
}

/// Whether the entry in `slot` follows the one in the slot before in their conversation.
bool follows(const EntryColumns& columns, const SlotTable& table, std::uint32_t slot) {
  return slot > 0 && previous_distance(columns, table.ordinal(slot)) > 0;
}

void measure_windows(const EntryColumns& columns, SlotTable& table) {
  const std::uint32_t count = table.size();
  table.reach.resize(count);
  table.window_lengths.resize(count);
  for (std::uint32_t begin = 0; begin < count;) {
    std::uint32_t end = begin + 1;
    while (end < count && follows(columns, table, end)) {
      ++end;
    }
    for (std::uint32_t slot = begin; slot < end; ++slot) {
      const std::uint32_t before = std::min(kWindowReach, slot - begin);
      const std::uint32_t after = std::min(kWindowReach, end - 1 - slot);
      table.reach[slot] = {.before = static_cast<std::uint8_t>(before),
                           .after = static_cast<std::uint8_t>(after)};
      std::uint32_t length = 0;
      for (std::uint32_t other = slot - before; other <= slot + after; ++other) {
        length += table.lengths[other];
      }
      table.window_lengths[slot] = length;
      table.window_length_sum += length;
      table.length_sum += table.lengths[slot];
    }
    begin = end;
  }
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

/// Takes the reach out of what measured_windows() gave.
void split_windows(SlotTable& table) {
  table.reach.resize(table.window_lengths.size());
  for (std::size_t slot = 0; slot < table.reach.size(); ++slot) {
    std::uint32_t& window = table.window_lengths[slot];
    table.reach[slot] = {.before = static_cast<std::uint8_t>(window >> 2U & 3U),
                         .after = static_cast<std::uint8_t>(window & 3U)};
    window >>= 4U;
  }
}

/// Whether no window reaches beyond the ends of the table. A reach is at most 3, so only those at
/// the ends could.
bool are_inside(const std::vector<WindowReach>& reach) {
  const std::size_t size = reach.size();
  for (std::size_t i = 0; i < std::min<std::size_t>(size, 3); ++i) {
    if (reach[i].before > i || reach[size - 1 - i].after > i) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::uint32_t> measured_windows(const SlotTable& table) {
  std::vector<std::uint32_t> windows;
  windows.reserve(table.size());
  for (std::uint32_t slot = 0; slot < table.size(); ++slot) {
    const WindowReach reach = table.reach[slot];
    windows.push_back(table.window_lengths[slot] << 4U |
                      static_cast<std::uint32_t>(reach.before) << 2U | reach.after);
  }
  return windows;
}

std::optional<SlotTable> measured_slots(EntryColumns columns, std::vector<Ordinal> ordinals,
                                        std::vector<std::uint32_t> windows) {
  SlotTable table;
  if (ordinals.empty()) {
    table.lengths = std::move(columns.lengths);
    table.flags = std::move(columns.flags);
  } else {
    const auto entries = static_cast<Ordinal>(columns.size());
    table.slots.assign(entries, SlotTable::kNoSlot);
    table.lengths.resize(ordinals.size());
    table.flags.resize(ordinals.size());
    for (std::uint32_t slot = 0; slot < ordinals.size(); ++slot) {
      const Ordinal ordinal = ordinals[slot];
      if (ordinal >= entries) {
        return std::nullopt;
      }
      table.slots[ordinal] = slot;
      table.lengths[slot] = columns.lengths[ordinal];
      table.flags[slot] = columns.flags[ordinal];
    }
    table.ordinals = std::move(ordinals);
  }
  if (windows.size() != table.flags.size()) {
    return std::nullopt;
  }
  table.window_lengths = std::move(windows);
  split_windows(table);
  table.length_sum = sum_of(table.lengths);
  table.window_length_sum = sum_of(table.window_lengths);
  return are_inside(table.reach) ? std::optional(std::move(table)) : std::nullopt;
}

std::uint64_t count_windows(std::span<const SlotPosting> postings, const WindowReach* reach) {
  std::uint64_t count = 0;
  std::uint32_t covered = 0;  // First slot that is not counted yet.
  for (const SlotPosting& posting : postings) {
    const WindowReach around = reach[posting.slot];
    const std::uint32_t begin = std::max(covered, posting.slot - around.before);
    const std::uint32_t end = posting.slot + around.after + 1;
    if (end > begin) {
      count += end - begin;
      covered = end;
    }
  }
  return count;
}

SlotPostings to_slots(const SlotTable& table, const std::vector<Posting>& postings) {
  SlotPostings found;
  found.postings.reserve(postings.size());
  bool ascending = true;
  for (const Posting& posting : postings) {
    const std::uint32_t slot = table.slot(posting.ordinal);
    if (slot != SlotTable::kNoSlot) {
      ascending = ascending && (found.postings.empty() || slot > found.postings.back().slot);
      found.postings.push_back({.slot = slot, .frequency = posting.frequency});
      found.frequency_sum += posting.frequency;
    }
  }
  if (!ascending) {  // Conversations that were written side by side.
    std::ranges::sort(found.postings, {}, &SlotPosting::slot);
  }
  found.window_count = count_windows(found.postings, table.reach.data());
  return found;
}

SlotTable build_slots(const EntryColumns& columns) {
  SlotTable table;
  if (is_straight(columns)) {
    table.lengths = columns.lengths;
    table.flags = columns.flags;
  } else {
    number_slots(columns, table);
    table.lengths.reserve(table.ordinals.size());
    table.flags.reserve(table.ordinals.size());
    for (const Ordinal ordinal : table.ordinals) {
      table.lengths.push_back(columns.lengths[ordinal]);
      table.flags.push_back(columns.flags[ordinal]);
    }
  }
  measure_windows(columns, table);
  return table;
}

}  // namespace bmad_mem
