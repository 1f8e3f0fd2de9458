#include "http/response_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"

namespace bmad_mem::cli {
namespace {

struct Header {
  std::string_view name;
  std::string_view value;
};

// What a page of another site must not learn or do, and what our own pages may load: their own
// files only, so that stored text that slips into a page as HTML could still run nothing.
constexpr std::array kAlways = {
    Header{"x-content-type-options", "nosniff"},
    Header{"referrer-policy", "no-referrer"},
    Header{"cross-origin-resource-policy", "same-origin"},
    Header{"cross-origin-opener-policy", "same-origin"},
    Header{"x-frame-options", "DENY"},
    Header{"content-security-policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
};

std::string_view reason_of(std::uint16_t status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

/// `text` without what could begin a new line.
std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
  return out;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date() {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::chrono::system_clock::to_time_t(system_clock().now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                     kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

void append(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

}  // namespace

std::string response_head(const HttpResponse& response, ResponseForm form) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  append(out, "date", http_date());
  bool has_cache_control = false;
  for (const HttpField& field : response.headers) {
    const std::string name = one_line(field.name);
    append(out, name, one_line(field.value));
    has_cache_control = has_cache_control || name == "cache-control" || name == "Cache-Control";
  }
  for (const Header& header : kAlways) {
    append(out, header.name, header.value);
  }
  if (!has_cache_control) {
    append(out, "cache-control", "no-store");
  }
  if (!response.content_type.empty()) {
    append(out, "content-type", one_line(response.content_type));
  }
  if (form.framing == BodyFraming::kLength) {
    append(out, "content-length", fmt::format("{}", response.body.size()));
  } else if (form.framing == BodyFraming::kChunked) {
    append(out, "transfer-encoding", "chunked");
  }
  append(out, "connection", form.keeps_alive ? "keep-alive" : "close");
  out += "\r\n";
  return out;
}

std::string chunk(std::string_view piece) {
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

}  // namespace bmad_mem::cli
