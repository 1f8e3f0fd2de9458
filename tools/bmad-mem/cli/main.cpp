// main.cpp - bmad-mem, the memory of a project on the command line.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/session_choice.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

/// Moves the clock to $BMAD_MEM_NOW, for tests. What is wrong with it; empty when nothing is.
std::string moved_clock_problem() {
  const std::string_view text = environment("BMAD_MEM_NOW");
  if (text.empty()) {
    return {};
  }
  const std::optional<Timestamp> now = try_parse_rfc3339(text);
  if (!now) {
    return fmt::format("BMAD_MEM_NOW is '{}', which is no RFC 3339 time such as {}", text,
                       "2026-01-11T10:05:23Z");
  }
  move_system_clock(*now);
  return {};
}

/// The one place where what a command throws becomes its error.
Result<ExitStatus> run_caught(const Command& command, Tool& tool) {
  try {
    BMAD_TRY(complete_session_names(tool, command));
    return command.run(tool);
  } catch (const std::exception& failure) {
    return error_of_exception(failure);
  }
}

ExitStatus run_command(CommandLine line) {
  Tool tool(line.command, std::move(line.arguments));
  if (line.problem.empty()) {
    line.problem = moved_clock_problem();
  }
  if (line.problem.empty()) {
    line.problem = tool.global_problem();
  }
  if (line.problem.empty() && line.command == nullptr && tool.json() && !line.wants_help &&
      !line.wants_version) {
    line.problem = "no command given; run `bmad-mem help`";
  }
  if (!line.problem.empty()) {
    return tool.finish(tool.wrong_usage(line.problem));
  }
  if (line.wants_version) {
    tool.out().print("bmad-mem {}\n", tool_version());
    return tool.finish(ExitStatus::kDone);
  }
  if (line.wants_help || line.command == nullptr) {
    tool.out().write(line.command == nullptr
                         ? overview_text(tool.style())
                         : help_text(*line.command, tool.args().positional(0), tool.style()));
    return tool.finish(line.wants_help ? ExitStatus::kDone : ExitStatus::kWrongUsage);
  }
  const Result<ExitStatus> status = run_caught(*line.command, tool);
  return tool.finish(status ? *status : tool.report(status.error()));
}

ExitStatus run_tool(std::vector<std::string> words) {
  CommandLine line = read_command_line(std::move(words));
  // For an agent's client 2 means that a hook forbids what is going on; and a hook that is older
  // than the settings that call it does not know all their options.
  const bool is_hook = line.command != nullptr && line.command->name == "hook";
  const ExitStatus status = run_command(std::move(line));
  return is_hook ? ExitStatus::kDone : status;
}

/// Opens what the caller closed. Otherwise a log could become descriptor 1, and what is printed
/// would be written into it.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) {
      // The lowest free number is this one, since those below are open.
      static_cast<void>(::open("/dev/null", O_RDWR));
    }
  }
}

}  // namespace
}  // namespace bmad_mem::cli

namespace {

/// Heaps that grow in large steps: a query over many sessions asks for some thousand pieces of a
/// few kilobytes, and would make a system call for each. A heap for each thread, of which there are
/// few: with one for all, threads waited for each other so much that `context` over a hundred
/// sessions took 27 ms on two cores and 20 ms on one; now it takes 15.
void set_up_heap() {
#ifdef __GLIBC__
  constexpr int kStep = 8 << 20;
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/// Ends the process with a sentence, and without a word of what can't be had: for what is thrown
/// before or behind the command, as on a thread. Anything but a lack is a defect of ours.
[[noreturn]] void end_without_resources() {
  static constexpr std::string_view kSentence =
      "bmad-mem: E_RESOURCE_LIMIT: there is not enough memory, or no thread could be started; "
      "raise the limit (ulimit -v, ulimit -u, or those of the container)\n";
  const auto end = [] {
    static_cast<void>(::write(STDERR_FILENO, kSentence.data(), kSentence.size()) > 0);
    ::_exit(static_cast<int>(bmad_mem::cli::ExitStatus::kFailed));
  };
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  } catch (const std::bad_alloc&) {
    end();
  } catch (const std::system_error&) {
    end();
  } catch (...) {
  }
  std::abort();
}

/// Set before any constructor of a static object runs, which may need memory as well.
[[gnu::constructor(101)]] void set_terminate_handler() {
  std::set_terminate(end_without_resources);
}

/// Room for the clients of a server and for the open logs of sessions; a shell often gives 1,024
/// descriptors. What the hard limit allows is enough even so: see Store::session().
void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < kWanted) {
    limit.rlim_cur = std::min(kWanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

int main(int argc, char** argv) {
  set_up_heap();
  // A reader that goes away and a file that grows too large are errors, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  raise_descriptor_limit();
  bmad_mem::cli::open_standard_descriptors();
  return static_cast<int>(bmad_mem::cli::run_tool({argv + (argc > 0 ? 1 : 0), argv + argc}));
}
