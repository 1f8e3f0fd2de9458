// redaction_test.cpp - whatever way a secret comes in, no file of the root holds it.
#include <sys/stat.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::redaction_test {
namespace {

// Split, so that other people's scanners stay quiet.
const std::string kPat = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
constexpr std::string_view kPassword = "vR7#kk2pQz9";

/// The files below the root that hold `text`, locks too.
std::vector<std::string> places_of(MemoryFixture& memory, std::string_view text) {
  std::vector<std::string> places;
  const std::vector<Leftover> left = memory->find_text(text).value();
  for (const Leftover& each : left) {
    places.push_back(each.place + " " + each.detail);
  }
  return places;
}

bool is_nowhere(MemoryFixture& memory) {
  return places_of(memory, kPat).empty() && places_of(memory, kPassword).empty();
}

void configure(MemoryFixture& memory, std::string_view privacy) {
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"privacy":)" + std::string(privacy) + "}}");
  REQUIRE(memory.reopen({}).has_value());
}

EntryCommon in_common() {
  return {.id = kPat,
          .tags = {"a", kPat},
          .extra = R"("note":{")" + kPat + R"(":[")" + kPat + R"("]})"};
}

}  // namespace

TEST_CASE("each way to add an entry takes its secrets out") {
  using Add = std::function<Result<std::string>(MemoryManager&)>;
  const std::string says = "it is " + kPat;
  const std::vector<std::pair<std::string, Add>> ways = {
      {"message",
       [&](MemoryManager& memory) {
         return memory.add_conversation("s1", {.role = "user",
                                               .content = says,
                                               .agent_id = kPat,
                                               .topic = kPat,
                                               .references = {kPat},
                                               .common = in_common()});
       }},
      {"decision",
       [&](MemoryManager& memory) {
         return memory.add_decision(
             "s1", {.decision = says,
                    .made_by = kPat,
                    .approved_by = {kPat},
                    .rationale = "password: " + std::string(kPassword),
                    .alternatives_considered = {{.option = kPat, .rejected_reason = kPat}},
                    .findings = {kPat},
                    .common = in_common()});
       }},
      {"finding",
       [&](MemoryManager& memory) {
         return memory.add_finding("s1", {.description = says,
                                          .discovered_by = kPat,
                                          .evidence = "DB_PASSWORD=" + std::string(kPassword),
                                          .recommendation = kPat,
                                          .common = in_common()});
       }},
      {"preference",
       [&](MemoryManager& memory) {
         return memory.update_preference("s1", {.key = "db_password",
                                                .value = std::string(kPassword),
                                                .category = "answers",
                                                .context = kPat,
                                                .learned_from = {kPat},
                                                .common = in_common()});
       }},
      {"JSON",
       [&](MemoryManager& memory) {
         return memory.add("s1", EntryType::kFact,
                           R"({"id":")" + kPat + R"(","content":"x","metadata":{")" + kPat +
                               R"(":["\u0067h)" + kPat.substr(2) + R"("],"db_password":")" +
                               std::string(kPassword) + R"("}})");
       }},
  };
  for (const auto& [name, add] : ways) {
    const std::string& way = name;
    CAPTURE(way);
    MemoryFixture memory;
    memory.session();
    const Result<std::string> id = add(*memory);
    REQUIRE_MESSAGE(id.has_value(), id.error().to_string());
    CHECK_FALSE(id->contains(kPat));
    CHECK(is_nowhere(memory));
    CHECK(memory->verify({}, {}).value().findings.empty());
    const std::vector<Entry> entries = memory->list({}).value();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].json.contains("REDACTED:github-pat"));
  }
}

