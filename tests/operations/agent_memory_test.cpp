#include "bmad_mem/agent_memory.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::agent_memory_test {
namespace {

/// A memory with a session "s1" and an entry of each of some types.
class AgentFixture : public MemoryFixture {
 public:
  AgentFixture() { session("s1"); }

  void say(const std::string& role, const std::string& id) {
    clock.advance(std::chrono::seconds(1));
    add(EntryType::kConversation,
        R"({"id":")" + id + R"(","role":")" + role + R"(","content":"words of )" + id + "\"}");
  }
  AgentMemory agent() { return {**this, {.agent_id = "architect", .session_id = "s1"}}; }

  void reopen_with(const std::string& workflow) {
    OpenOptions options;
    options.agent_id = "architect";
    options.access = parse_workflow(workflow, "flow.yaml").value();
    REQUIRE(reopen(std::move(options)));
  }

  std::vector<std::string> turns(std::size_t count) {
    std::vector<std::string> found;
    const std::vector<ConversationTurn> all = agent().get_conversation_context(count).value();
    for (const ConversationTurn& turn : all) {
      std::string ids;
      for (const Entry& entry : turn.messages) {
        ids += (ids.empty() ? "" : " ") + entry.id;
      }
      found.push_back(ids);
    }
    return found;
  }
};

}  // namespace

TEST_CASE("a turn is a message of the user and what follows it") {
  AgentFixture memory;
  CHECK(memory.turns(3).empty());
  memory.say("assistant", "a0");
  memory.say("user", "u1");
  memory.say("assistant", "a1");
  memory.say("tool", "t1");
  memory.say("user", "u2");
  CHECK(memory.turns(1) == std::vector<std::string>{"u2"});
  CHECK(memory.turns(2) == std::vector<std::string>{"u1 a1 t1", "u2"});
  CHECK(memory.turns(9) == std::vector<std::string>{"a0", "u1 a1 t1", "u2"});
  CHECK(memory.turns(0).empty());
}

TEST_CASE("what an agent records is by it, and found by topic") {
  AgentFixture memory;
  AgentMemory agent = memory.agent();
  DecisionRecord decision;
  decision.decision = "Use PostgreSQL for the ledger";
  const std::string id = agent.record_decision(decision).value();
  FindingRecord finding;
  finding.description = "the ledger is slow";
  CHECK(agent.record_finding(finding));
  const std::vector<Hit> hits = agent.get_relevant_decisions("ledger database").value();
  REQUIRE(hits.size() == 1);
  CHECK(hits[0].entry.id == id);
  CHECK(hits[0].entry.who == "architect");
  CHECK(memory->findings("s1").value().at(0).who == "architect");
}

TEST_CASE("what the workflow does not allow is refused, naming file and list") {
  AgentFixture memory;
  memory.say("user", "u1");
  memory.add(EntryType::kDecision, R"({"id":"d1","decision":"words of gold"})");
  memory.reopen_with(
      "memory_requirements: {read_access: [conversation, findings], write_access: [findings]}");
  AgentMemory agent = memory.agent();
  CHECK(agent.record_finding({.description = "words"}));
  const Result<std::string> refused = agent.record_decision({.decision = "no"});
  CHECK(code_of(refused) == ErrorCode::E_ACCESS_DENIED);
  CHECK(refused.error().path == "flow.yaml");
  CHECK(refused.error().field == "workflow.memory_requirements.write_access");
  CHECK(refused.error().message.find("architect may not write decisions") != std::string::npos);
  CHECK(code_of(agent.get_relevant_decisions("words")) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code_of(memory->decisions("s1")) == ErrorCode::E_ACCESS_DENIED);
  const std::vector<std::string> ids = {"d1"};
  CHECK(code_of(memory->get(ids)) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code_of(memory->history("d1")) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code_of(Knowledge(*memory).recall()) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code_of(memory->pin(ids)) == ErrorCode::E_ACCESS_DENIED);
  DeletionCriteria criteria;
  criteria.ids = {"u1"};
  CHECK(code_of(memory->delete_entries(criteria)) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code_of(memory->redact({}, true)) == ErrorCode::E_ACCESS_DENIED);
}

TEST_CASE("questions that name no type are answered from what may be read") {
  AgentFixture memory;
  memory.say("user", "u1");
  memory.add(EntryType::kDecision, R"({"id":"d1","decision":"words of gold"})");
  memory.reopen_with("memory_requirements: {read_access: [conversation]}");
  const std::vector<Hit> hits = memory->query({.text = "words"}).value();
  REQUIRE(hits.size() == 1);
  CHECK(hits[0].entry.id == "u1");
  CHECK(memory->list({}).value().size() == 1);
  CHECK(code_of(memory->query({.text = "words type:decision"})) == ErrorCode::E_ACCESS_DENIED);
  memory.reopen_with("memory_requirements: {write_access: [facts]}");
  CHECK(code_of(memory->query({.text = "words"})) == ErrorCode::E_ACCESS_DENIED);
  const auto remember = [&](const std::string& value) {
    return Knowledge(*memory)
        .remember({.category = Category::kPattern, .key = "k", .value = value, .session_id = "s1"})
        .value();
  };
  CHECK(remember("v").is_new);
  const Remembered again = remember("w");
  CHECK_FALSE(again.is_new);
  CHECK(again.previous_value.empty());  // Who may not read is not told.
}

TEST_CASE("who may do everything may do everything") {
  AgentFixture memory;
  memory.say("user", "u1");
  memory.reopen_with("memory_requirements: {read_access: all, write_access: all}");
  DeletionCriteria criteria;
  criteria.ids = {"u1"};
  CHECK(memory->delete_entries(criteria).value().entries == 1);
}

}  // namespace bmad_mem::test::agent_memory_test
