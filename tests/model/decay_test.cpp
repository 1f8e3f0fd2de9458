#include "model/decay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "jsonl_file.hpp"

namespace bmad_mem::decay_test {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr Timestamp kStart = std::chrono::sys_days(std::chrono::year(2026) / 1 / 11);

DecaySettings settings_of(DecayModel model) {
  DecaySettings settings = DecaySettings::defaults();
  settings.model = model;
  return settings;
}

/// Any entry made at kStart, on one of four hundred days, accessed at some time or never.
DecayInput any_input() {
  DecayInput input{.type = *rc::gen::elementOf(kEntryTypes), .timestamp = kStart};
  input.initial_factor = *rc::gen::inRange(0, 201) / 100.0;
  input.importance = *rc::gen::inRange(0, 101) / 100.0;
  input.access_count = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::arbitrary<bool>()) {
    input.last_accessed = kStart + hours(*rc::gen::inRange(-100, 9600));
  }
  return input;
}

DecaySettings any_settings() {
  DecaySettings settings =
      settings_of(*rc::gen::element(DecayModel::kExponential, DecayModel::kPriority));
  settings.minimum_factor = *rc::gen::inRange(0, 101) / 100.0;
  return settings;
}

/// "| conversation | 1.00 | 0.99 | … |", as docs/how-it-works.md has it.
std::string markdown_row(const DecayTableLine& row) {
  std::string line = fmt::format("| {} |", entry_type_name(row.type));
  for (const double factor : row.factors) {
    line += fmt::format(" {:.2f} |", factor);
  }
  return line + '\n';
}

}  // namespace

TEST_CASE("the exponential model gives what its formula gives by hand") {
  struct Row {
    EntryType type;
    int age_days;
    double initial;
    double importance;
    std::uint64_t accesses;
    double expected;
  };
  constexpr Row kRows[] = {
      {EntryType::kConversation, 0, 1, 0.5, 0, 1},        // 1.1, cut
      {EntryType::kConversation, 7, 1, 0.5, 0, 0.54624},  // e^-0.7 = 0.496585, x 1.1
      {EntryType::kConversation, 7, 1, 0, 0, 0.49659},
      {EntryType::kConversation, 7, 0.5, 0, 0, 0.24829},
      {EntryType::kConversation, 7, 1, 0.5, 2, 0.64556},  // x 1.3
      {EntryType::kConversation, 7, 1, 0.5, 5, 0.79454},  // x 1.6
      {EntryType::kConversation, 7, 1, 0.5, 6, 0.79454},  // No more than five count.
      {EntryType::kConversation, 7, 1, 0.5, 1000, 0.79454},
      {EntryType::kConversation, 30, 1, 0.5, 0, 0.1},    // e^-3 x 1.1 = 0.0548
      {EntryType::kDecision, 30, 1, 1, 0, 0.65857},      // e^-0.6 = 0.548812, x 1.2
      {EntryType::kDecision, 90, 1, 1, 0, 0.19836},      // e^-1.8 = 0.165299, x 1.2
      {EntryType::kFinding, 14, 1, 0.8, 0, 0.57604},     // e^-0.7 x 1.16
      {EntryType::kPreference, 70, 1, 0.7, 0, 0.56611},  // e^-0.7 x 1.14
  };
  for (const Row& row : kRows) {
    CAPTURE(row.age_days);
    CAPTURE(row.accesses);
    const DecayInput input{.type = row.type,
                           .timestamp = kStart,
                           .initial_factor = row.initial,
                           .importance = row.importance,
                           .access_count = row.accesses};
    const double factor =
        effective_decay(settings_of(DecayModel::kExponential), input, kStart + days(row.age_days));
    CHECK(factor == doctest::Approx(row.expected).epsilon(0.0001));
  }
}

TEST_CASE("the default rates have the half-lives that the specification states, within 16 %") {
  struct Row {
    EntryType type;
    double half_life_hours;
    double stated_hours;
  };
  constexpr Row kRows[] = {{EntryType::kConversation, 166.36, 168},
                           {EntryType::kFinding, 332.71, 336},
                           {EntryType::kDecision, 831.78, 720},
                           {EntryType::kPreference, 1663.55, 1440}};
  for (const Row& row : kRows) {
    CHECK(std::abs(row.half_life_hours / row.stated_hours - 1) < 0.16);
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double, std::ratio<3600>>(row.half_life_hours));
    const DecayInput input{.type = row.type, .timestamp = kStart, .importance = 0};
    CHECK(effective_decay(DecaySettings::defaults(), input, kStart + age) ==
          doctest::Approx(0.5).epsilon(0.0001));
  }
}

