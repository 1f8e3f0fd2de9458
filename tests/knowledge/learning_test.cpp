// learning_test.cpp - what finished tasks teach, and what messages say about users.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"
#include "knowledge/knowledge_store.hpp"
#include "store/access.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::learning_test {
namespace {

class LearningFixture : public MemoryFixture {
 public:
  LearningFixture() { session("s1"); }

  void configure(const std::string& members) {
    folder.write("memory/config.json", R"({"memory_config":{)" + members + "}}");
    reopen();
  }

  Result<LearnReport> learn(const LearnParams& params) { return Knowledge(**this).learn(params); }

  std::vector<KnowledgeItem> recall(const RecallOptions& options = {}) {
    Result<std::vector<KnowledgeItem>> items = Knowledge(**this).recall(options);
    REQUIRE(items);
    return *std::move(items);
  }

  std::vector<KnowledgeItem> candidates() {
    Result<std::vector<KnowledgeItem>> found =
        found_candidates(*MemoryInside::enter(**this, "recall").value(), {});
    REQUIRE(found);
    return *std::move(found);
  }

  void say(const std::string& id, const std::string& text, const std::string& further = {}) {
    add(EntryType::kConversation, R"({"id":")" + id + R"(","role":"user","content":")" + text +
                                      "\"" + (further.empty() ? "" : "," + further) + "}");
  }
};

constexpr const char* kRules =
    R"("knowledge":{"learn_rules":[)"
    R"({"agent":"MARS","match":"requireAuth","category":"pattern","key":"auth_pattern",)"
    R"("value":"All mutations use requireAuth() first","confidence":0.95},)"
    R"({"match":"companyId","category":"style","key":"tenant","value":"Every table has companyId"}]})";

}  // namespace

TEST_CASE("a success teaches what the rules of the config say") {
  LearningFixture memory;
  memory.configure(kRules);
  const auto learned = memory.learn({.agent_id = "MARS",
                                     .task = "Add auth",
                                     .text = "await requireAuth(ctx); args.companyId",
                                     .session_id = "s1"});
  REQUIRE(learned);
  CHECK(learned->learned.size() == 2);
  const auto items = memory.recall({.category = Category::kPattern});
  REQUIRE(items.size() == 1);
  CHECK(items[0].key == "auth_pattern");
  CHECK(items[0].value == "All mutations use requireAuth() first");
  CHECK(items[0].agent_id == "MARS");
  CHECK(items[0].confidence == 0.95);
  CHECK(items[0].source_kind == "assistant");
  CHECK(items[0].learned_from == std::vector<std::string>{"s1"});
  CHECK(memory.recall({.category = Category::kStyle})[0].type == EntryType::kPreference);
}

TEST_CASE("a success that matches no rule teaches nothing and writes nothing") {
  LearningFixture memory;
  memory.configure(kRules);
  const auto before = memory.files();
  const auto learned =
      memory.learn({.agent_id = "PLUTO", .task = "T", .text = "requireAuth", .session_id = {}});
  REQUIRE(learned);
  CHECK(learned->learned.empty());
  CHECK(memory.files() == before);
}

