// search_rows.cpp - queries within one process whose index is loaded, beside the others.
//
//   query 1:   A A A   B B B   C C C      the median of three counts, since the first of them pays
//   query 2:   B B B   C C C   A A A      for what the engine before pushed out of the caches
//
// A round is all queries; each round gives every engine a median and a 95th percentile, and each
// pair of engines a ratio. A row shows the medians of these over the rounds.
//
// Like beside like: the 20 best as ids (numbers, for the others) and scores, and the 20 best as
// whole texts with snippets.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

/// Below this the others answer another question, and how fast they do it says nothing.
constexpr double kLeastOverlap = 0.88;

struct Engine {
  std::string name;
  std::function<bool(const SearchWords& words)> answer;  ///< Whether something was found.
};

/// Microseconds, a value for each round.
struct RaceResult {
  std::string name;
  Values p50;
  Values p95;
};

/// One result for each engine, in their order. A round before the first warms up.
std::vector<RaceResult> race(std::span<const Engine> engines, std::span<const SearchWords> queries,
                             std::size_t rounds) {
  constexpr std::size_t kRepeats = 3;
  std::vector<RaceResult> results;
  std::vector<Step> steps;
  for (const Engine& engine : engines) {
    results.push_back({.name = engine.name, .p50 = {}, .p95 = {}});
    steps.push_back({.name = engine.name, .measure = [&](std::size_t i) -> double {
                       Values times;
                       for (std::size_t repeat = 0; repeat < kRepeats; ++repeat) {
                         times.push_back(1e3 * milliseconds([&] {
                                           ensure(engine.answer(queries[i]),
                                                  joined(queries[i]) + ": nothing");
                                         }));
                       }
                       return percentile(times, 0.5);
                     }});
  }
  for (std::size_t round = 0; round <= rounds; ++round) {
    const std::vector<Values> times = in_turn(steps, queries.size());
    for (std::size_t i = 0; round > 0 && i < engines.size(); ++i) {
      results[i].p50.push_back(percentile(times[i], 0.50));
      results[i].p95.push_back(percentile(times[i], 0.95));
    }
  }
  return results;
}

/// `ours` beside `other`, at the median and at the 95th percentile, which is judged.
void add_rows(Rows& rows, const std::string& what, const RaceResult& ours, const RaceResult& other,
              std::optional<Target> target, const std::string& note) {
  rows.push_back(Row(what + ", p50", "us", ours.p50).beside(other.name, other.p50).noting(note));
  rows.push_back(
      Row(what + ", p95", "us", ours.p95).beside(other.name, other.p95).wants(target).noting(note));
}

/// The others that are built in, opened.
struct Opened {
  std::string name;
  PeerKind kind = PeerKind::kFts5;
  std::unique_ptr<Peer> peer;
  bool in_memory = false;
  double overlap = 0;
};

std::unique_ptr<Peer> filled(const SearchStore& store, PeerKind kind, const std::string& path,
                             Keep keep) {
  std::unique_ptr<Peer> peer = open_peer(kind, path, Open::kNew, keep);
  for (std::size_t i = 0; i < store.texts.size(); ++i) {
    peer->add(static_cast<std::uint32_t>(i + 1), store.texts[i]);
  }
  peer->commit();
  peer->optimize();
  return peer;
}

/// The mean share of the 20 best that ours, by plain BM25, and `peer` have in common.
double overlap_with(const SearchStore& store, const MemoryManager& memory, Peer& peer) {
  double sum = 0;
  for (const SearchWords& words : store.queries) {
    const auto theirs = peer.best(words, kSearchDepth, Join::kAny);
    const auto hits = must(memory.query(text_query(words, TextRanking::kPlain)));
    const auto common = std::ranges::count_if(hits, [&](const Hit& hit) {
      return std::ranges::any_of(theirs, [&](const PeerHit& their) {
        return store.ids[their.number - 1] == hit.entry.id;
      });
    });
    // Fewer than 20 entries hold a rare word.
    const std::size_t most = std::max<std::size_t>({hits.size(), theirs.size(), 1});
    sum += static_cast<double>(common) / static_cast<double>(most);
  }
  return sum / static_cast<double>(store.queries.size());
}

/// In memory and in files, without their texts.
std::vector<Opened> open_peers(const SearchStore& store, const MemoryManager& memory) {
  std::vector<Opened> opened;
  if (store.has(PeerKind::kFts5)) {
    opened.push_back({"FTS5 in memory", PeerKind::kFts5,
                      filled(store, PeerKind::kFts5, ":memory:", Keep::kNumbers), true});
  }
  for (const PeerKind kind : kPeerKinds) {
    if (store.has(kind)) {
      opened.push_back({std::string(peer_name(kind)), kind,
                        open_peer(kind, store.peer_path(kind), Open::kExisting)});
    }
  }
  for (Opened& other : opened) {
    other.overlap = overlap_with(store, memory, *other.peer);
  }
  return opened;
}

/// With their texts: FTS5 in memory, Xapian in a file.
std::vector<Opened> open_peers_with_texts(const SearchStore& store) {
  std::vector<Opened> opened;
  for (const PeerKind kind : kPeerKinds) {
    if (!is_built_in(kind)) {
      continue;
    }
    const bool in_memory = kind == PeerKind::kFts5;
    const std::string path = in_memory ? ":memory:" : store.folder + "/xapian-with-texts";
    auto peer = filled(store, kind, path, Keep::kTexts);
    if (!in_memory) {
      peer.reset();
      peer = open_peer(kind, path, Open::kExisting, Keep::kTexts);
    }
    opened.push_back(
        {fmt::format("{}{}, texts and snippets", peer_name(kind), in_memory ? " in memory" : ""),
         kind, std::move(peer)});
  }
  return opened;
}

