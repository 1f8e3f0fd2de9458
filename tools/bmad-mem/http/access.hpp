// access.hpp - who may ask the local server: the token, one-time codes, and the pages' cookies.
//
//   token    for programs, in a file that only this user can read; as long as the server lives
//   code     in the link that opens the pages: once, within ten minutes
//   cookie   what the pages get for a code; twelve hours
//
// All are 256 random bits and compared in constant time. Nothing here is ever printed but by the
// command that makes the link. Threads: safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

class Access {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kCodeTime{10};
  static constexpr std::chrono::hours kCookieTime{12};
  static constexpr std::size_t kCodesMax = 8;     ///< Open ones; the oldest makes room.
  static constexpr std::size_t kCookiesMax = 64;  ///< The same.

  /// Makes the token.
  Access();

  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] bool is_token(std::string_view text) const;

  std::string new_code(Time now);
  /// A cookie for the code, which is worth nothing from then on; nothing for a wrong one.
  std::optional<std::string> cookie_for(std::string_view code, Time now);
  [[nodiscard]] bool is_cookie(std::string_view text, Time now) const;
  void forget_cookie(std::string_view text);

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
  Secrets cookies_;
};

}  // namespace bmad_mem::cli
