// store_rows.hpp - the groups of rows of `bmad-bench store`, each in a file of its own.
//
// A group measures ours and its baseline in turn, in the same folder and the same seconds, because
// a ratio survives a change of machine, of disk and of neighbours, and a time does not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench_store.hpp"
#include "bmad_mem/result.hpp"
#include "report.hpp"

namespace bmad_mem::bench {

/// What a group runs with.
struct StoreRun {
  const BenchStore& store;
  /// 1 is the full measurement, about a minute; less runs shorter and proves less.
  double effort = 1;
  /// The bmad-mem to start; empty when there is none.
  std::string tool;
  /// The folder with the helper programs of the build.
  std::string helpers;

  /// `full` repetitions at effort 1; at least 3.
  [[nodiscard]] std::size_t times(std::size_t full) const {
    return std::max<std::size_t>(3, static_cast<std::size_t>(effort * static_cast<double>(full)));
  }
  /// `full` seconds at effort 1; at least 50 ms.
  [[nodiscard]] double seconds(double full) const { return std::max(0.05, effort * full); }
};

Result<std::vector<Row>> append_rows(const StoreRun& run);    ///< One writer, durable.
Result<std::vector<Row>> batch_rows(const StoreRun& run);     ///< A hundred entries a call.
Result<std::vector<Row>> parallel_rows(const StoreRun& run);  ///< Eight writers, one session.
Result<std::vector<Row>> process_rows(const StoreRun& run);   ///< `bmad-mem add`, start to exit.
Result<std::vector<Row>> scan_rows(const StoreRun& run);      ///< Reading 10 MB, every field.
Result<std::vector<Row>> fairness_rows(const StoreRun& run);  ///< Who gets the lock how often.
Result<std::vector<Row>> timeout_rows(const StoreRun& run);   ///< When a wait is given up.
Result<std::vector<Row>> cpu_rows(const StoreRun& run);       ///< Work without a disk.

}  // namespace bmad_mem::bench
