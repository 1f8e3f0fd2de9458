// group_bounds_test.cpp - no entry counts more than its group may, and a group is scored as its
// session is.
#include "search/query/group_bounds.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "search/impact.hpp"
#include "search/query/slot_filter.hpp"

namespace bmad_mem::test::group_bounds_test {
namespace {

/// Numbers of 32 bits by chance.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

/// Slots by chance: conversations of some lengths, entries that stand alone, and long ones.
class MadeSession final : public IndexedSession {
 public:
  MadeSession(Random& random, std::uint32_t count) {
    while (lengths_.size() < count) {
      const bool is_lone = random() % 3 == 0;
      const auto begin = static_cast<std::uint32_t>(lengths_.size());
      const std::uint32_t size = is_lone ? 1 : std::min(count - begin, 1 + random() % 12);
      for (std::uint32_t i = 0; i < size; ++i) {
        lengths_.push_back(random() % 20 == 0 ? random() % 2000 : 1 + random() % 60);
        flags_.push_back(
            static_cast<std::uint32_t>(is_lone ? EntryType::kFact : EntryType::kConversation) |
            (!is_lone && random() % 4 == 0 ? kFlagAsks : 0U) |
            (random() % 9 == 0 ? kFlagPinned : 0U) | (random() % 9 == 0 ? kFlagSevere : 0U));
        reach_.push_back(
            {.before = static_cast<std::uint8_t>(std::min(i, kWindowReach)),
             .after = static_cast<std::uint8_t>(std::min(size - 1 - i, kWindowReach))});
      }
    }
    for (std::uint32_t slot = 0; slot < lengths_.size(); ++slot) {
      std::uint32_t length = 0;
      for (std::uint32_t at = slot - reach_[slot].before; at <= slot + reach_[slot].after; ++at) {
        length += lengths_[at];
      }
      windows_.push_back(length);
      length_sum_ += lengths_[slot];
      window_sum_ += length;
    }
  }

  [[nodiscard]] const std::string& session_id() const override { return id_; }
  [[nodiscard]] bool is_archived() const override { return false; }
  [[nodiscard]] std::uint32_t evicted_part() const override { return 0; }
  [[nodiscard]] IndexPart& part() override { std::abort(); }
  [[nodiscard]] Timestamp newest() const override { return {}; }
  [[nodiscard]] SessionFacts facts() const override { return {}; }
  [[nodiscard]] Result<SlotTotals> totals() override {
    return SlotTotals{
        .entries = lengths_.size(), .lengths = length_sum_, .window_lengths = window_sum_};
  }
  Status load() override { return {}; }
  [[nodiscard]] SlotView slots() const override {
    return {.lengths = lengths_.data(),
            .window_lengths = windows_.data(),
            .flags = flags_.data(),
            .reach = reach_.data(),
            .count = static_cast<std::uint32_t>(lengths_.size()),
            .length_sum = length_sum_,
            .window_length_sum = window_sum_};
  }
  [[nodiscard]] Timestamp timestamp(Ordinal /*ordinal*/) const override { return {}; }
  [[nodiscard]] const OddEntry* odd(Ordinal /*ordinal*/) const override { return nullptr; }
  [[nodiscard]] Result<IndexRow> row(Ordinal ordinal) const override {
    return IndexRow{.row = {}, .id_hash = ordinal, .id = {}};
  }
  [[nodiscard]] Result<std::vector<IndexRow>> rows() const override {
    return std::vector<IndexRow>();
  }
  Result<Postings> live_postings(PostingKind /*kind*/, std::string_view /*key*/) override {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT};
  }
  Status for_statements(const UseStatement& /*use*/) override { return {}; }
  Result<LoadedLine> line(Ordinal /*ordinal*/) const override {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT};
  }

 private:
  std::string id_ = "made";
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> windows_;
  std::vector<std::uint32_t> flags_;
  std::vector<WindowReach> reach_;
  std::uint64_t length_sum_ = 0;
  std::uint64_t window_sum_ = 0;
};

std::vector<SlotPosting> some_postings(Random& random, std::uint32_t count) {
  std::vector<SlotPosting> postings;
  const std::uint32_t rarity = 1 + random() % 40;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    if (random() % rarity == 0) {
      postings.push_back({.slot = slot, .frequency = 1 + (random() % 5 == 0 ? random() % 30 : 0)});
    }
  }
  return postings;
}

