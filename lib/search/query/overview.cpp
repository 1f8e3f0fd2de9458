// overview.cpp - counts entries by topic and by time, and finds the newest.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <ranges>
#include <string>

#include "bmad_mem/text.hpp"
#include "search/search.hpp"
#include "slot_filter.hpp"
#include "validity.hpp"

namespace bmad_mem {
namespace {

/// Whether nothing but its type keeps an entry out.
bool passes_by_type(const EntryFilter& filter) {
  return filter.agents.empty() && filter.tags.empty() && filter.fields.empty() &&
         !filter.workspace && !filter.pinned_only && !filter.since && !filter.until &&
         !filter.without_sensitive;
}

/// What a filter leaves of a session.
class Passing {
 public:
  Passing(IndexedSession& session, const EntryFilter& filter, Timestamp now)
      : session_(session), filter_(filter), now_(now) {}

  /// Makes ready to ask of all slots. Where all pass, nothing is read.
  Status load() {
    BMAD_TRY_ASSIGN(const SessionSums* const known, sums());
    all_pass_ = known != nullptr && filter_.types.empty();
    if (all_pass_) {
      BMAD_TRY(session_.load_slots(0, 0));
      slots_ = session_.slots();
      return {};
    }
    BMAD_TRY(session_.load());
    return load_filters();
  }

  /// The same of those alone that somebody loads.
  Status load_filters() {
    BMAD_TRY(session_.load_slots(0, 0));
    slots_ = session_.slots();
    SlotFilter filter(session_);
    BMAD_TRY(filter.having(filter_));
    if (!is_among(filter_.types, EntryType::kConversation)) {  // The only one without a mark.
      std::vector<std::string> types;
      for (const EntryType type : filter_.types) {
        types.emplace_back(entry_type_name(type));
      }
      BMAD_TRY(filter.any_of(PostingKind::kTerm, kMarkPrefix, types));
    }
    allowed_ = filter.take();
    return allowed_.empty() ? session_.load_times() : Status();  // Else those of a few.
  }

  /// What the session comes to, where nothing but its type keeps an entry of it out; else null.
  Result<const SessionSums*> sums() {
    if (!passes_by_type(filter_)) {
      return nullptr;
    }
    BMAD_TRY_ASSIGN(const SessionSums* const sums, session_.sums());
    const PastRetention* const past = session_.past_retention;
    const Timestamp oldest = session_.facts().oldest;
    const auto may_be_hidden = [&](EntryType type) {
      return past->hides(session_.session_id(), type, oldest, /*pinned=*/false, now_);
    };
    const bool has_hidden =
        sums != nullptr && (sums->expires || (past != nullptr && !sums->days.empty() &&
                                              std::ranges::any_of(kEntryTypes, may_be_hidden)));
    return has_hidden ? nullptr : sums;
  }

  [[nodiscard]] Timestamp time(std::uint32_t slot) const {
    return session_.timestamp(slots_.ordinal(slot));
  }

  [[nodiscard]] bool all_pass() const { return all_pass_; }
  /// What the posting lists say.
  [[nodiscard]] bool is_allowed(std::uint32_t slot) const {
    return allowed_.empty() || allowed_[slot] != 0;
  }
  [[nodiscard]] bool passes(std::uint32_t slot) const {
    assert(slot < slots_.size() && "load() comes first");
    return all_pass_ ||
           (is_allowed(slot) && passes_plain_filters(filter_, slots_.flags[slot], time(slot)) &&
            !is_hidden_at(session_, slots_.flags[slot], slots_.ordinal(slot), now_));
  }

