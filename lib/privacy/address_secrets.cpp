// address_secrets.cpp - finds passwords in addresses, connection strings and queries.
//
//   scheme://user:PASSWORD@host/path     user:PASSWORD@tcp(host:3306)/db     redis://:PASSWORD@host
//   https://TOKEN@github.com/…           jdbc:oracle:thin:user/PASSWORD@host:1521:name
//   Server=db;User Id=app;Password=HERE;        host=db user=app password=HERE dbname=x
//   jdbc:mysql://db/x?user=app&password=HERE    AccountName=x;AccountKey=HERE;EndpointSuffix=…
//   https://bucket.s3.amazonaws.com/x?X-Amz-Signature=HERE
#include <algorithm>
#include <cassert>
#include <cstddef>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kUrlRule = "url-credentials";
/// Of what isn't known to be the user's part of an authority. No two of those overlap.
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
      text, begin, [](char c) { return is_url_byte(c) && c != '/' && c != '?' && c != '#'; });
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
  assert(begin <= end && end <= scan.text.size());
  const std::string_view password = scan.text.substr(begin, end - begin);
  if (stands_for_password(password) || password.starts_with(']') ||
      password.starts_with("pserver:") || starts_folded(user, "anonymous") ||
      (password == "x-oauth-basic" || password == "x-access-token")) {
    return;
  }
  // "user:user" says nothing, "postgres:postgres" is the way in.
  scan.add(begin, end, kUrlRule,
           user == password && !is_common_password(password) ? DetectionAction::kNear
                                                             : DetectionAction::kSecret);
}

void judge_url_login(StructureScan& scan, std::size_t begin, std::size_t at_sign) {
  assert(begin < at_sign && scan.text[at_sign] == '@');
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

constexpr std::size_t kPartSizeMax = 256;
constexpr std::size_t kNear = 200;

bool ends_any_value(char c) { return is_quote(c) || c == '\n' || c == '\r' || c == '\\'; }

/// Where the value begins behind "name" and " = "; npos when no '=' follows.
std::size_t value_begin(std::string_view text, std::size_t name_end) {
  const std::size_t equals = blanks_end(text, name_end, 2);
  if (byte_at(text, equals) != '=' || byte_at(text, equals + 1) == '=') {
    return std::string_view::npos;
  }
  return blanks_end(text, equals + 1, 2);
}

/// The part of the line around [at, end), within reach.
std::string_view line_before(std::string_view text, std::size_t at) {
  const std::size_t begin =
      run_begin(text, at, [](char c) { return c != '\n' && c != '"'; }, kNear);
  return text.substr(begin, at - begin);
}

/// Whether a part of a connection string that is no password stands in `part`.
bool names_a_database(std::string_view part) {
  for (std::size_t equals = 0; (equals = part.find('=', equals)) != std::string_view::npos;
       ++equals) {
    const std::string_view before = part.substr(0, equals);
    if (kDatabaseParts.any([&](std::string_view name) { return ends_folded(before, name); })) {
      return true;
    }
  }
  return false;
}

/// The value at `at`, which may stand in quotes or braces of its own, up to one of `stops`.
ValuePart read_value(std::string_view text, std::size_t at, std::string_view stops) {
  const char open = byte_at(text, at);
  if (open == '{' || open == '\'') {
    const char close = open == '{' ? '}' : '\'';
    const std::size_t end =
        text.substr(0, std::min(text.size(), at + kPartSizeMax)).find(close, at + 1);
    if (end != std::string_view::npos) {
      return {.begin = at + 1, .end = end};
    }
  }
  const std::size_t end = run_end(
      text, at, [&](char c) { return !ends_any_value(c) && !stops.contains(c); }, kPartSizeMax);
  return {.begin = at, .end = at + text.substr(at, end - at).find_last_not_of(' ') + 1};
}

void add_unless_stand_in(StructureScan& scan, ValuePart value) {
  const std::string_view text = value.of(scan.text);
  if (!stands_for_password(text)) {
    const bool is_open = text.size() == kPartSizeMax;
    const auto is_inside = [](char c) {
      return !ends_any_value(c) && c != ';' && c != '&' && c != ' ';
    };
    scan.add(value.begin, is_open ? scan.real_end(value.end, is_inside) : value.end, kUrlRule);
  }
}

}  // namespace

