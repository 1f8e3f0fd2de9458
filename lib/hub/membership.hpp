// membership.hpp - what joining and synchronizing share: the lock, whether the feed is still the
// one that this mirror has applied, and which rows of it a role may push.
//
//   here   1:a  2:b  3:c                the mark is 3:c
//   hub    1:a  2:b  3:x  4:y           restored from a backup of two rows, and others pushed
//
// Numbers alone don't tell: the hub has as many rows as before, and they are others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

/// The mark of a mirror that has applied `row` last. What the row says is no part of it: that is
/// emptied by a purge, and replaced by a redaction.
FeedMark mark_of(const FeedRow& row);

/// Nothing when the hub has the row that the mirror has applied last: before rows are added here or
/// there. Errors: E_STORAGE_CORRUPT, as restored_hub(); as the hub's.
Status check_feed(Hub& hub, const MirrorState& state);

/// That the hub has lost rows, and what to do.
Error restored_hub(std::uint64_t head, std::uint64_t cursor);

/// Whether a role with the rights HubHead::rights may push a row with this operation.
inline bool may_push(std::string_view rights, FeedOp op) {
  const bool forgets = op == FeedOp::kPurge || op == FeedOp::kRedact;
  return rights != "read" && (rights != "write" || !forgets);
}

/// Counts rows that wait and, when they `are_pushed`, the others.
inline void count_rows(std::span<const FeedRow> rows, bool are_pushed, SyncReport& report) {
  for (const FeedRow& row : rows) {
    const bool is_line = row.op == FeedOp::kLine;
    if (!may_push(report.rights, row.op)) {
      ++(is_line ? report.waiting_lines : report.waiting_operations);
    } else if (are_pushed) {
      ++(is_line ? report.pushed_lines : report.pushed_operations);
    }
  }
}

}  // namespace bmad_mem
