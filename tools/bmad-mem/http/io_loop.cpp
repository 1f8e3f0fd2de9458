// io_loop.cpp - runs the thread of the sockets with Asio.
#include "http/io_loop.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/core.h>

namespace bmad_mem::cli {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCondition = boost::system::error_code;

/// How often another port is tried when the chosen one is taken at ::1.
constexpr int kTriesMax = 32;
/// How long to wait when the process has no descriptors left for another client.
constexpr std::chrono::milliseconds kAcceptPause{50};

/// Lets `acceptor` listen at `place`; it is closed when that can't be done.
ErrorCondition listen_at(Tcp::acceptor& acceptor, const Tcp::endpoint& place) {
  ErrorCondition problem;
  ErrorCondition ignored;
  static_cast<void>(acceptor.open(place.protocol(), problem));
  if (problem) {
    return problem;
  }
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  static_cast<void>(acceptor.set_option(Tcp::acceptor::reuse_address(true), ignored));
  if (place.address().is_v6()) {
    static_cast<void>(acceptor.set_option(asio::ip::v6_only(true), ignored));
  }
  static_cast<void>(acceptor.bind(place, problem));
  if (!problem) {
    static_cast<void>(acceptor.listen(asio::socket_base::max_listen_connections, problem));
  }
  if (problem) {
    static_cast<void>(acceptor.close(ignored));
  }
  return problem;
}

Error cannot_listen(std::uint16_t port, const ErrorCondition& problem) {
  std::string message = fmt::format("cannot listen at port {}: {}", port, problem.message());
  if (problem.value() == EADDRINUSE) {
    message = fmt::format(
        "port {} is taken by another program; choose another one, or let --port 0 find one", port);
  } else if (problem.value() == EACCES) {
    message = fmt::format("port {} is for the system's own services; choose one above 1023", port);
  }
  return {
      .code = ErrorCode::E_STORAGE_IO, .message = std::move(message), .os_error = problem.value()};
}

}  // namespace

struct IoSocket::Impl {
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
  close();
}

struct IoLoop::Impl {
  asio::io_context context{1};
  Tcp::acceptor v4{context};
  Tcp::acceptor v6{context};  // Not open on a machine without IPv6.
  asio::posix::stream_descriptor watched{context};
  OnClient on_client;

  void accept(Tcp::acceptor& acceptor);
};

IoLoop::IoLoop() : impl_(std::make_unique<Impl>()) {}
IoLoop::~IoLoop() = default;

void IoLoop::Impl::accept(Tcp::acceptor& acceptor) {
  if (!acceptor.is_open()) {
    return;
  }
  acceptor.async_accept([this, &acceptor](const ErrorCondition& problem, Tcp::socket client) {
    if (!acceptor.is_open()) {
      return;
    }
    if (problem) {
      const auto pause = std::make_shared<asio::steady_timer>(context, kAcceptPause);
      pause->async_wait([this, &acceptor, pause](const ErrorCondition&) { accept(acceptor); });
      return;
    }
    ::fcntl(client.native_handle(), F_SETFD, FD_CLOEXEC);
    ErrorCondition ignored;
    static_cast<void>(client.non_blocking(true, ignored));
    static_cast<void>(client.set_option(Tcp::no_delay(true), ignored));
    accept(acceptor);  // First: what on_client throws must not be the end of it.
    on_client(std::make_unique<IoSocket>(std::make_unique<IoSocket::Impl>(std::move(client))));
  });
}

Result<std::uint16_t> IoLoop::listen(std::uint16_t port, OnClient on_client) {
  impl_->on_client = std::move(on_client);
  for (int tries = 1;; ++tries) {
    if (const auto problem = listen_at(impl_->v4, {asio::ip::address_v4::loopback(), port})) {
      return cannot_listen(port, problem);
    }
    const std::uint16_t found = impl_->v4.local_endpoint().port();
    const auto problem = listen_at(impl_->v6, {asio::ip::address_v6::loopback(), found});
    if (problem.value() != EADDRINUSE) {
      impl_->accept(impl_->v4);
      impl_->accept(impl_->v6);
      return found;
    }
    if (port != 0 || tries == kTriesMax) {
      return cannot_listen(found, problem);
    }
    stop_listening();
  }
}

void IoLoop::when_readable(const Descriptor& descriptor, std::function<void()> call) {
  // A number of its own, since Asio closes it.
  impl_->watched.assign(::fcntl(descriptor.number(), F_DUPFD_CLOEXEC, 0));
  impl_->watched.async_wait(asio::posix::stream_descriptor::wait_read,
                            [call = std::move(call)](const ErrorCondition& problem) {
                              if (!problem) {
                                call();
                              }
                            });
}

void IoLoop::after(std::chrono::milliseconds time, std::function<void()> call) {
  const auto timer = std::make_shared<asio::steady_timer>(impl_->context, time);
  timer->async_wait([timer, call = std::move(call)](const ErrorCondition&) { call(); });
}

void IoLoop::post(std::function<void()> call) { asio::post(impl_->context, std::move(call)); }

void IoLoop::stop_listening() {
  ErrorCondition ignored;
  static_cast<void>(impl_->v4.close(ignored));
  static_cast<void>(impl_->v6.close(ignored));
}

void IoLoop::finish() { impl_->context.stop(); }

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
