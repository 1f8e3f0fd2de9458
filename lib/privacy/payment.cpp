// payment.cpp - numbers of bank accounts (ISO 13616) and of payment cards (ISO/IEC 7812).
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "bmad_mem/text.hpp"
#include "personal_scan.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

std::size_t iban_size(std::string_view country) {
  for (std::size_t i = 0; i < kIbanSizes.size(); ++i) {
    if (kIbanSizes[i].starts_with(country)) {
      return number_of(kIbanSizes[i].substr(2));
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
  return kCardRanges.any([&](std::string_view range) {  // "2221-2720:16-16"
    const std::size_t size = range.find('-');
    const std::string_view begin = digits.substr(0, size);
    const std::string_view sizes = range.substr(2 * size + 2);
    return begin >= range.substr(0, size) && begin <= range.substr(size + 1, size) &&
           digits.size() >= number_of(sizes.substr(0, 2)) &&
           digits.size() <= number_of(sizes.substr(3));
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
