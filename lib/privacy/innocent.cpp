#include "innocent.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "bmad_mem/text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

bool is_uuid(std::string_view text) {
  if (text.size() == 38 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, 36);
  }
  if (text.size() != 36) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash_place = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash_place ? text[i] != '-' : !is_hex_digit(text[i])) {
      return false;
    }
  }
  return true;
}

bool is_hash(std::string_view text) {
  const bool has_size = (text.size() >= 7 && text.size() <= 40) || text.size() == 56 ||
                        text.size() == 64 || text.size() == 96 || text.size() == 128;
  return has_size && all_are(text, is_hex_digit);
}

bool is_crockford(char c) {
  const char lower = to_lower(c);
  return is_alnum(c) && lower != 'i' && lower != 'l' && lower != 'o' && lower != 'u';
}

/// A ULID, or an id of ours: a prefix, then 15 characters of which the first count milliseconds.
bool is_ulid_or_id(std::string_view text) {
  if (text.size() == 26 && text.front() <= '7' && all_are(text, is_crockford)) {
    return true;
  }
  const std::size_t dash = text.rfind('-');
  return dash != std::string_view::npos && dash >= 2 && dash <= 12 &&
         text.size() - dash - 1 == 15 && text[dash + 1] == '0' &&
         all_are(text.substr(0, dash), is_lower) && all_are(text.substr(dash + 1), is_crockford);
}

bool is_digest(std::string_view lower) {
  static constexpr auto kPrefixes = std::to_array<std::string_view>(
      {"sha1-", "sha1:", "sha256-", "sha256:", "sha384-", "sha384:", "sha512-", "sha512:", "md5-",
       "md5:", "sha3-", "blake2", "blake3", "h1:"});
  return std::ranges::any_of(kPrefixes, [&](auto each) { return lower.starts_with(each); });
}

/// W/"…" and "…" with its quotes, as servers send it; and traceparent.
bool is_etag_or_trace(std::string_view text) {
  if (text.starts_with("W/\"") || (text.size() > 2 && is_enclosed(text, "\"", "\""))) {
    return true;
  }
  return text.size() == 55 && text[2] == '-' && text[35] == '-' && text[52] == '-' &&
         all_are(text, [](char c) { return is_hex_digit(c) || c == '-'; });
}

/// Numbers, dates, versions, colours, ranges: digits and what stands between them.
bool is_number_like(std::string_view text) {
  if (text.front() == '#') {
    const std::string_view digits = text.substr(1);
    return digits.size() >= 3 && digits.size() <= 8 && all_are(digits, is_hex_digit);
  }
  if (text.starts_with("0x") && text.size() <= 18) {
    return all_are(text.substr(2), is_hex_digit);
  }
  if (text.size() > 1 && text.front() == 'v' && is_digit(text[1])) {
    text.remove_prefix(1);
  }
  if (!is_digit(text.front()) && text.front() != '-' && text.front() != '+') {
    return false;
  }
  std::size_t letters = 0;
  for (const char c : text) {
    if (is_letter(c)) {
      ++letters;
    } else if (!is_digit(c) && !std::string_view("-+.,:/_% ").contains(c)) {
      return false;
    }
  }
  const bool is_time = text.size() > 10 && text[4] == '-' && text[10] == 'T';
  return letters == 0 || is_time || (letters <= 6 && randomness_bits(text) < kRandomBits);
}

bool is_address(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme != std::string_view::npos && scheme > 1) {
    // The user's part of an address ends before the first '/': what is after is not a password.
    const std::size_t host = scheme + 3;
    const std::string_view authority = text.substr(host, text.find('/', host) - host);
    const std::size_t at = authority.find('@');
    return at == std::string_view::npos || !authority.substr(0, at).contains(':');
  }
  return text.starts_with("data:") || text.starts_with("mailto:") || text.starts_with("urn:");
}

/// Paths, hosts, e-mails, identifiers: words and what joins them.
bool is_written(std::string_view text) {
  const bool has_alphabet = all_are(text, [](char c) {
    return is_alnum(c) || std::string_view("_-./:@~+*#$\\ ,").contains(c) || !is_ascii(c);
  });
  return has_alphabet && randomness_bits(text) < kRandomBits / 2;
}

}  // namespace

bool is_public_shape(std::string_view value) {
  const std::string_view text = trimmed(value);
  if (text.empty()) {
    return true;
  }
  if (is_hash(text) || is_uuid(text) || is_ulid_or_id(text) || is_number_like(text) ||
      is_etag_or_trace(text) || is_address(text)) {
    return true;
  }
  return is_digest(lower_ascii(text.substr(0, 8))) || is_written(text);
}

}  // namespace bmad_mem
