// cron.cpp - reads the five fields of a crontab, and finds the next moment that matches them.
#include "base/cron.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <chrono>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, 12> kMonthNames = {"jan", "feb", "mar", "apr", "may", "jun",
                                                          "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdayNames = {"sun", "mon", "tue", "wed",
                                                           "thu", "fri", "sat"};

struct FieldRule {
  std::string_view name;
  unsigned first;
  unsigned last;
  std::span<const std::string_view> names = {};  ///< The first one stands for `first`.
};

constexpr std::array<FieldRule, 5> kFieldRules = {{
    {"minute", 0, 59},
    {"hour", 0, 23},
    {"day of the month", 1, 31},
    {"month", 1, 12, kMonthNames},
    {"day of the week", 0, 7, kWeekdayNames},
}};

constexpr std::uint32_t kAllDays = 0xFFFFFFFE;
constexpr std::uint32_t kAllWeekdays = 0x7F;

constexpr bool has(std::uint64_t bits, unsigned value) { return ((bits >> value) & 1U) != 0; }

class CronParser {
 public:
  explicit CronParser(std::string_view text) : text_(text) {}

  Result<Cron> parse() {
    std::array<std::uint64_t, kFieldRules.size()> bits{};
    for (std::size_t i = 0; i < kFieldRules.size(); ++i) {
      skip_blanks();
      rule_ = &kFieldRules[i];
      if (at_end()) {
        return wrong(at_, fmt::format("the {} is missing; five fields are needed, such as "
                                      "0 2 * * 0",
                                      rule_->name));
      }
      BMAD_TRY_ASSIGN(bits[i], field());
    }
    skip_blanks();
    if (!at_end()) {
      return wrong(at_, "nothing may follow the five fields");
    }
    constexpr std::uint64_t kSunday = 0x81;  // 0 and 7.
    const bool has_sunday = (bits[4] & kSunday) != 0;
    return Cron{.minutes = bits[0],
                .hours = static_cast<std::uint32_t>(bits[1]),
                .days = static_cast<std::uint32_t>(bits[2]),
                .months = static_cast<std::uint32_t>(bits[3]),
                .weekdays = static_cast<std::uint32_t>((bits[4] & kAllWeekdays) |
                                                       static_cast<unsigned>(has_sunday))};
  }

 private:
  Result<std::uint64_t> field() {
    std::uint64_t bits = 0;
    do {
      BMAD_TRY_ASSIGN(const std::uint64_t more, piece());
      bits |= more;
    } while (take(','));
    if (!at_end() && !is_blank(text_[at_])) {
      return wrong(at_, fmt::format("`{}` has no place in the {}", shown(), rule_->name));
    }
    return bits;
  }

  /// `*`, `5`, `1-5`, each but the second with a step.
  Result<std::uint64_t> piece() {
    const std::size_t start = at_;
    unsigned first = rule_->first;
    unsigned last = rule_->last;
    bool is_range = take('*');
    if (!is_range) {
      BMAD_TRY_ASSIGN(first, value());
      last = first;
      if (take('-')) {
        BMAD_TRY_ASSIGN(last, value());
        is_range = true;
      }
    } else if (rule_->last == 7) {
      last = 6;  // Else */2 would have both Sundays.
    }
    if (first > last) {
      return wrong(start, fmt::format("the range of the {} runs backwards", rule_->name));
    }
    unsigned step = 1;
    if (const std::size_t slash = at_; take('/')) {
      if (!is_range) {
        return wrong(slash, "a step follows * or a range, such as */10 or 0-30/5");
      }
      BMAD_TRY_ASSIGN(step, number(1, rule_->last));
    }
    assert(rule_->first <= first && last <= rule_->last && step > 0);
    std::uint64_t bits = 0;
    for (unsigned each = first; each <= last; each += step) {
      bits |= std::uint64_t{1} << each;
    }
    return bits;
  }

  Result<unsigned> value() {
    const std::string_view word = peek_word();
    for (std::size_t i = 0; i < rule_->names.size(); ++i) {
      if (same_but_for_case(word, rule_->names[i])) {
        at_ += word.size();
        return rule_->first + static_cast<unsigned>(i);
      }
    }
    return number(rule_->first, rule_->last);
  }

