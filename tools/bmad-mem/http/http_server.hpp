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
#include <cstdint>
#include <memory>

#include "bmad_mem/result.hpp"
#include "http/http_message.hpp"
#include "http/request_reader.hpp"

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

class HttpServer {
 public:
  /// Binds 127.0.0.1 and, where there is one, ::1. Takes SIGINT and SIGTERM for itself, so it must
  /// be called before other threads are started. `handler` must outlive the server.
  /// Errors: E_STORAGE_IO, for example when the port is taken.
  static Result<HttpServer> open(HttpHandler& handler, const HttpServerOptions& options);

  HttpServer(HttpServer&&) noexcept;
  /// Waits for what still runs.
  ~HttpServer();

  [[nodiscard]] std::uint16_t port() const;
  /// Serves until stop(), SIGINT or SIGTERM. Then requests that are being worked on are still
  /// answered, for options.grace. False: one of them has not ended even so.
  bool run();
  void stop();

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem::cli
