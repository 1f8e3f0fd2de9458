// national_ids.cpp - finds national ids and the numbers of accounts and cards by their checks.
//
//   by code, without a word before it   France 15 digits · Italy 16
//   by a row of words/national_ids.txt  all other numbers of people
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bmad_mem/text.hpp"
#include "personal_scan.hpp"
#include "privacy_tables.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using MaybeSpan = std::optional<Span>;

/// Parts that no number of the USA has; the last two stood on sample cards in wallets.
bool is_american(std::string_view digits) {
  assert(digits.size() == 9);
  return !digits.starts_with("000") && !digits.starts_with("666") && digits[0] != '9' &&
         digits.substr(3, 2) != "00" && digits.substr(5) != "0000" && digits != "078051120" &&
         digits != "219099999";
}

/// ISO 7064, modulo 11,10.
bool has_german_check(std::string_view digits) {
  assert(digits.size() == 11);
  int product = 10;
  for (const char c : digits.substr(0, 10)) {
    const int sum = (c - '0' + product) % 10;
    product = (sum == 0 ? 10 : sum) * 2 % 11;
  }
  return (11 - product) % 10 == digits[10] - '0';
}

bool has_verhoeff_check(std::string_view digits) {
  // Ten rows multiply in the dihedral group of order ten, eight permute.
  const auto entry = [](std::size_t row, std::size_t column) {
    return static_cast<std::size_t>(kVerhoeffTable[1 + row * 11 + column] - '0');
  };
  std::size_t check = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto digit = static_cast<std::size_t>(digits[digits.size() - 1 - i] - '0');
    check = entry(check, entry(10 + i % 8, digit));
  }
  return check == 0;
}

/// Whether `code` satisfies one check of words/national_ids.txt.
bool has_check(std::string_view code, std::string_view check) {
  if (check.size() < 2 || is_lower(check.front())) {
    return check == "-" || (check == "iso"   ? has_german_check
                            : check == "ssn" ? is_american
                                             : has_verhoeff_check)(code);
  }
  const std::size_t sign = check.find_first_of("%/");
  const std::size_t equals = std::min(check.find('=', sign), check.size());
  const std::uint64_t modulus = number_of(check.substr(sign + 1, equals - sign - 1));
  std::uint64_t sum = 0;
  std::size_t count = 0;
  for_each_word(
      check.substr(0, sign),
      [&](std::string_view weight) {
        assert(count < code.size() && "a form has at most as many weights as signs");
        const char c = code[count++];
        const std::uint64_t product = number_of(weight) * (is_digit(c) ? number_of({&c, 1}) : 10);
        sum += check[sign] == '/' ? product / 10 + product % 10 : product;
      },
      '.');
  if (equals < check.size()) {
    assert(count < code.size() && equals + 1 + sum % modulus < check.size());
    return code[count] == check[equals + 1 + sum % modulus];
  }
  assert(modulus > 0);
  const std::uint64_t left = (modulus - sum % modulus) % modulus;
  const std::size_t size = modulus > 97 ? 2 : 1;
  return count == code.size()
             ? left == 0
             : number_of(code.substr(count, size)) == left % (size == 1 ? 10 : 100);
}

/// A row of words/national_ids.txt.
struct NumberForm {
  std::string_view layout;
  std::string_view checks;
  std::string_view words;
  std::size_t lead = 0;    ///< Letters before the first digit.
  std::size_t first = 0;   ///< Digits up to the first letter after them.
  std::size_t digits = 0;  ///< All digits.
};

constexpr bool is_form_digit(char c) {
  return is_digit(c) || std::string_view("npqdm").contains(c);
}

constexpr auto kNumberForms = [] {
  std::array<NumberForm, kNationalIds.size()> forms;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const std::string_view row = kNationalIds[i];
    const std::size_t checks = row.find(' ') + 1;
    const std::size_t words = row.find(' ', checks) + 1;
    NumberForm& form = forms[i];
    form = {.layout = row.substr(0, checks - 1),
            .checks = row.substr(checks, words - checks - 1),
            .words = row.substr(words)};
    form.lead = run_end(form.layout, 0, [](char c) { return !is_form_digit(c); });
    const std::size_t letter =
        std::min(form.layout.find_first_of("axg~", form.lead), form.layout.size());
    const auto count = [](std::string_view layout) {
      return static_cast<std::size_t>(std::ranges::count_if(layout, is_form_digit));
    };
    form.first = count(form.layout.substr(0, letter));
    form.digits = count(form.layout);
  }
  return forms;
}();

