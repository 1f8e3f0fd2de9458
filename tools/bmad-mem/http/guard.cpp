#include "http/guard.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 3> kHosts = {"localhost", "127.0.0.1", "[::1]"};
constexpr std::array<std::string_view, 4> kMethods = {"GET", "POST", "PATCH", "DELETE"};
constexpr std::size_t kCookieValuesMax = 8;

bool equal_but_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, to_lower, to_lower);
}

/// Whether `text` is one of our names with our port.
bool is_own_host(std::string_view text, std::uint16_t port) {
  const std::string end = fmt::format(":{}", port);
  // A client leaves the port 80 out.
  if (text.ends_with(end)) {
    text.remove_suffix(end.size());
  } else if (port != 80) {
    return false;
  }
  return std::ranges::any_of(kHosts,
                             [&](std::string_view host) { return equal_but_case(host, text); });
}

bool is_own_origin(std::string_view text, std::uint16_t port) {
  static constexpr std::string_view kScheme = "http://";
  return text.starts_with(kScheme) && is_own_host(text.substr(kScheme.size()), port);
}

bool is_read(const HttpRequest& head) { return head.method == "GET"; }

bool has_body(const HttpRequest& head) {
  const std::string_view size = head.header("content-length");
  return head.header_count("transfer-encoding") != 0 ||
         size.find_first_not_of('0') != std::string_view::npos;
}

/// "application/json", with or without charset=utf-8.
bool is_json(std::string_view type) {
  const std::size_t end = type.find(';');
  if (!equal_but_case(trimmed(type.substr(0, end)), "application/json")) {
    return false;
  }
  if (end == std::string_view::npos) {
    return true;
  }
  const std::string_view parameter = trimmed(type.substr(end + 1));
  return equal_but_case(parameter, "charset=utf-8") ||
         equal_but_case(parameter, "charset=\"utf-8\"");
}

bool is_exchange(const HttpRequest& head) {
  return head.method == "POST" && head.path == "/auth/session";
}

HttpResponse unauthorized(std::string_view message) {
  HttpResponse response = error_response(401, "unauthorized", message);
  response.headers.push_back({"www-authenticate", "Bearer"});
  return response;
}

}  // namespace

HttpResponse method_refusal(std::string_view allowed) {
  HttpResponse response =
      error_response(405, "method_not_allowed", fmt::format("only {} is possible here", allowed));
  response.headers.push_back({"allow", std::string(allowed)});
  return response;
}

std::string cookie_name(std::uint16_t port) { return fmt::format("bmad_mem_{}", port); }

std::vector<std::string_view> cookie_values(const HttpRequest& head) {
  const std::string name = cookie_name(head.port);
  std::vector<std::string_view> out;
  for (const HttpField& field : head.headers) {
    std::string_view rest = field.name == "cookie" ? std::string_view(field.value) : "";
    while (!rest.empty() && out.size() < kCookieValuesMax) {
      const std::string_view pair = trimmed(rest.substr(0, rest.find(';')));
      rest.remove_prefix(std::min(rest.size(), rest.find(';')));
      rest.remove_prefix(rest.empty() ? 0 : 1);
      if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
        out.push_back(pair.substr(name.size() + 1));
      }
    }
  }
  return out;
}

std::optional<HttpResponse> Guard::refusal(const HttpRequest& head, Access::Time now) const {
  if (head.header_count("host") != 1 || !is_own_host(head.header("host"), head.port)) {
    return error_response(
        421, "wrong_host",
        fmt::format("this server answers at http://127.0.0.1:{} only", head.port));
  }
  if (std::ranges::find(kMethods, head.method) == kMethods.end()) {
    return method_refusal("GET, HEAD, POST, PATCH, DELETE");
  }
  if (auto refused = site_refusal(head)) {
    return refused;
  }
  const bool needs_type = head.method == "POST" || head.method == "PATCH" || has_body(head);
  if (needs_type &&
      (head.header_count("content-type") != 1 || !is_json(head.header("content-type")))) {
    return error_response(415, "unsupported_media_type",
                          "send a body as JSON, with Content-Type: application/json");
  }
  return token_refusal(head, now);
}

std::optional<HttpResponse> Guard::site_refusal(const HttpRequest& head) const {
  const bool is_page = is_read(head) && is_page_(head.path);
  const std::size_t origins = head.header_count("origin");
  if (origins > 1 || (origins == 1 && !is_own_origin(head.header("origin"), head.port))) {
    return error_response(403, "forbidden_origin", "pages of other sites may not ask this server");
  }
  const std::string_view site = head.header("sec-fetch-site");
  const bool is_foreign = !site.empty() && site != "same-origin" && site != "none";
  // A link elsewhere may lead to a page, as one in a mail does.
  const bool is_navigation = is_page && head.header("sec-fetch-mode") == "navigate";
  if (is_foreign && !is_navigation) {
    return error_response(403, "forbidden_origin", "pages of other sites may not ask this server");
  }
  if (is_exchange(head) && origins == 0) {
    return error_response(403, "forbidden_origin",
                          "codes are for the pages; programs use the token: docs/web-interface.md");
  }
  return std::nullopt;
}

bool Guard::knows(const HttpRequest& head, Access::Time now) const {
  return has_token(head) || has_cookie(head, now);
}

bool Guard::has_token(const HttpRequest& head) const {
  static constexpr std::string_view kScheme = "Bearer ";
  const std::string_view value = head.header("authorization");
  return equal_but_case(value.substr(0, kScheme.size()), kScheme) &&
         access_->is_token(trimmed(value.substr(kScheme.size())));
}

bool Guard::has_cookie(const HttpRequest& head, Access::Time now) const {
  return std::ranges::any_of(
      cookie_values(head), [&](std::string_view value) { return access_->is_cookie(value, now); });
}

std::optional<HttpResponse> Guard::token_refusal(const HttpRequest& head, Access::Time now) const {
  if ((is_read(head) && is_page_(head.path)) || is_exchange(head)) {
    return std::nullopt;
  }
  if (head.header_count("authorization") > 1) {
    return error_response(400, "bad_request", "a request has one Authorization header at most");
  }
  if (head.header_count("authorization") == 1) {
    if (has_token(head)) {
      return std::nullopt;
    }
    return unauthorized("the token is not that of this server; it changes with each start");
  }
  if (!has_cookie(head, now)) {
    return unauthorized("open the link that `bmad-mem serve` prints, or send the token");
  }
  // A browser adds the cookie by itself, so for a write it must say whose page asks.
  if (!is_read(head) && head.header_count("origin") == 0 &&
      head.header("sec-fetch-site") != "same-origin") {
    return error_response(403, "forbidden_origin", "a page that writes must say where it is from");
  }
  return std::nullopt;
}

}  // namespace bmad_mem::cli
