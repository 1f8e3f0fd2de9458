#include "ranker.hpp"

#include <algorithm>
#include <cmath>

namespace bmad_mem {
namespace {

/// BM25 (Robertson and Zaragoza 2009), without idf.
struct Bm25 {
  double k1;
  double b;

  /// What it comes near to for ever higher frequencies.
  [[nodiscard]] constexpr double most() const { return k1 + 1; }
  [[nodiscard]] double score(double frequency, double length, double mean_length) const {
    return frequency * (k1 + 1) / (frequency + (k1 * (1 - b) + k1 * b / mean_length * length));
  }
};
constexpr Bm25 kEntryGrain{.k1 = 0.9, .b = 0.4};
constexpr Bm25 kContextGrain{.k1 = 1.2, .b = 0.75};

double inverse_frequency(double count, double frequency) {
  return std::log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

/// Entries whose window reaches one of the postings.
std::uint64_t count_windows(const SlotTable& slots, const std::vector<SlotPosting>& postings) {
  std::uint64_t count = 0;
  std::uint32_t covered = 0;  // First slot that is not counted yet.
  for (const SlotPosting& posting : postings) {
    const WindowReach reach = slots.reach[posting.slot];
    const std::uint32_t begin = std::max(covered, posting.slot - reach.before);
    const std::uint32_t end = posting.slot + reach.after + 1;
    if (end > begin) {
      count += end - begin;
      covered = end;
    }
  }
  return count;
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

Result<SessionTerms::Term> collect_term(SessionIndex& session, const std::string& term,
                                        const RankOptions& options) {
  BMAD_TRY_ASSIGN(const SessionIndex::Postings postings,
                  session.postings(PostingKind::kTerm, term));
  const SlotTable& slots = session.slots();
  SessionTerms::Term found;
  found.postings.reserve(postings->size());
  bool ascending = true;
  for (const Posting& posting : *postings) {
    const std::uint32_t slot = slots.slot(posting.ordinal);
    if (slot != SlotTable::kNoSlot) {
      ascending = ascending && (found.postings.empty() || slot > found.postings.back().slot);
      found.postings.push_back({.slot = slot, .frequency = posting.frequency});
      found.session_frequency += posting.frequency;
    }
  }
  if (!ascending) {  // Conversations that were written side by side.
    std::ranges::sort(found.postings, {}, &SlotPosting::slot);
  }
  if (options.window_weight > 0) {
    found.window_count = count_windows(slots, found.postings);
  }
  return found;
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
  BMAD_TRY_ASSIGN(const SessionIndex::Postings postings,
                  session.postings(PostingKind::kTerm, std::string(kAgentPrefix) + speaker.who));
  for (const Posting& posting : *postings) {
    const std::uint32_t slot = slots.slot(posting.ordinal);
    if (slot != SlotTable::kNoSlot) {
      by_speaker[slot] = 1;
    }
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
  RankTotals totals{.mean_length = std::max(1.0, length / std::max(1.0, entry_count)),
                    .mean_window = std::max(1.0, window_length / std::max(1.0, entry_count)),
                    .mean_session = std::max(1.0, length / std::max(1.0, session_count)),
                    .weights = {},
                    .reachable = 0};
  for (std::size_t i = 0; i < query.terms.size(); ++i) {
    double entries = 0;
    double windows = 0;
    double in_sessions = 0;
    for (const SessionTerms& session : collected) {
      entries += static_cast<double>(session.terms[i].postings.size());
      windows += static_cast<double>(session.terms[i].window_count);
      in_sessions += session.terms[i].postings.empty() ? 0 : 1;
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
  session_ = &session;
  terms_ = &terms;
  totals_ = &totals;
  query_ = &query;
  options_ = &options;
  own_.assign(session.slots().size(), 0);
  window_.assign(session.slots().size(), 0);
  window_frequencies_.resize(std::max<std::size_t>(window_frequencies_.size(), own_.size()));
  session_part_ = 0;
  for (std::size_t i = 0; i < terms.terms.size(); ++i) {
    add_term(i);
  }
}

void SessionScores::add_term(std::size_t index) {
  const SlotTable& slots = session_->slots();
  const std::vector<SlotPosting>& postings = terms_->terms[index].postings;
  for (const SlotPosting& posting : postings) {
    own_[posting.slot] += entry_score(index, posting.slot, posting.frequency);
  }
  if (options_->window_weight <= 0) {
    return;
  }
  session_part_ += session_score(index);
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
    const std::uint32_t end = posting.slot + reach.after + 1;
    for (std::uint32_t slot = std::max(done, posting.slot - reach.before); slot < end; ++slot) {
      window_[slot] += window_score(index, slot, window_frequencies_[slot]);
      window_frequencies_[slot] = 0;
    }
    done = std::max(done, end);
  }
}

double SessionScores::text(std::uint32_t slot, Timestamp time) const {
  return (own_[slot] + window_[slot] + session_part_ + question_part(slot) + speaker_part(slot) +
          date_part(time)) /
         totals_->reachable;
}

TextExplanation SessionScores::explain(std::uint32_t slot, Timestamp time) const {
  const SlotTable& slots = session_->slots();
  const WindowReach reach = slots.reach[slot];
  const double reachable = totals_->reachable;
  TextExplanation explanation;
  for (std::size_t i = 0; i < query_->terms.size(); ++i) {
    TermScore score{.term = query_->terms[i]};
    const std::vector<SlotPosting>& postings = terms_->terms[i].postings;
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

double SessionScores::question_part(std::uint32_t slot) const {
  const SlotTable& slots = session_->slots();
  const bool follows_question =
      slots.reach[slot].before > 0 && (slots.flags[slot - 1] & kFlagAsks) != 0;
  return follows_question && options_->question_weight > 0
             ? options_->question_weight / options_->entry_weight * own_[slot - 1]
             : 0;
}

double SessionScores::speaker_part(std::uint32_t slot) const {
  return !terms_->by_speaker.empty() && terms_->by_speaker[slot] != 0 ? options_->speaker_bonus : 0;
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
         kEntryGrain.score(frequency, session_->slots().lengths[slot], totals_->mean_length);
}

double SessionScores::window_score(std::size_t term, std::uint32_t slot, double frequency) const {
  const SlotTable& slots = session_->slots();
  const double weight = totals_->weights[term].window;
  if (flag_type(slots.flags[slot]) != EntryType::kConversation) {
    return weight * kEntryGrain.score(frequency, slots.lengths[slot], totals_->mean_length);
  }
  return weight * kContextGrain.score(frequency, slots.window_lengths[slot], totals_->mean_window);
}

double SessionScores::session_score(std::size_t term) const {
  const auto frequency = static_cast<double>(terms_->terms[term].session_frequency);
  return frequency == 0
             ? 0
             : totals_->weights[term].session *
                   kContextGrain.score(frequency, static_cast<double>(session_->slots().length_sum),
                                       totals_->mean_session);
}

}  // namespace bmad_mem
