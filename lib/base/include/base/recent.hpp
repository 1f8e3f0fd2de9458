// recent.hpp - what was asked for last, in a bounded room.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace bmad_mem {

/// Two generations: when the newer one is full it becomes the older one, which goes.
/// Threads: one at a time.
template <typename Key, typename Value>
class Recent {
 public:
  [[nodiscard]] std::optional<Value> find(const Key& key) const {
    for (const Map* const map : {&newer_, &older_}) {
      if (const auto found = map->find(key); found != map->end()) {
        return found->second;
      }
    }
    return std::nullopt;
  }
  /// `size` counts towards `size_max`, that of a generation, in any unit.
  void add(Key key, Value value, std::uint64_t size, std::uint64_t size_max) {
    if (size_ + size > size_max) {
      older_ = std::exchange(newer_, {});
      size_ = 0;
    }
    size_ += newer_.emplace(std::move(key), std::move(value)).second ? size : 0;
  }
  void clear() { *this = {}; }

 private:
  using Map = std::unordered_map<Key, Value>;
  Map newer_;
  Map older_;
  std::uint64_t size_ = 0;  // Of the newer.
};

}  // namespace bmad_mem
