// lifecycle_races_test.cpp - a session comes, goes or changes at any moment of what another process
// does with it: nothing is missed.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/lifecycle_store.hpp"

namespace bmad_mem::test {
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

/// Calls `check(store, race)` for each race and each moment of its run at which the other process
/// may act, before the run. Looking at a lock's own files is no such moment.
template <typename Run, typename Check>
void at_any_moment(std::span<const Race> races, const Run& run, const Check& check) {
  for (const Race& race : races) {
    const std::string name = race.name;
    CAPTURE(name);
    LifecycleStore reference;
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
      REQUIRE(race.prepare(store.store).has_value());
      const std::unique_ptr<Store> other = store.another_process();
      store.files->meanwhile(fault_at(calls, nth),
                             [&] { static_cast<void>(race.meanwhile(*other)); });
      check(store, race);
    }
  }
}

Status run_it(const Race& race, Store& store) { return race.run(store); }

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

}  // namespace bmad_mem::test