Engine engine_of(const Opened& other, Join join = Join::kAny) {
  return {.name = other.name, .answer = [&peer = *other.peer, join](const SearchWords& words) {
            return !peer.best(words, kSearchDepth, join).empty();
          }};
}

/// Ours, with what `adapt` makes of the query.
Engine our_engine(std::string name, const MemoryManager& memory, TextRanking ranking,
                  void (*adapt)(Query& query, const SearchWords& words)) {
  return {.name = std::move(name), .answer = [&memory, ranking, adapt](const SearchWords& words) {
            Query query = text_query(words, ranking);
            adapt(query, words);
            return !must(memory.query(query)).empty();
          }};
}

/// FTS5 is to be beaten 100 times and Xapian 3 times.
Target target_beside(PeerKind kind) {
  return kind == PeerKind::kFts5 ? ratio_at_least(100, 500) : ratio_at_least(3, 8);
}

/// Ours beside each of the others that lie in files, on the queries of several words of which all
/// find entries that hold every one of them.
void add_and_rows(Rows& rows, const Run& run, const MemoryManager& memory,
                  std::span<const Opened> others) {
  std::vector<Engine> engines = {
      our_engine("AND", memory, TextRanking::kPlain, [](Query& query, const SearchWords& words) {
        query.text = fmt::format("{}", fmt::join(words, " AND "));
        query.text_is_prose = false;
        query.ids_only = true;
      })};
  for (const Opened& other : others) {
    if (!other.in_memory) {
      engines.push_back(engine_of(other, Join::kAll));
    }
  }
  std::vector<SearchWords> queries = run.store.queries;
  std::erase_if(queries, [&](const SearchWords& words) {
    return words.size() < 2 ||
           !std::ranges::all_of(
               engines, [&](const Engine& engine) { return engine.answer(words); });
  });
  if (queries.empty() || engines.size() < 2) {
    return;
  }
  const std::vector<RaceResult> results = race(engines, queries, run.times(5));
  const std::string note =
      fmt::format("{} queries of 2 to 5 words that all find something", queries.size());
  for (std::size_t i = 1; i < results.size(); ++i) {
    const bool judged = results[i].name == peer_name(PeerKind::kXapian);
    add_rows(rows, "warm query, AND, ids and scores", results[0], results[i],
             judged ? std::optional(ratio_at_least(1, 2)) : std::nullopt, note);
  }
}

}  // namespace

Rows warm_rows(const Run& run) {
  const MemoryManager memory = run.store.open();
  const std::vector<Opened> others = open_peers(run.store, memory);
  const std::vector<Opened> with_texts = open_peers_with_texts(run.store);
  const auto as_it_is = [](Query&, const SearchWords&) {};
  std::vector<Engine> engines = {
      our_engine("plain", memory, TextRanking::kPlain, as_it_is),
      our_engine("context", memory, TextRanking::kContext, as_it_is),
      our_engine("default", memory, TextRanking::kContext,
                 [](Query& query, const SearchWords&) { query.weights.reset(); }),
      our_engine("plain, no snippets", memory, TextRanking::kPlain,
                 [](Query& query, const SearchWords&) { query.ids_only = true; })};
  const std::size_t first = engines.size();
  for (const std::vector<Opened>* opened : {&others, &with_texts}) {
    std::ranges::transform(*opened, std::back_inserter(engines),
                           [](const Opened& other) { return engine_of(other); });
  }
  const std::vector<RaceResult> results = race(engines, run.store.queries, run.times(5));
  Rows rows;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Opened& other = others[i];
    rows.push_back(Row("overlap of the 20 best with " + other.name, "", {other.overlap})
                       .wants(at_least(kLeastOverlap))
                       .noting("mean share of the 20 best that both have, ours ranking by plain "
                               "BM25 of the entry"));
    const bool judged = other.in_memory || other.kind != PeerKind::kFts5;
    add_rows(
        rows, "warm query, ids and scores", results[3], results[first + i],
        judged ? std::optional(target_beside(other.kind)) : std::nullopt,
        other.overlap < kLeastOverlap
            ? fmt::format("SAYS NOTHING: only {:.2f} of the 20 best are the same", other.overlap)
            : "plain BM25, no texts; ours gives back ids and where they are, the other numbers");
  }
  add_and_rows(rows, run, memory, others);
  for (std::size_t i = 0; i < with_texts.size(); ++i) {
    add_rows(rows, "warm query, whole entries with snippets", results[0],
             results[first + others.size() + i], target_beside(with_texts[i].kind),
             "plain BM25; both give back whole texts with snippets");
  }
  for (const PeerKind kind : kPeerKinds) {
    if (!is_built_in(kind)) {
      rows.push_back(Row::not_measured(fmt::format("warm query beside {}", peer_name(kind)),
                                       "not built in; install its library and configure again"));
    }
  }
  add_rows(rows, "warm query, whole form", results[1], results[0], {}, "");
  add_rows(rows, "warm query, default weights", results[2], results[0], {}, "");
  Values form = results[1].p95;
  std::ranges::transform(form, results[0].p95, form.begin(), std::divides());
  rows.push_back(Row("whole form to plain BM25, p95", "times", form).wants(at_most(3, 2)));
  return rows;
}

}  // namespace bmad_mem::bench
