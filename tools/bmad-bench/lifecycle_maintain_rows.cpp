// lifecycle_maintain_rows.cpp - what a hook pays that starts maintenance when nothing is due.
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "lifecycle_rows.hpp"
#include "spawn.hpp"

namespace bmad_mem::bench {
namespace {

/// A root with `count` sessions of an entry each.
Status make_sessions(const std::string& root, std::size_t count) {
  BMAD_TRY(MemoryManager::init(root));
  BMAD_TRY_ASSIGN(MemoryManager memory,
                  MemoryManager::open({.root = root, .agent_id = "bmad-bench"}));
  for (std::size_t i = 0; i < count; ++i) {
    BMAD_TRY_ASSIGN(const std::string session,
                    memory.create_session({.session_id = fmt::format("session-{:04}", i)}));
    BMAD_TRY(memory.add_event(session, {.kind = "note", .content = "Nothing is due here."}));
  }
  return {};
}

Result<Row> measure(const LifecycleRun& run, const std::string& root, const std::string& what) {
  const std::vector<std::string> empty = {run.helpers + "/bmad_bench_empty"};
  const std::vector<std::string> maintain = {run.tool, "--root", root, "maintain", "--auto"};
  BMAD_TRY(run_process(maintain));  // Does what is due.
  std::vector<double> above;
  std::vector<double> empties;
  for (std::size_t i = 0; i < run.times(200); ++i) {
    BMAD_TRY_ASSIGN(const ProcessCost nothing, run_process(empty));
    BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(maintain));
    empties.push_back(nothing.wall * 1e3);
    above.push_back((cost.wall - nothing.wall) * 1e3);
  }
  Row row{
      .what = what,
      .unit = "ms",
      .ours = summarize(above),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 15, .aim = {}}};
  row.note = fmt::format("{} processes, above an empty C program, which takes {:.3f} ms",
                         above.size(), summarize(empties).median);
  return row;
}

}  // namespace

LifecycleRows maintain_rows(const LifecycleRun& run) {
  const std::size_t sessions = run.effort < 0.1 ? 20 : 1000;
  const std::string what =
      fmt::format("`bmad-mem maintain --auto`, nothing due, {} sessions", sessions);
  if (!std::filesystem::exists(run.tool)) {
    return std::vector<Row>{not_measured(
        what, fmt::format("there is no program \"{}\"; name one with --tool or BMAD_MEM_BINARY",
                          run.tool))};
  }
  const std::string root = run.folder + "/sessions";
  BMAD_TRY(make_sessions(root, sessions));
  BMAD_TRY_ASSIGN(Row row, measure(run, root, what));
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
  return std::vector<Row>{row};
}

}  // namespace bmad_mem::bench
