// contacts.cpp - finds e-mail addresses, phone numbers, and public IP addresses, versions 4 and 6.
//
// Private, local, documentation and multicast ranges (RFC 6890, RFC 9637) tell nothing about
// anybody, and numbers of versions look the same.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "bmad_mem/text.hpp"
#include "personal_scan.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

bool is_local_byte(char c) { return is_alnum(c) || std::string_view("._%+-'").contains(c); }
/// Where the local part begins that ends at `end`: letters of Latin, Greek and Cyrillic are bytes
/// of it. Scripts without blanks only right before the '@': four signs, which make a name.
std::size_t local_begin(std::string_view text, std::size_t end, std::size_t size_max) {
  constexpr std::size_t kNameMax = 4;
  std::size_t begin = end;
  std::size_t wide = 0;
  const std::size_t first = end - std::min(end, size_max);
  while (begin > first) {
    const auto byte = [&](std::size_t back) {
      return begin >= first + back ? static_cast<unsigned char>(text[begin - back]) : 0U;
    };
    if (is_local_byte(text[begin - 1])) {
      if (wide > 0) {
        break;
      }
      --begin;
    } else if (byte(1) >= 0x80 && byte(1) < 0xc0 && byte(2) >= 0xc3 && byte(2) < 0xe0) {
      begin -= 2;
    } else if (byte(1) >= 0x80 && byte(1) < 0xc0 && byte(2) >= 0x80 && byte(2) < 0xc0 &&
               byte(3) >= 0xe3 && byte(3) < 0xee && begin + 3 * wide == end && wide < kNameMax) {
      begin -= 3;
      ++wide;
    } else {
      break;
    }
  }
  assert(begin >= first && begin <= end);
  return begin;
}

bool is_domain_byte(char c) { return is_alnum(c) || c == '-' || c == '.'; }

bool is_nobody(std::string_view local, std::string_view domain) {
  return kNobodyMailboxes.contains(lower_ascii(local)) ||
         kNobodyDomains.contains(lower_ascii(domain)) ||
         kNobodyDomains.any([&](std::string_view each) {
           return each.starts_with('.') && domain.size() > each.size() && ends_folded(domain, each);
         });
}

/// Whether the name before '@' is a password or user in an address, or a user of ssh.
bool is_login(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t kReach = 128;
  const char before = byte_before(text, begin);
  const std::size_t url = run_begin(
      text, begin, [](char c) { return !is_space(c) && !is_quote(c) && c != '<' && c != '?'; },
      kReach);
  if ((before == ':' || before == '/') && text.substr(url, begin - url).contains("://")) {
    return true;
  }
  // host:path of scp and git; behind an address at the end of a clause, a blank follows.
  const char after = byte_at(text, end + 1);
  if (byte_at(text, end) == ':' && (after == '/' || after == '~' || is_digit(after))) {
    return true;
  }
  if (byte_at(text, end) == ':' && is_announced(text, begin, "scp|rsync")) {
    return true;
  }
  const std::size_t word_end = blanks_begin(text, begin, 2);
  const std::size_t word =
      run_begin(text, word_end, [](char c) { return is_letter(c) || c == '-'; }, 12);
  return word_end < begin &&
         kRemoteCommands.contains(lower_ascii(text.substr(word, word_end - word)));
}

/// Labels of letters, digits and '-'; none empty, the last of letters.
bool is_domain(std::string_view domain) {
  const std::size_t last = domain.rfind('.');
  if (last == std::string_view::npos || domain.contains("..") || domain.front() == '-' ||
      domain.front() == '.' || domain.contains("-.") || domain.contains(".-")) {
    return false;
  }
  const std::string_view top = domain.substr(last + 1);
  return top.size() >= 2 && top.size() <= 24 && std::ranges::all_of(top, is_letter) &&
         !kNoTopLevels.contains(lower_ascii(top));
}

bool has_phone_word(std::string_view text, std::size_t at) {
  // These two mean other things more often than not.
  return is_named(text, at, "call|cell|call me at|cell phone") ||
         is_announced(text, at,
                      "tel|phone|mobile|fax|telefon|telephone|handy|mobil|cell|whatsapp|sms|"
                      "telefono|tlf|phonenumber|phone_number|tel.|rufnummer|dial|cellphone|"
                      "telefax|手机|手機|电话|電話|携帯|휴대폰|전화|핸드폰|телефон|тел|моб");
}

bool is_iso_date(const DigitGroups& groups) {
  return groups.count >= 3 && groups.groups[0].size() == 4 && groups.groups[1].size() <= 2 &&
         groups.groups[2].size() <= 2;
}

bool is_date_or_version(std::string_view text, const DigitGroups& groups) {
  const bool is_date = groups.count >= 3 && groups.groups[0].size() <= 2 &&
                       groups.groups[1].size() <= 2 && groups.groups[2].size() == 4;
  return is_iso_date(groups) || is_date ||
         (groups.count > 1 && groups.sign(text) == '.' &&
          std::ranges::all_of(groups.groups.begin(), groups.groups.begin() + 2,
                              [](Span group) { return group.size() < 3; }));
}

bool ends_well(std::string_view text, std::size_t end) {
  const char after = byte_at(text, end);
  return !is_word_byte(after) && after != '%' && after != '$' &&
         !((after == '.' || after == ',' || after == ':' || after == '-') &&
           is_digit(byte_at(text, end + 1)));
}

