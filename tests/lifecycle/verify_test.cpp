// verify_test.cpp - everything that is wrong is named, by file, line and reason, and nothing else.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::verify_test {
namespace {

std::vector<std::string> kinds(const VerifyReport& report) {
  std::vector<std::string> names;
  for (const Finding& finding : report.findings) {
    names.emplace_back(finding_kind_name(finding.kind));
  }
  return names;
}

}  // namespace

TEST_CASE("a good store has no findings, and what was checked is counted") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.add_fact("f1");
  memory.add_fact("f2");
  memory.add_fact("f3", "x", "s2");
  const VerifyReport report = memory->verify().value();
  CHECK(report.findings.empty());
  CHECK(report.sessions == 2);
  CHECK(report.logs == 2);
  CHECK(report.lines == 3);
  CHECK(report.bytes ==
        memory.read(EntryType::kFact).size() + memory.read(EntryType::kFact, "s2").size());
}

TEST_CASE("each damaged line is named by place, field and reason, and a torn end as one") {
  MemoryFixture memory;
  memory.session();
  const std::string good = MemoryFixture::fact("f1") + "\n";
  memory.write(EntryType::kFact, good + "{\"id\":\n" + good + "{\"id\":\"f\"}\n" + "torn");
  const VerifyReport report = memory->verify().value();
  REQUIRE(kinds(report) == std::vector<std::string>{"damaged_line", "damaged_line", "torn_tail"});
  for (const Finding& finding : report.findings) {
    CHECK(finding.session_id == "s1");
    CHECK(finding.path == memory.path(EntryType::kFact));
  }
  CHECK(report.findings[0].line == 2);
  CHECK(report.findings[0].offset == good.size());
  CHECK(report.findings[0].size == 6);
  CHECK(report.findings[0].column > 1);
  CHECK(report.findings[1].line == 4);
  CHECK(report.findings[1].field == "timestamp");
  CHECK(report.findings[2].line == 5);
  CHECK(report.findings[2].size == 4);
  CHECK(report.findings[2].offset == memory.read(EntryType::kFact).size() - 4);
  CHECK(report.lines == 4);
}

TEST_CASE("findings come by session, file and line") {
  MemoryFixture memory;
  memory.session("b");
  memory.session("a");
  memory.write(EntryType::kFact, "x\ny\n", "a");
  memory.write(EntryType::kDecision, "x\n", "a");
  memory.write(EntryType::kFact, "x\n", "b");
  const VerifyReport report = memory->verify().value();
  REQUIRE(report.findings.size() == 4);
  CHECK(report.findings[0].path == memory.path(EntryType::kDecision, "a"));
  CHECK(report.findings[1].path == memory.path(EntryType::kFact, "a"));
  CHECK(report.findings[1].line == 1);
  CHECK(report.findings[2].line == 2);
  CHECK(report.findings[3].session_id == "b");
}

TEST_CASE("a session's manifest that is missing, damaged or another's is named") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  const std::string manifest = memory.read("manifest.json");
  SUBCASE("missing") {
    std::filesystem::remove(memory.path("manifest.json"));
    CHECK(kinds(memory->verify().value()) == std::vector<std::string>{"missing_manifest"});
  }
  SUBCASE("broken") {
    memory.write("manifest.json", "{\n  \"session_id\": \"s1\",,\n}");
    const VerifyReport report = memory->verify().value();
    REQUIRE(kinds(report) == std::vector<std::string>{"damaged_manifest"});
    CHECK(report.findings[0].line == 2);
    CHECK(report.findings[0].path == memory.path("manifest.json"));
  }
  SUBCASE("empty") {
    memory.write("manifest.json", "");
    CHECK(kinds(memory->verify().value()) == std::vector<std::string>{"damaged_manifest"});
  }
  SUBCASE("another's") {
    memory.session("s2");
    memory.write("manifest.json", manifest, "s2");
    const VerifyReport report = memory->verify().value();
    REQUIRE(kinds(report) == std::vector<std::string>{"damaged_manifest"});
    CHECK(report.findings[0].field == "session_id");
    CHECK(report.findings[0].session_id == "s2");
  }
}

