// mirrors.hpp - some memories that share one hub, which is in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "support/memory_fixture.hpp"
#include "support/memory_hub.hpp"

namespace bmad_mem::test {

class Mirror : public MemoryFixture {
 public:
  explicit Mirror(std::shared_ptr<MemoryFeed> feed, bool joins = true) : hub(std::move(feed)) {
    if (joins) {
      join();
    }
  }

  void join() {
    const Status joined =
        join_hub(**this, hub, {.service = "team", .project = "shop", .host = "here"});
    INFO((joined ? std::string() : joined.error().to_string()));
    REQUIRE(joined);
  }

  Result<SyncReport> try_sync(const SyncOptions& options = {}) {
    return sync_with_hub(**this, hub, options);
  }
  SyncReport sync(const SyncOptions& options = {}) {
    Result<SyncReport> report = try_sync(options);
    INFO((report ? std::string() : report.error().to_string()));
    REQUIRE(report);
    return *std::move(report);
  }

  MemoryHub hub;
};

class Mirrors {
 public:
  explicit Mirrors(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(std::make_unique<Mirror>(feed));
    }
  }

  Mirror& operator[](std::size_t i) { return *all[i]; }
  /// Each syncs as often as it takes for all to hear of all.
  void settle() {
    for (int round = 0; round < 3; ++round) {
      for (const auto& mirror : all) {
        mirror->sync();
      }
    }
  }

  std::shared_ptr<MemoryFeed> feed = std::make_shared<MemoryFeed>();
  std::vector<std::unique_ptr<Mirror>> all;
};

inline std::string facts(const Mirror& mirror) { return mirror.read(EntryType::kFact); }

inline void delete_fact(Mirror& mirror, const std::string& id, bool purge = false) {
  const std::vector<std::string> ids = {id};
  REQUIRE(mirror->delete_entries({.ids = ids}, {.purge = purge}));
}

/// A policy of a hub: it finds "badge-1234".
inline constexpr const char* kBadges = "[[rules]]\nid = 'badge'\nregex = 'badge-[0-9]{4}'\n";

}  // namespace bmad_mem::test
