// search_warm_rows.cpp - queries within one process whose index is loaded, beside the others.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "search_race.hpp"
#include "search_rows.hpp"

namespace bmad_mem::bench {
namespace {

/// Below this the others answer another question, and how fast they do it says nothing.
constexpr double kLeastOverlap = 0.88;

constexpr Target at_least(double required, double aim) {
  return {.of = TargetOf::kRatio, .better = Better::kHigher, .required = required, .aim = aim};
}

/// The others that are built in, opened, in memory and in files.
struct Opened {
  std::string name;
  PeerKind kind = PeerKind::kFts5;
  bool in_memory = false;
  std::unique_ptr<Peer> peer;
  double overlap = 0;
};

Result<std::unique_ptr<Peer>> fts5_in_memory(const SearchStore& store) {
  BMAD_TRY_ASSIGN(std::unique_ptr<Peer> peer, create_fts5(":memory:"));
  for (std::size_t i = 0; i < store.texts.size(); ++i) {
    BMAD_TRY(peer->add(static_cast<std::uint32_t>(i + 1), store.texts[i]));
  }
  BMAD_TRY(peer->commit());
  BMAD_TRY(peer->optimize());
  return peer;
}

Result<std::vector<Opened>> open_peers(const SearchStore& store, const MemoryManager& memory) {
  std::vector<Opened> opened;
  if (store.has(PeerKind::kFts5)) {
    BMAD_TRY_ASSIGN(auto inside, fts5_in_memory(store));
    opened.push_back({"FTS5 in memory", PeerKind::kFts5, true, std::move(inside)});
  }
  for (const PeerKind kind : {PeerKind::kFts5, PeerKind::kXapian}) {
    if (store.has(kind)) {
      BMAD_TRY_ASSIGN(auto peer, open_peer(kind, store.peer_path(kind)));
      opened.push_back({std::string(peer_name(kind)), kind, false, std::move(peer)});
    }
  }
  for (Opened& other : opened) {
    BMAD_TRY_ASSIGN(other.overlap, overlap_with(store, memory, *other.peer));
  }
  return opened;
}

Row overlap_row(const Opened& other) {
  Row row{.what = fmt::format("overlap of the 20 best with {}", other.name),
          .ours = single(other.overlap),
          .target = Target{.of = TargetOf::kOurs, .required = kLeastOverlap, .aim = {}}};
  row.note = "mean share of the 20 best that both have, ours ranking by plain BM25 of the entry";
  return row;
}

std::string note_of(const Opened& other) {
  return other.overlap < kLeastOverlap
             ? fmt::format("SAYS NOTHING: only {:.2f} of the 20 best are the same", other.overlap)
             : "ours gives back whole entries with snippets, the other one numbers";
}

void add_peer_rows(std::vector<Row>& rows, const RaceResult& plain, const RaceResult& result,
                   const Opened& other) {
  const bool fts5 = other.kind == PeerKind::kFts5;
  for (const Percentile percentile : {Percentile::k50, Percentile::k95}) {
    std::optional<Target> target;
    if (percentile == Percentile::k95 && !(fts5 && !other.in_memory)) {
      target = fts5 ? at_least(100, 500) : at_least(3, 12);
    }
    Row row = race_row("warm query, plain BM25", percentile, plain, result, target);
    row.note = note_of(other);
    rows.push_back(std::move(row));
  }
}

/// How many times as long as plain BM25 the whole form takes.
Row form_row(const RaceResult& form, const RaceResult& plain) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < form.p95.size(); ++i) {
    ratios.push_back(form.p95[i] / plain.p95[i]);
  }
  return {
      .what = "whole form to plain BM25, p95",
      .unit = "times",
      .ours = summarize(ratios),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 3, .aim = 2}};
}

}  // namespace

Result<double> overlap_with(const SearchStore& store, const MemoryManager& memory, Peer& peer) {
  double sum = 0;
  for (const SearchWords& words : store.queries) {
    BMAD_TRY_ASSIGN(const auto theirs, peer.best(words, kSearchDepth));
    BMAD_TRY_ASSIGN(const auto hits, memory.query(text_query(words, TextRanking::kPlain)));
    const auto common = std::ranges::count_if(hits, [&](const Hit& hit) {
      return std::ranges::find(theirs, store.number_of(hit.entry)) != theirs.end();
    });
    // Fewer than 20 entries hold a rare word.
    const std::size_t most = std::max<std::size_t>({hits.size(), theirs.size(), 1});
    sum += static_cast<double>(common) / static_cast<double>(most);
  }
  return sum / static_cast<double>(store.queries.size());
}

SearchRows warm_rows(const SearchRun& run) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, run.store.open());
  BMAD_TRY_ASSIGN(const std::vector<Opened> others, open_peers(run.store, memory));
  std::vector<Engine> engines = {our_engine("plain", memory, TextRanking::kPlain, true),
                                 our_engine("context", memory, TextRanking::kContext, true),
                                 our_engine("default", memory, TextRanking::kContext, false)};
  for (const Opened& other : others) {
    engines.push_back(peer_engine(other.name, *other.peer));
  }
  BMAD_TRY_ASSIGN(const std::vector<RaceResult> results,
                  race(engines, run.store.queries, {.rounds = run.times(5), .repeats = 3}));
  const std::size_t first_peer = engines.size() - others.size();
  std::vector<Row> rows;
  for (std::size_t i = 0; i < others.size(); ++i) {
    rows.push_back(overlap_row(others[i]));
    add_peer_rows(rows, results[0], results[first_peer + i], others[i]);
  }
  for (const PeerKind kind : {PeerKind::kFts5, PeerKind::kXapian}) {
    if (!is_built_in(kind)) {
      rows.push_back(not_measured(fmt::format("warm query beside {}", peer_name(kind)),
                                  "not built in; install its library and configure again"));
    }
  }
  for (const Percentile percentile : {Percentile::k50, Percentile::k95}) {
    rows.push_back(race_row("warm query, whole form", percentile, results[1], results[0], {}));
    rows.push_back(race_row("warm query, default weights", percentile, results[2], results[0], {}));
  }
  rows.push_back(form_row(results[1], results[0]));
  return rows;
}

}  // namespace bmad_mem::bench
