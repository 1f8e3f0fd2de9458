// personal.cpp - finds personal data: reads groups of digits, and asks each kind of it.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <span>

#include "bmad_mem/text.hpp"
#include "byte_places.hpp"
#include "finders.hpp"
#include "personal_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kDigitRunMax = 24;
/// Digits in a row of the longest account number.
constexpr std::size_t kRunMax = 32;

/// What begins at a byte: all but digits and '@' is passed over at once.
using Triggers = BytePlaces<ByteSet<true, '@'>>;

bool is_sign(char c) { return std::string_view(" -./()").contains(c); }

class PersonalScan {
 public:
  PersonalScan(std::string_view text, const PersonalPolicies& policies, Detections& out)
      : text_(text), policies_(policies), out_(out) {}

  void run() {
    Triggers(text_).for_each([this](std::size_t at) {
      if (text_[at] == '@') {
        add(PersonalKind::kEmail, email_at(text_, at));
        return at + 1;
      }
      const std::size_t end = run_end(text_, at, is_digit);
      if (at >= found_end_ && end - at <= kRunMax) {
        read_number(at, end);
      }
      return end;
    });
  }

 private:
  /// Most numbers in a text are small and stand alone.
  [[nodiscard]] bool can_be_personal(std::size_t at, std::size_t end) const {
    constexpr std::size_t kAloneMin = 7;
    const char after = byte_at(text_, end);
    const auto goes_on = [&](std::size_t next) {
      return is_digit(byte_at(text_, next)) || byte_at(text_, next) == '(';
    };
    return end - at >= kAloneMin || is_letter(after) || is_letter(byte_before(text_, at)) ||
           after == ':' ||
           (is_sign(after) &&
            (goes_on(end + 1) || (is_sign(byte_at(text_, end + 1)) && goes_on(end + 2))));
  }

  void read_number(std::size_t at, std::size_t end) {
    if (!can_be_personal(at, end)) {
      return;
    }
    // The first that fits has it: those with the stronger checks come first.
    if (add(PersonalKind::kIban, iban_at(text_, at)) || add(PersonalKind::kIp, ip_at(text_, at))) {
      return;
    }
    const DigitGroups groups = read_digit_groups(text_, at);
    // Fewer only have meaning among letters.
    constexpr std::size_t kDigitsMin = 7;
    if (groups.digits.size() < kDigitsMin && !is_letter(byte_before(text_, at)) &&
        !(groups.count > 0 && is_letter(byte_at(text_, groups.end()))) &&
        byte_before(text_, at) != ' ') {
      return;
    }
    add(PersonalKind::kCard, card_at(text_, groups)) ||
        add(PersonalKind::kNationalId, national_id_at(text_, groups)) ||
        add(PersonalKind::kPhone, phone_at(text_, groups));
  }

  // Nearly all numbers are nothing of the kind.
  bool add(PersonalKind kind, const std::optional<Span>& span) { return span && take(kind, *span); }

  bool take(PersonalKind kind, const Span& span) {
    assert(span.begin < span.end && span.end <= text_.size());
    const PersonalPolicy policy = policies_[static_cast<std::size_t>(kind)];
    if (policy != PersonalPolicy::kKeep) {
      out_.push_back({.begin = span.begin,
                      .end = span.end,
                      .rule = personal_kind_name(kind),
                      .action = policy == PersonalPolicy::kRedact ? DetectionAction::kSecret
                                                                  : DetectionAction::kNear});
    }
    // What is kept is still what it is: its digits are no other kind's.
    found_end_ = std::max(found_end_, span.end);
    return true;
  }

  std::string_view text_;
  const PersonalPolicies& policies_;
  Detections& out_;
  std::size_t found_end_ = 0;
};

}  // namespace

bool DigitGroups::has_sizes(std::initializer_list<std::size_t> sizes) const {
  return std::ranges::equal(std::span(groups).first(count), sizes, {}, &Span::size);
}

