// search_twin_test.cpp - the engine's search and the naive one agree. The seeds are fixed, so that
// every run asks the same; BMAD_TWIN_STORES says how many stores, and the slow variant has more.
#include "search/search_twin.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

namespace bmad_mem::test::search_twin_test {

TEST_CASE("the search finds what reading every line finds, in the same order, with equal scores") {
  const char* given = std::getenv("BMAD_TWIN_STORES");
  const unsigned stores = given == nullptr ? 25 : static_cast<unsigned>(std::atoi(given));
  const char* first = std::getenv("BMAD_TWIN_SEED");
  const unsigned begin = first == nullptr ? 1 : static_cast<unsigned>(std::atoi(first));
  std::size_t queries = 0;
  std::size_t hits = 0;
  std::size_t refused = 0;
  for (unsigned seed = begin; seed < begin + stores; ++seed) {
    const TwinReport report = compare_twins(seed, 8);
    queries += report.queries;
    hits += report.hits;
    refused += report.refused;
    REQUIRE(report.problem == "");
  }
  MESSAGE(queries, " queries, ", hits, " hits, ", refused, " refused");
  // A test that finds nothing compares nothing.
  CHECK(hits > queries);
  CHECK(refused * 10 < queries);
}

}  // namespace bmad_mem::test::search_twin_test
