#include "nearest_found.hpp"

#include <limits>
#include <optional>

namespace bmad_mem {

Status NearestFound::add_to(std::vector<Found>& found) {
  constexpr std::size_t kNearest = 64;
  std::set<std::pair<std::size_t, Ordinal>> known;
  for (const Found& each : found) {
    known.emplace(each.session, each.ordinal);
  }
  std::size_t passed = 0;
  std::size_t looked_at = 0;
  // Where filters leave few, more are looked at.
  for (std::size_t wanted = kNearest; passed < kNearest; wanted *= 4) {
    const std::vector<NearEntry> near = in_.meaning.nearest(wanted, in_.near_min);
    for (; looked_at < near.size() && passed < kNearest; ++looked_at) {
      const NearEntry& each = near[looked_at];
      IndexedSession& session = *in_.sessions[each.session];
      if (known.contains({each.session, session.slots().ordinal(each.slot)})) {
        ++passed;
        continue;
      }
      if (in_.settings.is_late()) {
        return query_timeout(in_.plan.query);
      }
      BMAD_TRY_ASSIGN(std::optional<Found> entry, in_session(session, entry_at(each)));
      if (entry) {
        found.push_back(*std::move(entry));
        ++passed;
      }
    }
    if (near.size() < wanted) {
      break;
    }
  }
  return {};
}

Result<const AllowedSlots*> NearestFound::prepared(std::size_t index) {
  const auto [place, is_new] = allowed_.try_emplace(index);
  if (is_new) {
    IndexedSession& session = *in_.sessions[index];
    std::vector<std::uint8_t>& by_speaker = in_.terms[index].by_speaker;
    if (!in_.plan.phrases.empty() || in_.plan.rank.speaker.is_named()) {
      BMAD_TRY(session.load());
    }
    if (in_.options.speaker_bonus > 0 && by_speaker.empty()) {
      BMAD_TRY_ASSIGN(by_speaker, slots_of_speaker(session, in_.plan.rank.speaker));
    }
    BMAD_TRY_ASSIGN(place->second, allowed_slots(session, in_.plan));
  }
  return &place->second;
}

/// Nothing when it does not pass.
Result<std::optional<Found>> NearestFound::entry_at(const NearEntry& near) {
  IndexedSession& session = *in_.sessions[near.session];
  BMAD_TRY_ASSIGN(const AllowedSlots* const allowed, prepared(near.session));
  const auto hidden = session.hidden();
  if ((!allowed->empty() && (*allowed)[near.slot] == 0) ||
      (hidden != nullptr && (*hidden)[near.slot] != 0)) {
    return std::optional<Found>();
  }
  const SlotRange range{.begin = near.slot, .end = near.slot + 1};
  const SlotRange around = SessionScores::around(range, session.slots().size());
  BMAD_TRY_ASSIGN(const SlotView slots, session.slots_between(around.begin, around.end, room_));
  scores_.compute(slots, in_.terms[near.session], in_.totals, in_.plan.rank, in_.options, range);
  const double sum = scores_.sum(near.slot, session.timestamp(slots.ordinal(near.slot)));
  constexpr double kAny = -std::numeric_limits<double>::infinity();
  return in_.judge.judge(near.session, near.slot, slots, sum / in_.totals.full, kAny);
}

}  // namespace bmad_mem
