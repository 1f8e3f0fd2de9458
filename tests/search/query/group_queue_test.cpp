// group_queue_test.cpp - groups come in the order of their bounds, each once, and none is missing.
#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "search/query/group_bounds.hpp"

namespace bmad_mem::test::group_queue_test {
namespace {

struct Known {
  float most;
  std::uint32_t session;
  std::uint32_t index;
  std::uint8_t wanted;

  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> place() const { return {session, index}; }
};

/// At random from 0 to `end` - 1.
std::uint32_t below(std::mt19937& random, std::uint32_t end) {
  return static_cast<std::uint32_t>(random() % end);
}

struct Made {
  std::vector<GroupList> lists;
  std::vector<Known> all;
};

/// Some lists of some sessions; many bounds are equal, and a few are infinite.
Made make(std::mt19937& random) {
  Made made;
  std::uint32_t session = 0;
  for (std::uint32_t number = below(random, 4); number > 0; --number) {
    GroupList list;
    const bool has_wanted = below(random, 2) == 0;
    for (std::uint32_t count = below(random, 5); count > 0; --count) {
      session += 1 + below(random, 3);
      list.sessions.push_back({.number = session, .begin = list.groups.size()});
      const std::uint32_t steps = below(random, 2) == 0 ? 7 : 1'000'000;
      for (std::uint32_t index = 0, end = 1 + below(random, 700); index < end;
           index += 1 + below(random, 3)) {
        const float most = below(random, 100) == 0
                               ? std::numeric_limits<float>::infinity()
                               : static_cast<float>(below(random, steps)) / 1e5F;
        list.groups.emplace_back(most, index,
                                 static_cast<std::uint8_t>(below(random, kWeightCount)));
        const auto wanted = static_cast<std::uint8_t>(has_wanted ? 1 + below(random, 255) : 0xFF);
        if (has_wanted) {
          list.wanted.push_back(wanted);
        }
        made.all.push_back({.most = most, .session = session, .index = index, .wanted = wanted});
      }
    }
    made.lists.push_back(std::move(list));
  }
  return made;
}

TEST_CASE("a queue gives out each group that reaches what still counts, the best first") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Made made = make(random);
    std::vector<Known> left = made.all;
    std::ranges::stable_sort(left, std::ranges::greater(), &Known::most);
    GroupQueue queue(std::move(made.lists));
    const double rise = static_cast<double>(below(random, 3)) / 1e4;
    double least = below(random, 2) == 0 ? -1 : 0;
    std::vector<Known> given;
    while (const std::optional<SlotGroup> group = queue.next(least)) {
      REQUIRE(given.size() < left.size());
      const float most = left[given.size()].most;
      REQUIRE(static_cast<double>(most) >= least);
      given.push_back({.most = most,
                       .session = group->session,
                       .index = group->index,
                       .wanted = group->wanted});
      least += rise;
    }
    // Those that follow can't reach it, and what came is what was there: equals in any order.
    REQUIRE((given.size() == left.size() || static_cast<double>(left[given.size()].most) < least));
    std::ranges::sort(made.all, {}, &Known::place);
    for (const Known& each : given) {
      const auto known = std::ranges::lower_bound(made.all, each.place(), {}, &Known::place);
      REQUIRE((known != made.all.end() && known->place() == each.place()));
      REQUIRE(known->most == each.most);
      REQUIRE(known->wanted == each.wanted);
    }
    std::ranges::sort(given, {}, &Known::place);
    REQUIRE(std::ranges::adjacent_find(given, {}, &Known::place) == given.end());
  }
}

}  // namespace
}  // namespace bmad_mem::test::group_queue_test
