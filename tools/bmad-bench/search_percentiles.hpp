// search_percentiles.hpp - what half of the queries stay within, and what nearly all do.
#pragma once

#include <vector>

namespace bmad_mem::bench {

struct Percentiles {
  double p50 = 0;
  double p95 = 0;
};

/// `values` must not be empty.
Percentiles percentiles_of(std::vector<double> values);

}  // namespace bmad_mem::bench
