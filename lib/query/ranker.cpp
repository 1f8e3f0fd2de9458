#include "ranker.hpp"

#include <algorithm>
#include <cmath>

namespace bmad_mem {
namespace {

/// BM25 (Robertson and Zaragoza 2009).
struct Bm25 {
  double k1;
  double b;

  /// What it comes near to for ever higher frequencies.
  [[nodiscard]] constexpr double most() const { return k1 + 1; }
  [[nodiscard]] RankTotals::LengthNorm norm(double mean_length) const {
    return {.base = k1 * (1 - b), .slope = k1 * b / mean_length};
  }
  /// Without idf.
  [[nodiscard]] double score(double frequency, double norm) const {
    return frequency * (k1 + 1) / (frequency + norm);
  }
};
constexpr Bm25 kEntryGrain{.k1 = 0.9, .b = 0.4};
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
            .speaker_bonus = 0,
            .date_bonus = 0};
  }
  return {};
}

Result<std::vector<std::uint8_t>> slots_of_speaker(SessionIndex& session, const Speaker& speaker) {
  std::vector<std::uint8_t> by_speaker;
  if (!speaker.is_named()) {
    return by_speaker;
  }
  const SlotTable& slots = session.slots();
  by_speaker.resize(slots.size());
  if (speaker.who.empty()) {
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      by_speaker[slot] = flag_role(slots.flags[slot]) == speaker.role ? 1 : 0;
    }
    return by_speaker;
  }
  BMAD_TRY_ASSIGN(
      const SessionIndex::Postings postings,
      session.live_postings(PostingKind::kTerm, std::string(kAgentPrefix) + speaker.who));
  for (const SlotPosting& posting : postings->postings) {
    by_speaker[posting.slot] = 1;
  }
  return by_speaker;
}

RankTotals sum_up(const std::vector<SessionIndex*>& sessions,
                  const std::vector<SessionTerms>& collected, const RankQuery& query,
                  const RankOptions& options) {
  double entry_count = 0;
  double session_count = 0;
  double length = 0;
  double window_length = 0;
  for (const SessionIndex* session : sessions) {
    const SlotTable& slots = session->slots();
    entry_count += slots.size();
    session_count += slots.size() > 0 ? 1 : 0;
    length += static_cast<double>(slots.length_sum);
    window_length += static_cast<double>(slots.window_length_sum);
  }
  const double entries_or_1 = std::max(1.0, entry_count);
  RankTotals totals{
      .entry = kEntryGrain.norm(std::max(1.0, length / entries_or_1)),
      .window = kContextGrain.norm(std::max(1.0, window_length / entries_or_1)),
      .session = kContextGrain.norm(std::max(1.0, length / std::max(1.0, session_count))),
      .weights = {},
      .reachable = 0};
  for (std::size_t i = 0; i < query.terms.size(); ++i) {
    double entries = 0;
    double windows = 0;
    double in_sessions = 0;
    for (const SessionTerms& session : collected) {
      entries += static_cast<double>(session.terms[i]->postings.size());
      windows += static_cast<double>(session.terms[i]->window_count);
      in_sessions += session.terms[i]->postings.empty() ? 0 : 1;
    }
    const double entry_idf = inverse_frequency(entry_count, entries);
    const RankTotals::TermWeights weights{
        .entry = options.entry_weight * entry_idf,
        .window = options.window_weight * inverse_frequency(entry_count, windows),
        .session = options.session_weight * inverse_frequency(session_count, in_sessions)};
    totals.reachable += weights.entry * kEntryGrain.most() +
                        options.question_weight * entry_idf * kEntryGrain.most() +
                        weights.window * kContextGrain.most() +
                        weights.session * kContextGrain.most();
    totals.weights.push_back(weights);
  }
  totals.reachable += query.speaker.is_named() ? options.speaker_bonus : 0;
  totals.reachable += query.spans.empty() ? 0 : options.date_bonus;
  totals.reachable = totals.reachable > 0 ? totals.reachable : 1;
  return totals;
}

void SessionScores::compute(const SessionIndex& session, const SessionTerms& terms,
                            const RankTotals& totals, const RankQuery& query,
                            const RankOptions& options) {
  clear();
  session_ = &session;
  terms_ = &terms;
  totals_ = &totals;
  query_ = &query;
  options_ = &options;
  const std::size_t size = session.slots().size();
  if (own_.size() < size) {
    own_.resize(size);
    window_.resize(size);
    window_frequencies_.resize(size);
  }
  touched_.assign(size / 64 + 1, 0);
  session_part_ = 0;
  for (std::size_t i = 0; i < terms.terms.size(); ++i) {
    add_entries(i);
    if (options.window_weight > 0) {
      session_part_ += session_score(i);
      add_windows(i);
    }
  }
  most_beside_ = session_part_ + (terms.by_speaker.empty() ? 0 : options.speaker_bonus) +
                 (query.spans.empty() ? 0 : options.date_bonus);
  slack_ = (1 + 1e-9) / totals.reachable;
}

