// slot_table_test.cpp - conversations side by side, against the simplest way to put them so.
#include "search/slot_table.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::test::slot_table_test {
namespace {

/// One entry: its conversation (-1: none, it stands alone), and whether it was superseded.
struct Told {
  int conversation = -1;
  std::uint32_t length = 0;
  bool live = true;
};

EntryColumns columns_of(const std::vector<Told>& entries) {
  EntryColumns columns;
  std::map<int, Ordinal> ends;
  for (Ordinal ordinal = 0; ordinal < entries.size(); ++ordinal) {
    const Told& entry = entries[ordinal];
    const std::uint32_t flags = entry.live ? 0U : std::uint32_t{kFlagTombstone};
    std::uint32_t previous = 0;
    if (entry.live && entry.conversation >= 0) {
      const auto [end, is_new] = ends.try_emplace(entry.conversation, ordinal);
      previous = is_new ? 0 : ordinal - end->second;
      end->second = ordinal;
    }
    columns.flags.push_back(flags | (previous == 1 ? std::uint32_t{kFlagFollows} : 0U));
    columns.previous.push_back(previous);
    columns.lengths.push_back(entry.length);
  }
  return columns;
}

/// The live entries of each conversation, in the order of the conversations' first ones.
std::vector<std::vector<Ordinal>> conversations_of(const std::vector<Told>& entries) {
  std::vector<std::vector<Ordinal>> conversations;
  std::map<int, std::size_t> known;
  for (Ordinal ordinal = 0; ordinal < entries.size(); ++ordinal) {
    const Told& entry = entries[ordinal];
    if (!entry.live) {
      continue;
    }
    std::size_t at = conversations.size();
    if (entry.conversation >= 0) {
      at = known.try_emplace(entry.conversation, at).first->second;
    }
    conversations.resize(std::max(conversations.size(), at + 1));
    conversations[at].push_back(ordinal);
  }
  return conversations;
}

void check_slots(const std::vector<Told>& entries, const SlotTable& table) {
  std::uint32_t slot = 0;
  std::uint64_t length_sum = 0;
  std::uint64_t window_sum = 0;
  for (const std::vector<Ordinal>& members : conversations_of(entries)) {
    for (std::size_t i = 0; i < members.size(); ++i, ++slot) {
      REQUIRE(slot < table.size());
      CHECK(table.ordinal(slot) == members[i]);
      CHECK(table.slot(members[i]) == slot);
      CHECK(table.lengths[slot] == entries[members[i]].length);
      std::uint32_t window = 0;
      std::uint32_t before = 0;
      std::uint32_t after = 0;
      for (std::size_t j = 0; j < members.size(); ++j) {
        if (j + kWindowReach >= i && i + kWindowReach >= j) {
          window += entries[members[j]].length;
          before += j < i ? 1U : 0U;
          after += j > i ? 1U : 0U;
        }
      }
      CHECK(table.window_lengths[slot] == window);
      CHECK(table.reach[slot].before == before);
      CHECK(table.reach[slot].after == after);
      length_sum += entries[members[i]].length;
      window_sum += window;
    }
  }
  CHECK(table.size() == slot);
  CHECK(table.length_sum == length_sum);
  CHECK(table.window_length_sum == window_sum);
  for (Ordinal ordinal = 0; ordinal < entries.size(); ++ordinal) {
    CHECK((table.slot(ordinal) == SlotTable::kNoSlot) == !entries[ordinal].live);
  }
}

std::vector<Told> random_entries(std::mt19937& random) {
  std::vector<Told> entries(random() % 40);
  const auto conversations = static_cast<int>(1 + random() % 5);
  const std::uint64_t dead_one_in = 1 + random() % 12;
  const bool in_turns = random() % 2 == 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto by_chance = static_cast<int>(random() % 10) % (conversations + 1) - 1;
    entries[i] = {.conversation = in_turns                           ? by_chance
                                  : static_cast<int>(i / 6) % 2 == 0 ? static_cast<int>(i / 6)
                                                                     : -1,
                  .length = static_cast<std::uint32_t>(random() % 50),
                  .live = dead_one_in > 9 || random() % dead_one_in != 0};
  }
  return entries;
}

}  // namespace

