// http_connection.hpp - one client's connection, from its first byte to its last.
//
//   kReading ──> kHandling ──> kAnswering ──> kReading …        keep-alive
//       │            ├───────> kPiping ─────────┘               a body in pieces
//       │            └───────> kEvents                          until one of them ends it
//       └──refused──> kAnswering ──> kLingering ──> closed
//
// Everything here runs on the I/O thread, except what stands behind Outlet. A stream of events
// keeps no buffers: 500 of them wait for days.
//
//   writer ──write()──────────┐
//                             ├──> Outlet ──> HttpConnection::send(), on the I/O thread
//   any thread ──send()───────┘
//
// The bytes that wait for the client are counted. A body's writer is held up when there are many,
// since there is more where that came from; a stream of events ends, since events wait for nobody.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "http/http_message.hpp"
#include "http/http_server.hpp"
#include "http/request_reader.hpp"

namespace bmad_mem::cli {

/// What other threads write to a connection: a body in pieces, or events.
/// Threads: safe, also when the connection is closed and the server gone.
class Outlet : public HttpBodyWriter, public HttpEventSink {
 public:
  /// At most `size_max` bytes wait for the client. Pieces of a body become chunks if `is_chunked`.
  Outlet(const std::shared_ptr<HttpConnection>& connection, IoLoop& loop, std::size_t size_max,
         bool is_chunked);

  bool write(std::string_view piece) override;
  void send(std::shared_ptr<const std::string> text) override;
  void close() override;

  /// Of the I/O thread: that many bytes have gone out.
  void on_gone_out(std::size_t size);
  /// Of the I/O thread: the client has gone.
  void on_client_gone();

 private:
  // With mutex_ held, while loop_ is there.
  void add(std::shared_ptr<const std::string> text);
  void end(void (HttpConnection::*how)());

  const std::weak_ptr<HttpConnection> connection_;
  const std::size_t size_max_;
  const bool is_chunked_;
  std::mutex mutex_;  // Guards the rest.
  std::condition_variable changed_;
  IoLoop* loop_;  // Null once nothing is sent any more.
  std::size_t waiting_ = 0;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  HttpConnection(HttpServer& server, std::unique_ptr<IoSocket> socket);
  ~HttpConnection();

  void start();
  /// Says that there are too many connections, and closes.
  void turn_away();
  /// Ends what takes too long; sends heartbeats.
  void on_tick(Time now);
  /// Whether nothing shows yet that the client has the token.
  [[nodiscard]] bool is_stranger() const { return !is_known_ && state_ != State::kEvents; }
  /// Whether another client may have its place: a stranger's that nothing is being worked on for.
  [[nodiscard]] bool may_go() const { return is_stranger() && state_ != State::kHandling; }
  /// Since when it waits for a request, or has been at one.
  [[nodiscard]] Time since() const { return since_; }
  /// Takes no more requests; closes at once when none is being worked on.
  void wind_down();
  void close();

  // Of what stands behind Outlet, also on the I/O thread.
  void send(std::shared_ptr<const std::string> text);
  void end_events();

 private:
  enum class State : std::uint8_t {
    kReading,
    kHandling,
    kAnswering,
    kPiping,
    kEvents,
    kLingering,
    kClosed
  };

  [[nodiscard]] Time wait_until(std::chrono::milliseconds time) const;
  bool hold_body(std::size_t size);
  void release_body();
  void read();
  void on_read(bool is_ok, std::size_t size);
  void process();
  void on_head();
  void hand_over();
  void answer(HttpResponse response);
  void refuse(const HttpResponse& response);
  void send_head(const HttpResponse& response, BodyFraming framing, std::string_view body = {});
  void send_whole(const HttpResponse& response);
  void start_pipe(HttpResponse response);
  void end_pipe(bool is_whole);
  void start_events(HttpResponse response);
  void next_request();
  void linger();

  void flush();
  void on_written(bool is_ok, std::size_t size);
  void on_drained();

  HttpServer* server_;
  std::unique_ptr<IoSocket> socket_;
  State state_ = State::kReading;
  std::unique_ptr<RequestReader> reader_;
  bool is_head_method_ = false;
  bool is_http_1_0_ = false;
  bool closes_ = false;   // After the answer.
  bool is_over_ = false;  // Of a pipe or of events: nothing is added any more.
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_known_ = false;
  std::size_t body_held_ = 0;  // Of server_->bodies.
  Time since_ = Time::max();
  Time deadline_ = Time::max();
  Time progress_;      // Of writing.
  std::string input_;  // Not yet used up; grows while a read is under way.
  std::size_t input_size_ = 0;
  std::size_t lingered_ = 0;
  std::deque<std::shared_ptr<const std::string>> output_;
  std::size_t output_offset_ = 0;   // In the first of them.
  std::shared_ptr<Outlet> outlet_;  // Of a pipe or of events.
  std::shared_ptr<void> kept_;      // What open_events() returned.
  std::array<char, 16> scrap_{};    // Where a stream reads to, to notice its end.
};

}  // namespace bmad_mem::cli
