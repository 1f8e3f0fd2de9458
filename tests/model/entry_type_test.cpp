#include "bmad_mem/entry_type.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "base/ids.hpp"

namespace bmad_mem::entry_type_test {

TEST_CASE("a type is read from its singular, plural and log name, with either hyphen") {
  struct Row {
    const char* text;
    EntryType type;
  };
  static constexpr Row kRows[] = {
      {"conversation", EntryType::kConversation},
      {"conversations", EntryType::kConversation},
      {"decision", EntryType::kDecision},
      {"decisions", EntryType::kDecision},
      {"finding", EntryType::kFinding},
      {"findings", EntryType::kFinding},
      {"preference", EntryType::kPreference},
      {"preferences", EntryType::kPreference},
      {"fact", EntryType::kFact},
      {"facts", EntryType::kFact},
      {"event", EntryType::kEvent},
      {"events", EntryType::kEvent},
      {"agent_state", EntryType::kAgentState},
      {"agent_states", EntryType::kAgentState},
      {"agent-state", EntryType::kAgentState},
      {"agent-states", EntryType::kAgentState},
      {"artifact", EntryType::kArtifact},
      {"artifacts", EntryType::kArtifact},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(try_parse_entry_type(row.text) == row.type);
    CHECK(parse_entry_type(row.text).value() == row.type);
  }
}

TEST_CASE("what is no type is refused, and the error guesses what was meant") {
  for (const char* text :
       {"", "Decision", "desicion", "agent state", "decisions.jsonl", "memory"}) {
    CAPTURE(text);
    CHECK_FALSE(try_parse_entry_type(text).has_value());
    const Result<EntryType> type = parse_entry_type(text);
    REQUIRE_FALSE(type.has_value());
    CHECK(type.error().code == ErrorCode::E_INVALID_FORMAT);
    CHECK(type.error().field == "type");
    CHECK(type.error().message.find("agent_state") != std::string::npos);
  }
  CHECK(parse_entry_type("desicion").error().message.ends_with("did you mean decision?"));
  CHECK_FALSE(parse_entry_type("memory").error().message.ends_with("?"));
}

TEST_CASE("names, logs and prefixes of the types are their own") {
  std::set<std::string_view> names;
  for (const EntryType type : kEntryTypes) {
    const EntryTypeInfo& info = entry_type_info(type);
    CAPTURE(info.name);
    CHECK(entry_type_name(type) == info.name);
    CHECK(info.log_file == std::string(info.log_name) + ".jsonl");
    CHECK(names.insert(info.name).second);
    CHECK(names.insert(info.plural).second);
    CHECK(names.insert(info.log_file).second);
    CHECK(names.insert(info.id_prefix).second);
    CHECK(is_entry_id(std::string(info.id_prefix) + "001"));
    CHECK(entry_type_of_log_file(info.log_file) == type);
    CHECK(entry_type_of_id(std::string(info.id_prefix) + "001") == type);
    CHECK(info.importance > 0.0);
    CHECK(info.importance <= 1.0);
    CHECK(info.decay_rate_per_day > 0.0);
  }
}

TEST_CASE("a session starts with the four logs of the specification") {
  for (const EntryType type : kEntryTypes) {
    CAPTURE(entry_type_name(type));
    CHECK(entry_type_info(type).created_with_session == (type <= EntryType::kPreference));
  }
}

TEST_CASE("other files are no logs, and other ids tell no type") {
  for (const char* name : {"conversation", "conversations.jsonl", "audit.jsonl", "access.jsonl",
                           "decisions.jsonl.tmp", "sessions/decisions.jsonl", ""}) {
    CAPTURE(name);
    CHECK_FALSE(entry_type_of_log_file(name).has_value());
  }
  for (const char* id : {"", "msg", "DEC-1", "decision-1", "01kaxx8v04q7m2s"}) {
    CAPTURE(id);
    CHECK_FALSE(entry_type_of_id(id).has_value());
  }
}

}  // namespace bmad_mem::entry_type_test
