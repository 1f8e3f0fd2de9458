// lifecycle_compact_rows.cpp - a full session made smaller, beside what nobody can do without.
//
//   begin ---- plan ---- .lock.json ---- archive, rewrite ---- manifest.json ---- index ---- end
//
// Nothing here knows the engine's inside. The lock's information is written when the lock is taken,
// the manifest is the last that is written under it: the times of the two files tell the parts.
#include <fmt/format.h>

#include "lifecycle_rows.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

/// Milliseconds.
struct Parts {
  std::vector<double> plan;
  std::vector<double> locked;
  std::vector<double> index;
};

struct Measured {
  Pairs all;
  Pairs without_index;
  Parts parts;
  std::vector<double> raw_parse;
  CompactionReport last;
};

Status compact_once(const StoreCopy& copy, double raw, Measured& measured) {
  BMAD_TRY_ASSIGN(MemoryManager memory, copy.open());
  const double begin = file_clock_seconds();
  const double before = wall_seconds();
  BMAD_TRY_ASSIGN(measured.last, memory.compact(copy.session()));
  const double took = (wall_seconds() - before) * 1e3;
  BMAD_TRY_ASSIGN(const double locked, changed_at(copy.session_folder() + "/.lock.json"));
  BMAD_TRY_ASSIGN(const double released, changed_at(copy.session_folder() + "/manifest.json"));
  if (measured.last.evicted == 0) {
    return Error{.message = "a compaction of a full session evicted nothing"};
  }
  const double index = took - (released - begin) * 1e3;
  measured.all.add(took, raw);
  measured.without_index.add(took - index, raw);
  measured.parts.plan.push_back((locked - begin) * 1e3);
  measured.parts.locked.push_back((released - locked) * 1e3);
  measured.parts.index.push_back(index);
  return {};
}

std::vector<Row> rows_of(const Measured& measured, std::size_t repetitions) {
  constexpr const char* kRaw = "parse, write, sync";
  // A third as fast is three times as long.
  const Target target{
      .of = TargetOf::kRatio, .better = Better::kHigher, .required = 0.333, .aim = 0.667};
  Row all = measured.all.row("compact a full session", kRaw, target);
  all.note = fmt::format(
      "{} compactions of fresh copies; {} entries before, {} after, {} evicted, {} superseded, {} "
      "repeated; raw: every line parsed in {:.1f} ms, the rest is one write of all logs and a sync",
      repetitions, measured.last.entries_before, measured.last.entries_after, measured.last.evicted,
      measured.last.superseded, measured.last.duplicates, summarize(measured.raw_parse).median);
  Row without = measured.without_index.row("compact without the index", kRaw, target);
  without.note = "until the lock is given back; told by the times of two files";
  return {all,
          without,
          {.what = "compact: its plan, nothing locked",
           .unit = "ms",
           .ours = summarize(measured.parts.plan)},
          {.what = "compact: archive and rewrite, locked",
           .unit = "ms",
           .ours = summarize(measured.parts.locked)},
          {.what = "compact: the index, nothing locked",
           .unit = "ms",
           .ours = summarize(measured.parts.index)}};
}

}  // namespace

LifecycleRows compact_rows(const LifecycleRun& run) {
  const std::size_t repetitions = run.times(11);
  Measured measured;
  for (std::size_t i = 0; i < repetitions; ++i) {
    BMAD_TRY_ASSIGN(const StoreCopy copy, run.copy());
    BMAD_TRY_ASSIGN(const RawRewrite raw, rewrite_raw(copy));
    measured.raw_parse.push_back(raw.parse);
    BMAD_TRY(compact_once(copy, raw.all(), measured));
  }
  return rows_of(measured, repetitions);
}

}  // namespace bmad_mem::bench
