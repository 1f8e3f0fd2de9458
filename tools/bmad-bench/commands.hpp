// commands.hpp - what bmad-bench can do.
#pragma once

#include <cstdint>
#include <string>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

struct StoreOptions {
  std::string directory;  ///< Where the temporary folder goes; its file system is measured.
  std::string filter;     ///< Only groups whose name holds this; all when empty.
  std::string tool;       ///< The bmad-mem to start; beside this program when empty.
  std::uint64_t seed = 1;
  double effort = 1;
  bool json = false;
};

/// Measures and prints. False when a row could not be measured.
Result<bool> run_store(const StoreOptions& options);

/// The groups that --filter chooses from, one a line.
std::string store_groups_text();

struct CorpusOptions {
  std::string out;  ///< A folder that does not exist yet, or an empty one; becomes a memory root.
  std::uint64_t bytes = 10'000'000;
  std::uint64_t session_bytes = 10'000'000;
  std::uint64_t seed = 1;
  bool json = false;
};

Status run_corpus(const CorpusOptions& options);

}  // namespace bmad_mem::bench
