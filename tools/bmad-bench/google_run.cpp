#include "google_run.hpp"

#include <array>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace bmad_mem::bench {
namespace {

/// Keeps what the repetitions took, and prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        problem = fmt::format("{}: {}", run.benchmark_name(), run.error_message);
      } else if (run.run_type == Run::RT_Iteration) {
        const auto iterations = static_cast<double>(run.iterations);
        Series& found = series[run.run_name.function_name];
        found.wall.push_back(run.real_accumulated_time / iterations);
        found.cpu.push_back(run.cpu_accumulated_time / iterations);
      }
    }
  }

  struct Series {
    std::vector<double> wall;
    std::vector<double> cpu;
  };
  std::map<std::string, Series> series;
  std::string problem;
};

}  // namespace

void register_benchmark([[maybe_unused]] const char* name,
                        [[maybe_unused]] const std::function<void(benchmark::State&)>& body) {
#ifndef __clang_analyzer__  // It cannot see that the library owns what is registered.
  benchmark::RegisterBenchmark(name, body);
#endif
}

Result<std::map<std::string, Measured>> run_registered(std::size_t repetitions, double seconds) {
  std::array<std::string, 4> arguments = {"bmad-bench",
                                          fmt::format("--benchmark_repetitions={}", repetitions),
                                          fmt::format("--benchmark_min_time={}", seconds),
                                          "--benchmark_enable_random_interleaving=true"};
  std::array<char*, 5> argv{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    argv[i] = arguments[i].data();
  }
  auto argc = static_cast<int>(arguments.size());
  benchmark::Initialize(&argc, argv.data());
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  if (!collector.problem.empty()) {
    return Error{.message = collector.problem};
  }
  std::map<std::string, Measured> measured;
  for (auto& [name, series] : collector.series) {
    measured[name] = {.wall_seconds = summarize(series.wall), .cpu_seconds = summarize(series.cpu)};
  }
  return measured;
}

}  // namespace bmad_mem::bench
