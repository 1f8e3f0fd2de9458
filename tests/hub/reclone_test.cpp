// reclone_test.cpp - a hub that has lost rows, and mirrors that begin again.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "hub/mirror_state.hpp"
#include "mirrors.hpp"

namespace bmad_mem::test::reclone_test {
namespace {

void damage_file(const Mirror& mirror, const std::string& name, std::string_view bytes) {
  std::ofstream(mirror.root() + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("a hub that was restored from a backup is refused") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1");
  m[0].sync();
  m.feed->rows.pop_back();
  const Result<SyncReport> report = m[0].try_sync();
  CHECK(code_of(report) == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(report.error().message.find("hub repush") != std::string::npos);
  m.feed->replicas.begin()->second.pushed = 1;
  REQUIRE(reclone_from_hub(*m[0], m[0].hub, {}));
  CHECK(m[0].sync().pushed_lines == 1);
  CHECK(m[0].sync().pushed_lines == 0);
  Mirror late(m.feed);
  late.sync();
  CHECK(facts(late) == facts(m[0]));
}

TEST_CASE("a restored hub is refused by those who know more, also when others have pushed since") {
  Mirrors m(3);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const auto rows = m.feed->rows;
  const auto replicas = m.feed->replicas;
  m[0].add_fact("lost");
  m[0].sync();
  m[1].sync();
  m.feed->rows = rows;
  m.feed->replicas = replicas;
  m[2].add_fact("g1");
  SUBCASE("with more rows than it had") { m[2].add_fact("g2"); }
  SUBCASE("with as many, and these push next") { m[1].add_fact("h1"); }
  m[2].sync();
  CHECK(code_of(m[1].try_sync()) == ErrorCode::E_STORAGE_CORRUPT);
  REQUIRE(reclone_from_hub(*m[1], m[1].hub, {}));
  REQUIRE(reclone_from_hub(*m[0], m[0].hub, {}));
  m.settle();
  CHECK(facts(m[0]).find("lost") != std::string::npos);
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(facts(m[0]) == facts(m[2]));
}

TEST_CASE("a head that was moved beyond all rows may go back to them") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const auto rows = m.feed->rows;
  m.feed->rows.resize(rows.size() + 7);
  CHECK(m[0].sync().cursor == rows.size() + 7);
  m[1].sync();
  m.feed->rows = rows;
  m[1].add_fact("f2");
  m.settle();
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(facts(m[0]).contains("f2"));
}

TEST_CASE("who begins again pulls before it pushes") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  REQUIRE(reclone_from_hub(*m[1], m[1].hub, {}));
  const SyncReport report = m[1].sync({.pulls = false});
  CHECK(report.pushed_lines == 0);
  m.settle();
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("beginning again brings no session back that was deleted here") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].session("s2");
  m[0].add_fact("g1", "x", "s2");
  m.settle();
  REQUIRE(m[0]->delete_session("s2"));
  const std::vector<std::string> named = {"s2"};
  const Status refused = reclone_from_hub(*m[0], m[0].hub, named);
  CHECK(code_of(refused) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(refused.error().message.find("session undelete") != std::string::npos);
  REQUIRE(reclone_from_hub(*m[0], m[0].hub, {}));
  CHECK_FALSE(m[0].sync().has_new_replica);
  m.settle();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(m[i].listed() == std::vector<std::string>{"f1"});
  }
}

TEST_CASE("beginning again with a session that nobody has is an error") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const std::vector<std::string> slip = {"s11"};
  CHECK(code_of(reclone_from_hub(*m[0], m[0].hub, slip)) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(m[0].sync().problems.empty());
  CHECK(m[0].listed() == std::vector<std::string>{"f1"});
}

TEST_CASE("a damaged file of hub/ has a way out") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  int added = 0;
  for (const auto& [name, bytes] : m[1].files()) {
    if (!name.starts_with("hub/") || name.ends_with(".gitignore")) {
      continue;
    }
    for (const char* damage : {"", "torn {", "{}", "null", "{\"version\":1}"}) {
      CAPTURE(name);
      CAPTURE(damage);
      const bool is_state = name.ends_with("state.json");
      if (!is_state && std::string(damage).find("version") != std::string::npos) {
        continue;  // A session of which the hub has nothing.
      }
      damage_file(m[1], name, damage);
      if (is_state) {
        const Result<SyncReport> report = m[1].try_sync();
        CHECK(code_of(report) == ErrorCode::E_STORAGE_CORRUPT);
        CHECK(report.error().message.find("hub leave` and `hub join") != std::string::npos);
        CHECK(code_of(mirror_report(*m[1])) == ErrorCode::E_STORAGE_CORRUPT);
        REQUIRE(leave_hub(*m[1]));
        m[1].join();
      } else {
        m[1].add_fact("g" + std::to_string(++added));
        CHECK(m[1].sync().problems.size() == 1);
        REQUIRE(reclone_from_hub(*m[1], m[1].hub, {}));
      }
      CHECK(m[1].sync().problems.empty());
      damage_file(m[1], name, damage);
      REQUIRE(leave_hub(*m[1]));
      m[1].join();
      m.settle();
      CHECK(facts(m[0]) == facts(m[1]));
    }
  }
  CHECK(m[0].listed() == std::vector<std::string>{"f1", "g1", "g2", "g3", "g4"});
}

TEST_CASE("who lost state.json joins again, also another hub") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  std::filesystem::remove(m[1].root() + "/hub/state.json");
  Mirrors others(1);
  MemoryHub hub(others.feed);
  REQUIRE(join_hub(*m[1], hub, {.service = "team", .project = "other", .host = "here"}));
  const Result<SyncReport> report = sync_with_hub(*m[1], hub);
  REQUIRE(report);
  CHECK(report->pushed_lines == 1);
  others.settle();
  CHECK(facts(others[0]) == facts(m[0]));
}

}  // namespace bmad_mem::test::reclone_test
