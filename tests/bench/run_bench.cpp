#include "run_bench.hpp"

#include <sys/wait.h>

#include <cstdio>

namespace bmad_mem::test {

BenchOutcome run_bench(const std::string& arguments) {
  const std::string command = std::string(BMAD_BENCH_BINARY) + ' ' + arguments + " 2>&1";
  BenchOutcome outcome;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return outcome;
  }
  char buffer[4096];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, size);
  }
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string json_in(const std::string& output) {
  const std::size_t object = output.find("\n{");
  return object == std::string::npos ? "" : output.substr(object + 1);
}

std::string tool_option() {
#ifdef BMAD_MEM_BINARY
  return " --tool " BMAD_MEM_BINARY;
#else
  return "";
#endif
}

}  // namespace bmad_mem::test
