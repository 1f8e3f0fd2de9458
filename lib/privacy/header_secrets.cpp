// header_secrets.cpp - finds credentials and cookies in headers and in commands of curl.
//
//   Authorization: Bearer HERE        -H 'Authorization: Basic HERE'      "X-Api-Key": "HERE"
//   headers["Authorization"] = "Token HERE"      curl -u user:HERE        … Bearer HERE …
//   Cookie: session=HERE; lang=en; csrf=HERE     -b 'session=HERE'
//   Set-Cookie: session=HERE; Path=/; HttpOnly   only the first is a value
#include <algorithm>
#include <cassert>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kHeaderRule = "authorization";
constexpr std::size_t kParametersMax = 1024;
constexpr std::size_t kCredentialsMin = 8;

bool is_credential_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && c < '\x7f' && !is_quote(c) &&
         !std::string_view("\\,;<>(){}[]").contains(c);
}

/// The end of the credentials at `at`. Remembered: names may stand within one another's values.
std::size_t credentials_end(StructureScan& scan, std::size_t at) {
  if (at < scan.credentials_begin || at >= scan.credentials_end) {
    scan.credentials_begin = at;
    scan.credentials_end = run_end(scan.text, at, is_credential_byte);
  }
  assert(scan.credentials_begin <= at && at <= scan.credentials_end);
  return end_without(scan.text, at, scan.credentials_end, ".:!?*");
}

/// Whether a value in the place of credentials is one: there a digit is enough.
bool are_credentials(std::string_view value) {
  if (value.size() < kCredentialsMin || is_stand_in(value) || is_example_word(value)) {
    return false;
  }
  const Shape shape = shape_of(value.substr(0, 256));
  return (shape.digits > 0 && shape.digits < value.size() && shape.turns > 1) ||
         looks_random(value) || (shape.digits == value.size() && value.size() >= 16);
}

bool is_known_scheme(std::string_view word) { return kAuthSchemes.contains(lower_ascii(word)); }

/// Where the header ends: its line, or the quote that was open where it or its value begins.
std::size_t header_end(std::string_view text, std::size_t name, std::size_t value) {
  assert(name < value && value <= text.size() && "the value is after the name");
  const std::string_view window = text.substr(0, std::min(text.size(), value + kParametersMax));
  std::size_t end = std::min(window.find_first_of("\r\n", value), window.size());
  const char before_name = byte_before(text, run_begin(text, name, is_base64url, 16));
  const char before_value = byte_before(text, value);
  const char quote = is_quote(before_value) ? before_value : before_name;
  if (is_quote(quote)) {
    const bool is_escaped = is_quote(before_value) && byte_before(text, value - 1) == '\\';
    for (std::size_t i = value; i < end; ++i) {
      if (window[i] == quote && (text[i - 1] == '\\') == is_escaped) {
        end = is_escaped ? i - 1 : i;
      }
    }
  }
  return end;
}

/// "Digest username="x", response="…"" and others that have parameters.
bool are_parameters(std::string_view rest) {
  const std::size_t name = run_end(rest, 0, [](char c) { return is_word_byte(c) || c == '-'; }, 24);
  return name > 1 && byte_at(rest, name) == '=' &&
         (is_alnum(byte_at(rest, name + 1)) ||
          std::string_view("\"\\").contains(byte_at(rest, name + 1)));
}

void add_parameters(StructureScan& scan, std::size_t begin, std::size_t end) {
  const std::string_view rest = scan.text.substr(begin, end - begin);
  for (const std::string_view name :
       {"response=", "signature=", "mac=", "token=", "credential=", "oauth_", "auth=", "key="}) {
    if (!contains_folded(rest, name)) {
      continue;
    }
    assert(rest.contains('=') && "are_parameters() has seen one");
    const std::size_t equals = rest.find('=');
    const bool is_only_one = !rest.contains(',');
    std::size_t from = is_only_one ? equals + 1 : 0;
    from = run_end(rest, from, [](char c) { return c == '"' || c == '\\'; });
    const std::size_t to =
        is_only_one ? run_end(rest, from, is_credential_byte) : rest.find_last_not_of(" \t") + 1;
    const Shape shape = shape_of(rest);
    if (to > from + kCredentialsMin && shape.digits > 3 && !rest.contains('<') &&
        !rest.contains("${")) {
      scan.add(begin + from, begin + to, kHeaderRule);
    }
    return;
  }
}

