// lazy_columns.hpp - room for the columns of a file that is read bit by bit.
#pragma once

#include <cstddef>

namespace bmad_mem {

/// Room for columns: zero until they are written, and memory only where they are. From the kernel
/// itself, since a heap writes its zeros: a thousand pages for a question that reads ten of them.
class LazyColumns {
 public:
  explicit LazyColumns(std::size_t size = 0);
  ~LazyColumns();
  LazyColumns(const LazyColumns&) = delete;
  LazyColumns& operator=(const LazyColumns&) = delete;

  /// The next `count` numbers, those of the largest type first.
  template <typename Number>
  Number* take(std::size_t count) {
    auto* const numbers = reinterpret_cast<Number*>(memory_ + used_);
    used_ += count * sizeof(Number);
    return numbers;
  }

 private:
  char* memory_;
  std::size_t size_;
  std::size_t used_ = 0;
};

}  // namespace bmad_mem
