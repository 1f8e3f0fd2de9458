// slot_table.hpp - the live entries of a session in the order of their conversations.
//
//   ordinal   0  1  2  3  4  5  6           slot     0  1  2 | 3  4 | 5
//   entry     a1 a2 b1 ✝  a3 b2 d           entry    a1 a2 a3 | b1 b2 | d
//
// In slots, neighbours in a conversation stand side by side, so a window is a range. Superseded
// entries have none. In most sessions every entry is live and follows its predecessor: then slots
// and ordinals are the same numbers, and no table is needed to tell.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "search/entry_columns.hpp"

namespace bmad_mem {

/// How far a window reaches to each side of its entry.
inline constexpr std::uint32_t kWindowReach = 2;

/// How far the window of a slot reaches: up to kWindowReach, less at the ends of a conversation.
struct WindowReach {
  std::uint8_t before = 0;
  std::uint8_t after = 0;
};

/// A value for each slot, from one slot on. The values belong to who made the column.
template <typename Value>
class SlotColumn {
 public:
  SlotColumn() = default;
  /// `values`: those of slot `first` and the next.
  SlotColumn(const Value* values, std::uint32_t first = 0) : values_(values), first_(first) {}

  const Value& operator[](std::uint32_t slot) const { return values_[slot - first_]; }
  /// Those of `slot` and the next.
  [[nodiscard]] const Value* from(std::uint32_t slot) const { return values_ + (slot - first_); }

 private:
  const Value* values_ = nullptr;
  std::uint32_t first_ = 0;
};

/// What searches see of a SlotTable, or of the columns of a segment. Whoever gave it keeps what it
/// shows.
struct SlotView {
  SlotColumn<std::uint32_t> lengths;  ///< As in SlotTable; so for the next.
  SlotColumn<std::uint32_t> window_lengths;
  SlotColumn<std::uint32_t> flags;
  SlotColumn<WindowReach> reach;
  const Ordinal* ordinals = nullptr;     ///< By slot; null when they are the same.
  const std::uint32_t* slots = nullptr;  ///< By ordinal; null when they are the same.
  std::uint32_t count = 0;
  std::uint64_t length_sum = 0;
  std::uint64_t window_length_sum = 0;

  [[nodiscard]] std::uint32_t size() const { return count; }
  [[nodiscard]] Ordinal ordinal(std::uint32_t slot) const {
    assert(slot < count);
    return ordinals == nullptr ? slot : ordinals[slot];
  }
  /// SlotTable::kNoSlot for a tombstone.
  [[nodiscard]] std::uint32_t slot(Ordinal ordinal) const {
    return slots == nullptr ? ordinal : slots[ordinal];
  }
};

/// Room for the columns of some slots.
struct SlotRoom {
  std::vector<std::uint32_t> lengths;         ///< In terms.
  std::vector<std::uint32_t> window_lengths;  ///< Of all entries in the window.
  std::vector<std::uint32_t> flags;
  std::vector<WindowReach> reach;
};

struct SlotTable : SlotRoom {
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  std::vector<Ordinal> ordinals;     ///< By slot; empty when they are the same.
  std::vector<std::uint32_t> slots;  ///< By ordinal, kNoSlot for tombstones; empty when the same.
  std::uint64_t length_sum = 0;
  std::uint64_t window_length_sum = 0;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(flags.size()); }
  [[nodiscard]] Ordinal ordinal(std::uint32_t slot) const {
    assert(slot < size());
    return ordinals.empty() ? slot : ordinals[slot];
  }
  /// kNoSlot for a tombstone.
  [[nodiscard]] std::uint32_t slot(Ordinal ordinal) const {
    assert(ordinal < (slots.empty() ? flags.size() : slots.size()));
    return slots.empty() ? ordinal : slots[ordinal];
  }
  [[nodiscard]] SlotView view() const {
    return {.lengths = lengths.data(),
            .window_lengths = window_lengths.data(),
            .flags = flags.data(),
            .reach = reach.data(),
            .ordinals = ordinals.empty() ? nullptr : ordinals.data(),
            .slots = slots.empty() ? nullptr : slots.data(),
            .count = size(),
            .length_sum = length_sum,
            .window_length_sum = window_length_sum};
  }
};

/// One live entry that holds a key.
struct SlotPosting {
  std::uint32_t slot = 0;
  std::uint32_t frequency = 1;

  bool operator==(const SlotPosting&) const = default;
};

/// The live entries that hold a key, and what ranking asks of them together.
struct SlotPostings {
  std::vector<SlotPosting> postings;  ///< Ascending by slot.
  std::uint64_t frequency_sum = 0;
  std::uint64_t window_count = 0;  ///< Entries that have one of them in their window.
};

/// How many entries have one of `postings`, which ascend, in their windows.
std::uint64_t count_windows(std::span<const SlotPosting> postings, SlotColumn<WindowReach> reach);

/// `postings` in slots, without tombstones.
SlotPostings to_slots(const SlotTable& table, const std::vector<Posting>& postings);

/// Slots for the live entries of `columns`.
SlotTable build_slots(const EntryColumns& columns);

}  // namespace bmad_mem
