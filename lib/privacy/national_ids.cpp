// national_ids.cpp - numbers that states give to people, by their layouts and checks.
//
//   by code, without a word before it   France 15 digits · Italy 16
//   by a row of words/national_ids.txt  all others
#include <algorithm>
#include <array>
#include <bit>
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

bool is_all_same(std::string_view digits) {
  return std::ranges::all_of(digits, [&](char c) { return c == digits.front(); });
}

/// Parts that no number of the USA has; the last two stood on sample cards in wallets.
bool is_american(std::string_view digits) {
  return !digits.starts_with("000") && !digits.starts_with("666") && digits[0] != '9' &&
         digits.substr(3, 2) != "00" && digits.substr(5) != "0000" && digits != "078051120" &&
         digits != "219099999";
}

/// ISO 7064, modulo 11,10.
bool has_german_check(std::string_view digits) {
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
        const char c = code[count++];
        const std::uint64_t product = number_of(weight) * (is_digit(c) ? number_of({&c, 1}) : 10);
        sum += check[sign] == '/' ? product / 10 + product % 10 : product;
      },
      '.');
  if (equals < check.size()) {
    return code[count] == check[equals + 1 + sum % modulus];
  }
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
  switch (form) {
    case '9':
      return is_digit(c);
    case 'n':
    case 'p':
      return is_digit(c) && c > (form == 'n' ? '0' : '1');
    case 'q':
      return is_digit(c) && c != '1' && c != '2';
    case 'd':
    case 'm':
      return c >= '0' && c <= (form == 'd' ? '7' : '1');
    case 'a':
    case 'g':
      return c >= 'A' && c <= (form == 'a' ? 'Z' : 'D');
    case 'x':
      return is_digit(c) || std::string_view("KkXx").contains(c);
    case '~':
      return std::string_view("-+ABCDEFUVWXY").contains(c);
    default:
      return c == form;
  }
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
  for (std::uint64_t rest = kFormsOfSize[groups.digits.size()]; rest != 0; rest &= rest - 1) {
    const NumberForm& form = kNumberForms[static_cast<std::size_t>(std::countr_zero(rest))];
    std::string code;
    const MaybeSpan span = read_form(text, groups.begin(), form, code);
    if (span && !goes_on(text, *span) && !is_all_same(code) &&
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

}  // namespace bmad_mem
