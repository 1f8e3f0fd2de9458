// keyword_index.hpp - where in a text a word of a large set begins, at about a nanosecond a byte.
//
//   text   x  p  a  s  s  w  o  …          a look at each second place: "xpa", "ssw"
//             └──┴──┘     "pas": begins at a place that is looked at, or
//                └──┴──┘  "ass": at the one before it
//
// Each word is filed under a hash of its first three bytes. At each second place of the text the
// hash of three bytes is looked up in a set of bits, which has those of bytes 0 to 2 and 1 to 3 of
// each word; where it is none of them, that is all.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "store/posix_file_system.hpp"

namespace bmad_mem {

/// Takes the memory of the object that it is the first member of: in a cold process each of the 12
/// pages of an index is a fault otherwise, which costs as much as to fill the index.
template <typename Object>
struct MemoryTaken {
  explicit MemoryTaken(Object* object) {
    take_memory_now(std::as_writable_bytes(std::span(object, 1)));
  }
};

class KeywordIndex {
 public:
  static constexpr std::size_t kWordSizeMin = 3;

  /// `word` must outlive the index and have kWordSizeMin bytes; `value` is what find() hands out.
  /// `fourth` is the byte behind three, in any case, of one that is only told by its first three.
  void add(std::string_view word, std::uint16_t value, char fourth = '\0') {
    assert(word.size() >= kWordSizeMin && nodes_.size() < UINT16_MAX);
    const std::uint32_t hash = hash_of(three_bytes(word.data()));
    set_bit(known_, hash);
    fourth = word.size() > kWordSizeMin ? word[kWordSizeMin] : fourth;
    set_bit(look_.either, hash);
    add_second(word, fourth, word.size() > kWordSizeMin);
    fourths_[hash >> kSlotShift] |= fourth == '\0' ? ~std::uint32_t{0} : fourth_bit(fourth);
    std::uint16_t& head = heads_[hash >> kSlotShift];
    nodes_.push_back({.word = word, .value = value, .next = head});
    head = static_cast<std::uint16_t>(nodes_.size());
  }

  /// Calls `use(position, word, value)` for each word at each place of `text`, in order of places.
  template <typename Use>
  void find(std::string_view text, Use&& use) const {
    for_each_hash(text, [&](std::size_t at, std::uint32_t hash) { use_at(text, at, hash, use); });
  }

 private:
  static constexpr unsigned kHashBits = 16;
  static constexpr unsigned kSlotBits = 12;
  static constexpr unsigned kSlotShift = kHashBits - kSlotBits;
  static_assert(std::endian::native == std::endian::little);

  /// A bit for each hash: 8 KB.
  using Bits = std::array<std::uint64_t, (1U << kHashBits) / 64>;
  /// What each second place is looked up in.
  struct Look {
    Bits either = {};  ///< Of bytes 0 to 2 and 1 to 3 of each word.
    Bits pairs = {};   ///< Of bytes 1 and 2 of those that have no more.
  };
  static std::uint32_t pair_of(std::uint32_t bytes) { return bytes & 0xFFFFU; }
  /// For each slot, the low five bits of the bytes that follow: of those, nine in ten end here.
  using Fourths = std::array<std::uint32_t, 1U << kSlotBits>;
  static std::uint32_t fourth_bit(char c) {
    return std::uint32_t{1} << (static_cast<unsigned char>(c) & 31U);
  }
  static void set_bit(Bits& bits, std::uint32_t hash) {
    bits[hash / 64] |= std::uint64_t{1} << (hash % 64);
  }
  static bool has_bit(const Bits& bits, std::uint32_t hash) {
    return (bits[hash / 64] >> (hash % 64) & 1U) != 0;
  }

  /// Files bytes 1 to 3 of `word`: `fourth` is the last of them, of a word in any case unless
  /// `is_exact`; '\0': there is none.
  void add_second(std::string_view word, char fourth, bool is_exact) {
    const auto add = [&](char last) {
      const std::array<char, kWordSizeMin> bytes = {word[1], word[2], last};
      set_bit(look_.either, hash_of(three_bytes(bytes.data())));
    };
    if (fourth == '\0') {
      set_bit(look_.pairs, pair_of(three_bytes(word.data()) >> 8U));
      return;
    }
    add(fourth);
    if (!is_exact && fourth >= 'a' && fourth <= 'z') {
      add(static_cast<char>(fourth - 'a' + 'A'));
    }
  }

