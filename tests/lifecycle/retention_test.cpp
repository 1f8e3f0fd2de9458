#include "store/retention.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "lifecycle/deletion.hpp"

namespace bmad_mem::test::retention_test {

TEST_CASE("entries expire when the days of their type are over") {
  const Timestamp made = std::chrono::sys_days(std::chrono::year(2026) / 1 / 11);
  struct Row {
    EntryType type;
    int days;  // 0: never.
  };
  constexpr Row kRows[] = {
      {EntryType::kConversation, 90}, {EntryType::kDecision, 365}, {EntryType::kFinding, 180},
      {EntryType::kPreference, 730},  {EntryType::kFact, 0},       {EntryType::kEvent, 90},
      {EntryType::kAgentState, 90},   {EntryType::kArtifact, 0},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.days);
    const std::optional<Timestamp> expires = expires_at(row.type, made, false, RetentionDays{});
    CHECK(expires.has_value() == (row.days != 0));
    CHECK(expires.value_or(made) == made + std::chrono::days(row.days));
    CHECK_FALSE(expires_at(row.type, made, true, RetentionDays{}));
  }
}

TEST_CASE("any type can be kept for ever") {
  const RetentionDays for_ever{.conversation = 0,
                               .decision = 0,
                               .finding = 0,
                               .preference = 0,
                               .fact = 0,
                               .event = 0,
                               .agent_state = 0,
                               .artifact = 0};
  for (const EntryType type : kEntryTypes) {
    CHECK_FALSE(expires_at(type, Timestamp{}, false, for_ever));
  }
  CHECK_FALSE(first_expiry(Timestamp{}, for_ever));
}

TEST_CASE("a session has nothing to remove before the shortest time is over") {
  const Timestamp made{std::chrono::sys_days{std::chrono::January / 1 / 2026}};
  CHECK(first_expiry(made, {}) == made + std::chrono::days(90));
  CHECK(first_expiry(made, {.fact = 7}) == made + std::chrono::days(7));
}

}  // namespace bmad_mem::test::retention_test
