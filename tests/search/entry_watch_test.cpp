#include "bmad_mem/entry_watch.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::entry_watch_test {
namespace {

using std::chrono::milliseconds;
using Ids = std::vector<std::string>;

constexpr milliseconds kLong(10'000);
constexpr milliseconds kNow(0);

/// All that the watch gives, as ids, until nothing comes any more.
Ids seen(EntryWatch& watch, milliseconds first = kNow) {
  Ids ids;
  milliseconds timeout = first;
  while (true) {
    const std::vector<Entry> entries = watch.wait(timeout).value();
    if (entries.empty()) {
      return ids;
    }
    for (const Entry& entry : entries) {
      ids.push_back(entry.id);
    }
    timeout = kNow;
  }
}

std::string line(const std::string& id, const std::string& content) {
  return MemoryFixture::fact(id, content) + "\n";
}

}  // namespace

TEST_CASE("what is written after the watch began is given once, in order") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("old");
  EntryWatch watch = EntryWatch::open(*memory).value();
  CHECK(seen(watch).empty());
  memory.add_fact("a");
  memory.add_fact("b");
  CHECK(seen(watch) == Ids{"a", "b"});
  memory.add_fact("c");
  CHECK(seen(watch) == Ids{"c"});
  CHECK(seen(watch).empty());
}

TEST_CASE("a new version of an entry is given, with its number") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a");
  EntryWatch watch = EntryWatch::open(*memory).value();
  memory.add_fact("a", "other");
  const std::vector<Entry> entries = watch.wait(kNow).value();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].versions == 2);
  CHECK(entries[0].line == 2);
  CHECK(entries[0].headline == "other");
}

TEST_CASE("sessions and logs that are made later are watched, those of an empty memory too") {
  MemoryFixture memory;
  EntryWatch watch = EntryWatch::open(*memory).value();
  memory.session("s1");
  memory.add_fact("a", "x", "s1");
  CHECK(seen(watch) == Ids{"a"});
  memory.session("s2");
  memory.add(EntryType::kEvent, R"({"id":"e","kind":"k","content":"c"})", "s2");
  CHECK(seen(watch) == Ids{"e"});
  memory.add_fact("b", "x", "s2");
  CHECK(seen(watch) == Ids{"b"});
}

TEST_CASE("a line is given when it is whole") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a");
  EntryWatch watch = EntryWatch::open(*memory).value();
  const std::string whole = line("b", "x");
  std::ofstream log(memory.path(EntryType::kFact), std::ios::app | std::ios::binary);
  log << whole.substr(0, 9) << std::flush;
  CHECK(seen(watch).empty());
  log << whole.substr(9) << std::flush;
  CHECK(seen(watch) == Ids{"b"});
}

TEST_CASE("a damaged line is passed over, and the next one given with its number") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a");
  EntryWatch watch = EntryWatch::open(*memory).value();
  std::ofstream log(memory.path(EntryType::kFact), std::ios::app | std::ios::binary);
  log << "{\"id\":oops}\n" << line("b", "x") << std::flush;
  const std::vector<Entry> entries = watch.wait(kNow).value();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].id == "b");
  CHECK(entries[0].line == 3);
}

