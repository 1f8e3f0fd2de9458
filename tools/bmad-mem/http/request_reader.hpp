// request_reader.hpp - bytes from a client to a request, within limits.
//
//   kNothing ──bytes──> kHead ──> kHeadDone ──take_body()──> kBody ──> kDone
//                         │                        │           │
//                         └────────────────────────┴───────────┴────> kRefused
//
// Reads HTTP/1.1 and 1.0 with Beast's parser, which is strict, and refuses what two programs could
// understand differently. Knows of no sockets. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "http/http_message.hpp"

namespace bmad_mem::cli {

struct RequestLimits {
  std::size_t head_size_max = std::size_t{16} << 10U;   ///< Request line and headers.
  std::size_t fields_max = 100;                         ///< Headers.
  std::size_t target_size_max = std::size_t{8} << 10U;  ///< Path and query.
  std::size_t path_size_max = 1024;                     ///< Decoded.
};

class RequestReader {
 public:
  enum class State : std::uint8_t { kNothing, kHead, kHeadDone, kBody, kDone, kRefused };

  /// `port` is that of the server, for the request.
  RequestReader(const RequestLimits& limits, std::uint16_t port);
  ~RequestReader();

  /// Takes bytes and returns how many it has used up; the others must come again, with more behind
  /// them. In kHeadDone and from kDone on it takes none.
  std::size_t take(std::string_view bytes);
  /// Goes on from kHeadDone: to kBody, to kDone when there is no body, or to kRefused when more
  /// than `size_max` bytes are announced.
  void take_body(std::size_t size_max);

  [[nodiscard]] State state() const { return state_; }
  /// From kHeadDone on. The method of HEAD is GET.
  [[nodiscard]] const HttpRequest& head() const { return request_; }
  /// In kDone.
  HttpRequest take_request();
  /// In kRefused.
  HttpResponse take_refusal();

  // From kHeadDone on.
  [[nodiscard]] bool is_head_method() const { return is_head_method_; }
  [[nodiscard]] bool is_http_1_0() const { return is_http_1_0_; }
  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }

 private:
  struct Impl;

  void refuse(std::uint16_t status, std::string_view code, std::string_view message);
  void finish_head();
  void check_headers(unsigned version);
  void read_target(std::string_view target);

  RequestLimits limits_;
  std::unique_ptr<Impl> impl_;  // Keeps Beast out of this header.
  State state_ = State::kNothing;
  std::size_t head_size_ = 0;
  HttpRequest request_;
  HttpResponse refusal_;
  bool is_head_method_ = false;
  bool is_http_1_0_ = false;
  bool keeps_alive_ = false;
  bool expects_continue_ = false;
};

}  // namespace bmad_mem::cli