std::size_t skip_scheme_gap(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("%20")) {
    return at + 3;
  }
  return byte_at(text, at) == '+' ? at + 1 : blanks_end(text, at, 8);
}

void judge_credentials(StructureScan& scan, std::string_view scheme, std::size_t at) {
  const std::size_t end = credentials_end(scan, at);
  const std::string_view value = scan.text.substr(at, end - at);
  const bool is_basic = equals_folded(scheme, "basic") && is_encoded_login(value);
  const bool is_secret =
      is_known_scheme(scheme) ? are_credentials(value) : looks_random(value) && !is_stand_in(value);
  if (is_basic || is_secret) {
    scan.add(at, end, kHeaderRule);
  }
}

/// A name that nobody has: the token of a login without a password.
bool is_token_of_login(std::string_view user) {
  constexpr std::size_t kSizeMin = 12;
  return looks_random(user) || (user.size() >= kSizeMin && std::ranges::any_of(user, is_digit) &&
                                randomness_bits(user) >= kRandomBits && !is_stand_in(user));
}

constexpr std::size_t kCookieNameMax = 128;
constexpr std::size_t kCookieSizeMin = 6;

bool is_cookie_name_byte(char c) {
  return is_alnum(c) || std::string_view("-_.!#$%&*+^|~").contains(c);
}
bool is_cookie_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && !is_quote(c) &&
         !std::string_view("\\;,<>").contains(c);
}

bool is_secret_cookie(std::string_view name, std::string_view value) {
  if (value.size() < kCookieSizeMin || is_stand_in(value) ||
      kCookieAttributes.contains(lower_ascii(name))) {
    return false;
  }
  const auto is_in_name = [&](std::string_view part) { return contains_folded(name, part); };
  if (kSecretCookieParts.any(is_in_name)) {
    const Shape shape = shape_of(value.substr(0, 256));
    return !is_example_word(value) && (shape.digits > 0 || shape.turns > 2);
  }
  return !kPublicCookieParts.any(is_in_name) && name != "tz" &&
         (looks_random(value) || shape_of(value).turns * 3 >= value.size());
}

