// learn_rules_test.cpp - what a finished task teaches.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "knowledge/knowledge_store.hpp"

namespace bmad_mem::test::learn_rules_test {
namespace {

LearnRule rule(std::string agent, std::string match, std::string key) {
  return {.agent = std::move(agent),
          .match = std::move(match),
          .category = "pattern",
          .key = std::move(key),
          .value = "All mutations use requireAuth() first",
          .confidence = 0.95};
}

std::vector<std::string> keys(const std::vector<LearnRule>& rules, std::string_view agent,
                              std::string_view output) {
  const auto lessons = lessons_of_rules(rules, agent, output);
  REQUIRE(lessons.has_value());
  std::vector<std::string> keys;
  for (const RememberParams& lesson : *lessons) {
    CHECK(lesson.agent_id == agent);
    CHECK(lesson.source.kind == "assistant");
    keys.push_back(lesson.key);
  }
  return keys;
}

Error problem(const LearnRule& bad) {
  const std::vector<LearnRule> rules = {rule("", "x", "fine"), bad};
  const auto lessons = lessons_of_rules(rules, "", "");
  REQUIRE_FALSE(lessons.has_value());
  return lessons.error();
}

}  // namespace

TEST_CASE("every rule of the agent whose pattern matches teaches, in order") {
  const std::vector<LearnRule> rules = {rule("MARS", "requireAuth", "auth"),
                                        rule("", "(?i)companyid", "tenant"),
                                        rule("PLUTO", "requireAuth", "other")};
  using Keys = std::vector<std::string>;
  CHECK(keys(rules, "MARS", "await requireAuth(ctx); args.companyId") == Keys{"auth", "tenant"});
  CHECK(keys(rules, "PLUTO", "companyId") == Keys{"tenant"});
  CHECK(keys(rules, "PLUTO", "requireAuth") == Keys{"other"});
  CHECK(keys(rules, "MARS", "done") == Keys{});
  CHECK(keys({}, "MARS", "requireAuth") == Keys{});
}

TEST_CASE("a rule that can't work is named, with what is wrong in it") {
  LearnRule bad = rule("", "(", "k");
  CHECK(problem(bad).code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(problem(bad).field == "memory_config.knowledge.learn_rules[1].match");
  bad = rule("", "x", "k");
  bad.category = "patern";
  CHECK(problem(bad).field == "memory_config.knowledge.learn_rules[1].category");
  CHECK(problem(bad).message.find("did you mean \"pattern\"?") != std::string::npos);
  bad.category = "weather";
  CHECK(problem(bad).message.find("must be one of user_preference, ") != std::string::npos);
  bad = rule("", "x", "k");
  bad.value = " \n";
  CHECK(problem(bad).field == "memory_config.knowledge.learn_rules[1].value");
}

TEST_CASE("an error is kept on one line, to 200 characters and not to half of one") {
  const RememberParams lesson =
      failure_lesson("MARS", "Build the dashboard", "  TypeError:\r\n\tx is\x07 undefined \n");
  CHECK(lesson.category == Category::kErrorSolution);
  CHECK(lesson.key == "MARS: Build the dashboard");
  CHECK(lesson.value == "Failed with: TypeError: x is undefined");
  CHECK(lesson.confidence == 0.7);
  CHECK(lesson.agent_id == "MARS");
  CHECK(failure_lesson("", "Deploy", "x").key == "Deploy");

  std::string umlauts;
  for (int i = 0; i < 300; ++i) {
    umlauts += "ü";
  }
  const std::string cut = failure_lesson("A", "T", umlauts).value;
  CHECK(cut.size() == std::string_view("Failed with: ").size() + 400);
  CHECK(cut.ends_with("ü"));
  const std::string exact = failure_lesson("A", "T", std::string(200, 'x')).value;
  CHECK(exact == "Failed with: " + std::string(200, 'x'));
  CHECK(failure_lesson("A", "T", std::string(201, 'x')).value == exact);
  CHECK(failure_lesson("A", "T", "a\xff b").value == "Failed with: a\uFFFD b");
}

}  // namespace bmad_mem::test::learn_rules_test
