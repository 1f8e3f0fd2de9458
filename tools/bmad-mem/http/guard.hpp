// guard.hpp - which requests may come in at all: looked at before anything else, on the head alone.
//
//   1. Host      one of localhost, 127.0.0.1, [::1] with our port, else 421: a name of somebody
//                else's that points here (DNS rebinding) gets nothing
//   2. method    GET, HEAD, POST, PATCH, DELETE, else 405
//   3. Origin    ours or absent, Sec-Fetch-Site too, else 403: no page of another site may ask
//   4. type      a body is application/json, else 415: no HTML form may send it
//   5. who       the token, or the cookie of the pages, else 401
//
// The pages themselves hold no secret and need no token; what they ask for does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/access.hpp"
#include "http/http_message.hpp"

namespace bmad_mem::cli {

/// Threads: safe.
class Guard {
 public:
  /// `is_page` tells the paths that anybody on this machine may GET. `access` must outlive this.
  Guard(const Access& access, bool (*is_page)(std::string_view path))
      : access_(&access), is_page_(is_page) {}

  /// Why the request may not come in; nothing when it may.
  [[nodiscard]] std::optional<HttpResponse> refusal(const HttpRequest& head,
                                                    Access::Time now) const;
  /// Whether it comes with the token, or with a cookie of the pages.
  [[nodiscard]] bool knows(const HttpRequest& head, Access::Time now) const;

 private:
  [[nodiscard]] bool has_token(const HttpRequest& head) const;
  [[nodiscard]] bool has_cookie(const HttpRequest& head, Access::Time now) const;
  [[nodiscard]] std::optional<HttpResponse> site_refusal(const HttpRequest& head) const;
  [[nodiscard]] std::optional<HttpResponse> token_refusal(const HttpRequest& head,
                                                          Access::Time now) const;

  const Access* access_;
  bool (*is_page_)(std::string_view path);
};

/// The name of the pages' cookie. Cookies know no ports, so it says the port itself.
std::string cookie_name(std::uint16_t port);
/// The values of the pages' cookie that came with the request: several, when a program at another
/// port has set some.
std::vector<std::string_view> cookie_values(const HttpRequest& head);

/// 405, with what is allowed.
HttpResponse method_refusal(std::string_view allowed);

}  // namespace bmad_mem::cli
