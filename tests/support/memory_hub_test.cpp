// memory_hub_test.cpp - the feed in memory, used by many threads at once.
#include "support/memory_hub.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace bmad_mem::test::memory_hub_test {

TEST_CASE("who reads a feed in memory by cursor beside eight writers misses nothing") {
  constexpr int kWriters = 8;
  constexpr std::uint64_t kPushes = 100;
  const auto feed = std::make_shared<MemoryFeed>();
  std::atomic<int> running = kWriters;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> writers;
  for (int writer = 1; writer <= kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      MemoryHub hub(feed);
      failed += hub.add_replica(fmt::format("r{}", writer), "here") ? 0 : 1;
      for (std::uint64_t i = 0; i < kPushes; ++i) {
        const Result<PushAnswer> answer = hub.push(
            {.pushed = i,
             .rows = {{.session_id = "s1", .entry_id = "e", .line = fmt::format("{}", i)}}});
        failed += answer && answer->is_stored ? 0 : 1;
      }
      --running;
    });
  }
  MemoryHub reader(feed);
  std::vector<FeedRow> seen;
  while (true) {
    const bool was_last = running == 0;
    const auto page = reader.pull({.after = seen.empty() ? 0 : seen.back().seq});
    REQUIRE(page);
    seen.insert(seen.end(), page->begin(), page->end());
    if (was_last && page->empty()) {
      break;
    }
  }
  CHECK(failed == 0);
  std::map<std::string, std::uint64_t> next;  // Of each writer.
  for (std::uint64_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].seq == i + 1);
    CHECK(seen[i].line == fmt::format("{}", next[seen[i].replica]++));
  }
  CHECK(seen.size() == kWriters * kPushes);
}

}  // namespace bmad_mem::test::memory_hub_test
