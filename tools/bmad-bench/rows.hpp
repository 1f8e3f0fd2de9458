// rows.hpp - what the rows of all commands run with, the groups of rows, and the commands that
// print something else than rows.
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
#include "process.hpp"
#include "report.hpp"
#include "search_store.hpp"

namespace bmad_mem::bench {

/// Of all commands; main.cpp says which takes which.
struct Options {
  std::string directory;             ///< Where the temporary folder goes.
  std::string filter;                ///< Only groups of rows whose name holds this; all when empty.
  std::string tool;                  ///< The bmad-mem to start; beside this program when empty.
  std::uint64_t bytes = 10'000'000;  ///< Of the memory; the targets are for this size.
  std::uint64_t session_bytes = 10'000'000;
  std::uint64_t seed = 1;
  double effort = 1;
  bool json = false;
  bool large = false;               ///< All shapes.
  std::vector<std::string> shapes;  ///< Of memories as they are left; the smallest when empty.
  bool alone = false;               ///< Those without the others, which take minutes to index them.
  std::string keep;                 ///< Where the shapes stay for the next time; away when empty.
  std::string out;                  ///< The folder of a new corpus.
  std::string data;                 ///< Holds corpus.jsonl and queries.jsonl.
  std::string run_file;             ///< Where the rankings go; nowhere when empty.
  std::vector<std::string> stores;  ///< Only these; all when empty.
  std::string ranking = "all";      ///< One way of asking, see retrieval_scores.hpp.
  bool encoder = false;             ///< Entries get their vectors before they are asked for.
};

/// What a group of rows runs with.
struct Run {
  const Options& options;
  std::string folder;       ///< A temporary one.
  std::string helpers;      ///< The folder with the programs of the build.
  std::string tool;         ///< The bmad-mem to start.
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
  [[nodiscard]] Arguments call(Arguments arguments) const;  ///< Of the tool, on the store.
};

/// What is appended by `store` wherever nothing else is said: in bytes, with its '\n'.
inline constexpr std::size_t kEntrySize = 300;

/// Rows that are measured together.
struct Group {
  std::string_view name;
  std::string_view text;
  Rows (*measure)(const Run& run);
  bool needs_tool = false;
};

/// One of several things that are measured in turn.
struct Step {
  std::string name;
  std::function<double(std::size_t round)> measure;
};

/// The values of each step, without those of the rounds that warm up.
std::vector<Values> in_turn(const std::vector<Step>& steps, std::size_t rounds,
                            std::size_t warm_ups = 0);

/// Milliseconds of a whole process.
Step process_step(std::string name, std::function<Arguments(std::size_t round)> arguments);

/// That of an empty static C program.
Step empty_step(const Run& run);

/// Processes in turn with an empty program, whose median is taken off: no program can do
/// without a start. The median of all, since a single start differs by more than a query takes.
std::vector<Values> above_empty(const Run& run, std::vector<Step> steps, std::size_t rounds);

/// Says on stderr what goes on, for somebody who waits.
void tell(const std::string& what);
/// On stdout, at once: workers are forked, and must not inherit what is unwritten.
void print_text(std::string_view text);

// store_rows.cpp and cpu_rows.cpp
void prepare_store(Run& run);        ///< An empty memory, and an entry for it.
Rows append_rows(const Run& run);    ///< One writer, durable.
Rows batch_rows(const Run& run);     ///< A hundred entries a call.
Rows parallel_rows(const Run& run);  ///< Eight writers, one session.
Rows process_rows(const Run& run);   ///< `bmad-mem add`, start to exit.
Rows scan_rows(const Run& run);      ///< Reading 10 MB, every field.
Rows fairness_rows(const Run& run);  ///< Who gets the lock how often.
Rows timeout_rows(const Run& run);   ///< When a wait is given up.
Rows cpu_rows(const Run& run);       ///< Work without a disk.
Rows redact_rows(const Run& run);    ///< The search for secrets.

// search_rows.cpp, ingest_rows.cpp and left_rows.cpp
Rows warm_rows(const Run& run);          ///< In one process, and the overlap of results.
Rows ingest_rows(const Run& run);        ///< Who waits while a full session grows.
Rows left_rows(const Run& run);          ///< As ordinary writes leave memories.
std::vector<std::string> left_shapes();  ///< The names that --shape knows.

// lifecycle_rows.cpp
Rows compact_rows(const Run& run);   ///< One compaction, and its parts.
Rows race_rows(const Run& run);      ///< A reader and a writer during one.
Rows delete_rows(const Run& run);    ///< A hundred ids.
Rows archive_rows(const Run& run);   ///< Into an archive and back.
Rows maintain_rows(const Run& run);  ///< When nothing is due.

// agent_rows.cpp
Rows context_rows(const Run& run);  ///< What an agent waits for its context.
Rows hook_rows(const Run& run);     ///< What an agent waits for its hooks.

// encoder_rows.cpp
Rows encoder_rows(const Run& run);  ///< Texts, the weights, the reference.
Rows meaning_rows(const Run& run);  ///< Many entries with vectors: sizes, and what a query takes.

// hub_rows.cpp; where the build has libpq.
void prepare_hub(Run& run);            ///< Where hubs are found. A server starts when it is needed.
Rows hub_push_rows(const Run& run);    ///< Batches, by the library.
Rows hub_single_rows(const Run& run);  ///< Single entries, by one and by eight.
Rows hub_pull_rows(const Run& run);    ///< A root becomes a mirror; what the hub's table takes.
Rows hub_sync_rows(const Run& run);    ///< When nothing is to be done.
Rows hub_follow_rows(const Run& run);  ///< From one machine to another.
Rows hub_cost_rows(const Run& run);    ///< What a hub costs those who don't ask it.
Rows hub_forget_rows(const Run& run);  ///< Until all machines have forgotten.

/// An event of a session as Claude Code hands it over, without what we don't read.
std::string hook_event(const std::string& session, std::string_view name, std::string_view members);
/// Milliseconds that the hook for `event` takes as a process, and what it told the agent.
struct HookAnswer {
  double wall_ms = 0;
  bool told = false;
};
HookAnswer fire_hook(const Arguments& hook, const std::string& folder, const std::string& event);

/// Prints how well questions are answered; a folder that is not there is said so, and no error.
std::string no_data_text(const Options& options);
void run_retrieval(const Options& options);

}  // namespace bmad_mem::bench
