// lifecycle_delete_rows.cpp - a hundred entries leave a full session.
#include <fmt/format.h>

#include "lifecycle_rows.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kIds = 100;

/// Spread evenly over the session.
Result<std::vector<std::string>> some_ids(const MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                  memory.list({.sessions = {session}, .limit = 0}));
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kIds && entries.size() >= kIds; ++i) {
    ids.push_back(entries[i * entries.size() / kIds].id);
  }
  return ids;
}

}  // namespace

LifecycleRows delete_rows(const LifecycleRun& run) {
  Pairs pairs;
  std::vector<double> without_index;
  for (std::size_t i = 0; i < run.times(11); ++i) {
    BMAD_TRY_ASSIGN(const StoreCopy copy, run.copy());
    std::vector<std::string> ids;
    {
      BMAD_TRY_ASSIGN(const MemoryManager looker, copy.open());
      BMAD_TRY_ASSIGN(ids, some_ids(looker, copy.session()));
    }
    BMAD_TRY_ASSIGN(const RawRewrite raw, rewrite_raw(copy));
    BMAD_TRY_ASSIGN(MemoryManager memory, copy.open());
    const double file_begin = file_clock_seconds();
    const double begin = wall_seconds();
    BMAD_TRY_ASSIGN(const DeletionReport report,
                    memory.delete_entries({.ids = ids, .sessions = {copy.session()}}));
    pairs.add((wall_seconds() - begin) * 1e3, raw.all());
    // The last that is written before the lock is given back.
    BMAD_TRY_ASSIGN(const double audited, changed_at(copy.session_folder() + "/audit.jsonl"));
    without_index.push_back((audited - file_begin) * 1e3);
    if (report.entries != kIds) {
      return Error{.message = fmt::format("{} of {} entries were deleted", report.entries, kIds)};
    }
  }
  Row row =
      pairs.row("delete 100 ids from it", "parse, write, sync",
                {.of = TargetOf::kRatio, .better = Better::kHigher, .required = 0.667, .aim = 1});
  row.note =
      fmt::format("{} times, each from a fresh copy; they can be brought back", pairs.ours.size());
  return std::vector<Row>{
      row, {.what = "delete without the index", .unit = "ms", .ours = summarize(without_index)}};
}

}  // namespace bmad_mem::bench
