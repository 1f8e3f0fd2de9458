// Whole sessions: deleted, begun again, archived, taken away by git.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "mirrors.hpp"

namespace bmad_mem::test::sessions_test {
namespace {

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("what others write while one deletes the session stays") {
  Mirrors m(3);
  m[0].session();
  m[0].add_fact("f1", "old");
  m[0].add_fact("f2");
  m.settle();
  REQUIRE(m[0]->delete_session("s1"));
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "new");
  m[1].add_fact("f3", "new");
  m[0].sync();
  m.settle();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(m[i].listed() == Ids{"f1", "f3"});
    CHECK(m[i].found("new") == Ids{"f1", "f3"});
    CHECK(facts(m[i]) == facts(m[0]));
  }
}

TEST_CASE("a session is deleted and begun again before the hub hears of either") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].add_fact("f2");
  m.settle();
  REQUIRE(m[0]->delete_session("s1"));
  m[0].session();
  m[0].add_fact("g1");
  SUBCASE("at once") {}
  SUBCASE("and was pulled in between, but not pushed") {
    m[1].add_fact("f3");
    m[1].sync();
    m[0].sync({.pushes = false});
    REQUIRE(m[0]->delete_entries({.ids = Ids{"f3"}}));
  }
  m.settle();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(m[i].listed() == Ids{"g1"});
    CHECK(facts(m[i]) == facts(m[0]));
  }
}

TEST_CASE("a session that was deleted before joining again stays deleted") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].session("s2");
  m[0].add_fact("g1", "x", "s2");
  m.settle();
  REQUIRE(leave_hub(*m[0]));
  REQUIRE(m[0]->delete_session("s2"));
  m[0].join();
  m.settle();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(m[i].listed() == Ids{"f1"});
  }
  SUBCASE("and what is left of it can be purged everywhere") {
    REQUIRE(m[0]->delete_session("s2", {.purge = true}));
    m.settle();
    for (const FeedRow& row : m.feed->rows) {
      CHECK((row.session_id != "s2" || row.op != FeedOp::kLine || !row.line));
    }
  }
}

TEST_CASE("another session of the id of one that was deleted before joining is left alone") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1", "theirs");
  m[0].sync();
  Mirror late(m.feed, /*joins=*/false);
  late.session();
  late.add_fact("g1", "ours");
  REQUIRE(late->delete_session("s1"));
  late.join();
  late.sync();
  m[0].sync();
  CHECK(late.listed() == Ids{"f1"});
  CHECK(m[0].listed() == Ids{"f1"});
}

TEST_CASE("a session that git took away comes back, and one that was deleted does not") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  std::filesystem::remove_all(m[0].path(""));
  m[0].reopen();
  m[0].sync();
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(m[0].listed() == Ids{"f1"});
  REQUIRE(m[1]->delete_session("s1"));
  m[1].sync();
  m[0].sync();
  CHECK(m[0].listed().empty());
  CHECK(m[1].listed().empty());
  m[0].session();  // Another one of this name.
  m[0].add_fact("f3");
  m.settle();
  CHECK(m[1].listed() == Ids{"f3"});
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a session that was archived before is shared, and stays archived") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "canteen");
  REQUIRE(m[0]->archive_session("s1"));
  m[0].sync();
  CHECK(code_of(m[0]->load_session("s1")) == ErrorCode::E_SESSION_ARCHIVED);
  m[1].sync();
  CHECK(m[1].found("canteen") == Ids{"f1"});
  CHECK(m[0].sync().pushed_lines == 0);
  m[1].add_fact("f2");
  m.settle();
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(m[0].listed() == Ids{"f1", "f2"});
}

}  // namespace bmad_mem::test::sessions_test