/// Reads "name=value; name=value" from `at` on and returns where it ends.
std::size_t read_cookies(StructureScan& scan, std::size_t at, bool only_first) {
  const std::string_view text = scan.text;
  assert(at <= text.size());
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

std::size_t value_after_name(std::string_view text, std::size_t name_end) {
  constexpr std::size_t kReach = 6;
  const auto may_follow_name = [](char c) {
    return is_quote(c) || is_blank(c) || c == '\\' || c == ']' || c == ')';
  };
  std::size_t at = run_end(text, name_end, may_follow_name, kReach);
  if (text.substr(at).starts_with("=>")) {
    ++at;
  }
  if (!std::string_view(":=,>").contains(byte_at(text, at)) || at >= text.size()) {
    return std::string_view::npos;
  }
  const bool is_argument = text[at] == ',';
  at = run_end(text, at + 1, [](char c) { return is_blank(c) || c == '[' || c == '('; }, 16);
  const bool is_prefixed = std::string_view("bfru$").contains(byte_at(text, at));
  if (is_prefixed && is_quote(byte_at(text, at + 1))) {
    ++at;
  }
  if (is_argument && !is_quote(byte_at(text, at)) && byte_at(text, at) != '\\') {
    return std::string_view::npos;  // `"X-Token", length`: names of code follow.
  }
  return run_end(text, at, [](char c) { return is_quote(c) || c == '\\'; }, 4);
}

bool is_in_curl_command(std::string_view text, std::size_t at) {
  constexpr std::size_t kReach = 512;
  assert(at <= text.size());
  const std::size_t from = at > kReach ? at - kReach : 0;
  const std::string_view before = text.substr(from, at - from);
  const std::size_t curl = before.rfind("curl");
  if (curl == std::string_view::npos) {
    return false;
  }
  const std::string_view between = before.substr(curl);
  // A line that ends in a backslash goes on.
  for (std::size_t end = 0; (end = between.find('\n', end)) != std::string_view::npos; ++end) {
    if (between[end - 1] != '\\') {
      return false;
    }
  }
  return true;
}

void scan_authorization(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const std::size_t value = value_after_name(text, at + size);
  if (value == std::string_view::npos || is_alnum(byte_before(text, at))) {
    return;
  }
  const std::size_t scheme_end = run_end(text, value, is_base64url, 32);
  const std::string_view scheme = text.substr(value, scheme_end - value);
  const std::size_t begin = skip_scheme_gap(text, scheme_end);
  if (scheme.empty() || begin == scheme_end) {
    judge_credentials(scan, {}, value);
    return;
  }
  const std::size_t end = header_end(text, at, value);
  const std::string_view rest = text.substr(begin, end > begin ? end - begin : 0);
  if (!equals_folded(scheme, "basic") && are_parameters(rest)) {
    add_parameters(scan, begin, end);
  } else {
    judge_credentials(scan, scheme, begin);
  }
}

void scan_scheme(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const std::size_t begin = skip_scheme_gap(text, at + size);
  if (is_word_byte(byte_before(text, at)) || begin == at + size) {
    return;
  }
  const std::size_t end = credentials_end(scan, begin);
  const std::string_view value = text.substr(begin, end - begin);
  const bool is_basic = to_lower(text[at + 1]) == 'a';
  const bool is_secret =
      is_basic ? value.size() >= kCredentialsMin && is_encoded_login(value)
               : looks_random(value) && !is_stand_in(value) && !is_example_word(value);
  if (is_secret) {
    scan.add(begin, end, kHeaderRule);
  }
}

void scan_key_header(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::size_t value = value_after_name(scan.text, at + size);
  if (value == std::string_view::npos || is_alnum(byte_before(scan.text, at))) {
    return;
  }
  const std::size_t end = credentials_end(scan, value);
  if (are_credentials(scan.text.substr(value, end - value))) {
    scan.add(value, end, kHeaderRule);
  }
}

void scan_curl_login(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  std::size_t begin = run_end(text, at + size, [](char c) { return is_blank(c) || c == '='; }, 3);
  const char quote = is_quote(byte_at(text, begin)) ? text[begin++] : '\0';
  const std::size_t end = run_end(
      text, begin,
      [&](char c) { return quote != '\0' ? c != quote && c != '\n' : is_credential_byte(c); }, 256);
  const std::string_view login = text.substr(begin, end - begin);
  const std::size_t colon = login.find(':');
  const auto quoted_at = [&](std::size_t from) {  // Behind its quote.
    const auto is_inside = [&](char c) { return c != text[from - 1] && c != '\n'; };
    return text.substr(from, run_end(text, from, is_inside, 256) - from);
  };
  if (quote != '\0' && colon == std::string_view::npos && byte_at(text, end + 1) == ':' &&
      is_quote(byte_at(text, end + 2)) && is_in_curl_command(text, at)) {
    // "user":"…"
    const std::string_view own = quoted_at(end + 3);
    if (own.size() >= kCredentialsMin && !own.contains('$') && own.front() != '<') {
      scan.add(end + 3, end + 3 + own.size(), kHeaderRule);
    }
    return;
  }
  if (colon == std::string_view::npos || login.contains("://") || !is_in_curl_command(text, at)) {
    return;
  }
  const bool has_own = colon + 1 == login.size() && quote == '\0' && is_quote(byte_at(text, end));
  const std::string_view password = has_own ? quoted_at(end + 1) : login.substr(colon + 1);
  if (!password.empty() && !is_stand_in(password)) {
    const std::size_t first = has_own ? end + 1 : begin + colon + 1;  // user:'…'
    scan.add(first, first + password.size(), kHeaderRule);
  } else if (password.empty() && !has_own && is_token_of_login(login.substr(0, colon))) {
    scan.add(begin, begin + colon, kHeaderRule);
  }
}

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
