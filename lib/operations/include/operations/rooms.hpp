// rooms.hpp - who does what the store asks of the rooms above it.
#pragma once

#include "store/store.hpp"

namespace bmad_mem {

RoomsAbove all_rooms();

/// Makes `store` that of OpenOptions::root. Errors: as MemoryManager::open().
Status open_store(Store& store, OpenOptions options);

/// The memory at Store::user_root, opened as `store` was. Errors: as MemoryManager::open().
Result<std::unique_ptr<Store>> open_user_store(const Store& store);

/// See RoomsAbove::open_other. Errors, which name the folder: E_SESSION_NOT_FOUND when it is no
/// memory or is not there; as the file system's.
Result<std::unique_ptr<Store>> open_other_store(const Store& store, const std::string& folder);

/// Whether `store` could work with `config`, which is as before then. Errors: E_SCHEMA_INVALID.
Status check_config(Store& store, Config& config);

/// Marks the root as trusted, and records its lines as accepted where nobody knows who wrote them.
/// Their number. Errors: as RootOrigins::mark(); as load_config() and
/// check_config().
Result<std::uint64_t> trust_root(Store& store);

}  // namespace bmad_mem
