#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"
#include "knowledge/summary_file.hpp"
#include "knowledge/summary_prompt.hpp"

namespace bmad_mem::test::compact_conversation_test {
namespace {

const std::string kSummary = "# S\n\n## Task\nBuild it.\n";

std::vector<DialogueMessage> talk(std::size_t count) {
  std::vector<DialogueMessage> messages;
  for (std::size_t i = 1; i <= count; ++i) {
    messages.push_back({.id = "m" + std::to_string(i),
                        .at = Timestamp(std::chrono::minutes(i)),
                        .role = i % 2 == 0 ? "assistant" : "user",
                        .content = "text " + std::to_string(i),
                        .tokens = 100,
                        .is_sidechain = false,
                        .is_sensitive = false});
  }
  return messages;
}

std::string ids_of(const CompactedConversation& result) {
  std::string ids;
  for (const ConversationMessage& message : result.messages) {
    ids += (ids.empty() ? "" : " ") + message.id;
  }
  return ids;
}

}  // namespace

TEST_CASE("a compacted conversation is the summary and every message behind it, in order") {
  const std::vector<DialogueMessage> messages = talk(4);
  const CompactedConversation result =
      compact_conversation({.summary = kSummary, .last_summarized_id = "m2", .messages = messages});
  CHECK(result.declined == CompactionDecline::kNone);
  CHECK_FALSE(result.resumed_session);
  CHECK(ids_of(result) == "m3 m4");
  CHECK(result.markdown ==
        "# S\n\n## Task\nBuild it.\n\n"
        "--- compacted: above, a summary of the conversation up to message m2; below, what came "
        "after it, word for word ---\n"
        "\n### user, 1970-01-01T00:03:00Z\n\ntext 3\n"
        "\n### assistant, 1970-01-01T00:04:00Z\n\ntext 4\n");
  CHECK(result.tokens > 200);
}

TEST_CASE("a summary that covers everything stands alone") {
  const std::vector<DialogueMessage> messages = talk(2);
  const CompactedConversation result =
      compact_conversation({.summary = kSummary, .last_summarized_id = "m2", .messages = messages});
  CHECK(result.declined == CompactionDecline::kNone);
  CHECK(result.messages.empty());
  CHECK(result.markdown.ends_with("word for word ---\n"));
}

TEST_CASE("what stands against a free compaction is named") {
  const std::vector<DialogueMessage> messages = talk(4);
  const std::string blank(summary_template());
  struct Row {
    const char* name;
    ConversationToCompact input;
    CompactionDecline declined;
  };
  const Row rows[] = {
      {"off",
       {.enabled = false, .summary = kSummary, .last_summarized_id = "m2", .messages = messages},
       CompactionDecline::kDisabled},
      {"no summary",
       {.last_summarized_id = "m2", .messages = messages},
       CompactionDecline::kNoSummary},
      {"template", {.summary = blank, .messages = messages}, CompactionDecline::kEmptyTemplate},
      {"gone",
       {.summary = kSummary, .last_summarized_id = "m9", .messages = messages},
       CompactionDecline::kSummarizedIdNotFound},
      {"no messages at all",
       {.summary = kSummary, .last_summarized_id = "m2"},
       CompactionDecline::kSummarizedIdNotFound},
      {"too long",
       {.summary = kSummary, .last_summarized_id = "m2", .messages = messages, .max_tokens = 200},
       CompactionDecline::kThresholdExceeded},
      {"summary alone too long, resumed",
       {.summary = kSummary, .messages = messages, .max_tokens = 5},
       CompactionDecline::kThresholdExceeded},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const CompactedConversation result = compact_conversation(row.input);
    CHECK(compaction_decline_name(result.declined) == compaction_decline_name(row.declined));
    CHECK_FALSE(result.explanation.empty());
    CHECK(result.markdown.empty());
    CHECK(result.messages.empty());
  }
}

TEST_CASE("the threshold itself is not exceeded") {
  const std::vector<DialogueMessage> messages = talk(4);
  ConversationToCompact input{
      .summary = kSummary, .last_summarized_id = "m2", .messages = messages};
  input.max_tokens = compact_conversation(input).tokens;
  CHECK(compact_conversation(input).declined == CompactionDecline::kNone);
  --input.max_tokens;
  CHECK(compact_conversation(input).declined == CompactionDecline::kThresholdExceeded);
}

TEST_CASE("a resumed session takes the newest messages that fit") {
  const std::vector<DialogueMessage> messages = talk(6);
  ConversationToCompact input{.summary = kSummary, .messages = messages};
  const CompactedConversation all = compact_conversation(input);
  CHECK(all.resumed_session);
  CHECK(ids_of(all) == "m1 m2 m3 m4 m5 m6");
  std::size_t fitting = 0;
  for (std::size_t most = all.tokens; most > 150; most -= 10) {
    CAPTURE(most);
    input.max_tokens = most;
    const CompactedConversation result = compact_conversation(input);
    REQUIRE(result.declined == CompactionDecline::kNone);
    CHECK(result.tokens <= most);
    CHECK((result.messages.empty() || result.messages.back().id == "m6"));
    fitting = std::max(fitting, result.messages.size());
  }
  CHECK(fitting == 6);
  input.max_tokens = all.tokens - 1;
  const CompactedConversation fewer = compact_conversation(input);
  CHECK(ids_of(fewer) == "m2 m3 m4 m5 m6");
  CHECK(fewer.boundary.find("its newest 5 messages") != std::string::npos);
}

}  // namespace bmad_mem::test::compact_conversation_test
