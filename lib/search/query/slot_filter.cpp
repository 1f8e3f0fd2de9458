// slot_filter.cpp - marks the slots that pass the filters which are posting lists.
#include "slot_filter.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>

#include "bmad_mem/text.hpp"
#include "search/field_filter.hpp"

namespace bmad_mem {

Status SlotFilter::any_of(PostingKind kind, std::string_view prefix,
                          std::span<const std::string> keys, bool excluded) {
  if (keys.empty()) {
    return {};
  }
  AllowedSlots marked(session_.slots().size());
  for (const std::string& key : keys) {
    BMAD_TRY(mark(kind, std::string(prefix) + key, marked));
  }
  narrow(marked, excluded);
  return {};
}

Status SlotFilter::having(const EntryFilter& filter) {
  BMAD_TRY(any_of(PostingKind::kTerm, kAgentPrefix, filter.agents));
  BMAD_TRY(any_of(PostingKind::kTerm, kTagPrefix, filter.tags));
  std::map<std::string_view, std::vector<std::string>> wanted;
  for (const FieldFilter& each : filter.fields) {
    std::string key = field_key(each.field, each.value);
    if (each.excluded) {
      BMAD_TRY(any_of(PostingKind::kTerm, kFieldPrefix, {&key, 1}, true));
    } else {
      wanted[each.field].push_back(std::move(key));
    }
  }
  for (const auto& [name, keys] : wanted) {
    BMAD_TRY(any_of(PostingKind::kTerm, kFieldPrefix, keys));
  }
  return filter.workspace ? of_workspace(*filter.workspace) : Status();
}

Status SlotFilter::of_workspace(const WorkspaceFilter& workspace) {
  AllowedSlots marked(session_.slots().size());
  for (const std::string& folder : {workspace.path, workspace.name}) {
    BMAD_TRY(mark(PostingKind::kTerm, std::string(kWorkspacePrefix) + folder, marked));
  }
  if (workspace.any_path) {
    BMAD_TRY(mark(PostingKind::kTerm, std::string(kWorkspaceNamePrefix) + workspace.name, marked));
  }
  if (is_among(workspace.sessions, session_.session_id())) {
    AllowedSlots placed(marked.size());
    BMAD_TRY(mark(PostingKind::kTerm, std::string(kMarkPrefix) + std::string(kPlacedMark), placed));
    for (std::size_t i = 0; i < marked.size(); ++i) {
      marked[i] |= static_cast<std::uint8_t>(placed[i] == 0 ? 1 : 0);
    }
  }
  narrow(marked, false);
  return {};
}

Status SlotFilter::holding(const std::vector<std::vector<std::string>>& terms, bool excluded) {
  BMAD_TRY_ASSIGN(const AllowedSlots all, with_all(terms));
  narrow(all, excluded);
  return {};
}

Status SlotFilter::near(const std::vector<std::vector<std::string>>& terms) {
  BMAD_TRY_ASSIGN(const AllowedSlots all, with_all(terms));
  const SlotColumn<WindowReach> reach = session_.slots().reach;
  AllowedSlots around(all.size());
  for (std::uint32_t slot = 0; slot < all.size(); ++slot) {
    if (all[slot] != 0) {
      assert(reach[slot].before <= slot && reach[slot].after < all.size() - slot);
      std::fill_n(around.begin() + (slot - reach[slot].before),
                  reach[slot].before + 1 + reach[slot].after, std::uint8_t{1});
    }
  }
  narrow(around, false);
  return {};
}

Result<AllowedSlots> SlotFilter::with_all(const std::vector<std::vector<std::string>>& terms) {
  AllowedSlots all(session_.slots().size(), 1);
  for (const std::vector<std::string>& alternatives : terms) {
    AllowedSlots one(session_.slots().size());
    for (const std::string& term : alternatives) {
      BMAD_TRY(mark(PostingKind::kTerm, term, one));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] &= one[i];
    }
  }
  return all;
}

Status SlotFilter::mark(PostingKind kind, std::string_view key, AllowedSlots& marked) {
  BMAD_TRY_ASSIGN(const IndexedSession::Postings postings, session_.live_postings(kind, key));
  for (const SlotPosting& posting : postings->postings) {
    assert(posting.slot < marked.size());
    marked[posting.slot] = 1;
  }
  return {};
}

