// postgres_together_test.cpp - many replicas push at once, while others read and purge.
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "postgres_fixture.hpp"

namespace bmad_mem::test::postgres_together_test {
namespace {

constexpr int kWriters = 8;
constexpr int kPushes = 40;

}  // namespace

TEST_CASE("who reads by cursor beside eight writers misses nothing") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto reader = house.hub("reader", 99);
  std::atomic<int> running = kWriters;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> writers;
  for (int writer = 1; writer <= kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      try {
        const auto hub = house.hub("writer", writer);
        std::uint64_t pushed = 0;
        for (int i = 0; i < kPushes; ++i) {
          std::vector<FeedRow> rows;
          for (int k = 0; k <= i % 3; ++k) {
            rows.push_back(line_row("id", fmt::format("{}", pushed + rows.size())));
          }
          if (i % 10 == 0) {
            rows.push_back({.op = FeedOp::kManifest,
                            .session_id = fmt::format("s{}", writer % 2),
                            .line = fmt::format("{}", pushed + rows.size())});
          }
          const std::size_t count = rows.size();
          const PushAnswer answer = must(hub->push({.pushed = pushed, .rows = std::move(rows)}));
          failed += answer.is_stored ? 0 : 1;
          pushed += count;
        }
      } catch (const std::exception&) {
        ++failed;
      }
      --running;
    });
  }
  std::vector<FeedRow> seen;
  while (true) {
    const bool was_last = running == 0;
    const auto page = must(reader->pull({.after = seen.empty() ? 0 : seen.back().seq}));
    seen.insert(seen.end(), page.begin(), page.end());
    if (was_last && page.empty()) {
      break;
    }
  }
  CHECK(failed == 0);
  // Each once, without a gap, and each writer's in its order.
  std::map<std::string, std::uint64_t> next;
  std::uint64_t seq = 0;
  for (const FeedRow& row : seen) {
    CHECK(row.seq == ++seq);
    std::uint64_t& expected = next[row.replica];
    if (row.line) {  // Not a manifest that a later one has emptied.
      CHECK(row.line == fmt::format("{}", expected));
    }
    ++expected;
  }
  CHECK(next.size() == kWriters);
  CHECK(must(reader->head()).head == seq);
}

TEST_CASE("what is purged while others push it is gone") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> writers;
  for (int writer = 1; writer <= 4; ++writer) {
    writers.emplace_back([&, writer] {
      try {
        const auto hub = house.hub("writer", writer);
        for (int i = 0; i < kPushes; ++i) {
          push_next(*hub, {line_row(fmt::format("e{}", i), "secret"), line_row("kept", "kept")});
        }
      } catch (const std::exception&) {
        ++failed;
      }
    });
  }
  const auto forgetter = house.hub("forgetter", 9);
  for (int i = 0; i < kPushes; ++i) {
    push_next(*forgetter,
              {{.op = FeedOp::kPurge, .session_id = "s1", .entry_id = fmt::format("e{}", i)}});
  }
  writers.clear();
  CHECK(failed == 0);
  std::size_t kept = 0;
  for (const FeedRow& row : all_rows(*forgetter)) {
    CHECK(row.line != "secret");
    kept += row.line == "kept" ? 1 : 0;
  }
  CHECK(kept == 4 * kPushes);
}

TEST_CASE("of two that push the same batch at once one stores it") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::atomic<int> stored = 0;
    {
      std::vector<std::jthread> twins;
      for (int twin = 0; twin < 3; ++twin) {
        twins.emplace_back([&] {
          const auto other = PostgresHub::connect(house.options("writer", 1));
          const auto answer = (*other)->push({.pushed = round, .rows = {line_row("a", "{}")}});
          stored += answer && answer->is_stored ? 1 : 0;
        });
      }
    }
    CHECK(stored == 1);
  }
  CHECK(must(hub->head()).head == 20);
  CHECK(all_rows(*hub).size() == 20);
}

}  // namespace bmad_mem::test::postgres_together_test
