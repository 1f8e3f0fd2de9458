// extraction_test.cpp - facts of a session, from models that are good, slow, dead or out of their
// mind.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::extraction_test {
namespace {

class ExtractionFixture : public MemoryFixture {
 public:
  ExtractionFixture() {
    session("s1");
    say("m1", "The harbour has two piers. Never use floats for money.");
  }

  void say(const std::string& id, const std::string& text) {
    add(EntryType::kConversation,
        R"({"id":")" + id + R"(","role":"user","content":)" + json_quoted(text) + "}");
  }

  /// Makes `script` the extractor.
  void use_command(const std::string& script, int timeout_ms = 20'000) {
    folder.write("memory/config.json",
                 R"({"memory_config":{"extractor":{"command":["/bin/sh","-c",)" +
                     json_quoted(script) + R"(],"timeout_ms":)" + std::to_string(timeout_ms) +
                     "}}}");
    reopen();
  }

  Result<ExtractionReport> extract(ExtractOptions options = {}) {
    options.session_id = "s1";
    return Knowledge(**this).extract(options);
  }
  Result<ExtractionReport> answer(const std::string& text) {
    ExtractOptions options;
    options.answer = text;
    return extract(options);
  }

  /// The error, after which nothing may have changed.
  Error refused(const std::string& text) {
    const auto before = files();
    const Result<ExtractionReport> report = answer(text);
    REQUIRE_FALSE(report);
    CHECK(files() == before);
    return report.error();
  }

  std::vector<KnowledgeItem> recall(bool candidates = false) {
    Result<std::vector<KnowledgeItem>> items =
        Knowledge(**this).recall({.candidates = candidates, .limit = 0});
    REQUIRE(items);
    return *std::move(items);
  }
};

}  // namespace

TEST_CASE("the facts of an answer are stored with where they come from") {
  ExtractionFixture memory;
  const auto report =
      memory.answer(R"([{"text":"The harbour has two piers","tags":["booking"]},)"
                    R"({"text":"Money is never a float","tags":["constraint","money"]}])");
  REQUIRE(report);
  CHECK(report->way == ExtractionWay::kAnswer);
  CHECK(report->learned.size() == 2);
  const auto items = memory.recall();
  REQUIRE(items.size() == 2);
  CHECK(items[0].session_id == "s1");
  const auto rule = std::ranges::find(items, Category::kConstraint, &KnowledgeItem::category);
  REQUIRE(rule != items.end());
  CHECK(rule->value == "Money is never a float");
  CHECK(rule->tags == std::vector<std::string>{"money"});
  CHECK(rule->confidence == 0.6);
  CHECK(rule->trust == 0.6);
  CHECK(rule->source_kind == "assistant");
  CHECK(rule->learned_from == std::vector<std::string>{"s1"});
  CHECK(rule->review == Review::kNone);
  CHECK(rule->type == EntryType::kFact);
}

TEST_CASE("what is known, or nearly, is not stored again; what differs in what counts is") {
  ExtractionFixture memory;
  REQUIRE(memory.answer(R"([{"text":"The ticket server listens on port 80 in production"}])"));
  const auto report =
      memory.answer(R"([{"text":"The ticket server listens on port 80 in production."},)"
                    R"({"text":"the ticket server listens on the port 80 in production"},)"
                    R"({"text":"The ticket server listens on port 8080 in production"},)"
                    R"({"text":"The ticket server never listens on port 80 in production"},)"
                    R"({"text":"The ticket server never listens on port 80 in production"}])");
  REQUIRE(report);
  CHECK(report->known.size() == 3);
  CHECK(report->learned.size() == 2);
  CHECK(memory.recall().size() == 3);
}

TEST_CASE("a dropped fact is known, and doesn't come back") {
  ExtractionFixture memory;
  memory.add(EntryType::kFact, R"({"content":"Ann likes the sea","review":"dropped"})");
  const auto report = memory.answer(R"([{"text":"Ann likes the sea"}])");
  REQUIRE(report);
  CHECK(report->learned.empty());
}

TEST_CASE("secrets in an answer are taken out") {
  ExtractionFixture memory;
  const std::string secret = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
  const auto report = memory.answer(R"([{"text":"The deploy token is )" + secret +
                                    R"(","tags":[")" + secret.substr(0, 40) + R"("]}])");
  REQUIRE(report);
  REQUIRE(report->learned.size() == 1);
  CHECK(report->learned[0].value == "The deploy token is [REDACTED:github-pat]");
  CHECK(memory.read(EntryType::kFact).find("p_aB3") == std::string::npos);
}

TEST_CASE("an answer that breaks the contract changes nothing and says why") {
  ExtractionFixture memory;
  std::string eleven = "[";
  std::string words;
  for (int i = 0; i < 41; ++i) {
    words += "word ";
    eleven += i < 11 ? (i == 0 ? R"({"text":"a"})" : R"(,{"text":"a"})") : "";
  }
  CHECK(memory.refused(eleven + "]").field == "[10]");
  CHECK(memory.refused(R"([{"text":")" + words + "\"}]").field == "[0].text");
  CHECK(memory.refused("I found no facts.").code == ErrorCode::E_INVALID_FORMAT);
  CHECK(memory.refused("").code == ErrorCode::E_INVALID_FORMAT);
  CHECK(memory.refused(R"([{"text":"good"},{"text":""}])").code == ErrorCode::E_INVALID_FORMAT);
}

