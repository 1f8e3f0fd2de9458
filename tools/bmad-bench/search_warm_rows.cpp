// search_warm_rows.cpp - queries within one process whose index is loaded, beside the others.
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

#include "search_race.hpp"
#include "search_rows.hpp"
#include "search_warm_rows_texts.hpp"

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

/// FTS5 is to be beaten 100 times and Xapian 3 times.
std::optional<Target> target_beside(PeerKind kind, Percentile percentile) {
  if (percentile != Percentile::k95) {
    return std::nullopt;
  }
  return kind == PeerKind::kFts5 ? at_least(100, 500) : at_least(3, 8);
}

void add_number_rows(std::vector<Row>& rows, const RaceResult& ours, const RaceResult& theirs,
                     const Opened& other) {
  for (const Percentile percentile : {Percentile::k50, Percentile::k95}) {
    const bool judged = other.in_memory || other.kind != PeerKind::kFts5;
    Row row = race_row("warm query, ids and scores", percentile, ours, theirs,
                       judged ? target_beside(other.kind, percentile) : std::nullopt);
    row.note =
        other.overlap < kLeastOverlap
            ? fmt::format("SAYS NOTHING: only {:.2f} of the 20 best are the same", other.overlap)
            : "plain BM25, no texts; ours gives back ids and where they are, the other numbers";
    rows.push_back(std::move(row));
  }
}

void add_text_rows(std::vector<Row>& rows, const RaceResult& ours, const RaceResult& theirs,
                   PeerKind kind) {
  for (const Percentile percentile : {Percentile::k50, Percentile::k95}) {
    Row row = race_row("warm query, whole entries with snippets", percentile, ours, theirs,
                       target_beside(kind, percentile));
    row.note = "plain BM25; both give back whole texts with snippets";
    rows.push_back(std::move(row));
  }
}

/// Ours without texts.
Engine our_ids(const MemoryManager& memory) {
  return {.name = "plain, no snippets", .answer = [&memory](const SearchWords& words) -> Status {
            Query query = text_query(words, TextRanking::kPlain);
            query.ids_only = true;
            BMAD_TRY_ASSIGN(const std::vector<Hit> hits, memory.query(query));
            return hits.empty() ? Status(Error{.message = "found nothing"}) : Status();
          }};
}

/// The same for entries that hold all of the words.
Engine our_ids_of_all(const MemoryManager& memory) {
  return {.name = "AND", .answer = [&memory](const SearchWords& words) -> Status {
            Query query = text_query(words, TextRanking::kPlain);
            query.text = fmt::format("{}", fmt::join(words, " AND "));
            query.text_is_prose = false;
            query.ids_only = true;
            BMAD_TRY_ASSIGN(const std::vector<Hit> hits, memory.query(query));
            return hits.empty() ? Status(Error{.message = "found nothing"}) : Status();
          }};
}

/// Ours beside each of the others that lie in files, on the queries of several words that all
/// answer.
Result<std::vector<Row>> and_rows(const SearchRun& run, const MemoryManager& memory,
                                  std::span<const Opened> others) {
  std::vector<Engine> engines = {our_ids_of_all(memory)};
  for (const Opened& other : others) {
    if (!other.in_memory) {
      engines.push_back(peer_engine(other.name, *other.peer, Join::kAll));
    }
  }
  std::vector<SearchWords> queries = run.store.queries;
  std::erase_if(queries, [&](const SearchWords& words) {
    return words.size() < 2 ||
           !std::ranges::all_of(
               engines, [&](const Engine& engine) { return engine.answer(words).has_value(); });
  });
  if (queries.empty() || engines.size() < 2) {
    return std::vector<Row>{};
  }
  BMAD_TRY_ASSIGN(const std::vector<RaceResult> results,
                  race(engines, queries, {.rounds = run.times(5), .repeats = 3}));
  std::vector<Row> rows;
  for (std::size_t i = 1; i < results.size(); ++i) {
    for (const Percentile percentile : {Percentile::k50, Percentile::k95}) {
      const bool judged = percentile == Percentile::k95 && results[i].name == "Xapian";
      rows.push_back(race_row("warm query, AND, ids and scores", percentile, results[0], results[i],
                              judged ? std::optional(at_least(1, 2)) : std::nullopt));
    }
  }
  rows.front().note =
      fmt::format("{} queries of 2 to 5 words that all find something", queries.size());
  return rows;
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
    BMAD_TRY_ASSIGN(const auto theirs, peer.best(words, kSearchDepth, Join::kAny));
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
  BMAD_TRY_ASSIGN(const std::vector<TextEngine> others_with_texts, text_engines(run.store));
  std::vector<Engine> engines = {our_engine("plain", memory, TextRanking::kPlain, true),
                                 our_engine("context", memory, TextRanking::kContext, true),
                                 our_engine("default", memory, TextRanking::kContext, false),
                                 our_ids(memory)};
  const std::size_t first_peer = engines.size();
  for (const Opened& other : others) {
    engines.push_back(peer_engine(other.name, *other.peer));
  }
  for (const TextEngine& other : others_with_texts) {
    engines.push_back(other.engine);
  }
  BMAD_TRY_ASSIGN(const std::vector<RaceResult> results,
                  race(engines, run.store.queries, {.rounds = run.times(5), .repeats = 3}));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < others.size(); ++i) {
    rows.push_back(overlap_row(others[i]));
    add_number_rows(rows, results[3], results[first_peer + i], others[i]);
  }
  BMAD_TRY_ASSIGN(const std::vector<Row> of_all, and_rows(run, memory, others));
  rows.insert(rows.end(), of_all.begin(), of_all.end());
  for (std::size_t i = 0; i < others_with_texts.size(); ++i) {
    add_text_rows(rows, results[0], results[first_peer + others.size() + i],
                  others_with_texts[i].kind);
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
