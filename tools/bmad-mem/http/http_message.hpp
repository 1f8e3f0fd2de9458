// http_message.hpp - requests and responses as the local API and the pages see them.
//
//   HttpServer ──HttpRequest──> HttpHandler ──HttpResponse──> HttpServer
//
// Plain values: nothing here knows of sockets or of the library that reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

/// A name and a value. Names of headers are in lower case.
struct HttpField {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method;              ///< As it was sent: "GET".
  std::string path;                ///< Without the query, its %XX decoded.
  std::vector<HttpField> query;    ///< Decoded, in order; a name may come twice.
  std::vector<HttpField> headers;  ///< In order, values without blanks around them.
  std::string body;                ///< Empty as long as only the head was read.
  std::uint16_t port = 0;          ///< Of the server.

  /// The header of that name, in lower case; empty when there is none. The first of several.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  /// How often it was sent.
  [[nodiscard]] std::size_t header_count(std::string_view name) const;
};

/// Where the body of a response goes that is made piece by piece. On a worker's thread.
class HttpBodyWriter {
 public:
  virtual ~HttpBodyWriter() = default;
  /// Waits while the client has not read what came before. False when it has gone, or does not
  /// read: then return.
  virtual bool write(std::string_view piece) = 0;
};

/// Where a stream of events goes that stays open. Threads: safe.
class HttpEventSink {
 public:
  virtual ~HttpEventSink() = default;
  /// Never waits. Who reads too slowly is closed; the text may be shared among many.
  virtual void send(std::shared_ptr<const std::string> text) = 0;
  /// Ends the stream when all that was sent has gone out.
  virtual void close() = 0;
};

struct HttpResponse {
  std::uint16_t status = 200;
  std::string content_type;        ///< Empty without a body.
  std::vector<HttpField> headers;  ///< Beside those the server sets.
  std::string body;
  /// Makes the body instead, chunked; false: it broke off, and the client must see that.
  std::function<bool(HttpBodyWriter&)> write_body;
  /// Keeps the response open for events instead. What it returns lives as long as the stream does.
  /// The server sends heartbeats.
  std::function<std::shared_ptr<void>(std::shared_ptr<HttpEventSink>)> open_events;
};

/// Whether a request may come in.
struct HttpAdmission {
  std::optional<HttpResponse> refusal = {};  ///< What to answer instead; the connection ends.
  /// Whether it shows that its client has the token, or was let in by somebody who has. Others hold
  /// few connections, and not for long.
  bool is_known = false;
  std::size_t body_size_max = 0;  ///< In bytes; more is answered with 413.
};

/// What a server serves. Threads: handle() is called from several at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  /// Looks at a request before its body is read. Must not take time.
  [[nodiscard]] virtual HttpAdmission admit(const HttpRequest& head) const = 0;
  /// Answers. May take its time.
  virtual HttpResponse handle(const HttpRequest& request) = 0;
  /// Called when requests were answered and no other has come for a while: for work that can wait.
  /// Returns whether there is more of it.
  virtual bool rest() { return false; }
};

/// A response with a JSON text.
HttpResponse json_response(std::string json, std::uint16_t status = 200);
/// {"error":{"code":…,"message":…}}: what every refusal and failure looks like.
HttpResponse error_response(std::uint16_t status, std::string_view code, std::string_view message,
                            std::vector<HttpField> headers = {});
/// 405, with what is allowed.
HttpResponse method_refusal(std::string_view allowed);

/// How the client learns where the body ends.
enum class BodyFraming : std::uint8_t {
  kNone,     ///< There is none, as for 204 and 304.
  kLength,   ///< Its length is known.
  kChunked,  ///< In pieces.
  kUntilEnd  ///< At the end of the connection.
};

/// Status line and headers, with what every response of this server says for security. Nothing that
/// is put into a header can break out of it. `keeps_alive`: the connection takes further requests.
std::string response_head(const HttpResponse& response, BodyFraming framing = BodyFraming::kLength,
                          bool keeps_alive = true);

/// A piece of a chunked body; must not be empty, since that would be its end.
std::string chunk(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace bmad_mem::cli
