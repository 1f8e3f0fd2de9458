// lazy_columns.hpp - memory that is taken where it is touched, or all at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bmad_mem {

/// Takes the memory of `bytes` at once. Else each page of it is a fault when it is touched first,
/// which takes a quarter of a microsecond, and twenty in some virtual machines. For what is about
/// to be filled; what is in it stays. Much of it comes in pages of 2 MB, where there are any. Where
/// the kernel can't (before Linux 5.14), nothing happens.
void take_memory_now(std::span<std::byte> bytes) noexcept;

/// Reserves room for `count` values, which the caller is about to add, and takes its memory now.
template <typename Value>
void reserve_now(std::vector<Value>& values, std::size_t count) {
  values.reserve(count);
  take_memory_now(std::as_writable_bytes(std::span(values.data(), count)));
}

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
