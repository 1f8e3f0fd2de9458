// context_command.cpp - `bmad-bench context`: what an agent waits for its context, as a whole
// process over 100,000 entries, beside a query and above an empty program.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "environment.hpp"
#include "report.hpp"
#include "scratch_folder.hpp"
#include "search_store.hpp"
#include "spawn.hpp"

namespace bmad_mem::bench {
namespace {

/// Of 100,000 entries.
constexpr double kBytesFull = 59e6;
constexpr std::size_t kRoundsFull = 100;

using Arguments = std::vector<std::string>;

struct Asked {
  const char* name;
  Arguments (*arguments)(const Arguments& tool, const SearchWords& words);
  std::vector<double> milliseconds;
};

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Arguments context_of_task(const Arguments& tool, const SearchWords& words) {
  return with(tool, {"context", "--agent", "architect", "--task", joined(words)});
}
Arguments context_of_nothing(const Arguments& tool, const SearchWords& /*words*/) {
  return with(tool, {"context"});
}
Arguments query(const Arguments& tool, const SearchWords& words) {
  return with(tool, {"query", joined(words)});
}

/// All in turn, an empty process before each round, whose median is taken off.
Status run_in_turn(const std::string& empty, const Arguments& tool, const SearchStore& store,
                   std::size_t rounds, std::span<Asked> all) {
  std::vector<double> starts;
  for (std::size_t round = 0; round < rounds; ++round) {
    const SearchWords& words = store.queries[round % store.queries.size()];
    BMAD_TRY_ASSIGN(const ProcessCost nothing, run_process({empty}));
    starts.push_back(nothing.wall * 1e3);
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      Asked& asked = all[(round + turn) % all.size()];
      BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(asked.arguments(tool, words)));
      asked.milliseconds.push_back(cost.wall * 1e3);
    }
  }
  const double start = summarize(starts).median;
  for (Asked& asked : all) {
    for (double& time : asked.milliseconds) {
      time -= start;
    }
  }
  return {};
}

/// A tool that says nothing would be fast.
Status check_answers(const Arguments& tool, const SearchStore& store) {
  BMAD_TRY_ASSIGN(const std::string said, output_of(context_of_task(tool, store.queries.front())));
  return said.empty() ? Status(Error{.message = "bmad-mem context printed nothing"}) : Status();
}

std::vector<Row> rows_of(std::span<const Asked> all) {
  const Summary context = summarize(all[0].milliseconds);
  const Summary query = summarize(all[2].milliseconds);
  std::vector<Row> rows;
  rows.push_back(
      {.what = all[0].name,
       .unit = "ms",
       .ours = context,
       .baseline_name = all[2].name,
       .baseline = query,
       .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 20, .aim = 10},
       .note = fmt::format("{} processes, above an empty C program", context.count)});
  rows.push_back({.what = all[1].name, .unit = "ms", .ours = summarize(all[1].milliseconds)});
  return rows;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void tell(const std::string& what) { std::fputs((what + " ...\n").c_str(), stderr); }

}  // namespace

Result<bool> run_context(const ContextBenchOptions& options) {
  ScratchFolder scratch;
  BMAD_TRY(scratch.make_in(options.directory));
  const double share = std::min(1.0, options.effort);
  const auto bytes = static_cast<std::uint64_t>(kBytesFull * share);
  BMAD_TRY_ASSIGN(const SearchStore store,
                  SearchStore::prepare(scratch.path() + "/store",
                                       {.seed = options.seed,
                                        .bytes = bytes,
                                        .session_bytes = options.session_bytes,
                                        .queries = 50,
                                        .alone = true},
                                       tell));
  const std::string helpers = folder_of_this_program();
  const Arguments tool = {options.tool.empty() ? helpers + "/bmad-mem" : options.tool, "--root",
                          store.root};
  std::array<Asked, 3> all = {{{"cold `bmad-mem context` of a task", context_of_task, {}},
                               {"cold `bmad-mem context` of nothing", context_of_nothing, {}},
                               {"cold `bmad-mem query`", query, {}}}};
  const auto rounds = static_cast<std::size_t>(static_cast<double>(kRoundsFull) * options.effort);
  BMAD_TRY(check_answers(tool, store));
  BMAD_TRY(run_in_turn(helpers + "/bmad_bench_empty", tool, store, std::max<std::size_t>(rounds, 3),
                       all));
  const std::vector<Row> rows = rows_of(all);
  const Environment environment = environment_of(scratch.path());
  if (options.json) {
    JsonWriter json;
    json.begin_object().key("environment");
    write_environment(json, environment);
    json.member("entries", store.entries).member("sessions", std::uint64_t{store.sessions.size()});
    json.key("rows");
    write_rows(json, rows);
    json.end_object();
    print(json_pretty(json.text()) + '\n');
    return true;
  }
  print(environment_text(environment));
  print(fmt::format("data          {} entries in {} sessions; seed {}\n\n", store.entries,
                    store.sessions.size(), options.seed));
  print(table_text(rows));
  return true;
}

}  // namespace bmad_mem::bench
