#include "rows.hpp"

#include <cassert>
#include <cstdio>
#include <iterator>

#include "machine.hpp"

namespace bmad_mem::bench {

std::vector<Values> in_turn(const std::vector<Step>& steps, std::size_t rounds,
                            std::size_t warm_ups) {
  assert(!steps.empty());
  std::vector<Values> values(steps.size());
  for (std::size_t round = 0; round < warm_ups + rounds; ++round) {
    for (std::size_t turn = 0; turn < steps.size(); ++turn) {
      const std::size_t which = (round + turn) % steps.size();
      try {
        const double value = steps[which].measure(round);
        if (round >= warm_ups) {
          values[which].push_back(value);
        }
      } catch (Error& error) {
        error.message = steps[which].name + ": " + error.message;
        throw;
      }
    }
  }
  return values;
}

void tell(const std::string& what) { std::fputs((what + " ...\n").c_str(), stderr); }

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace bmad_mem::bench
