#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"

namespace bmad_mem::query_time_test {
namespace {

constexpr std::string_view kNow = "2026-11-18T15:30:00Z";

/// The moment that `text` names for one who asks at kNow; "-" when it names none.
std::string moment_of(std::string_view text, RangeEnd end) {
  const std::optional<QueryTime> time = QueryTime::try_parse(text, end);
  return time ? format_rfc3339(time->at(try_parse_rfc3339(kNow).value())) : "-";
}

}  // namespace

TEST_CASE("a day and a minute begin with their first moment and end with their last") {
  struct Row {
    std::string_view text;
    std::string_view since;
    std::string_view until;
  };
  static constexpr Row kRows[] = {
      {"2026-01-11", "2026-01-11T00:00:00Z", "2026-01-11T23:59:59.999Z"},
      {"2026-01-11 10:05", "2026-01-11T10:05:00Z", "2026-01-11T10:05:59.999Z"},
      {"2026-01-11T10:05", "2026-01-11T10:05:00Z", "2026-01-11T10:05:59.999Z"},
      {"2026-01-11T10:05:23", "2026-01-11T10:05:23Z", "2026-01-11T10:05:23Z"},
      {"2026-01-11T10:05:23.5Z", "2026-01-11T10:05:23.500Z", "2026-01-11T10:05:23.500Z"},
      {"2026-01-11T12:05:23+02:00", "2026-01-11T10:05:23Z", "2026-01-11T10:05:23Z"},
      {"now", "2026-11-18T15:30:00Z", "2026-11-18T15:30:00Z"},
      {"today", "2026-11-18T00:00:00Z", "2026-11-18T23:59:59.999Z"},
      {"yesterday", "2026-11-17T00:00:00Z", "2026-11-17T23:59:59.999Z"},
      {"90s", "2026-11-18T15:28:30Z", "2026-11-18T15:28:30Z"},
      {"45m", "2026-11-18T14:45:00Z", "2026-11-18T14:45:00Z"},
      {"24h", "2026-11-17T15:30:00Z", "2026-11-17T15:30:00Z"},
      {"7d", "2026-11-11T15:30:00Z", "2026-11-11T15:30:00Z"},
      {"2w", "2026-11-04T15:30:00Z", "2026-11-04T15:30:00Z"},
      {"0d", "2026-11-18T15:30:00Z", "2026-11-18T15:30:00Z"},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.text));
    CHECK(moment_of(row.text, RangeEnd::kSince) == row.since);
    CHECK(moment_of(row.text, RangeEnd::kUntil) == row.until);
  }
}

TEST_CASE("what names no moment is refused") {
  static constexpr std::string_view kTexts[] = {
      "",
      "d",
      "7",
      "-7d",
      "+7d",
      "7 d",
      "7y",
      "1e3d",
      "7dd",
      "100001d",
      "2026",
      "2026-1-1",
      "2026-02-30",
      "2026-13-01",
      "Now",
      "soon",
      "2026-01-11 ",
      "11.01.2026",
      "2026-01-11T25:00",
      "99999999999999999999d",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK(moment_of(text, RangeEnd::kSince) == "-");
  }
  CHECK(moment_of("2026-01-11T10:05:23." + std::string(100, '0') + "Z", RangeEnd::kSince) == "-");
}

TEST_CASE("a time says whether it moves with the clock") {
  CHECK(QueryTime::try_parse("2026-01-11", RangeEnd::kSince)->is_fixed());
  CHECK_FALSE(QueryTime::try_parse("7d", RangeEnd::kSince)->is_fixed());
  CHECK_FALSE(QueryTime::try_parse("today", RangeEnd::kSince)->is_fixed());
}

}  // namespace bmad_mem::query_time_test
