#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "retrieval_data.hpp"

using namespace bmad_mem;
using namespace bmad_mem::bench;

namespace {

Message message(std::string id, std::string session, std::string speaker = "Ann") {
  return {.id = std::move(id),
          .speaker = std::move(speaker),
          .session = std::move(session),
          .text = "hello"};
}

/// The value of `path` ("context.conversation_id") in the entry of `line`, as text.
std::string value_in(const std::string& line, std::string_view key, std::string_view inner = "") {
  JsonParser parser;
  const Result<JsonValue> entry = parser.parse(line);
  REQUIRE(entry);
  const JsonValue value = inner.empty() ? (*entry)[key] : (*entry)[key][inner];
  return std::string(value.string());
}

}  // namespace

TEST_CASE("messages that share a session are talk, all others are documents") {
  CHECK(is_conversation({.name = "", .messages = {message("1", "S1"), message("2", "S1")}}));
  CHECK_FALSE(is_conversation({.name = "", .messages = {message("1", ""), message("2", "")}}));
  CHECK_FALSE(is_conversation({.name = "", .messages = {message("1", "S1"), message("2", "S2")}}));
  CHECK_FALSE(is_conversation({.name = "", .messages = {}}));
}

TEST_CASE("each session of talk becomes one of ours, and a conversation") {
  const MessageStore store{
      .name = "s",
      .messages = {message("D1:1", "S 1"), message("D1:2", "S 1", "Bob"), message("D2:1", "S 2")}};
  const EntryPlan plan = plan_entries(store);
  CHECK(plan.type == EntryType::kConversation);
  REQUIRE(plan.sessions.size() == 2);
  CHECK(plan.sessions[0].id == "s00001-s-1");
  REQUIRE(plan.sessions[0].lines.size() == 2);
  CHECK(plan.sessions[1].lines.size() == 1);
  const std::string& first = plan.sessions[0].lines[0];
  const std::string& second = plan.sessions[0].lines[1];
  CHECK(value_in(first, "id") == "D1:1");
  CHECK(value_in(first, "role") == "user");
  CHECK(value_in(first, "agent_id") == "Ann");
  CHECK(value_in(first, "content") == "hello");
  CHECK(value_in(second, "role") == "assistant");
  CHECK(value_in(second, "agent_id") == "Bob");
  const std::string conversation = value_in(first, "context", "conversation_id");
  CHECK(value_in(second, "context", "conversation_id") == conversation);
  CHECK(value_in(plan.sessions[1].lines[0], "context", "conversation_id") != conversation);
  CHECK(plan.messages.at("D2:1") == 2);
}

TEST_CASE("speakers that are roles are roles") {
  const EntryPlan plan =
      plan_entries({.name = "s",
                    .messages = {message("1", "S", "assistant"), message("2", "S", "user"),
                                 message("3", "S", "tool")}});
  const auto& lines = plan.sessions[0].lines;
  CHECK(value_in(lines[0], "role") == "assistant");
  CHECK(value_in(lines[1], "role") == "user");
  CHECK(value_in(lines[2], "role") == "tool");
  CHECK(value_in(lines[0], "agent_id").empty());
}

TEST_CASE("documents are events in one session, without a conversation") {
  const EntryPlan plan =
      plan_entries({.name = "s", .messages = {message("1", ""), message("2", "", "")}});
  CHECK(plan.type == EntryType::kEvent);
  REQUIRE(plan.sessions.size() == 1);
  const auto& lines = plan.sessions[0].lines;
  CHECK(value_in(lines[0], "kind") == "document");
  CHECK(value_in(lines[0], "agent_id") == "Ann");
  CHECK(lines[0].find("context") == std::string::npos);
  CHECK(lines[1].find("agent_id") == std::string::npos);
}

TEST_CASE("ids that are none of ours, or are there twice, are replaced and can be mapped back") {
  for (const char* id : {"with blank", "2", "ümlaut", ""}) {
    CAPTURE(id);
    const EntryPlan plan =
        plan_entries({.name = "s", .messages = {message("2", "S"), message(id, "S")}});
    REQUIRE(plan.messages.size() == 2);
    const auto& lines = plan.sessions[0].lines;
    CHECK(plan.messages.at(value_in(lines[0], "id")) == 0);
    CHECK(plan.messages.at(value_in(lines[1], "id")) == 1);
  }
}

TEST_CASE("a message without a time follows the one before it") {
  MessageStore store{.name = "s",
                     .messages = {message("1", "S"), message("2", "S"), message("3", "S")}};
  CHECK_FALSE(latest_time(store));
  CHECK(plan_entries(store).sessions[0].lines[0].find("timestamp") == std::string::npos);
  store.messages[1].time = *try_parse_rfc3339("2023-05-08T13:56:00Z");
  CHECK(format_rfc3339(*latest_time(store)) == "2023-05-08T13:56:00Z");
  const EntryPlan plan = plan_entries(store);
  const auto& lines = plan.sessions[0].lines;
  CHECK(value_in(lines[1], "timestamp") == "2023-05-08T13:56:00Z");
  CHECK(value_in(lines[2], "timestamp") == "2023-05-08T13:56:01Z");
}

TEST_CASE("texts that no line could hold are cut, and empty ones get a mark") {
  MessageStore store{.name = "s", .messages = {message("1", "S"), message("2", "S")}};
  store.messages[0].text = std::string(400'000, 'x') + "\xC3\xA4";
  store.messages[1].text = "";
  const EntryPlan plan = plan_entries(store);
  CHECK(plan.shortened == 1);
  CHECK(plan.sessions[0].lines[0].size() < 1'000'000);
  CHECK(value_in(plan.sessions[0].lines[1], "content") == "-");
}
