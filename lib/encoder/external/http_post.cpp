// http_post.cpp - sends one POST to a server of HTTP on this machine and reads its answer.
#include <fcntl.h>

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "external/external_encoder.hpp"

namespace bmad_mem {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using Failure = boost::system::error_code;

constexpr std::string_view kScheme = "http://";
constexpr std::uint32_t kHeadSizeMax = 16U << 10U;
constexpr std::size_t kBufferSizeMax = 64U << 10U;

Error wrong_url(std::string_view url, std::string_view why) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = fmt::format("{} {}; write it as http://127.0.0.1:PORT/v1/embeddings",
                                 utf8_repaired(url), why)};
}

/// What a server says about its refusal, on one line.
std::string beginning(std::string_view body) {
  constexpr std::size_t kShownMax = 200;
  std::string text = utf8_repaired(utf8_prefix(body, kShownMax));
  std::ranges::replace_if(
      text, [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; }, ' ');
  return text;
}

/// One exchange with its limits.
class Exchange {
 public:
  Exchange(const HttpPlace& place, std::chrono::milliseconds timeout)
      : place_(place), timeout_(timeout), stream_(io_) {
    stream_.expires_after(timeout);  // For all that follows.
  }

  Result<std::string> run(std::string_view json, std::size_t answer_size_max) {
    connect();
    if (failure_) {
      return problem("can't be reached");
    }
    http::request<http::string_body> request(http::verb::post, place_.target, 11);
    request.set(http::field::host, place_.host);
    request.set(http::field::content_type, "application/json");
    request.set(http::field::accept, "application/json");
    request.set(http::field::user_agent, "bmad-mem");
    request.keep_alive(false);
    request.body() = json;
    request.prepare_payload();
    const auto done = [&](Failure failure, std::size_t /*size*/) { failure_ = failure; };
    wait([&] { http::async_write(stream_, request, done); });
    // Who refuses early need not read all: its answer says why.
    if (failure_ == beast::error::timeout) {
      return problem("takes no question");
    }
    http::response_parser<http::string_body> parser;
    parser.header_limit(kHeadSizeMax);
    parser.body_limit(answer_size_max);
    // Bounds what Beast does not count: lines of chunks, and what follows the last one.
    beast::flat_buffer buffer(kBufferSizeMax);
    // The head by itself: where the body comes with it, Boost 1.74 goes on after a body_limit.
    wait([&] { http::async_read_header(stream_, buffer, parser, done); });
    if (!failure_) {
      wait([&] { http::async_read(stream_, buffer, parser, done); });
    }
    if (failure_) {
      return problem("gives no whole answer");
    }
    http::response<http::string_body> response = parser.release();
    const unsigned status = response.result_int();
    if (status == 200) {
      return std::move(response.body());
    }
    const bool is_elsewhere = status >= 300 && status < 400;
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = fmt::format("answers with status {}: {}", status,
                                        is_elsewhere ? "a redirect, and none is followed"
                                                     : beginning(response.body()))};
  }

 private:
  /// To the first address that answers.
  void connect() {
    for (const std::string& address : place_.addresses) {
      const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address), place_.port);
      asio::ip::tcp::socket& socket = stream_.socket();
      stream_.close();
      static_cast<void>(socket.open(endpoint.protocol(), failure_));
      if (failure_) {
        continue;
      }
      ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
      wait([&] { stream_.async_connect(endpoint, [&](Failure failure) { failure_ = failure; }); });
      if (!failure_ || failure_ == beast::error::timeout) {
        return;
      }
    }
  }

  template <typename Start>
  void wait(const Start& start) {
    start();
    io_.restart();
    io_.run();
  }

  [[nodiscard]] Error problem(std::string_view what) const {
    if (failure_ == beast::error::timeout) {
      return {.code = ErrorCode::E_QUERY_TIMEOUT,
              .message = fmt::format("took longer than {} ms", timeout_.count())};
    }
    if (failure_ == http::error::body_limit || failure_ == http::error::header_limit ||
        failure_ == http::error::buffer_overflow) {
      return {.code = ErrorCode::E_SIZE_LIMIT, .message = "answers more than is taken"};
    }
    return {.code = ErrorCode::E_STORAGE_IO,
            .message = fmt::format("{}: {}", what, failure_.message())};
  }

  const HttpPlace& place_;
  std::chrono::milliseconds timeout_;
  asio::io_context io_{1};
  beast::tcp_stream stream_;
  Failure failure_;
};

/// Takes the port off the end of `host`; 80 without one, 0 for what is no port.
std::uint16_t take_port(std::string_view& host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    return 80;
  }
  const std::string_view digits = host.substr(colon + 1);
  host = host.substr(0, colon);
  return number_in<std::uint16_t>(digits).value_or(0);
}

}  // namespace

Result<HttpPlace> http_place(std::string_view url, bool takes_remote) {
  const bool is_printable = std::ranges::all_of(
      url, [](unsigned char c) { return c > 0x20 && c < 0x7F && c != '"' && c != '\\'; });
  if (url.starts_with("https://")) {
    return wrong_url(url, "is encrypted, which is not supported; put a local proxy before it");
  }
  if (!url.starts_with(kScheme) || !is_printable || url.contains('#')) {
    return wrong_url(url, "is no URL of HTTP");
  }
  const std::string_view rest = url.substr(kScheme.size());
  std::string_view host = rest.substr(0, rest.find_first_of("/?"));
  HttpPlace place{.host = std::string(host), .target = std::string(rest.substr(host.size()))};
  if (!place.target.starts_with('/')) {
    place.target.insert(0, "/");
  }
  if (host.contains('@')) {
    return wrong_url(url, "has a user name, and none is sent");
  }
  if (place.port = take_port(host); place.port == 0) {
    return wrong_url(url, "has no port from 1 to 65535");
  }
  if (host == "localhost") {
    place.addresses = {"127.0.0.1", "::1"};
    return place;
  }
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  const std::string literal(is_bracketed ? host.substr(1, host.size() - 2) : host);
  Failure failure;
  const asio::ip::address address = asio::ip::make_address(literal, failure);
  if (failure || address.is_v6() != is_bracketed) {
    return wrong_url(url, "names no address, and no name but localhost is looked up");
  }
  if (!address.is_loopback() && !takes_remote) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = fmt::format(
                     "{} is another machine, and texts of the memory do not leave this one; if "
                     "they may, unencrypted: `bmad-mem config set encoder.remote true`",
                     url)};
  }
  place.addresses = {address.to_string()};
  return place;
}

Result<std::string> http_post(const HttpPlace& place, std::string_view json,
                              std::chrono::milliseconds timeout, std::size_t answer_size_max) {
  assert(!place.addresses.empty() && place.target.starts_with('/'));
  try {
    return Exchange(place, timeout).run(json, answer_size_max);
  } catch (const boost::system::system_error& failure) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = fmt::format("can't be asked: {}", failure.what())};
  }
}

}  // namespace bmad_mem
