// lifecycle_races_test.cpp - a session comes, goes or changes at any moment of what another process
// does with it: nothing is missed.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "search/reads.hpp"
#include "support/lifecycle_store.hpp"

namespace bmad_mem::test::lifecycle_races_test {
namespace {

/// `meanwhile` happens during `run`.
struct Race {
  const char* name;
  Status (*prepare)(Store&);
  Status (*run)(Store&);
  Status (*meanwhile)(Store&);
};

constexpr Race kPurges[] = {
    {"archive", nothing, purge_some, archive},
    {"restore", archive, purge_some, restore},
    {"restore what was evicted", compact, purge_some, restore_evicted},
    {"undelete", delete_some, purge_some, undelete_all},
};

constexpr Race kDeletions[] = {
    {"archive", nothing, delete_some, archive},
    {"restore", archive, delete_some, restore},
};

constexpr Race kReads[] = {
    {"nothing", nothing, nothing, nothing},
    {"archive", nothing, nothing, archive},
    {"restore", archive, nothing, restore},
};

/// Wherever an entry is, it is found.
constexpr Race kFinds[] = {
    {"nothing", nothing, nothing, nothing},
    {"archive", nothing, nothing, archive},
    {"restore", archive, nothing, restore},
    {"compact", nothing, nothing, compact},
    {"restore what was evicted", compact, nothing, restore_evicted},
};

/// Calls `check(store, race)` for each race and each moment of its run at which the other process
/// may act, before the run. Looking at a lock's own files is no such moment.
template <typename Run, typename Check>
void at_any_moment(std::span<const Race> races, const Run& run, const Check& check) {
  for (const Race& race : races) {
    const std::string name = race.name;
    CAPTURE(name);
    LifecycleStore reference;
    reference.clock.advance(std::chrono::hours(1));  // Later than the entries.
    REQUIRE(race.prepare(reference.store).has_value());
    reference.files->clear_log();
    REQUIRE(run(race, reference.store).has_value());
    const std::vector<std::string> calls = reference.files->log();
    for (std::size_t nth = 0; nth < calls.size(); ++nth) {
      if (calls[nth].find("/.lock") != std::string::npos ||
          calls[nth].find(" .lock") != std::string::npos) {
        continue;
      }
      CAPTURE(calls[nth]);
      LifecycleStore store;
      store.clock.advance(std::chrono::hours(1));
      REQUIRE(race.prepare(store.store).has_value());
      const std::unique_ptr<Store> other = store.another_process();
      store.files->meanwhile(fault_at(calls, nth),
                             [&] { static_cast<void>(race.meanwhile(*other)); });
      check(store, race);
    }
  }
}

Status run_it(const Race& race, Store& store) { return race.run(store); }

std::vector<std::string> ids_of(const std::vector<Entry>& entries) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries) {
    ids.push_back(entry.id);
  }
  std::ranges::sort(ids);
  return ids;
}

const std::vector<std::string>& all_ids() {
  static const std::vector<std::string> ids = {"f1", "f2", "f3", "f4", "f5", "f6"};
  return ids;
}

/// `then`: before or after what happens.
void read_past_at_any_moment(Timestamp then) {
  const EntryFilter all{.as_of = then, .limit = 0};
  const auto list = [&](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(list_entries(store, all));
    return {};
  };
  at_any_moment(kFinds, list, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<std::vector<Entry>> listed = list_entries(store.store, all);
    REQUIRE_MESSAGE(listed.has_value(), listed.error().to_string());
    CHECK(ids_of(*listed) == all_ids());
  });
  const auto find = [&](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(find_entries(store, all_ids(), {}, false, then));
    return {};
  };
  at_any_moment(kFinds, find, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<std::vector<Entry>> got = find_entries(store.store, all_ids(), {}, false, then);
    REQUIRE_MESSAGE(got.has_value(), got.error().to_string());
    CHECK(ids_of(*got) == all_ids());
  });
  const Query query{.text = "text", .filter = all};
  const auto ask = [&](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(answer_query(store, query));
    return {};
  };
  at_any_moment(kFinds, ask, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<QueryAnswer> answer = answer_query(store.store, query);
    REQUIRE_MESSAGE(answer.has_value(), answer.error().to_string());
    CHECK(answer->hits.size() == kLifecycleEntries);
  });
}

}  // namespace

TEST_CASE("whatever happens to a session during a purge, nothing of it stays") {
  at_any_moment(kPurges, run_it, [](LifecycleStore& store, const Race& race) {
    const Status done = race.run(store.store);
    CHECK(done.has_value());
    for (const std::string& id : some_ids()) {
      CHECK_FALSE(store.is_somewhere(store.lines[static_cast<std::size_t>(id[1] - '1')]));
    }
    CHECK(store.is_somewhere(store.lines[0]));
    CHECK(store.is_somewhere(store.lines[4]));
  });
}

TEST_CASE("whatever happens to a session during a deletion, the entries are deleted") {
  at_any_moment(kDeletions, run_it, [](LifecycleStore& store, const Race& race) {
    const Status done = race.run(store.store);
    CHECK(done.has_value());
    const EntryFilter all{.limit = 0};
    CHECK(ids_of(list_entries(store.store, all).value()) ==
          std::vector<std::string>{"f1", "f3", "f5", "f6"});
    CHECK(undelete_all(store.store).has_value());
    for (const std::string& line : store.lines) {
      CHECK(store.is_somewhere(line));
    }
  });
}

TEST_CASE("whatever happens to a session while entries are read, each is there once") {
  const EntryFilter all{.limit = 0};
  const auto list = [&](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(list_entries(store, all));
    return {};
  };
  at_any_moment(kFinds, list, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<std::vector<Entry>> listed = list_entries(store.store, all);
    REQUIRE(listed.has_value());
    CHECK(ids_of(*listed) == all_ids());
  });
  const auto find = [](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(find_entries(store, all_ids(), {}, false));
    return {};
  };
  at_any_moment(kFinds, find, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<std::vector<Entry>> got = find_entries(store.store, all_ids(), {}, false);
    REQUIRE(got.has_value());
    CHECK(ids_of(*got) == all_ids());
  });
  const auto read = [](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(read_entries(store, {}, {}, true));
    return {};
  };
  at_any_moment(kReads, read, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<std::vector<Entry>> got = read_entries(store.store, {}, {}, true);
    REQUIRE(got.has_value());
    CHECK(ids_of(*got) == all_ids());
  });
}

TEST_CASE("whatever happens to a session while its past is read, each entry is there once") {
  read_past_at_any_moment(ManualClock().now());
  read_past_at_any_moment(ManualClock().now() + std::chrono::hours(2));
}

TEST_CASE("whatever happens to a session during a search, each entry is found once") {
  const Query query{.text = "text"};
  const auto ask = [&](const Race& /*race*/, Store& store) -> Status {
    BMAD_TRY(answer_query(store, query));
    return {};
  };
  at_any_moment(kFinds, ask, [&](LifecycleStore& store, const Race& /*race*/) {
    const Result<QueryAnswer> answer = answer_query(store.store, query);
    REQUIRE(answer.has_value());
    CHECK(answer->hits.size() == kLifecycleEntries);
  });
}

}  // namespace bmad_mem::test::lifecycle_races_test
