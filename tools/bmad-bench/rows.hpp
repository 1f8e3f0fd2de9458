// rows.hpp - what the rows of all commands run with, and the groups of rows.
//
// A group measures ours and its baseline in turn, in the same folder and the same seconds.
//
//   round 1    A B C        each round begins with another one, so that none always profits from
//   round 2    B C A        what the one before it read, and all of them meet the same seconds of
//   round 3    C A B        the machine: a ratio survives a change of disk and of neighbours
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "report.hpp"
#include "search_store.hpp"

namespace bmad_mem::bench {

/// Of all commands; main.cpp says which takes which.
struct Options {
  std::string directory;             ///< Where the temporary folder goes.
  std::string filter;                ///< Only groups of rows whose name holds this; all when empty.
  std::uint64_t bytes = 10'000'000;  ///< Of the memory; the targets are for this size.
  std::uint64_t session_bytes = 10'000'000;
  std::uint64_t seed = 1;
  double effort = 1;
  bool json = false;
  bool alone = false;  ///< A corpus without the others, which take minutes to index it.
  std::string out;     ///< The folder of a corpus.
};

/// What a group of rows runs with.
struct Run {
  const Options& options;
  std::string folder;       ///< A temporary one.
  SearchStore store = {};   ///< What the command has prepared.
  ConversationEntry entry;  ///< A message whose line has kEntrySize bytes; `store` alone has it.
  /// What the data are: shown, and members of the JSON report.
  std::vector<std::pair<std::string, std::uint64_t>> data = {};

  /// `full` repetitions at effort 1; at least 3.
  [[nodiscard]] std::size_t times(std::size_t full) const {
    return std::max<std::size_t>(
        3, static_cast<std::size_t>(options.effort * static_cast<double>(full)));
  }
  /// `full` seconds at effort 1; at least 50 ms.
  [[nodiscard]] double seconds(double full) const { return std::max(0.05, options.effort * full); }
};

/// What is appended by `store` wherever nothing else is said: in bytes, with its '\n'.
inline constexpr std::size_t kEntrySize = 300;

/// Rows that are measured together.
struct Group {
  std::string_view name;
  std::string_view text;
  Rows (*measure)(const Run& run);
};

/// One of several things that are measured in turn.
struct Step {
  std::string name;
  std::function<double(std::size_t round)> measure;
};

/// The values of each step, without those of the rounds that warm up.
std::vector<Values> in_turn(const std::vector<Step>& steps, std::size_t rounds,
                            std::size_t warm_ups = 0);

/// Says on stderr what goes on, for somebody who waits.
void tell(const std::string& what);
/// On stdout, at once: workers are forked, and must not inherit what is unwritten.
void print_text(std::string_view text);

// store_rows.cpp and cpu_rows.cpp
void prepare_store(Run& run);        ///< An empty memory, and an entry for it.
Rows append_rows(const Run& run);    ///< One writer, durable.
Rows batch_rows(const Run& run);     ///< A hundred entries a call.
Rows parallel_rows(const Run& run);  ///< Eight writers, one session.
Rows scan_rows(const Run& run);      ///< Reading 10 MB, every field.
Rows fairness_rows(const Run& run);  ///< Who gets the lock how often.
Rows timeout_rows(const Run& run);   ///< When a wait is given up.
Rows cpu_rows(const Run& run);       ///< Work without a disk.
Rows redact_rows(const Run& run);    ///< The search for secrets.

// search_rows.cpp and ingest_rows.cpp
Rows warm_rows(const Run& run);    ///< In one process, and the overlap of results.
Rows ingest_rows(const Run& run);  ///< Who waits while a full session grows.

}  // namespace bmad_mem::bench
