#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::pins_test {

TEST_CASE("a pin is a version that changes nothing else") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kFact, R"({"id":"f","content":"x","mine":1.00})");
  const std::vector<std::string> ids = {"f", "g"};
  const PinReport report = memory->pin(ids).value();
  REQUIRE(report.changed.size() == 1);
  CHECK(report.changed[0].pinned);
  CHECK(report.unknown_ids == std::vector<std::string>{"g"});
  const std::vector<Entry> versions = memory->history("f").value();
  REQUIRE(versions.size() == 2);
  CHECK(versions[1].json.find("\"mine\":1.00") != std::string::npos);
  CHECK(versions[1].pinned);
  CHECK(memory->pin(ids).value().unchanged.size() == 1);
  CHECK(memory->pin(ids, false).value().changed.size() == 1);
  CHECK_FALSE(memory->list({}).value()[0].pinned);
}

TEST_CASE("an id that several sessions know is pinned in all, or in those asked for") {
  MemoryFixture memory;
  for (const char* session : {"s1", "s2"}) {
    memory.session(session);
    memory.add_fact("f", "x", session);
  }
  const std::vector<std::string> ids = {"f"};
  const std::vector<std::string> one = {"s1"};
  CHECK(memory->pin(ids, true, one).value().changed.size() == 1);
  CHECK(memory->pin(ids).value().changed.size() == 1);
}

TEST_CASE("a document is kept without its secrets, and an entry points to it") {
  MemoryFixture memory;
  memory.session();
  const std::string secret = "gh" + std::string("p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
  ArtifactEntry entry;
  entry.path = "docs/design.md";
  entry.title = "Design";
  const std::string id = memory->add_artifact_document("s1", entry, "use " + secret).value();
  CHECK(memory.read("artifacts/" + id + ".md") == "use [REDACTED:github-pat]");
  CHECK(memory->list({}).value()[0].id == id);
  CHECK(memory->find_text(secret).value().empty());
}

TEST_CASE("a document that is too large, or no text, changes nothing") {
  MemoryFixture memory;
  memory.session();
  ArtifactEntry entry;
  entry.path = "x";
  entry.title = "x";
  const std::string large(MemoryManager::kArtifactSizeMax + 1, 'x');
  CHECK(memory->add_artifact_document("s1", entry, large).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(memory->add_artifact_document("s1", entry, "\xff").error().code ==
        ErrorCode::E_INVALID_FORMAT);
  entry.common.id = "../x";
  CHECK(memory->add_artifact_document("s1", entry, "x").error().field == "id");
  CHECK(memory->add_artifact_document("none", {}, "x").error().code ==
        ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(memory->list({}).value().empty());
}

}  // namespace bmad_mem::test::pins_test
