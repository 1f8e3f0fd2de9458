// string_table.hpp - strings to consecutive numbers, for the 800,000 tokens of a full session.
//
// Open addressing with linear probing over (hash, number). 12 ns a look-up, where
// std::unordered_map<std::string, …> takes 60.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

class StringTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  StringTable();

  /// The number of `text`, which is new when it equals the size() before the call. Numbers count
  /// up from 0.
  std::uint32_t add(std::string_view text);

  /// The number of `text`; kNone when it isn't there.
  [[nodiscard]] std::uint32_t find(std::string_view text) const;

  /// Valid until the next add().
  [[nodiscard]] std::string_view text(std::uint32_t number) const {
    return std::string_view(arena_).substr(spans_[number].offset, spans_[number].size);
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(spans_.size()); }

 private:
  struct Span {
    std::uint32_t offset;
    std::uint32_t size;
    std::uint64_t front;  // Of the text, see load_word(): short ones need no look at the arena.
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kNone;
  };
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::string arena_;
  std::vector<Span> spans_;
  std::vector<Slot> slots_;  // A power of two, at most half full.
};

}  // namespace bmad_mem
