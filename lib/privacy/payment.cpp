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

/// What the numbers of a network begin with, from `low` to `high`, and how long they are.
struct CardRange {
  std::uint64_t low;
  std::uint64_t high;
  std::size_t size_min;
  std::size_t size_max;
};
constexpr CardRange kCardRanges[] = {
    {4, 4, 13, 13},           {4, 4, 16, 16},
    {4, 4, 19, 19},                                  // Visa
    {51, 55, 16, 16},         {2221, 2720, 16, 16},  // Mastercard
    {34, 34, 15, 15},         {37, 37, 15, 15},      // Amex
    {6011, 6011, 16, 19},     {644, 649, 16, 19},
    {65, 65, 16, 19},      // Discover
    {3528, 3589, 16, 19},  // JCB
    {300, 305, 14, 14},       {300, 305, 16, 16},
    {36, 36, 14, 14},  // Diners Club
    {36, 36, 16, 16},         {38, 39, 14, 14},
    {38, 39, 16, 16},                            //
    {62, 62, 16, 19},         {81, 81, 16, 19},  // UnionPay
    {2200, 2205, 16, 19},                        // Mir, Borica
    {60, 60, 16, 16},         {82, 82, 16, 16},
    {508, 508, 16, 16},  // RuPay
    {5018, 5020, 12, 19},     {5038, 5038, 12, 19},
    {5893, 5893, 12, 19},  // Maestro
    {6304, 6304, 12, 19},     {6759, 6763, 12, 19},
    {560221, 560225, 16, 16},  // and Bancontact
    {4903, 4936, 18, 18},     {564182, 564182, 16, 19},
    {633110, 633110, 16, 19},  // Switch
    {5019, 5019, 16, 16},      // Dankort
    {506699, 506778, 16, 16}, {509000, 509999, 16, 16},
    {636368, 636369, 16, 16},  // Elo
    {636297, 636297, 16, 16}, {504175, 504175, 16, 16},
    {606282, 606282, 16, 16},                            // Hipercard
    {506099, 506198, 16, 19}, {650002, 650027, 16, 19},  // Verve
    {637, 639, 16, 16},       {9792, 9792, 16, 16},
    {357111, 357111, 16, 16},  // InstaPayment, Troy
    {8600, 8600, 16, 16},     {9860, 9860, 16, 16},
    {1, 1, 15, 15},  // Uzcard, Humo, UATP
};

/// Whether a known network has cards of this length that begin so.
bool is_card_range(std::string_view digits) {
  return std::ranges::any_of(kCardRanges, [&](const CardRange& range) {
    std::size_t size = 1;
    for (std::uint64_t high = range.high; high >= 10; high /= 10) {
      ++size;
    }
    const std::uint64_t begin = number_of(digits.substr(0, size));
    return begin >= range.low && begin <= range.high && digits.size() >= range.size_min &&
           digits.size() <= range.size_max;
  });
}

bool is_card_layout(const DigitGroups& groups) {
  return groups.has_sizes({4, 4, 4, 4}) || groups.has_sizes({4, 6, 5}) ||
         groups.has_sizes({4, 6, 4}) || groups.has_sizes({4, 4, 4, 4, 3}) ||
         groups.has_sizes({4, 4, 4, 1}) || groups.has_sizes({6, 13}) ||
         groups.has_sizes({4, 3, 3, 3}) || groups.has_sizes({4, 5, 6}) ||
         groups.has_sizes({4, 4, 4});
}

constexpr std::size_t kCardSizeMin = 12;

bool is_card(std::string_view text, const DigitGroups& groups) {
  const std::string_view digits = groups.digits;
  if (digits.size() < kCardSizeMin || digits.size() > 19 || !is_card_range(digits) ||
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

namespace {

constexpr std::size_t kGroupedSize = 19;  // "4111 1111 1111 1111".

/// Whether a card in groups of four is at `at`.
bool is_grouped_card(std::string_view text, std::size_t at) {
  if (at + kGroupedSize > text.size() || !is_digit(text[at])) {
    return false;
  }
  const DigitGroups four = read_digit_groups(text.substr(0, at + kGroupedSize), at);
  return four.has_sizes({4, 4, 4, 4}) && is_card(text, four);
}

/// Four hexadecimal digits: a number of another row than that of a card.
bool is_dump_group(std::string_view text, std::size_t begin, std::size_t end) {
  return end - begin == 4 && !is_alnum(byte_before(text, begin)) && !is_alnum(byte_at(text, end)) &&
         all_are(text.substr(begin, 4), is_hex_digit);
}

/// Whether the number [begin, end) stands among others of four digits, as in a dump, and those
/// beside it are no cards either.
bool is_in_dump(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t last = run_begin(text, begin, is_space, 4);
  const std::size_t next = run_end(text, end, is_space, 4);
  const bool follows = last < begin && last >= 4 && is_dump_group(text, last - 4, last);
  const bool precedes =
      next > end && next + 4 <= text.size() && is_dump_group(text, next, next + 4);
  const bool follows_card =
      begin >= kGroupedSize + 1 && is_grouped_card(text, begin - kGroupedSize - 1);
  return (follows && !follows_card) || (precedes && !is_grouped_card(text, next));
}

}  // namespace

std::optional<Span> card_at(std::string_view text, const DigitGroups& groups) {
  if (groups.count == 0 || groups.digits.size() < kCardSizeMin) {
    return std::nullopt;
  }
  const std::size_t at = groups.begin();
  const char before = byte_before(text, at);
  if (is_word_byte(before) || std::string_view(".-+/").contains(before)) {
    return std::nullopt;
  }
  // An expiry date may follow: the longest that fits is the number.
  for (std::size_t count = groups.count; count > 0; --count) {
    const DigitGroups some = groups.first(count);
    const char after = byte_at(text, some.end());
    const bool goes_on = is_word_byte(after) || ((after == '-' || after == '.') &&
                                                 is_digit(byte_at(text, some.end() + 1)));
    if (!goes_on && is_card(text, some) && !is_in_dump(text, some.begin(), some.end())) {
      return Span{.begin = some.begin(), .end = some.end()};
    }
  }
  return std::nullopt;
}

}  // namespace bmad_mem
