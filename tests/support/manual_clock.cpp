#include "support/manual_clock.hpp"

#include "bmad_mem/clock.hpp"

namespace bmad_mem::test {

ManualClock::ManualClock(std::string_view start) : now_(parse_rfc3339(start).value()) {}

void ManualClock::set(std::string_view now) { now_ = parse_rfc3339(now).value(); }

}  // namespace bmad_mem::test
