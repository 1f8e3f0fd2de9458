// program.cpp - starts other programs, and handles signals and descriptors of this one.
#include "cli/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fmt/core.h>

namespace bmad_mem::cli {
namespace {

/// Our environment without these variables, as POSIX has it.
std::vector<char*> environment_without(std::span<const std::string_view> hidden) {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::find(hidden, text.substr(0, text.find('='))) == hidden.end()) {
      kept.push_back(*variable);
    }
  }
  kept.push_back(nullptr);
  return kept;
}

/// Starts it, without stdin and stderr; stdout goes into `output`, or nowhere below 0. 0 when that
/// failed.
pid_t start(const std::vector<std::string>& words, int output, std::span<char* const> variables,
            const posix_spawnattr_t* attributes = nullptr) {
  std::vector<char*> argv = argument_pointers(words);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (output >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  }
  pid_t child = 0;
  const int problem =
      ::posix_spawnp(&child, argv.front(), &actions, attributes, argv.data(), variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  return problem == 0 ? child : 0;
}

/// Reads to the end, so that the program never waits for a reader; keeps the beginning.
void read_output(int descriptor, std::size_t output_max, ProgramRun& run) {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return;
    }
    const std::size_t room = output_max - run.output.size();
    run.was_cut = run.was_cut || static_cast<std::size_t>(size) > room;
    run.output.append(buffer.data(), std::min(room, static_cast<std::size_t>(size)));
  }
}

}  // namespace

std::vector<char*> argument_pointers(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT(*-const-cast): as POSIX has it.
  }
  argv.push_back(nullptr);
  return argv;
}

ProgramRun run_program(const std::vector<std::string>& words, std::size_t output_max,
                       std::span<const std::string_view> hidden) {
  ProgramRun run;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return run;
  }
  const pid_t child = start(words, ends[1], environment_without(hidden));
  ::close(ends[1]);
  if (child != 0) {
    run.started = true;
    read_output(ends[0], output_max, run);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  ::close(ends[0]);
  return run;
}

std::string find_in_path(std::string_view name, const std::string& copy) {
  const char* const folders = std::getenv("PATH");
  std::string_view path = folders == nullptr ? "" : folders;
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    std::string candidate = fmt::format("{}/{}", folder, name);
    struct stat found{};
    const bool is_program = ::access(candidate.c_str(), X_OK) == 0 &&
                            ::stat(candidate.c_str(), &found) == 0 && S_ISREG(found.st_mode);
    if (folder.starts_with('/') && !candidate.contains("/node_modules/") &&
        (is_program || candidate == copy)) {
      return candidate;
    }
  }
  return {};
}

std::string own_program_path() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure).string();
}

bool start_program(const std::vector<std::string>& words) {
  // A session of its own, and signals as any program expects them: Ctrl-C is meant for us.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const pid_t child = start(words, -1, environment_without({}), &attributes);
  ::posix_spawnattr_destroy(&attributes);
  if (child != 0) {
    // Nobody waits for it, but a server would keep it as a zombie for as long as it lives.
    try {
      std::thread([child] {
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
      }).detach();
    } catch (const std::system_error&) {
      // The process may have no more threads: then a zombie it is.
    }
  }
  return child != 0;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

Descriptor take_ending_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return Descriptor(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace bmad_mem::cli
