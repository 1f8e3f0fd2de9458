// keyword_index.hpp - where in a text a word of a large set begins, at about a nanosecond a byte.
//
// Each word is filed under a hash of its first three bytes. At each place of the text the hash of
// three bytes picks a slot, and most slots are empty.
#pragma once

#include <array>
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
    std::uint16_t& head = heads_[slot(word.data())];
    nodes_.push_back({.word = word, .value = value, .next = head});
    head = static_cast<std::uint16_t>(nodes_.size());
  }

  /// Calls `use(position, word, value)` for each word at each place of `text`, in order of places.
  template <typename Use>
  void find(std::string_view text, const Use& use) const {
    for (std::size_t at = 0; at + kWordSizeMin <= text.size(); ++at) {
      for (std::uint16_t node = heads_[slot(text.data() + at)]; node != 0;) {
        const Node& each = nodes_[node - 1U];
        if (text.substr(at).starts_with(each.word)) {
          use(at, each.word, each.value);
        }
        node = each.next;
      }
    }
  }

 private:
  static constexpr unsigned kSlotBits = 12;

  struct Node {
    std::string_view word;
    std::uint16_t value;
    std::uint16_t next;  // Number of the next node of the slot, from 1; 0: none.
  };

  static std::size_t slot(const char* three) {
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(three[i]));
    };
    const std::uint32_t word = byte(0) | byte(1) << 8U | byte(2) << 16U;
    return (word * 2654435769U) >> (32U - kSlotBits);  // Knuth's multiplicative hash.
  }

  std::array<std::uint16_t, 1U << kSlotBits> heads_ = {};
  std::vector<Node> nodes_;
};

}  // namespace bmad_mem
