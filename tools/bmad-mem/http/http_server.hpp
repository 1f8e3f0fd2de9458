// http_server.hpp - HTTP/1.1 for this machine alone: the I/O thread, the workers, the limits.
//
//   clients ──> IoLoop (run()'s thread) ──requests──> workers ──> HttpHandler::handle
//                   ^                                                │
//                   └── responses, pieces of bodies, events ─────────┘
//
// Sockets live on one thread, which never waits for anything else and never touches a memory; what
// takes its time runs on a few workers, and bodies that are made piece by piece on threads of their
// own, since they wait for slow readers.
//
// Threads: open() and run() on one; stop() from any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "bmad_mem/result.hpp"
#include "http/http_message.hpp"
#include "http/io_loop.hpp"
#include "http/request_reader.hpp"
#include "mcp/task_queue.hpp"

namespace bmad_mem::cli {

/// Each limit keeps one client from standing in the way of others.
struct HttpServerOptions {
  std::uint16_t port = 0;  ///< 0: a free one.
  RequestLimits request = {};
  std::chrono::milliseconds head_time{10'000};     ///< From a request's first byte to its head.
  std::chrono::milliseconds body_time{30'000};     ///< From there to the end of its body.
  std::chrono::milliseconds idle_time{60'000};     ///< Between requests.
  std::chrono::milliseconds stranger_time{2'000};  ///< For a head, of a client without a token.
  std::chrono::milliseconds stuck_time{20'000};    ///< A write that gets nowhere.
  std::chrono::milliseconds heartbeat{15'000};     ///< Of streams of events.
  std::chrono::milliseconds pause{2'000};          ///< Without a request, until handler.rest().
  std::chrono::milliseconds grace{500};            ///< For what runs when the server is to end.
  std::size_t connections_max = 128;               ///< That are no streams of events.
  std::size_t strangers_max = 16;                  ///< Of them, for clients without a token.
  std::size_t streams_max = 1024;                  ///< Of events.
  std::size_t stream_size_max = std::size_t{1} << 20U;   ///< Bytes that wait for one of them.
  std::size_t bodies_size_max = std::size_t{64} << 20U;  ///< Of all requests together, in bytes.
  std::size_t workers = 4;
  std::size_t writers = 8;  ///< Bodies that are made piece by piece at once.
};

class HttpConnection;

struct HttpServer {
  /// Binds 127.0.0.1 and, where there is one, ::1. Takes SIGINT and SIGTERM for itself, so it must
  /// be called before other threads are started. `handler` must outlive the server, which waits for
  /// what still runs when it goes.
  /// Errors: E_STORAGE_IO, for example when the port is taken.
  static Result<std::unique_ptr<HttpServer>> open(HttpHandler& handler,
                                                  const HttpServerOptions& options);
  /// Of open().
  HttpServer(HttpHandler& the_handler, const HttpServerOptions& the_options);

  /// Serves until stop(), SIGINT or SIGTERM. Then requests that are being worked on are still
  /// answered, for options.grace. False: one of them has not ended even so.
  bool run();
  void stop();

  // What its connections share, on the I/O thread.
  HttpHandler& handler;
  const HttpServerOptions options;
  std::uint16_t port = 0;
  IoLoop loop;
  std::set<std::shared_ptr<HttpConnection>> connections;
  std::size_t streams = 0;  // Of the connections: those that are streams of events.
  std::size_t pipes = 0;    // Bodies that are being made in pieces.
  std::size_t bodies = 0;   // Bytes of requests that are read or worked on.
  bool is_stopping = false;
  TaskQueue workers;  // Last: their threads end before the loop goes.
  TaskQueue writers;

 private:
  void on_client(std::unique_ptr<IoSocket> socket);
  bool drop_oldest(std::chrono::milliseconds age_min);
  void drop_strangers();
  void tick();
  void wind_down();
  [[nodiscard]] std::vector<std::shared_ptr<HttpConnection>> all() const {
    return {connections.begin(), connections.end()};
  }
};

}  // namespace bmad_mem::cli
