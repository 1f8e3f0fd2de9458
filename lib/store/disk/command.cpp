// command.cpp - runs a program with a text on stdin, within a time and an output size.
#include "store/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/process.hpp"
#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "store/posix_file_system.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header.

namespace bmad_mem {
namespace {

using CommandTime = std::chrono::steady_clock::time_point;

constexpr std::size_t kErrSizeMax = 4096;
constexpr std::size_t kQuoteSizeMax = 400;  // Of stderr in a message.
constexpr std::size_t kReadSize = 1U << 16U;
// How often a program is looked after where the system can't tell that it ended.
constexpr int kLookMs = 10;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// The end of what a program complained, on one line.
std::string last_words(std::string_view err) {
  std::size_t begin = err.size() > kQuoteSizeMax ? err.size() - kQuoteSizeMax : 0;
  while (begin < err.size() && is_continuation(err[begin])) {
    ++begin;
  }
  std::string words = utf8_repaired(err.substr(begin));
  std::ranges::replace_if(
      words, [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; }, ' ');
  words.erase(words.find_last_not_of(' ') + 1);
  words.erase(0, words.find_first_not_of(' '));
  return words;
}

Error system_error(std::string_view program, std::string_view what, int error) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("can't run \"{}\": {}: {}", program, what,
                                      std::generic_category().message(error)),
               .os_error = error};
}

/// Neither end is one of the three that the program gets: where this process has closed its own,
/// the ends would be mixed up.
Result<Pipe> make_pipe(std::string_view program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return system_error(program, "no pipe", errno);
  }
  Pipe made{.read = Descriptor(ends[0]), .write = Descriptor(ends[1])};
  for (Descriptor* end : {&made.read, &made.write}) {
    if (end->get() > STDERR_FILENO) {
      continue;
    }
    Descriptor moved(::fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!moved.is_open()) {
      return system_error(program, "no pipe", errno);
    }
    *end = std::move(moved);
  }
  assert(made.read.get() > STDERR_FILENO && made.write.get() > STDERR_FILENO);
  return made;
}

