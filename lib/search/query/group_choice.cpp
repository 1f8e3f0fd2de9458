// group_choice.cpp - which groups of entries of segments may hold one of the best.
//
//   filters, AND, types --> slots that pass --> groups with one of them, and their bounds
//
// Where an entry must hold terms, or is of a rare type, their lists are intersected, the shortest
// first, and groups without such an entry are left out before anything is scored.
#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "group_bounds.hpp"
#include "slot_filter.hpp"

namespace bmad_mem {

bool has_impacts(const IndexedSession& session, const SessionTerms& terms) {
  return !terms.terms.empty() && session.hidden() == nullptr &&
         std::ranges::all_of(terms.terms, [](const SessionPostings& each) {
           return each.postings.empty() || each.impacts != nullptr;
         });
}

namespace {

constexpr std::uint8_t bit_of(std::uint32_t slot) {
  return static_cast<std::uint8_t>(1U << slot % SlotGroup::kSize);
}

/// The groups of these slots, without bounds.
void add_few(std::span<const std::uint32_t> slots, GroupList& out) {
  std::optional<std::uint32_t> last;
  for (const std::uint32_t slot : slots) {
    if (last != slot / SlotGroup::kSize) {
      last = slot / SlotGroup::kSize;
      out.groups.emplace_back(std::numeric_limits<float>::infinity(), *last, kWeightCount - 1);
      out.wanted.push_back(0);
    }
    out.wanted.back() |= bit_of(slot);
  }
}

/// Leaves out the groups from `begin` on of which no slot is wanted. `wanted`: by number of group.
void keep_wanted(std::span<const std::uint8_t> wanted, std::size_t begin, GroupList& out) {
  std::size_t kept = begin;
  for (std::size_t i = begin; i < out.groups.size(); ++i) {
    assert(out.groups[i].index() < wanted.size());
    if (const std::uint8_t slots = wanted[out.groups[i].index()]; slots != 0) {
      out.wanted.push_back(slots);
      out.groups[kept++] = out.groups[i];
    }
  }
  out.groups.erase(out.groups.begin() + static_cast<std::ptrdiff_t>(kept), out.groups.end());
  assert(out.wanted.size() == out.groups.size());
}

/// Used once.
class GroupChoice {
 public:
  GroupChoice(const SearchScope& scope, const Relevance& relevance)
      : scope_(scope), relevance_(relevance) {}

  Result<GroupQueue> run(const GroupBounds& bounds) {
    BMAD_TRY(collect_types());
    required_ = required_terms();
    std::vector<std::size_t> numbers;
    std::size_t postings = 0;
    Timestamp newest{};
    for (std::size_t i = 0; i < scope_.sessions.size(); ++i) {
      if (has_impacts(*scope_.sessions[i], scope_.terms[i])) {
        numbers.push_back(i);
        postings += count_postings(i);
        newest = std::max(newest, scope_.sessions[i]->newest());
      }
    }
    constexpr std::size_t kPostingsMin = 20000;  // They take as long as a thread to start.
    const std::size_t shares = postings < kPostingsMin ? 1 : 2 * kParallelMin;
    const RelevanceBound newest_bound(relevance_, newest);
    std::vector<GroupList> found(shares);
    std::vector<Status> done(shares);
    for_each_parallel(shares, [&](std::size_t share) {
      const std::size_t begin = numbers.size() * share / shares;
      const std::size_t end = numbers.size() * (share + 1) / shares;
      done[share] =
          fill(std::span(numbers).subspan(begin, end - begin), bounds, newest_bound, found[share]);
    });
    for (Status& each : done) {
      BMAD_TRY(std::move(each));
    }
    return GroupQueue(std::move(found));
  }

 private:
  /// Numbers of terms, of each list one.
  using TermLists = std::vector<std::vector<std::size_t>>;

  /// Where only rare types are asked for: which entries are of these.
  Status collect_types() {
    const std::vector<EntryType>& types = scope_.plan.query.filter.types;
    if (types.empty() || std::ranges::find(types, EntryType::kConversation) != types.end()) {
      return {};
    }
    is_of_types_.resize(scope_.sessions.size());
    for (const SearchedPart& part : parts_of(scope_.sessions)) {
      for (const EntryType type : types) {
        const std::string key = fmt::format("{}{}", kMarkPrefix, entry_type_name(type));
        BMAD_TRY_ASSIGN(PartPostings found, part.part->part_postings(PostingKind::kTerm, key));
        for (const SessionPostings& each : found.sessions) {
          is_of_types_[part.first + each.session].push_back(each.postings);
        }
        owners_.push_back(std::move(found.owner));
      }
    }
    return {};
  }

