// process.hpp - other programs: started and waited for, as fast as the system can, or spoken to.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "machine.hpp"

namespace bmad_mem::bench {

/// The first is the path of the program.
using Arguments = std::vector<std::string>;

/// Runs a program with little of this environment (process.cpp), without input and output:
/// milliseconds from before posix_spawn to after the wait. Errors: it cannot be started, or its
/// exit status is not 0; what it says about it goes to our stderr.
double run_process(const Arguments& arguments);

/// What it prints, with the file `input` as input. Errors as run_process.
std::string output_of(const Arguments& arguments, const std::string& input = "/dev/null");

/// A program that goes on until this ends it.
class RunningProcess {
 public:
  explicit RunningProcess(const Arguments& arguments);
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;
  ~RunningProcess();

 private:
  pid_t child_;
};

/// Throws when it prints nothing: such a program would be fast.
void check_says_something(const Arguments& arguments);

/// The peak resident set of a run, in MB. `helpers`: the folder with the programs of the build.
double peak_mb_of(const std::string& helpers, const Arguments& arguments);

/// `bmad-mem mcp` as an agent has it: a child process, spoken to line by line.
class McpClient {
 public:
  /// Starts `tool` on the memory at `root`, and shakes hands with it.
  McpClient(const std::string& tool, const std::string& root);

  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;
  ~McpClient();  ///< Ends it.

  /// `arguments`: a JSON object. Errors: the server has gone, or says that the call failed.
  void call(std::string_view tool, std::string_view arguments);

  /// Of the server at this moment.
  [[nodiscard]] double resident_mb() const;

 private:
  void send(std::string line) const;
  std::string request(std::string_view method, std::string_view parameters);

  pid_t child_ = -1;
  Descriptor input_;   ///< Of the server.
  Descriptor output_;  ///< Of the server.
  std::string read_;
  int requests_ = 0;
};

}  // namespace bmad_mem::bench
