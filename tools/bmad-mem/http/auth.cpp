#include "http/auth.hpp"

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "http/guard.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kSession = "/auth/session";
constexpr std::string_view kLink = "/auth/link";

std::string cookie_header(std::uint16_t port, std::string_view value, std::int64_t seconds) {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}", cookie_name(port),
                     value, seconds);
}

}  // namespace

std::string one_time_link(Access& access, std::uint16_t port, Access::Time now) {
  return fmt::format("http://127.0.0.1:{}/#code={}", port, access.new_code(now));
}

bool Auth::knows(std::string_view path) { return path == kSession || path == kLink; }

HttpResponse Auth::handle(const HttpRequest& request, Access::Time now) {
  if (request.path == kLink) {
    return request.method == "POST" ? make_link(request, now) : method_refusal("POST");
  }
  if (request.method == "POST") {
    return exchange(request, now);
  }
  if (request.method == "GET") {
    return tell(request);
  }
  return request.method == "DELETE" ? end(request) : method_refusal("GET, HEAD, POST, DELETE");
}

HttpResponse Auth::exchange(const HttpRequest& request, Access::Time now) {
  JsonParser parser;
  const Result<JsonValue> body = parser.parse(request.body);
  if (!body || !(*body)["code"].is_string()) {
    return error_response(400, "bad_request", R"(send {"code":"…"}, as it stands in the link)");
  }
  const std::optional<std::string> cookie = access_->cookie_for((*body)["code"].string(), now);
  if (!cookie) {
    HttpResponse response = error_response(
        401, "unauthorized",
        "this link has been used already, or is too old; `bmad-mem serve` prints another one");
    response.headers.push_back({"www-authenticate", "Bearer"});
    return response;
  }
  HttpResponse response;
  response.status = 204;
  response.headers.push_back(
      {"set-cookie",
       cookie_header(request.port, *cookie, std::chrono::seconds(Access::kCookieTime).count())});
  return response;
}

HttpResponse Auth::tell(const HttpRequest& request) const {
  JsonWriter json;
  json.begin_object();
  json.member("root", root_).member("version", tool_version());
  json.member("port", static_cast<std::int64_t>(request.port));
  json.end_object();
  return json_response(json.take());
}

HttpResponse Auth::end(const HttpRequest& request) {
  for (const std::string_view value : cookie_values(request)) {
    access_->forget_cookie(value);
  }
  HttpResponse response;
  response.status = 204;
  response.headers.push_back({"set-cookie", cookie_header(request.port, "", 0)});
  return response;
}

HttpResponse Auth::make_link(const HttpRequest& request, Access::Time now) {
  JsonWriter json;
  json.begin_object();
  json.member("url", one_time_link(*access_, request.port, now));
  json.member("expires_in_s",
              static_cast<std::int64_t>(std::chrono::seconds(Access::kCodeTime).count()));
  json.end_object();
  return json_response(json.take());
}

}  // namespace bmad_mem::cli
