#include "entry_judge.hpp"

#include <algorithm>
#include <utility>

#include "slot_filter.hpp"

namespace bmad_mem {

/// Whether the flags and the time of an entry pass.
bool EntryJudge::passes(const IndexedSession& session, std::uint32_t flags, Timestamp time) const {
  if (!passes_plain_filters(plan_.query.filter, flags, time) ||
      (settings_.stating_only && flag_states_nothing(flags))) {
    return false;
  }
  const EntryType type = flag_type(flags);
  const bool pinned = (flags & kFlagPinned) != 0;
  return std::ranges::none_of(plan_.filters, [&](const QueryFilter& exclusion) {
    return (exclusion.field == FilterField::kType && exclusion.type == type) ||
           (exclusion.field == FilterField::kPinned && pinned) ||
           (exclusion.field == FilterField::kSession && exclusion.value == session.session_id());
  });
}

namespace {

/// What stands before the question mark is no statement of its own.
bool is_short_question(std::uint32_t flags, std::uint32_t length) {
  constexpr std::uint32_t kLengthMax = 4;
  return (flags & kFlagAsks) != 0 && length <= kLengthMax;
}

}  // namespace

Result<std::optional<Found>> EntryJudge::judge(std::size_t index, std::uint32_t slot,
                                               const SlotView& slots, double text, double least) {
  const IndexedSession& session = *sessions_[index];
  const std::uint32_t flags = slots.flags[slot];
  const Ordinal ordinal = slots.ordinal(slot);
  const Timestamp time = session.timestamp(ordinal);
  if (!passes(session, flags, time) || is_hidden_at(session, flags, ordinal, settings_.now)) {
    return std::optional<Found>();
  }
  Found found{.session = index,
              .type = flag_type(flags),
              .ordinal = ordinal,
              .timestamp = time,
              .relevance = 0,
              .components = relevance_.components(
                  text, flags, time, (flags & kFlagOdd) != 0 ? session.odd(ordinal) : nullptr),
              .evicted = session.is_evicted(),
              .length = slots.lengths[slot],
              .states_nothing =
                  !plan_.rank.terms.empty() &&
                  (flag_states_nothing(flags) || is_short_question(flags, slots.lengths[slot]))};
  set_text(found, text);
  if (found.relevance < least) {
    return std::optional<Found>();
  }
  BMAD_TRY_ASSIGN(found.outdated, validity_.is_outdated(index, ordinal, flags));
  set_text(found, text);
  return std::optional(std::move(found));
}

}  // namespace bmad_mem
