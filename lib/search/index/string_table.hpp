// string_table.hpp - strings to consecutive numbers, for the 800,000 tokens of a full session.
//
//   "pooling"  ->  hash  ->  slot   | first 8 bytes | number | hash (24 bits), size (8) |
//
// Open addressing with linear probing. A slot tells strings of up to eight bytes apart by itself,
// which most tokens are: a look-up reads one slot and nothing else. 35 instructions, where a slot
// of (hash, number) that points to the string took 160.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

class StringTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// How many bytes must be readable behind a text given to add_padded().
  static constexpr std::size_t kPadding = 8;

  StringTable();

  /// The number of `text`, which is new when it equals the size() before the call. Numbers count
  /// up from 0.
  std::uint32_t add(std::string_view text) { return add(text, front_of(text)); }
  /// The same, several times as fast for short texts.
  std::uint32_t add_padded(std::string_view text) { return add(text, padded_front_of(text)); }

  /// The number of `text`; kNone when it isn't there.
  [[nodiscard]] std::uint32_t find(std::string_view text) const {
    const std::uint64_t front = front_of(text);
    return slots_[slot_of(text, front, mark_of(text, front))].number;
  }

  /// Valid until the next addition.
  [[nodiscard]] std::string_view text(std::uint32_t number) const {
    assert(number < spans_.size());
    return std::string_view(arena_).substr(spans_[number].offset, spans_[number].size);
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(spans_.size()); }

 private:
  static constexpr std::size_t kFrontSize = 8;
  static constexpr unsigned kSizeBits = 8;
  static constexpr std::uint32_t kSizeMask = (1U << kSizeBits) - 1;

  struct Span {
    std::uint32_t offset;
    std::uint32_t size;
  };
  struct Slot {
    std::uint64_t front = 0;  // Up to eight bytes of the text, and NULs.
    std::uint32_t number = kNone;
    std::uint32_t mark = 0;  // Of the hash the first bits, and the size as far as it fits.
  };

  /// The first bytes of eight, by how many.
  static constexpr auto kFrontMasks = [] {
    std::array<std::uint64_t, kFrontSize + 1> masks{};
    for (std::size_t count = 1; count <= kFrontSize; ++count) {
      const std::uint64_t low = ~std::uint64_t{0} >> (8 * (kFrontSize - count));
      masks[count] = std::endian::native == std::endian::little ? low : __builtin_bswap64(low);
    }
    return masks;
  }();

  static std::uint64_t front_of(std::string_view text) {
    std::uint64_t front = 0;
    std::memcpy(&front, text.data(), std::min(text.size(), kFrontSize));
    return front;
  }
  static std::uint64_t padded_front_of(std::string_view text) {
    std::uint64_t front = 0;
    std::memcpy(&front, text.data(), kFrontSize);
    // Without a branch: the lengths of words are as good as random.
    const std::size_t kept = std::min(text.size(), kFrontSize);
    return front & kFrontMasks[kept];
  }

  /// Multiply and fold (the mixing step of wyhash). Lives in memory only, so it may change and
  /// depend on the machine's byte order.
  static std::uint64_t mix(std::uint64_t word) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(word ^ 0x9E3779B97F4A7C15U) * 0xE7037ED1A0B428DBU;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }
  static std::uint32_t mark_of(std::string_view text, std::uint64_t front) {
    std::uint64_t hash = mix(front ^ text.size());
    for (std::size_t at = kFrontSize; at < text.size(); at += kFrontSize) {
      std::uint64_t word = 0;  // The last one overlaps the one before.
      std::memcpy(&word, text.data() + std::min(at, text.size() - kFrontSize), kFrontSize);
      hash = mix(hash ^ word);
    }
    return (static_cast<std::uint32_t>(hash >> 32U) & ~kSizeMask) |
           static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), kSizeMask));
  }

  /// Where `wanted` is, or the free slot where it belongs.
  [[nodiscard]] std::size_t slot_of(std::string_view wanted, std::uint64_t front,
                                    std::uint32_t mark) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (mark >> kSizeBits) & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone || (slot.front == front && slot.mark == mark &&
                                   (wanted.size() <= kFrontSize || text(slot.number) == wanted))) {
        return at;
      }
    }
  }

  std::uint32_t add(std::string_view text, std::uint64_t front) {
    const std::uint32_t mark = mark_of(text, front);
    const Slot& slot = slots_[slot_of(text, front, mark)];
    return slot.number != kNone ? slot.number : insert(text, front, mark);
  }
  std::uint32_t insert(std::string_view text, std::uint64_t front, std::uint32_t mark);
  void grow();

  std::string arena_;
  std::vector<Span> spans_;
  std::vector<Slot> slots_;  // A power of two, at most 5/8 full.
};

inline StringTable::StringTable() : slots_(16) {}

inline std::uint32_t StringTable::insert(std::string_view text, std::uint64_t front,
                                         std::uint32_t mark) {
  if (8 * (spans_.size() + 1) > 5 * slots_.size()) {
    grow();
  }
  const std::uint32_t number = size();
  spans_.push_back({.offset = static_cast<std::uint32_t>(arena_.size()),
                    .size = static_cast<std::uint32_t>(text.size())});
  arena_ += text;
  slots_[slot_of(text, front, mark)] = {.front = front, .number = number, .mark = mark};
  assert(8 * spans_.size() <= 5 * slots_.size() && "a free slot ends each look-up");
  return number;
}

inline void StringTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  assert(std::has_single_bit(slots_.size()));
  for (const Slot& slot : old) {
    if (slot.number != kNone) {
      std::size_t at = (slot.mark >> kSizeBits) & mask;
      while (slots_[at].number != kNone) {
        at = (at + 1) & mask;
      }
      slots_[at] = slot;
    }
  }
}

}  // namespace bmad_mem
