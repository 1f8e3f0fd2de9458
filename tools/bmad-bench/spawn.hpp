// spawn.hpp - starting programs and waiting for their end, as fast as the system can.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

struct ProcessCost {
  double wall = 0;  ///< Seconds from before posix_spawn to after the wait.
  double cpu = 0;   ///< Seconds that the child used, user and kernel.
};

/// Runs `arguments`, the first of which is the path of the program, with an empty environment, the
/// file `input` as input and the descriptor `output`, else /dev/null, as output. Errors: it cannot
/// be started, or its exit status is not 0; what it says about it goes to our stderr.
Result<ProcessCost> run_process(const std::vector<std::string>& arguments,
                                const std::string& input = "/dev/null", int output = -1);

/// The same, and doesn't wait for its end.
Result<pid_t> start_process(const std::vector<std::string>& arguments, const std::string& input,
                            int output);

/// What it prints. Errors as run_process.
Result<std::string> output_of(const std::vector<std::string>& arguments,
                              const std::string& input = "/dev/null");

/// The peak resident set of a run of `arguments`, in MB. `helpers`: the folder with the helper
/// programs of the build.
Result<double> peak_mb_of(const std::string& helpers, const std::vector<std::string>& arguments);

/// Whether the program at `path` needs a dynamic loader; false when it is no ELF file.
bool is_dynamic(const std::string& path);

}  // namespace bmad_mem::bench
