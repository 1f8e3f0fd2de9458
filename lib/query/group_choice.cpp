#include "group_choice.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.hpp"

namespace bmad_mem {

bool has_impacts(const IndexedSession& session, const SessionTerms& terms) {
  return !terms.terms.empty() && session.hidden() == nullptr &&
         std::ranges::all_of(terms.terms, [](const SessionPostings& each) {
           return each.postings.empty() || each.impacts != nullptr;
         });
}

Result<std::vector<SlotGroup>> GroupChoice::run(const GroupBounds& bounds,
                                                const RelevanceBound& newest) {
  BMAD_TRY(collect_types());
  required_ = required_terms();
  std::vector<std::size_t> numbers;
  std::size_t postings = 0;
  for (std::size_t i = 0; i < in_.sessions.size(); ++i) {
    if (has_impacts(*in_.sessions[i], in_.collected[i])) {
      numbers.push_back(i);
      for (const SessionPostings& each : in_.collected[i].terms) {
        postings += each.postings.size();
      }
    }
  }
  constexpr std::size_t kPostingsMin = 20000;  // They take as long as a thread to start.
  const std::size_t shares = postings < kPostingsMin ? 1 : 2 * kParallelMin;
  std::vector<std::vector<SlotGroup>> found(shares);
  std::vector<Status> done(shares);
  for_each_parallel(shares, [&](std::size_t share) {
    GroupBounds::Scratch scratch;
    const std::size_t end = numbers.size() * (share + 1) / shares;
    for (std::size_t i = numbers.size() * share / shares; i < end && done[share]; ++i) {
      done[share] = in_session(*in_.sessions[numbers[i]],
                               add_groups(numbers[i], bounds, newest, scratch, found[share]));
    }
  });
  std::vector<SlotGroup> all = std::move(found.front());
  for (std::size_t share = 0; share < shares; ++share) {
    BMAD_TRY(std::move(done[share]));
    if (share > 0) {
      all.insert(all.end(), found[share].begin(), found[share].end());
    }
  }
  return all;
}

/// Where only rare types are asked for: which entries are of these.
Status GroupChoice::collect_types() {
  const std::vector<EntryType>& types = in_.question.filter.types;
  if (types.empty() || std::ranges::find(types, EntryType::kConversation) != types.end()) {
    return {};
  }
  is_of_types_.resize(in_.sessions.size());
  for (const SearchedPart& part : parts_of(in_.sessions)) {
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
std::optional<GroupChoice::TermLists> GroupChoice::required_terms() const {
  const EntryFilter& filter = in_.question.filter;
  if (!filter.agents.empty() || !filter.tags.empty() || !filter.fields.empty() ||
      !in_.question.topics.empty() || !in_.question.exclusions.empty()) {
    return std::nullopt;
  }
  const std::vector<RankTerm>& terms = in_.plan.rank.terms;
  TermLists lists;
  for (const Requirement& requirement : in_.plan.requirements) {
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
std::vector<AnyOf> GroupChoice::lists_of(std::size_t index) const {
  std::vector<AnyOf> lists;
  if (required_) {
    for (const std::vector<std::size_t>& each : *required_) {
      AnyOf& list = lists.emplace_back();
      for (const std::size_t term : each) {
        list.push_back(in_.collected[index].terms[term].postings);
      }
    }
  }
  if (!is_of_types_.empty()) {
    lists.push_back(is_of_types_[index]);
  }
  return lists;
}

/// The groups of these slots, without bounds.
void GroupChoice::add_few(std::size_t index, std::span<const std::uint32_t> slots,
                          std::vector<SlotGroup>& out) const {
  const std::size_t begin = out.size();
  for (const std::uint32_t slot : slots) {
    if (out.size() == begin || out.back().index != slot / SlotGroup::kSize) {
      out.push_back({.most = std::numeric_limits<float>::infinity(),
                     .text = std::numeric_limits<float>::infinity(),
                     .session = static_cast<std::uint32_t>(index),
                     .index = slot / SlotGroup::kSize,
                     .wanted = 0,
                     .weight = kWeightCount - 1});
    }
    out.back().wanted |= static_cast<std::uint8_t>(1U << slot % SlotGroup::kSize);
  }
}

Status GroupChoice::add_groups(std::size_t index, const GroupBounds& bounds,
                               const RelevanceBound& newest, GroupBounds::Scratch& scratch,
                               std::vector<SlotGroup>& out) const {
  IndexedSession& session = *in_.sessions[index];
  const std::uint32_t count = session.slots().size();
  const std::size_t begin = out.size();
  const auto add_bounded = [&] {
    bounds.add_groups(static_cast<std::uint32_t>(index), in_.collected[index],
                      in_.sizes[index].lengths, count, newest, scratch, out);
  };
  std::vector<AnyOf> lists = lists_of(index);
  const bool are_all_listed = lists.empty();
  if (required_ && are_all_listed) {
    add_bounded();
    return {};
  }
  std::vector<std::uint8_t> wanted((count + SlotGroup::kSize - 1) / SlotGroup::kSize,
                                   are_all_listed ? 0xFF : 0);
  const auto bit_of = [](std::uint32_t slot) {
    return static_cast<std::uint8_t>(1U << slot % SlotGroup::kSize);
  };
  if (!are_all_listed) {
    const std::vector<std::uint32_t> slots = slots_in_all(std::move(lists));
    constexpr std::size_t kFew = 16;  // To score them takes no longer than to sort them out.
    if (required_ && slots.size() <= kFew) {
      add_few(index, slots, out);
      return {};
    }
    for (const std::uint32_t slot : slots) {
      wanted[slot / SlotGroup::kSize] |= bit_of(slot);
    }
  }
  if (!required_) {
    BMAD_TRY_ASSIGN(const AllowedSlots allowed, in_.allowed(session));
    for (std::uint32_t slot = 0; slot < allowed.size(); ++slot) {
      if (allowed[slot] == 0) {
        wanted[slot / SlotGroup::kSize] &= static_cast<std::uint8_t>(~bit_of(slot));
      }
    }
  }
  add_bounded();
  std::size_t kept = begin;
  for (std::size_t i = begin; i < out.size(); ++i) {
    out[i].wanted = wanted[out[i].index];
    if (out[i].wanted != 0) {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
  return {};
}

}  // namespace bmad_mem
