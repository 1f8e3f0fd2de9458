// connection_output.hpp - what other threads write to a connection: a body in pieces, or events.
//
//   writer ──write()──────────┐
//                             ├──> HttpConnection::send(), on the I/O thread
//   any thread ──send()───────┘
//
// The bytes that wait for the client are counted. A body's writer is held up when there are many,
// since there is more where that came from; a stream of events ends, since events wait for nobody.
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

}  // namespace bmad_mem::cli
