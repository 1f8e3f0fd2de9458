#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli::times_test {
namespace {

TEST_CASE("a time on the command line counts from the present") {
  const Timestamp now = *try_parse_rfc3339("2026-03-11T10:05:23.500Z");
  const auto shown = [&](std::string_view text, RangeEnd end) {
    return format_rfc3339(parse_time(text, now, end, "since").value());
  };
  CHECK(shown("7d", RangeEnd::kSince) == "2026-03-04T10:05:23.500Z");
  CHECK(shown("yesterday", RangeEnd::kUntil) == "2026-03-10T23:59:59.999Z");
}

TEST_CASE("the error names the option and shows times that are understood") {
  const Result<Timestamp> time = parse_time("tuesday", Timestamp(), RangeEnd::kUntil, "until");
  REQUIRE(!time);
  CHECK(time.error().code == ErrorCode::E_INVALID_QUERY);
  CHECK(time.error().field == "until");
  CHECK(time.error().message.find("7d") != std::string::npos);
}

}  // namespace
}  // namespace bmad_mem::cli::times_test
