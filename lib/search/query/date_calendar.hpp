// date_calendar.hpp - days, weeks, months and years as stretches of time, in UTC.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

struct TimeStretch {
  Timestamp begin{};
  Timestamp end{};  ///< Exclusive.
};

enum class TimeUnit : std::uint8_t { kMinute, kHour, kDay, kWeek, kMonth, kYear };

enum class Season : std::uint8_t { kSpring, kSummer, kAutumn, kWinter };

/// `count` days from `first` on.
TimeStretch days_from(std::chrono::sys_days first, int count = 1);

/// `count` months from `first` on.
TimeStretch months_from(std::chrono::year_month first, int count = 1);

TimeStretch whole_year(std::chrono::year year);

/// The three months of a season; winter begins in December of `year`.
TimeStretch whole_season(Season season, std::chrono::year year);

/// Questions asked at one moment.
class Calendar {
 public:
  explicit Calendar(Timestamp now)
      : now_(now), today_(std::chrono::floor<std::chrono::days>(now)), date_(today_) {}

  [[nodiscard]] std::chrono::sys_days today() const { return today_; }
  [[nodiscard]] std::chrono::year year() const { return date_.year(); }

  /// The year of the latest such month that has begun; with `ended`, that is over.
  [[nodiscard]] std::chrono::year latest_year(std::chrono::month month, bool ended) const;

  /// The latest such day that has begun; nothing for days that no month has.
  [[nodiscard]] std::optional<std::chrono::sys_days> latest_day(std::chrono::month month,
                                                                std::chrono::day day) const;

  /// The latest day of any month with this number that has begun.
  [[nodiscard]] std::chrono::sys_days latest_day_of_month(std::chrono::day day) const;

  /// The latest such day of the week; with `ended`, before today.
  [[nodiscard]] std::chrono::sys_days latest_weekday(std::chrono::weekday weekday,
                                                     bool ended) const;

  /// The latest such season that has begun; with `ended`, that is over.
  [[nodiscard]] TimeStretch latest_season(Season season, bool ended) const;

  /// Monday of this week.
  [[nodiscard]] std::chrono::sys_days monday() const;

  /// The whole day, week, month or year that lies `count` of them back; for minutes and hours, the
  /// hour around that moment. `count` is at most 1000.
  [[nodiscard]] TimeStretch unit_back(TimeUnit unit, int count) const;

  /// From `count` units ago to now; from days on, whole days with today.
  [[nodiscard]] TimeStretch up_to_now(TimeUnit unit, int count) const;

 private:
  Timestamp now_;
  std::chrono::sys_days today_;
  std::chrono::year_month_day date_;
};

}  // namespace bmad_mem
