// search_rows.hpp - the groups of rows of `bmad-bench search`, each in a file of its own.
//
// As in store_rows.hpp: ours and the others in turn, in the same seconds, on the same texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "report.hpp"
#include "search_store.hpp"

namespace bmad_mem::bench {

/// What a group runs with.
struct SearchRun {
  const SearchStore& store;
  /// Where the store of a million entries lies or goes; empty when it is not wanted.
  std::string large_folder;
  /// Which memories are made and asked as they were left, where they lie, and how much of them.
  std::vector<std::string> left_shapes;
  std::string left_folder;
  double left_share = 1;
  double effort = 1;  ///< 1 is the full measurement; less runs shorter and proves less.
  std::uint64_t seed = 1;
  bool alone = false;   ///< Without the others in the large store.
  std::string tool;     ///< The bmad-mem to start.
  std::string helpers;  ///< The folder with the helper programs of the build.
  SearchProgress progress;

  /// `full` repetitions at effort 1; at least 3.
  [[nodiscard]] std::size_t times(std::size_t full) const {
    return std::max<std::size_t>(3, static_cast<std::size_t>(effort * static_cast<double>(full)));
  }
};

using SearchRows = Result<std::vector<Row>>;

SearchRows warm_rows(const SearchRun& run);     ///< In one process, and the overlap of results.
SearchRows cold_rows(const SearchRun& run);     ///< Whole processes.
SearchRows rebuild_rows(const SearchRun& run);  ///< Indexing anew, and the size of the index.
SearchRows append_rows(const SearchRun& run);   ///< Who waits while a full session grows.
SearchRows large_rows(const SearchRun& run);    ///< A million entries in 200 sessions.

SearchRows left_rows(const SearchRun& run);  ///< As ordinary writes leave memories.

/// The mean share of the 20 best that ours, by plain BM25, and `peer` have in common.
Result<double> overlap_with(const SearchStore& store, const MemoryManager& memory, Peer& peer);

/// `bmad-mem query` and the others as processes, above an empty one. Row by row: ours beside each.
SearchRows cold_query_rows(const SearchRun& run, const SearchStore& store, const std::string& label,
                           const Target& target, std::size_t rounds);

}  // namespace bmad_mem::bench
