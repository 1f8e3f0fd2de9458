// overview.hpp - what there is, by topic and by time, counted from the indexes alone.
#pragma once

#include <span>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/indexed_session.hpp"

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

/// An entry, by its place in what is searched.
struct Newest {
  std::size_t session = 0;
  Ordinal ordinal = 0;
  Timestamp timestamp{};
};

/// Of the entries that pass `filter`, those that are among the newest `filter.limit`, and those as
/// old as the last of them; all without a limit. In no order. Evicted ones count behind all others.
/// Only sessions that may hold one of them are looked at. Errors: as search()'s.
Result<std::vector<Newest>> find_newest(std::span<IndexedSession* const> sessions,
                                        const EntryFilter& filter);

}  // namespace bmad_mem