TEST_CASE("a rewrite gives what it adds and nothing that was there") {
  MemoryFixture memory;
  memory.session();
  for (const char* id : {"a", "b", "c"}) {
    memory.add_fact(id);
  }
  EntryWatch watch = EntryWatch::open(*memory).value();
  SUBCASE("lines were taken out") {
    const DeletionCriteria criteria{.ids = {"b"}};
    REQUIRE(memory->delete_entries(criteria));
    CHECK(seen(watch).empty());
  }
  SUBCASE("lines were taken out and another was written before anybody looked") {
    const DeletionCriteria criteria{.ids = {"b"}};
    REQUIRE(memory->delete_entries(criteria));
    memory.add_fact("d");
    CHECK(seen(watch) == Ids{"d"});
  }
  SUBCASE("a line was written, and then some were taken out") {
    memory.add_fact("d");
    const DeletionCriteria criteria{.ids = {"b"}};
    REQUIRE(memory->delete_entries(criteria));
    CHECK(seen(watch) == Ids{"d"});
  }
  SUBCASE("an editor wrote the file anew, in place, with a line in front") {
    memory.write(EntryType::kFact, line("n", "x") + memory.read(EntryType::kFact));
    CHECK(seen(watch) == Ids{"n"});
  }
  SUBCASE("a checkout put another file there, longer than the old one") {
    const std::string merged = line("z", "from another branch") + memory.read(EntryType::kFact);
    const std::string path = memory.path(EntryType::kFact);
    std::filesystem::remove(path);
    memory.write(EntryType::kFact, merged);
    CHECK(seen(watch) == Ids{"z"});
  }
  CHECK(watch.take_rewritten());
  memory.add_fact("after");
  CHECK(seen(watch) == Ids{"after"});
  CHECK_FALSE(watch.take_rewritten());
}

TEST_CASE("of a long log, which is read later, the same is given") {
  MemoryFixture memory;
  memory.session();
  const std::string text(9'000, 'x');
  for (const char* id : {"a", "b", "c"}) {
    memory.add_fact(id, text);
  }
  memory.clock.advance(std::chrono::hours(1));
  EntryWatch watch = EntryWatch::open(*memory).value();
  const auto written_now = [&](const std::string& id) {
    memory.add(EntryType::kFact, fmt::format(R"({{"id":"{}","content":"x"}})", id));
  };
  SUBCASE("before it was read, a version is counted") {
    memory.add_fact("b", "other");
    const std::vector<Entry> entries = watch.wait(kNow).value();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].versions == 2);
    CHECK(entries[0].line == 4);
    CHECK_FALSE(watch.take_rewritten());
  }
  SUBCASE("before it was read, lines are taken out and another is written") {
    written_now("d");
    const DeletionCriteria criteria{.ids = {"b"}};
    REQUIRE(memory->delete_entries(criteria));
    CHECK(seen(watch) == Ids{"d"});
    CHECK(watch.take_rewritten());
  }
  SUBCASE("before it was read, the session is archived and comes back") {
    REQUIRE(memory->archive_session("s1"));
    CHECK(seen(watch).empty());
    REQUIRE(memory->restore_session("s1"));
    CHECK(seen(watch).empty());
  }
  SUBCASE("a wait reads it, and an editor puts an old line in front") {
    CHECK(seen(watch, milliseconds(20)).empty());
    memory.write(EntryType::kFact, line("n", "x") + memory.read(EntryType::kFact));
    CHECK(seen(watch) == Ids{"n"});
    CHECK(watch.take_rewritten());
  }
  written_now("after");
  CHECK(seen(watch) == Ids{"after"});
}

TEST_CASE("the whole life of a session is followed") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a");
  memory.clock.advance(std::chrono::hours(1));
  EntryWatch watch = EntryWatch::open(*memory).value();
  REQUIRE(memory->compact("s1"));
  REQUIRE(memory->archive_session("s1"));
  CHECK(seen(watch).empty());
  REQUIRE(memory->restore_session("s1"));
  CHECK(seen(watch).empty());
  memory.add_fact("b");
  CHECK(seen(watch) == Ids{"b"});
}

TEST_CASE("of a session that was archived before, what is written by restoring it is given") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a");
  REQUIRE(memory->archive_session("s1"));
  memory.clock.advance(std::chrono::hours(1));
  EntryWatch watch = EntryWatch::open(*memory).value();
  memory.add(EntryType::kFact, R"({"category":"pattern","key":"k","content":"new"})");
  CHECK(seen(watch).size() == 1);
}

