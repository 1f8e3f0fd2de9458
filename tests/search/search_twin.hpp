// search_twin.hpp - random stores and random queries, each answered by the engine and by the naive
// search of tests/search/query/naive_search.hpp: the same entries in the same order with the same
// scores, whatever state the index is in.
#pragma once

#include <cstddef>
#include <string>

namespace bmad_mem::test {

struct TwinReport {
  std::size_t queries = 0;
  std::size_t hits = 0;
  std::size_t refused = 0;  ///< Queries that both refused.
  std::string problem;      ///< The first difference, with the seed; empty when there is none.
};

/// One store. It is asked with its index absent, fresh, behind, far behind in one session only,
/// and damaged, by a manager that stays open and by new ones.
TwinReport compare_twins(unsigned seed, std::size_t queries_each);

}  // namespace bmad_mem::test
