// samples.hpp - many measurements of one thing as a median and a spread.
#pragma once

#include <cstddef>
#include <vector>

namespace bmad_mem::bench {

/// The middle 80 % of the values: one run that a neighbour on the machine disturbed says nothing.
struct Summary {
  double median = 0;
  double low = 0;   ///< 10th percentile.
  double high = 0;  ///< 90th percentile.
  std::size_t count = 0;
};

/// `values` must not be empty.
Summary summarize(std::vector<double> values);

/// What is known as one number.
Summary single(double value);

}  // namespace bmad_mem::bench
