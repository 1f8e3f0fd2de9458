#include "bmad_mem/clock.hpp"

#include <doctest/doctest.h>

namespace bmad_mem::test::clock_test {

/// Puts the clock of the process back, which other tests of this program go by.
struct ClockPutBack {
  ~ClockPutBack() { move_system_clock(system_clock().now() - system_clock_shift()); }
};

TEST_CASE("the system's clock can be moved, and goes on from there") {
  const ClockPutBack put_back;
  CHECK(system_clock_shift() == std::chrono::milliseconds(0));
  const Timestamp machine = system_clock().now();
  for (const char* text : {"2031-03-01T12:00:00Z", "1999-12-31T23:59:59.500Z"}) {
    CAPTURE(text);
    const Timestamp moved = parse_rfc3339(text).value();
    move_system_clock(moved);
    const Timestamp first = system_clock().now();
    CHECK(first >= moved);
    CHECK(first < moved + std::chrono::minutes(1));
    CHECK(first - system_clock_shift() >= machine);
    while (system_clock().now() == first) {
    }
    CHECK(system_clock().now() > first);
  }
}

}  // namespace bmad_mem::test::clock_test