TEST_CASE("the header's example: two conversations in turns, a superseded entry, and one alone") {
  const std::vector<Told> entries = {{0, 5}, {0, 3}, {1, 2}, {1, 9, false},
                                     {0, 4}, {1, 1}, {-1, 7}};
  const SlotTable table = build_slots(columns_of(entries));
  CHECK(table.ordinals == std::vector<Ordinal>{0, 1, 4, 2, 5, 6});
  CHECK(table.slots == std::vector<std::uint32_t>{0, 1, 3, SlotTable::kNoSlot, 2, 4, 5});
  CHECK(table.window_lengths == std::vector<std::uint32_t>{12, 12, 12, 3, 3, 7});
  check_slots(entries, table);
}

TEST_CASE("when all are live and in line, slots and ordinals are the same numbers") {
  const std::vector<Told> entries = {{0, 5},  {0, 3},  {0, 1}, {0, 4},
                                     {-1, 2}, {-1, 3}, {1, 6}, {1, 7}};
  const SlotTable table = build_slots(columns_of(entries));
  CHECK(table.ordinals.empty());
  CHECK(table.slots.empty());
  CHECK(table.window_lengths == std::vector<std::uint32_t>{9, 13, 13, 8, 2, 3, 13, 13});
  check_slots(entries, table);
}

TEST_CASE("no entries, or none alive, make an empty table") {
  CHECK(build_slots({}).size() == 0);
  const std::vector<Told> entries = {{0, 5, false}, {-1, 3, false}};
  check_slots(entries, build_slots(columns_of(entries)));
}

TEST_CASE("random tables have the slots and windows that looking at every pair gives") {
  std::mt19937 random(2026);
  for (int round = 0; round < 800; ++round) {
    CAPTURE(round);
    const std::vector<Told> entries = random_entries(random);
    const EntryColumns columns = columns_of(entries);
    const SlotTable table = build_slots(columns);
    check_slots(entries, table);
  }
}

TEST_CASE("postings in slots: without tombstones, ascending, with the windows they reach") {
  std::mt19937 random(77);
  for (int round = 0; round < 800; ++round) {
    CAPTURE(round);
    const std::vector<Told> entries = random_entries(random);
    const SlotTable table = build_slots(columns_of(entries));
    std::vector<Posting> postings;
    std::map<std::uint32_t, std::uint32_t> expected;
    std::uint64_t frequencies = 0;
    std::set<std::uint32_t> reached;
    for (Ordinal ordinal = 0; ordinal < entries.size(); ++ordinal) {
      if (random() % 3 != 0) {
        continue;
      }
      const auto frequency = static_cast<std::uint32_t>(1 + random() % 3);
      postings.push_back({.ordinal = ordinal, .frequency = frequency});
      const std::uint32_t slot = table.slot(ordinal);
      if (slot == SlotTable::kNoSlot) {
        continue;
      }
      expected[slot] = frequency;
      frequencies += frequency;
      for (std::uint32_t other = 0; other < table.size(); ++other) {
        if (slot + table.reach[other].before >= other && other + table.reach[other].after >= slot) {
          reached.insert(other);
        }
      }
    }
    const SlotPostings live = to_slots(table, postings);
    std::map<std::uint32_t, std::uint32_t> got;
    for (const SlotPosting& each : live.postings) {
      got[each.slot] = each.frequency;
    }
    CHECK(got == expected);
    CHECK(live.postings.size() == expected.size());
    CHECK(std::ranges::is_sorted(live.postings, {}, &SlotPosting::slot));
    CHECK(live.frequency_sum == frequencies);
    CHECK(live.window_count == reached.size());
  }
}

}  // namespace bmad_mem::test::slot_table_test