TEST_CASE("a batch says what was taken out of it, by rule, and in a sentence") {
  MemoryFixture memory;
  memory.session();
  const std::vector<std::string> lines = {R"({"content":"first )" + kPat + R"("})",
                                          R"({"content":"plain"})",
                                          R"({"content":")" + kPat + " mail ann@corp.de\"}"};
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  const BatchReport report = memory->add_batch("s1", EntryType::kFact, views, {}).value();
  CHECK(report.redacted == RedactionCounts{{"email", 1}, {"github-pat", 2}});
  REQUIRE(report.notices.size() == 1);
  CHECK(report.notices[0] == "3 secrets were taken out before writing: email, github-pat");
  CHECK(is_nowhere(memory));
  CHECK(memory->add_batch("s1", EntryType::kFact, std::vector<std::string_view>{views[1]}, {})
            .value()
            .notices.empty());
}

TEST_CASE("a new session keeps no secret of who and what it is for") {
  MemoryFixture memory;
  const Result<std::string> id = memory->create_session({.session_id = "s1",
                                                         .user_id = "ann@corp.de",
                                                         .agent_ids = {kPat, "b"},
                                                         .project_name = "shop " + kPat,
                                                         .session_type = kPat,
                                                         .tags = {"x", kPat}});
  REQUIRE(id.has_value());
  CHECK(is_nowhere(memory));
  CHECK(places_of(memory, "ann@corp.de").empty());
  CHECK(memory.read("manifest.json").contains("shop [REDACTED:github-pat]"));
}

TEST_CASE("a session can't be named by a secret, and the refusal doesn't name it") {
  MemoryFixture memory;
  const Result<std::string> made =
      memory->create_session({.session_id = std::string("glp") + "at-k3jf8s0dj2lq9xz7vb1n"});
  CHECK(code_of(made) == ErrorCode::E_INVALID_FORMAT);
  CHECK_FALSE(made.error().to_string().contains("k3jf8s0dj2lq9xz7vb1n"));
  CHECK(memory->list_sessions().value().empty());
}

TEST_CASE("an agent that is named by a secret is not named in locks and records") {
  MemoryFixture memory;
  REQUIRE(memory.reopen({.agent_id = kPat}).has_value());
  memory.session();
  memory.add_fact("f1");
  memory.add_fact("f2");
  REQUIRE(memory->delete_entries({.ids = {"f1"}}, {}).has_value());
  CHECK(memory.read(".lock.json").contains("[REDACTED:github-pat]"));
  CHECK(memory.read("audit.jsonl").contains("[REDACTED:github-pat]"));
  CHECK(memory.folder.read("memory/deleted/s1/deletion-record.json")
            .contains("[REDACTED:github-pat]"));
  CHECK(is_nowhere(memory));
}

TEST_CASE("what is refused is not quoted") {
  MemoryFixture memory;
  memory.session();
  const std::string lines[] = {
      R"({"role":")" + kPat + R"(","content":"x"})",
      R"({"role":"user","content":"x","timestamp":")" + kPat + R"("})",
      R"({"role":"user","content":"x","id":"not an id )" + kPat + R"("})",
      R"({"role":"user","content":"x","decay_factor":")" + kPat + R"("})",
      R"({"role":"user","content":"x",")" + kPat + R"(":1,")" + kPat + R"(":2})",
      R"({"role":"user","content":"x","tags":")" + kPat + R"("})",
      R"({"role":"user" ")" + kPat + R"("})",
      R"({"role":")" + kPat,
      kPat,
  };
  for (const std::string& line : lines) {
    CAPTURE(line);
    const Result<std::string> added = memory->add("s1", EntryType::kConversation, line);
    if (!added) {
      CHECK_FALSE(added.error().to_string().contains(kPat));
      CHECK_FALSE(added.error().field.contains(kPat));
    }
    CHECK(is_nowhere(memory));
  }
}

TEST_CASE("with redaction off everything stays as it is") {
  MemoryFixture memory;
  configure(memory, R"({"auto_redaction":false})");
  memory.session();
  const std::string line = MemoryFixture::fact("f1", "it is " + kPat);
  const BatchReport report =
      memory->add_batch("s1", EntryType::kFact, std::vector<std::string_view>{line}, {}).value();
  CHECK(report.redacted.empty());
  CHECK(report.notices.empty());
  CHECK(memory.read(EntryType::kFact) == line + "\n");
  CHECK_FALSE(memory->privacy_report({}).value().redacts);
}

