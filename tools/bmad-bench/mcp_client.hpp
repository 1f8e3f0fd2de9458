// mcp_client.hpp - `bmad-mem mcp` as an agent has it: a child process, spoken to line by line.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

class McpClient {
 public:
  /// Starts `tool` on the memory at `root`, and shakes hands with it.
  static Result<McpClient> start(const std::string& tool, const std::string& root);

  McpClient(McpClient&& other) noexcept;
  McpClient& operator=(McpClient&&) = delete;
  ~McpClient();  ///< Ends it.

  /// The line that answers. `arguments`: a JSON object. Errors: the server has gone, or says that
  /// the call failed.
  Result<std::string> call(std::string_view tool, std::string_view arguments);

  /// Of the server at this moment.
  [[nodiscard]] Result<double> resident_mb() const;

 private:
  McpClient(pid_t child, int input, int output) : child_(child), input_(input), output_(output) {}
  Status send(const std::string& line) const;
  Result<std::string> request(std::string_view method, std::string_view parameters);
  Result<std::string> next_line();

  pid_t child_ = -1;
  int input_ = -1;   ///< Of the server.
  int output_ = -1;  ///< Of the server.
  std::string read_;
  std::uint64_t requests_ = 0;
};

}  // namespace bmad_mem::bench
