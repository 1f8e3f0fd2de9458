#include "hooks/hook_limits.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>

#include <fmt/core.h>

namespace bmad_mem::cli {

using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

/// The child's end, of which only this file knows.
struct HookChild {
  [[noreturn]] static void run(int pipe, const std::function<void(const HookWork&)>& work);
};

namespace {

// A message is its kind, its size in four bytes, and its text.
constexpr char kAnswer = 'a';
constexpr char kProblem = 'p';
constexpr char kLimit = 'l';  ///< Milliseconds, a blank, and why.
constexpr char kMayGoOn = 'g';
constexpr char kDone = 'd';
constexpr std::size_t kHeadSize = 5;

/// Nothing of ours lives longer, also what goes on by itself.
constexpr unsigned kLifeMaxS = 120;

/// What the child has said so far.
class Listener {
 public:
  explicit Listener(SteadyTime deadline, milliseconds limit)
      : deadline_(deadline),
        why_(fmt::format("it took longer than {} ms and was ended", limit.count())) {}

  [[nodiscard]] SteadyTime deadline() const { return deadline_; }
  /// Nobody waits for the rest of one that goes on by itself.
  [[nodiscard]] bool is_done() const { return done_ || (may_go_on_ && has_answer_); }
  [[nodiscard]] bool has_ended() const { return done_; }
  [[nodiscard]] bool may_go_on() const { return may_go_on_; }

  void take(std::string_view bytes) {
    buffer_ += bytes;
    while (buffer_.size() >= kHeadSize) {
      std::uint32_t size = 0;
      std::memcpy(&size, buffer_.data() + 1, sizeof size);
      if (buffer_.size() < kHeadSize + size) {
        return;
      }
      take_message(buffer_.front(), buffer_.substr(kHeadSize, size));
      buffer_.erase(0, kHeadSize + size);
    }
  }

  /// When nothing more is going to come.
  HookResult result(bool is_late) {
    if (is_done()) {
      return std::move(result_);
    }
    if (is_late && !why_.empty()) {
      result_.problem = why_;
    } else if (!is_late) {
      result_.problem = "it ended unexpectedly";
    }
    return std::move(result_);
  }

 private:
  void take_message(char kind, std::string text) {
    switch (kind) {
      case kAnswer:
        result_.answer = std::move(text);
        has_answer_ = true;
        break;
      case kProblem:
        result_.problem = std::move(text);
        break;
      case kLimit:
        take_limit(text);
        break;
      case kMayGoOn:
        may_go_on_ = true;
        why_ = has_told_limit_ ? why_ : std::string();
        break;
      default:
        done_ = true;
    }
  }

  void take_limit(const std::string& text) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    std::int64_t rest = 0;
    std::from_chars(text.data(), text.data() + blank, rest);
    const SteadyTime other = std::chrono::steady_clock::now() + milliseconds(rest);
    if (other < deadline_) {
      deadline_ = other;
      why_ = text.substr(std::min(blank + 1, text.size()));
      has_told_limit_ = true;
    }
  }

  SteadyTime deadline_;
  std::string why_;
  std::string buffer_;
  HookResult result_;
  bool may_go_on_ = false;
  bool has_answer_ = false;
  bool done_ = false;
  bool has_told_limit_ = false;
};

/// Reads until the child is done or gone, or the time is over. Whether the time was over.
bool listen(int pipe, Listener& listener) {
  std::array<char, 16384> buffer{};
  while (!listener.is_done()) {
    const auto left =
        std::chrono::ceil<milliseconds>(listener.deadline() - std::chrono::steady_clock::now());
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
    listener.take({buffer.data(), static_cast<std::size_t>(size)});
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

}  // namespace

void HookWork::send(char kind, std::string_view text) const {
  std::string message(1, kind);
  const auto size = static_cast<std::uint32_t>(text.size());
  std::array<char, sizeof size> bytes{};
  std::memcpy(bytes.data(), &size, sizeof size);
  message.append(bytes.data(), bytes.size());
  message += text;
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t written = ::write(pipe_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      return;  // The hook has gone: its time was over.
    }
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void HookWork::answer(std::string_view text) const { send(kAnswer, text); }

void HookWork::problem(std::string_view line) const { send(kProblem, line); }

void HookWork::limit(milliseconds rest, std::string_view why) const {
  send(kLimit, fmt::format("{} {}", rest.count(), why));
}

void HookWork::may_go_on() const {
  ::setsid();  // Else it would end with the terminal.
  send(kMayGoOn, {});
}

void HookChild::run(int pipe, const std::function<void(const HookWork&)>& work) {
  ::alarm(kLifeMaxS);
  // The client waits until nobody holds its pipes any more.
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  const HookWork hook(pipe);
  work(hook);
  hook.send(kDone, {});
  ::_exit(0);
}

HookResult run_limited(milliseconds limit, const std::function<void(const HookWork&)>& work) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + limit;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {.answer = {}, .problem = "cannot make a pipe"};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    HookChild::run(ends[1], work);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return {.answer = {}, .problem = "cannot start another process"};
  }
  Listener listener(deadline, limit);
  const bool is_late = listen(ends[0], listener);
  ::close(ends[0]);
  if (is_late && !listener.may_go_on()) {
    ::kill(child, SIGKILL);
  }
  if (listener.has_ended() || !listener.may_go_on()) {
    collect(child);
  }
  return listener.result(is_late);
}

}  // namespace bmad_mem::cli
