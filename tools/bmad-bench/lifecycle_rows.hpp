// lifecycle_rows.hpp - the groups of rows of `bmad-bench lifecycle`, each in a file of its own.
//
// As in store_rows.hpp: ours and the baseline in turn, in the same folder and the same seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "lifecycle_store.hpp"
#include "report.hpp"

namespace bmad_mem::bench {

/// What a group runs with.
struct LifecycleRun {
  const SearchStore& store;  ///< One full session; only copies of it are changed.
  std::string folder;        ///< Copies go here.
  double effort = 1;         ///< 1 is the full measurement; less runs shorter and proves less.
  std::string tool;          ///< The bmad-mem to start.
  std::string helpers;       ///< The folder with the helper programs of the build.

  /// `full` repetitions at effort 1; at least 2.
  [[nodiscard]] std::size_t times(std::size_t full) const {
    return std::max<std::size_t>(2, static_cast<std::size_t>(effort * static_cast<double>(full)));
  }
  [[nodiscard]] Result<StoreCopy> copy() const { return StoreCopy::make(store, folder + "/copy"); }
};

using LifecycleRows = Result<std::vector<Row>>;

LifecycleRows compact_rows(const LifecycleRun& run);   ///< One compaction, and its parts.
LifecycleRows race_rows(const LifecycleRun& run);      ///< A reader and a writer during one.
LifecycleRows delete_rows(const LifecycleRun& run);    ///< A hundred ids.
LifecycleRows archive_rows(const LifecycleRun& run);   ///< Into an archive and back.
LifecycleRows maintain_rows(const LifecycleRun& run);  ///< When nothing is due.

/// Ours and a baseline in milliseconds, pair by pair.
struct Pairs {
  std::vector<double> ours;
  std::vector<double> baseline;

  void add(double our_time, double baseline_time) {
    ours.push_back(our_time);
    baseline.push_back(baseline_time);
  }
  [[nodiscard]] Row row(std::string what, std::string baseline_name, Target target) const;
};

}  // namespace bmad_mem::bench
