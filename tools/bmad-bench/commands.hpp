// commands.hpp - what bmad-bench can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

struct SearchOptions {
  std::string directory;             ///< Where the temporary folder goes.
  std::string filter;                ///< Only groups whose name holds this; all when empty.
  std::string tool;                  ///< The bmad-mem to start; beside this program when empty.
  std::uint64_t bytes = 10'000'000;  ///< Of the store; other sizes compare with nothing.
  std::uint64_t seed = 1;
  double effort = 1;
  bool large = false;               ///< Also a million entries.
  std::vector<std::string> shapes;  ///< Of memories as they are left; the smallest when empty.
  bool alone = false;  ///< Those without the others, whose indexes take minutes to build.
  std::string keep;    ///< Where the million entries stay for the next time; away when empty.
  bool json = false;
};

/// Measures and prints. False when a row could not be measured.
Result<bool> run_search(const SearchOptions& options);

/// The groups that --filter chooses from, one a line.
std::string search_groups_text();
/// The names that --shape knows.
std::vector<std::string> left_shapes();

struct LifecycleOptions {
  std::string directory;             ///< Where the temporary folder goes.
  std::string filter;                ///< Only groups whose name holds this; all when empty.
  std::string tool;                  ///< The bmad-mem to start; beside this program when empty.
  std::uint64_t bytes = 10'000'000;  ///< Of the session; the targets are for this size.
  std::uint64_t seed = 1;
  double effort = 1;
  bool json = false;
};

/// Measures and prints. False when a row could not be measured.
Result<bool> run_lifecycle(const LifecycleOptions& options);

/// The groups that --filter chooses from, one a line.
std::string lifecycle_groups_text();

struct RedactOptions {
  std::string directory;  ///< Whose file system is named beside the machine.
  std::uint64_t seed = 1;
  double effort = 1;
  bool json = false;
};

/// Measures and prints.
Result<bool> run_redact(const RedactOptions& options);

struct ContextBenchOptions {
  std::string directory;  ///< Where the temporary folder goes.
  std::string tool;       ///< The bmad-mem to start; beside this program when empty.
  std::uint64_t session_bytes = 10'000'000;  ///< A new session after so many.
  std::uint64_t seed = 1;
  double effort = 1;  ///< Below 1 the memory is smaller, too.
  bool json = false;
};

/// Measures and prints.
Result<bool> run_context(const ContextBenchOptions& options);

struct HooksBenchOptions {
  std::string directory;  ///< Where the temporary folder goes.
  std::string tool;       ///< The bmad-mem to start; beside this program when empty.
  std::uint64_t session_bytes = 10'000'000;  ///< A new session after so many.
  std::uint64_t seed = 1;
  double effort = 1;  ///< Below 1 the memory is smaller, too.
  bool json = false;
};

/// Measures and prints.
Result<bool> run_hooks(const HooksBenchOptions& options);

struct RetrievalOptions {
  std::string data = "../shared/data/retrieval-dev";  ///< Holds corpus.jsonl and queries.jsonl.
  std::string run_file;             ///< Where the rankings go; nowhere when empty.
  std::vector<std::string> stores;  ///< Only these; all when empty.
  std::string ranking = "all";      ///< One way of asking, or "all": retrieval_ways.hpp.
  std::string directory;            ///< Where the temporary folder goes.
  bool json = false;
};

/// Prints how well questions are answered; a folder that is not there is said so, and no error.
Status run_retrieval(const RetrievalOptions& options);

struct MonthOptions {
  std::string data = RetrievalOptions().data;  ///< As there.
  std::string directory;                       ///< Where the temporary folder goes.
  std::size_t sessions = 100;                  ///< Of the data, and made ones for the rest.
  std::size_t entries = 5'000;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Prints how well and how fast questions are answered while a memory gets three months old; a
/// folder that is not there is said so, and no error. Moves the clock of the process.
Status run_month(const MonthOptions& options);

}  // namespace bmad_mem::bench