  Result<unsigned> number(unsigned min, unsigned max) {
    const std::string_view word = peek_word();
    const auto number = number_in<unsigned>(word);
    if (!number || *number < min || *number > max) {
      return wrong(at_, fmt::format("the {} takes {} to {}{}, not `{}`", rule_->name, min, max,
                                    rule_->names.empty() ? "" : " or a name of three letters",
                                    word.empty() ? shown() : word.substr(0, kShownMax)));
    }
    at_ += word.size();
    return *number;
  }

  [[nodiscard]] std::string_view peek_word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_alnum(text_[end])) {
      ++end;
    }
    return text_.substr(at_, end - at_);
  }

  /// The next character, for messages; nothing that a terminal would obey.
  [[nodiscard]] std::string_view shown() const {
    const bool is_plain = !at_end() && text_[at_] > 0x20 && text_[at_] < 0x7f;
    return is_plain ? text_.substr(at_, 1) : at_end() ? "" : "?";
  }

  [[nodiscard]] Error wrong(std::size_t at, std::string message) const {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message), .column = at + 1};
  }

  bool take(char c) {
    const bool is_next = !at_end() && text_[at_] == c;
    at_ += static_cast<std::size_t>(is_next);
    return is_next;
  }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) {
      ++at_;
    }
  }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  static constexpr std::size_t kShownMax = 20;

  std::string_view text_;
  std::size_t at_ = 0;
  const FieldRule* rule_ = nullptr;
};

/// Whether a day of some month is in the lists; days of the week come in every month.
bool ever_comes(const Cron& cron) {
  static constexpr std::array<unsigned, 13> kLengths = {0,  31, 29, 31, 30, 31, 30,
                                                        31, 31, 30, 31, 30, 31};
  if (cron.weekdays != kAllWeekdays) {
    return true;
  }
  assert(cron.days != 0 && "a field allows one value at least");
  const auto first_day = static_cast<unsigned>(std::countr_zero(cron.days));
  for (unsigned month = 1; month <= 12; ++month) {
    if (has(cron.months, month) && first_day <= kLengths[month]) {
      return true;
    }
  }
  return false;
}

bool day_matches(const Cron& cron, std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  if (!has(cron.months, static_cast<unsigned>(date.month()))) {
    return false;
  }
  const bool in_month = has(cron.days, static_cast<unsigned>(date.day()));
  const bool in_week = has(cron.weekdays, std::chrono::weekday(day).c_encoding());
  const bool both_restrict = cron.days != kAllDays && cron.weekdays != kAllWeekdays;
  return both_restrict ? in_month || in_week : in_month && in_week;
}

/// The first moment of the day at or after `from`, a whole minute of the day.
std::optional<std::chrono::minutes> first_minute(const Cron& cron, std::chrono::minutes from) {
  constexpr int kMinutesOfDay = 24 * 60;
  assert(from.count() >= 0 && from.count() < kMinutesOfDay);
  for (int minute = static_cast<int>(from.count()); minute < kMinutesOfDay; ++minute) {
    if (!has(cron.hours, static_cast<unsigned>(minute / 60))) {
      minute += 59 - minute % 60;
    } else if (has(cron.minutes, static_cast<unsigned>(minute % 60))) {
      return std::chrono::minutes(minute);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Cron> parse_cron(std::string_view text) {
  BMAD_TRY_ASSIGN(const Cron cron, CronParser(text).parse());
  if (!ever_comes(cron)) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "none of these months has such a day",
                 .column = 1};
  }
  return cron;
}

Timestamp next_after(const Cron& cron, Timestamp time) {
  using std::chrono::minutes;
  constexpr int kDaysMax = 8 * 366;
  const auto start = std::chrono::floor<minutes>(time) + minutes(1);
  auto day = std::chrono::floor<std::chrono::days>(start);
  minutes from = start - day;
  for (int i = 0; i <= kDaysMax; ++i, day += std::chrono::days(1), from = minutes(0)) {
    if (!day_matches(cron, day)) {
      continue;
    }
    if (const std::optional<minutes> minute = first_minute(cron, from)) {
      return day + *minute;
    }
  }
  assert(false && "parse_cron() lets no such schedule through");
  return Timestamp::max();
}

}  // namespace bmad_mem
