// overview.cpp - counts entries by topic and by time, and finds the newest.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <ranges>
#include <string>

#include "search/search.hpp"
#include "slot_filter.hpp"
#include "validity.hpp"

namespace bmad_mem {
namespace {

/// What a filter leaves of a session.
class Passing {
 public:
  Passing(IndexedSession& session, const EntryFilter& filter, Timestamp now)
      : session_(session), filter_(filter), now_(now) {}

  /// Makes ready to ask of all slots.
  Status load() {
    BMAD_TRY(session_.load());
    return load_filters();
  }

  /// The same of those alone that somebody loads.
  Status load_filters() {
    BMAD_TRY(session_.load_slots(0, 0));
    BMAD_TRY(session_.load_times());
    slots_ = session_.slots();
    SlotFilter filter(session_);
    BMAD_TRY(filter.having(filter_));
    allowed_ = filter.take();
    return {};
  }

  [[nodiscard]] Timestamp time(std::uint32_t slot) const {
    return session_.timestamp(slots_.ordinal(slot));
  }

  [[nodiscard]] bool passes(std::uint32_t slot) const {
    assert(slot < slots_.size() && "load() comes first");
    return (allowed_.empty() || allowed_[slot] != 0) &&
           passes_plain_filters(filter_, slots_.flags[slot], time(slot)) &&
           !is_hidden_at(session_, slots_.flags[slot], slots_.ordinal(slot), now_);
  }

 private:
  IndexedSession& session_;
  const EntryFilter& filter_;
  Timestamp now_;
  SlotView slots_;
  AllowedSlots allowed_;
};

Status add_topics(const SearchedPart& part, std::span<IndexedSession* const> sessions,
                  const EntryFilter& filter, Timestamp now,
                  std::map<std::string, TopicCount>& topics) {
  std::map<std::uint32_t, Passing> passing;  // By the number of the session.
  std::vector<std::string> names;
  BMAD_TRY(part.part->part_keys(
      PostingKind::kTopic, {}, [](std::string_view) { return true; },
      [&](std::string_view name, std::uint64_t) {
        names.emplace_back(name);
        return true;
      }));
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const PartPostings found, part.part->part_postings(PostingKind::kTopic, name));
    for (const SessionPostings& each : found.sessions) {
      IndexedSession& session = *sessions[part.first + each.session];
      const auto [place, is_new] = passing.try_emplace(each.session, session, filter, now);
      BMAD_TRY(is_new ? in_session(session, place->second.load()) : Status());
      TopicCount here{.topic = name, .sessions = 1};
      for (const SlotPosting& posting : each.postings) {
        if (place->second.passes(posting.slot)) {
          ++here.entries;
          here.newest = std::max(here.newest, place->second.time(posting.slot));
        }
      }
      if (here.entries > 0) {
        TopicCount& all = topics[name];
        all.topic = name;
        all.entries += here.entries;
        all.sessions += 1;
        all.newest = std::max(all.newest, here.newest);
      }
    }
  }
  return {};
}

Status add_times(IndexedSession& session, const EntryFilter& filter, Timestamp now,
                 TimelineUnit unit, std::map<Timestamp, TimelineBucket>& buckets) {
  Passing passing(session, filter, now);
  BMAD_TRY(passing.load());
  std::map<Timestamp, TimelineBucket> here;
  const SlotView slots = session.slots();
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (passing.passes(slot)) {
      TimelineBucket& bucket = here[begin_of(unit, passing.time(slot))];
      ++bucket.entries[static_cast<std::size_t>(flag_type(slots.flags[slot]))];
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

/// Whether nothing but its time keeps an entry out, or that it is sensitive.
bool passes_by_time(const EntryFilter& filter) {
  return filter.types.empty() && filter.agents.empty() && filter.tags.empty() &&
         filter.fields.empty() && !filter.workspace && !filter.pinned_only;
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
    // Where all pass, the flags of a few are enough.
    BMAD_TRY(passes_by_time(filter_) ? passing.load_filters() : passing.load());
    const auto hidden = session.hidden();
    const SlotView slots = session.slots();
    for (std::uint32_t slot = slots.size(); slot-- > 0;) {  // The newest stand behind the others.
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