  /// The terms that an entry must hold, where nothing else is asked of it that posting lists tell.
  std::optional<TermLists> required_terms() const {
    const EntryFilter& filter = scope_.plan.query.filter;
    if (!filter.agents.empty() || !filter.tags.empty() || !filter.fields.empty() ||
        filter.workspace || !scope_.plan.query.topics.empty() || !scope_.plan.filters.empty()) {
      return std::nullopt;
    }
    const std::vector<RankTerm>& terms = scope_.plan.rank.terms;
    TermLists lists;
    for (const Requirement& requirement : scope_.plan.requirements) {
      for (const std::vector<std::string>& alternatives : requirement.terms) {
        std::vector<std::size_t>& list = lists.emplace_back();
        for (const std::string& term : alternatives) {
          const auto known = std::ranges::find(terms, term, &RankTerm::term);
          if (requirement.excluded || known == terms.end()) {
            return std::nullopt;
          }
          list.push_back(static_cast<std::size_t>(known - terms.begin()));
        }
      }
    }
    return lists;
  }

  /// The lists that an entry of a session must be in.
  std::vector<AnyOf> lists_of(std::size_t index) const {
    std::vector<AnyOf> lists;
    if (required_) {
      for (const std::vector<std::size_t>& each : *required_) {
        AnyOf& list = lists.emplace_back();
        for (const std::size_t term : each) {
          list.push_back(scope_.terms[index].terms[term].postings);
        }
      }
    }
    if (!is_of_types_.empty()) {
      lists.push_back(is_of_types_[index]);
    }
    return lists;
  }

  std::size_t count_postings(std::size_t index) const {
    std::size_t count = 0;
    for (const SessionPostings& each : scope_.terms[index].terms) {
      count += each.postings.size();
    }
    return count;
  }

  /// The groups of the sessions that have these numbers. `newest`: bounds the newest of all.
  Status fill(std::span<const std::size_t> numbers, const GroupBounds& bounds,
              const RelevanceBound& newest, GroupList& out) const {
    constexpr std::size_t kGroupsAPosting = 3;  // Windows reach into those beside it.
    std::size_t most = 0;
    for (const std::size_t index : numbers) {
      const std::size_t groups = scope_.sessions[index]->slots().size() / SlotGroup::kSize + 1;
      most += std::min(groups, kGroupsAPosting * count_postings(index));
    }
    out.groups.reserve(most);
    GroupBounds::Scratch scratch;
    for (const std::size_t index : numbers) {
      out.sessions.push_back(
          {.number = static_cast<std::uint32_t>(index), .begin = out.groups.size()});
      BMAD_TRY(
          in_session(*scope_.sessions[index], add_session(index, bounds, newest, scratch, out)));
      if (out.sessions.back().begin == out.groups.size()) {
        out.sessions.pop_back();
      }
    }
    return {};
  }

  Status add_session(std::size_t index, const GroupBounds& bounds, const RelevanceBound& newest,
                     GroupBounds::Scratch& scratch, GroupList& out) const {
    IndexedSession& session = *scope_.sessions[index];
    const std::uint32_t count = session.slots().size();
    const std::size_t begin = out.groups.size();
    const auto add_bounded = [&] {
      // A bound of its own takes as long as some hundred groups.
      constexpr std::size_t kMany = 256;
      const auto add = [&](const RelevanceBound& bound) {
        bounds.add_groups(scope_.terms[index], scope_.sizes[index].lengths, count, bound, scratch,
                          out.groups);
      };
      if (count_postings(index) >= kMany) {
        add(RelevanceBound(relevance_, session.newest()));
      } else {
        add(newest);
      }
    };
    std::vector<AnyOf> lists = lists_of(index);
    const bool are_all_listed = lists.empty();
    if (required_ && are_all_listed) {
      add_bounded();
      return {};
    }
    std::vector<std::uint8_t> wanted((count + SlotGroup::kSize - 1) / SlotGroup::kSize,
                                     are_all_listed ? 0xFF : 0);
    if (!are_all_listed) {
      const std::vector<std::uint32_t> slots = slots_in_all(std::move(lists));
      constexpr std::size_t kFew = 16;  // To score them takes no longer than to sort them out.
      if (required_ && slots.size() <= kFew) {
        add_few(slots, out);
        return {};
      }
      for (const std::uint32_t slot : slots) {
        assert(slot < count);
        wanted[slot / SlotGroup::kSize] |= bit_of(slot);
      }
    }
    if (!required_) {
      BMAD_TRY_ASSIGN(const AllowedSlots allowed, allowed_slots(session, scope_.plan));
      assert(allowed.empty() || allowed.size() == count);
      for (std::uint32_t slot = 0; slot < allowed.size(); ++slot) {
        if (allowed[slot] == 0) {
          wanted[slot / SlotGroup::kSize] &= static_cast<std::uint8_t>(~bit_of(slot));
        }
      }
    }
    add_bounded();
    keep_wanted(wanted, begin, out);
    return {};
  }

