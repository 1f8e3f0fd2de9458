#include "http/guard.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kSession = "/auth/session";
constexpr std::string_view kLink = "/auth/link";
constexpr std::array<std::string_view, 3> kHosts = {"localhost", "127.0.0.1", "[::1]"};
constexpr std::array<std::string_view, 4> kMethods = {"GET", "POST", "PATCH", "DELETE"};
constexpr std::size_t kCookieValuesMax = 8;

constexpr std::size_t kSecretBytes = 32;

/// 256 random bits in letters that need no quoting anywhere.
std::string new_secret() {
  std::array<unsigned char, kSecretBytes> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string out(sodium_base64_ENCODED_LEN(kSecretBytes, kVariant), '\0');
  sodium_bin2base64(out.data(), out.size(), bytes.data(), bytes.size(), kVariant);
  out.pop_back();  // Its NUL.
  sodium_memzero(bytes.data(), bytes.size());
  return out;
}

bool is_same(std::string_view left, std::string_view right) {
  return left.size() == right.size() && sodium_memcmp(left.data(), right.data(), left.size()) == 0;
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
  return is_among(kHosts, lower_ascii(text));
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
  const std::string lower = lower_ascii(type);
  const std::size_t end = lower.find(';');
  const std::string_view parameter =
      end == std::string::npos ? "charset=utf-8" : trimmed(std::string_view(lower).substr(end + 1));
  return trimmed(std::string_view(lower).substr(0, end)) == "application/json" &&
         (parameter == "charset=utf-8" || parameter == "charset=\"utf-8\"");
}

bool is_exchange(const HttpRequest& head) { return head.method == "POST" && head.path == kSession; }

HttpResponse unauthorized(std::string_view message) {
  return error_response(401, "unauthorized", message, {{"www-authenticate", "Bearer"}});
}

/// The name of the pages' cookie. Cookies know no ports, so it says the port itself.
std::string cookie_name(std::uint16_t port) { return fmt::format("bmad_mem_{}", port); }

/// The values of the pages' cookie that came with the request: several, when a program at another
/// port has set some.
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

HttpResponse cookie_response(std::uint16_t port, std::string_view value,
                             std::chrono::seconds time) {
  return {
      .status = 204,
      .headers = {{"set-cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}",
                                             cookie_name(port), value, time.count())}}};
}

}  // namespace

// Secrets.

Access::Access() {
  if (sodium_init() < 0) {
    std::abort();  // Without random numbers there are no secrets.
  }
  token_ = new_secret();
}

bool Access::is_token(std::string_view text) const { return is_same(text, token_); }

std::string Access::add(Secrets& secrets, std::size_t size_max, Time until, Time now) {
  std::erase_if(secrets, [&](const Secret& secret) { return secret.until <= now; });
  if (secrets.size() == size_max) {
    secrets.erase(secrets.begin());
  }
  secrets.push_back({new_secret(), until});
  return secrets.back().text;
}

Access::Secrets::const_iterator Access::find(const Secrets& secrets, std::string_view text,
                                             Time now) {
  auto found = secrets.end();
  // All of them, so that the time tells nothing.
  for (auto secret = secrets.begin(); secret != secrets.end(); ++secret) {
    if (is_same(secret->text, text) && now < secret->until) {
      found = secret;
    }
  }
  return found;
}

std::string Access::new_code(Time now) {
  const std::scoped_lock lock(mutex_);
  return add(codes_, kCodesMax, now + kCodeTime, now);
}

std::optional<std::string> Access::cookie_for(std::string_view code, Time now) {
  const std::scoped_lock lock(mutex_);
  const auto found = find(codes_, code, now);
  if (found == codes_.end()) {
    return std::nullopt;
  }
  codes_.erase(found);
  return add(cookies_, kCookiesMax, now + kCookieTime, now);
}

bool Access::is_cookie(std::string_view text, Time now) const {
  const std::scoped_lock lock(mutex_);
  return find(cookies_, text, now) != cookies_.end();
}

void Access::forget_cookie(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(cookies_, [&](const Secret& secret) { return is_same(secret.text, text); });
}

// The guard.

std::optional<HttpResponse> Guard::refusal(const HttpRequest& head, Access::Time now) const {
  if (head.header_count("host") != 1 || !is_own_host(head.header("host"), head.port)) {
    return error_response(
        421, "wrong_host",
        fmt::format("this server answers at http://127.0.0.1:{} only", head.port));
  }
  if (!is_among(kMethods, head.method)) {
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
  static constexpr std::string_view kScheme = "bearer ";
  const std::string_view value = head.header("authorization");
  return lower_ascii(value.substr(0, kScheme.size())) == kScheme &&
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
    return error_response(400, "bad_request", "a request can have only one Authorization header");
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

// How a browser comes to its cookie.

std::string one_time_link(Access& access, std::uint16_t port, Access::Time now) {
  return fmt::format("http://127.0.0.1:{}/#code={}", port, access.new_code(now));
}

namespace {

HttpResponse exchange_code(Access& access, const HttpRequest& request, Access::Time now) {
  JsonParser parser;
  const Result<JsonValue> body = parser.parse(request.body);
  if (!body || !(*body)["code"].is_string()) {
    return error_response(400, "bad_request", R"(send {"code":"…"}, with the code of the link)");
  }
  const std::optional<std::string> cookie = access.cookie_for((*body)["code"].string(), now);
  if (!cookie) {
    return unauthorized(
        "this link has been used already, or is too old; `bmad-mem serve` prints another one");
  }
  return cookie_response(request.port, *cookie, Access::kCookieTime);
}

HttpResponse tell_session(const std::string& root, const HttpRequest& request) {
  JsonWriter json;
  json.begin_object();
  json.member("root", root).member("version", tool_version());
  json.member("port", static_cast<std::int64_t>(request.port));
  json.end_object();
  return json_response(json.take());
}

HttpResponse end_session(Access& access, const HttpRequest& request) {
  for (const std::string_view value : cookie_values(request)) {
    access.forget_cookie(value);
  }
  return cookie_response(request.port, "", {});
}

HttpResponse make_link(Access& access, const HttpRequest& request, Access::Time now) {
  JsonWriter json;
  json.begin_object();
  json.member("url", one_time_link(access, request.port, now));
  json.member("expires_in_s",
              static_cast<std::int64_t>(std::chrono::seconds(Access::kCodeTime).count()));
  json.end_object();
  return json_response(json.take());
}

}  // namespace

bool is_auth_path(std::string_view path) { return path == kSession || path == kLink; }

HttpResponse answer_auth(Access& access, const std::string& root, const HttpRequest& request,
                         Access::Time now) {
  if (request.path == kLink) {
    return request.method == "POST" ? make_link(access, request, now) : method_refusal("POST");
  }
  if (request.method == "POST") {
    return exchange_code(access, request, now);
  }
  if (request.method == "GET") {
    return tell_session(root, request);
  }
  return request.method == "DELETE" ? end_session(access, request)
                                    : method_refusal("GET, HEAD, POST, DELETE");
}

}  // namespace bmad_mem::cli
