// rehearsal_test.cpp - whatever agents and people do to a store, in any order, it holds what its
// model holds. RapidCheck prints the seed, and the shortest series that fails; to have it again:
// RC_PARAMS="seed=...".
#include "model_based/rehearsal.hpp"

#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace bmad_mem::test {

TEST_CASE("a store and its model stay the same through any series of operations") {
  CHECK(rc::check([] {
    const auto operations = *rc::gen::container<std::vector<Operation>>(any_operation());
    Rehearsal rehearsal;
    rehearsal.perform({.kind = Operation::Kind::kCreateSession, .session = 0});
    for (const Operation& operation : operations) {
      rehearsal.perform(operation);
      rehearsal.compare();
    }
    RC_CLASSIFY(operations.size() >= 10, "10 operations or more");
    RC_CLASSIFY(rehearsal.has_versions(), "an entry with versions");
    RC_CLASSIFY(rehearsal.has_quarantine(), "something set aside");
  }));
}

}  // namespace bmad_mem::test
