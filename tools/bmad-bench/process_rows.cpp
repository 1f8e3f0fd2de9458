// process_rows.cpp - one `bmad-mem add` as a hook runs it: a process from start to exit.
//
//   empty program | raw append | bmad-mem add        in turn, a few hundred times
//
// What the tool itself costs is the third minus the other two: no program can do without a start,
// and no durable append without a sync.
#include <filesystem>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "raw_append.hpp"
#include "spawn.hpp"
#include "stopwatch.hpp"
#include "store_rows.hpp"

namespace bmad_mem::bench {
namespace {

using Arguments = std::vector<std::string>;

/// An event as a hook writes it after a tool was used.
Arguments add_arguments(const StoreRun& run, const std::string& session) {
  JsonWriter json;
  json.begin_object().member("agent_id", "builder").member("kind", "tool_use");
  json.member("tool", "Bash").member("path", "src/auth/token_store.ts");
  json.member("content", run.store.entry().content).end_object();
  return {run.tool, "--root", run.store.root(), "add", "event", "--session", session, json.text()};
}

/// Milliseconds.
struct Samples {
  std::vector<double> empty;
  std::vector<double> raw;
  std::vector<double> add;
  std::vector<double> add_cpu;
  std::vector<double> above;
};

Result<Samples> run_in_turn(const StoreRun& run, const Arguments& add, const Arguments& empty) {
  constexpr std::size_t kWarmUps = 5;
  BMAD_TRY_ASSIGN(RawAppender raw, RawAppender::open(run.store.folder() + "/process.raw"));
  const std::string line = std::string(kEntrySize - 1, 'x') + '\n';
  Samples samples;
  const std::size_t rounds = kWarmUps + run.times(400);
  for (std::size_t i = 0; i < rounds; ++i) {
    BMAD_TRY_ASSIGN(const ProcessCost nothing, run_process(empty));
    const double before = wall_seconds();
    BMAD_TRY(raw.append(line));
    const double appended = wall_seconds() - before;
    BMAD_TRY_ASSIGN(const ProcessCost added, run_process(add));
    if (i < kWarmUps) {
      continue;
    }
    samples.empty.push_back(nothing.wall * 1e3);
    samples.raw.push_back(appended * 1e3);
    samples.add.push_back(added.wall * 1e3);
    samples.add_cpu.push_back(added.cpu * 1e3);
    samples.above.push_back((added.wall - nothing.wall - appended) * 1e3);
  }
  return samples;
}

/// A tool that wrote nothing would be fast.
Status check_written(const StoreRun& run, const std::string& session, std::size_t least) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, run.store.open());
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(session));
  if (statistics.entries() < least) {
    return Error{.message = fmt::format("{} ran {} times and {} entries are there", run.tool, least,
                                        statistics.entries())};
  }
  return {};
}

}  // namespace

Result<std::vector<Row>> process_rows(const StoreRun& run) {
  constexpr const char* kWhat = "`bmad-mem add`, above empty process and raw append";
  if (run.tool.empty() || !std::filesystem::exists(run.tool)) {
    return std::vector<Row>{not_measured(
        kWhat, fmt::format("there is no program \"{}\"; name one with --tool or BMAD_MEM_BINARY",
                           run.tool))};
  }
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  const Arguments add = add_arguments(run, session);
  BMAD_TRY_ASSIGN(const Samples samples,
                  run_in_turn(run, add, {run.helpers + "/bmad_bench_empty"}));
  BMAD_TRY(check_written(run, session, samples.add.size()));
  Row above{
      .what = kWhat,
      .unit = "ms",
      .ours = summarize(samples.above),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 2, .aim = 0.7}};
  above.note = fmt::format(
      "add {:.3f} ms ({:.3f} ms CPU), empty {} C program {:.3f} ms, raw append {:.3f} ms; "
      "{} rounds; the tool is linked {}",
      summarize(samples.add).median, summarize(samples.add_cpu).median,
      is_dynamic(run.helpers + "/bmad_bench_empty") ? "DYNAMIC" : "static",
      summarize(samples.empty).median, summarize(samples.raw).median, samples.add.size(),
      is_dynamic(run.tool) ? "DYNAMICALLY, which costs 0.7 ms" : "statically");
  BMAD_TRY_ASSIGN(const double megabytes, peak_mb_of(run.helpers, add));
  Row memory{
      .what = "peak resident memory of that `bmad-mem add`",
      .unit = "MB",
      .ours = single(megabytes),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 10, .aim = {}}};
  return std::vector<Row>{above, memory};
}

}  // namespace bmad_mem::bench
