// rooms.hpp - who does what the store asks of the rooms above it.
#pragma once

#include "store/store.hpp"

namespace bmad_mem {

RoomsAbove all_rooms();

/// The memory at Store::user_root, opened as `store` was. Errors: as MemoryManager::open().
Result<std::unique_ptr<Store>> open_user_store(const Store& store);

}  // namespace bmad_mem