bool make_nonblocking(const Descriptor& end) {
  const int flags = ::fcntl(end.get(), F_GETFL);
  return flags >= 0 && ::fcntl(end.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

/// Appends what can be read from `end` to `text` until that is longer than `size_max`, and closes
/// `end` where it ends. False when it is longer.
bool read_some(Descriptor& end, std::string& text, std::size_t size_max) {
  std::array<char, kReadSize> buffer;
  while (end.is_open() && text.size() <= size_max) {
    const ssize_t count = ::read(end.get(), buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      break;
    } else if (count == 0 || errno != EINTR) {
      end.close();
    }
  }
  return text.size() <= size_max;
}

/// The program's three pipes and process, from its start to its end.
class RunningCommand {
 public:
  explicit RunningCommand(std::string_view program) : program_(program) {}
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand() {
    if (process_ > 0) {
      kill_all();
    }
  }

  Status start(std::span<const std::string> command) {
    BMAD_TRY_ASSIGN(Pipe in, make_pipe(program_));
    BMAD_TRY_ASSIGN(Pipe out, make_pipe(program_));
    BMAD_TRY_ASSIGN(Pipe err, make_pipe(program_));
    if (!make_nonblocking(in.write) || !make_nonblocking(out.read) || !make_nonblocking(err.read)) {
      return system_error(program_, "no pipe", errno);
    }
    if (const int error = spawn(command, in, out, err); error != 0) {
      return system_error(program_, error == ENOENT ? "not found" : "not started", error);
    }
#ifdef SYS_pidfd_open
    process_end_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
#endif
    in_ = std::move(in.write);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    return {};
  }

  Result<CommandOutput> finish(std::string_view input, const CommandOptions& options) {
    assert(process_ > 0 && "start() has succeeded");
    ignore_write_signals();  // It may not want to read on.
    const CommandTime deadline = std::chrono::steady_clock::now() + options.timeout;
    bool ended = false;
    while (!ended) {
      if (std::chrono::steady_clock::now() >= deadline) {
        kill_all();
        return refusal(
            ErrorCode::E_QUERY_TIMEOUT,
            fmt::format("took longer than {} ms and was killed", options.timeout.count()));
      }
      wait_for_news(deadline);
      // Asked before the pipes are read: then all it said is in them.
      ended = has_ended();
      give(input);
      take_err();
      if (!read_some(out_, output_.out, options.output_size_max)) {
        kill_all();
        return refusal(
            ErrorCode::E_SIZE_LIMIT,
            fmt::format("said more than {} bytes and was killed", options.output_size_max));
      }
    }
    const int status = reap();
    if (WIFSIGNALED(status)) {
      return refusal(ErrorCode::E_STORAGE_IO, fmt::format("died of signal {}", WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0) {
      return refusal(ErrorCode::E_STORAGE_IO,
                     fmt::format("ended with status {}", WEXITSTATUS(status)));
    }
    output_.err = utf8_repaired(output_.err);
    return std::move(output_);
  }

 private:
  int spawn(std::span<const std::string> command, const Pipe& in, const Pipe& out,
            const Pipe& err) {
    assert(!command.empty() && process_ < 0);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (::posix_spawn_file_actions_init(&actions) != 0 ||
        ::posix_spawnattr_init(&attributes) != 0) {
      return ENOMEM;
    }
    ::posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
    // The engine ignores some signals, and a program inherits that: it gets all as they come.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    const int error = ::posix_spawnp(&process_, arguments.front(), &actions, &attributes,
                                     arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      process_ = -1;
    }
    return error;
  }

  void wait_for_news(CommandTime deadline) const {
    // A negative descriptor is passed over by poll.
    std::array<pollfd, 4> watched{{{.fd = in_.get(), .events = POLLOUT, .revents = 0},
                                   {.fd = out_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = err_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = process_end_.get(), .events = POLLIN, .revents = 0}}};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int longest = process_end_.is_open() ? 1000 : kLookMs;
    const auto wait = std::clamp<std::int64_t>(left.count(), 0, longest);
    ::poll(watched.data(), watched.size(), static_cast<int>(wait));
  }

  void give(std::string_view& input) {
    while (in_.is_open() && !input.empty()) {
      const ssize_t written = ::write(in_.get(), input.data(), input.size());
      if (written >= 0) {
        input.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EAGAIN) {
        return;
      } else if (errno != EINTR) {
        in_.close();  // It does not want to read on.
      }
    }
    in_.close();
  }

  void take_err() {
    // One buffer at a time: who never stops complaining must not keep us from the clock.
    read_some(err_, output_.err, output_.err.size());
    if (output_.err.size() > kErrSizeMax) {
      output_.err.erase(0, output_.err.size() - kErrSizeMax);
    }
  }

  bool has_ended() const {
    siginfo_t info{};
    assert(process_ > 0);
    // It stays as it is until it is reaped, and so its number is no one else's.
    const int looked =
        ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
    return looked != 0 ? errno != EINTR : info.si_pid != 0;
  }

  int reap() {
    assert(process_ > 0);
    int status = 0;
    pid_t reaped = -1;
    do {
      reaped = ::waitpid(process_, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    process_ = -1;
    // Where the process lets the system reap its children there is no status: nothing is known, and
    // that is no success.
    return reaped < 0 ? W_EXITCODE(127, 0) : status;
  }

  void kill_all() {
    assert(process_ > 1 && "any other number would reach processes that are not ours");
    ::kill(-process_, SIGKILL);
    reap();
  }

  Error refusal(ErrorCode code, std::string_view what) const {
    const std::string said = last_words(output_.err);
    return Error{.code = code,
                 .message = said.empty() ? fmt::format("\"{}\" {}", program_, what)
                                         : fmt::format("\"{}\" {}: {}", program_, what, said)};
  }

  std::string program_;
  pid_t process_ = -1;
  Descriptor process_end_;  ///< Readable when it has ended, where the system has such a thing.
  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
  CommandOutput output_;
};

}  // namespace

Result<CommandOutput> run_command(std::span<const std::string> command, std::string_view input,
                                  const CommandOptions& options) {
  if (command.empty() || command.front().empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "no program is named"};
  }
  RunningCommand running(command.front());
  std::vector<std::string> words(command.begin(), command.end());
  words.front() = with_home(words.front());
  BMAD_TRY(running.start(words));
  Result<CommandOutput> output = running.finish(input, options);
  Question::note_change();  // It may have written.
  return output;
}

}  // namespace bmad_mem
