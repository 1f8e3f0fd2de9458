// repair_test.cpp - what can be mended is mended, what cannot is set aside, nothing is dropped.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::repair_test {
namespace {

std::string fact(const std::string& id, const std::string& content = "x") {
  return MemoryFixture::fact(id, content);
}

/// What the quarantine holds, as text; what is kept as base64 comes with that word in front.
std::vector<std::string> quarantined(const MemoryFixture& memory) {
  std::vector<std::string> texts;
  const std::string bytes = memory.read("quarantine.jsonl");
  for (std::size_t at = 0; at < bytes.size(); at = bytes.find('\n', at) + 1) {
    const auto record = nlohmann::json::parse(bytes.substr(at, bytes.find('\n', at) - at));
    texts.push_back(record.contains("text")
                        ? record.at("text").get<std::string>()
                        : "base64 " + record.at("bytes_base64").get<std::string>());
  }
  return texts;
}

std::vector<std::string> deeds(const RepairReport& report) {
  std::vector<std::string> whats;
  for (const RepairAction& action : report.actions) {
    whats.push_back(action.what);
  }
  return whats;
}

/// Repairs, checks that nothing is left to do, and that doing it again changes no byte.
RepairReport repaired(MemoryFixture& memory) {
  RepairReport report = memory->repair().value();
  CHECK(report.left.empty());
  CHECK(memory->verify().value().findings.empty());
  const auto once = memory.files();
  memory.clock.advance(std::chrono::hours(1));
  CHECK(memory->repair().value().actions.empty());
  CHECK(memory.files() == once);
  memory.reopen();
  CHECK(memory->repair().value().actions.empty());
  CHECK(memory.files() == once);
  return report;
}

}  // namespace

TEST_CASE("a good store is left alone to the byte") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  const auto before = memory.files();
  const RepairReport report = memory->repair().value();
  CHECK(report.actions.empty());
  CHECK(report.left.empty());
  CHECK(report.sessions == 1);
  CHECK(memory.files() == before);
}

TEST_CASE("damaged lines are set aside, verbatim, and their neighbours stay where they are") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kFact, "first\n" + fact("f1") + "\n\n{}\n" + fact("f2") + "\r\n" +
                                     fact("f1", "newer") + "\nlast\n");
  const RepairReport report = repaired(memory);
  CHECK(deeds(report) == std::vector<std::string>{"set aside 3 damaged lines in quarantine.jsonl"});
  CHECK(report.actions[0].count == 3);
  CHECK(report.actions[0].session_id == "s1");
  CHECK(report.actions[0].path == memory.path(EntryType::kFact));
  CHECK(memory.read(EntryType::kFact) ==
        fact("f1") + "\n\n" + fact("f2") + "\r\n" + fact("f1", "newer") + "\n");
  CHECK(quarantined(memory) == std::vector<std::string>{"first", "{}", "last"});
}

