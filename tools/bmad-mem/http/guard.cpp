// guard.cpp - checks token, Host and Origin of a request, and makes the secrets.
#include "http/guard.hpp"

#include <sodium.h>

#include <array>
#include <cstdlib>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kSession = "/auth/session";
constexpr std::string_view kLink = "/auth/link";
constexpr std::array<std::string_view, 3> kHosts = {"localhost", "127.0.0.1", "[::1]"};
constexpr std::array<std::string_view, 4> kMethods = {"GET", "POST", "PATCH", "DELETE"};

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

/// What stands behind "Bearer" in the header; empty when nothing does.
std::string_view bearer_of(const HttpRequest& head) {
  static constexpr std::string_view kScheme = "bearer ";
  const std::string_view value = head.header("authorization");
  return lower_ascii(value.substr(0, kScheme.size())) == kScheme
             ? trimmed(value.substr(kScheme.size()))
             : std::string_view();
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

std::optional<std::string> Access::page_secret_for(std::string_view code, Time now) {
  const std::scoped_lock lock(mutex_);
  const auto found = find(codes_, code, now);
  if (found == codes_.end()) {
    return std::nullopt;
  }
  codes_.erase(found);
  return add(page_secrets_, kPageSecretsMax, now + kPageSecretTime, now);
}

bool Access::is_page_secret(std::string_view text, Time now) const {
  const std::scoped_lock lock(mutex_);
  return find(page_secrets_, text, now) != page_secrets_.end();
}

void Access::forget_page_secret(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(page_secrets_, [&](const Secret& secret) { return is_same(secret.text, text); });
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
  const std::string_view secret = bearer_of(head);
  return access_->is_token(secret) || access_->is_page_secret(secret, now);
}

bool Guard::is_of_page(const HttpRequest& head, Access::Time now) const {
  return access_->is_page_secret(bearer_of(head), now);
}

std::optional<HttpResponse> Guard::token_refusal(const HttpRequest& head, Access::Time now) const {
  if ((is_read(head) && is_page_(head.path)) || is_exchange(head)) {
    return std::nullopt;
  }
  if (knows(head, now)) {
    return std::nullopt;
  }
  return unauthorized(head.header_count("authorization") == 0
                          ? "open the link that `bmad-mem serve` prints, or send the token"
                          : "the token is not that of this server; it changes with each start");
}

// How a page comes to its secret.

std::string one_time_link(Access& access, std::uint16_t port, Access::Time now) {
  return fmt::format("http://127.0.0.1:{}/#code={}", port, access.new_code(now));
}

namespace {

std::int64_t seconds_in(std::chrono::seconds time) { return time.count(); }

HttpResponse exchange_code(Access& access, const HttpRequest& request, Access::Time now) {
  const ParsedJson body(request.body);
  if (!body || !(*body)["code"].is_string()) {
    return error_response(400, "bad_request", R"(send {"code":"…"}, with the code of the link)");
  }
  const std::optional<std::string> secret = access.page_secret_for((*body)["code"].string(), now);
  if (!secret) {
    return unauthorized(
        "this link has been used already, or is too old; `bmad-mem serve` prints another one");
  }
  return json_response(
      json_object("secret", *secret, "expires_in_s", seconds_in(Access::kPageSecretTime)));
}

}  // namespace

bool is_auth_path(std::string_view path) { return path == kSession || path == kLink; }

HttpResponse answer_auth(Access& access, const std::string& root, const HttpRequest& request,
                         Access::Time now) {
  if (request.path == kLink) {
    return request.method != "POST"
               ? method_refusal("POST")
               : json_response(json_object("url", one_time_link(access, request.port, now),
                                           "expires_in_s", seconds_in(Access::kCodeTime)));
  }
  if (request.method == "POST") {
    return exchange_code(access, request, now);
  }
  if (request.method == "GET") {
    return json_response(
        json_object("root", root, "version", tool_version(), "port", request.port));
  }
  if (request.method == "DELETE") {  // The token stays: it is not a page's to take away.
    access.forget_page_secret(bearer_of(request));
    return {.status = 204};
  }
  return method_refusal("GET, HEAD, POST, DELETE");
}

}  // namespace bmad_mem::cli
