#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "search/query/plan.hpp"
#include "search/query/query_fixture.hpp"

namespace bmad_mem::test::speakers_test {
namespace {

/// Whom the words of `question` name; the words that are names only go to `taken`.
Speaker named(SmallMemory& memory, const std::vector<std::string>& question,
              std::vector<std::string>* taken = nullptr) {
  SpeakerFinder finder(memory.sessions());
  bool is_first = true;
  for (const std::string& word : question) {
    std::string token = word;
    const bool capitalised = word[0] >= 'A' && word[0] <= 'Z';
    token[0] = capitalised ? static_cast<char>(token[0] + ('a' - 'A')) : token[0];
    if (finder.take(token, capitalised, is_first) && taken != nullptr) {
      taken->push_back(token);
    }
    is_first = false;
  }
  return finder.speaker();
}

}  // namespace

TEST_CASE("in a small store a participant's name chooses who speaks, and is no word") {
  SmallMemory memory;
  memory.say("s1", "Caroline", "x");
  memory.say("s2", "Bob Lee", "x");
  std::vector<std::string> taken;
  CHECK(named(memory, {"what", "did", "caroline", "decide"}, &taken).who == "Caroline");
  CHECK(taken == std::vector<std::string>{"caroline"});
  CHECK(named(memory, {"Caroline", "decided"}).who == "Caroline");
  CHECK(named(memory, {"ask", "bob"}).who == "Bob Lee");
  CHECK_FALSE(named(memory, {"ask", "lee"}).is_named());
}

TEST_CASE("of two people named nobody is chosen") {
  SmallMemory memory;
  memory.say("s1", "Ann", "x");
  memory.say("s1", "Bob", "x");
  std::vector<std::string> taken;
  CHECK_FALSE(named(memory, {"did", "ann", "tell", "bob"}, &taken).is_named());
  CHECK(taken == std::vector<std::string>{"ann", "bob"});
  CHECK(named(memory, {"ann", "and", "Ann"}).who == "Ann");
}

TEST_CASE("a first name that two people share names neither") {
  SmallMemory memory;
  memory.say("s1", "Ann Lee", "x");
  memory.say("s1", "Ann Ray", "x");
  std::vector<std::string> taken;
  CHECK_FALSE(named(memory, {"did", "ann", "go"}, &taken).is_named());
  CHECK(taken.empty());
}

TEST_CASE("in a large store only a capitalised name behind the first word chooses, and is a word") {
  SmallMemory memory;
  for (int i = 0; i < 13; ++i) {
    memory.say("s1", fmt::format("Agent{}", i), "x");
  }
  std::vector<std::string> taken;
  CHECK(named(memory, {"what", "did", "Agent3", "say"}, &taken).who == "Agent3");
  CHECK_FALSE(named(memory, {"what", "did", "agent3", "say"}, &taken).is_named());
  CHECK_FALSE(named(memory, {"Agent3", "said"}, &taken).is_named());
  CHECK(taken.empty());
}

TEST_CASE("I and you stand for the roles, where the store has both") {
  SmallMemory memory;
  memory.say("s1", "", "x", "user");
  CHECK_FALSE(named(memory, {"what", "did", "I", "say"}).is_named());
  memory.say("s1", "", "x", "assistant");
  CHECK(named(memory, {"what", "did", "I", "say"}).role == EntryRole::kUser);
  CHECK(named(memory, {"what", "did", "you", "say"}).role == EntryRole::kAssistant);
  CHECK_FALSE(named(memory, {"did", "I", "tell", "you"}).is_named());
}

TEST_CASE("a role's name stays a word, even if somebody is called so") {
  SmallMemory memory;
  memory.say("s1", "user", "x");
  std::vector<std::string> taken;
  CHECK(named(memory, {"the", "user", "login"}, &taken).who == "user");
  CHECK(taken.empty());
}

TEST_CASE("who only wrote other entries is no participant") {
  SmallMemory memory;
  memory.know("s1", "x", R"("agent_id":"Ann")");
  CHECK_FALSE(named(memory, {"what", "did", "ann", "say"}).is_named());
}

}  // namespace bmad_mem::test::speakers_test
