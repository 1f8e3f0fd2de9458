// unpacked_cache.hpp - what was unpacked lately, for the next question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace bmad_mem {

/// Parts of packed files, each with the number of its owner. Threads: safe.
class UnpackedCache {
 public:
  /// A number that no other owner has.
  std::uint64_t new_owner();
  /// Null when it is not there, or no longer. `Part` is as it was given to add().
  template <typename Part>
  std::shared_ptr<Part> find(std::uint64_t owner, std::size_t part) {
    return std::static_pointer_cast<Part>(find_any(owner, part));
  }
  /// Keeps `what`, which has `size` bytes, and of the others those asked for last, until they have
  /// `size_max` bytes; the latest stays whatever its size.
  void add(std::uint64_t owner, std::size_t part, std::shared_ptr<void> what, std::uint64_t size,
           std::uint64_t size_max);
  /// Frees all that is the owner's, unless somebody still uses it.
  void forget(std::uint64_t owner);
  /// Bytes of all that is kept.
  std::uint64_t size();

 private:
  using Key = std::pair<std::uint64_t, std::size_t>;
  struct Item {
    Key key;
    std::shared_ptr<void> what;
    std::uint64_t size = 0;
  };
  using Items = std::list<Item>;

  std::shared_ptr<void> find_any(std::uint64_t owner, std::size_t part);
  /// Moves an item to `gone`, which is freed without the mutex. The caller holds it.
  void take_out(Items::iterator item, Items& gone);

  std::mutex mutex_;  // Guards what follows.
  Items items_;       // The one asked for last in front.
  std::map<Key, Items::iterator> places_;
  std::uint64_t size_ = 0;
  std::uint64_t owners_ = 0;
};

}  // namespace bmad_mem
