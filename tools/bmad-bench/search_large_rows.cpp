// search_large_rows.cpp - a million entries in 200 sessions, warm and cold, and the memory it
// takes.
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "search_race.hpp"
#include "search_rows.hpp"
#include "spawn.hpp"

namespace bmad_mem::bench {
namespace {

/// 10 MB are 17,000 entries.
constexpr std::uint64_t kBytes = 588'000'000;
constexpr std::uint64_t kSessionBytes = kBytes / 200;

SearchRows warm(const SearchRun& run, const SearchStore& store) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, store.open());
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<Engine> engines = {our_engine("plain", memory, TextRanking::kPlain, true),
                                 our_engine("context", memory, TextRanking::kContext, true)};
  for (const PeerKind kind : {PeerKind::kXapian, PeerKind::kFts5}) {
    if (store.has(kind)) {
      BMAD_TRY_ASSIGN(std::unique_ptr<Peer> peer, open_peer(kind, store.peer_path(kind)));
      engines.push_back(peer_engine(std::string(peer_name(kind)), *peer));
      peers.push_back(std::move(peer));
    }
  }
  // FTS5 takes nearly a second a query.
  BMAD_TRY_ASSIGN(const std::vector<RaceResult> results,
                  race(engines, store.queries, {.rounds = run.times(3), .repeats = 1}));
  std::vector<Row> rows;
  for (const Percentile percentile : {Percentile::k50, Percentile::k95}) {
    const bool judged = percentile == Percentile::k95;
    rows.push_back(race_row("warm, 1,000,000 entries, whole form", percentile, results[1],
                            results[0],
                            judged ? std::optional(at_most(4000, 1000)) : std::nullopt));
    for (std::size_t i = 2; i < results.size(); ++i) {
      rows.push_back(race_row("warm, 1,000,000 entries, plain BM25", percentile, results[0],
                              results[i], std::nullopt));
    }
  }
  rows.front().note =
      fmt::format("{} queries, {} entries, {} sessions, {} bytes of logs", store.queries.size(),
                  store.entries, store.sessions.size(), store.log_bytes);
  return rows;
}

struct Memory {
  double peak = 0;  ///< MB, of the whole resident set.
  double file = 0;  ///< Of it at the end: pages of mapped files.
};

Result<Memory> memory_of(const SearchRun& run, const SearchStore& store, const SearchWords& words) {
  BMAD_TRY_ASSIGN(const std::string output,
                  output_of({run.helpers + "/bmad_bench_search_memory", run.tool, "--root",
                             store.root, "query", joined(words), "--limit", "20"}));
  const char* at = output.data();
  const char* const end = at + output.size();
  double values[3] = {};
  for (double& value : values) {
    long kib = 0;
    const auto parsed = std::from_chars(at, end, kib);
    if (parsed.ec != std::errc{} || kib < 0) {
      return Error{.message = "no sizes of memory in \"" + output + '"'};
    }
    value = static_cast<double>(kib) * 1024 / 1e6;
    at = parsed.ptr < end ? parsed.ptr + 1 : end;
  }
  return Memory{.peak = values[0], .file = values[2]};
}

Result<Row> memory_row(const SearchRun& run, const SearchStore& store) {
  std::vector<double> own;
  std::vector<double> peaks;
  for (std::size_t i = 0; i < run.times(10); ++i) {
    BMAD_TRY_ASSIGN(const Memory memory,
                    memory_of(run, store, store.queries[i % store.queries.size()]));
    own.push_back(memory.peak - memory.file);
    peaks.push_back(memory.peak);
  }
  Row row{.what = "resident memory of that query beyond mapped files",
          .unit = "MB",
          .ours = summarize(own),
          .target = at_most(48, 16)};
  row.note = fmt::format("the peak less the pages of files at the end; the peak itself: {:.1f} MB",
                         summarize(peaks).median);
  return row;
}

}  // namespace

SearchRows large_rows(const SearchRun& run) {
  if (run.large_folder.empty()) {
    return std::vector<Row>{};
  }
  BMAD_TRY_ASSIGN(const SearchStore store, SearchStore::prepare(run.large_folder,
                                                                {.seed = run.seed,
                                                                 .bytes = kBytes,
                                                                 .session_bytes = kSessionBytes,
                                                                 .queries = 60,
                                                                 .alone = run.alone},
                                                                run.progress));
  run.progress("asking it");
  BMAD_TRY_ASSIGN(std::vector<Row> rows, warm(run, store));
  BMAD_TRY_ASSIGN(const std::vector<Row> cold,
                  cold_query_rows(run, store, "cold `bmad-mem query`, 1,000,000 entries",
                                  at_most(8, 2), run.times(20)));
  rows.insert(rows.end(), cold.begin(), cold.end());
  if (cold.front().problem.empty()) {
    BMAD_TRY_ASSIGN(Row memory, memory_row(run, store));
    rows.push_back(std::move(memory));
  }
  return rows;
}

}  // namespace bmad_mem::bench
