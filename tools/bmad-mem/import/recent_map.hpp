// recent_map.hpp - a map that remembers what was put in last, in bounded memory.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace bmad_mem::cli {

/// From strings to values; beyond `count_max` keys the oldest is forgotten.
template <typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t count_max) : count_max_(count_max) {}

  /// Sets the value of `key`, which keeps its age when it is there already.
  void set(const std::string& key, Value value) {
    const bool is_new = values_.insert_or_assign(key, std::move(value)).second;
    if (!is_new) {
      return;
    }
    order_.push_back(key);
    if (order_.size() > count_max_) {
      values_.erase(order_.front());
      order_.pop_front();
    }
  }

  /// The value of `key`, or null.
  [[nodiscard]] const Value* find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::size_t count_max_;
  std::unordered_map<std::string, Value> values_;
  std::deque<std::string> order_;
};

}  // namespace bmad_mem::cli
