// search_rebuild_rows.cpp - indexing the same 10 MB anew: CPU time, and the size of what comes out.
//
// Ours reads its logs from disk and writes index/. The others get the texts in memory, and
// write to memory (FTS5) or to disk without waiting for it (Xapian).
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "search_rows.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

/// CPU time of a step, all threads, in milliseconds.
Result<double> cpu_of(const std::function<Status()>& step) {
  const double begin = cpu_seconds();
  BMAD_TRY(step());
  return (cpu_seconds() - begin) * 1e3;
}

Status build_peer(const SearchStore& store, PeerKind kind, const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  BMAD_TRY_ASSIGN(const std::unique_ptr<Peer> peer, create_peer(kind, path));
  for (std::size_t i = 0; i < store.texts.size(); ++i) {
    BMAD_TRY(peer->add(static_cast<std::uint32_t>(i + 1), store.texts[i]));
  }
  return peer->commit();
}

/// Ours and one of the others in turn.
Result<Row> rebuild_row(const SearchRun& run, PeerKind kind, std::size_t rounds,
                        std::optional<Target> target) {
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
  const std::string path =
      kind == PeerKind::kFts5 ? ":memory:" : run.store.folder + "/xapian-rebuilt";
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) {
    BMAD_TRY_ASSIGN(const double our_time, cpu_of([&]() -> Status {
                      BMAD_TRY(memory.rebuild_index(run.store.sessions));
                      return {};
                    }));
    BMAD_TRY_ASSIGN(const double their_time,
                    cpu_of([&] { return build_peer(run.store, kind, path); }));
    ours.push_back(our_time);
    theirs.push_back(their_time);
    ratios.push_back(their_time / our_time);
  }
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  return Row{.what = fmt::format("rebuild-index, CPU, beside {}", peer_name(kind)),
             .unit = "ms",
             .ours = summarize(ours),
             .baseline_name = std::string(peer_name(kind)),
             .baseline = summarize(theirs),
             .ratio = summarize(ratios),
             .target = target};
}

Result<Row> own_row(const SearchRun& run) {
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
  std::vector<double> cpu;
  std::vector<double> wall;
  for (std::size_t i = 0; i < run.times(20); ++i) {
    const double begin = wall_seconds();
    BMAD_TRY_ASSIGN(const double time, cpu_of([&]() -> Status {
                      BMAD_TRY(memory.rebuild_index(run.store.sessions));
                      return {};
                    }));
    wall.push_back((wall_seconds() - begin) * 1e3);
    cpu.push_back(time);
  }
  Row row{
      .what = "rebuild-index, CPU",
      .unit = "ms",
      .ours = summarize(cpu),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 70, .aim = 40}};
  row.note = fmt::format("{} entries, {} bytes of logs; {:.1f} ms of wall time", run.store.entries,
                         run.store.log_bytes, summarize(wall).median);
  return row;
}

Row size_row(const SearchStore& store) {
  const auto share = [&](std::uint64_t bytes) {
    return single(static_cast<double>(bytes) / static_cast<double>(store.log_bytes));
  };
  Row row{.what = "index/ against the logs",
          .ours = share(store.index_bytes),
          .target = Target{
              .of = TargetOf::kOurs, .better = Better::kLower, .required = 0.40, .aim = 0.25}};
  std::error_code error;
  const auto fts5_bytes = std::filesystem::file_size(store.peer_path(PeerKind::kFts5), error);
  if (!error) {
    row.baseline_name = "FTS5";
    row.baseline = share(fts5_bytes);
  }
  return row;
}

}  // namespace

SearchRows rebuild_rows(const SearchRun& run) {
  std::vector<Row> rows;
  BMAD_TRY_ASSIGN(Row own, own_row(run));
  rows.push_back(std::move(own));
  constexpr Target kFaster{
      .of = TargetOf::kRatio, .better = Better::kHigher, .required = 5, .aim = {}};
  if (is_built_in(PeerKind::kFts5)) {
    BMAD_TRY_ASSIGN(Row row, rebuild_row(run, PeerKind::kFts5, run.times(7), kFaster));
    rows.push_back(std::move(row));
  }
  if (is_built_in(PeerKind::kXapian)) {
    // It takes seconds.
    BMAD_TRY_ASSIGN(Row row, rebuild_row(run, PeerKind::kXapian, 1, {}));
    rows.push_back(std::move(row));
  }
  rows.push_back(size_row(run.store));
  return rows;
}

}  // namespace bmad_mem::bench