TEST_CASE("a damaged config is named when the whole store is checked") {
  MemoryFixture memory;
  memory.session();
  memory.folder.write("memory/config.json", "{\"memory_config\":\n{\"decay\":7}}");
  REQUIRE(memory.reopen({.tolerate_bad_config = true}).has_value());
  const VerifyReport report = memory->verify().value();
  REQUIRE(kinds(report) == std::vector<std::string>{"damaged_config"});
  CHECK(report.findings[0].path == memory.root() + "/config.json");
  CHECK(report.findings[0].line == 2);
  CHECK(report.findings[0].field == "memory_config.decay");
  CHECK(report.findings[0].session_id.empty());
  const std::string sessions[] = {"s1"};
  CHECK(memory->verify(sessions).value().findings.empty());
}

TEST_CASE("whatever is no file where a file belongs is named, and the rest is checked") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kDecision, "broken\n");
  const std::string log = memory.path(EntryType::kFact);
  SUBCASE("a link") { std::filesystem::create_symlink("decisions.jsonl", log); }
  SUBCASE("a FIFO") { REQUIRE(::mkfifo(log.c_str(), 0600) == 0); }
  SUBCASE("a folder") { std::filesystem::create_directory(log); }
  const VerifyReport report = memory->verify().value();
  REQUIRE(kinds(report) == std::vector<std::string>{"foreign_file", "damaged_line"});
  CHECK(report.findings[0].path == log);
}

TEST_CASE("a file where the folder of documents belongs is named") {
  MemoryFixture memory;
  memory.session();
  std::filesystem::create_directory(memory.path("artifacts"));
  CHECK(memory->verify().value().findings.empty());
  std::filesystem::remove(memory.path("artifacts"));
  memory.write("artifacts", "");
  CHECK(kinds(memory->verify().value()) == std::vector<std::string>{"foreign_file"});
}

TEST_CASE("what is no folder in a session's place is named, and the sessions are checked") {
  MemoryFixture memory;
  memory.session("s1");
  memory.write(EntryType::kFact, "broken\n");
  SUBCASE("a link") { std::filesystem::create_symlink("s1", memory.root() + "/sessions/a"); }
  SUBCASE("a file") { memory.folder.write("memory/sessions/a", ""); }
  const VerifyReport report = memory->verify().value();
  REQUIRE(kinds(report) == std::vector<std::string>{"foreign_file", "damaged_line"});
  CHECK(report.findings[0].path == memory.root() + "/sessions/a");
  CHECK(report.sessions == 1);
}

TEST_CASE("only the sessions asked for are checked") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.write(EntryType::kFact, "broken\n", "s1");
  const std::string sessions[] = {"s2"};
  const VerifyReport report = memory->verify(sessions).value();
  CHECK(report.findings.empty());
  CHECK(report.sessions == 1);
}

TEST_CASE("how far it is, is told up to the end") {
  MemoryFixture memory;
  memory.session();
  std::string bytes;
  while (bytes.size() < (1U << 20U)) {
    bytes += MemoryFixture::fact("f1") + "\n";
  }
  memory.write(EntryType::kFact, bytes);
  std::vector<std::uint64_t> steps;
  std::uint64_t total = 0;
  const auto note = [&](std::uint64_t done, std::uint64_t of) {
    steps.push_back(done);
    total = of;
  };
  REQUIRE(memory->verify({}, note).has_value());
  CHECK(std::ranges::is_sorted(steps));
  CHECK(steps.size() > 4);
  CHECK(total == bytes.size() + memory.read("manifest.json").size());
  CHECK(steps.back() == bytes.size());
}

TEST_CASE("every kind of finding has a name of its own") {
  std::vector<std::string> names;
  for (const FindingKind kind :
       {FindingKind::kDamagedLine, FindingKind::kTornTail, FindingKind::kMissingManifest,
        FindingKind::kDamagedManifest, FindingKind::kDamagedConfig, FindingKind::kForeignFile}) {
    names.emplace_back(finding_kind_name(kind));
    CHECK_FALSE(names.back().empty());
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

}  // namespace bmad_mem::test::verify_test
