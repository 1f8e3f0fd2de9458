// http_message.cpp - headers, status lines and query strings of requests and responses.
#include "http/http_message.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include <boost/beast/http/status.hpp>
#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "cli/results.hpp"

namespace bmad_mem::cli {
namespace {

using Header = std::pair<std::string_view, std::string_view>;

// What a page of another site must not learn or do, and what our own pages may load: their own
// files only, so that stored text that slips into a page as HTML could still run nothing.
constexpr Header kAlways[] = {
    {"x-content-type-options", "nosniff"},
    {"referrer-policy", "no-referrer"},
    {"cross-origin-resource-policy", "same-origin"},
    {"cross-origin-opener-policy", "same-origin"},
    {"x-frame-options", "DENY"},
    {"content-security-policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
};

/// "404 Not Found". Beast has the name that 413 had before RFC 9110.
std::string status_text(std::uint16_t status) {
  const boost::beast::string_view name =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  return fmt::format(
      "{} {}", status,
      status == 413 ? "Content Too Large" : std::string_view(name.data(), name.size()));
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
  const std::time_t now = std::chrono::system_clock::to_time_t(system_clock().now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  // The tool sets no locale: names are English.
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %T GMT", &parts)};
}

void append(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &HttpField::name);
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

std::size_t HttpRequest::header_count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count(headers, name, &HttpField::name));
}

HttpResponse json_response(std::string json, std::uint16_t status) {
  return {.status = status, .content_type = "application/json", .body = std::move(json)};
}

HttpResponse error_response(std::uint16_t status, std::string_view code, std::string_view message,
                            std::vector<HttpField> headers) {
  HttpResponse response =
      json_response(json_object("error", object_of("code", code, "message", message)), status);
  response.headers = std::move(headers);
  return response;
}

HttpResponse method_refusal(std::string_view allowed) {
  return error_response(405, "method_not_allowed", fmt::format("only {} is possible here", allowed),
                        {{"allow", std::string(allowed)}});
}

std::string response_head(const HttpResponse& response, BodyFraming framing, bool keeps_alive) {
  std::string out = fmt::format("HTTP/1.1 {}\r\n", status_text(response.status));
  append(out, "date", http_date());
  bool has_cache_control = false;
  for (const HttpField& field : response.headers) {
    const std::string name = one_line(field.name);
    append(out, name, one_line(field.value));
    has_cache_control = has_cache_control || name == "cache-control" || name == "Cache-Control";
  }
  for (const auto& [name, value] : kAlways) {
    append(out, name, value);
  }
  if (!has_cache_control) {
    append(out, "cache-control", "no-store");
  }
  if (!response.content_type.empty()) {
    append(out, "content-type", one_line(response.content_type));
  }
  if (framing == BodyFraming::kLength) {
    append(out, "content-length", fmt::format("{}", response.body.size()));
  } else if (framing == BodyFraming::kChunked) {
    append(out, "transfer-encoding", "chunked");
  }
  append(out, "connection", keeps_alive ? "keep-alive" : "close");
  out += "\r\n";
  return out;
}

std::string chunk(std::string_view piece) {
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

}  // namespace bmad_mem::cli
