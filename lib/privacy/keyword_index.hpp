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
  /// `fourth` is the byte behind three, in any case, of one that is only told by its first three.
  void add(std::string_view word, std::uint16_t value, char fourth = '\0') {
    assert(word.size() >= kWordSizeMin && nodes_.size() < UINT16_MAX);
    const std::uint32_t hash = hash_of(three_bytes(word.data()));
    known_[hash / 64] |= std::uint64_t{1} << (hash % 64);
    fourth = word.size() > kWordSizeMin ? word[kWordSizeMin] : fourth;
    fourths_[hash >> kSlotShift] |= fourth == '\0' ? ~std::uint32_t{0} : fourth_bit(fourth);
    std::uint16_t& head = heads_[hash >> kSlotShift];
    nodes_.push_back({.word = word, .value = value, .next = head});
    head = static_cast<std::uint16_t>(nodes_.size());
  }

  /// Calls `use(position, word, value)` for each word at each place of `text`, in order of places.
  template <typename Use>
  void find(std::string_view text, Use&& use) const {
    for_each_hash(text, known_, fourths_,
                  [&](std::size_t at, std::uint32_t hash) { use_at(text, at, hash, use); });
  }

 private:
  static constexpr unsigned kHashBits = 16;
  static constexpr unsigned kSlotBits = 12;
  static constexpr unsigned kSlotShift = kHashBits - kSlotBits;
  static_assert(std::endian::native == std::endian::little);

  friend class KeywordPair;

  /// A bit for each hash that some word has: 8 KB, and one look in a hundred goes further.
  using Known = std::array<std::uint64_t, (1U << kHashBits) / 64>;
  /// For each slot, the low five bits of the bytes that follow: of those, nine in ten end here.
  using Fourths = std::array<std::uint32_t, 1U << kSlotBits>;
  static std::uint32_t fourth_bit(char c) {
    return std::uint32_t{1} << (static_cast<unsigned char>(c) & 31U);
  }

  /// Calls `use(position, hash)` where the hash of three bytes is a known one.
  template <typename Use>
  static void for_each_hash(std::string_view text, const Known& known, const Fourths& fourths,
                            const Use& use) {
    constexpr std::uint32_t kThreeBytes = 0xFFFFFF;
    const auto is_known = [&](std::uint32_t hash) {
      return (known[hash / 64] >> (hash % 64) & 1U) != 0;
    };
    std::size_t at = 0;
    for (; at + sizeof(std::uint32_t) <= text.size(); ++at) {
      std::uint32_t four = 0;
      std::memcpy(&four, text.data() + at, sizeof four);
      const std::uint32_t hash = hash_of(four & kThreeBytes);
      if (is_known(hash) && (fourths[hash >> kSlotShift] >> (four >> 24U & 31U) & 1U) != 0) {
        use(at, hash);
      }
    }
    for (; at + kWordSizeMin <= text.size(); ++at) {
      if (const std::uint32_t hash = hash_of(three_bytes(text.data() + at)); is_known(hash)) {
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
  static std::uint32_t hash_of(std::uint32_t three) {
    return (three * 2654435769U) >> (32U - kHashBits);  // Knuth's multiplicative hash.
  }

  template <typename Use>
  void use_at(std::string_view text, std::size_t at, std::uint32_t hash, Use& use) const {
    for (std::uint16_t node = heads_[hash >> kSlotShift]; node != 0;) {
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

  Known known_ = {};
  Fourths fourths_ = {};
  std::array<std::uint16_t, 1U << kSlotBits> heads_ = {};
  std::vector<Node> nodes_;
};

/// Two indexes in one walk. Both must outlive it, and get no more words.
class KeywordPair {
 public:
  KeywordPair(const KeywordIndex& one, const KeywordIndex& other)
      : one_(one), other_(other), known_(one.known_), fourths_(one.fourths_) {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      known_[i] |= other.known_[i];
    }
    for (std::size_t i = 0; i < fourths_.size(); ++i) {
      fourths_[i] |= other.fourths_[i];
    }
  }

  /// Each gets what KeywordIndex::find() would give it.
  template <typename Use, typename OtherUse>
  void find(std::string_view text, Use&& use, OtherUse&& other_use) const {
    KeywordIndex::for_each_hash(text, known_, fourths_, [&](std::size_t at, std::uint32_t hash) {
      one_.use_at(text, at, hash, use);
      other_.use_at(text, at, hash, other_use);
    });
  }

 private:
  const KeywordIndex& one_;
  const KeywordIndex& other_;
  KeywordIndex::Known known_;
  KeywordIndex::Fourths fourths_;
};

}  // namespace bmad_mem
