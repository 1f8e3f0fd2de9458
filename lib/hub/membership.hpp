// membership.hpp - what joining and synchronizing share.
#pragma once

#include <string>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"
#include "store/file_lock.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// 128 random bits, as a UUID.
std::string new_replica_id();

/// Of a root that has joined a hub, and the lock of who changes it.
struct JoinedMirror {
  MirrorState state;
  FileLock::Guard guard;
};

/// Errors: E_HUB_NOT_FOUND when the root has joined none; E_ACCESS_DENIED for a foreign root;
/// E_LOCK_TIMEOUT.
Result<JoinedMirror> lock_mirror(Store& store, FileLock& lock);
FileLock mirror_lock(Store& store);

/// Nothing when the root may exchange with a hub that says `head`. Errors: E_HUB_VERSION;
/// E_STORAGE_CORRUPT when the hub has less than it had; E_ACCESS_DENIED when it does not know the
/// replica; E_CONCURRENT_MOD when a replica that was away for long would push and not pull.
Status check_head(const Store& store, const MirrorState& state, const HubHead& head, bool pulls);

}  // namespace bmad_mem
