// io_loop.hpp - the thread on which all sockets live, and the only part that uses Asio.
//
//   IoLoop loop;
//   loop.listen(0, [](std::unique_ptr<IoSocket> client) { ... });
//   loop.run();                       // Until finish().
//
// Callbacks run on the thread of run(), one at a time. Threads: only post() is safe from others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {

/// A connected socket. Each call has a callback; what is pending when the socket is closed comes
/// back with false.
class IoSocket {
 public:
  using OnDone = std::function<void(bool is_ok, std::size_t size)>;
  struct Impl;  // Keeps Asio out of this header.

  explicit IoSocket(std::unique_ptr<Impl> impl);
  ~IoSocket();

  /// Reads what there is into `buffer`, which must live until then. False: the peer has ended.
  void read_some(std::span<char> buffer, OnDone on_done);
  /// Writes as much of the pieces as goes at once; they must live until then. At most
  /// kPiecesMax of them count.
  void write_some(std::span<const std::string_view> pieces, OnDone on_done);
  /// Tells the peer that nothing more comes.
  void end_sending();
  void close();
  /// Closes so that the peer sees an error instead of an end.
  void reset();

  static constexpr std::size_t kPiecesMax = 16;

 private:
  std::unique_ptr<Impl> impl_;
};

class IoLoop {
 public:
  using OnClient = std::function<void(std::unique_ptr<IoSocket> client)>;

  IoLoop();
  ~IoLoop();

  /// Listens at `port` of 127.0.0.1 and, where the machine has it, of ::1; at no other address.
  /// 0 chooses a free one. Returns the port. Errors: E_STORAGE_IO, which names it.
  Result<std::uint16_t> listen(std::uint16_t port, OnClient on_client);
  /// Calls back once there is something to read.
  void when_readable(const Descriptor& descriptor, std::function<void()> call);
  /// Calls back once.
  void after(std::chrono::milliseconds time, std::function<void()> call);
  /// Calls back as soon as possible. Threads: safe, until the loop is destroyed.
  void post(std::function<void()> call);
  /// Takes no more clients.
  void stop_listening();
  /// Ends run(): nothing is called back any more.
  void finish();
  void run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem::cli
