#include "rows.hpp"

#include <cassert>
#include <cstdio>
#include <iterator>

#include "machine.hpp"

namespace bmad_mem::bench {

Arguments Run::call(Arguments arguments) const {
  Arguments all = {tool, "--root", store.root};
  std::ranges::move(arguments, std::back_inserter(all));
  return all;
}

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

Step process_step(std::string name, std::function<Arguments(std::size_t round)> arguments) {
  return {.name = std::move(name),
          .measure = [arguments = std::move(arguments)](std::size_t round) {
            return run_process(arguments(round));
          }};
}

Step empty_step(const Run& run) {
  return process_step("an empty program", [&run](std::size_t /*round*/) {
    return Arguments{run.helpers + "/bmad_bench_empty"};
  });
}

std::vector<Values> above_empty(const Run& run, std::vector<Step> steps, std::size_t rounds) {
  steps.push_back(empty_step(run));
  std::vector<Values> values = in_turn(steps, rounds, std::min<std::size_t>(3, rounds));
  const double start = percentile(values.back(), 0.5);
  values.pop_back();
  for (Values& times : values) {
    std::ranges::for_each(times, [&](double& time) { time -= start; });
  }
  return values;
}

void tell(const std::string& what) { std::fputs((what + " ...\n").c_str(), stderr); }

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace bmad_mem::bench
