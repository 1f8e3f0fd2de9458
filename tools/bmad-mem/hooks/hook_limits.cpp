// hook_limits.cpp - runs the work of a hook in a child process, and ends it at its deadline.
#include "hooks/hook_limits.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {

using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

namespace {

// A message is its kind, its size in four bytes, and its text.
constexpr char kAnswer = 'a';
constexpr char kProblem = 'p';
constexpr char kLimit = 'l';  ///< Milliseconds, a blank, and why.
constexpr char kMayGoOn = 'g';
constexpr char kSaidAll = 's';
constexpr char kDone = 'd';
/// After one of these the child continues alone.
constexpr std::string_view kGoesOn = "gs";
using SizeBytes = std::array<char, sizeof(std::uint32_t)>;
constexpr std::size_t kHeadSize = 1 + sizeof(SizeBytes);

// Limits of a child in the background.
constexpr unsigned kRestMaxS = 30;
constexpr unsigned kRestCpuMaxS = 10;
/// For a child whose hook was killed: it waits no longer for its own end.
constexpr milliseconds kOrphanGrace{1000};

/// What the child has said so far.
struct Heard {
  SteadyTime deadline;
  std::string why;  ///< What is wrong when the deadline passes; empty when nothing is.
  HookResult result = {};
  bool has_told_limit = false;
  std::string kinds = {};  ///< Of the messages.

