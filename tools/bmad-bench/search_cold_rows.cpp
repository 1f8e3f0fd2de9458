// search_cold_rows.cpp - one query as an agent asks it: a process from start to exit.
//
//   empty program | bmad-mem query | FTS5 | Xapian | ripgrep      in turn, a query after another
//
// The empty program's time is taken off each of them: no program can do without a start. The files
// are in the system's cache.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "search_rows.hpp"
#include "spawn.hpp"

namespace bmad_mem::bench {
namespace {

using Arguments = std::vector<std::string>;

/// A program that is started for each query.
struct Program {
  std::string name;
  std::function<Arguments(const SearchWords& words)> arguments;
  std::vector<double> milliseconds = {};  ///< Above the empty one.
};

std::optional<std::string> find_ripgrep() {
  for (const char* path : {"/usr/bin/rg", "/usr/local/bin/rg"}) {
    if (std::filesystem::exists(path)) {
      return path;
    }
  }
  return std::nullopt;
}

Arguments our_arguments(const SearchRun& run, const SearchStore& store, const SearchWords& words) {
  return {run.tool, "--root", store.root, "query", joined(words), "--limit", "20"};
}

Program ripgrep(const std::string& path, const SearchStore& store) {
  return {.name = "ripgrep", .arguments = [path, &store](const SearchWords& words) {
            Arguments arguments = {path, "--no-config", "-i", "-g", "*.jsonl"};
            for (const std::string& word : words) {
              arguments.insert(arguments.end(), {"-e", word});
            }
            arguments.push_back(store.root + "/sessions");
            return arguments;
          }};
}

Program peer_program(const SearchRun& run, const SearchStore& store, PeerKind kind) {
  const std::string helper =
      run.helpers + (kind == PeerKind::kFts5 ? "/bmad_bench_fts5" : "/bmad_bench_xapian");
  return {.name = std::string(peer_name(kind)),
          .arguments = [helper, path = store.peer_path(kind)](const SearchWords& words) {
            Arguments arguments = {helper, path};
            arguments.insert(arguments.end(), words.begin(), words.end());
            return arguments;
          }};
}

std::vector<Program> programs_for(const SearchRun& run, const SearchStore& store) {
  std::vector<Program> programs;
  programs.push_back({.name = "bmad-mem", .arguments = [&](const SearchWords& words) {
                        return our_arguments(run, store, words);
                      }});
  for (const PeerKind kind : {PeerKind::kFts5, PeerKind::kXapian}) {
    if (store.has(kind)) {
      programs.push_back(peer_program(run, store, kind));
    }
  }
  if (const std::optional<std::string> path = find_ripgrep()) {
    programs.push_back(ripgrep(*path, store));
  }
  return programs;
}

/// A tool that finds nothing would be fast.
Status check_answers(const Arguments& arguments) {
  BMAD_TRY_ASSIGN(const std::string output, output_of(arguments));
  return output.empty() ? Status(Error{.message = arguments.front() + " query printed nothing"})
                        : Status();
}

Status run_in_turn(const SearchRun& run, std::span<Program> programs,
                   std::span<const SearchWords> queries, std::size_t rounds) {
  std::vector<double> empty;
  const std::size_t warm_ups = std::min<std::size_t>(3, rounds);
  for (std::size_t round = 0; round < warm_ups + rounds; ++round) {
    const SearchWords& words = queries[round % queries.size()];
    BMAD_TRY_ASSIGN(const ProcessCost nothing, run_process({run.helpers + "/bmad_bench_empty"}));
    empty.push_back(nothing.wall * 1e3);
    for (std::size_t turn = 0; turn < programs.size(); ++turn) {
      Program& program = programs[(round + turn) % programs.size()];
      BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(program.arguments(words)));
      if (round >= warm_ups) {
        program.milliseconds.push_back(cost.wall * 1e3);
      }
    }
  }
  // The median of all, since a single start differs by more than a query takes on a busy machine.
  const double start = summarize(empty).median;
  for (Program& program : programs) {
    for (double& time : program.milliseconds) {
      time -= start;
    }
  }
  return {};
}

Row row_beside(const std::string& label, const Program& ours, const Program& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.milliseconds.size(); ++i) {
    // Noise can make a start as cheap as that of the empty program.
    ratios.push_back(other.milliseconds[i] / std::max(ours.milliseconds[i], 0.01));
  }
  return {.what = label,
          .unit = "ms",
          .ours = summarize(ours.milliseconds),
          .baseline_name = other.name,
          .baseline = summarize(other.milliseconds),
          .ratio = summarize(ratios)};
}

void remove_index(const SearchStore& store) {
  std::error_code ignored;
  std::filesystem::remove_all(store.root + "/index", ignored);
}

/// The first query after the index was deleted, with the start of its process.
Result<Row> row_without_index(const SearchRun& run) {
  std::vector<double> times;
  for (std::size_t i = 0; i < run.times(20); ++i) {
    remove_index(run.store);
    const SearchWords& words = run.store.queries[i % run.store.queries.size()];
    BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(our_arguments(run, run.store, words)));
    times.push_back(cost.wall * 1e3);
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
  BMAD_TRY(memory.rebuild_index());
  Row row{
      .what = "cold query, index missing",
      .unit = "ms",
      .ours = summarize(times),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 80, .aim = 45}};
  row.note = fmt::format("{} deletions of index/, each before one process", row.ours.count);
  return row;
}

}  // namespace

SearchRows cold_query_rows(const SearchRun& run, const SearchStore& store, const std::string& label,
                           const Target& target, std::size_t rounds) {
  if (!std::filesystem::exists(run.tool)) {
    return std::vector<Row>{not_measured(
        label, fmt::format("there is no program \"{}\"; name one with --tool or BMAD_MEM_BINARY",
                           run.tool))};
  }
  std::vector<Program> programs = programs_for(run, store);
  BMAD_TRY(check_answers(programs.front().arguments(store.queries.front())));
  BMAD_TRY(run_in_turn(run, programs, store.queries, rounds));
  std::vector<Row> rows;
  rows.push_back(
      {.what = label,
       .unit = "ms",
       .ours = summarize(programs.front().milliseconds),
       .target = target,
       .note = fmt::format("{} queries, above an empty C program; the tool is linked {}", rounds,
                           is_dynamic(run.tool) ? "DYNAMICALLY" : "statically")});
  for (const Program& other : std::span(programs).subspan(1)) {
    rows.push_back(row_beside(label + " beside " + other.name, programs.front(), other));
  }
  return rows;
}

SearchRows cold_rows(const SearchRun& run) {
  const Target target = at_most(1.2, 0.4);
  BMAD_TRY_ASSIGN(std::vector<Row> rows,
                  cold_query_rows(run, run.store, "cold `bmad-mem query`", target, run.times(100)));
  if (rows.front().problem.empty()) {
    BMAD_TRY_ASSIGN(Row row, row_without_index(run));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bmad_mem::bench
