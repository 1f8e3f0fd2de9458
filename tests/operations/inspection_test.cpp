// inspection_test.cpp - who holds which lock, and which settings hold.
#include <unistd.h>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/settings.hpp"
#include "concurrency/child.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::inspection_test {

TEST_CASE("a lock that is held names its holder, and none is left when it is given back") {
  MemoryFixture memory;
  memory.session("s1");
  memory.add_fact("fact-1");  // So that a lock was taken, and its holder's name still stands there.
  memory.session("s2");
  CHECK(list_lock_holders(*memory).value().empty());

  auto files = open_posix_file_system(memory.root()).value();
  ManualClock clock;
  FileLock lock(*files, clock, lock_path("s1"), lock_info_path("s1"));
  auto guard = lock.acquire({.operation = "add", .agent_id = "ann"});
  REQUIRE(guard.has_value());
  const std::vector<LockHolder> holders = list_lock_holders(*memory).value();
  REQUIRE(holders.size() == 1);
  CHECK(holders[0].session_id == "s1");
  CHECK(holders[0].pid == ::getpid());
  CHECK(holders[0].agent_id == "ann");
  CHECK(holders[0].operation == "add");
  CHECK(holders[0].acquired_at == clock.now());

  guard->release();
  CHECK(list_lock_holders(*memory).value().empty());
}

TEST_CASE("the settings that hold are those of config.json and the defaults of the others") {
  MemoryFixture memory;
  memory.folder.write("memory/config.json", R"({"memory_config":{"decay":{"model":"priority"}}})");
  REQUIRE(memory.reopen({.note_accesses = false}));
  JsonParser parser;
  const std::string text = effective_settings(*memory);
  const JsonValue config = parser.parse(text).value()["memory_config"];
  CHECK(config["decay"]["model"].string() == "priority");
  CHECK(config["storage"]["max_session_size_mb"].number() == 10);
  CHECK(config["performance"]["record_access"].boolean());  // Ours not to note any is no setting.
}

}  // namespace bmad_mem::test::inspection_test