TEST_CASE("a rule that doesn't compile is named at its first use, with the file") {
  LearningFixture memory;
  memory.configure(R"("knowledge":{"learn_rules":[{"match":"(","category":"pattern","key":"k",)"
                   R"("value":"v"}]})");
  const auto learned = memory.learn({.agent_id = "A", .task = "T", .text = "x"});
  REQUIRE_FALSE(learned);
  CHECK(learned.error().code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(learned.error().field == "memory_config.knowledge.learn_rules[0].match");
  CHECK(learned.error().path.ends_with("config.json"));
  // Failures need no rules.
  CHECK(
      memory.learn({.agent_id = "A", .task = "T", .outcome = TaskOutcome::kFailure, .text = "x"}));
}

TEST_CASE("a failure keeps the error, and the newest one holds") {
  LearningFixture memory;
  LearnParams params{.agent_id = "MARS",
                     .task = "Build",
                     .outcome = TaskOutcome::kFailure,
                     .text = "TypeError:\n  x is undefined",
                     .session_id = "s1"};
  REQUIRE(memory.learn(params));
  params.text = "ENOSPC";
  REQUIRE(memory.learn(params));
  const auto items = memory.recall();
  REQUIRE(items.size() == 1);
  CHECK(items[0].category == Category::kErrorSolution);
  CHECK(items[0].key == "MARS: Build");
  CHECK(items[0].value == "Failed with: ENOSPC");
  CHECK(items[0].confidence == 0.7);
  CHECK(items[0].chain.size() == 2);
  params.text = " \n";
  CHECK(code_of(memory.learn(params)) == ErrorCode::E_SCHEMA_INVALID);
  params.text = "x";
  params.task = "";
  CHECK(code_of(memory.learn(params)) == ErrorCode::E_SCHEMA_INVALID);
}

TEST_CASE("a secret that reaches over the 200th character of an error is gone as a whole") {
  LearningFixture memory;
  const std::string secret = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
  for (std::size_t shift = 150; shift < 200; shift += 7) {
    std::string text;
    while (text.size() < shift) {
      text += "no ";
    }
    REQUIRE(memory.learn({.agent_id = "A",
                          .task = "T",
                          .outcome = TaskOutcome::kFailure,
                          .text = text + secret,
                          .session_id = "s1"}));
  }
  CHECK(memory.read(EntryType::kFact).find("p_aB3") == std::string::npos);
}

TEST_CASE("what a user seems to want is found, with where it was said") {
  LearningFixture memory;
  memory.say("m1", "Hi. Never commit to main. I prefer tabs.");
  memory.add(EntryType::kConversation,
             R"({"id":"m2","role":"assistant","content":"Never use floats."})");
  const auto found = memory.candidates();
  REQUIRE(found.size() == 2);
  const auto rule = std::ranges::find(found, Category::kConstraint, &KnowledgeItem::category);
  REQUIRE(rule != found.end());
  CHECK(rule->value == "Never commit to main.");
  CHECK(rule->review == Review::kCandidate);
  CHECK(rule->confidence >= 0.6);
  CHECK(rule->trust == 0.9);
  CHECK(rule->source_kind == "user");
  CHECK(rule->session_id == "s1");
  CHECK(rule->learned_from == std::vector<std::string>{"s1"});
  CHECK(rule->id.starts_with("fact-c"));
  CHECK(rule->id.size() == 18);
  CHECK(rule->json.find(R"("references":{"messages":["m1"]})") != std::string::npos);
  CHECK(memory.candidates()[0].id == found[0].id);
  CHECK(memory.read(EntryType::kFact).empty());
}

TEST_CASE("only people count: no sub-agents, no other sources, nothing sensitive, no old version") {
  LearningFixture memory;
  memory.say("m1", "Never commit to main.", R"("agent_id":"a1")");
  memory.say("m2", "Never commit to main.", R"("source":{"kind":"web"})");
  memory.say("m3", "Never commit to main.", R"("sensitive":true)");
  memory.say("m4", "Never commit to main.");
  memory.say("m4", "Hello.");
  CHECK(memory.candidates().empty());
}

TEST_CASE("nothing is looked for where the config says so") {
  LearningFixture memory;
  memory.say("m1", "Never commit to main.");
  memory.configure(R"("knowledge":{"detect_preferences":false})");
  CHECK(memory.candidates().empty());
}

TEST_CASE("what was accepted is known, what was dropped comes up no more") {
  LearningFixture memory;
  memory.say("m1", "Never commit to main. I prefer tabs.");
  const auto listed = memory.recall({.candidates = true});
  REQUIRE(listed.size() == 2);
  CHECK(memory.recall().empty());
  Knowledge knowledge(*memory);
  const auto accepted = knowledge.review(std::vector{listed[0].id}, Review::kAccepted);
  REQUIRE(accepted);
  CHECK(accepted->reviewed.size() == 1);
  REQUIRE(knowledge.review(std::vector{listed[1].id}, Review::kDropped));
  CHECK(memory.recall({.candidates = true}).empty());
  CHECK(memory.candidates().empty());
  const auto known = memory.recall();
  REQUIRE(known.size() == 1);
  CHECK(known[0].id == listed[0].id);
  CHECK(known[0].review == Review::kAccepted);
}

TEST_CASE("those who learn from one session at the same time store each candidate once") {
  constexpr std::size_t kLearners = 8;
  LearningFixture memory;
  memory.say("m1", "I always want tabs instead of spaces.");
  std::vector<MemoryManager> managers;
  for (std::size_t i = 0; i < kLearners; ++i) {
    OpenOptions options;
    options.root = memory.root();
    managers.push_back(MemoryManager::open(options).value());
  }
  std::barrier start(kLearners);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kLearners);
    for (MemoryManager& manager : managers) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        (void)Knowledge(manager).extract({.session_id = "s1", .use_rules = true, .only_new = true});
      });
    }
  }
  const std::string log = memory.read(EntryType::kFact);
  CHECK(std::ranges::count(log, '\n') == 1);
}

}  // namespace bmad_mem::test::learning_test
