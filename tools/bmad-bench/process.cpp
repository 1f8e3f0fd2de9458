#include "process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fmt/ranges.h>

namespace bmad_mem::bench {
namespace {

/// What programs get of this environment: the key of sealed lines, where hubs are, and where a
/// measurement keeps what belongs to a person.
constexpr const char* kKept[] = {"BMAD_MEM_KEY", "PGSERVICEFILE", "XDG_STATE_HOME"};

/// `output`: a descriptor; /dev/null below zero.
pid_t start_process(const Arguments& arguments, const std::string& input, int output) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));  // posix_spawn does not write to them.
  }
  argv.push_back(nullptr);
  std::vector<std::string> kept;
  for (const char* name : kKept) {
    if (const char* value = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe)
      kept.push_back(std::string(name) + '=' + value);
    }
  }
  std::vector<char*> environment;
  for (std::string& variable : kept) {
    environment.push_back(variable.data());
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  if (output < 0) {
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  }
  pid_t child = -1;
  const int error =
      ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    errno = error;
    throw system_error("start", arguments.front());
  }
  return child;
}

void wait_for(pid_t child, const std::string& program) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) {
    throw system_error("wait for", program);
  }
  if (status != 0) {
    throw Error{.message = WIFEXITED(status) ? fmt::format("{} ended with status {}", program,
                                                           WEXITSTATUS(status))
                                             : fmt::format("{} was killed", program)};
  }
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw system_error("make", "a pipe");
    }
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out;
  Descriptor in;
};

}  // namespace

double run_process(const Arguments& arguments) {
  return milliseconds(
      [&] { wait_for(start_process(arguments, "/dev/null", -1), arguments.front()); });
}

std::string output_of(const Arguments& arguments, const std::string& input) {
  Pipe pipe;
  const pid_t child = start_process(arguments, input, pipe.in.get());
  pipe.in.close();
  std::string output;
  std::array<char, 4096> buffer{};
  for (ssize_t size = 0; (size = ::read(pipe.out.get(), buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(size));
  }
  wait_for(child, arguments.front());
  return output;
}

RunningProcess::RunningProcess(const Arguments& arguments)
    : child_(start_process(arguments, "/dev/null", -1)) {}

RunningProcess::~RunningProcess() {
  ::kill(child_, SIGTERM);
  ::waitpid(child_, nullptr, 0);
}

void check_says_something(const Arguments& arguments) {
  ensure(!output_of(arguments).empty(),
         fmt::format("{} printed nothing", fmt::join(arguments, " ")));
}

double peak_mb_of(const std::string& helpers, const Arguments& arguments) {
  Arguments all = {helpers + "/bmad_bench_peak_rss"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::string output = output_of(all);
  const double kib = std::strtod(output.c_str(), nullptr);
  ensure(kib > 0, "no peak of memory in \"" + output + '"');
  return kib * 1024 / 1e6;
}

McpClient::McpClient(const std::string& tool, const std::string& root) {
  Pipe to;
  Pipe from;
  child_ = start_process({tool, "--root", root, "mcp"},
                         fmt::format("/proc/self/fd/{}", to.out.get()), from.in.get());
  input_ = std::move(to.in);
  output_ = std::move(from.out);
  from.in.close();  // Else nobody would notice when the server goes.
  request("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},)"
                        R"("clientInfo":{"name":"bmad-bench","version":"1"}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

McpClient::~McpClient() {
  input_.close();
  output_.close();
  ::waitpid(child_, nullptr, 0);
}

void McpClient::call(std::string_view tool, std::string_view arguments) {
  const std::string answer =
      request("tools/call", fmt::format(R"({{"name":"{}","arguments":{}}})", tool, arguments));
  ensure(!answer.contains(R"("isError":true)") && !answer.contains(R"("error":{)"),
         fmt::format("{} failed: {}", tool, answer));
}

double McpClient::resident_mb() const {
  std::ifstream status(fmt::format("/proc/{}/status", child_));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) {
      return std::strtod(line.c_str() + 6, nullptr) * 1024 / 1e6;
    }
  }
  throw Error{.message = "bmad-mem mcp has gone"};
}

void McpClient::send(std::string line) const {
  line += '\n';
  for (std::string_view left = line; !left.empty();) {
    const ssize_t size = ::write(input_.get(), left.data(), left.size());
    if (size < 0) {
      throw system_error("write to", "bmad-mem mcp");
    }
    left.remove_prefix(static_cast<std::size_t>(size));
  }
}

/// The line that answers; those before it are notifications.
std::string McpClient::request(std::string_view method, std::string_view parameters) {
  const std::string id = fmt::format(R"("id":{})", ++requests_);
  send(fmt::format(R"({{"jsonrpc":"2.0",{},"method":"{}","params":{}}})", id, method, parameters));
  while (true) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      if (line.contains(id)) {
        return line;
      }
      continue;
    }
    std::array<char, 65536> buffer;
    const ssize_t size = ::read(output_.get(), buffer.data(), buffer.size());
    ensure(size > 0, "bmad-mem mcp has gone");
    read_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace bmad_mem::bench