  const SearchScope& scope_;
  const Relevance& relevance_;
  std::optional<TermLists> required_;                // Nothing where other filters decide, too.
  std::vector<AnyOf> is_of_types_;                   // By session; empty where types don't matter.
  std::vector<std::shared_ptr<const void>> owners_;  // Of what these show.
};

}  // namespace

Result<GroupQueue> choose_groups(const SearchScope& scope, const Relevance& relevance,
                                 const GroupBounds& bounds) {
  return GroupChoice(scope, relevance).run(bounds);
}

std::optional<SlotGroup> GroupQueue::next(double least) {
  if (ready_.empty()) {
    fill(static_cast<float>(std::max(least, 0.0)));
  }
  if (ready_.empty() || static_cast<double>(ready_.back().most) < least) {
    return std::nullopt;
  }
  const SlotGroup group = group_at(ready_.back());
  ready_.pop_back();
  return group;
}

/// The next batch: of those that were not given out yet and reach `least`.
void GroupQueue::fill(float least) {
  if (ceiling_ && *ceiling_ <= least) {
    return;
  }
  float from = cutoff(least);
  take_from(from);
  if (ready_.empty() && from > least) {  // The cutoff was rounded up.
    from = least;
    take_from(from);
  }
  std::ranges::sort(ready_, {}, &Ready::most);
  ceiling_ = from;
  // What the first batch has found leaves few behind it, mostly.
  batch_ = std::max(2 * batch_, std::size_t{4096});
}

void GroupQueue::take_from(float from) {
  for (std::uint32_t list = 0; list < lists_.size(); ++list) {
    const std::vector<BoundedGroup>& groups = lists_[list].groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].most() >= from && is_left(groups[i])) {
        ready_.push_back({.most = groups[i].most(), .list = list, .place = i});
      }
    }
  }
}

/// Some number of groups reach it, and one of the next batch is not below it.
float GroupQueue::cutoff(float least) const {
  std::size_t count = 0;
  float highest = least;
  const auto for_each_left = [&](const auto& use) {
    for (const GroupList& list : lists_) {
      for (const BoundedGroup& group : list.groups) {
        if (group.most() >= least && is_left(group)) {
          use(group.most());
        }
      }
    }
  };
  for_each_left([&](float most) {
    ++count;
    // What nothing is known of is in the first batch.
    highest = most < std::numeric_limits<float>::infinity() ? std::max(highest, most) : highest;
  });
  constexpr std::size_t kBins = 512;
  const float width = (highest - least) / kBins;
  if (count <= batch_ || width <= 0) {
    return least;
  }
  std::array<std::size_t, kBins> bins{};
  for_each_left([&](float most) {
    const float bin = (std::min(most, highest) - least) / width;
    ++bins[std::min(static_cast<std::size_t>(bin), kBins - 1)];
  });
  std::size_t bin = kBins;
  for (std::size_t above = 0; bin > 0 && above < batch_;) {
    above += bins[--bin];
  }
  return least + static_cast<float>(bin) * width;
}

SlotGroup GroupQueue::group_at(const Ready& ready) const {
  const GroupList& list = lists_[ready.list];
  assert(ready.place < list.groups.size());
  const BoundedGroup& group = list.groups[ready.place];
  const auto behind =
      std::ranges::upper_bound(list.sessions, ready.place, {}, &GroupList::Session::begin);
  assert(behind != list.sessions.begin() && "the first one begins with the first group");
  return {.session = std::prev(behind)->number,
          .index = group.index(),
          .wanted = list.wanted.empty() ? std::uint8_t{0xFF} : list.wanted[ready.place],
          .weight = group.weight()};
}

}  // namespace bmad_mem