  static constexpr std::uint32_t kThreeBytes = 0xFFFFFF;
  static constexpr std::size_t kLook = sizeof(std::uint32_t);
  static std::uint32_t four_at(std::string_view text, std::size_t at) {
    assert(at + sizeof(std::uint32_t) <= text.size());
    std::uint32_t four = 0;
    std::memcpy(&four, text.data() + at, sizeof four);
    return four;
  }

  /// The first place of `at`, `at` + 2, … that `look` has; behind the last of four bytes when there
  /// is none.
  [[gnu::always_inline]] std::size_t next_look(std::string_view text, std::size_t at) const {
    assert(text.size() >= kLook && "else the last place is before the first");
    const std::size_t last = text.size() - kLook;
    const auto is_one = [&](std::size_t place) {
      const std::uint32_t four = four_at(text, place);
      return has_bit(look_.either, hash_of(four & kThreeBytes)) ||
             has_bit(look_.pairs, pair_of(four));
    };
    for (; at + 6 <= last; at += 8) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 8; i += 2) {
        if (is_one(at + i)) {
          return at + i;
        }
      }
    }
    while (at <= last && !is_one(at)) {
      at += 2;
    }
    return at;
  }

  /// Whether the first three of `four` bytes have a known hash, and the fourth may follow them.
  [[nodiscard]] bool is_known(std::uint32_t four) const {
    const std::uint32_t hash = hash_of(four & kThreeBytes);
    return has_bit(known_, hash) && (fourths_[hash >> kSlotShift] >> (four >> 24U & 31U) & 1U) != 0;
  }

  /// The first of those places at which, or before which, a known one begins: one in seven of those
  /// that are looked at again. Not inlined, so that all it needs stays in registers.
  [[gnu::noinline]] std::size_t next_known(std::string_view text, std::size_t at) const {
    for (;; at += 2) {
      at = next_look(text, at);
      if (at + kLook > text.size() || is_known(four_at(text, at)) ||
          (at > 0 && is_known(four_at(text, at - 1)))) {
        return at;
      }
    }
  }

  /// Calls `use(position, hash)` where the hash of three bytes is a known one.
  template <typename Use>
  void for_each_hash(std::string_view text, const Use& use) const {
    const auto look_at = [&](std::size_t at, std::uint32_t four) {
      if (is_known(four)) {
        use(at, hash_of(four & kThreeBytes));
      }
    };
    std::size_t at = 0;
    while (at + kLook <= text.size()) {
      at = next_known(text, at);
      if (at + kLook > text.size()) {
        break;
      }
      if (at > 0) {
        look_at(at - 1, four_at(text, at - 1));
      }
      look_at(at, four_at(text, at));
      at += 2;
    }
    at -= at > 0 ? 1 : 0;  // The last one that was looked at lies two before.
    for (; at + kLook <= text.size(); ++at) {
      look_at(at, four_at(text, at));
    }
    for (; at + kWordSizeMin <= text.size(); ++at) {
      if (const std::uint32_t hash = hash_of(three_bytes(text.data() + at));
          has_bit(known_, hash)) {
        use(at, hash);
      }
    }
  }

  struct Node {
    std::string_view word;
    std::uint16_t value;
    std::uint16_t next;  // Number of the next node of the slot, from 1; 0: none.
  };

  static std::uint32_t three_bytes(const char* text) {
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    return byte(0) | byte(1) << 8U | byte(2) << 16U;
  }
  /// Knuth's multiplicative hash: the high bits, and the low six as the place in a word of Bits.
  static std::uint32_t hash_of(std::uint32_t three) {
    const std::uint32_t product = three * 2654435769U;
    return product >> 22U << 6U | (product & 63U);
  }

  template <typename Use>
  void use_at(std::string_view text, std::size_t at, std::uint32_t hash, Use& use) const {
    for (std::uint16_t node = heads_[hash >> kSlotShift]; node != 0;) {
      assert(node <= nodes_.size());
      const Node& each = nodes_[node - 1U];
      // Most others of a slot differ in the last byte: without a call.
      const std::size_t last = each.word.size() - 1;
      if (at + last < text.size() && text[at + last] == each.word[last] &&
          text.substr(at).starts_with(each.word)) {
        use(at, each.word, each.value);
      }
      node = each.next;
    }
  }

  MemoryTaken<KeywordIndex> taken_{this};  // Before the others are zeroed.
  Look look_;
  Bits known_ = {};  ///< Of bytes 0 to 2.
  Fourths fourths_ = {};
  std::array<std::uint16_t, 1U << kSlotBits> heads_ = {};
  std::vector<Node> nodes_;
};

}  // namespace bmad_mem
