#include "storage/lazy_columns.hpp"

#include <sys/mman.h>

#include <new>

namespace bmad_mem {

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
