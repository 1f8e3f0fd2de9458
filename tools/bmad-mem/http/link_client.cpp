#include "http/link_client.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "descriptor.hpp"

namespace bmad_mem::cli {
namespace {

constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};
constexpr std::size_t kAnswerSizeMax = std::size_t{64} << 10U;

Descriptor connect_to(std::uint16_t port) {
  Descriptor out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!out.is_open()) {
    return out;
  }
  ::setsockopt(out.number(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(out.number(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const sockaddr_in address{.sin_family = AF_INET,
                            .sin_port = htons(port),
                            .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                            .sin_zero = {}};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as POSIX has it.
  const auto* const place = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(out.number(), place, sizeof address) == 0 ? std::move(out) : Descriptor();
}

/// What the server says until it closes; empty when it says nothing.
std::string talk(const Descriptor& socket, std::string_view request) {
  std::string out;
  if (::send(socket.number(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return out;
  }
  std::array<char, 4096> buffer{};
  while (out.size() < kAnswerSizeMax) {
    const ssize_t size = ::recv(socket.number(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      break;
    }
    out.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return out;
}

}  // namespace

Result<std::string> ask_for_link(const RunningServer& server) {
  const Descriptor socket = connect_to(server.port);
  std::string answer;
  if (socket.is_open()) {
    answer =
        talk(socket, fmt::format("POST /auth/link HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n"
                                 "Authorization: Bearer {}\r\nContent-Type: application/json\r\n"
                                 "Content-Length: 2\r\n\r\n{{}}",
                                 server.port, server.token));
  }
  JsonParser parser;
  const std::size_t body = answer.find("\r\n\r\n");
  if (answer.starts_with("HTTP/1.1 200 ") && body != std::string::npos) {
    const Result<JsonValue> value = parser.parse(std::string_view(answer).substr(body + 4));
    if (value && (*value)["url"].is_string()) {
      return std::string((*value)["url"].string());
    }
  }
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("the server that runs for this memory (process {}) gives no "
                                      "link; end it and start anew",
                                      server.pid)};
}

}  // namespace bmad_mem::cli
