// ranker.cpp - the weights of the terms of a question over all sessions.
#include "ranker.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bmad_mem {
namespace {

struct Bm25 {
  double k1;
  double b;

  [[nodiscard]] GrainScore with(double weight, double mean_length) const {
    assert(mean_length > 0);
    return {
        .weight = weight, .k1_and_1 = k1 + 1, .base = k1 * (1 - b), .slope = k1 * b / mean_length};
  }
};
constexpr Bm25 kEntryGrain{.k1 = 1.2, .b = 0.9};
constexpr Bm25 kLoneGrain{.k1 = 0.9, .b = 0.6};
constexpr Bm25 kContextGrain{.k1 = 1.2, .b = 0.75};

double inverse_frequency(double count, double frequency) {
  return std::log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

}  // namespace

RankOptions RankOptions::of(TextRanking ranking) {
  if (ranking == TextRanking::kPlain) {
    return {.window_weight = 0,
            .session_weight = 0,
            .question_weight = 0,
            .asks_malus = 0,
            .speaker_bonus = 0,
            .date_bonus = 0};
  }
  return {};
}

Result<std::vector<std::uint8_t>> slots_of_speaker(IndexedSession& session,
                                                   const Speaker& speaker) {
  std::vector<std::uint8_t> by_speaker;
  if (!speaker.is_named()) {
    return by_speaker;
  }
  const SlotView slots = session.slots();
  by_speaker.resize(slots.size());
  if (speaker.who.empty()) {
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      by_speaker[slot] = flag_role(slots.flags[slot]) == speaker.role ? 1 : 0;
    }
    return by_speaker;
  }
  BMAD_TRY_ASSIGN(
      const IndexedSession::Postings postings,
      session.live_postings(PostingKind::kTerm, std::string(kAgentPrefix) + speaker.who));
  for (const SlotPosting& posting : postings->postings) {
    assert(posting.slot < by_speaker.size());
    by_speaker[posting.slot] = 1;
  }
  return by_speaker;
}

RankTotals sum_up(const std::vector<SlotTotals>& sizes, const std::vector<SessionTerms>& collected,
                  const RankQuery& query, const RankOptions& options) {
  assert(sizes.size() == collected.size());
  double entry_count = 0;
  double session_count = 0;
  double length = 0;
  double window_length = 0;
  for (const SlotTotals& size : sizes) {
    entry_count += static_cast<double>(size.entries);
    session_count += size.entries > 0 ? 1 : 0;
    length += static_cast<double>(size.lengths);
    window_length += static_cast<double>(size.window_lengths);
  }
  const double entries_or_1 = std::max(1.0, entry_count);
  const double mean_length = std::max(1.0, length / entries_or_1);
  const double mean_window = std::max(1.0, window_length / entries_or_1);
  const double mean_session = std::max(1.0, length / std::max(1.0, session_count));
  RankTotals totals{.full = 0};
  for (std::size_t i = 0; i < query.terms.size(); ++i) {
    double entries = 0;
    double windows = 0;
    double in_sessions = 0;
    for (const SessionTerms& session : collected) {
      if (!session.terms.empty()) {
        assert(session.terms.size() == query.terms.size());
        entries += static_cast<double>(session.terms[i].postings.size());
        windows += static_cast<double>(session.terms[i].window_count);
        in_sessions += session.terms[i].postings.empty() ? 0 : 1;
      }
    }
    const RankTerm& term = query.terms[i];
    const double entry_weight =
        term.weight * options.entry_weight * inverse_frequency(entry_count, entries);
    const double window_weight =
        term.weight * options.window_weight * inverse_frequency(entry_count, windows);
    const double session_weight =
        term.weight * options.session_weight * inverse_frequency(session_count, in_sessions);
    totals.terms.push_back({.entry = kEntryGrain.with(entry_weight, mean_length),
                            .window = kContextGrain.with(window_weight, mean_window),
                            .lone_entry = kLoneGrain.with(entry_weight, mean_length),
                            .lone_window = kLoneGrain.with(window_weight, mean_length),
                            .session = kContextGrain.with(session_weight, mean_session)});
    // BM25 of one mention at the mean length is 1, whatever its constants.
    totals.full += term.stands_in ? 0 : entry_weight + window_weight + session_weight;
  }
  totals.full += query.speaker.is_named() ? options.speaker_bonus : 0;
  totals.full += query.spans.empty() ? 0 : options.date_bonus;
  totals.full = totals.full > 0 ? totals.full : 1;
  assert(totals.full > 0 && totals.terms.size() == query.terms.size());
  return totals;
}

}  // namespace bmad_mem
