#include "string_table.hpp"

#include <cstring>

#include "core/hash.hpp"

namespace bmad_mem {

StringTable::StringTable() : slots_(1024) {}

std::uint32_t StringTable::add(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(xxh3(text));
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot].number != kNone) {
    return slots_[slot].number;
  }
  if (2 * (spans_.size() + 1) > slots_.size()) {
    grow();
    slot = slot_of(text, hash);
  }
  const std::uint32_t number = size();
  spans_.push_back({.offset = static_cast<std::uint32_t>(arena_.size()),
                    .size = static_cast<std::uint32_t>(text.size())});
  arena_ += text;
  slots_[slot] = {.hash = hash, .number = number};
  return number;
}

std::uint32_t StringTable::find(std::string_view wanted) const {
  return slots_[slot_of(wanted, static_cast<std::uint32_t>(xxh3(wanted)))].number;
}

/// Where `wanted` is, or the free slot where it belongs.
std::size_t StringTable::slot_of(std::string_view wanted, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != kNone) {
    if (slots_[at].hash == hash) {
      const Span& span = spans_[slots_[at].number];
      if (span.size == wanted.size() &&
          std::memcmp(arena_.data() + span.offset, wanted.data(), span.size) == 0) {
        break;
      }
    }
    at = (at + 1) & mask;
  }
  return at;
}

void StringTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number != kNone) {
      std::size_t at = slot.hash & mask;
      while (slots_[at].number != kNone) {
        at = (at + 1) & mask;
      }
      slots_[at] = slot;
    }
  }
}

}  // namespace bmad_mem
