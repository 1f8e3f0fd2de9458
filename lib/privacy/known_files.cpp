// known_files.cpp - secrets in lines of files that tools read by themselves.
//
//   .npmrc               //registry.npmjs.org/:_authToken=HERE        _auth=HERE
//   .netrc               machine api.github.com login ann password HERE
//   .pgpass              db.local:5432:app:ann:HERE
//   .pypirc              username = ann (line end) password = HERE
//   .docker/config.json  "auths": {"ghcr.io": {"auth": "HERE"}}
#include <algorithm>
#include <array>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kFileValueMax = 512;

bool is_file_value_byte(char c) {
  return static_cast<unsigned char>(c) > ' ' && !is_quote(c) && c != '\\' && c != ',' && c != ';';
}

void add_file_value(StructureScan& scan, std::size_t begin, std::string_view rule,
                    std::size_t size_min) {
  const std::size_t end = run_end(scan.text, begin, is_file_value_byte, kFileValueMax);
  const std::string_view value = scan.text.substr(begin, end - begin);
  if (value.size() >= size_min && !is_stand_in(value)) {
    const bool is_open = value.size() == kFileValueMax;
    scan.add(begin, is_open ? scan.real_end(end, is_file_value_byte) : end, rule);
  }
}

/// A field of .pgpass: up to a colon that has no backslash before it.
std::size_t field_end(std::string_view text, std::size_t at) {
  constexpr std::size_t kFieldMax = 256;
  const std::size_t limit = std::min(text.size(), at + kFieldMax);
  while (at < limit && text[at] != ':' && !is_space(text[at]) && !is_quote(text[at])) {
    at += text[at] == '\\' && at + 1 < limit ? 2 : 1;
  }
  return std::min(at, limit);
}

}  // namespace

void scan_npmrc(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const char before = byte_before(text, at);
  if (is_alnum(before) && !text.substr(0, at).ends_with("npm_config")) {
    return;
  }
  const std::size_t sign =
      run_end(text, at + size, [](char c) { return is_blank(c) || c == '"'; }, 3);
  if (byte_at(text, sign) != '=' && byte_at(text, sign) != ':') {
    return;
  }
  const std::size_t value =
      run_end(text, sign + 1, [](char c) { return is_blank(c) || is_quote(c); }, 4);
  if (byte_at(text, sign) == '=' || is_quote(byte_before(text, value)) ||
      to_lower(text[at]) == 'n') {
    add_file_value(scan, value, "npmrc", 8);
  }
}

void scan_netrc(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  if (is_word_byte(byte_before(text, at)) || !is_space(byte_at(text, at + size))) {
    return;
  }
  constexpr std::size_t kWordMax = 256;
  constexpr int kPairsMax = 4;
  std::size_t place = at + size;
  const auto next_word = [&] {
    const std::size_t begin = run_end(text, place, is_space, 64);
    place = run_end(text, begin, [](char c) { return !is_space(c); }, kWordMax);
    return text.substr(begin, place - begin);
  };
  if (text[at] == 'm') {
    next_word();  // The name of the machine.
  }
  for (int i = 0; i < kPairsMax; ++i) {
    const std::string_view key = next_word();
    const std::size_t key_end = place;
    if (key == "password" && (i > 0 || text[at] == 'm')) {
      add_file_value(
          scan,
          run_end(text, key_end, [](char c) { return is_space(c) || c == '"'; }, 8), "netrc", 1);
      return;
    }
    if (key != "login" && key != "account") {
      return;
    }
    next_word();
  }
}

void scan_pgpass(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const std::size_t host = run_begin(
      text, at, [](char c) { return is_alnum(c) || std::string_view(".-_*/[]").contains(c); }, 128);
  const std::size_t database = at + size;
  const std::size_t database_end = field_end(text, database);
  const auto is_name = [](char c) { return is_word_byte(c) || c == '-' || c == '*' || c == '.'; };
  const bool is_name_only = run_end(text, database, is_name, 256) == database_end;
  const char before = byte_before(text, host);
  if (host == at || before == ':' || before == ')' || database_end == database || !is_name_only ||
      byte_at(text, database_end) != ':') {
    return;
  }
  const std::size_t user_end = field_end(text, database_end + 1);
  if (user_end == database_end + 1 || byte_at(text, user_end) != ':') {
    return;
  }
  const std::size_t end = field_end(text, user_end + 1);
  const std::string_view password = text.substr(user_end + 1, end - user_end - 1);
  const bool is_number =
      std::ranges::all_of(text.substr(database, database_end - database), is_digit);
  if (!password.empty() && !is_number && !is_stand_in(password) && byte_at(text, end) != ':') {
    scan.add(user_end + 1, end, "pgpass");
  }
}

void scan_pypirc(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  const std::size_t sign = blanks_end(text, at + size, 8);
  const std::size_t line = blanks_begin(text, at, 16);
  if ((byte_at(text, sign) != '=' && byte_at(text, sign) != ':') ||
      byte_before(text, line) != '\n') {
    return;
  }
  // The line before: "username = ann".
  const std::size_t previous = run_begin(text, line - 1, [](char c) { return c != '\n'; }, 128);
  std::string_view words = text.substr(previous, line - previous);
  words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
  if (!words.starts_with("username")) {
    return;
  }
  words.remove_prefix(std::string_view("username").size());
  words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
  if (words.starts_with('=') || words.starts_with(':')) {
    const std::size_t value =
        run_end(text, sign + 1, [](char c) { return is_blank(c) || is_quote(c); }, 8);
    const std::string_view member = text.substr(value, 32);
    const std::size_t dot = member.find('.');
    const bool is_code = dot != std::string_view::npos &&
                         all_are(member.substr(0, dot), is_letter) &&
                         member.substr(dot + 1).starts_with('_');
    if (!member.starts_with("self.") && !is_code) {
      add_file_value(scan, value, "pypirc", 4);
    }
  }
}

void scan_docker_auth(StructureScan& scan, std::size_t at, std::size_t size) {
  const std::string_view text = scan.text;
  if (!is_quote(byte_before(text, at)) && !is_space(byte_before(text, at))) {
    return;
  }
  const std::size_t value = value_after_name(text, at + size);
  if (value == std::string_view::npos) {
    return;
  }
  const auto is_inside = [](char c) { return is_base64(c) || c == '=' || is_base64url(c); };
  const std::size_t end = run_end(text, value, is_inside, kFileValueMax);
  const std::string_view encoded = text.substr(value, end - value);
  constexpr std::size_t kLoginMin = 8;
  const bool is_login = encoded.size() >= kLoginMin && is_encoded_login(encoded);
  if (is_login || (size > 4 && looks_random(encoded))) {
    const bool is_open = encoded.size() == kFileValueMax;
    scan.add(value, is_open ? scan.real_end(end, is_inside) : end, "docker-auth");
  }
}

}  // namespace bmad_mem
