// session_scores.cpp - adds up the text scores of one session, in blocks of 64 slots.
#include "session_scores.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <functional>

namespace bmad_mem {
namespace {

/// Counts below 2^31, as all are here: signed ones become doubles two at a time.
double as_double(std::uint32_t count) {
  assert(count >> 31U == 0);
  return static_cast<double>(static_cast<std::int32_t>(count));
}

/// Two doubles that are worked on at once, where the processor can.
using Two = double __attribute__((vector_size(2 * sizeof(double))));

Two two_at(const double* values) {
  Two two;
  std::memcpy(&two, values, sizeof two);
  return two;
}

}  // namespace

void SessionScores::compute(const IndexedSession& session, const SessionTerms& terms,
                            const RankTotals& totals, const RankQuery& query,
                            const RankOptions& options) {
  const SlotView slots = session.slots();
  compute(slots, terms, totals, query, options, {.begin = 0, .end = slots.size()});
}

void SessionScores::compute(const SlotView& slots, const SessionTerms& terms,
                            const RankTotals& totals, const RankQuery& query,
                            const RankOptions& options, SlotRange range) {
  assert(range.begin <= range.end && range.end <= slots.size());
  assert(terms.terms.size() <= totals.terms.size() && totals.full > 0);
  clear();
  slots_ = slots;
  terms_ = &terms;
  totals_ = &totals;
  query_ = &query;
  options_ = &options;
  const std::size_t blocks = slots_.size() / kBlock + 1;
  if (window_.size() < blocks * kBlock) {
    own_.resize(kPad + blocks * kBlock);
    window_.resize(blocks * kBlock);
    window_frequencies_.resize(blocks * kBlock);
    touched_.resize(blocks);
  }
  const SlotRange around = SessionScores::around(range, slots_.size());
  first_block_ = around.begin / kBlock;
  end_block_ = around.end == 0 ? 0 : (around.end - 1) / kBlock + 1;
  // What windows in the range hold, and the entry before the first, which may have asked.
  const std::uint32_t begin = range.begin - std::min(range.begin, kWindowReach);
  const bool is_all = begin == 0 && range.end >= slots_.size();
  postings_.clear();
  for (const SessionPostings& each : terms.terms) {
    const auto by_slot = [&](std::uint32_t slot) {
      return std::ranges::lower_bound(each.postings, slot, {}, &SlotPosting::slot);
    };
    postings_.push_back(is_all ? each.postings
                               : std::span(by_slot(begin), by_slot(range.end + kWindowReach)));
  }
  session_part_ = 0;
  question_factor_ = options.question_weight / options.entry_weight;
  for (std::size_t i = 0; i < terms.terms.size(); ++i) {
    add_entries(i);
    if (options.window_weight > 0) {
      session_part_ += session_score(i);
      add_windows(i);
    }
  }
  slack_ = kBoundSlack / totals.full;
  most_beside_ = (session_part_ + (terms.by_speaker.empty() ? 0 : options.speaker_bonus) +
                  (query.spans.empty() ? 0 : options.date_bonus)) *
                 slack_;
}

void SessionScores::clear() {
  for (std::size_t block = first_block_; block < end_block_; ++block) {
    if (touched_[block] != 0) {
      std::fill_n(&own_[kPad + block * kBlock], kBlock, 0.0);
      std::fill_n(&window_[block * kBlock], kBlock, 0.0);
      touched_[block] = 0;
    }
  }
}

/// The greatest most() of a block, two slots at a time: the compiler would not, since it minds NaN.
double SessionScores::most_in_block(std::size_t block) const {
  assert(block < touched_.size());
  const double* const own = &own_[kPad + block * kBlock];
  const double* const window = &window_[block * kBlock];
  const Two factor = {question_factor_, question_factor_};
  Two best = {0, 0};
  for (std::size_t i = 0; i < kBlock; i += 2) {
    const Two sum = two_at(own + i) + two_at(window + i) + factor * two_at(own + i - 1);
    best = best < sum ? sum : best;
  }
  return std::max(best[0], best[1]) * slack_ + most_beside_;
}

/// The blocks that have slots of at least `least_text`, the best first.
const std::vector<SessionScores::Block>& SessionScores::best_blocks(double least_text) {
  blocks_.clear();
  for (std::size_t i = first_block_; i < end_block_; ++i) {
    if (touched_[i] != 0) {
      const Block block{.most = most_in_block(i), .index = static_cast<std::uint32_t>(i)};
      if (block.most >= least_text) {
        blocks_.push_back(block);
      }
    }
  }
  std::ranges::sort(blocks_, std::ranges::greater(), &Block::most);
  return blocks_;
}

/// Sets the bits of the slots in [begin, end).
void SessionScores::touch(std::uint32_t begin, std::uint32_t end) {
  assert(begin < end && (end - 1) / kBlock < touched_.size());
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const std::size_t first = begin / kBlock;
  const std::size_t last = (end - 1) / kBlock;
  const std::uint64_t from_begin = kAll << (begin % kBlock);
  const std::uint64_t to_end = kAll >> (kBlock - 1 - (end - 1) % kBlock);
  if (first == last) {
    touched_[first] |= from_begin & to_end;
    return;
  }
  touched_[first] |= from_begin;
  std::fill(&touched_[first + 1], &touched_[last], kAll);
  touched_[last] |= to_end;
}

void SessionScores::add_entries(std::size_t term) {
  const TermScores& scores = totals_->terms[term];
  const std::array grains = {scores.entry, scores.lone_entry};
  const SlotColumn<std::uint32_t> lengths = slots_.lengths;
  const SlotColumn<std::uint32_t> flags = slots_.flags;
  double* const own = own_.data() + kPad;
  std::uint64_t* const touched = touched_.data();
  for (const SlotPosting& posting : postings_[term]) {
    const std::uint32_t slot = posting.slot;
    const GrainScore& score = grains[is_lone_flag(flags[slot]) ? 1 : 0];
    own[slot] += score.at(as_double(posting.frequency), as_double(lengths[slot]));
    touched[slot / kBlock] |= std::uint64_t{1} << (slot % kBlock);
  }
}

/// Windows of neighbours overlap: first each posting is counted in all windows that reach it, then
/// the scores are worked out stretch by stretch.
void SessionScores::add_windows(std::size_t term) {
  const SlotView& slots = slots_;
  const std::span<const SlotPosting> postings = postings_[term];
  const TermScores& scores = totals_->terms[term];
  count_in_windows(postings);
  for (std::size_t i = 0; i < postings.size();) {
    const std::uint32_t first = postings[i].slot;
    const bool lone = is_lone(first);
    const std::uint32_t begin = first - slots.reach[first].before;
    std::uint32_t end = first + slots.reach[first].after + 1;
    // All windows of a conversation have messages only.
    for (++i; i < postings.size() && is_lone(postings[i].slot) == lone &&
              postings[i].slot - slots.reach[postings[i].slot].before <= end;
         ++i) {
      end = postings[i].slot + slots.reach[postings[i].slot].after + 1;
    }
    touch(begin, end);
    score_windows(lone ? scores.lone_window : scores.window,
                  lone ? slots.lengths : slots.window_lengths, begin, end);
  }
}

void SessionScores::count_in_windows(std::span<const SlotPosting> postings) {
  const SlotColumn<WindowReach> reach = slots_.reach;
  std::uint32_t* const frequencies = window_frequencies_.data();
  for (const SlotPosting& posting : postings) {
    const std::uint32_t slot = posting.slot;
    const WindowReach around = reach[slot];
    if (around.before == kWindowReach && around.after == kWindowReach) {  // Nearly all messages.
      for (std::uint32_t i = 0; i < 2 * kWindowReach + 1; ++i) {
        frequencies[slot - kWindowReach + i] += posting.frequency;
      }
      continue;
    }
    for (std::uint32_t i = slot - around.before; i <= slot + around.after; ++i) {
      frequencies[i] += posting.frequency;
    }
  }
}

/// Adds the scores of the windows of [begin, end) and empties their counts. The compiler does two
/// slots at a time: 8 instructions a slot.
void SessionScores::score_windows(const GrainScore& score, SlotColumn<std::uint32_t> lengths,
                                  std::uint32_t begin, std::uint32_t end) {
  assert(begin < end && end <= window_.size());
  const GrainScore grain = score;
  const std::uint32_t* const length = lengths.from(begin);
  double* const sum = window_.data() + begin;
  std::uint32_t* const frequency = window_frequencies_.data() + begin;
  const std::size_t count = end - begin;
  for (std::size_t i = 0; i < count; ++i) {
    sum[i] += grain.at(as_double(frequency[i]), as_double(length[i]));
  }
  std::fill_n(frequency, count, 0U);
}

TextExplanation SessionScores::explain(std::uint32_t slot, Timestamp time) const {
  assert(terms_ != nullptr && slot < slots_.size() && "compute() comes first");
  const SlotView& slots = slots_;
  const WindowReach reach = slots.reach[slot];
  const double full = totals_->full;
  TextExplanation explanation;
  for (std::size_t i = 0; i < terms_->terms.size(); ++i) {
    TermScore score{.term = query_->terms[i].term};
    const TermScores& scores = totals_->terms[i];
    const std::span<const SlotPosting> postings = terms_->terms[i].postings;
    double around = 0;
    for (auto it = std::ranges::lower_bound(postings, slot - reach.before, {}, &SlotPosting::slot);
         it != postings.end() && it->slot <= slot + reach.after; ++it) {
      around += it->frequency;
      if (it->slot == slot) {
        const GrainScore& grain = is_lone(slot) ? scores.lone_entry : scores.entry;
        score.entry = grain.at(it->frequency, slots.lengths[slot]) / full;
      }
    }
    if (around > 0 && options_->window_weight > 0) {
      score.window = (is_lone(slot) ? scores.lone_window.at(around, slots.lengths[slot])
                                    : scores.window.at(around, slots.window_lengths[slot])) /
                     full;
    }
    score.session = session_score(i) / full;
    explanation.terms.push_back(std::move(score));
  }
  explanation.question = question_part(slot) / full;
  explanation.asks = asks_part(slot) / full;
  explanation.speaker = speaker_part(slot) / full;
  explanation.date = date_part(time) / full;
  return explanation;
}

double SessionScores::date_part(Timestamp time) const {
  double best = 0;
  for (const DateSpan& span : query_->spans) {
    best = std::max(best, date_match(time, span));
  }
  return options_->date_bonus * best;
}

double SessionScores::session_score(std::size_t term) const {
  const auto frequency = static_cast<double>(terms_->terms[term].frequency_sum);
  const auto length = static_cast<double>(slots_.length_sum);
  return frequency == 0 ? 0 : totals_->terms[term].session.at(frequency, length);
}

}  // namespace bmad_mem