TEST_CASE("a dry run stores nothing") {
  ExtractionFixture memory;
  const auto before = memory.files();
  ExtractOptions options;
  options.dry_run = true;
  options.answer = R"([{"text":"The harbour has two piers"}])";
  const auto report = memory.extract(options);
  REQUIRE(report);
  CHECK(report->learned.size() == 1);
  CHECK(report->learned[0].id.empty());
  options.answer.reset();
  const auto found = memory.extract(options);
  REQUIRE(found);
  CHECK(found->learned.size() == 1);
  CHECK(memory.files() == before);
}

TEST_CASE("the command of the config gets the prompt and is believed when it keeps the contract") {
  ExtractionFixture memory;
  memory.use_command(
      R"(grep -q 'two piers' && printf '```json\n[{"text":"The harbour has two piers"}]\n```')");
  const auto report = memory.extract();
  REQUIRE_MESSAGE(report, report.error().to_string());
  CHECK(report->way == ExtractionWay::kCommand);
  CHECK(memory.recall().size() == 1);
  SUBCASE("rules do when they are asked for") {
    ExtractOptions options;
    options.use_rules = true;
    const auto found = memory.extract(options);
    REQUIRE(found);
    CHECK(found->way == ExtractionWay::kRules);
  }
}

TEST_CASE("a command that is slow, dies, or says something else changes nothing") {
  struct Row {
    const char* name;
    const char* script;
    ErrorCode code;
  };
  static constexpr Row kRows[] = {
      {"slow", "sleep 30; echo '[]'", ErrorCode::E_QUERY_TIMEOUT},
      {"fails", "echo 'no model' >&2; exit 3", ErrorCode::E_STORAGE_IO},
      {"is killed", "kill -9 $$", ErrorCode::E_STORAGE_IO},
      {"is not there", "exec /nowhere/model", ErrorCode::E_STORAGE_IO},
      {"rubbish", "head -c 2000 /dev/urandom", ErrorCode::E_INVALID_FORMAT},
      {"nothing", "true", ErrorCode::E_INVALID_FORMAT},
      {"prose", "echo 'Sure! Here are your facts:'", ErrorCode::E_INVALID_FORMAT},
      {"the prompt itself", "cat", ErrorCode::E_INVALID_FORMAT},
      {"too much", "yes | head -c 3000000", ErrorCode::E_SIZE_LIMIT},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      ExtractionFixture memory;
      memory.use_command(row.script, std::string_view(row.name) == "slow" ? 200 : 20'000);
      const auto before = memory.files();
      const auto report = memory.extract();
      CHECK(code_of(report) == row.code);
      CHECK(memory.files() == before);
    }
  }
}

TEST_CASE("a command is not asked about nothing") {
  ExtractionFixture memory;
  memory.session("s2");
  memory.use_command("echo nonsense");
  const auto report = Knowledge(*memory).extract({.session_id = "s2"});
  REQUIRE(report);
  CHECK(report->learned.empty());
  CHECK(report->notices.size() == 1);
}

TEST_CASE("other processes write while the command runs: no lock is held") {
  ExtractionFixture memory;
  // The command itself takes the locks of the session and of the root, and waits for nobody.
  memory.use_command("flock -n '" + memory.root() + "/.lock' true && flock -n '" +
                     memory.path(".lock") + "' true && echo '[{\"text\":\"free\"}]'");
  const auto report = memory.extract();
  REQUIRE_MESSAGE(report, report.error().to_string());
  CHECK(report->learned.size() == 1);
}

TEST_CASE("without a command, rules store candidates, once") {
  ExtractionFixture memory;
  const auto report = memory.extract();
  REQUIRE(report);
  CHECK(report->way == ExtractionWay::kRules);
  REQUIRE(report->learned.size() == 1);
  CHECK(report->learned[0].value == "Never use floats for money.");
  CHECK(memory.read(EntryType::kFact).find(R"("review":"candidate")") != std::string::npos);
  CHECK(memory.recall().empty());
  CHECK(memory.recall(/*candidates=*/true).size() == 1);
  const auto again = memory.extract();
  REQUIRE(again);
  CHECK(again->learned.empty());
  CHECK(std::ranges::count(memory.read(EntryType::kFact), '\n') == 1);
}

TEST_CASE("rules don't propose what is known") {
  ExtractionFixture memory;
  memory.add(EntryType::kFact, R"({"content":"never use floats for money"})");
  const auto report = memory.extract();
  REQUIRE(report);
  CHECK(report->learned.empty());
  CHECK(report->known.size() == 1);
}

TEST_CASE("a session that is not there is an error") {
  ExtractionFixture memory;
  Knowledge knowledge(*memory);
  CHECK(code_of(knowledge.extract({.session_id = "s9"})) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(knowledge.extraction_prompt("s9")) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(knowledge.extract({.session_id = "../s1"})) == ErrorCode::E_INVALID_FORMAT);
}

TEST_CASE("the prompt shows the session and nothing sensitive") {
  ExtractionFixture memory;
  memory.add(EntryType::kConversation,
             R"({"id":"m2","role":"user","content":"my secret wish","sensitive":true})");
  const auto prompt = Knowledge(*memory).extraction_prompt("s1");
  REQUIRE(prompt);
  CHECK(prompt->find("two piers") != std::string::npos);
  CHECK(prompt->find("secret wish") == std::string::npos);
}

}  // namespace bmad_mem::test::extraction_test
