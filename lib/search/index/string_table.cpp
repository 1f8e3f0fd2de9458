#include "string_table.hpp"

namespace bmad_mem {

StringTable::StringTable() : slots_(16) {}

std::uint32_t StringTable::insert(std::string_view text, std::uint64_t front, std::uint32_t mark) {
  if (8 * (spans_.size() + 1) > 5 * slots_.size()) {
    grow();
  }
  const std::uint32_t number = size();
  spans_.push_back({.offset = static_cast<std::uint32_t>(arena_.size()),
                    .size = static_cast<std::uint32_t>(text.size())});
  arena_ += text;
  slots_[slot_of(text, front, mark)] = {.front = front, .number = number, .mark = mark};
  return number;
}

void StringTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
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
