#include "search_race.hpp"

#include <utility>

#include <fmt/format.h>

#include "search_percentiles.hpp"
#include "search_store.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

Result<double> microseconds(const Engine& engine, const SearchWords& words, std::size_t repeats) {
  std::vector<double> times;
  for (std::size_t i = 0; i < repeats; ++i) {
    const double begin = wall_seconds();
    const Status answered = engine.answer(words);
    times.push_back((wall_seconds() - begin) * 1e6);
    if (!answered) {
      Error error = answered.error();
      error.message = fmt::format("{}, \"{}\": {}", engine.name, joined(words), error.message);
      return error;
    }
  }
  return percentiles_of(times).p50;
}

/// The times of each engine, query by query.
Result<std::vector<std::vector<double>>> run_round(std::span<const Engine> engines,
                                                   std::span<const SearchWords> queries,
                                                   std::size_t repeats) {
  std::vector<std::vector<double>> times(engines.size());
  for (std::size_t query = 0; query < queries.size(); ++query) {
    for (std::size_t turn = 0; turn < engines.size(); ++turn) {
      const std::size_t who = (query + turn) % engines.size();
      BMAD_TRY_ASSIGN(const double time, microseconds(engines[who], queries[query], repeats));
      times[who].push_back(time);
    }
  }
  return times;
}

const std::vector<double>& values_of(const RaceResult& result, Percentile percentile) {
  return percentile == Percentile::k50 ? result.p50 : result.p95;
}

}  // namespace

Result<std::vector<RaceResult>> race(std::span<const Engine> engines,
                                     std::span<const SearchWords> queries, const RacePlan& plan) {
  BMAD_TRY(run_round(engines, queries, 1));
  std::vector<RaceResult> results;
  for (const Engine& engine : engines) {
    results.push_back({.name = engine.name, .p50 = {}, .p95 = {}});
  }
  for (std::size_t round = 0; round < plan.rounds; ++round) {
    BMAD_TRY_ASSIGN(const auto times, run_round(engines, queries, plan.repeats));
    for (std::size_t i = 0; i < engines.size(); ++i) {
      const Percentiles percentiles = percentiles_of(times[i]);
      results[i].p50.push_back(percentiles.p50);
      results[i].p95.push_back(percentiles.p95);
    }
  }
  return results;
}

Row race_row(std::string_view what, Percentile percentile, const RaceResult& ours,
             const RaceResult& other, std::optional<Target> target) {
  const std::vector<double>& our_values = values_of(ours, percentile);
  const std::vector<double>& other_values = values_of(other, percentile);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < our_values.size(); ++i) {
    ratios.push_back(other_values[i] / our_values[i]);
  }
  return {.what = fmt::format("{}, {}", what, percentile == Percentile::k50 ? "p50" : "p95"),
          .unit = "us",
          .ours = summarize(our_values),
          .baseline_name = other.name,
          .baseline = summarize(other_values),
          .ratio = summarize(ratios),
          .target = target};
}

Engine our_engine(std::string name, const MemoryManager& memory, TextRanking ranking,
                  bool by_text_alone) {
  return {.name = std::move(name),
          .answer = [&memory, ranking, by_text_alone](const SearchWords& words) -> Status {
            Query query = text_query(words, ranking);
            if (!by_text_alone) {
              query.weights.reset();
            }
            BMAD_TRY_ASSIGN(const std::vector<Hit> hits, memory.query(query));
            return hits.empty() ? Status(Error{.message = "found nothing"}) : Status();
          }};
}

Engine peer_engine(std::string name, Peer& peer, Join join) {
  return {.name = std::move(name), .answer = [&peer, join](const SearchWords& words) -> Status {
            BMAD_TRY_ASSIGN(const auto numbers, peer.best(words, kSearchDepth, join));
            return numbers.empty() ? Status(Error{.message = "found nothing"}) : Status();
          }};
}

}  // namespace bmad_mem::bench
