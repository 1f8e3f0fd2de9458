#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"

namespace bmad_mem::test::rfc3339_test {
namespace {

using std::chrono::milliseconds;

Timestamp at(std::int64_t ms) { return Timestamp(milliseconds(ms)); }

}  // namespace

TEST_CASE("every RFC 3339 time is read, to the millisecond") {
  struct Row {
    const char* text;
    std::int64_t ms;
  };
  constexpr Row kRows[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"2026-01-11T10:00:00Z", 1'768'125'600'000},
      {"2026-01-11T10:05:23Z", 1'768'125'923'000},
      {"2026-01-11t10:05:23z", 1'768'125'923'000},
      {"1969-12-31T23:59:59.999Z", -1},
      // Fractions are cut, not rounded.
      {"2026-01-11T10:05:23.0Z", 1'768'125'923'000},
      {"2026-01-11T10:05:23.25Z", 1'768'125'923'250},
      {"2026-01-11T10:05:23.999Z", 1'768'125'923'999},
      {"2026-01-11T10:05:23.9999Z", 1'768'125'923'999},
      {"2026-01-11T10:05:23.000000000000000000000001Z", 1'768'125'923'000},
      {"1969-12-31T23:59:59.9Z", -100},
      // Offsets.
      {"2026-01-11T11:05:23+01:00", 1'768'125'923'000},
      {"2026-01-11T04:35:23-05:30", 1'768'125'923'000},
      {"2026-01-11T10:05:23-00:00", 1'768'125'923'000},
      {"2026-01-12T10:04:23+23:59", 1'768'125'923'000},
      {"1970-01-01T00:00:00+00:01", -60'000},
      // Leap years, and where there is none.
      {"2024-02-29T00:00:00Z", 1'709'164'800'000},
      {"2000-02-29T00:00:00Z", 951'782'400'000},
      {"2024-12-31T23:59:59Z", 1'735'689'599'000},
      // The leap second is the first moment of the next minute.
      {"2016-12-31T23:59:60Z", 1'483'228'800'000},
      {"2016-12-31T23:59:60.5Z", 1'483'228'800'500},
      {"2017-01-01T00:59:60+01:00", 1'483'228'800'000},
      // The ends of four-digit years.
      {"0000-01-01T00:00:00Z", -62'167'219'200'000},
      {"9999-12-31T23:59:59.999Z", 253'402'300'799'999},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    REQUIRE(try_parse_rfc3339(row.text).has_value());
    CHECK(*try_parse_rfc3339(row.text) == at(row.ms));
    CHECK(parse_rfc3339(row.text).value() == at(row.ms));
  }
}

TEST_CASE("what is no RFC 3339 time is refused") {
  constexpr std::string_view kRefused[] = {
      "",
      "now",
      "2026-01-11",
      "2026-01-11T10:05:23",   // Which zone?
      "2026-01-11 10:05:23Z",  // RFC 3339 allows the blank to some; we write what we read.
      "2026-01-11T10:05Z",
      "2026-1-11T10:05:23Z",
      "26-01-11T10:05:23Z",
      "12026-01-11T10:05:23Z",
      "+2026-01-11T10:05:23Z",
      "-026-01-11T10:05:23Z",
      "2026-00-11T10:05:23Z",
      "2026-13-11T10:05:23Z",
      "2026-01-00T10:05:23Z",
      "2026-01-32T10:05:23Z",
      "2026-04-31T10:05:23Z",
      "2026-02-29T10:05:23Z",  // Not a leap year.
      "1900-02-29T10:05:23Z",  // Nor this one.
      "2026-01-11T24:00:00Z",
      "2026-01-11T10:60:00Z",
      "2026-01-11T10:05:61Z",
      "2026-01-11T10:05:23.Z",
      "2026-01-11T10:05:23,5Z",
      "2026-01-11T10:05:23+0100",
      "2026-01-11T10:05:23+01",
      "2026-01-11T10:05:23+24:00",
      "2026-01-11T10:05:23+01:60",
      "2026-01-11T10:05:23+1:00",
      "2026-01-11T10:05:23ZZ",
      "2026-01-11T10:05:23Z ",
      " 2026-01-11T10:05:23Z",
      "2026-01-11T10:05:23UTC",
      "2026-01-11T10:05:2\xC2\xB3Z",
      std::string_view("2026-01-11T10:05:23Z\0", 21),
      "2026-01-1:T10:05:23Z",  // ':' comes right after '9'.
      "2026/01/11T10:05:23Z",
      "1768125923",
  };
  for (const std::string_view text : kRefused) {
    CAPTURE(std::string(text));
    CHECK_FALSE(try_parse_rfc3339(text).has_value());
    const Error error = parse_rfc3339(text).error();
    CHECK(error.code == ErrorCode::E_INVALID_FORMAT);
    CHECK(error.message.find("2026-01-11T10:05:23Z") != std::string::npos);
  }
}

TEST_CASE("no prefix of a time is a time, and no time with one byte changed is read past its end") {
  constexpr std::string_view kTime = "2026-01-11T10:05:23.250+01:00";
  for (std::size_t size = 0; size < kTime.size(); ++size) {
    CHECK_FALSE(try_parse_rfc3339(kTime.substr(0, size)).has_value());
  }
  for (std::size_t i = 0; i < kTime.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(kTime);
      text[i] = static_cast<char>(byte);
      const auto time = try_parse_rfc3339(text);
      const bool is_digit = byte >= '0' && byte <= '9';
      CHECK((!time || is_digit || text[i] == kTime[i] || byte == 't' || byte == '-'));
    }
  }
}

TEST_CASE("a long text that is no time is cut in the message") {
  CHECK(parse_rfc3339(std::string(100'000, 'x')).error().message.size() < 300);
}

TEST_CASE("times are written in UTC, with milliseconds only when there are some") {
  struct Row {
    std::int64_t ms;
    const char* text;
  };
  constexpr Row kRows[] = {
      {0, "1970-01-01T00:00:00Z"},
      {1'768'125'923'000, "2026-01-11T10:05:23Z"},
      {1'768'125'923'250, "2026-01-11T10:05:23.250Z"},
      {1'768'125'923'007, "2026-01-11T10:05:23.007Z"},
      {-1, "1969-12-31T23:59:59.999Z"},
      {-62'167'219'200'000, "0000-01-01T00:00:00Z"},
      {253'402'300'799'999, "9999-12-31T23:59:59.999Z"},
      {253'402'300'800'000, "9999-12-31T23:59:59.999Z"},  // The nearest that can be written.
      {-62'167'219'200'001, "0000-01-01T00:00:00Z"},
      {INT64_MAX, "9999-12-31T23:59:59.999Z"},
      {INT64_MIN, "0000-01-01T00:00:00Z"},
  };
  for (const Row& row : kRows) {
    CHECK(format_rfc3339(at(row.ms)) == row.text);
  }
}

TEST_CASE("what is written is read back the same, over ten thousand years") {
  constexpr std::int64_t kFirst = -62'167'219'200'000;
  constexpr std::int64_t kStep = 17'000'000'123;  // A bit more than half a year.
  for (std::int64_t ms = kFirst; ms < 253'402'300'799'999; ms += kStep) {
    CHECK(*try_parse_rfc3339(format_rfc3339(at(ms))) == at(ms));
  }
}

TEST_CASE("the day of a time is the one in UTC") {
  CHECK(format_date(at(0)) == "1970-01-01");
  CHECK(format_date(at(-1)) == "1969-12-31");
  CHECK(format_date(at(1'768'125'923'000)) == "2026-01-11");
  CHECK(format_date(*try_parse_rfc3339("2026-01-11T23:30:00-01:00")) == "2026-01-12");
}

}  // namespace bmad_mem::test::rfc3339_test
