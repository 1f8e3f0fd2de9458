// auth.hpp - how a browser comes to its cookie.
//
//   serve ──link with #code──> browser ──POST /auth/session {code}──> 204, Set-Cookie
//
// The code stands behind '#', which browsers send to nobody.
#pragma once

#include <string>
#include <string_view>

#include "http/access.hpp"
#include "http/http_message.hpp"

namespace bmad_mem::cli {

/// Threads: safe.
class Auth {
 public:
  /// `access` must outlive it.
  Auth(Access& access, std::string root) : access_(&access), root_(std::move(root)) {}

  /// Whether the path is one of these: /auth/session, /auth/link.
  [[nodiscard]] static bool knows(std::string_view path);
  HttpResponse handle(const HttpRequest& request, Access::Time now);

 private:
  HttpResponse exchange(const HttpRequest& request, Access::Time now);
  HttpResponse tell(const HttpRequest& request) const;
  HttpResponse end(const HttpRequest& request);
  HttpResponse make_link(const HttpRequest& request, Access::Time now);

  Access* access_;
  std::string root_;
};

/// A link that opens the pages once.
std::string one_time_link(Access& access, std::uint16_t port, Access::Time now);

}  // namespace bmad_mem::cli