/// "+49 30 1234567", "+1 (415) 555-0132"
bool is_international(std::string_view text, const DigitGroups& groups) {
  constexpr std::size_t kDigitsMin = 9;
  constexpr std::size_t kDigitsMax = 15;
  assert(groups.begin() > 0 && text[groups.begin() - 1] == '+');
  const std::size_t plus = groups.begin() - 1;
  const std::string_view digits = groups.digits;
  const char before = byte_before(text, plus);
  if (is_word_byte(before) || before == '+' || before == '.' || before == ')' ||
      digits.size() < kDigitsMin || digits.size() > kDigitsMax || digits.front() == '0' ||
      is_iso_date(groups) || groups.groups[groups.count - 1].size() < 2) {
    return false;
  }
  if (digits.front() == '1') {
    return digits.size() == 11 && digits[1] >= '2' && digits[4] >= '2';
  }
  return groups.groups[0].size() <= 3 || groups.count == 1 || groups.groups[0].size() >= 5;
}

/// "(415) 555-0132", "415-555-0132", "1-415-555-0132"; with dots or blanks when announced.
bool is_north_american(std::string_view text, const DigitGroups& groups) {
  const bool has_trunk = groups.has_sizes({1, 3, 3, 4}) && groups.digits.front() == '1';
  if (!has_trunk && !groups.has_sizes({3, 3, 4})) {
    return false;
  }
  const std::size_t area = has_trunk ? 1 : 0;
  if (groups.digits[area] < '2' || groups.digits[area + 3] < '2') {
    return false;
  }
  const char sign = groups.sign(text);
  const std::size_t area_end = groups.groups[area].end;
  const bool is_bracketed = text[area_end] == ')' &&
                            byte_before(text, groups.groups[area].begin) == '(' &&
                            text[groups.end() - 5] != '.';
  return is_bracketed || sign == '-' || has_phone_word(text, groups.begin());
}

bool is_national(std::string_view text, const DigitGroups& groups) {
  constexpr std::size_t kDigitsMin = 7;
  constexpr std::size_t kDigitsMax = 15;
  constexpr std::size_t kPlainMin = 9;
  const std::size_t digits = groups.digits.size();
  const bool is_trunk = groups.digits.front() == '0';
  // No "2008-2018" and no "1412830.188".
  return digits >= kDigitsMin && digits <= kDigitsMax && !is_date_or_version(text, groups) &&
         !groups.has_sizes({4, 4}) && !(groups.count == 2 && groups.sign(text) == '.') &&
         (groups.count > 1 || is_trunk || digits >= kPlainMin) &&
         has_phone_word(text, groups.begin());
}

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
    assert(begin && "the networks of the table are addresses");
    const std::uint64_t bits = number_of(network.substr(begin->end + 1));
    assert(bits > 0 && bits <= 32);
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

std::optional<Span> email_at(std::string_view text, std::size_t at) {
  assert(at < text.size() && text[at] == '@');
  constexpr std::size_t kLocalMax = 64;
  constexpr std::size_t kDomainMax = 253;
  const std::size_t begin = run_end(text, local_begin(text, at, kLocalMax),
                                    [](char c) { return std::string_view(".'-%").contains(c); });
  const std::size_t end =
      end_without(text, at + 1, run_end(text, at + 1, is_domain_byte, kDomainMax), ".-");
  const std::string_view local = text.substr(begin, at - begin);
  const std::string_view domain = text.substr(at + 1, end - at - 1);
  if (local.empty() || domain.empty() || local.ends_with('.') || local.contains("..") ||
      !is_domain(domain) || byte_at(text, end) == '@' || byte_at(text, end) == '_' ||
      byte_at(text, end) == '(' || is_nobody(local, domain) || is_login(text, begin, end)) {
    return std::nullopt;
  }
  return Span{.begin = begin, .end = end};
}

std::optional<Span> phone_at(std::string_view text, const DigitGroups& groups) {
  constexpr std::size_t kDigitsMin = 7;
  const std::size_t at = groups.begin();
  const char before = byte_before(text, at);
  if (groups.count == 0 || groups.digits.size() < kDigitsMin || is_word_byte(before) ||
      !ends_well(text, groups.end())) {
    return std::nullopt;
  }
  if (before == '+') {
    return is_international(text, groups)
               ? std::optional<Span>({.begin = at - 1, .end = groups.end()})
               : std::nullopt;
  }
  if (std::string_view("-./:,#$@*").contains(before) && before != '\0' && before != ':') {
    return std::nullopt;
  }
  if (!is_north_american(text, groups) && !is_national(text, groups)) {
    return std::nullopt;
  }
  const bool is_bracketed = before == '(' && byte_at(text, groups.groups[0].end) == ')';
  return Span{.begin = is_bracketed ? at - 1 : at, .end = groups.end()};
}

std::optional<Span> ip_at(std::string_view text, std::size_t at) {
  assert(at < text.size() && is_digit(text[at]));
  const std::size_t end = run_end(text, at, is_digit, 4);
  if (byte_at(text, end) == '.') {
    return v4_at(text, at);
  }
  return end - at <= 4 ? v6_at(text, at) : std::nullopt;
}

}  // namespace bmad_mem
