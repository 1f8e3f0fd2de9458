#include "store/lazy_columns.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace bmad_mem {

void take_memory_now(std::span<std::byte> bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kFew = 8;  // Their faults take no longer than a call.
  constexpr std::size_t kHuge = std::size_t{4} << 20U;
  const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(bytes.data()) % kPage;
  if (bytes.size() >= skipped + kFew * kPage) {
    const std::size_t size = (bytes.size() - skipped) / kPage * kPage;
    if (size >= kHuge) {
      static_cast<void>(::madvise(bytes.data() + skipped, size, MADV_HUGEPAGE));
    }
    static_cast<void>(::madvise(bytes.data() + skipped, size, MADV_POPULATE_WRITE));
  }
#else
  static_cast<void>(bytes);
#endif
}

LazyColumns::LazyColumns(std::size_t size) : size_(size) {
  void* const memory =
      size == 0 ? nullptr
                : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  memory_ = static_cast<char*>(memory);
}

LazyColumns::~LazyColumns() {
  if (memory_ != nullptr) {
    ::munmap(memory_, size_);
  }
}

}  // namespace bmad_mem
