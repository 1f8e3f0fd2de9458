#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "search/query/plan.hpp"
#include "search/query/query_fixture.hpp"

namespace bmad_mem::test::term_expansion_test {
namespace {

using Terms = std::vector<std::string>;

Terms like(SmallMemory& memory, std::string_view word) {
  Analyzer analyzer = Analyzer::create("english").value();
  return terms_like(memory.sessions(), analyzer, word).value();
}

}  // namespace

TEST_CASE("a prefix stands for all terms that begin so, of all sessions, each once, sorted") {
  SmallMemory memory;
  memory.know("s1", "pool pond 42");
  memory.know("s2", "pool ponder apple", R"("agent_id":"pond","tags":["pona"])");
  CHECK(terms_with_prefix(memory.sessions(), "pon").value() == Terms{"pona", "pond", "ponder"});
  CHECK(terms_with_prefix(memory.sessions(), "pool").value() == Terms{"pool"});
  CHECK(terms_with_prefix(memory.sessions(), "z").value().empty());
}

TEST_CASE("of more terms than fit those in the most entries are taken") {
  SmallMemory memory;
  for (int i = 0; i < 40; ++i) {
    memory.know("s1", fmt::format("word{:02}", i));
  }
  memory.know("s2", "word39");
  const Terms terms = terms_with_prefix(memory.sessions(), "word").value();
  REQUIRE(terms.size() == kExpansionsMax);
  CHECK(terms.front() == "word00");
  CHECK(terms[30] == "word30");
  CHECK(terms[31] == "word39");
}

TEST_CASE("a misspelt word stands for what differs by few letters, but not by the first one") {
  SmallMemory memory;
  memory.know("s1", "postgres mysql boat coat goat cat é1 ü");
  CHECK(like(memory, "postgers") == Terms{"postgr"});
  CHECK(like(memory, "mysq") == Terms{"mysql"});
  CHECK(like(memory, "boet") == Terms{"boat"});
  CHECK(like(memory, "foat").empty());
  CHECK(like(memory, "ca").empty());
}

TEST_CASE("a word is compared by its stem, too") {
  SmallMemory memory;
  memory.know("s1", "connections");
  CHECK(like(memory, "conections") == Terms{"connect"});
}

}  // namespace bmad_mem::test::term_expansion_test