void SlotFilter::narrow(const AllowedSlots& marked, bool excluded) {
  if (allowed_.empty()) {
    allowed_.assign(session_.slots().size(), 1);
  }
  assert(marked.size() == allowed_.size() && "a mark for each slot");
  for (std::size_t i = 0; i < allowed_.size(); ++i) {
    allowed_[i] &= static_cast<std::uint8_t>((marked[i] != 0) != excluded ? 1 : 0);
  }
}

Result<AllowedSlots> allowed_slots(IndexedSession& session, const Plan& plan) {
  SlotFilter filter(session);
  BMAD_TRY(filter.having(plan.query.filter));
  BMAD_TRY(filter.any_of(PostingKind::kTopic, {}, plan.query.topics));
  for (const QueryFilter& exclusion : plan.filters) {
    const std::span<const std::string> key(&exclusion.value, 1);
    if (exclusion.field == FilterField::kAgent) {
      BMAD_TRY(filter.any_of(PostingKind::kTerm, kAgentPrefix, key, true));
    } else if (exclusion.field == FilterField::kTag) {
      BMAD_TRY(filter.any_of(PostingKind::kTerm, kTagPrefix, key, true));
    } else if (exclusion.field == FilterField::kTopic) {
      BMAD_TRY(filter.any_of(PostingKind::kTopic, {}, key, true));
    }
  }
  for (const Requirement& requirement : plan.requirements) {
    // An excluded phrase is more than its words: only the text tells.
    if (!requirement.excluded || requirement.phrase.empty()) {
      BMAD_TRY(filter.holding(requirement.terms, requirement.excluded));
    }
  }
  for (const Requirement& phrase : plan.phrases) {
    BMAD_TRY(filter.near(phrase.terms));
  }
  return filter.take();
}

std::vector<std::uint32_t> slots_in_all(std::vector<AnyOf> lists) {
  const auto size_of = [](const AnyOf& list) {
    return std::accumulate(list.begin(), list.end(), std::size_t{0},
                           [](std::size_t sum, const auto& each) { return sum + each.size(); });
  };
  std::ranges::sort(lists, {}, size_of);
  std::vector<std::uint32_t> slots;
  if (lists.empty()) {
    return slots;
  }
  for (const std::span<const SlotPosting> each : lists.front()) {
    for (const SlotPosting& posting : each) {
      slots.push_back(posting.slot);
    }
  }
  if (lists.front().size() > 1) {
    std::ranges::sort(slots);
    slots.erase(std::ranges::unique(slots).begin(), slots.end());
  }
  for (AnyOf& list : std::span(lists).subspan(1)) {
    std::erase_if(slots, [&](std::uint32_t slot) {
      return std::ranges::none_of(list, [slot](std::span<const SlotPosting>& rest) {
        // By leaps that double: what is wanted next is near where lists are as long, and far else.
        std::size_t leap = 1;
        while (leap < rest.size() && rest[leap].slot < slot) {
          leap *= 2;
        }
        const auto end =
            rest.begin() + static_cast<std::ptrdiff_t>(std::min(leap + 1, rest.size()));
        const auto found = std::lower_bound(
            rest.begin(), end, slot,
            [](const SlotPosting& posting, std::uint32_t wanted) { return posting.slot < wanted; });
        rest = rest.subspan(static_cast<std::size_t>(found - rest.begin()));
        return !rest.empty() && rest.front().slot == slot;
      });
    });
  }
  assert(std::ranges::is_sorted(slots));
  return slots;
}

bool passes_plain_filters(const EntryFilter& filter, std::uint32_t flags, Timestamp time) {
  const EntryType type = flag_type(flags);
  return (filter.types.empty() || std::ranges::find(filter.types, type) != filter.types.end()) &&
         (!filter.since || time >= *filter.since) && (!filter.until || time <= *filter.until) &&
         (!filter.pinned_only || (flags & kFlagPinned) != 0) &&
         (!filter.without_sensitive || (flags & kFlagSensitive) == 0);
}

}  // namespace bmad_mem
