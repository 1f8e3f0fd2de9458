#include "query/overview.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "slot_filter.hpp"

namespace bmad_mem {
namespace {

/// What a filter leaves of a session.
class Passing {
 public:
  explicit Passing(SessionIndex& session, const EntryFilter& filter)
      : session_(session), filter_(filter) {}

  Status load() {
    BMAD_TRY(session_.load());
    SlotFilter filter(session_);
    BMAD_TRY(filter.any_of(PostingKind::kTerm, kAgentPrefix, filter_.agents));
    BMAD_TRY(filter.any_of(PostingKind::kTerm, kTagPrefix, filter_.tags));
    BMAD_TRY(filter.having(filter_.fields));
    allowed_ = filter.take();
    return {};
  }

  [[nodiscard]] Timestamp time(Ordinal ordinal) const { return session_.timestamp(ordinal); }

  [[nodiscard]] bool passes(Ordinal ordinal) const {
    const std::uint32_t slot = session_.slots().slot(ordinal);
    return slot != SlotTable::kNoSlot && (allowed_.empty() || allowed_[slot] != 0) &&
           passes_plain_filters(filter_, session_.slots().flags[slot], time(ordinal));
  }

 private:
  SessionIndex& session_;
  const EntryFilter& filter_;
  AllowedSlots allowed_;
};

Status add_topics(SessionIndex& session, const EntryFilter& filter,
                  std::map<std::string, TopicCount>& topics) {
  Passing passing(session, filter);
  BMAD_TRY(passing.load());
  // Each once: a name that JSON escapes may come from the checkpoint and again from the table.
  std::set<std::string> names;
  BMAD_TRY(session.keys(PostingKind::kTopic, {}, [&](std::string_view name, std::uint64_t) {
    names.emplace(name);
    return true;
  }));
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::vector<Posting> postings,
                    session.postings(PostingKind::kTopic, name));
    TopicCount here{.topic = name, .sessions = 1};
    for (const Posting& posting : postings) {
      if (passing.passes(posting.ordinal)) {
        ++here.entries;
        here.newest = std::max(here.newest, passing.time(posting.ordinal));
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
  return {};
}

Status add_times(SessionIndex& session, const EntryFilter& filter, TimelineUnit unit,
                 std::map<Timestamp, TimelineBucket>& buckets) {
  Passing passing(session, filter);
  BMAD_TRY(passing.load());
  std::map<Timestamp, TimelineBucket> here;
  const SlotTable& slots = session.slots();
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    const Ordinal ordinal = slots.ordinal(slot);
    if (passing.passes(ordinal)) {
      TimelineBucket& bucket = here[begin_of(unit, passing.time(ordinal))];
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

}  // namespace

Result<std::vector<TopicCount>> count_topics(std::span<SessionIndex* const> sessions,
                                             const EntryFilter& filter) {
  std::map<std::string, TopicCount> topics;
  for (SessionIndex* session : sessions) {
    BMAD_TRY(in_session(*session, add_topics(*session, filter, topics)));
  }
  std::vector<TopicCount> counts;
  for (auto& [name, count] : topics) {
    counts.push_back(std::move(count));
  }
  std::ranges::stable_sort(counts, std::ranges::greater(), &TopicCount::entries);
  if (filter.limit != 0 && counts.size() > filter.limit) {
    counts.resize(filter.limit);
  }
  return counts;
}

Result<std::vector<TimelineBucket>> count_by_time(std::span<SessionIndex* const> sessions,
                                                  const EntryFilter& filter, TimelineUnit unit) {
  std::map<Timestamp, TimelineBucket> buckets;
  for (SessionIndex* session : sessions) {
    BMAD_TRY(in_session(*session, add_times(*session, filter, unit, buckets)));
  }
  std::vector<TimelineBucket> timeline;
  for (const auto& [begin, bucket] : buckets) {
    timeline.push_back(bucket);
  }
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
