#include <chrono>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "knowledge/summary_file.hpp"

namespace bmad_mem::test::summary_rules_test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kInit = 5000;
constexpr std::uint64_t kBetween = 4000;
constexpr std::uint64_t kCalls = 10;

struct DueInput {
  SummaryStatus status;
  SummarizerConfig config = {.minimum_message_tokens_to_init = kInit,
                             .minimum_tokens_between_update = kBetween,
                             .tool_calls_between_updates = kCalls};
  bool newest_is_sidechain = false;
  bool was_summarized = true;
};

SummaryDue due_of(const DueInput& input) {
  return summary_due(input.status, input.config, input.newest_is_sidechain, input.was_summarized);
}

/// A session that was summarized before: tokens in all, tokens and tool calls since.
DueInput later(std::uint64_t tokens, std::uint64_t tokens_since, std::uint64_t calls) {
  DueInput input;
  input.status.messages_since = 1;
  input.status.tokens = tokens;
  input.status.tokens_since = tokens_since;
  input.status.tool_calls_since = calls;
  return input;
}

/// One that never was.
DueInput first(std::uint64_t tokens, std::uint64_t calls = 0) {
  DueInput input = later(tokens, tokens, calls);
  input.was_summarized = false;
  return input;
}

DueInput compacting(DueInput input) {
  input.status.compacting = true;
  return input;
}

}  // namespace

TEST_CASE("an update is due by the thresholds, and the threshold itself is enough") {
  struct Row {
    const char* name;
    DueInput input;
    SummaryDue due;
  };
  const Row rows[] = {
      {"empty", first(0), SummaryDue::kTooShort},
      {"first, just below", first(kInit - 1, 99), SummaryDue::kTooShort},
      {"first, at", first(kInit), SummaryDue::kDueFirst},
      {"first, just above", first(kInit + 1), SummaryDue::kDueFirst},
      {"first, with tool calls", first(kInit, kCalls), SummaryDue::kDueFirst},
      {"first, compacting", compacting(first(kInit)), SummaryDue::kTooFewToolCalls},
      {"first, compacting, calls just below", compacting(first(kInit, kCalls - 1)),
       SummaryDue::kTooFewToolCalls},
      {"first, compacting, calls at", compacting(first(kInit, kCalls)), SummaryDue::kDueFirst},
      {"later, shrunk below", later(kInit - 1, kBetween, kCalls), SummaryDue::kTooShort},
      {"later, tokens just below", later(kInit, kBetween - 1, 0), SummaryDue::kTooFewTokens},
      {"later, tokens just below, many calls", later(kInit, kBetween - 1, 99),
       SummaryDue::kTooFewTokens},
      {"later, tokens at", later(kInit, kBetween, 0), SummaryDue::kDueTokens},
      {"later, tokens just above", later(kInit, kBetween + 1, kCalls - 1), SummaryDue::kDueTokens},
      {"later, calls at", later(kInit, kBetween, kCalls), SummaryDue::kDueToolCalls},
      {"later, calls above", later(kInit, kBetween, kCalls + 1), SummaryDue::kDueToolCalls},
      {"compacting, no calls", compacting(later(kInit, kBetween, 0)), SummaryDue::kTooFewToolCalls},
      {"compacting, calls just below", compacting(later(kInit, kBetween, kCalls - 1)),
       SummaryDue::kTooFewToolCalls},
      {"compacting, calls at", compacting(later(kInit, kBetween, kCalls)),
       SummaryDue::kDueToolCalls},
      {"compacting, calls at, tokens just below", compacting(later(kInit, kBetween - 1, kCalls)),
       SummaryDue::kTooFewTokens},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(summary_due_name(due_of(row.input)) == summary_due_name(row.due));
  }
}

TEST_CASE("of what stands against an update, the first is named") {
  // Each row adds one reason to those below it.
  DueInput input = later(kInit, kBetween, kCalls);
  CHECK(due_of(input) == SummaryDue::kDueToolCalls);
  input.status.tool_calls_since = 0;
  input.status.compacting = true;
  CHECK(due_of(input) == SummaryDue::kTooFewToolCalls);
  input.status.tokens_since = 0;
  CHECK(due_of(input) == SummaryDue::kTooFewTokens);
  input.status.tokens = 0;
  CHECK(due_of(input) == SummaryDue::kTooShort);
  input.status.pending_since = Timestamp();
  CHECK(due_of(input) == SummaryDue::kPending);
  input.status.messages_since = 0;
  CHECK(due_of(input) == SummaryDue::kNoMessages);
  input.newest_is_sidechain = true;
  CHECK(due_of(input) == SummaryDue::kSidechain);
  input.config.enabled = false;
  CHECK(due_of(input) == SummaryDue::kDisabled);
}

TEST_CASE("thresholds of zero are always reached") {
  DueInput input = later(1, 1, 0);
  input.config = {.minimum_message_tokens_to_init = 0,
                  .minimum_tokens_between_update = 0,
                  .tool_calls_between_updates = 0};
  CHECK(due_of(input) == SummaryDue::kDueToolCalls);
  CHECK(due_of(compacting(input)) == SummaryDue::kDueToolCalls);
}

TEST_CASE("only three answers mean that an update is due, and each has a name of its own") {
  std::set<std::string> names;
  int due_count = 0;
  for (int i = 0; i <= static_cast<int>(SummaryDue::kSidechain); ++i) {
    const auto due = static_cast<SummaryDue>(i);
    names.emplace(summary_due_name(due));
    due_count += is_due(due) ? 1 : 0;
    CHECK(is_due(due) == summary_due_name(due).starts_with("due_"));
  }
  CHECK(names.size() == 10);
  CHECK(due_count == 3);
}

TEST_CASE("what is older than its time is stale, whichever way the clock was set") {
  const Timestamp now(std::chrono::hours(1000));
  const milliseconds age_max(60'000);
  CHECK_FALSE(is_stale(now, now, age_max));
  CHECK_FALSE(is_stale(now - milliseconds(60'000), now, age_max));
  CHECK(is_stale(now - milliseconds(60'001), now, age_max));
  CHECK_FALSE(is_stale(now + milliseconds(60'000), now, age_max));
  CHECK(is_stale(now + milliseconds(60'001), now, age_max));
  CHECK_FALSE(is_compacting({}, now));
  CHECK(is_compacting(now - kCompactingMax, now));
  CHECK_FALSE(is_compacting(now - kCompactingMax - milliseconds(1), now));
}

}  // namespace bmad_mem::test::summary_rules_test