char DigitGroups::sign(std::string_view text) const {
  char sign = '\0';
  for (std::size_t i = 1; i < count; ++i) {
    const char each = text[groups[i].begin - 1];
    if (groups[i].begin - groups[i - 1].end != 1 || (i > 1 && each != sign)) {
      return '\0';
    }
    sign = each;
  }
  return sign;
}

DigitGroups DigitGroups::first(std::size_t group_count) const {
  DigitGroups some = *this;
  some.count = std::min(count, group_count);
  std::size_t size = 0;
  for (std::size_t i = 0; i < some.count; ++i) {
    size += groups[i].size();
  }
  assert(size <= digits.size());
  some.digits.resize(size);
  return some;
}

DigitGroups read_digit_groups(std::string_view text, std::size_t at) {
  assert(at < text.size() && is_digit(text[at]));
  DigitGroups all;
  while (all.count < DigitGroups::kGroupsMax) {
    const std::size_t end = run_end(text, at, is_digit, kDigitRunMax);
    if (all.digits.size() + (end - at) > kDigitRunMax || is_digit(byte_at(text, end))) {
      break;
    }
    all.digits.append(text.substr(at, end - at));
    all.groups[all.count++] = {.begin = at, .end = end};
    // ") " and " (" are signs of two bytes.
    at = run_end(text, end, is_sign, 2);
    if (at == end || !is_digit(byte_at(text, at))) {
      break;
    }
  }
  return all;
}

bool is_announced(std::string_view text, std::size_t at, std::string_view words) {
  assert(at <= text.size());
  constexpr std::size_t kReach = 40;
  for (std::size_t i = at - std::min(at, kReach); i < at; ++i) {
    // A word of a script beyond ASCII may stand amid others.
    const bool is_foreign = static_cast<unsigned char>(text[i]) >= 0xc0;
    if ((is_foreign || (is_letter(text[i]) && !is_alnum(byte_before(text, i)))) &&
        any_word(
            words,
            [&](std::string_view word) {
              return starts_folded(text.substr(i, at - i), word) &&
                     (is_foreign || !is_letter(byte_at(text, i + word.size())));
            },
            '|')) {
      return true;
    }
  }
  return false;
}

bool is_named(std::string_view text, std::size_t at, std::string_view words) {
  const std::size_t end = run_begin(
      text, at,
      [](char c) { return is_blank(c) || is_quote(c) || std::string_view(":=#(\\").contains(c); },
      6);
  return any_word(
      words,
      [&](std::string_view word) {
        return end >= word.size() &&
               equals_folded(text.substr(end - word.size(), word.size()), word);
      },
      '|');
}

std::uint64_t number_of(std::string_view digits) {
  assert(digits.size() <= 19 && "more digits do not fit");
  return number_in<std::uint64_t>(digits).value_or(0);
}

bool has_luhn_check(std::string_view digits) {
  assert(std::ranges::all_of(digits, is_digit));
  int sum = 0;
  bool is_doubled = false;
  for (std::size_t i = digits.size(); i-- > 0; is_doubled = !is_doubled) {
    const int digit = digits[i] - '0';
    sum += is_doubled ? digit * 2 - (digit > 4 ? 9 : 0) : digit;
  }
  return sum % 10 == 0;
}

std::string_view personal_kind_name(PersonalKind kind) {
  constexpr std::array<std::string_view, kPersonalKindCount> kNames = {
      "email", "phone", "iban", "card", "ip", "national-id"};
  assert(static_cast<std::size_t>(kind) < kNames.size());
  return kNames[static_cast<std::size_t>(kind)];
}

void find_personal(std::string_view text, const PersonalPolicies& policies, Detections& out) {
  const bool keeps_all = std::ranges::all_of(
      policies, [](PersonalPolicy policy) { return policy == PersonalPolicy::kKeep; });
  if (!keeps_all) {
    PersonalScan(text, policies, out).run();
  }
}

}  // namespace bmad_mem
