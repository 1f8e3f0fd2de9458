// national_ids.cpp - numbers that states give to people, by their layouts and checks.
//
//   alone       USA ddd-dd-dddd · France 15 digits · Spain 8 digits, letter · Italy 16 · Brazil
//               ddd.ddd.ddd-dd
//   announced   USA nine digits · United Kingdom · Germany · India · Canada · Brazil 11 digits
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bmad_mem/text.hpp"
#include "personal_scan.hpp"
#include "privacy_tables.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using MaybeSpan = std::optional<Span>;

MaybeSpan whole(const DigitGroups& groups) {
  return Span{.begin = groups.begin(), .end = groups.end()};
}

bool is_all_same(std::string_view digits) {
  return std::ranges::all_of(digits, [&](char c) { return c == digits.front(); });
}

MaybeSpan american(std::string_view text, const DigitGroups& groups) {
  const std::string_view digits = groups.digits;
  if (digits.size() != 9) {
    return std::nullopt;
  }
  const std::string_view area = digits.substr(0, 3);
  // The last two stood on sample cards in wallets.
  if (area == "000" || area == "666" || area[0] == '9' || digits.substr(3, 2) == "00" ||
      digits.substr(5) == "0000" || digits == "078051120" || digits == "219099999") {
    return std::nullopt;
  }
  const bool is_formatted = groups.has_sizes({3, 2, 4});
  if (is_formatted && groups.sign(text) == '-') {
    return whole(groups);
  }
  const bool is_announced_here =
      (is_formatted || groups.count == 1) &&
      is_announced(text, groups.begin(), "ssn|social security|socialsecurity|itin");
  return is_announced_here ? whole(groups) : std::nullopt;
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

/// Two digits, each the weighted sum of those before it, modulo 11.
bool has_cpf_check(std::string_view digits) {
  for (std::size_t size = 9; size < 11; ++size) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += static_cast<std::size_t>(digits[i] - '0') * (size + 1 - i);
    }
    if (sum * 10 % 11 % 10 != static_cast<std::size_t>(digits[size] - '0')) {
      return false;
    }
  }
  return true;
}

MaybeSpan brazilian(std::string_view text, const DigitGroups& groups) {
  if (groups.digits.size() != 11 || is_all_same(groups.digits) || !has_cpf_check(groups.digits)) {
    return std::nullopt;
  }
  const bool is_formatted = groups.has_sizes({3, 3, 3, 2}) && text[groups.end() - 3] == '-' &&
                            text[groups.groups[0].end] == '.';
  return is_formatted || is_announced(text, groups.begin(), "cpf") ? whole(groups) : std::nullopt;
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

/// Numbers that are known by their check and by a word before them.
struct AnnouncedId {
  std::size_t size;
  bool is_grouped;             ///< One group of digits, or those of equal size.
  std::string_view not_first;  ///< Digits that no number begins with.
  bool (*has_check)(std::string_view digits);
  std::string_view words;
};
constexpr AnnouncedId kAnnouncedIds[] = {
    {9, true, "08", has_luhn_check, "sin|social insurance|nas"},  // Canada
    {11, false, "0", has_german_check,
     "steuer|idnr|tin|tax id|steuer-id|steueridentifikationsnummer|steuernummer|steuerid|tax|"
     "steuer-idnr"},
    {12, true, "01", has_verhoeff_check, "aadhaar|aadhar|uidai|uid|adhaar"},  // India
};

MaybeSpan announced(std::string_view text, const DigitGroups& groups) {
  const std::string_view digits = groups.digits;
  for (const AnnouncedId& id : kAnnouncedIds) {
    const std::size_t third = id.size / 3;
    if (digits.size() == id.size && !id.not_first.contains(digits[0]) &&
        (!id.is_grouped || groups.count == 1 || groups.has_sizes({third, third, third})) &&
        id.has_check(digits) && is_announced(text, groups.begin(), id.words)) {
      return whole(groups);
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
  return is_month && is_layout && has_key && !is_id ? whole(groups) : std::nullopt;
}

/// "12345678Z", "12345678-Z", "X1234567L": the letter is the number modulo 23.
MaybeSpan spanish(std::string_view text, std::size_t at, std::size_t end) {
  constexpr std::string_view kLetters = "TRWAGMYFPDXBNJZSQVHLCKE";
  const std::size_t letter = byte_at(text, end) == '-' ? end + 1 : end;
  if (!is_upper(byte_at(text, letter)) || is_word_byte(byte_at(text, letter + 1))) {
    return std::nullopt;
  }
  std::size_t begin = at;
  std::uint64_t number = number_of(text.substr(at, end - at));
  if (end - at == 7) {
    begin -= byte_before(text, at) == '-' ? 1U : 0U;
    const std::size_t kind = std::string_view("XYZ").find(byte_before(text, begin));
    if (begin == 0 || kind == std::string_view::npos) {
      return std::nullopt;
    }
    --begin;
    number += kind * 10'000'000U;
  } else if (end - at != 8) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(at, end - at);
  const bool is_date =
      text[letter] == 'T' && (digits.starts_with("19") || digits.starts_with("20"));
  if (kLetters[number % 23] != text[letter] || is_date || is_word_byte(byte_before(text, begin)) ||
      std::string_view("-.+/").contains(byte_before(text, begin))) {
    return std::nullopt;
  }
  return Span{.begin = begin, .end = letter + 1};
}

/// "QQ 12 34 56 C", announced.
MaybeSpan british(std::string_view text, std::size_t at) {
  std::size_t begin = blanks_begin(text, at, 1);
  if (begin < 2 || !is_upper(text[begin - 1]) || !is_upper(text[begin - 2])) {
    return std::nullopt;
  }
  begin -= 2;
  std::size_t place = at;
  for (std::size_t digits = 0; digits < 6;) {
    const char c = byte_at(text, place);
    if (!is_digit(c) && c != ' ') {
      return std::nullopt;
    }
    digits += is_digit(c) ? 1U : 0U;
    ++place;
  }
  place = blanks_end(text, place, 1);
  const char suffix = byte_at(text, place);
  if (suffix < 'A' || suffix > 'D' || is_word_byte(byte_at(text, place + 1)) ||
      is_word_byte(byte_before(text, begin)) ||
      !is_announced(text, begin, "nino|national insurance|ni number|ni|nin")) {
    return std::nullopt;
  }
  return Span{.begin = begin, .end = place + 1};
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
  const Span first = groups.groups[0];
  for (const MaybeSpan& found : {spanish(text, first.begin, first.end), british(text, first.begin),
                                 italian(text, first.begin)}) {
    if (found) {
      return found;
    }
  }
  const char before = byte_before(text, groups.begin());
  const char after = byte_at(text, groups.end());
  const bool goes_on = is_word_byte(after) || (std::string_view("-./").contains(after) &&
                                               is_digit(byte_at(text, groups.end() + 1)));
  if (is_word_byte(before) || std::string_view(".-+/").contains(before) || goes_on) {
    return std::nullopt;
  }
  for (const auto& country : {american, announced, brazilian, french}) {
    if (const MaybeSpan found = country(text, groups)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace bmad_mem
