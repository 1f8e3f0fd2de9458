// memory_inside.hpp - the store behind a MemoryManager, for the public classes beside it.
#pragma once

#include "bmad_mem/memory_manager.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct MemoryInside {
  static Store& store(MemoryManager& memory);
  static const Store& store(const MemoryManager& memory);
};

}  // namespace bmad_mem
