// stdio_transport.cpp - an MCP server on stdin and stdout, with tasks on threads.
#include "mcp/stdio_transport.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "cli/output.hpp"
#include "cli/program.hpp"
#include "mcp/mcp_messages.hpp"
#include "mcp/mcp_server.hpp"
#include "mcp/task_queue.hpp"

namespace bmad_mem::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls that run at once. Most of them wait for the disk; more threads than that gain nothing, and
/// each costs its start.
constexpr std::size_t kThreads = 4;
/// Calls that wait: beyond that, the client waits for us to read on.
constexpr std::size_t kWaitingMax = 1024;
/// How long no call comes before the server does work that can wait.
constexpr std::chrono::milliseconds kPause{2'000};
/// How long what runs may take when the process is told to end.
constexpr std::chrono::milliseconds kGrace{500};

void ring(const Descriptor& bell) {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell.number(), &one, sizeof one) == sizeof one);
}

/// Messages to stdout, each a line, whole.
class LineSink : public McpSink {
 public:
  /// `on_broken` is rung when nobody reads any more.
  explicit LineSink(const Descriptor& on_broken) : on_broken_(&on_broken) {}

  void send(std::string_view message) override {
    const std::scoped_lock lock(mutex_);
    out_.write(message);
    out_.write("\n");
    if (!out_.flush()) {
      ring(*on_broken_);
    }
  }

 private:
  const Descriptor* on_broken_;
  std::mutex mutex_;  // Guards what follows, and the order of lines.
  Output out_{STDOUT_FILENO};
};

/// What the threads share.
struct Serving {
  Serving(McpService& service, int the_end_of_input, int the_broken, int the_stop)
      : end_of_input(the_end_of_input),
        broken(the_broken),
        stop(the_stop),
        sink(std::make_shared<LineSink>(broken)),
        server(service, sink),
        queue(kThreads, kWaitingMax) {
    queue.when_idle(kPause, [&service] { return service.rest(); });
  }

  Descriptor end_of_input;  // Rung by the reader.
  Descriptor broken;        // Rung by the sink.
  Descriptor stop;          // Rung for the reader.
  std::shared_ptr<LineSink> sink;
  McpServer server;
  TaskQueue queue;  // Its threads end before the server goes.
};

void read_input(Serving& serving) {
  LineReader lines(kMcpLineSizeMax);
  const auto on_line = [&](std::string_view line) {
    try {
      if (McpServer::Task task = serving.server.accept(line, serving.sink)) {
        serving.queue.add(std::move(task));
      }
    } catch (const std::exception& failure) {  // Such as a message for which there is no memory.
      serving.sink->send(
          mcp_error({}, McpErrorCode::kInternalError, error_of_exception(failure).message));
    }
  };
  const auto on_too_long = [&] {
    serving.sink->send(
        mcp_error({}, McpErrorCode::kInvalidRequest,
                  fmt::format("Invalid request: the maximum size of a message is {} MiB",
                              kMcpLineSizeMax >> 20U)));
  };
  std::string buffer(std::size_t{256} << 10U, '\0');
  std::array<pollfd, 2> watched{{{STDIN_FILENO, POLLIN, 0}, {serving.stop.number(), POLLIN, 0}}};
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      break;
    }
    if (watched[1].revents != 0) {
      return;
    }
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got > 0) {
      lines.take(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)), on_line,
                 on_too_long);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      lines.finish(on_line);
      break;
    }
  }
  ring(serving.end_of_input);
}

/// Whether one of these, three at most, has something to read. Waits for that for `timeout_ms`;
/// for ever if that is negative.
bool is_rung(std::initializer_list<const Descriptor*> bells, int timeout_ms) {
  std::array<pollfd, 3> watched{};
  nfds_t count = 0;
  for (const Descriptor* const bell : bells) {
    watched.at(count++) = {bell->number(), POLLIN, 0};
  }
  int ready = 0;
  do {
    ready = ::poll(watched.data(), count, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void serve(Serving& serving, const Descriptor& signals) {
  std::atomic<bool> reader_is_done = false;
  std::thread reader([&] {
    read_input(serving);
    reader_is_done = true;
  });
  const auto is_told = [&] { return is_rung({&signals, &serving.broken}, 0); };
  is_rung({&signals, &serving.broken, &serving.end_of_input}, -1);
  serving.queue.wait_until_idle(is_told);
  if (is_told()) {
    ring(serving.stop);
    serving.queue.drop_waiting();
    serving.server.cancel_all();
    const Clock::time_point until = Clock::now() + kGrace;
    const auto is_late = [&] { return Clock::now() >= until; };
    serving.queue.wait_until_idle(is_late);
    while (!reader_is_done && !is_late()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (is_late()) {
      // Something is stuck, such as a pipe that nobody empties. What is acknowledged is durable,
      // and what is not may be lost.
      ::_exit(0);
    }
  }
  reader.join();
  serving.server.close();
}

}  // namespace

Status serve_mcp_on_stdio(McpService& service) {
  // Before any thread starts, so that all of them leave these to the descriptor.
  const Descriptor signals = take_ending_signals();
  const auto bell = [] { return ::eventfd(0, EFD_CLOEXEC); };
  Serving serving(service, bell(), bell(), bell());
  if (!signals.is_open() || !serving.end_of_input.is_open() || !serving.broken.is_open() ||
      !serving.stop.is_open()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = fmt::format("cannot wait for messages: {}", std::strerror(errno)),
                 .os_error = errno};
  }
  serve(serving, signals);
  return {};
}

}  // namespace bmad_mem::cli
