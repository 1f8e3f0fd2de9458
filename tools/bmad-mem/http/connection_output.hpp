// connection_output.hpp - what other threads write to a connection: a body in pieces, or events.
//
//   writer ──write()──> BodyPipe ──post──┐
//                                        ├──> HttpConnection::send(), on the I/O thread
//   any thread ──send()──> EventSink ────┘
//
// Both count the bytes that wait for the client. A full pipe holds its writer up, since there is
// more where that came from; a full sink ends the stream, since events wait for nobody.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "http/http_message.hpp"
#include "http/io_loop.hpp"

namespace bmad_mem::cli {

class HttpConnection;

/// Takes a body piece by piece on a writer's thread, and hands it to the I/O thread.
class BodyPipe : public HttpBodyWriter {
 public:
  BodyPipe(std::shared_ptr<HttpConnection> connection, IoLoop& loop, bool is_chunked);

  bool write(std::string_view piece) override;

  /// Of the I/O thread: that many bytes have gone out.
  void on_gone_out(std::size_t size);
  /// Of the I/O thread: the client has gone.
  void on_client_gone();

 private:
  bool write_part(std::string text);

  const std::shared_ptr<HttpConnection> connection_;
  IoLoop* const loop_;
  const bool is_chunked_;
  std::mutex mutex_;  // Guards the rest.
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  bool is_gone_ = false;
};

/// Takes events from any thread, also when the connection is closed and the server gone.
class EventSink : public HttpEventSink {
 public:
  /// The stream ends when more than `size_max` bytes wait for the client.
  EventSink(const std::shared_ptr<HttpConnection>& connection, IoLoop& loop, std::size_t size_max);

  void send(std::shared_ptr<const std::string> text) override;
  void close() override;

  /// Of the I/O thread: that many bytes have gone out.
  void on_gone_out(std::size_t size);
  /// Of the I/O thread: the client has gone.
  void on_client_gone();

 private:
  const std::weak_ptr<HttpConnection> connection_;
  const std::size_t size_max_;
  std::mutex mutex_;  // Guards the rest.
  IoLoop* loop_;      // Null once nothing is sent any more.
  std::size_t waiting_ = 0;
};

}  // namespace bmad_mem::cli
