// google_run.hpp - Google Benchmark as a source of rows.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "bmad_mem/result.hpp"
#include "samples.hpp"

namespace benchmark {
class State;
}

namespace bmad_mem::bench {

/// Registers `body`, which runs the loop `for (auto _ : state)`. What it refers to must live until
/// run_registered() returns.
void register_benchmark(const char* name, const std::function<void(benchmark::State&)>& body);

/// Of one benchmark, over its repetitions, a call.
struct Measured {
  Summary wall_seconds;
  Summary cpu_seconds;
};

/// Runs all that is registered with Google Benchmark, `repetitions` times, of `seconds` at least
/// each, the repetitions of all in random order, so that a slow second of the machine hits all
/// alike. Then unregisters it. Errors: the message of the first benchmark that gave up.
Result<std::map<std::string, Measured>> run_registered(std::size_t repetitions, double seconds);

}  // namespace bmad_mem::bench
