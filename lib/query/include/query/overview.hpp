// overview.hpp - what there is, by topic and by time, counted from the indexes alone.
#pragma once

#include <span>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "index/indexed_session.hpp"

namespace bmad_mem {

// The sessions are refreshed and locked. filter.sessions is not looked at: they are `sessions`.
// Errors: E_STORAGE_CORRUPT with the session's id in Error::field.

/// The topics of the entries that pass `filter`: most entries first, then by name.
Result<std::vector<TopicCount>> count_topics(std::span<IndexedSession* const> sessions,
                                             const EntryFilter& filter);

/// The entries that pass `filter`, by their time; stretches without any are left out. Oldest first;
/// with a limit, the newest ones.
Result<std::vector<TimelineBucket>> count_by_time(std::span<IndexedSession* const> sessions,
                                                  const EntryFilter& filter, TimelineUnit unit);

/// When the stretch of `unit` that holds `time` begins, UTC; weeks begin on Monday.
Timestamp begin_of(TimelineUnit unit, Timestamp time);

}  // namespace bmad_mem
