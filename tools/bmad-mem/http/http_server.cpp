// http_server.cpp - accepts connections, and stops in time.
#include "http/http_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "cli/program.hpp"
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

HttpServer::HttpServer(HttpHandler& the_handler, const HttpServerOptions& the_options)
    : handler(the_handler),
      options(the_options),
      // Each connection has one task at most, so adding one never waits.
      workers(the_options.workers,
              2 * (the_options.connections_max + the_options.streams_max) + 64),
      writers(the_options.writers, the_options.writers + 1) {
  workers.when_idle(the_options.pause, [this] { return handler.rest(); });
}

void HttpServer::on_client(std::unique_ptr<IoSocket> socket) {
  drop_strangers();
  std::size_t plain = connections.size() - streams;
  if (plain >= options.connections_max && drop_oldest({})) {
    plain = connections.size() - streams;
  }
  if (plain >= options.connections_max + kTurnedAwayMax) {
    return;
  }
  const auto connection = std::make_shared<HttpConnection>(*this, std::move(socket));
  connections.insert(connection);
  if (plain >= options.connections_max) {
    connection->turn_away();
  } else {
    connection->start();
  }
}

/// Closes the connection of a client without a token that is the oldest, if it is of that age.
bool HttpServer::drop_oldest(std::chrono::milliseconds age_min) {
  std::shared_ptr<HttpConnection> oldest;
  for (const auto& connection : connections) {
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
void HttpServer::drop_strangers() {
  std::uint64_t strangers = sum_of(
      connections, [](const auto& connection) { return connection->is_stranger() ? 1U : 0U; });
  while (strangers >= options.strangers_max && drop_oldest(kTimeToShow)) {
    --strangers;
  }
}

void HttpServer::tick() {
  const auto now = std::chrono::steady_clock::now();
  loop.after(tick_of(options), [this] { tick(); });
  for (const auto& connection : all()) {
    connection->on_tick(now);
  }
}

void HttpServer::wind_down() {
  if (std::exchange(is_stopping, true)) {
    return;
  }
  loop.stop_listening();
  for (const auto& connection : all()) {
    connection->wind_down();
  }
  if (connections.empty()) {
    loop.finish();
    return;
  }
  loop.after(options.grace, [this] {
    for (const auto& connection : all()) {
      connection->close();
    }
  });
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpHandler& handler,
                                                     const HttpServerOptions& options) {
  const Descriptor signals = take_ending_signals();
  if (!signals.is_open()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = fmt::format("cannot wait for signals: {}", std::strerror(errno)),
                 .os_error = errno};
  }
  auto it = std::make_unique<HttpServer>(handler, options);
  it->loop.when_readable(signals, [it = it.get()] { it->wind_down(); });
  BMAD_TRY_ASSIGN(it->port, it->loop.listen(options.port, [it = it.get()](auto socket) {
    it->on_client(std::move(socket));
  }));
  it->tick();
  return it;
}

bool HttpServer::run() {
  loop.run();
  workers.drop_waiting();
  writers.drop_waiting();
  const auto until = std::chrono::steady_clock::now() + options.grace;
  bool is_late = false;
  const auto stop = [&] { return is_late = std::chrono::steady_clock::now() >= until; };
  workers.wait_until_idle(stop);
  writers.wait_until_idle(stop);
  return !is_late;
}

void HttpServer::stop() {
  loop.post([this] { wind_down(); });
}

}  // namespace bmad_mem::cli
