// search_race.hpp - several engines answering the same queries in the same seconds.
//
//   query 1:   A A A   B B B   C C C        the median of three counts, since the first of them
//   pays query 2:   B B B   C C C   A A A        for what the engine before pushed out of the
//   caches
//
// A round is all queries; each round gives every engine a median and a 95th percentile, and each
// pair of engines a ratio. A row shows the medians of these over the rounds.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "peer_engine.hpp"
#include "report.hpp"
#include "search_queries.hpp"

namespace bmad_mem::bench {

struct Engine {
  std::string name;
  std::function<Status(const SearchWords& words)> answer;
};

struct RacePlan {
  std::size_t rounds = 5;
  std::size_t repeats = 3;  ///< Of each query, one after another.
};

/// Microseconds, a value for each round.
struct RaceResult {
  std::string name;
  std::vector<double> p50;
  std::vector<double> p95;
};

/// One result for each engine, in their order. A round before the first warms up.
Result<std::vector<RaceResult>> race(std::span<const Engine> engines,
                                     std::span<const SearchWords> queries, const RacePlan& plan);

enum class Percentile : std::uint8_t { k50, k95 };

/// `ours` beside `other`, as "what, p95, other".
Row race_row(std::string_view what, Percentile percentile, const RaceResult& ours,
             const RaceResult& other, std::optional<Target> target);

/// Ours: words alone, or by the config's weights, the latter without `weights`.
Engine our_engine(std::string name, const MemoryManager& memory, TextRanking ranking,
                  bool by_text_alone);
/// `peer` must outlive the engine.
Engine peer_engine(std::string name, Peer& peer, Join join = Join::kAny);

}  // namespace bmad_mem::bench
