#include "mcp_client.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "spawn.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::string_view kHandshake = R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                                        R"("clientInfo":{"name":"bmad-bench","version":"1"}})";
constexpr std::string_view kInitialized =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

Error gone() { return Error{.message = "bmad-mem mcp has gone"}; }

}  // namespace

Result<McpClient> McpClient::start(const std::string& tool, const std::string& root) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0) {
    return system_error("make", "a pipe");
  }
  if (::pipe2(from.data(), O_CLOEXEC) != 0) {
    ::close(to[0]);
    ::close(to[1]);
    return system_error("make", "a pipe");
  }
  const Result<pid_t> child =
      start_process({tool, "--root", root, "mcp"}, fmt::format("/proc/self/fd/{}", to[0]), from[1]);
  ::close(to[0]);
  ::close(from[1]);
  McpClient client(child ? *child : -1, to[1], from[0]);
  if (!child) {
    return child.error();
  }
  BMAD_TRY(client.request("initialize", kHandshake));
  BMAD_TRY(client.send(std::string(kInitialized)));
  return client;
}

McpClient::McpClient(McpClient&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      read_(std::move(other.read_)),
      requests_(other.requests_) {}

McpClient::~McpClient() {
  for (const int descriptor : {input_, output_}) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
  if (child_ > 0) {
    ::waitpid(child_, nullptr, 0);
  }
}

Result<std::string> McpClient::call(std::string_view tool, std::string_view arguments) {
  BMAD_TRY_ASSIGN(
      std::string answer,
      request("tools/call", fmt::format(R"({{"name":"{}","arguments":{}}})", tool, arguments)));
  if (answer.contains(R"("isError":true)") || answer.contains(R"("error":{)")) {
    return Error{.message = fmt::format("{} failed: {}", tool, answer)};
  }
  return answer;
}

Result<double> McpClient::resident_mb() const {
  std::ifstream status(fmt::format("/proc/{}/status", child_));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) {
      return std::stod(line.substr(6)) * 1024 / 1e6;
    }
  }
  return gone();
}

Status McpClient::send(const std::string& line) const {
  const std::string text = line + '\n';
  for (std::string_view left = text; !left.empty();) {
    const ssize_t size = ::write(input_, left.data(), left.size());
    if (size < 0) {
      return system_error("write to", "bmad-mem mcp");
    }
    left.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<std::string> McpClient::request(std::string_view method, std::string_view parameters) {
  const std::string id = fmt::format(R"("id":{})", ++requests_);
  BMAD_TRY(send(
      fmt::format(R"({{"jsonrpc":"2.0",{},"method":"{}","params":{}}})", id, method, parameters)));
  while (true) {
    BMAD_TRY_ASSIGN(std::string line, next_line());
    if (line.contains(id)) {  // Else it is a notification.
      return line;
    }
  }
}

Result<std::string> McpClient::next_line() {
  std::size_t end = 0;
  std::size_t seen = 0;
  while ((end = read_.find('\n', seen)) == std::string::npos) {
    seen = read_.size();
    std::array<char, 65536> buffer;
    const ssize_t size = ::read(output_, buffer.data(), buffer.size());
    if (size <= 0) {
      return gone();
    }
    read_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

}  // namespace bmad_mem::bench
