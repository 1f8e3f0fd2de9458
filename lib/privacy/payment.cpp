// payment.cpp - numbers of bank accounts (ISO 13616) and of payment cards (ISO/IEC 7812).
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "bmad_mem/text.hpp"
#include "personal_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// Country and length, from the register of SWIFT.
constexpr std::string_view kIbanSizes =
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
    "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 "
    "IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 "
    "MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 "
    "SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30 ";

std::size_t iban_size(std::string_view country) {
  for (std::size_t i = 0; i < kIbanSizes.size(); i += 5) {
    if (kIbanSizes.substr(i, 2) == country) {
      const int tens = kIbanSizes[i + 2] - '0';
      return static_cast<std::size_t>(tens) * 10 +
             static_cast<std::size_t>(kIbanSizes[i + 3] - '0');
    }
  }
  return 0;
}

/// ISO 7064, modulo 97-10: the first four go to the end, letters count from 10.
bool has_iban_check(std::string_view iban) {
  int rest = 0;
  const auto take = [&](char c) {
    rest = is_digit(c) ? (rest * 10 + (c - '0')) % 97 : (rest * 100 + (c - 'A' + 10)) % 97;
  };
  std::ranges::for_each(iban.substr(4), take);
  std::ranges::for_each(iban.substr(0, 4), take);
  return rest == 1;
}

/// Whether a known network has cards of this length that begin so.
bool is_card_range(std::string_view digits) {
  const std::size_t size = digits.size();
  const std::uint64_t two = number_of(digits.substr(0, 2));
  const std::uint64_t three = number_of(digits.substr(0, 3));
  const std::uint64_t four = number_of(digits.substr(0, 4));
  const auto between = [](std::uint64_t value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  return (digits.front() == '4' && (size == 13 || size == 16 || size == 19)) ||      // Visa
         ((between(two, 51, 55) || between(four, 2221, 2720)) && size == 16) ||      // Mastercard
         ((two == 34 || two == 37) && size == 15) ||                                 // Amex
         ((four == 6011 || between(three, 644, 649) || two == 65) && size >= 16) ||  // Discover
         (between(four, 3528, 3589) && size >= 16) ||                                // JCB
         ((between(three, 300, 305) || two == 36 || two == 38 || two == 39) &&
          (size == 14 || size == 16)) ||                                         // Diners Club
         (two == 62 && size >= 16) ||                                            // UnionPay
         (between(four, 2200, 2204) && size >= 16) ||                            // Mir
         ((two == 60 || two == 81 || two == 82 || three == 508) && size == 16);  // RuPay
}

bool is_card_layout(const DigitGroups& groups) {
  return groups.has_sizes({4, 4, 4, 4}) || groups.has_sizes({4, 6, 5}) ||
         groups.has_sizes({4, 6, 4}) || groups.has_sizes({4, 4, 4, 4, 3}) ||
         groups.has_sizes({4, 4, 4, 1}) || groups.has_sizes({6, 13}) ||
         groups.has_sizes({4, 3, 3, 3});
}

bool is_card(std::string_view text, const DigitGroups& groups) {
  const std::string_view digits = groups.digits;
  if (digits.size() < 13 || digits.size() > 19 || !is_card_range(digits) ||
      !has_luhn_check(digits)) {
    return false;
  }
  if (groups.count > 1) {
    const char sign = groups.sign(text);
    return (sign == ' ' || sign == '-') && is_card_layout(groups);
  }
  if (is_announced(text, groups.begin(),
                   "card|cards|credit|visa|mastercard|amex|cc|pan|kreditkarte|cardnumber|"
                   "card_number|ccnum|debit")) {
    return true;
  }
  // Ids are as long as cards, and one in ten has the check. 1 in 30 ids of 16 digits would go.
  constexpr std::string_view kPlainStarts = "345";
  return (digits.size() == 16 || digits.size() == 15) && kPlainStarts.contains(digits.front()) &&
         !is_named(text, groups.begin(), "id|ids|key|hash|seed|time|ns|us");
}

}  // namespace

std::optional<Span> iban_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kSizeMax = 34;
  if (at < 2 || !is_upper(text[at - 1]) || !is_upper(text[at - 2]) ||
      !is_digit(byte_at(text, at + 1)) || (at > 2 && is_word_byte(text[at - 3]))) {
    return std::nullopt;
  }
  const std::size_t wanted = iban_size(text.substr(at - 2, 2));
  std::array<char, kSizeMax> iban{};
  std::size_t size = 0;
  std::size_t end = at - 2;
  for (std::size_t i = at - 2; i < text.size() && size < wanted; ++i) {
    if (is_digit(text[i]) || is_upper(text[i])) {
      iban[size++] = text[i];
      end = i + 1;
    } else if ((text[i] != ' ' && text[i] != '-') || !is_alnum(byte_at(text, i + 1))) {
      break;
    }
  }
  if (wanted == 0 || size != wanted || is_word_byte(byte_at(text, end)) ||
      !has_iban_check({iban.data(), size})) {
    return std::nullopt;
  }
  return Span{.begin = at - 2, .end = end};
}

std::optional<Span> card_at(std::string_view text, const DigitGroups& groups) {
  if (groups.count == 0) {
    return std::nullopt;
  }
  const std::size_t at = groups.begin();
  const char before = byte_before(text, at);
  const bool is_in_list = before == ' ' && at - run_begin(text, at - 1, is_digit, 5) == 5;
  if (is_word_byte(before) || std::string_view(".-+/").contains(before) || is_in_list) {
    return std::nullopt;
  }
  // An expiry date may follow: the longest that fits is the number.
  for (std::size_t count = groups.count; count > 0; --count) {
    const DigitGroups some = groups.first(count);
    const char after = byte_at(text, some.end());
    const bool goes_on = is_word_byte(after) || ((after == '-' || after == '.') &&
                                                 is_digit(byte_at(text, some.end() + 1)));
    const bool is_one_of_many = count < groups.count && groups.groups[count].size() == 4;
    if (!goes_on && !is_one_of_many && is_card(text, some)) {
      return Span{.begin = some.begin(), .end = some.end()};
    }
  }
  return std::nullopt;
}

}  // namespace bmad_mem
