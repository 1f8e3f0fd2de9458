// rooms.hpp - who does what the store asks of the rooms above it.
#pragma once

#include "store/store.hpp"

namespace bmad_mem {

RoomsAbove all_rooms();

/// The memory at Store::user_root, opened as `store` was. Errors: as MemoryManager::open().
Result<std::unique_ptr<Store>> open_user_store(const Store& store);

/// Marks the root as trusted, and records its lines as accepted where nobody knows who wrote them.
/// Their number. Errors: as RootOrigins::mark().
Result<std::uint64_t> trust_root(Store& store);

}  // namespace bmad_mem