TEST_CASE("the filter chooses") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  const auto open = [&](EntryFilter filter) {
    return EntryWatch::open(*memory, std::move(filter)).value();
  };
  EntryWatch types = open({.types = {EntryType::kEvent}});
  EntryWatch sessions = open({.sessions = {"s2"}});
  EntryWatch agents = open({.agents = {"VENUS"}});
  EntryWatch unmarked = open({.without_sensitive = true});
  memory.add(EntryType::kEvent, R"({"id":"e","kind":"k","content":"c"})");
  memory.add_fact("f2", "x", "s2");
  memory.add(EntryType::kFact, R"({"id":"v","agent_id":"VENUS","content":"x","sensitive":true})");
  CHECK(seen(types) == Ids{"e"});
  CHECK(seen(sessions) == Ids{"f2"});
  CHECK(seen(agents) == Ids{"v"});
  CHECK(seen(unmarked) == Ids{"e", "f2"});
  CHECK(code_of(EntryWatch::open(*memory, {.sessions = {"s9"}})) == ErrorCode::E_SESSION_NOT_FOUND);
}

TEST_CASE("a live query gives what is new and matches, by the rules of a query") {
  struct Row {
    const char* query;
    Ids ids;
  };
  const Row rows[] = {
      {"pool", {"a", "c"}},            // By its stem, and not what was there.
      {"+pool -postgres", {"a"}},      //
      {"\"connection pool\"", {"c"}},  //
      {"type:event pool", {}},         //
      {"serch~", {"b"}},               //
      {"poll", {}},                    // Not another spelling of what is there.
      {"session:s2", {"d"}},           //
  };
  for (const Row& row : rows) {
    CAPTURE(row.query);
    MemoryFixture own;
    own.session("s1");
    own.session("s2");
    own.add_fact("old", "The connection pools run dry", "s1");
    EntryWatch watch = EntryWatch::open(*own, {}, row.query).value();
    own.add_fact("a", "Pooling is off", "s1");
    own.add_fact("b", "Search is slow", "s1");
    own.add_fact("c", "A connection pool for Postgres", "s1");
    own.add_fact("d", "Nothing", "s2");
    CHECK(seen(watch) == row.ids);
  }
  MemoryFixture memory;
  CHECK(code_of(EntryWatch::open(*memory, {}, "status:nonsense")) == ErrorCode::E_INVALID_QUERY);
  CHECK(match_entries(*memory, "pool", {}).value().empty());
}

TEST_CASE("what a workflow doesn't allow to read is not given") {
  MemoryFixture memory;
  memory.session();
  MemoryAccess access{.given_by = "workflow.yaml"};
  access.read[static_cast<std::size_t>(EntryType::kEvent)] = true;
  access.write.fill(true);
  REQUIRE(memory.reopen({.access = access}));
  EntryWatch watch = EntryWatch::open(*memory).value();
  memory.add_fact("f");
  memory.add(EntryType::kEvent, R"({"id":"e","kind":"k","content":"c"})");
  CHECK(seen(watch) == Ids{"e"});
}

TEST_CASE("a wait hears of a write of another thread, and of a stop") {
  MemoryFixture memory;
  memory.session();
  EntryWatch watch = EntryWatch::open(*memory).value();
  std::thread writer([&] { memory.add_fact("a"); });
  CHECK(seen(watch, kLong) == Ids{"a"});
  writer.join();
  watch.stop();
  CHECK(watch.wait(kLong).value().empty());
  CHECK(watch.is_stopped());
}

TEST_CASE("a memory that is removed ends the watch with an error") {
  MemoryFixture memory;
  memory.session();
  EntryWatch watch = EntryWatch::open(*memory).value();
  std::filesystem::rename(memory.root(), memory.folder.path("elsewhere"));
  CHECK(code_of(watch.wait(kLong)) == ErrorCode::E_SESSION_NOT_FOUND);
}

}  // namespace bmad_mem::test::entry_watch_test