  [[nodiscard]] bool may_go_on() const { return kinds.find_first_of(kGoesOn) != kinds.npos; }
  /// Nobody waits for the rest of one that goes on by itself.
  [[nodiscard]] bool is_done() const {
    return kinds.contains(kDone) || kinds.contains(kSaidAll) ||
           (may_go_on() && kinds.contains(kAnswer));
  }
};

void take_message(Heard& heard, char kind, std::string_view text) {
  heard.kinds += kind;
  if (kind == kAnswer) {
    heard.result.answer = text;
  } else if (kind == kProblem) {
    heard.result.problem = text;
  } else if (kind == kMayGoOn && !heard.has_told_limit) {
    heard.why.clear();
  } else if (kind == kLimit) {
    const std::string_view rest = text.substr(0, text.find(' '));
    const SteadyTime other =
        std::chrono::steady_clock::now() + milliseconds(number_in<std::int64_t>(rest).value_or(0));
    if (other < heard.deadline) {
      heard.deadline = other;
      heard.why = text.substr(std::min(rest.size() + 1, text.size()));
      heard.has_told_limit = true;
    }
  }
}

/// Takes the messages off that `bytes` begin with, as far as they are whole.
void take_messages(Heard& heard, std::string& bytes) {
  std::uint32_t size = 0;
  while (bytes.size() >= kHeadSize) {
    std::memcpy(&size, bytes.data() + 1, sizeof size);
    if (bytes.size() < kHeadSize + size) {
      return;
    }
    take_message(heard, bytes.front(), std::string_view(bytes).substr(kHeadSize, size));
    bytes.erase(0, kHeadSize + size);
  }
}

/// Reads until the child is done or gone, or the time is over. Whether the time was over.
bool listen(int pipe, Heard& heard) {
  std::string bytes;
  std::array<char, 16384> buffer{};
  while (!heard.is_done()) {
    const auto left =
        std::chrono::ceil<milliseconds>(heard.deadline - std::chrono::steady_clock::now());
    pollfd wait{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready == 0) {
      return true;
    }
    const ssize_t size = ready < 0 ? -1 : ::read(pipe, buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (size <= 0) {
      return false;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(size));
    take_messages(heard, bytes);
  }
  return false;
}

/// Waits for the end of a child that has nothing left to do, so that it leaves no zombie behind
/// where nobody collects orphans. One that hangs in the kernel is left alone.
void collect(pid_t child) {
  constexpr long kPauseMax = 32'000'000;  // Nanoseconds; 64 ms together.
  timespec pause{.tv_sec = 0, .tv_nsec = 20'000};
  while (::waitpid(child, nullptr, WNOHANG) == 0 && pause.tv_nsec < kPauseMax) {
    ::nanosleep(&pause, nullptr);
    pause.tv_nsec *= 2;
  }
}

/// Ends this process by a signal that nothing of ours catches.
void end_after(__itimer_which_t clock, milliseconds limit) {
  itimerval timer{};
  timer.it_value.tv_sec = limit.count() / 1000;
  timer.it_value.tv_usec = limit.count() % 1000 * 1000;
  ::setitimer(clock, &timer, nullptr);
}

[[noreturn]] void run_child(int pipe, milliseconds limit,
                            const std::function<void(const HookWork&)>& work) {
  end_after(ITIMER_REAL, limit + kOrphanGrace);
  end_after(ITIMER_PROF, std::chrono::seconds(kRestCpuMaxS));
  // The client waits until nobody holds its pipes any more.
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  const HookWork hook(pipe);
  work(hook);
  hook.done();
  ::_exit(0);
}

}  // namespace

void HookWork::send(char kind, std::string_view text) const {
  const auto size = std::bit_cast<SizeBytes>(static_cast<std::uint32_t>(text.size()));
  // When that fails, the hook has gone: its time was over.
  static_cast<void>(write_bytes(
      pipe_, fmt::format("{}{}{}", kind, std::string_view(size.data(), size.size()), text)));
}

void HookWork::answer(std::string_view text) const { send(kAnswer, text); }

void HookWork::problem(std::string_view line) const { send(kProblem, line); }

void HookWork::done() const { send(kDone, {}); }

void HookWork::limit(milliseconds rest, std::string_view why) const {
  send(kLimit, fmt::format("{} {}", rest.count(), why));
}

void HookWork::claim(const std::string& folder, std::string_view session,
                     milliseconds patience) const {
  struct flock place{};
  place.l_type = F_WRLCK;
  place.l_whence = SEEK_SET;
  place.l_start = static_cast<off_t>(std::hash<std::string_view>()(session) >> 33U);
  place.l_len = 1;
  // It stays open: the kernel ends the claim with the process.
  const int file = ::open((folder + "/.lock.hooks").c_str(),
                          O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  const SteadyTime end = std::chrono::steady_clock::now() + patience;
  do {
    is_alone_ = file >= 0 && ::fcntl(file, F_OFD_SETLK, &place) == 0;
  } while (!is_alone_ && file >= 0 && std::chrono::steady_clock::now() < end &&
           ::poll(nullptr, 0, 20) == 0);
}

void HookWork::go_on(char kind) const {
  if (is_alone_) {
    ::setsid();  // Else it would end with the terminal.
    end_after(ITIMER_REAL, std::chrono::seconds(kRestMaxS));
    send(kind, {});
  }
}

void HookWork::may_go_on() const { go_on(kMayGoOn); }

void HookWork::said_all() const { go_on(kSaidAll); }

HookResult run_limited(milliseconds limit, const std::function<void(const HookWork&)>& work) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + limit;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {.answer = {}, .problem = "cannot make a pipe"};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], limit, work);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return {.answer = {}, .problem = "cannot start another process"};
  }
  Heard heard{.deadline = deadline,
              .why = fmt::format("it took longer than {} ms and was ended", limit.count())};
  const bool is_late = listen(ends[0], heard);
  ::close(ends[0]);
  if (is_late && !heard.may_go_on()) {
    ::kill(child, SIGKILL);
  }
  if (heard.kinds.contains(kDone) || !heard.may_go_on()) {
    collect(child);
  }
  if (!heard.is_done() && !(is_late && heard.why.empty())) {
    heard.result.problem = is_late ? heard.why : "it ended unexpectedly";
  }
  return heard.result;
}

}  // namespace bmad_mem::cli