void SessionScores::clear() {
  for_each_match([this](std::uint32_t slot) {
    own_[slot] = 0;
    window_[slot] = 0;
  });
}

/// Sets the bits of the slots in [begin, end): a window, so at most two words of bits.
void SessionScores::touch(std::uint32_t begin, std::uint32_t end) {
  const std::uint64_t bits = (std::uint64_t{1} << (end - begin)) - 1;
  touched_[begin / 64] |= bits << (begin % 64);
  if (begin / 64 != (end - 1) / 64) {
    touched_[begin / 64 + 1] |= bits >> (64 - begin % 64);
  }
}

void SessionScores::add_entries(std::size_t term) {
  for (const SlotPosting& posting : terms_->terms[term]->postings) {
    own_[posting.slot] += entry_score(term, posting.slot, posting.frequency);
    touched_[posting.slot / 64] |= std::uint64_t{1} << (posting.slot % 64);
  }
}

void SessionScores::add_windows(std::size_t term) {
  const SlotTable& slots = session_->slots();
  const std::vector<SlotPosting>& postings = terms_->terms[term]->postings;
  for (const SlotPosting& posting : postings) {
    const WindowReach reach = slots.reach[posting.slot];
    for (std::uint32_t slot = posting.slot - reach.before; slot <= posting.slot + reach.after;
         ++slot) {
      window_frequencies_[slot] += posting.frequency;
    }
  }
  std::uint32_t done = 0;  // Slots below have their score for this term.
  for (const SlotPosting& posting : postings) {
    const WindowReach reach = slots.reach[posting.slot];
    const std::uint32_t begin = std::max(done, posting.slot - reach.before);
    const std::uint32_t end = posting.slot + reach.after + 1;
    for (std::uint32_t slot = begin; slot < end; ++slot) {
      window_[slot] += window_score(term, slot, window_frequencies_[slot]);
      window_frequencies_[slot] = 0;
    }
    if (end > begin) {
      touch(begin, end);
      done = end;
    }
  }
}

TextExplanation SessionScores::explain(std::uint32_t slot, Timestamp time) const {
  const SlotTable& slots = session_->slots();
  const WindowReach reach = slots.reach[slot];
  const double reachable = totals_->reachable;
  TextExplanation explanation;
  for (std::size_t i = 0; i < query_->terms.size(); ++i) {
    TermScore score{.term = query_->terms[i]};
    const std::vector<SlotPosting>& postings = terms_->terms[i]->postings;
    double around = 0;
    for (auto it = std::ranges::lower_bound(postings, slot - reach.before, {}, &SlotPosting::slot);
         it != postings.end() && it->slot <= slot + reach.after; ++it) {
      around += it->frequency;
      if (it->slot == slot) {
        score.entry = entry_score(i, slot, it->frequency) / reachable;
      }
    }
    if (around > 0 && options_->window_weight > 0) {
      score.window = window_score(i, slot, around) / reachable;
    }
    score.session = session_score(i) / reachable;
    explanation.terms.push_back(std::move(score));
  }
  explanation.question = question_part(slot) / reachable;
  explanation.speaker = speaker_part(slot) / reachable;
  explanation.date = date_part(time) / reachable;
  return explanation;
}

double SessionScores::date_part(Timestamp time) const {
  double best = 0;
  for (const DateSpan& span : query_->spans) {
    best = std::max(best, date_match(time, span));
  }
  return options_->date_bonus * best;
}

double SessionScores::entry_score(std::size_t term, std::uint32_t slot, double frequency) const {
  return totals_->weights[term].entry *
         kEntryGrain.score(frequency, totals_->entry.at(session_->slots().lengths[slot]));
}

double SessionScores::window_score(std::size_t term, std::uint32_t slot, double frequency) const {
  const SlotTable& slots = session_->slots();
  const double weight = totals_->weights[term].window;
  if (flag_type(slots.flags[slot]) != EntryType::kConversation) {
    return weight * kEntryGrain.score(frequency, totals_->entry.at(slots.lengths[slot]));
  }
  return weight * kContextGrain.score(frequency, totals_->window.at(slots.window_lengths[slot]));
}

double SessionScores::session_score(std::size_t term) const {
  const auto frequency = static_cast<double>(terms_->terms[term]->frequency_sum);
  const auto length = static_cast<double>(session_->slots().length_sum);
  return frequency == 0 ? 0
                        : totals_->weights[term].session *
                              kContextGrain.score(frequency, totals_->session.at(length));
}

}  // namespace bmad_mem
