// cookies.cpp - values of cookies, as browsers, servers and programs write them.
//
//   Cookie: session=HERE; lang=en; csrf=HERE          -b 'session=HERE'
//   Set-Cookie: session=HERE; Path=/; HttpOnly        only the first is a value
#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "bmad_mem/text.hpp"
#include "stand_in.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kCookieNameMax = 128;
constexpr std::size_t kCookieSizeMin = 6;

bool is_cookie_name_byte(char c) {
  return is_alnum(c) || std::string_view("-_.!#$%&*+^|~").contains(c);
}
bool is_cookie_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && !is_quote(c) &&
         !std::string_view("\\;,<>").contains(c);
}

bool is_attribute(std::string_view name) {
  for (const std::string_view attribute :
       {"path", "expires", "domain", "max-age", "samesite", "priority", "version", "comment"}) {
    if (equals_folded(name, attribute)) {
      return true;
    }
  }
  return false;
}

bool holds_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return contains_folded(name, word); });
}

bool is_secret_cookie(std::string_view name, std::string_view value) {
  if (value.size() < kCookieSizeMin || is_stand_in(value) || is_attribute(name)) {
    return false;
  }
  if (holds_any(name, {"sess", "sid", "token", "auth", "csrf", "xsrf", "jwt", "login", "remember",
                       "secret", "key", "user"})) {
    const Shape shape = shape_of(value.substr(0, 256));
    return !is_example_word(value) && (shape.digits > 0 || shape.turns > 2);
  }
  if (holds_any(name, {"lang", "locale", "theme", "timezone", "currency", "country", "consent",
                       "date", "time", "version", "width", "height", "size"}) ||
      name == "tz") {
    return false;
  }
  return looks_random(value) || (shape_of(value).turns * 3 >= value.size());
}

/// Reads "name=value; name=value" from `at` on and returns where it ends.
std::size_t read_cookies(StructureScan& scan, std::size_t at, bool only_first) {
  const std::string_view text = scan.text;
  bool is_first = true;
  while (at < text.size()) {
    const std::size_t name_end = run_end(text, at, is_cookie_name_byte, kCookieNameMax);
    std::size_t value = name_end;
    if (byte_at(text, name_end) == '=') {
      ++value;
      value += byte_at(text, value) == '"' ? 1U : 0U;
    } else if (is_first || name_end == at) {
      break;
    }
    const std::size_t value_end = run_end(text, value, is_cookie_byte);
    if ((is_first || !only_first) &&
        is_secret_cookie(text.substr(at, name_end - at), text.substr(value, value_end - value))) {
      scan.add(value, value_end, "cookie");
    }
    at = value_end + (byte_at(text, value_end) == '"' ? 1U : 0U);
    if (byte_at(text, at) != ';') {
      break;
    }
    at = blanks_end(text, at + 1, 8);
    is_first = false;
  }
  return at;
}

}  // namespace

void scan_cookie(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const std::string_view before = text.substr(at > 4 ? at - 4 : 0, std::min<std::size_t>(at, 4));
  if (at < scan.cookie_end || is_alnum(byte_before(text, at))) {
    return;
  }
  std::size_t value = value_after_name(text, at + size);
  if (value == std::string_view::npos && before.ends_with("--")) {
    value = run_end(text, at + size, [](char c) { return is_blank(c) || is_quote(c); }, 4);
  }
  if (value != std::string_view::npos) {
    const bool is_set = starts_folded(before, "set-") || starts_folded(before, "set_");
    scan.cookie_end = read_cookies(scan, value, is_set);
  }
}

void scan_curl_cookie(StructureScan& scan, std::size_t at, std::size_t size) {
  if (at >= scan.cookie_end && is_in_curl_command(scan.text, at)) {
    const std::size_t value =
        run_end(scan.text, at + size, [](char c) { return is_blank(c) || is_quote(c); }, 4);
    scan.cookie_end = read_cookies(scan, value, false);
  }
}

}  // namespace bmad_mem
