// url_credentials.cpp - passwords in addresses.
//
//   scheme://user:PASSWORD@host/path     user:PASSWORD@tcp(host:3306)/db     redis://:PASSWORD@host
//   https://TOKEN@github.com/…           jdbc:oracle:thin:user/PASSWORD@host:1521:name
#include <algorithm>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "stand_in.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kUrlRule = "url-credentials";
constexpr std::size_t kAuthoritySizeMax = 1024;

bool is_url_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && !is_quote(c) && c != '<' && c != '>' && c != '\\';
}

/// Whether a host, or a variable that holds one, may begin with `c`.
bool may_begin_host(char c) {
  return is_alnum(c) || std::string_view("[${%(_").contains(c) || !is_ascii(c);
}

bool is_scheme_byte(char c) { return is_alnum(c) || c == '+' || c == '.' || c == '-'; }

/// Where the '@' is that ends the user's part of the authority at `begin`; npos: it has none.
std::size_t find_at_sign(std::string_view text, std::size_t begin) {
  const std::size_t authority_end = run_end(
      text, begin, [](char c) { return is_url_byte(c) && c != '/' && c != '?' && c != '#'; },
      kAuthoritySizeMax);
  const std::string_view authority = text.substr(begin, authority_end - begin);
  if (const std::size_t at_sign = authority.rfind('@'); at_sign != std::string_view::npos) {
    return begin + at_sign;
  }
  // A password may hold '/', '?' or '#' as they are. What follows a host is a port: digits.
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos || authority.starts_with('[') ||
      !is_url_byte(byte_at(text, authority_end))) {
    return std::string_view::npos;
  }
  const std::string_view port = authority.substr(colon + 1);
  if (std::ranges::all_of(port, is_digit)) {
    return std::string_view::npos;
  }
  const std::size_t end = run_end(text, authority_end, is_url_byte, kAuthoritySizeMax / 4);
  const std::size_t at_sign = text.substr(0, end).find('@', authority_end);
  return at_sign;
}

/// A key of a public service is part of its address: such as that of Sentry.
bool is_public_key_host(std::string_view host) {
  return contains_folded(host, "sentry") || contains_folded(host, "ingest");
}

void judge_url_password(StructureScan& scan, std::string_view user, std::size_t begin,
                        std::size_t end) {
  const std::string_view password = scan.text.substr(begin, end - begin);
  if (is_stand_in(password) || password.starts_with(']') || password.starts_with("pserver:") ||
      starts_folded(user, "anonymous") ||
      (password == "x-oauth-basic" || password == "x-access-token")) {
    return;
  }
  // "postgres:postgres" is known to all.
  scan.add(begin, end, kUrlRule, user == password ? Certainty::kNear : Certainty::kSecret);
}

void judge_url_login(StructureScan& scan, std::size_t begin, std::size_t at_sign) {
  const std::string_view login = scan.text.substr(begin, at_sign - begin);
  const std::size_t colon = std::min(login.find(':'), login.size());
  const std::string_view user = login.substr(0, colon);
  if (login.contains("[REDACTED") || user.contains("${") || user.contains("{{")) {
    const std::string_view rest = login.substr(std::min(colon + 1, login.size()));
    if (rest.contains('$') || rest.contains('{') || rest.contains('[')) {
      return;
    }
  }
  if (colon + 1 < login.size()) {
    judge_url_password(scan, user, begin + colon + 1, at_sign);
    const std::string_view password = login.substr(colon + 1);
    if (password != "x-oauth-basic") {
      return;
    }
  }
  const std::string_view host = scan.text.substr(at_sign + 1, 64);
  if (looks_random(user) && !is_stand_in(user) && !is_public_key_host(host)) {
    scan.add(begin, begin + colon, kUrlRule);
  }
}

/// otpauth://totp/name?secret=SECRET
void judge_one_time_password(StructureScan& scan, std::size_t begin) {
  constexpr std::string_view kSecret = "secret=";
  const std::size_t end = run_end(scan.text, begin, is_url_byte, kAuthoritySizeMax);
  const std::size_t secret = scan.text.substr(0, end).find(kSecret, begin);
  if (secret == std::string_view::npos) {
    return;
  }
  const std::size_t value = secret + kSecret.size();
  const std::size_t value_end = run_end(scan.text, value, is_alnum, 256);
  if (value_end - value >= 8 && !is_stand_in(scan.text.substr(value, value_end - value))) {
    scan.add(value, value_end, kUrlRule);
  }
}

}  // namespace

void scan_url(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::size_t begin = at + size;
  const std::size_t scheme = run_begin(scan.text, at, is_scheme_byte, 24);
  if (scheme == at) {
    return;
  }
  if (equals_folded(scan.text.substr(scheme, at - scheme), "otpauth")) {
    judge_one_time_password(scan, begin);
    return;
  }
  const std::size_t at_sign = find_at_sign(scan.text, begin);
  if (at_sign != std::string_view::npos && at_sign > begin &&
      may_begin_host(byte_at(scan.text, at_sign + 1))) {
    judge_url_login(scan, begin, at_sign);
  }
}

void scan_go_data_source(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  const std::size_t begin = run_begin(scan.text, at, is_url_byte, 256);
  const std::size_t colon = scan.text.substr(0, at).find(':', begin);
  if (colon != std::string_view::npos && colon + 1 < at &&
      !scan.text.substr(0, at).substr(begin).contains("://")) {
    judge_url_password(scan, scan.text.substr(begin, colon - begin), colon + 1, at);
  }
}

void scan_oracle_login(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::size_t begin = at + size;
  const std::size_t end = run_end(scan.text, begin, is_url_byte, 256);
  const std::string_view login = scan.text.substr(begin, end - begin);
  const std::size_t slash = login.find('/');
  const std::size_t at_sign = login.rfind('@');
  if (slash != std::string_view::npos && at_sign != std::string_view::npos && slash + 1 < at_sign) {
    judge_url_password(scan, login.substr(0, slash), begin + slash + 1, begin + at_sign);
  }
}

}  // namespace bmad_mem