 private:
  IndexedSession& session_;
  const EntryFilter& filter_;
  Timestamp now_;
  SlotView slots_;
  AllowedSlots allowed_;
  bool all_pass_ = false;
};

Status add_topics(const SearchedPart& part, std::span<IndexedSession* const> sessions,
                  const EntryFilter& filter, Timestamp now,
                  std::map<std::string, TopicCount>& topics) {
  std::map<std::uint32_t, Passing> passing;  // By the number of the session.
  BMAD_TRY_ASSIGN(const std::unique_ptr<KeyCursor> cursor,
                  part.part->keys(PostingKind::kTopic, {}));
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, cursor->next());
    if (!more) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::span<const SessionPostings> found, cursor->postings());
    TopicCount& all = topics[std::string(cursor->key())];
    all.topic = cursor->key();
    for (const SessionPostings& each : found | std::views::reverse) {  // Newest first.
      IndexedSession& session = *sessions[part.first + each.session];
      const auto [place, is_new] = passing.try_emplace(each.session, session, filter, now);
      const Passing& its = place->second;
      BMAD_TRY(is_new ? in_session(session, place->second.load()) : Status());
      std::uint64_t here = its.all_pass() ? each.postings.size() : 0;
      for (const SlotPosting& posting : each.postings) {
        if (its.all_pass() && session.newest() <= all.newest) {
          break;  // Their times change nothing.
        }
        if (its.passes(posting.slot)) {
          here += its.all_pass() ? 0 : 1;
          all.newest = std::max(all.newest, its.time(posting.slot));
        }
      }
      all.entries += here;
      all.sessions += here > 0 ? 1 : 0;
    }
  }
}

Status add_times(IndexedSession& session, const EntryFilter& filter, Timestamp now,
                 TimelineUnit unit, std::map<Timestamp, TimelineBucket>& buckets) {
  Passing passing(session, filter, now);
  std::map<Timestamp, TimelineBucket> here;
  const auto add = [&](Timestamp time, EntryType type, std::uint64_t count) {
    if (count > 0 && (filter.types.empty() || is_among(filter.types, type))) {
      here[begin_of(unit, time)].entries[static_cast<std::size_t>(type)] += count;
    }
  };
  BMAD_TRY_ASSIGN(const SessionSums* const sums, passing.sums());
  if (sums != nullptr && unit != TimelineUnit::kHour) {
    for (const auto& [day, counts] : sums->days) {
      for (const EntryType type : kEntryTypes) {
        add(day, type, counts[static_cast<std::size_t>(type)]);
      }
    }
  } else {
    BMAD_TRY(session.load());
    BMAD_TRY(passing.load_filters());
    const SlotView slots = session.slots();
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      if (passing.passes(slot)) {
        add(passing.time(slot), flag_type(slots.flags[slot]), 1);
      }
    }
  }
  for (const auto& [begin, bucket] : here) {
    TimelineBucket& all = buckets[begin];
    all.begin = begin;
    ++all.sessions;
    for (std::size_t i = 0; i < kEntryTypeCount; ++i) {
      all.entries[i] += bucket.entries[i];
    }
  }
  return {};
}

/// Gathers the newest of sessions that come newest first.
class NewestEntries {
 public:
  NewestEntries(const EntryFilter& filter, Timestamp now, Validity& validity)
      : filter_(filter), now_(now), validity_(validity) {}

  /// Whether a session whose newest entry is of `newest` may hold one of them.
  [[nodiscard]] bool wants(Timestamp newest) const { return !is_full() || newest >= times_.top(); }
  [[nodiscard]] bool is_full() const {
    return filter_.limit != 0 && times_.size() >= filter_.limit;
  }

  Status add(std::size_t number, IndexedSession& session) {
    Passing passing(session, filter_, now_);
    BMAD_TRY(passing.load_filters());
    const auto hidden = session.hidden();
    const SlotView slots = session.slots();
    for (std::uint32_t slot = slots.size(); slot-- > 0;) {  // The newest stand behind the others.
      if (!passing.is_allowed(slot)) {
        continue;
      }
      const Timestamp time = passing.time(slot);
      if (!wants(time) || (hidden != nullptr && (*hidden)[slot] != 0)) {
        continue;
      }
      BMAD_TRY(session.load_slots(slot, slot + 1));
      if (!passing.passes(slot)) {
        continue;
      }
      BMAD_TRY_ASSIGN(const bool is_replaced,
                      is_replaced_statement(number, slots.ordinal(slot), slots.flags[slot]));
      if (!is_replaced) {
        found_.push_back({.session = number, .ordinal = slots.ordinal(slot), .timestamp = time});
        times_.push(time);
        if (filter_.limit != 0 && times_.size() > filter_.limit) {
          times_.pop();
        }
      }
    }
    return {};
  }