TEST_CASE("each kind of damage that editors, merges and disks do is mended") {
  struct Row {
    const char* name;
    std::string bytes;
    std::string left;
    std::vector<std::string> kept;
    std::vector<std::string> done;
  };
  const std::string nul("a\0b", 3);
  const Row rows[] = {
      {"a byte order mark in front of a good line",
       "\xEF\xBB\xBF" + fact("f1") + "\n",
       fact("f1") + "\n",
       {},
       {"removed a byte order mark"}},
      {"a byte order mark in front of a bad one",
       "\xEF\xBB\xBFx\n" + fact("f1") + "\n",
       fact("f1") + "\n",
       {"\xEF\xBB\xBFx"},
       {"set aside 1 damaged line in quarantine.jsonl"}},
      {"a byte order mark further down",
       fact("f1") + "\n\xEF\xBB\xBF" + fact("f2") + "\n",
       fact("f1") + "\n",
       {"\xEF\xBB\xBF" + fact("f2")},
       {"set aside 1 damaged line in quarantine.jsonl"}},
      {"conflict markers",
       "<<<<<<< HEAD\n" + fact("f1") + "\n=======\n" + fact("f2") + "\n>>>>>>> branch\n",
       fact("f1") + "\n" + fact("f2") + "\n",
       {"<<<<<<< HEAD", "=======", ">>>>>>> branch"},
       {"set aside 3 damaged lines in quarantine.jsonl"}},
      {"NUL bytes",
       fact("f1") + "\n" + nul + "\n",
       fact("f1") + "\n",
       {"base64 YQBi"},
       {"set aside 1 damaged line in quarantine.jsonl"}},
      {"a hole of NUL bytes at the end",
       fact("f1") + "\n" + std::string(3, '\0'),
       fact("f1") + "\n",
       {"base64 AAAA"},
       {"set aside an unfinished line at the end"}},
      {"bad UTF-8",
       "\xFF\n" + fact("f1") + "\n",
       fact("f1") + "\n",
       {"base64 /w=="},
       {"set aside 1 damaged line in quarantine.jsonl"}},
      {"a torn end",
       fact("f1") + "\n{\"id\":\"f2",
       fact("f1") + "\n",
       {"{\"id\":\"f2"},
       {"set aside an unfinished line at the end"}},
      {"a torn end that is an entry",
       fact("f1") + "\n" + fact("f2"),
       fact("f1") + "\n" + fact("f2") + "\n",
       {},
       {"ended the last line"}},
      {"a torn end that is an object but no entry",
       fact("f1") + "\n{}",
       fact("f1") + "\n",
       {"{}"},
       {"ended the last line", "set aside 1 damaged line in quarantine.jsonl"}},
      {"nothing but damage", "x", "", {"x"}, {"set aside an unfinished line at the end"}},
      {"the same line twice",
       "x\nx\n",
       "",
       {"x", "x"},
       {"set aside 2 damaged lines in quarantine.jsonl"}},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) {
      MemoryFixture memory;
      memory.session();
      memory.write(EntryType::kFact, row.bytes);
      CHECK(deeds(repaired(memory)) == row.done);
      CHECK(memory.read(EntryType::kFact) == row.left);
      CHECK(quarantined(memory) == row.kept);
    }
  }
}

TEST_CASE("a line too large for an entry is set aside in pieces") {
  MemoryFixture memory;
  memory.session();
  const std::string large((1U << 20U) + 5, 'x');
  memory.write(EntryType::kFact, fact("f1") + "\n" + large + "\n" + fact("f2") + "\n");
  repaired(memory);
  CHECK(memory.read(EntryType::kFact) == fact("f1") + "\n" + fact("f2") + "\n");
  std::string kept;
  for (const std::string& piece : quarantined(memory)) {
    kept += piece;
  }
  CHECK((kept == large));
}

TEST_CASE("what is in the quarantine says where it came from") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kFact, fact("f1") + "\n{\"id\":\"f2\"}\n");
  repaired(memory);
  const auto record = nlohmann::json::parse(memory.read("quarantine.jsonl"));
  CHECK(record.at("file") == "facts.jsonl");
  CHECK(record.at("line") == 2);
  CHECK(record.at("offset") == fact("f1").size() + 1);
  CHECK(record.at("at") == "2026-01-11T10:00:00Z");
  CHECK(record.at("reason").get<std::string>().find("needs this field") != std::string::npos);
  CHECK(memory->statistics("s1").value().quarantined == 1);
}

TEST_CASE("a manifest that is gone is made anew from the entries") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kFact,
             R"({"id":"f1","content":"x","agent_id":"pm","timestamp":"2025-06-01T00:00:00Z"})");
  memory.add(
      EntryType::kDecision,
      R"({"id":"d1","decision":"x","made_by":"architect","timestamp":"2025-07-01T00:00:00Z"})");
  std::filesystem::remove(memory.path("manifest.json"));
  CHECK(deeds(repaired(memory)) ==
        std::vector<std::string>{"made a new manifest from the entries"});
  const Session session = memory->load_session("s1").value();
  CHECK(session.session_id == "s1");
  CHECK(session.agent_ids == std::vector<std::string>{"architect", "pm"});
  CHECK(nlohmann::json::parse(session.manifest).at("created_at") == "2025-06-01T00:00:00Z");
  memory.add_fact("f2");
}

TEST_CASE("a damaged manifest is set aside before a new one takes its place") {
  for (const std::string& damage :
       {std::string("{\"session_id\": \"s1\""), std::string("\xFF\xFE"),
        std::string("{\"session_id\":\"other\",\"created_at\":\"2026-01-11T10:00:00Z\","
                    "\"version\":\"1.0\"}\n")}) {
    CAPTURE(damage);
    MemoryFixture memory;
    memory.session();
    memory.add_fact("f1");
    memory.write("manifest.json", damage);
    repaired(memory);
    CHECK(memory->load_session("s1").has_value());
    const std::vector<std::string> kept = quarantined(memory);
    REQUIRE(kept.size() == 1);
    CHECK((kept[0] == damage || kept[0] == "base64 //4="));
  }
}