/// The rows that fit so many digits, as bits: most numbers are of none.
constexpr auto kFormsOfSize = [] {
  static_assert(kNumberForms.size() <= 64);
  std::array<std::uint64_t, 32> forms = {};
  for (std::size_t i = 0; i < kNumberForms.size(); ++i) {
    const NumberForm& form = kNumberForms[i];
    for (const std::size_t size :
         {form.first, form.digits, form.digits + (form.layout.ends_with('x') ? 1U : 0U)}) {
      forms[size] |= std::uint64_t{1} << i;
    }
  }
  return forms;
}();

bool fits(char form, char c) {
  static constexpr std::pair<char, std::string_view> kClasses[] = {
      {'9', "0123456789"},     {'n', "123456789"},
      {'p', "23456789"},       {'q', "03456789"},
      {'d', "01234567"},       {'m', "01"},
      {'g', "ABCD"},           {'a', "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
      {'x', "0123456789KkXx"}, {'~', "-+ABCDEFUVWXY"}};
  const auto* const found =
      std::ranges::find(kClasses, form, &std::pair<char, std::string_view>::first);
  return found == std::end(kClasses) ? c == form : found->second.contains(c);
}

constexpr std::string_view kSigns = " -./";

/// The number in the layout of `form` whose first digit is at `at`; appends it to `code` without
/// its signs and the letters before it.
MaybeSpan read_form(std::string_view text, std::size_t at, const NumberForm& form,
                    std::string& code) {
  at = form.lead > 0 && form.words != "-" ? blanks_begin(text, at, 1) : at;
  if (at < form.lead) {
    return std::nullopt;
  }
  const std::size_t begin = at - form.lead;
  const bool has_signs =
      form.words == "-" || form.layout.find_first_of(kSigns) != std::string_view::npos;
  at = begin;
  for (std::size_t i = 0; i < form.layout.size(); ++i) {
    at += i > 0 && !has_signs && kSigns.contains(byte_at(text, at)) && at < text.size() &&
                  form.layout[i] != '~'
              ? 1U
              : 0U;
    if (at >= text.size() || !fits(form.layout[i], text[at])) {
      return std::nullopt;
    }
    if (i >= form.lead && form.layout[i] != '~' && !kSigns.contains(form.layout[i])) {
      code += text[at];
    }
    ++at;
  }
  return Span{.begin = begin, .end = at};
}

/// Whether what is around a number makes it a part of something larger.
bool goes_on(std::string_view text, const Span& number) {
  const char before = byte_before(text, number.begin);
  const char after = byte_at(text, number.end);
  return is_word_byte(before) || (before != '\0' && std::string_view(".-+/").contains(before)) ||
         is_word_byte(after) ||
         (std::string_view("-./").contains(after) && is_digit(byte_at(text, number.end + 1)));
}

/// A number of words/national_ids.txt.
MaybeSpan listed(std::string_view text, const DigitGroups& groups) {
  assert(groups.count > 0 && groups.digits.size() < kFormsOfSize.size());
  for (std::uint64_t rest = kFormsOfSize[groups.digits.size()]; rest != 0; rest &= rest - 1) {
    const NumberForm& form = kNumberForms[static_cast<std::size_t>(std::countr_zero(rest))];
    std::string code;
    const MaybeSpan span = read_form(text, groups.begin(), form, code);
    if (span && !goes_on(text, *span) && code.find_first_not_of(code[0]) != code.npos &&
        !any_word(
            form.checks, [&](auto check) { return !has_check(code, check); }, ',') &&
        (form.words == "-" || is_announced(text, span->begin, form.words))) {
      return span;
    }
  }
  return std::nullopt;
}

/// Sex, year, month, department, commune, order, and a key modulo 97.
MaybeSpan french(std::string_view text, const DigitGroups& groups) {
  const std::string_view digits = groups.digits;
  if (digits.size() != 15 || (digits[0] != '1' && digits[0] != '2')) {
    return std::nullopt;
  }
  const std::uint64_t month = number_of(digits.substr(3, 2));
  const bool is_month = (month >= 1 && month <= 12) || (month >= 20 && month <= 42);
  const bool is_layout =
      groups.count == 1 || groups.has_sizes({1, 2, 2, 2, 3, 3, 2}) || groups.has_sizes({13, 2});
  const bool has_key = 97 - number_of(digits.substr(0, 13)) % 97 == number_of(digits.substr(13));
  const bool is_id = is_named(text, groups.begin(), "id|ids|time|seed");
  return is_month && is_layout && has_key && !is_id
             ? MaybeSpan({.begin = groups.begin(), .end = groups.end()})
             : std::nullopt;
}

/// The letter at the end is a sum over the others, which count differently at odd places.
bool has_italian_check(std::string_view code) {
  assert(code.size() == 16);
  constexpr std::array<int, 26> kOdd = {1,  0,  5, 7, 9, 13, 15, 17, 19, 21, 2,  4,  18,
                                        20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23};
  int sum = 0;
  for (std::size_t i = 0; i < 15; ++i) {
    const int value = is_digit(code[i]) ? code[i] - '0' : code[i] - 'A';
    sum += i % 2 == 0 ? kOdd[static_cast<std::size_t>(value)] : value;
  }
  return sum % 26 == code[15] - 'A';
}

/// "RSSMRA85T10A562S": A letter, 9 digit, as "AAAAAA99A99A999A". `at` is the first digit.
MaybeSpan italian(std::string_view text, std::size_t at) {
  constexpr std::string_view kLayout = "AAAAAA99A99A999A";
  constexpr std::string_view kDigitsAsLetters = "LMNPQRSTUV";  // When two people had the same.
  if (at < 6 || !is_letter(text[at - 1])) {
    return std::nullopt;
  }
  const std::string_view code = text.substr(at - 6, kLayout.size());
  if (code.size() < kLayout.size() || is_word_byte(byte_before(text, at - 6)) ||
      is_word_byte(byte_at(text, at - 6 + kLayout.size()))) {
    return std::nullopt;
  }
  std::string upper(code);
  for (std::size_t i = 0; i < kLayout.size(); ++i) {
    upper[i] = is_lower(code[i]) ? static_cast<char>(code[i] - 'a' + 'A') : code[i];
    const bool fits = kLayout[i] == 'A' ? is_upper(upper[i])
                                        : is_digit(upper[i]) || kDigitsAsLetters.contains(upper[i]);
    if (!fits) {
      return std::nullopt;
    }
  }
  if (!has_italian_check(upper)) {
    return std::nullopt;
  }
  return Span{.begin = at - 6, .end = at - 6 + kLayout.size()};
}

std::size_t iban_size(std::string_view country) {
  for (const std::string_view row : kIbanSizes.words()) {
    if (row.starts_with(country)) {
      return number_of(row.substr(2));
    }
  }
  return 0;
}

/// ISO 7064, modulo 97-10: the first four go to the end, letters count from 10.
bool has_iban_check(std::string_view iban) {
  assert(iban.size() > 4 && "a country has a size, and none so short");
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
    assert(size != std::string_view::npos);
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

std::optional<Span> national_id_at(std::string_view text, const DigitGroups& groups) {
  if (groups.count == 0) {
    return std::nullopt;
  }
  for (const MaybeSpan& found : {italian(text, groups.begin()), listed(text, groups)}) {
    if (found) {
      return found;
    }
  }
  return goes_on(text, {.begin = groups.begin(), .end = groups.end()}) ? std::nullopt
                                                                       : french(text, groups);
}

std::optional<Span> iban_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kSizeMax = 34;
  if (at < 2 || !is_upper(text[at - 1]) || !is_upper(text[at - 2]) ||
      !is_digit(byte_at(text, at + 1)) || (at > 2 && is_word_byte(text[at - 3]))) {
    return std::nullopt;
  }
  const std::size_t wanted = iban_size(text.substr(at - 2, 2));
  assert(wanted <= kSizeMax && "the register has none that is longer");
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
