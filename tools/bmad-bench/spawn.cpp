#include "spawn.hpp"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Result<rusage> wait_for(pid_t child, const std::string& program) {
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child) {
    return system_error("wait for", program);
  }
  if (status != 0) {
    return Error{.message = WIFEXITED(status) ? fmt::format("{} ended with status {}", program,
                                                            WEXITSTATUS(status))
                                              : fmt::format("{} was killed", program)};
  }
  return usage;
}

}  // namespace

Result<pid_t> start_process(const std::vector<std::string>& arguments, const std::string& input,
                            int output) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));  // posix_spawn does not write to them.
  }
  argv.push_back(nullptr);
  std::array<char*, 1> environment = {nullptr};
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
    return system_error("start", arguments.front());
  }
  return child;
}

Result<ProcessCost> run_process(const std::vector<std::string>& arguments, const std::string& input,
                                int output) {
  const double begin = wall_seconds();
  BMAD_TRY_ASSIGN(const pid_t child, start_process(arguments, input, output));
  BMAD_TRY_ASSIGN(const rusage usage, wait_for(child, arguments.front()));
  return ProcessCost{.wall = wall_seconds() - begin,
                     .cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

Result<std::string> output_of(const std::vector<std::string>& arguments, const std::string& input) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return system_error("make", "a pipe");
  }
  const Result<pid_t> child = start_process(arguments, input, ends[1]);
  ::close(ends[1]);
  std::string output;
  if (child) {
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = ::read(ends[0], buffer.data(), buffer.size())) > 0) {
      output.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
  ::close(ends[0]);
  if (!child) {
    return child.error();
  }
  BMAD_TRY(wait_for(*child, arguments.front()));
  return output;
}

Result<double> peak_mb_of(const std::string& helpers, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {helpers + "/bmad_bench_peak_rss"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  BMAD_TRY_ASSIGN(const std::string output, output_of(all));
  long kib = 0;
  const auto parsed = std::from_chars(output.data(), output.data() + output.size(), kib);
  if (parsed.ec != std::errc{} || kib <= 0) {
    return Error{.message = "no peak of memory in \"" + output + '"'};
  }
  return static_cast<double>(kib) * 1024 / 1e6;
}

bool is_dynamic(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (file && segment.p_type == PT_INTERP) {
      return true;
    }
  }
  return false;
}

}  // namespace bmad_mem::bench