TEST_CASE("the priority model gives what its formula gives by hand") {
  struct Row {
    EntryType type;
    int age_days;
    int days_since_access;  // -1: never
    std::uint64_t accesses;
    double expected;
  };
  constexpr Row kRows[] = {
      {EntryType::kConversation, 0, -1, 0, 1},
      {EntryType::kDecision, 0, -1, 0, 0.95},
      {EntryType::kFinding, 0, -1, 0, 0.9},
      {EntryType::kPreference, 0, -1, 0, 0.85},
      {EntryType::kConversation, 7, -1, 0, 0.65705},  // e^-0.42
      {EntryType::kConversation, 30, -1, 0, 0.1653},  // e^-1.8
      {EntryType::kConversation, 90, -1, 0, 0.1},
      {EntryType::kConversation, 90, -1, 100, 0.20452},  // e^-5.4 = 0.004517, + 0.2 and no more
      {EntryType::kConversation, 30, 2, 3, 0.70032},     // e^-0.1 x e^-0.3 = 0.670320, + 0.03
      {EntryType::kConversation, 30, 0, 1, 0.75082},     // e^-0.3 + 0.01
      {EntryType::kDecision, 7, -1, 0, 0.718},           // 0.95 x e^-0.28
      {EntryType::kDecision, 30, -1, 0, 0.4},            // 0.95 x e^-1.2 = 0.286
      {EntryType::kFinding, 10, -1, 0, 0.54588},         // 0.9 x e^-0.5
      {EntryType::kPreference, 10, -1, 0, 0.6297},       // 0.85 x e^-0.3
      {EntryType::kAgentState, 10, -1, 0, 0.39727},      // 0.8 x e^-0.7
  };
  for (const Row& row : kRows) {
    CAPTURE(row.age_days);
    CAPTURE(row.accesses);
    const Timestamp now = kStart + days(row.age_days);
    DecayInput input{.type = row.type, .timestamp = kStart, .access_count = row.accesses};
    if (row.days_since_access >= 0) {
      input.last_accessed = now - days(row.days_since_access);
    }
    CHECK(effective_decay(settings_of(DecayModel::kPriority), input, now) ==
          doctest::Approx(row.expected).epsilon(0.0001));
  }
}

TEST_CASE("an access before the entry was made says nothing") {
  DecayInput input{.timestamp = kStart};
  const DecaySettings settings = settings_of(DecayModel::kPriority);
  const double expected = effective_decay(settings, input, kStart + days(7));
  input.last_accessed = kStart - days(100);
  CHECK(effective_decay(settings, input, kStart + days(7)) == expected);
}

TEST_CASE("the least factor of the config holds under both models") {
  for (const DecayModel model : {DecayModel::kExponential, DecayModel::kPriority}) {
    DecaySettings settings = settings_of(model);
    settings.minimum_factor = 0.5;
    const DecayInput input{.timestamp = kStart};
    CHECK(effective_decay(settings, input, kStart + days(5000)) == 0.5);
  }
}

TEST_CASE("a factor never rises as time passes, whatever the entry and the model") {
  CHECK(rc::check([] {
    const DecaySettings settings = any_settings();
    const DecayInput input = any_input();
    const Timestamp now = kStart + hours(*rc::gen::inRange(-1000, 20'000));
    const Timestamp later = now + hours(*rc::gen::inRange(0, 20'000));
    RC_ASSERT(effective_decay(settings, input, later) <= effective_decay(settings, input, now));
  }));
}

TEST_CASE("a factor lies between the floor and 1, whatever the entry and the model") {
  CHECK(rc::check([] {
    const DecaySettings settings = any_settings();
    const DecayInput input = any_input();
    const double factor =
        effective_decay(settings, input, kStart + hours(*rc::gen::inRange(-1000, 20'000)));
    RC_ASSERT(factor >= settings.minimum_factor);
    RC_ASSERT(factor <= 1);
  }));
}

TEST_CASE("without accesses the exponential factor has no bit of them") {
  CHECK(rc::check([] {
    const DecaySettings settings = settings_of(DecayModel::kExponential);
    DecayInput input = any_input();
    input.access_count = 0;
    const int age = *rc::gen::inRange(0, 9600);
    const double rate = settings.rates_per_day[static_cast<std::size_t>(input.type)];
    const double factor =
        input.initial_factor * std::exp(-rate * (age / 24.0)) * (1 + 0.2 * input.importance);
    RC_ASSERT(effective_decay(settings, input, kStart + hours(age)) ==
              std::clamp(factor, settings.minimum_factor, 1.0));
  }));
}

TEST_CASE("pinned entries don't decay, nor does anything while decay is off") {
  CHECK(rc::check([] {
    DecaySettings settings = any_settings();
    DecayInput input = any_input();
    const Timestamp now = kStart + hours(*rc::gen::inRange(0, 20'000));
    input.pinned = *rc::gen::arbitrary<bool>();
    settings.enabled = input.pinned;
    RC_ASSERT(effective_decay(settings, input, now) == 1);
  }));
}

TEST_CASE("entries from the future are as fresh as those of this moment") {
  CHECK(rc::check([] {
    const DecaySettings settings = any_settings();
    const DecayInput input = any_input();
    const Timestamp before = kStart - hours(*rc::gen::inRange(0, 20'000));
    RC_ASSERT(effective_decay(settings, input, before) == effective_decay(settings, input, kStart));
  }));
}

TEST_CASE("the models agree on a fresh message and on an ancient one") {
  const DecayInput input{.timestamp = kStart};
  for (const DecayModel model : {DecayModel::kExponential, DecayModel::kPriority}) {
    CHECK(effective_decay(settings_of(model), input, kStart) == 1);
    CHECK(effective_decay(settings_of(model), input, kStart + days(10'000)) == 0.1);
  }
}

TEST_CASE("models are named as in the config") {
  CHECK(decay_model_name(DecayModel::kPriority) == "priority");
}

TEST_CASE("the page about decay shows the factors that the defaults give") {
  const std::string page = repository_file("docs/how-it-works.md");
  const std::size_t priority = page.find("### priority");
  REQUIRE(priority != std::string::npos);
  const std::vector<DecayTableLine> rows = decay_table(DecaySettings::defaults());
  REQUIRE(rows.size() == 2 * kEntryTypeCount);
  for (const DecayTableLine& row : rows) {
    const std::string line = markdown_row(row);
    CAPTURE(line);
    const bool is_priority = row.model == "priority";
    const std::size_t at = page.find(line, is_priority ? priority : 0);
    CHECK(at != std::string::npos);
    CHECK((is_priority || at < priority));
  }
}

}  // namespace bmad_mem::decay_test
