// internet_addresses.cpp - public addresses of the internet, versions 4 and 6.
//
// Private, local, documentation and multicast ranges (RFC 6890, RFC 9637) tell nothing about
// anybody, and numbers of versions look the same.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "bmad_mem/text.hpp"
#include "personal_scan.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

struct Parsed {
  std::size_t end = 0;
  std::uint32_t address = 0;
  /// All four have one digit, or all are below 100 and the first below 32: rather a version.
  bool is_small = true;
};

std::optional<Parsed> parse_v4(std::string_view text, std::size_t at) {
  Parsed parsed;
  for (int i = 0; i < 4; ++i) {
    const std::size_t end = run_end(text, at, is_digit, 4);
    const std::size_t size = end - at;
    const auto octet = static_cast<std::uint32_t>(number_of(text.substr(at, size)));
    if (size == 0 || octet > 255 || (size > 1 && text[at] == '0') ||
        (i < 3 && byte_at(text, end) != '.')) {
      return std::nullopt;
    }
    parsed.address = parsed.address << 8U | octet;
    parsed.is_small = parsed.is_small && octet < (i == 0 ? 32U : 100U);
    parsed.end = end;
    at = end + 1;
  }
  return parsed;
}

bool is_public(std::uint32_t address) {
  return !kReservedNetworks.any([&](std::string_view network) {  // "10.0.0.0/8"
    const std::optional<Parsed> begin = parse_v4(network, 0);
    const std::uint64_t bits = number_of(network.substr(begin->end + 1));
    return (address ^ begin->address) >> (32U - bits) == 0;
  });
}

bool is_version_before(std::string_view text, std::size_t at) {
  const char before = byte_before(text, at);
  if (is_word_byte(before) || std::string_view(".-^~").contains(before)) {
    return true;
  }
  if (before == '/' && is_letter(byte_before(text, at - 1))) {
    return true;  // "Chrome/120.0.0.0"
  }
  if (before == '=' && std::string_view("=<>~!").contains(byte_before(text, at - 1)) && at > 1) {
    return true;
  }
  return is_announced(text, at, "version|versions|ver|rev|oid|objectidentifier");
}

std::optional<Span> v4_at(std::string_view text, std::size_t at) {
  const std::optional<Parsed> parsed = parse_v4(text, at);
  if (!parsed || !is_public(parsed->address) || is_version_before(text, at)) {
    return std::nullopt;
  }
  const char after = byte_at(text, parsed->end);
  const char next = byte_at(text, parsed->end + 1);
  if (is_word_byte(after) || after == '+' || after == '~' || after == '-' ||
      (after == '.' && is_alnum(next)) || (after == '/' && is_digit(next))) {
    return std::nullopt;  // A longer number, a package, or a network.
  }
  // Servers of names that everybody knows have addresses as small as versions.
  const bool is_name_server = kNameServers.contains(text.substr(at, parsed->end - at));
  // Programs are rarely at version 32, and their changes are told in these words.
  if (parsed->address < 32U << 24U && !is_name_server &&
      is_announced(text, at, "v8|release|upgrade|upgraded|update|updated|patch|section")) {
    return std::nullopt;
  }
  if (parsed->is_small && !is_name_server &&
      !is_announced(text, at, "ip|ips|addr|address|host|client|server|peer")) {
    return std::nullopt;
  }
  return Span{.begin = at, .end = parsed->end};
}

/// Global addresses lie in 2000::/3: the first group has four digits and begins with 2 or 3.
std::optional<Span> v6_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kSizeMax = 39;
  const char before = byte_before(text, at);
  if ((text[at] != '2' && text[at] != '3') || is_word_byte(before) || before == ':' ||
      before == '.' || before == '-') {
    return std::nullopt;
  }
  std::size_t groups = 0;
  std::size_t gaps = 0;
  std::size_t place = at;
  while (groups < 8 && place - at <= kSizeMax) {
    const std::size_t end = run_end(text, place, is_hex_digit, 5);
    if (end - place > 4 || (groups == 0 && end - place != 4)) {
      return std::nullopt;
    }
    groups += end > place ? 1U : 0U;
    const bool goes_on = byte_at(text, end) == ':' &&
                         (is_hex_digit(byte_at(text, end + 1)) || byte_at(text, end + 1) == ':');
    place = end;
    if (!goes_on) {
      break;
    }
    if (text[end + 1] == ':') {
      ++gaps;
      place = end + 2;
    } else {
      place = end + 1;
    }
  }
  const std::string_view address = text.substr(at, place - at);
  const bool is_whole = (gaps == 0 && groups == 8) || (gaps == 1 && groups >= 2 && groups < 8);
  const bool is_documentation = starts_folded(address, "2001:db8:") ||
                                starts_folded(address, "2001:0db8:") ||
                                starts_folded(address, "3fff:");
  if (!is_whole || is_documentation || is_word_byte(byte_at(text, place)) ||
      byte_at(text, place) == ':' ||
      (byte_at(text, place) == '/' && is_digit(byte_at(text, place + 1)))) {
    return std::nullopt;
  }
  return Span{.begin = at, .end = place};
}

}  // namespace

std::optional<Span> ip_at(std::string_view text, std::size_t at) {
  const std::size_t end = run_end(text, at, is_digit, 4);
  if (byte_at(text, end) == '.') {
    return v4_at(text, at);
  }
  return end - at <= 4 ? v6_at(text, at) : std::nullopt;
}

}  // namespace bmad_mem
