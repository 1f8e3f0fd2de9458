// relevance.cpp - the relevance of an entry by its text score, flags and time, and its bound.
#include "relevance.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <utility>

#include "slot_filter.hpp"

namespace bmad_mem {

namespace {

constexpr double kNeverAccessed = 0.5;

}  // namespace

Relevance::Relevance(RelevanceCombine combine, RelevanceWeights weights,
                     const SearchSettings& settings, bool names_time)
    : settings_(settings), combine_(combine), weights_(weights), ignores_age_(names_time) {}

RelevanceComponents Relevance::components(double text, std::uint32_t flags, Timestamp time,
                                          const OddEntry* odd) const {
  return {.text = text,
          .time = ignores_age_ ? 1 : time_factor(flags, time, odd),
          .importance = flag_importance(flags),
          .access = access(odd)};
}

double Relevance::time_factor(std::uint32_t flags, Timestamp time, const OddEntry* odd) const {
  return effective_decay(settings_.decay,
                         {.type = flag_type(flags),
                          .timestamp = time,
                          .initial_factor = odd == nullptr ? 1 : odd->decay_factor,
                          .importance = flag_importance(flags)},
                         settings_.now);
}

double Relevance::access(const OddEntry* odd) const {
  constexpr double kRatePerHour = 0.05;
  if (odd == nullptr || !odd->last_accessed) {
    return kNeverAccessed;
  }
  using Hours = std::chrono::duration<double, std::ratio<3600>>;
  const double hours = std::max(0.0, Hours(settings_.now - *odd->last_accessed).count());
  return std::max(kNeverAccessed, std::exp(-kRatePerHour * hours));
}

/// Whether no entry with these flags counts more by its time than one as new as the newest.
bool Relevance::newest_counts_most(std::uint32_t flags) const {
  // An odd entry has a factor of its own, and with a rate below 0 old entries count more.
  return !ignores_age_ && (flags & kFlagOdd) == 0 &&
         settings_.decay.rates_per_day[static_cast<std::size_t>(flag_type(flags))] >= 0;
}

std::string_view relevance_combine_name(RelevanceCombine combine) {
  return combine == RelevanceCombine::kSum ? "sum" : "factors";
}

std::optional<RelevanceCombine> try_parse_relevance_combine(std::string_view name) {
  for (const RelevanceCombine each : {RelevanceCombine::kFactors, RelevanceCombine::kSum}) {
    if (relevance_combine_name(each) == name) {
      return each;
    }
  }
  return std::nullopt;
}

RelevanceBound::RelevanceBound(const Relevance& relevance, Timestamp newest) {
  for (std::size_t i = 0; i < scale_.size(); ++i) {
    const std::uint32_t flags = Relevance::flags_of(i);
    if ((flags & kFlagPinned) != 0) {  // Counts for nothing.
      const std::size_t same = Relevance::class_of(flags & ~std::uint32_t{kFlagPinned});
      assert(same < i && "its class comes before");
      beside_[i] = beside_[same];
      scale_[i] = scale_[same];
      continue;
    }
    const RelevanceComponents without_text{
        .text = 0,
        .time =
            relevance.newest_counts_most(flags) ? relevance.time_factor(flags, newest, nullptr) : 1,
        .importance = flag_importance(flags),
        .access = (flags & kFlagOdd) != 0 ? 1 : kNeverAccessed};
    RelevanceComponents with_text = without_text;
    with_text.text = 1;
    beside_[i] = relevance.combine(without_text) * kBoundSlack;
    scale_[i] = (relevance.combine(with_text) - relevance.combine(without_text)) * kBoundSlack;
    most_beside_ = std::max(most_beside_, beside_[i]);
    most_scale_ = std::max(most_scale_, scale_[i]);
    for (std::size_t weight = weight_of(flags); weight < kWeightCount; ++weight) {
      weight_beside_[weight] = std::max(weight_beside_[weight], beside_[i]);
      weight_scale_[weight] = std::max(weight_scale_[weight], scale_[i]);
    }
  }
}

/// Whether the flags and the time of an entry pass.
bool EntryJudge::passes(const IndexedSession& session, std::uint32_t flags, Timestamp time) const {
  if (!passes_plain_filters(scope_.plan.query.filter, flags, time) ||
      (scope_.settings.stating_only && flag_states_nothing(flags))) {
    return false;
  }
  const EntryType type = flag_type(flags);
  const bool pinned = (flags & kFlagPinned) != 0;
  return std::ranges::none_of(scope_.plan.filters, [&](const QueryFilter& exclusion) {
    return (exclusion.field == FilterField::kType && exclusion.type == type) ||
           (exclusion.field == FilterField::kPinned && pinned) ||
           (exclusion.field == FilterField::kSession && exclusion.value == session.session_id());
  });
}

Result<std::optional<Found>> EntryJudge::judge(std::size_t index, std::uint32_t slot,
                                               const SlotView& slots, double text, double least) {
  assert(index < scope_.sessions.size() && slot < slots.size());
  const IndexedSession& session = *scope_.sessions[index];
  const std::uint32_t flags = slots.flags[slot];
  const Ordinal ordinal = slots.ordinal(slot);
  const Timestamp time = session.timestamp(ordinal);
  if (!passes(session, flags, time) || is_hidden_at(session, flags, ordinal, scope_.settings.now)) {
    return std::optional<Found>();
  }
  constexpr std::uint32_t kShortMax = 4;  // What stands before the mark is no statement then.
  const bool is_short_question = (flags & kFlagAsks) != 0 && slots.lengths[slot] <= kShortMax;
  Found found{.session = index,
              .type = flag_type(flags),
              .ordinal = ordinal,
              .timestamp = time,
              .relevance = 0,
              .components = relevance_.components(
                  text, flags, time, (flags & kFlagOdd) != 0 ? session.odd(ordinal) : nullptr),
              .evicted = session.is_evicted(),
              .length = slots.lengths[slot],
              .states_nothing = !scope_.plan.rank.terms.empty() &&
                                (flag_states_nothing(flags) || is_short_question)};
  set_text(found, text);
  if (found.relevance < least) {
    return std::optional<Found>();
  }
  BMAD_TRY_ASSIGN(found.outdated, validity_.is_outdated(index, ordinal, flags));
  set_text(found, text);
  return std::optional(std::move(found));
}

}  // namespace bmad_mem
