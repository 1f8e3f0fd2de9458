// recent_map.hpp - a map that remembers what was put in last, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bmad_mem::cli {

/// From texts to values; beyond `count_max` keys the oldest is forgotten. Keys are kept as hashes
/// of 64 bits: transcripts have a key a record, and two of the tens of thousands that are
/// remembered meet once in ten billion files.
template <typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t count_max) : count_max_(count_max) {}

  /// Sets the value of `key`, which keeps its age when it is there already.
  void set(std::string_view key, Value value) {
    const std::uint64_t hash = std::hash<std::string_view>()(key);
    const bool is_new = values_.insert_or_assign(hash, std::move(value)).second;
    if (!is_new) {
      return;
    }
    order_.push_back(hash);
    if (order_.size() > count_max_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
  }

  /// The value of `key`, or null.
  [[nodiscard]] const Value* find(std::string_view key) const {
    const auto found = values_.find(std::hash<std::string_view>()(key));
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::size_t count_max_;
  std::unordered_map<std::uint64_t, Value> values_;
  std::deque<std::uint64_t> order_;
};

}  // namespace bmad_mem::cli