struct Case {
  explicit Case(std::uint32_t seed) : random(seed), session(random, 1 + random() % 300) {
    const SlotView slots = session.slots();
    const std::size_t term_count = 1 + random() % 6;
    postings.reserve(term_count);
    impacts.reserve(term_count);
    std::vector<std::uint32_t> mentions;
    for (std::size_t i = 0; i < term_count; ++i) {
      postings.push_back(some_postings(random, slots.size()));
      impacts.emplace_back();
      add_impacts(postings.back(), slots, mentions, impacts.back());
      SessionPostings its{.postings = postings.back(), .impacts = impacts.back().data()};
      for (const SlotPosting& posting : its.postings) {
        its.frequency_sum += posting.frequency;
      }
      its.window_count = count_windows(its.postings, slots.reach);
      terms.terms.push_back(its);
      query.terms.push_back({.term = fmt::format("t{}", i), .weight = random() % 2 == 0 ? 1 : 0.3});
    }
    // Other sessions have other lengths: the means of all are what counts.
    const std::vector<SlotTotals> sizes = {session.totals().value(),
                                           {.entries = 1 + random() % 1000,
                                            .lengths = random() % 50000,
                                            .window_lengths = random() % 250000}};
    totals = sum_up(sizes, {terms, {}}, query, options);
  }

  Random random;
  MadeSession session;
  std::vector<std::vector<SlotPosting>> postings;
  std::vector<std::vector<Impact>> impacts;
  SessionTerms terms;
  RankQuery query;
  RankOptions options;
  RankTotals totals;
};

TEST_CASE("no entry has a text score above what its group may have") {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Case made(seed);
    const SlotView slots = made.session.slots();
    SessionScores all;
    all.compute(made.session, made.terms, made.totals, made.query, made.options);
    GroupBounds::Scratch scratch;
    std::vector<BoundedGroup> groups;
    const GroupBounds bounds(made.totals, made.options);
    const SearchSettings settings;
    const Relevance relevance(RelevanceCombine::kFactors, {}, settings, true);
    const RelevanceBound bound(relevance, {});
    bounds.add_groups(made.terms, slots.length_sum, slots.size(), bound, scratch, groups);
    std::set<std::uint32_t> covered;
    for (const BoundedGroup& bounded : groups) {
      const SlotGroup group{.index = bounded.index(), .weight = bounded.weight()};
      const SlotRange range = group.slots(slots.size());
      for (std::uint32_t slot = range.begin; slot < range.end; ++slot) {
        covered.insert(slot);
        if (all.matches(slot)) {
          const double text = all.text(slot, {});
          const double most = bound.most(text, slots.flags[slot]);
          REQUIRE(most <= static_cast<double>(bounded.most()));
          REQUIRE(most <= bound.most_of_weight(text, group.weight));
          const std::uint8_t above =
              bounds.slots_above(group, made.terms, slots.length_sum, bound, most);
          REQUIRE((above >> (slot - range.begin) & 1U) == 1U);
        }
      }
    }
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      REQUIRE((covered.contains(slot) || !all.matches(slot)));
    }
  }
}

TEST_CASE("the scores of a group are those of its session, bit by bit") {
  SessionScores some;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Case made(seed);
    const std::uint32_t count = made.session.slots().size();
    SessionScores all;
    all.compute(made.session, made.terms, made.totals, made.query, made.options);
    for (std::uint32_t index = 0; index * SlotGroup::kSize < count; ++index) {
      const SlotRange range = SlotGroup{.index = index}.slots(count);
      some.compute(made.session.slots(), made.terms, made.totals, made.query, made.options, range);
      for (std::uint32_t slot = range.begin; slot < range.end; ++slot) {
        REQUIRE(some.matches(slot) == all.matches(slot));
        REQUIRE(some.text(slot, {}) == all.text(slot, {}));
      }
    }
  }
}

TEST_CASE("slots in all lists are those that one by one would find") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<SlotPosting>> made;
    for (int i = 0; i < 6; ++i) {
      made.push_back(some_postings(random, 200));
    }
    const std::vector<AnyOf> lists = {{made[0], made[1]}, {made[2]}, {made[3], made[4], made[5]}};
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t slot = 0; slot < 200; ++slot) {
      if (std::ranges::all_of(lists, [&](const AnyOf& list) {
            return std::ranges::any_of(list, [&](std::span<const SlotPosting> each) {
              return std::ranges::find(each, slot, &SlotPosting::slot) != each.end();
            });
          })) {
        wanted.push_back(slot);
      }
    }
    REQUIRE(slots_in_all(lists) == wanted);
  }
}

}  // namespace
}  // namespace bmad_mem::test::group_bounds_test
