// slot_table.cpp - numbers live entries in the order of their conversations, and their windows.
#include "search/slot_table.hpp"

#include <algorithm>
#include <cassert>

namespace bmad_mem {
namespace {

bool is_live(std::uint32_t flags) { return (flags & kFlagTombstone) == 0; }

/// Whether slots and ordinals are the same numbers.
bool is_straight(const EntryColumns& columns) {
  for (Ordinal ordinal = 0; ordinal < columns.size(); ++ordinal) {
    if (!is_live(columns.flags[ordinal]) || columns.previous[ordinal] > 1) {
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
    const std::uint32_t distance = columns.previous[ordinal];
    assert(distance <= ordinal);
    if (is_live(columns.flags[ordinal]) && distance > 0) {
      next[ordinal - distance] = ordinal;
    }
  }
  table.slots.assign(count, SlotTable::kNoSlot);
  table.ordinals.reserve(count);
  for (Ordinal first = 0; first < count; ++first) {
    if (is_live(columns.flags[first]) && columns.previous[first] == 0) {
      for (Ordinal at = first; at != kNoOrdinal; at = next[at]) {
        table.slots[at] = static_cast<std::uint32_t>(table.ordinals.size());
        table.ordinals.push_back(at);
      }
    }
  }
}

/// Whether the entry in `slot` follows the one in the slot before in their conversation.
bool follows(const EntryColumns& columns, const SlotTable& table, std::uint32_t slot) {
  return slot > 0 && columns.previous[table.ordinal(slot)] > 0;
}

void measure_windows(const EntryColumns& columns, SlotTable& table) {
  const std::uint32_t count = table.size();
  assert(table.lengths.size() == count &&
         (table.ordinals.empty() || table.ordinals.size() == count));
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

}  // namespace

std::uint64_t count_windows(std::span<const SlotPosting> postings, SlotColumn<WindowReach> reach) {
  std::uint64_t count = 0;
  std::uint32_t covered = 0;  // First slot that is not counted yet.
  for (const SlotPosting& posting : postings) {
    const WindowReach around = reach[posting.slot];
    assert(around.before <= posting.slot);
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
