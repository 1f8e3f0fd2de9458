#include "http/io_loop.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/core.h>

#include "descriptor.hpp"

namespace bmad_mem::cli {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCondition = boost::system::error_code;

/// How often another port is tried when the chosen one is taken at ::1.
constexpr int kTriesMax = 32;
/// How long to wait when the process has no descriptors left for another client.
constexpr std::chrono::milliseconds kAcceptPause{50};

/// A socket that listens at the loopback address of `family`. Not open: errno says why.
Descriptor listen_at(int family, std::uint16_t port) {
  Descriptor out(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!out.is_open()) {
    return out;
  }
  const int one = 1;
  ::setsockopt(out.number(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_storage place{};
  socklen_t size = 0;
  if (family == AF_INET6) {
    ::setsockopt(out.number(), IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    const sockaddr_in6 address{.sin6_family = AF_INET6,
                               .sin6_port = htons(port),
                               .sin6_flowinfo = 0,
                               .sin6_addr = in6addr_loopback,
                               .sin6_scope_id = 0};
    size = sizeof address;
    std::memcpy(&place, &address, size);
  } else {
    const sockaddr_in address{.sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                              .sin_zero = {}};
    size = sizeof address;
    std::memcpy(&place, &address, size);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as POSIX has it.
  if (::bind(out.number(), reinterpret_cast<const sockaddr*>(&place), size) != 0 ||
      ::listen(out.number(), SOMAXCONN) != 0) {
    const int problem = errno;
    out = Descriptor();
    errno = problem;
  }
  return out;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as POSIX has it.
  ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Error cannot_listen(std::uint16_t port, int problem) {
  std::string message;
  if (problem == EADDRINUSE) {
    message = fmt::format(
        "port {} is taken by another program; choose another one, or let --port 0 find one", port);
  } else if (problem == EACCES) {
    message = fmt::format("port {} is for the system's own services; choose one above 1023", port);
  } else {
    message = fmt::format("cannot listen at port {}: {}", port, std::strerror(problem));
  }
  return {.code = ErrorCode::E_STORAGE_IO, .message = std::move(message), .os_error = problem};
}

struct Listeners {
  Descriptor v4;
  Descriptor v6;  // Not open on a machine without IPv6.
  std::uint16_t port = 0;
};

Result<Listeners> open_listeners(std::uint16_t port) {
  for (int tries = 1;; ++tries) {
    Listeners out;
    out.v4 = listen_at(AF_INET, port);
    if (!out.v4.is_open()) {
      return cannot_listen(port, errno);
    }
    out.port = port_of(out.v4);
    out.v6 = listen_at(AF_INET6, out.port);
    if (out.v6.is_open() || errno != EADDRINUSE) {
      return out;
    }
    if (port != 0 || tries == kTriesMax) {
      return cannot_listen(out.port, EADDRINUSE);
    }
  }
}

sigset_t ending_signals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGINT);
  sigaddset(&out, SIGTERM);
  return out;
}

/// The number of a descriptor that gets another owner.
int release(const Descriptor& descriptor) {
  return ::fcntl(descriptor.number(), F_DUPFD_CLOEXEC, 0);
}

}  // namespace

struct IoSocket::Impl {
  explicit Impl(Tcp::socket the_socket) : socket(std::move(the_socket)) {}
  Tcp::socket socket;
};

IoSocket::IoSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
IoSocket::~IoSocket() = default;

void IoSocket::read_some(std::span<char> buffer, OnDone on_done) {
  impl_->socket.async_read_some(
      asio::buffer(buffer.data(), buffer.size()),
      [on_done = std::move(on_done)](const ErrorCondition& problem, std::size_t size) {
        on_done(!problem, size);
      });
}

void IoSocket::write_some(std::span<const std::string_view> pieces, OnDone on_done) {
  std::array<asio::const_buffer, kPiecesMax> buffers;
  for (std::size_t i = 0; i < pieces.size() && i < kPiecesMax; ++i) {
    buffers.at(i) = asio::const_buffer(pieces[i].data(), pieces[i].size());
  }
  impl_->socket.async_write_some(
      buffers, [on_done = std::move(on_done)](const ErrorCondition& problem, std::size_t size) {
        on_done(!problem, size);
      });
}

void IoSocket::end_sending() {
  ErrorCondition ignored;
  static_cast<void>(impl_->socket.shutdown(Tcp::socket::shutdown_send, ignored));
}

void IoSocket::close() {
  ErrorCondition ignored;
  static_cast<void>(impl_->socket.close(ignored));
}

void IoSocket::reset() {
  ErrorCondition ignored;
  static_cast<void>(impl_->socket.set_option(asio::socket_base::linger(true, 0), ignored));
  static_cast<void>(impl_->socket.close(ignored));
}

struct IoLoop::Impl {
  asio::io_context context{1};
  std::vector<std::unique_ptr<Tcp::acceptor>> acceptors;
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  std::unique_ptr<asio::posix::stream_descriptor> signals;
  signalfd_siginfo signal{};
  bool is_finished = false;

  void accept(Tcp::acceptor& acceptor, const OnClient& on_client);
  void tick(asio::steady_timer& timer, std::chrono::milliseconds period,
            std::function<void()> on_tick);
};

IoLoop::IoLoop() : impl_(std::make_unique<Impl>()) {}
IoLoop::~IoLoop() = default;

void IoLoop::Impl::accept(Tcp::acceptor& acceptor, const OnClient& on_client) {
  acceptor.async_accept([this, &acceptor, on_client](const ErrorCondition& problem,
                                                     Tcp::socket client) {
    if (!acceptor.is_open()) {
      return;
    }
    if (!problem) {
      ::fcntl(client.native_handle(), F_SETFD, FD_CLOEXEC);
      ErrorCondition ignored;
      static_cast<void>(client.non_blocking(true, ignored));
      static_cast<void>(client.set_option(Tcp::no_delay(true), ignored));
      on_client(std::make_unique<IoSocket>(std::make_unique<IoSocket::Impl>(std::move(client))));
      if (acceptor.is_open()) {
        accept(acceptor, on_client);
      }
      return;
    }
    auto pause = std::make_shared<asio::steady_timer>(context, kAcceptPause);
    pause->async_wait([this, &acceptor, on_client, pause](const ErrorCondition&) {
      if (acceptor.is_open()) {
        accept(acceptor, on_client);
      }
    });
  });
}

Result<std::uint16_t> IoLoop::listen(std::uint16_t port, OnClient on_client) {
  BMAD_TRY_ASSIGN(const Listeners listeners, open_listeners(port));
  const auto add = [&](const Tcp& protocol, const Descriptor& socket) {
    ErrorCondition problem;
    auto acceptor = std::make_unique<Tcp::acceptor>(impl_->context);
    static_cast<void>(acceptor->assign(protocol, release(socket), problem));
    if (!problem) {
      impl_->accept(*acceptor, on_client);
      impl_->acceptors.push_back(std::move(acceptor));
    }
    return !problem;
  };
  if (!add(Tcp::v4(), listeners.v4) || (listeners.v6.is_open() && !add(Tcp::v6(), listeners.v6))) {
    return cannot_listen(listeners.port, EMFILE);
  }
  return listeners.port;
}

void IoLoop::block_signals() {
  const sigset_t ends = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

Status IoLoop::take_signals(std::function<void()> on_signal) {
  const sigset_t ends = ending_signals();
  const int descriptor = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = fmt::format("cannot wait for signals: {}", std::strerror(errno)),
                 .os_error = errno};
  }
  impl_->signals = std::make_unique<asio::posix::stream_descriptor>(impl_->context, descriptor);
  impl_->signals->async_read_some(
      asio::buffer(&impl_->signal, sizeof impl_->signal),
      [on_signal = std::move(on_signal)](const ErrorCondition& problem, std::size_t) {
        if (!problem) {
          on_signal();
        }
      });
  return {};
}

void IoLoop::Impl::tick(asio::steady_timer& timer, std::chrono::milliseconds period,
                        std::function<void()> on_tick) {
  timer.expires_after(period);
  timer.async_wait(
      [this, &timer, period, on_tick = std::move(on_tick)](const ErrorCondition& problem) mutable {
        if (problem || is_finished) {
          return;
        }
        on_tick();
        if (!is_finished) {
          tick(timer, period, std::move(on_tick));
        }
      });
}

void IoLoop::every(std::chrono::milliseconds period, std::function<void()> on_tick) {
  impl_->timers.push_back(std::make_unique<asio::steady_timer>(impl_->context));
  impl_->tick(*impl_->timers.back(), period, std::move(on_tick));
}

void IoLoop::after(std::chrono::milliseconds time, std::function<void()> on_time) {
  impl_->timers.push_back(std::make_unique<asio::steady_timer>(impl_->context, time));
  impl_->timers.back()->async_wait([on_time = std::move(on_time)](const ErrorCondition& problem) {
    if (!problem) {
      on_time();
    }
  });
}

void IoLoop::post(std::function<void()> call) { asio::post(impl_->context, std::move(call)); }

void IoLoop::stop_listening() {
  ErrorCondition ignored;
  for (const auto& acceptor : impl_->acceptors) {
    static_cast<void>(acceptor->close(ignored));
  }
}

void IoLoop::finish() {
  stop_listening();
  impl_->is_finished = true;
  for (const auto& timer : impl_->timers) {
    timer->cancel();
  }
  ErrorCondition ignored;
  if (impl_->signals) {
    static_cast<void>(impl_->signals->close(ignored));
  }
}

void IoLoop::run() {
  while (true) {
    try {
      impl_->context.run();
      return;
    } catch (const std::bad_alloc&) {
      // There was no memory for what a client sent. Its connection ends when its time is over.
    }
  }
}

}  // namespace bmad_mem::cli