TEST_CASE("an empty manifest leaves nothing to set aside") {
  MemoryFixture memory;
  memory.session();
  memory.write("manifest.json", "");
  repaired(memory);
  CHECK(quarantined(memory).empty());
  CHECK(memory->load_session("s1").has_value());
}

TEST_CASE("what interrupted rewrites left goes, what only looks like it stays") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.write("facts.jsonl.tmp", "half");
  memory.write("manifest.json.tmp", "");
  memory.folder.write("memory/config.json.tmp", "{");
  std::filesystem::create_directory(memory.root() + "/sessions/.s2.tmp");
  memory.folder.write("memory/sessions/.s2.tmp/manifest.json", "{");
  memory.folder.write("memory/sessions/.note.tmp", "mine");
  std::filesystem::create_directory(memory.root() + "/mine.tmp");
  repaired(memory);
  CHECK_FALSE(std::filesystem::exists(memory.path("facts.jsonl.tmp")));
  CHECK_FALSE(std::filesystem::exists(memory.path("manifest.json.tmp")));
  CHECK_FALSE(std::filesystem::exists(memory.root() + "/config.json.tmp"));
  CHECK_FALSE(std::filesystem::exists(memory.root() + "/sessions/.s2.tmp"));
  CHECK(std::filesystem::exists(memory.root() + "/sessions/.note.tmp"));
  CHECK(std::filesystem::exists(memory.root() + "/mine.tmp"));
  CHECK(memory->create_session({}).has_value());
}

TEST_CASE("what only a person can mend is left and named, and the rest is mended") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.write(EntryType::kDecision, "broken\n", "s1");
  memory.write(EntryType::kFact, "broken\n", "s2");
  std::filesystem::create_symlink("decisions.jsonl", memory.path(EntryType::kFact, "s1"));
  std::filesystem::create_directory(memory.path("notes.tmp", "s1"));
  std::filesystem::create_symlink("s1", memory.root() + "/sessions/link");
  memory.folder.write("memory/sessions/file", "");
  const RepairReport report = memory->repair().value();
  std::vector<std::string> left;
  for (const Finding& finding : report.left) {
    CHECK(finding.kind == FindingKind::kForeignFile);
    left.push_back(finding.path.substr(memory.root().size() + 1));
  }
  CHECK(left == std::vector<std::string>{"sessions/file", "sessions/link",
                                         "sessions/s1/facts.jsonl", "sessions/s1/notes.tmp"});
  CHECK(report.actions.size() == 2);
  CHECK(memory.read(EntryType::kDecision, "s1").empty());
  CHECK(memory.read(EntryType::kFact, "s2").empty());
}

TEST_CASE("only the sessions asked for are mended") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.write(EntryType::kFact, "broken\n", "s1");
  memory.write(EntryType::kFact, "broken\n", "s2");
  const std::string sessions[] = {"s2"};
  const RepairReport report = memory->repair(sessions).value();
  CHECK(report.sessions == 1);
  CHECK(memory.read(EntryType::kFact, "s1") == "broken\n");
  CHECK(memory.read(EntryType::kFact, "s2").empty());
}

TEST_CASE("a warm writer goes on in the log that repair put in place") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  Result<MemoryManager> other =
      MemoryManager::open({.root = memory.root(), .clock = &memory.clock});
  REQUIRE(other->add("s1", EntryType::kFact, fact("f2")).has_value());
  memory.write(EntryType::kFact, memory.read(EntryType::kFact) + "broken\n");
  repaired(memory);
  REQUIRE(other->add("s1", EntryType::kFact, fact("f3")).has_value());
  CHECK(memory.read(EntryType::kFact) == fact("f1") + "\n" + fact("f2") + "\n" + fact("f3") + "\n");
}

TEST_CASE("the config is not repair's to mend") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kFact, "broken\n");
  memory.folder.write("memory/config.json", "{");
  REQUIRE(memory.reopen({.tolerate_bad_config = true}).has_value());
  const RepairReport report = memory->repair().value();
  REQUIRE(report.left.size() == 1);
  CHECK(report.left[0].kind == FindingKind::kDamagedConfig);
  CHECK(memory.read(EntryType::kFact).empty());
  CHECK(memory.folder.read("memory/config.json") == "{");
}

}  // namespace bmad_mem::test::repair_test