  /// Those that are still among them.
  std::vector<Newest> take() {
    std::erase_if(found_, [this](const Newest& each) { return !wants(each.timestamp); });
    return std::move(found_);
  }

 private:
  /// A candidate is not replaced: it waits.
  Result<bool> is_replaced_statement(std::size_t session, Ordinal ordinal, std::uint32_t flags) {
    const bool has_rivals = (flags & kFlagKeyed) != 0;
    return has_rivals && !filter_.with_outdated ? validity_.is_outdated(session, ordinal, flags)
                                                : Result<bool>(false);
  }

  const EntryFilter& filter_;
  Timestamp now_;
  Validity& validity_;
  std::vector<Newest> found_;
  /// The oldest of the newest is on top.
  std::priority_queue<Timestamp, std::vector<Timestamp>, std::greater<>> times_;
};

}  // namespace

Result<std::vector<Newest>> find_newest(std::span<IndexedSession* const> sessions,
                                        const EntryFilter& filter, Timestamp now,
                                        const RootOrigins* origins) {
  std::vector<std::size_t> order(sessions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(sessions[i]->is_evicted(), -sessions[i]->newest().time_since_epoch().count());
  });
  const SearchSettings settings{.now = now, .roots = {{.origins = origins}}};
  Validity validity(sessions, settings);
  NewestEntries kept(filter, now, validity);
  NewestEntries evicted(filter, now, validity);
  for (const std::size_t i : order) {
    IndexedSession& session = *sessions[i];
    NewestEntries& entries = session.is_evicted() ? evicted : kept;
    if (session.is_evicted() ? kept.is_full() || !evicted.wants(session.newest())
                             : !kept.wants(session.newest())) {
      continue;
    }
    BMAD_TRY(in_session(session, entries.add(i, session)));
  }
  std::vector<Newest> found = kept.take();
  const std::vector<Newest> behind = evicted.take();
  found.insert(found.end(), behind.begin(), behind.end());
  return found;
}

Result<std::vector<TopicCount>> count_topics(std::span<IndexedSession* const> sessions,
                                             const EntryFilter& filter, Timestamp now) {
  std::map<std::string, TopicCount> topics;
  for (const SearchedPart& part : parts_of(sessions)) {
    BMAD_TRY(add_topics(part, sessions, filter, now, topics));
  }
  std::erase_if(topics, [](const auto& each) { return each.second.entries == 0; });
  std::vector<TopicCount> counts;
  std::ranges::move(topics | std::views::values, std::back_inserter(counts));
  std::ranges::stable_sort(counts, std::ranges::greater(), &TopicCount::entries);
  if (filter.limit != 0 && counts.size() > filter.limit) {
    counts.resize(filter.limit);
  }
  return counts;
}

Result<std::vector<TimelineBucket>> count_by_time(std::span<IndexedSession* const> sessions,
                                                  const EntryFilter& filter, Timestamp now,
                                                  TimelineUnit unit) {
  std::map<Timestamp, TimelineBucket> buckets;
  for (IndexedSession* session : sessions) {
    BMAD_TRY(in_session(*session, add_times(*session, filter, now, unit, buckets)));
  }
  std::vector<TimelineBucket> timeline;
  std::ranges::copy(buckets | std::views::values, std::back_inserter(timeline));
  if (filter.limit != 0 && timeline.size() > filter.limit) {
    timeline.erase(timeline.begin(), timeline.end() - static_cast<std::ptrdiff_t>(filter.limit));
  }
  return timeline;
}

Timestamp begin_of(TimelineUnit unit, Timestamp time) {
  using namespace std::chrono;
  const sys_days day = floor<days>(time);
  switch (unit) {
    case TimelineUnit::kHour:
      return floor<hours>(time);
    case TimelineUnit::kDay:
      return day;
    case TimelineUnit::kWeek:
      return day - (weekday(day) - Monday);
    case TimelineUnit::kMonth: {
      const year_month_day date(day);
      return sys_days(date.year() / date.month() / 1);
    }
  }
  return day;
}

}  // namespace bmad_mem
