// open_test.cpp - making a memory root, finding it, opening it.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "concurrency/child.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::open_test {
namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    names.push_back(file.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("init makes the root and says what it made, and again makes nothing") {
  TemporaryDirectory folder;
  const std::string root = folder.path("project/.bmad/memory");
  const InitReport first = MemoryManager::init(root).value();
  CHECK(first.root == root);
  CHECK(first.created_config);
  CHECK(first.created_gitignore);
  CHECK(names_in(root) ==
        std::vector<std::string>{".gitignore", ".lock", ".lock.json", "config.json", "sessions"});
  const std::string config = folder.read("project/.bmad/memory/config.json");
  const InitReport second = MemoryManager::init(root).value();
  CHECK_FALSE(second.created_config);
  CHECK_FALSE(second.created_gitignore);
  CHECK(folder.read("project/.bmad/memory/config.json") == config);
}

TEST_CASE("init leaves what a person wrote alone and adds what is missing") {
  TemporaryDirectory folder;
  folder.make_folder("memory");
  folder.write("memory/config.json", "{}");
  const InitReport report = MemoryManager::init(folder.path("memory")).value();
  CHECK_FALSE(report.created_config);
  CHECK(report.created_gitignore);
  CHECK(folder.read("memory/config.json") == "{}");
  CHECK(MemoryManager::open({.root = folder.path("memory")}).has_value());
}

TEST_CASE("the config that init writes is read without a warning") {
  MemoryFixture memory;
  CHECK(memory->config_warnings().empty());
  CHECK(memory->root() == memory.root());
}

TEST_CASE("what is no root is not opened, and says how to make one") {
  TemporaryDirectory folder;
  folder.write("file", "");
  folder.make_folder("empty");
  for (const char* name : {"nowhere", "empty"}) {
    const auto opened = MemoryManager::open({.root = folder.path(name)});
    CHECK(code_of(opened) == ErrorCode::E_SESSION_NOT_FOUND);
    CHECK(opened.error().message.find("bmad-mem init") != std::string::npos);
    CHECK(opened.error().path == folder.path(name));
  }
  CHECK_FALSE(MemoryManager::open({.root = folder.path("file")}).has_value());
  CHECK_FALSE(MemoryManager::init(folder.path("file")).has_value());
}

TEST_CASE("a root without a config has the defaults, one without sessions has none") {
  TemporaryDirectory folder;
  folder.make_folder("a/sessions");
  folder.make_folder("b");
  folder.write("b/config.json", "{}");
  for (const char* name : {"a", "b"}) {
    auto memory = MemoryManager::open({.root = folder.path(name)});
    REQUIRE(memory.has_value());
    CHECK(memory->list_sessions().value().empty());
    CHECK(memory->create_session({.session_id = "s1"}).has_value());
    CHECK(memory->list_sessions().value().size() == 1);
  }
}

TEST_CASE("a root may be reached through a link") {
  MemoryFixture memory;
  memory.session();
  std::filesystem::create_symlink(memory.root(), memory.folder.path("link"));
  auto linked = MemoryManager::open({.root = memory.folder.path("link")});
  REQUIRE(linked.has_value());
  CHECK(linked->add("s1", EntryType::kFact, MemoryFixture::fact("f1")).has_value());
  CHECK(memory->list({}).value().size() == 1);
}

TEST_CASE("a bad config stands in the way, with line and key, unless it is tolerated") {
  MemoryFixture memory;
  memory.session();
  memory.folder.write("memory/config.json", "{\n\"memory_config\": {\"storage\": 7}}");
  const Status refused = memory.reopen({});
  CHECK(code_of(refused) == ErrorCode::E_SCHEMA_INVALID);
  CHECK(refused.error().line == 2);
  CHECK(refused.error().field == "memory_config.storage");
  CHECK(refused.error().path == memory.root() + "/config.json");
  memory.folder.write("memory/config.json", "{\n\n  \"memory_config\"");
  const Status broken = memory.reopen({});
  CHECK(code_of(broken) == ErrorCode::E_INVALID_FORMAT);
  CHECK(broken.error().line == 3);
  REQUIRE(memory.reopen({.tolerate_bad_config = true}).has_value());
  CHECK(memory->list_sessions().value().size() == 1);
}

TEST_CASE("a key that nobody knows is a warning that guesses what was meant") {
  MemoryFixture memory;
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"storage":{"max_sesion_size_mb":3}}})");
  memory.reopen();
  REQUIRE(memory->config_warnings().size() == 1);
  CHECK(memory->config_warnings()[0].find("max_session_size_mb") != std::string::npos);
}

TEST_CASE("the time to wait for a lock is the caller's, else the config's") {
  MemoryFixture memory;
  memory.session();
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"concurrency":{"lock_timeout_ms":15}}})");
  Signal held;
  Child holder([&]() -> int {
    const auto files = std::move(open_posix_file_system(memory.root()).value());
    FileLock lock(*files, memory.clock, lock_path("s1"), lock_info_path("s1"));
    const auto guard = lock.acquire({.operation = "compact", .agent_id = "slow"});
    held.raise();
    wait_to_be_killed();
  });
  held.wait();
  const auto message = [&] {
    const auto added = memory->add("s1", EntryType::kFact, MemoryFixture::fact("f1"));
    CHECK(code_of(added) == ErrorCode::E_LOCK_TIMEOUT);
    return added.error().message;
  };
  memory.reopen();
  CHECK(message().find("within 15 ms") != std::string::npos);
  REQUIRE(memory.reopen({.lock_timeout = std::chrono::milliseconds(7)}).has_value());
  CHECK(message().find("within 7 ms") != std::string::npos);
  CHECK(message().find("agent \"slow\", compact") != std::string::npos);
  // Readers do not wait.
  CHECK(memory->list({}).has_value());
  CHECK(memory->verify().has_value());
}

TEST_CASE("a store made under any umask is its owner's alone") {
  // Only root can use a folder that its own umask closed.
  const mode_t strictest = ::geteuid() == 0 ? 0777U : 0077U;
  for (const mode_t mask : {mode_t{0}, strictest}) {
    CAPTURE(mask);
    const mode_t old_mask = ::umask(mask);
    MemoryFixture memory;
    memory.session();
    memory.add_fact("f1");
    memory.write(EntryType::kFact, memory.read(EntryType::kFact) + "torn");
    CHECK(memory->repair().has_value());
    CHECK(memory->close_session("s1").has_value());
    ::umask(old_mask);
    int seen = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(memory.root())) {
      CAPTURE(file.path().string());
      const auto mode = file.status().permissions();
      CHECK(static_cast<unsigned>(mode) == (file.is_directory() ? 0700U : 0600U));
      ++seen;
    }
    CHECK(seen > 8);
  }
}

}  // namespace bmad_mem::test::open_test