TEST_CASE("patterns of one's own are applied to what is written") {
  MemoryFixture memory;
  configure(memory, R"({"redaction":{"patterns":[{"type":"ticket","regex":"TICKET-[0-9]+"}]}})");
  memory.session();
  memory.add_fact("f1", "see TICKET-4711");
  CHECK(places_of(memory, "4711").empty());
  CHECK(memory.read(EntryType::kFact).contains("see [REDACTED:ticket]"));
  CHECK(memory->scanner().value().redact("TICKET-1") == "[REDACTED:ticket]");
}

TEST_CASE("a pattern that doesn't compile is an error that names it and the file") {
  MemoryFixture memory;
  memory.session();
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"privacy":{"redaction":{"patterns":[
                         {"type":"fine","regex":"a+"},{"type":"broken","regex":"(a"}]}}}})");
  const Status opened = memory.reopen({});
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(opened.error().path == memory.root() + "/config.json");
  CHECK(opened.error().field == "memory_config.privacy.redaction.patterns[1].regex");
  CHECK(opened.error().message.contains("broken"));
}

TEST_CASE("whoever opens a root with a bad pattern all the same writes no secret") {
  MemoryFixture memory;
  memory.session();
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"privacy":{"redaction":{"patterns":[
                         {"type":"broken","regex":"(a"}]}}}})");
  REQUIRE(memory.reopen({.tolerate_bad_config = true}).has_value());
  memory.add_fact("f1", "it is " + kPat);
  CHECK(memory.read(EntryType::kFact).contains("[REDACTED:github-pat]"));
}

TEST_CASE("a linkable placeholder is the same from each process, and another in each session") {
  MemoryFixture memory;
  configure(memory, R"({"redaction":{"linkable":true}})");
  memory.session("s1");
  memory.session("s2");
  const auto content = [&](const std::string& id, const std::string& session) {
    memory.add_fact(id, kPat, session);
    const std::string log = memory.read(EntryType::kFact, session);
    const std::size_t begin = log.rfind("[REDACTED:github-pat:");
    REQUIRE(begin != std::string::npos);
    return log.substr(begin, log.find(']', begin) - begin);
  };
  const std::string first = content("f1", "s1");
  CHECK(content("f2", "s2") != first);
  memory.reopen();
  CHECK(content("f3", "s1") == first);
  CHECK(is_nowhere(memory));

  struct stat info{};
  REQUIRE(stat((memory.root() + "/.redaction-key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
  CHECK(info.st_size == 16);
  CHECK(memory.folder.read("memory/.gitignore").contains("/.redaction-key\n"));
}

TEST_CASE("the key comes into a .gitignore that somebody else wrote") {
  MemoryFixture memory;
  memory.folder.write("memory/.gitignore", "/mine");
  configure(memory, R"({"redaction":{"linkable":true}})");
  CHECK(memory.folder.read("memory/.gitignore") == "/mine\n/.redaction-key\n");
  memory.reopen();
  CHECK(memory.folder.read("memory/.gitignore") == "/mine\n/.redaction-key\n");
}

TEST_CASE("an entry with something doubtful in it is a sensitive one") {
  MemoryFixture memory;
  configure(memory, R"({"redaction":{"personal":{"email":"mark"}}})");
  memory.session();
  memory.add_fact("f1", "mail ann@corp.de");
  memory.add_fact("f2", "mail nobody");
  memory.add(EntryType::kFact, R"({"id":"f3","content":"mail ann@corp.de","sensitive":false})");
  const std::string log = memory.read(EntryType::kFact);
  CHECK(log.contains("ann@corp.de"));
  const std::vector<SensitiveEntry> sensitive = memory->privacy_report({}).value().sensitive;
  REQUIRE(sensitive.size() == 1);
  CHECK(sensitive[0].id == "f1");
}

}  // namespace bmad_mem::test::redaction_test
