// entry_marks_test.cpp - paths outside the workspace: what is marked, and what is found of it.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::entry_marks_test {
namespace {

using Ids = std::vector<std::string>;

constexpr std::string_view kMark = R"("outside_workspace":true)";

/// The fixture's root is FOLDER/memory, so FOLDER is its workspace.
class Workshop {
 public:
  Workshop() { memory.session(); }

  void event(const std::string& id, const std::string& path, const std::string& members = "") {
    memory.add(EntryType::kEvent,
               fmt::format(R"({{"id":"{}","kind":"tool_use","content":"opened","path":"{}"{}}})",
                           id, path, members));
  }
  void artifact(const std::string& id, const std::string& path) {
    memory.add(EntryType::kArtifact,
               fmt::format(R"({{"id":"{}","path":"{}","title":"Report","snippet":"kingfisher"}})",
                           id, path));
  }
  [[nodiscard]] bool is_marked(const std::string& id) {
    const Ids ids = {id};
    return memory->get(ids).value().at(0).json.contains(kMark);
  }
  void allow(bool allowed) {
    memory.folder.write(
        "memory/config.json",
        fmt::format(R"({{"memory_config":{{"privacy":{{"index_outside_paths":{}}}}}}})", allowed));
    memory.reopen();
  }

  MemoryFixture memory;
};

}  // namespace

TEST_CASE("events and artifacts of files outside the workspace are marked") {
  Workshop workshop;
  workshop.event("in", "src/heron.cpp");
  workshop.event("in-too", workshop.memory.root() + "/../src/heron.cpp");
  workshop.event("out", "/opt/heron/src");
  workshop.artifact("art-in", "docs/heron.md");
  workshop.artifact("art-out", "../heron/report.md");
  CHECK_FALSE(workshop.is_marked("in"));
  CHECK_FALSE(workshop.is_marked("in-too"));
  CHECK(workshop.is_marked("out"));
  CHECK_FALSE(workshop.is_marked("art-in"));
  CHECK(workshop.is_marked("art-out"));
  workshop.memory.add(EntryType::kEvent, R"({"id":"none","kind":"k","content":"c"})");
  workshop.memory.add(EntryType::kFact, R"({"id":"fact","content":"c","path":"/opt/heron"})");
  CHECK_FALSE(workshop.is_marked("none"));
  CHECK_FALSE(workshop.is_marked("fact"));
}

TEST_CASE("of a marked entry all is found but the path and the snippet") {
  Workshop workshop;
  workshop.event("in", "src/heron.cpp");
  workshop.event("out", "/opt/heron/src");
  workshop.artifact("art-in", "docs/heron.md");
  workshop.artifact("art-out", "../heron/report.md");
  for (const char* state : {"scanned", "indexed"}) {
    CAPTURE(state);
    CHECK(workshop.memory.found("heron") == Ids{"art-in", "in"});
    CHECK(workshop.memory.found("\"heron\"") == Ids{"art-in", "in"});
    CHECK(workshop.memory.found("kingfisher") == Ids{"art-in"});
    CHECK(workshop.memory.found("opened") == Ids{"in", "out"});
    CHECK(workshop.memory.found("report") == Ids{"art-in", "art-out"});
    workshop.memory->rebuild_index().value();
    workshop.memory.reopen();
  }
}

TEST_CASE("the config allows such paths from then on, and what was written stays as it is") {
  Workshop workshop;
  workshop.event("before", "/opt/heron/src");
  workshop.allow(true);
  workshop.event("allowed", "/opt/heron/src");
  CHECK(workshop.is_marked("before"));
  CHECK_FALSE(workshop.is_marked("allowed"));
  CHECK(workshop.memory.found("heron") == Ids{"allowed"});
  workshop.allow(false);
  workshop.event("after", "/opt/heron/src");
  CHECK(workshop.memory.found("heron") == Ids{"allowed"});
  workshop.memory->rebuild_index().value();
  CHECK(workshop.memory.found("heron") == Ids{"allowed"});
}

TEST_CASE("who sets the mark himself keeps it") {
  Workshop workshop;
  workshop.event("no", "/opt/heron/src", R"(,"outside_workspace":false)");
  workshop.event("yes", "src/heron.cpp", R"(,"outside_workspace":true)");
  CHECK_FALSE(workshop.is_marked("no"));
  CHECK(workshop.is_marked("yes"));
  CHECK(workshop.memory.found("heron") == Ids{"no"});
}

TEST_CASE("an entry is marked as sensitive and as outside side by side") {
  Workshop workshop;
  workshop.memory.folder.write(
      "memory/config.json",
      R"({"memory_config":{"privacy":{"redaction":{"personal":{"email":"mark"}}}}})");
  workshop.memory.reopen();
  workshop.event("e", "/opt/mail/ann@corp.de");
  const Entry entry = workshop.memory->list({}).value().at(0);
  CHECK(entry.sensitive);
  CHECK(entry.json.contains(R"("path":"/opt/mail/ann@corp.de")"));
  CHECK(entry.json.contains(R"("sensitive":true,"outside_workspace":true)"));
}

TEST_CASE("what is redacted is written with and without a mark") {
  Workshop workshop;
  const std::string secret = R"(,"tool":"mail ann@corp.de")";
  workshop.event("in", "src/heron.cpp", secret);
  workshop.event("out", "/opt/heron/src", secret);
  for (const char* id : {"in", "out"}) {
    CAPTURE(id);
    const Ids ids = {id};
    const std::string line = workshop.memory->get(ids).value().at(0).json;
    CHECK(line.contains(R"("tool":"mail [REDACTED:email]")"));
    CHECK(line.contains(kMark) == (std::string_view(id) == "out"));
  }
}

TEST_CASE("without redaction paths are looked at all the same") {
  Workshop workshop;
  workshop.memory.folder.write("memory/config.json",
                               R"({"memory_config":{"privacy":{"auto_redaction":false}}})");
  workshop.memory.reopen();
  workshop.event("out", "/opt/heron/src");
  CHECK(workshop.is_marked("out"));
}

TEST_CASE("the workspace is what holds .bmad, and a link to it is another name of it") {
  namespace fs = std::filesystem;
  const TemporaryDirectory folder;
  const fs::path base = fs::canonical(folder.path());
  fs::create_directories(base / "real");
  fs::create_directory_symlink(base / "real", base / "link");
  const std::string root = (base / "link/.bmad/memory").string();
  MemoryManager::init(root).value();
  MemoryManager memory = MemoryManager::open({.root = root}).value();
  memory.create_session({.session_id = "s1"}).value();
  struct Row {
    const char* path;
    bool outside;
  };
  static constexpr Row kRows[] = {{"link/src/a.cpp", false},
                                  {"real/src/a.cpp", false},
                                  {"link/.bmad/memory/x", false},
                                  {"realm/src/a.cpp", true},
                                  {"a.cpp", true}};
  for (const Row& row : kRows) {
    CAPTURE(row.path);
    const std::string id =
        memory.add_event("s1", {.kind = "k", .path = (base / row.path).string()}).value();
    const Ids ids = {id};
    CHECK(memory.get(ids).value().at(0).json.contains(kMark) == row.outside);
  }
}

}  // namespace bmad_mem::test::entry_marks_test