void scan_url(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::size_t begin = at + size;
  const std::size_t scheme = run_begin(scan.text, at, is_scheme_byte, 24);
  if (scheme == at) {
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

void scan_connection_password(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const std::size_t value = value_begin(text, at + size);
  if (value == std::string_view::npos || is_word_byte(byte_before(text, at))) {
    return;
  }
  const std::size_t gap = blanks_begin(text, at, 4);
  const char before = byte_before(text, gap);
  if (before == '&' || before == '?') {
    add_unless_stand_in(scan, read_value(text, value, "&;# \t<>)"));
    return;
  }
  if (before == ';') {
    if (byte_before(text, gap - 1) != 'p' || text.substr(0, gap - 1).ends_with("&am")) {
      add_unless_stand_in(scan, read_value(text, value, ";"));
    }
    return;
  }
  const ValuePart whole = read_value(text, value, ";");
  const std::string_view behind = text.substr(whole.end, kNear);
  if (behind.starts_with(';') && names_a_database(behind.substr(0, behind.find('\n')))) {
    add_unless_stand_in(scan, whole);
    return;
  }
  const ValuePart word = read_value(text, value, "; \t,");
  const std::string_view rest = text.substr(word.end, kNear);
  if (names_a_database(line_before(text, at)) ||
      (rest.starts_with(' ') && names_a_database(rest.substr(0, rest.find_first_of("\n\""))))) {
    add_unless_stand_in(scan, word);
  }
}

void scan_connection_key(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kKeySizeMin = 16;
  const std::size_t value = value_begin(scan.text, at + size);
  if (value == std::string_view::npos) {
    return;
  }
  const std::size_t key_end = run_end(scan.text, value, is_base64, kPartSizeMax);
  const std::size_t end = run_end(scan.text, key_end, [](char c) { return c == '='; }, 2);
  if (end - value >= kKeySizeMin && looks_random(scan.text.substr(value, end - value))) {
    scan.add(value, end, kUrlRule);
  }
}

void scan_signature(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kSizeMin = 20;
  constexpr std::size_t kQueryMax = 1024;
  constexpr std::size_t kTokenMax = 4096;
  const std::string_view text = scan.text;
  const std::size_t begin = at + size;
  const auto is_inside = [](char c) {
    return is_base64url(c) || std::string_view("%+/=~.").contains(c);
  };
  std::size_t end = run_end(text, begin, is_inside, kTokenMax);
  const std::string_view value = text.substr(begin, end - begin);
  const char before = byte_before(text, at);
  if (value.size() < kSizeMin || is_word_byte(before) || is_stand_in(value) ||
      !looks_random(value)) {
    return;
  }
  end = value.size() == kTokenMax ? scan.real_end(end, is_inside) : end;
  const auto is_query_byte = [](char c) { return !is_space(c) && !is_quote(c) && c != '<'; };
  const std::size_t from = run_begin(text, at, is_query_byte, kQueryMax);
  const std::size_t to = run_end(text, end, is_query_byte, kQueryMax);
  const std::string_view query = text.substr(from, to - from);
  const auto has = [&](std::string_view name) {
    for (std::size_t i = 0; (i = query.find(name, i)) != std::string_view::npos; ++i) {
      if (!is_alnum(byte_before(query, i)) || query.substr(0, i).ends_with("u0026")) {
        return true;
      }
    }
    return false;
  };
  const bool is_amazon_or_google = to_lower(text[at]) == 'x';
  const bool is_azure = size == 4 && (has("se=") || has("sv="));
  const bool is_older = size > 4 && (has("Expires=") || has("Key-Pair-Id="));
  if (is_amazon_or_google || is_azure || is_older) {
    scan.add(begin, end, "signed-url");
  }
}

}  // namespace bmad_mem
