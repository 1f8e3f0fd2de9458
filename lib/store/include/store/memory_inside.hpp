// memory_inside.hpp - the store behind a MemoryManager, for the public classes beside it.
#pragma once

#include "bmad_mem/memory_manager.hpp"
#include "store/operation_rows.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct MemoryInside {
  /// The store, for an operation that the workflow allows. Errors: E_ACCESS_DENIED.
  static Result<Store*> enter(MemoryManager& memory, Operation operation, bool changes = true);
  static Result<const Store*> enter(const MemoryManager& memory, Operation operation);
  /// For what says nothing of entries: the config, names of files.
  static const Store& settings(const MemoryManager& memory);
};

}  // namespace bmad_mem
