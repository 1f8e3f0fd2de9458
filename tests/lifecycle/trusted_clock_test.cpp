#include <algorithm>
#include <chrono>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "lifecycle/maintenance_state.hpp"

namespace bmad_mem::test::trusted_clock_test {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kStart = std::chrono::sys_days(std::chrono::year(2026) / 1 / 11);

Deletion deletion_at(Timestamp time) { return {.deletion_id = "d", .deleted_at = time}; }

/// Hours since kStart; -1 for "no time is trusted yet".
int hour_of(Timestamp time) {
  return time == Timestamp{} ? -1
                             : static_cast<int>(std::chrono::floor<hours>(time - kStart).count());
}

/// What is trusted after each of these readings, in hours since kStart.
std::vector<int> trusted(const std::vector<int>& readings, ClockState state) {
  std::vector<int> times;
  for (const int reading : readings) {
    const SteadyTime time = advance_clock(state, kStart + hours(reading));
    times.push_back(hour_of(time.time));
    CHECK(time.is_held == (times.back() != reading));
    state = time.state;
  }
  return times;
}

/// A machine whose clock is wrong at times, and the time that it really is.
struct Machine {
  /// A run of maintenance while the clock is wrong by `error`.
  void read(minutes error) {
    const SteadyTime time = advance_clock(state, truth + error);
    state = time.state;
    RC_ASSERT(time.time <= truth + kSteadyStepMax);
    RC_ASSERT(time.time <= truth + error);
  }

  ClockState state;
  Timestamp truth = kStart;
};

/// Between two runs: hours, or weeks.
minutes any_pause() {
  return minutes(*rc::gen::oneOf(rc::gen::inRange(0, 60 * 72), rc::gen::inRange(0, 60 * 24 * 40)));
}

/// Around the step that is believed, around the silence that is too long, or wild.
minutes any_error() {
  constexpr int kDay = 60 * 24;
  return minutes(*rc::gen::oneOf(rc::gen::inRange(-4 * kDay, 4 * kDay),
                                 rc::gen::inRange(-40 * kDay, 40 * kDay),
                                 rc::gen::inRange(-400 * kDay, 400 * kDay)));
}

}  // namespace

TEST_CASE("steps of up to two days are believed, and jumps only when they last") {
  constexpr int kYear = 365 * 24;
  struct Row {
    const char* name;
    std::vector<int> readings;
    std::vector<int> trusted;
  };
  const Row rows[] = {
      {"day by day", {0, 24, 48}, {0, 24, 48}},
      {"two days", {48, 96}, {48, 96}},
      {"a little more is held", {49}, {0}},
      {"held, then confirmed a day later", {100, 123, 124, 130}, {0, 0, 124, 130}},
      {"one moment a year ahead", {24, 24 + kYear, 25, 26}, {24, 24, 25, 26}},
      {"a year ahead for 23 hours", {kYear, kYear + 12, kYear + 23, 24}, {0, 0, 0, 24}},
      {"a year ahead, and away for three days", {kYear, 72, 95, 96}, {0, 0, 0, 96}},
      {"a year ahead for good", {kYear, kYear + 24, kYear + 48}, {0, kYear + 24, kYear + 48}},
      {"set twice: a year and two", {kYear, 2 * kYear, 2 * kYear + 1}, {0, 0, 0}},
      {"once a week lags a week", {168, 336, 504, 505}, {0, 168, 336, 336}},
      {"every fortieth day lags forty days", {960, 1920, 2880}, {0, 960, 1920}},
      {"a jump from a jump", {100, 123, kYear, 130}, {0, 0, 0, 0}},
      {"a held reading that is confirmed from afar", {100, 124 + 100, 125 + 100}, {0, 100, 100}},
      {"backwards", {24, 10, 11}, {24, 10, 11}},
      {"far backwards", {24, -kYear, -kYear + 1}, {24, -kYear, -kYear + 1}},
      {"backwards within a hold begins it anew", {200, 210, 205, 228, 229}, {0, 0, 0, 0, 229}},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) { CHECK(trusted(row.readings, {.last_seen = kStart}) == row.trusted); }
  }
}

TEST_CASE("the first reading of all is held for a day, like a jump") {
  CHECK(trusted({0, 1, 23, 24, 25}, {}) == std::vector<int>{-1, -1, -1, 24, 25});
}

TEST_CASE("half a hold is none") {
  const ClockState state{.last_seen = kStart, .held_since = kStart + hours(100)};
  CHECK(trusted({130, 153, 154}, state) == std::vector<int>{0, 0, 154});
}

TEST_CASE("no wrong clock of less than a day makes the time more than two days too late") {
  CHECK(rc::check([] {
    Machine machine;
    const int stretches = *rc::gen::inRange(1, 12);
    for (int i = 0; i < stretches; ++i) {
      const int rights = *rc::gen::inRange(1, 6);
      for (int right = 0; right < rights; ++right) {
        machine.truth += any_pause();
        machine.read(minutes(0));
      }
      machine.truth += any_pause();
      const minutes error = any_error();
      const Timestamp end = machine.truth + hours(24);
      while (machine.truth < end && *rc::gen::inRange(0, 5) != 0) {
        machine.read(error);
        machine.truth += minutes(*rc::gen::inRange(1, 60 * 12));
      }
      machine.truth = std::min(machine.truth, end);
    }
  }));
}

TEST_CASE("a clock that is right is believed again after three days of daily runs") {
  CHECK(rc::check([] {
    ClockState state;
    for (const int reading : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-9000, 9000))) {
      state = advance_clock(state, kStart + hours(reading)).state;
    }
    Timestamp now = kStart;
    bool is_held = true;
    for (int day = 0; day < 3; ++day, now += days(1)) {
      const SteadyTime time = advance_clock(state, now);
      state = time.state;
      is_held = time.is_held;
    }
    RC_ASSERT(!is_held);
  }));
}

TEST_CASE("a grace begins with the deletion where the clock is right, else with the first sight") {
  constexpr days kYears(3650);
  const ClockState state{.last_seen = kStart};
  const Timestamp now = kStart + days(1);
  struct Row {
    const char* name;
    Timestamp deleted_at;
    Timestamp since;
  };
  const Row rows[] = {{"since the last run", kStart + hours(3), kStart + hours(3)},
                      {"years behind", kStart - kYears, now},
                      {"years ahead", kStart + kYears, now}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Graces graces;
    update_graces(graces, std::vector{deletion_at(row.deleted_at)}, state, now);
    CHECK(graces.at("d") == row.since);
  }
  Graces graces = {{"d", kStart}, {"gone", kStart}};
  const std::vector<Deletion> there = {deletion_at(kStart)};
  update_graces(graces, there, state, now);
  CHECK(graces == Graces{{"d", kStart}});
  update_graces(graces, there, state, kStart + kYears);  // A jump: nobody knows what it was.
  CHECK(graces.at("d") == kStart + kYears);
  update_graces(graces, there, state, now);
  CHECK(graces.at("d") == now);
}

}  // namespace bmad_mem::test::trusted_clock_test
