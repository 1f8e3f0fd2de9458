// rows.hpp - the groups of rows, and the commands that print something else than rows.
//
// A group measures ours and its baseline in turn, in the same folder and the same seconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "run.hpp"

namespace bmad_mem::bench {

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

/// An event of a session as Claude Code hands it over, without what we don't read.
std::string hook_event(const std::string& session, std::string_view name, std::string_view members);
/// Milliseconds that the hook for `event` takes as a process, and what it told the agent.
struct HookAnswer {
  double wall_ms = 0;
  bool told = false;
};
HookAnswer fire_hook(const Arguments& hook, const std::string& folder, const std::string& event);

/// Writes made-up memory.
void run_corpus(const Options& options);
/// Prints how well questions are answered; a folder that is not there is said so, and no error.
std::string no_data_text(const Options& options);
void run_retrieval(const Options& options);
/// The same, and how fast, while a memory gets three months old. Moves the clock of the process.
void run_month(const Options& options);

}  // namespace bmad_mem::bench
