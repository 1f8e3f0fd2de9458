#include "http/access.hpp"

#include <sodium.h>

#include <array>
#include <cstdlib>

namespace bmad_mem::cli {
namespace {

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

}  // namespace

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

}  // namespace bmad_mem::cli
