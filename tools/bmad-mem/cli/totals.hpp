// totals.hpp - the counts of several sessions together, for every interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"

namespace bmad_mem::cli {

/// Counts of several sessions.
struct Totals {
  std::uint64_t sessions = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t entries = 0;
  std::uint64_t versions = 0;
  std::uint64_t sealed_lines = 0;
  std::uint64_t damaged_lines = 0;
  std::uint64_t size_bytes = 0;
  std::array<std::uint64_t, kEntryTypeCount> types{};
  std::optional<Timestamp> oldest;
  std::optional<Timestamp> newest;

  void add(const SessionStatistics& session) {
    ++sessions;
    entries += session.entries();
    versions += session.versions();
    sealed_lines += session.sealed_lines();
    damaged_lines += session.damaged_lines();
    size_bytes += session.size_bytes;
    for (std::size_t i = 0; i < kEntryTypeCount; ++i) {
      types.at(i) += session.types.at(i).entries;
    }
    if (session.oldest && (!oldest || *session.oldest < *oldest)) {
      oldest = session.oldest;
    }
    if (session.newest && (!newest || *session.newest > *newest)) {
      newest = session.newest;
    }
  }
};

inline Totals totals_of(const GlobalStatistics& statistics) {
  Totals totals{.unreadable = statistics.problems.size()};
  for (const SessionStatistics& session : statistics.sessions) {
    totals.add(session);
  }
  return totals;
}

}  // namespace bmad_mem::cli
