// run_bench.hpp - bmad-bench as a person starts it.
#pragma once

#include <string>

namespace bmad_mem::test {

struct BenchOutcome {
  int status = -1;     ///< Exit status; -1 when it was killed.
  std::string output;  ///< Standard output and, if wanted, standard error.
};

/// Runs it with `arguments`, for the shell.
BenchOutcome run_bench(const std::string& arguments);

/// The JSON object in an output that shows progress before it; empty when there is none.
std::string json_in(const std::string& output);

/// " --tool PATH" of the bmad-mem of this build; empty when there is none.
std::string tool_option();

}  // namespace bmad_mem::test
