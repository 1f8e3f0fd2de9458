#include "times.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::cli {
namespace {

std::string shown(std::string_view text, RangeEnd end) {
  const Timestamp now = *try_parse_rfc3339("2026-03-11T10:05:23.500Z");
  const std::optional<Timestamp> time = try_parse_time(text, now, end);
  return time ? format_rfc3339(*time) : "none";
}

TEST_CASE("a time on the command line is a moment, a day, or so long ago") {
  struct Row {
    const char* text;
    const char* since;
    const char* until;
  };
  static constexpr Row kRows[] = {
      {"2026-01-11T10:05:23Z", "2026-01-11T10:05:23Z", "2026-01-11T10:05:23Z"},
      {"2026-01-11T12:05:23+02:00", "2026-01-11T10:05:23Z", "2026-01-11T10:05:23Z"},
      {"2026-01-11", "2026-01-11T00:00:00Z", "2026-01-11T23:59:59.999Z"},
      {"2026-01-11 10:05", "2026-01-11T10:05:00Z", "2026-01-11T10:05:59.999Z"},
      {"2026-01-11T10:05", "2026-01-11T10:05:00Z", "2026-01-11T10:05:59.999Z"},
      {"2026-01-11T10:05:23", "2026-01-11T10:05:23Z", "2026-01-11T10:05:23Z"},
      {"90s", "2026-03-11T10:03:53.500Z", "2026-03-11T10:03:53.500Z"},
      {"45m", "2026-03-11T09:20:23.500Z", "2026-03-11T09:20:23.500Z"},
      {"24h", "2026-03-10T10:05:23.500Z", "2026-03-10T10:05:23.500Z"},
      {"7d", "2026-03-04T10:05:23.500Z", "2026-03-04T10:05:23.500Z"},
      {"2w", "2026-02-25T10:05:23.500Z", "2026-02-25T10:05:23.500Z"},
      {"now", "2026-03-11T10:05:23.500Z", "2026-03-11T10:05:23.500Z"},
      {"today", "2026-03-11T00:00:00Z", "2026-03-11T23:59:59.999Z"},
      {"yesterday", "2026-03-10T00:00:00Z", "2026-03-10T23:59:59.999Z"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.text) {
      CHECK(shown(row.text, RangeEnd::kSince) == row.since);
      CHECK(shown(row.text, RangeEnd::kUntil) == row.until);
    }
  }
}

TEST_CASE("what is no time is none") {
  for (const char* text : {"", "d", "7", "-7d", "7y", "7 d", "99999999999d", "2026-13-01",
                           "2026-1-1", "tomorrow", "2026-01-11T25:00", "2026-01-11x10:05:23Z"}) {
    CAPTURE(text);
    CHECK(shown(text, RangeEnd::kSince) == "none");
  }
}

TEST_CASE("the error names the option and shows times that are understood") {
  const Result<Timestamp> time = parse_time("tuesday", Timestamp(), RangeEnd::kUntil, "until");
  REQUIRE(!time);
  CHECK(time.error().code == ErrorCode::E_INVALID_QUERY);
  CHECK(time.error().field == "until");
  CHECK(time.error().message.find("7d") != std::string::npos);
}

}  // namespace
}  // namespace bmad_mem::cli
