#include "http/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "http/http_connection.hpp"

namespace bmad_mem::cli {
namespace {

/// Connections that are told that there are too many; further ones are closed without a word.
constexpr std::size_t kTurnedAwayMax = 64;

/// How long a client that has just connected may take to send the head of its request before
/// another one gets its place. Many of one program come at once.
constexpr std::chrono::milliseconds kTimeToShow{250};

std::chrono::milliseconds tick_of(const HttpServerOptions& options) {
  const auto least = std::min({options.head_time, options.body_time, options.idle_time,
                               options.stranger_time, options.stuck_time, options.heartbeat});
  return std::clamp<std::chrono::milliseconds>(least / 4, std::chrono::milliseconds(20),
                                               std::chrono::milliseconds(1000));
}

}  // namespace

struct HttpServer::Impl {
  Impl(HttpHandler& handler, const HttpServerOptions& options) : core(handler, options) {}

  void on_client(std::unique_ptr<IoSocket> socket);
  bool drop_oldest(std::chrono::milliseconds age_min);
  void drop_strangers();
  void tick();
  void wind_down();
  [[nodiscard]] std::vector<std::shared_ptr<HttpConnection>> all() const {
    return {core.connections.begin(), core.connections.end()};
  }

  HttpCore core;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

void HttpServer::Impl::on_client(std::unique_ptr<IoSocket> socket) {
  drop_strangers();
  std::size_t plain = core.connections.size() - core.streams;
  if (plain >= core.options.connections_max && drop_oldest({})) {
    plain = core.connections.size() - core.streams;
  }
  if (plain >= core.options.connections_max + kTurnedAwayMax) {
    return;
  }
  const auto connection = std::make_shared<HttpConnection>(core, std::move(socket));
  core.connections.insert(connection);
  if (plain >= core.options.connections_max) {
    connection->turn_away();
  } else {
    connection->start();
  }
}

/// Closes the connection of a client without a token that is the oldest, if it is of that age.
bool HttpServer::Impl::drop_oldest(std::chrono::milliseconds age_min) {
  std::shared_ptr<HttpConnection> oldest;
  for (const auto& connection : core.connections) {
    if (connection->may_go() && (!oldest || connection->since() < oldest->since())) {
      oldest = connection;
    }
  }
  if (!oldest || std::chrono::steady_clock::now() - oldest->since() < age_min) {
    return false;
  }
  oldest->close();
  return true;
}

/// Keeps those without a token below their number. Who has just come may be about to show one.
void HttpServer::Impl::drop_strangers() {
  std::size_t strangers = 0;
  for (const auto& connection : core.connections) {
    strangers += connection->is_stranger() ? 1 : 0;
  }
  while (strangers >= core.options.strangers_max && drop_oldest(kTimeToShow)) {
    --strangers;
  }
}

void HttpServer::Impl::tick() {
  const auto now = std::chrono::steady_clock::now();
  for (const auto& connection : all()) {
    connection->on_tick(now);
  }
}

void HttpServer::Impl::wind_down() {
  if (std::exchange(core.is_stopping, true)) {
    return;
  }
  core.loop.stop_listening();
  for (const auto& connection : all()) {
    connection->wind_down();
  }
  if (core.connections.empty()) {
    core.loop.finish();
    return;
  }
  core.loop.after(core.options.grace, [this] {
    for (const auto& connection : all()) {
      connection->close();
    }
  });
}

Result<HttpServer> HttpServer::open(HttpHandler& handler, const HttpServerOptions& options) {
  IoLoop::block_signals();
  auto impl = std::make_unique<Impl>(handler, options);
  Impl& it = *impl;
  BMAD_TRY(it.core.loop.take_signals([&it] { it.wind_down(); }));
  BMAD_TRY_ASSIGN(it.core.port, it.core.loop.listen(options.port, [&it](auto socket) {
    it.on_client(std::move(socket));
  }));
  it.core.loop.every(tick_of(options), [&it] { it.tick(); });
  return HttpServer(std::move(impl));
}

std::uint16_t HttpServer::port() const { return impl_->core.port; }

bool HttpServer::run() {
  HttpCore& core = impl_->core;
  core.loop.run();
  core.workers.drop_waiting();
  core.writers.drop_waiting();
  const auto until = std::chrono::steady_clock::now() + core.options.grace;
  bool is_late = false;
  const auto stop = [&] { return is_late = std::chrono::steady_clock::now() >= until; };
  core.workers.wait_until_idle(stop);
  core.writers.wait_until_idle(stop);
  return !is_late;
}

void HttpServer::stop() {
  impl_->core.loop.post([impl = impl_.get()] { impl->wind_down(); });
}

}  // namespace bmad_mem::cli
