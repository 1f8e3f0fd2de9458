#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "knowledge/summary_file.hpp"

namespace bmad_mem::test::summary_state_test {
namespace {

const Timestamp kNow = try_parse_rfc3339("2026-01-11T10:00:00Z").value();

}  // namespace

TEST_CASE("a state comes back as it was written") {
  SummaryState state;
  state.pending = PendingSummary{.pid = 4711,
                                 .host = "host",
                                 .agent_id = "ann \"a\"",
                                 .started_at = kNow,
                                 .up_to_id = "m7",
                                 .base_hash = "0123",
                                 .ticket = "abcd",
                                 .took_over = true,
                                 .messages = 12,
                                 .tokens = 3456};
  state.counted_id = "m5";
  state.counted_at = kNow;
  state.tried_id = "m7";
  state.compacting_since = kNow;
  const SummaryState again = parse_summary_state(state.to_text());
  CHECK(again.to_text() == state.to_text());
  REQUIRE(again.pending);
  CHECK(again.pending->who() == "process 4711 (agent \"ann \"a\"\") on host");
  CHECK(again.pending->tokens == 3456);
  CHECK(again.counted_at == kNow);
  CHECK(again.compacting_since == kNow);
}

TEST_CASE("a state that can't be read says nothing") {
  for (const char* text : {"", "torn", "[]", "{\"pending\":{\"pid\":1}}", "{\"pending\":7}"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_summary_state(text).pending);
    CHECK(parse_summary_state(text).counted_id.empty());
  }
}

TEST_CASE("records add up, and their totals say the same") {
  const SummaryUpdate update{.session_id = "s1",
                             .last_summarized_id = "m7",
                             .id_was_moved = true,
                             .messages = 4,
                             .tokens_in = 1000,
                             .tokens_out = 50,
                             .cache_read_tokens = 600,
                             .cache_written_tokens = {},
                             .redacted = {}};
  CompactedConversation taken;
  CompactedConversation resumed;
  resumed.resumed_session = true;
  CompactedConversation declined;
  declined.declined = CompactionDecline::kEmptyTemplate;
  const std::string text =
      update_record(update, {}, kNow) + "\n" + update_record(update, {}, kNow) + "\n" +
      failure_record("E_QUERY_TIMEOUT", kNow) + "\nrubbish\n" + compaction_record(taken, kNow) +
      "\n" + compaction_record(resumed, kNow) + "\n" + compaction_record(declined, kNow) + "\n";
  const SummaryStats stats = count_summary_records(text);
  CHECK(stats.updates == 2);
  CHECK(stats.failures == 1);
  CHECK(stats.tokens_in == 2000);
  CHECK(stats.tokens_out == 100);
  CHECK(stats.cache_read_tokens == 1200);
  CHECK(stats.cache_written_tokens == 0);
  CHECK(stats.compactions == 2);
  CHECK(stats.resumed == 1);
  CHECK(stats.declined.at("empty_template") == 1);
  CHECK(stats.records.size() == 6);
  CHECK(stats.records.front() ==
        R"({"at":"2026-01-11T10:00:00Z","kind":"update","last_summarized_id":"m7",)"
        R"("id_was_moved":true,"messages":4,"tokens_in":1000,"tokens_out":50,)"
        R"("cache_read_tokens":600,"minimum_message_tokens_to_init":5000,)"
        R"("minimum_tokens_between_update":5000,"tool_calls_between_updates":10})");
  const SummaryStats totals =
      count_summary_records(totals_record(stats, kNow) + "\n" + failure_record("E", kNow));
  CHECK(totals.updates == 2);
  CHECK(totals.failures == 2);
  CHECK(totals.tokens_in == 2000);
  CHECK(totals.compactions == 2);
  CHECK(totals.resumed == 1);
  CHECK(totals.declined == stats.declined);
}

}  // namespace bmad_mem::test::summary_state_test
