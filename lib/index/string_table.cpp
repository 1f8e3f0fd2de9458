#include "string_table.hpp"

#include <algorithm>
#include <cstring>

namespace bmad_mem {
namespace {

/// Up to eight bytes as a number. Short tokens are most tokens: no loop, no call.
std::uint64_t load_word(const char* at, std::size_t size) {
  std::uint64_t word = 0;
  if (size >= 8) {
    std::memcpy(&word, at, 8);
  } else if (size >= 4) {
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::memcpy(&front, at, 4);
    std::memcpy(&back, at + size - 4, 4);
    word = std::uint64_t{front} << 32U | back;
  } else if (size > 0) {
    const auto byte = [at](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(at[i])};
    };
    word = byte(0) << 16U | byte(size / 2) << 8U | byte(size - 1);
  }
  return word;
}

__extension__ using Wide = unsigned __int128;

/// Multiply and fold, word by word (the mixing step of wyhash). Lives in memory only, so it may
/// change and depend on the machine's byte order.
std::uint32_t hash_of(std::string_view text) {
  constexpr std::uint64_t kFirst = 0x9E3779B97F4A7C15U;
  constexpr std::uint64_t kSecond = 0xE7037ED1A0B428DBU;
  std::uint64_t hash = text.size() * kFirst;
  const char* at = text.data();
  std::size_t left = text.size();
  do {
    const Wide product = static_cast<Wide>(load_word(at, left) ^ kFirst) * (hash ^ kSecond);
    hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    at += std::min<std::size_t>(left, 8);
    left -= std::min<std::size_t>(left, 8);
  } while (left > 0);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

}  // namespace

StringTable::StringTable() : slots_(1024) {}

std::uint32_t StringTable::add(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
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
                    .size = static_cast<std::uint32_t>(text.size()),
                    .front = load_word(text.data(), text.size())});
  arena_ += text;
  slots_[slot] = {.hash = hash, .number = number};
  return number;
}

std::uint32_t StringTable::find(std::string_view wanted) const {
  return slots_[slot_of(wanted, hash_of(wanted))].number;
}

/// Where `wanted` is, or the free slot where it belongs.
std::size_t StringTable::slot_of(std::string_view wanted, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  const std::uint64_t front = load_word(wanted.data(), wanted.size());
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    if (slots_[at].number == kNone) {
      return at;
    }
    if (slots_[at].hash != hash) {
      continue;
    }
    const Span& span = spans_[slots_[at].number];
    if (span.size == wanted.size() && span.front == front &&
        (span.size <= 8 ||
         std::memcmp(arena_.data() + span.offset + 8, wanted.data() + 8, span.size - 8) == 0)) {
      return at;
    }
  }
}

void StringTable::grow() {
  std::vector<Slot> old(4 * slots_.size());
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
