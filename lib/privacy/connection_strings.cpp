// connection_strings.cpp - secrets among the parts of a connection string or of a query.
//
//   Server=db;User Id=app;Password=HERE;        host=db user=app password=HERE dbname=x
//   jdbc:mysql://db/x?user=app&password=HERE    AccountName=x;AccountKey=HERE;EndpointSuffix=…
//   https://bucket.s3.amazonaws.com/x?X-Amz-Signature=HERE
#include <algorithm>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "stand_in.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kConnectionRule = "url-credentials";
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
    for (const std::string_view name :
         {"host", "user", "dbname", "server", "uid", "user id", "data source", "username",
          "hostaddr", "database", "userid", "initial catalog", "dsn", "driver"}) {
      if (before.size() >= name.size() &&
          equals_folded(before.substr(before.size() - name.size()), name)) {
        return true;
      }
    }
  }
  return false;
}

struct PartValue {
  std::size_t begin;
  std::size_t end;
};

/// The value at `at`, which may stand in quotes or braces of its own, up to one of `stops`.
PartValue read_value(std::string_view text, std::size_t at, std::string_view stops) {
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

void add_unless_stand_in(StructureScan& scan, PartValue value) {
  const std::string_view text = scan.text.substr(value.begin, value.end - value.begin);
  if (!is_stand_in(text)) {
    scan.add(value.begin, value.end, kConnectionRule);
  }
}

}  // namespace

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
  const PartValue whole = read_value(text, value, ";");
  const std::string_view behind = text.substr(whole.end, kNear);
  if (behind.starts_with(';') && names_a_database(behind.substr(0, behind.find('\n')))) {
    add_unless_stand_in(scan, whole);
    return;
  }
  const PartValue word = read_value(text, value, "; \t,");
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
    scan.add(value, end, kConnectionRule);
  }
}

void scan_signature(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kSizeMin = 20;
  constexpr std::size_t kQueryMax = 1024;
  constexpr std::size_t kTokenMax = 4096;
  const std::string_view text = scan.text;
  const std::size_t begin = at + size;
  const std::size_t end = run_end(
      text, begin, [](char c) { return is_base64url(c) || std::string_view("%+/=~.").contains(c); },
      kTokenMax);
  const std::string_view value = text.substr(begin, end - begin);
  const char before = byte_before(text, at);
  if (value.size() < kSizeMin || is_word_byte(before) || is_stand_in(value) ||
      !looks_random(value)) {
    return;
  }
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
