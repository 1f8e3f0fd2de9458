// keyword_index.hpp - where in a text a word of a large set begins, at about a nanosecond a byte.
//
// Each word is filed under a hash of its first three bytes. At each place of the text the hash of
// three bytes is looked up in a set of bits; where it is none of a word's, that is all.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace bmad_mem {

class KeywordIndex {
 public:
  static constexpr std::size_t kWordSizeMin = 3;

  /// `word` must outlive the index and have kWordSizeMin bytes; `value` is what find() hands out.
  void add(std::string_view word, std::uint16_t value) {
    assert(word.size() >= kWordSizeMin && nodes_.size() < UINT16_MAX);
    const std::uint32_t hash = hash_of(three_bytes(word.data()));
    known_[hash / 64] |= std::uint64_t{1} << (hash % 64);
    std::uint16_t& head = heads_[hash >> kSlotShift];
    nodes_.push_back({.word = word, .value = value, .next = head});
    head = static_cast<std::uint16_t>(nodes_.size());
  }

  /// Calls `use(position, word, value)` for each word at each place of `text`, in order of places.
  template <typename Use>
  void find(std::string_view text, const Use& use) const {
    constexpr std::uint32_t kThreeBytes = 0xFFFFFF;
    std::size_t at = 0;
    for (; at + sizeof(std::uint32_t) <= text.size(); ++at) {
      std::uint32_t four = 0;
      std::memcpy(&four, text.data() + at, sizeof four);
      const std::uint32_t hash = hash_of(four & kThreeBytes);
      if ((known_[hash / 64] >> (hash % 64) & 1U) != 0) {
        use_at(text, at, hash, use);
      }
    }
    for (; at + kWordSizeMin <= text.size(); ++at) {
      use_at(text, at, hash_of(three_bytes(text.data() + at)), use);
    }
  }

 private:
  static constexpr unsigned kHashBits = 16;
  static constexpr unsigned kSlotBits = 12;
  static constexpr unsigned kSlotShift = kHashBits - kSlotBits;
  static_assert(std::endian::native == std::endian::little);

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
  static std::uint32_t hash_of(std::uint32_t three) {
    return (three * 2654435769U) >> (32U - kHashBits);  // Knuth's multiplicative hash.
  }

  template <typename Use>
  void use_at(std::string_view text, std::size_t at, std::uint32_t hash, const Use& use) const {
    for (std::uint16_t node = heads_[hash >> kSlotShift]; node != 0;) {
      const Node& each = nodes_[node - 1U];
      if (text.substr(at).starts_with(each.word)) {
        use(at, each.word, each.value);
      }
      node = each.next;
    }
  }

  /// A bit for each hash that some word has: 8 KB, and one look in a hundred goes further.
  std::array<std::uint64_t, (1U << kHashBits) / 64> known_ = {};
  std::array<std::uint16_t, 1U << kSlotBits> heads_ = {};
  std::vector<Node> nodes_;
};

}  // namespace bmad_mem
