#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/knowledge.hpp"
#include "knowledge/summary_prompt.hpp"

namespace bmad_mem::test::dialogue_test {
namespace {

std::vector<DialogueMessage> dialogue(const std::vector<std::string>& lines) {
  return read_dialogue(lines);
}

}  // namespace

TEST_CASE("messages stand where they were first said, with what was said last") {
  const auto messages = dialogue({
      R"({"id":"m1","timestamp":"2026-01-11T10:00:00Z","role":"user","content":"one"})",
      R"({"id":"m2","timestamp":"2026-01-11T09:00:00Z","role":"assistant","content":"two"})",
      R"({"id":"m1","timestamp":"2026-01-11T11:00:00Z","role":"user","content":"uno"})",
      "no entry",
  });
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].id == "m1");
  CHECK(messages[0].content == "uno");
  CHECK(messages[0].at == try_parse_rfc3339("2026-01-11T11:00:00Z"));
  CHECK(messages[1].role == "assistant");
  CHECK(messages[1].tokens == estimate_tokens("two"));
}

TEST_CASE("what a message says of its own length wins") {
  struct Row {
    std::string_view members;
    std::size_t tokens;
  };
  const std::size_t estimated = estimate_tokens("hello there");
  const Row rows[] = {
      {R"("metadata":{"tokens":17})", 17},
      {R"("tokens":18)", 18},
      {R"("tokens":18,"metadata":{"tokens":17})", 17},
      {R"("metadata":{"tokens":0})", estimated},
      {R"("metadata":{"tokens":-5})", estimated},
      {R"("metadata":{"tokens":"many"})", estimated},
      {R"("metadata":{"tokens":99999999999})", estimated},
      {R"("tags":[])", estimated},
  };
  for (const Row& row : rows) {
    CAPTURE(row.members);
    const std::string line =
        R"({"id":"m","content":"hello there",)" + std::string(row.members) + "}";
    CHECK(dialogue({line}).at(0).tokens == row.tokens);
  }
}

TEST_CASE("a sub-agent's message is told by any of its marks") {
  struct Row {
    std::string_view members;
    bool is_sidechain;
  };
  static constexpr Row kRows[] = {
      {R"("metadata":{"sidechain":true})", true},
      {R"("metadata":{"isSidechain":true})", true},
      {R"("context":{"is_sidechain":true})", true},
      {R"("context":{"isSidechain":true})", true},
      {R"("isSidechain":true)", true},
      {R"("sidechain":true)", true},
      {R"("isSidechain":false)", false},
      {R"("metadata":{"sidechain":"true"})", false},
      {R"("tags":["sidechain"])", false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.members);
    const std::string line = R"({"id":"m","content":"x",)" + std::string(row.members) + "}";
    CHECK(dialogue({line}).at(0).is_sidechain == row.is_sidechain);
  }
}

TEST_CASE("tool uses are events of that kind, each once, by time") {
  const std::vector<std::string> lines = {
      R"({"id":"e2","timestamp":"2026-01-11T10:02:00Z","kind":"tool_use"})",
      R"({"id":"e1","timestamp":"2026-01-11T10:01:00Z","kind":"tool_use"})",
      R"({"id":"e2","timestamp":"2026-01-11T10:02:00Z","kind":"tool_use","tool":"sh"})",
      R"({"id":"e3","timestamp":"2026-01-11T10:03:00Z","kind":"tool_result"})",
      R"({"id":"e4","timestamp":"2026-01-11T10:04:00Z","kind":"tool_use","isSidechain":true})",
  };
  const std::vector<Timestamp> times = read_tool_uses(lines);
  REQUIRE(times.size() == 2);
  CHECK(times[0] == try_parse_rfc3339("2026-01-11T10:01:00Z"));
  CHECK(times[1] == try_parse_rfc3339("2026-01-11T10:02:00Z"));
}

}  // namespace bmad_mem::test::dialogue_test
