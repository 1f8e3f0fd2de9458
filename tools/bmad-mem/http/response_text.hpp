// response_text.hpp - a response as the bytes of HTTP/1.1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/http_message.hpp"

namespace bmad_mem::cli {

/// How the client learns where the body ends.
enum class BodyFraming : std::uint8_t {
  kNone,     ///< There is none, as for 204 and 304.
  kLength,   ///< Its length is known.
  kChunked,  ///< In pieces.
  kUntilEnd  ///< At the end of the connection.
};

struct ResponseForm {
  BodyFraming framing = BodyFraming::kLength;
  bool keeps_alive = true;  ///< Whether the connection takes further requests.
};

/// Status line and headers, with what every response of this server says for security. Nothing that
/// is put into a header can break out of it.
std::string response_head(const HttpResponse& response, ResponseForm form);

/// A piece of a chunked body; must not be empty, since that would be its end.
std::string chunk(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace bmad_mem::cli
