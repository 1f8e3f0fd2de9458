// feed_mark.hpp - whether the feed is still the one that this mirror has applied.
//
//   here   1:a  2:b  3:c                the mark is 3:c
//   hub    1:a  2:b  3:x  4:y           restored from a backup of two rows, and others pushed
//
// Numbers alone don't tell: the hub has as many rows as before, and they are others.
#pragma once

#include <cstdint>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "hub/mirror_state.hpp"

namespace bmad_mem {

/// The mark of a mirror that has applied `row` last. What the row says is no part of it: that is
/// emptied by a purge, and replaced by a redaction.
FeedMark mark_of(const FeedRow& row);

/// Nothing when the hub has the row that the mirror has applied last: before rows are added here or
/// there. Errors: E_STORAGE_CORRUPT, as restored_hub(); as the hub's.
Status check_feed(Hub& hub, const MirrorState& state);

/// That the hub has lost rows, and what to do.
Error restored_hub(std::uint64_t head, std::uint64_t cursor);

}  // namespace bmad_mem
