// guard.hpp - who may ask the local server what: its secrets, and the check of each request.
//
//   token    for programs, in a file that only this user can read; as long as the server lives
//   code     in the link that opens the pages: once, within ten minutes
//   secret   what a page gets for a code, kept in its tab; twelve hours
//
//   serve ──link with #code──> page ──POST /auth/session {code}──> 200 {"secret":…}
//                              page ──Authorization: Bearer <secret>──> everything else
//
// All are 256 random bits and compared in constant time. Nothing here is ever printed but by the
// command that makes the link; the code stands behind '#', which browsers send to nobody. There is
// no cookie, neither set nor read: cookies know no port, so that each server on this machine that
// a browser visits would get it. What a page keeps belongs to its origin, and that has the port.
//
// Which requests may come in at all is looked at before anything else, on the head alone:
//
//   1. Host      one of localhost, 127.0.0.1, [::1] with our port, else 421: a name of somebody
//                else's that points here (DNS rebinding) gets nothing
//   2. method    GET, HEAD, POST, PATCH, DELETE, else 405
//   3. Origin    ours or absent, Sec-Fetch-Site too, else 403: no page of another site may ask
//   4. type      a body is application/json, else 415: no HTML form may send it
//   5. who       the token, or a page's secret, as Authorization: Bearer, else 401
//
// The pages themselves hold no secret and need no token; what they ask for does. Threads: safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_message.hpp"

namespace bmad_mem::cli {

class Access {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kCodeTime{10};
  static constexpr std::chrono::hours kPageSecretTime{12};
  static constexpr std::size_t kCodesMax = 8;         ///< Open ones; the oldest makes room.
  static constexpr std::size_t kPageSecretsMax = 64;  ///< The same.

  /// Makes the token.
  Access();

  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] bool is_token(std::string_view text) const;

  std::string new_code(Time now);
  /// A secret for the code, which is worth nothing from then on; nothing for a wrong one.
  std::optional<std::string> page_secret_for(std::string_view code, Time now);
  [[nodiscard]] bool is_page_secret(std::string_view text, Time now) const;
  void forget_page_secret(std::string_view text);

 private:
  struct Secret {
    std::string text;
    Time until;
  };
  using Secrets = std::vector<Secret>;

  static std::string add(Secrets& secrets, std::size_t size_max, Time until, Time now);
  static Secrets::const_iterator find(const Secrets& secrets, std::string_view text, Time now);

  std::string token_;
  mutable std::mutex mutex_;  // Guards the rest.
  Secrets codes_;             // Oldest first.
  Secrets page_secrets_;
};

class Guard {
 public:
  /// `is_page` tells the paths that anybody on this machine may GET. `access` must outlive this.
  Guard(const Access& access, bool (*is_page)(std::string_view path))
      : access_(&access), is_page_(is_page) {}

  /// Why the request may not come in; nothing when it may.
  [[nodiscard]] std::optional<HttpResponse> refusal(const HttpRequest& head,
                                                    Access::Time now) const;
  /// Whether it comes with the token, or with the secret of a page.
  [[nodiscard]] bool knows(const HttpRequest& head, Access::Time now) const;
  /// Whether a page asks, and so the person who opened it.
  [[nodiscard]] bool is_of_page(const HttpRequest& head, Access::Time now) const;

 private:
  [[nodiscard]] std::optional<HttpResponse> site_refusal(const HttpRequest& head) const;
  [[nodiscard]] std::optional<HttpResponse> token_refusal(const HttpRequest& head,
                                                          Access::Time now) const;

  const Access* access_;
  bool (*is_page_)(std::string_view path);
};

/// Whether the path is one of those where a page comes to its secret: /auth/session, /auth/link.
bool is_auth_path(std::string_view path);
/// Answers there. `root` is that of the memory.
HttpResponse answer_auth(Access& access, const std::string& root, const HttpRequest& request,
                         Access::Time now);

/// A link that opens the pages once.
std::string one_time_link(Access& access, std::uint16_t port, Access::Time now);

}  // namespace bmad_mem::cli
