// What leaves one machine leaves all, and the hub: also late, and also copies.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "mirrors.hpp"

namespace bmad_mem::test::forgetting_test {
namespace {

using Ids = std::vector<std::string>;

constexpr const char* kCanary = "badge-1234";

/// Where the text is: at the hub, in files. Packed ones are read by the memory itself.
std::string where(Mirrors& m, std::string_view text) {
  std::string places;
  for (const FeedRow& row : m.feed->rows) {
    if (row.line && row.line->find(text) != std::string::npos) {
      places += "hub ";
    }
  }
  for (const auto& mirror : m.all) {
    const auto left = (*mirror)->find_text(text);
    REQUIRE(left);
    for (const Leftover& each : *left) {
      places += each.place + " ";
    }
  }
  return places;
}

void redact_badges(Mirrors& m) {
  m.feed->policy = kBadges;
  m.settle();
  REQUIRE(m[0]->redact({}, /*dry_run=*/false));
}

}  // namespace

TEST_CASE("what was deleted is gone from the hub as well when its time is over") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f2");
  m.settle();
  delete_fact(m[0], "f1");
  m.settle();
  CHECK(!where(m, kCanary).empty());
  SUBCASE("where it was deleted") { REQUIRE(m[0]->purge_deleted(/*all=*/true)); }
  SUBCASE("elsewhere") { REQUIRE(m[1]->purge_deleted(/*all=*/true)); }
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(m[1].listed() == Ids{"f2"});
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("what one machine brought back outlives the deletion on all") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m.settle();
  delete_fact(m[0], "f1");
  m.settle();
  const Ids ids = {"f1"};
  REQUIRE(m[0]->undelete({.ids = ids}));
  m.settle();
  REQUIRE(m[1]->purge_deleted(/*all=*/true));
  REQUIRE(m[0]->purge_deleted(/*all=*/true));
  m.settle();
  CHECK(m[0].listed() == ids);
  CHECK(m[1].listed() == ids);
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "a new version");
  m.settle();
  CHECK(m[0].found("version") == ids);
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a redaction reaches the copies of what was deleted") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f2");
  m.settle();
  UndeleteCriteria deleted;
  SUBCASE("an entry") {
    delete_fact(m[1], "f1");
    deleted.ids = {"f1"};
  }
  SUBCASE("a session") {
    REQUIRE(m[1]->delete_session("s1"));
    deleted.sessions = {"s1"};
  }
  m.settle();
  redact_badges(m);
  m.settle();
  CHECK(where(m, kCanary) == "");
  REQUIRE(m[1]->undelete(deleted));
  m.settle();
  CHECK(facts(m[0]).find("[REDACTED:badge]") != std::string::npos);
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("what was deleted and redacted before the hub heard of either is both") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f2");
  m.settle();
  m.feed->policy = kBadges;
  m.settle();
  delete_fact(m[0], "f1");
  REQUIRE(m[0]->redact({}, /*dry_run=*/false));
  CHECK(m[0].sync().problems.empty());
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(m[1].listed() == Ids{"f2"});
}

TEST_CASE("a redaction reaches the copies of what was evicted") {
  Mirrors m(2);
  m[0].session();
  for (int i = 0; i < 10; ++i) {
    m[0].add_fact("f" + std::to_string(i), kCanary + std::string(i == 9 ? " at last" : ""));
  }
  m.settle();
  REQUIRE(m[0]->compact("s1", {.keep_share = 0.5}));
  m.settle();
  redact_badges(m);
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("forgetting the name of the hub leaves a mirror a mirror") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "the team meets");
  m.settle();
  const DeletionCriteria criteria{.match = "team"};
  REQUIRE(m[0]->delete_entries(criteria, {.purge = true}));
  m.settle();
  CHECK(m[0].listed() == Ids{});
  CHECK(m[1].listed() == Ids{});
  CHECK(mirror_report(*m[0])->service == "team");
  CHECK(where(m, "meets") == "");
}

TEST_CASE("a title that was forgotten or redacted is so on all machines") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  REQUIRE(m[0]->update_session("s1", {.title = R"(about badge-1234 of "Zoe")"}));
  m.settle();
  CHECK(where(m, kCanary).find("hub/sessions/s1.json") != std::string::npos);
  SUBCASE("forgotten") {
    const DeletionCriteria criteria{.match = kCanary};
    const auto dry = m[0]->delete_entries(criteria, {.dry_run = true, .purge = true});
    REQUIRE(dry);
    CHECK(dry->elsewhere.size() == 2);
    REQUIRE(m[0]->delete_entries(criteria, {.purge = true}));
  }
  SUBCASE("forgotten, by a text with quotes") {
    CHECK(where(m, R"(of "Zoe)").find("hub/sessions/s1.json") != std::string::npos);
    const DeletionCriteria criteria{.match = R"(badge-1234 of "Zoe")"};
    REQUIRE(m[0]->delete_entries(criteria, {.purge = true}));
  }
  SUBCASE("redacted") { redact_badges(m); }
  const Result<std::vector<Leftover>> left = m[0]->find_text(kCanary);
  REQUIRE(left);
  CHECK(left->empty());
  CHECK(m[0].sync().problems.empty());
  m.settle();
  m.feed->policy.clear();
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(m[1].read("manifest.json").find("title") != std::string::npos);
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a title is forgotten also where others have changed the session meanwhile") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].clock.advance(std::chrono::seconds(5));
  REQUIRE(m[0]->update_session("s1", {.title = "about badge-1234"}));
  m.settle();
  m[1].clock.advance(std::chrono::seconds(9));
  REQUIRE(m[1]->update_session("s1", {.metadata_json = R"({"tags":["hardware"]})"}));
  m[1].sync();
  const DeletionCriteria criteria{.match = kCanary};
  REQUIRE(m[0]->delete_entries(criteria, {.purge = true}));
  m.settle();
  CHECK(where(m, kCanary) == "");
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(m[i].read("manifest.json").find("hardware") != std::string::npos);
    CHECK(m[i].read("manifest.json").find("about [forgotten]") != std::string::npos);
  }
}

TEST_CASE("a damaged file of the mirror that holds the text begins again without it") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f2");
  m.settle();
  const std::string folder = m[0].root() + "/hub/sessions/";
  std::ofstream(folder + "s1.json") << "torn { badge-1234";
  std::ofstream(folder + "s1.json.tmp") << "torn { badge-1234";
  const DeletionCriteria criteria{.match = kCanary};
  REQUIRE(m[0]->delete_entries(criteria, {.purge = true}));
  CHECK_FALSE(std::filesystem::exists(folder + "s1.json.tmp"));
  CHECK(m[0].sync().problems.empty());
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(m[1].listed() == Ids{"f2"});
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a purge reaches a line that was damaged, and set aside, elsewhere") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f10", "other");
  m.settle();
  const std::string whole = m[1].read(EntryType::kFact);
  const std::size_t end = whole.find('\n');
  m[1].write(EntryType::kFact, whole.substr(0, end - 1) + whole.substr(end));
  SUBCASE("set aside before") { REQUIRE(m[1]->repair()); }
  SUBCASE("still in its log") {}
  m[1].write("quarantine.jsonl",
             m[1].read("quarantine.jsonl") + R"({"text":"{\"id\":\"f10\""})" + "\n");
  const Ids ids = {"f1"};
  REQUIRE(m[0]->delete_entries({.ids = ids}, {.purge = true}));
  for (int round = 0; round < 3; ++round) {
    m[0].sync();
    m[1].sync();
  }
  CHECK(where(m, kCanary) == "");
  CHECK(m[1].read("quarantine.jsonl").find("f10") != std::string::npos);
}

TEST_CASE("what one machine evicts and another deletes is deleted") {
  Mirrors m(2);
  m[0].session();
  Ids ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(m[0].add_fact("f" + std::to_string(i)));
  }
  m.settle();
  REQUIRE(m[0]->compact("s1", {.keep_share = 0.5}));
  SUBCASE("before it hears of that") {}
  SUBCASE("after it has heard of that") { m.settle(); }
  REQUIRE(m[1]->delete_entries({.ids = ids}));
  m.settle();
  CHECK(m[0].listed() == Ids{});
  CHECK(m[1].listed() == Ids{});
  REQUIRE(m[1]->undelete({.ids = ids}));
  m.settle();
  CHECK(m[1].listed() == ids);
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("what was deleted on one machine stays deleted when another restores what was evicted") {
  Mirrors m(3);
  m[0].session();
  Ids ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(m[0].add_fact("f" + std::to_string(i)));
  }
  m.settle();
  REQUIRE(m[0]->compact("s1", {.keep_share = 0.5}));
  m.settle();
  REQUIRE(m[0]->delete_entries({.ids = ids}));
  REQUIRE(m[1]->restore_evicted("s1").value() > 0);
  SUBCASE("the deletion is pushed first") { m[0].sync(); }
  SUBCASE("what was restored is pushed first") { m[1].sync(); }
  m.settle();
  for (const auto& mirror : m.all) {
    CHECK(mirror->listed() == Ids{});
  }
}

TEST_CASE("undeleted, written again and evicted, the same is listed everywhere") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "old");
  m[0].add_fact("f2");
  m.settle();
  delete_fact(m[0], "f1");
  m.settle();
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "new");
  m.settle();
  REQUIRE(m[1]->compact("s1", {.keep_share = 0}));
  m.settle();
  const Ids both = {"f1", "f2"};
  CHECK(m[0].listed() == both);
  CHECK(m[1].listed() == both);
  REQUIRE(m[0]->undelete({.ids = Ids{"f1"}}));
  m.settle();
  CHECK(m[0].found("new") == Ids{"f1"});
  CHECK(m[1].found("new") == Ids{"f1"});
}

TEST_CASE("an entry whose new version stayed outlives the deletion of the old one") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "old");
  m.settle();
  delete_fact(m[0], "f1");
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "new");
  m.settle();
  const Ids ids = {"f1"};
  CHECK(m[0].found("new") == ids);
  REQUIRE(m[0]->purge_deleted(/*all=*/true));
  m.settle();
  CHECK(m[0].found("new") == ids);
  CHECK(m[1].found("new") == ids);
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "newest");
  m.settle();
  CHECK(m[0].found("newest") == ids);
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a purge reaches a session that was deleted as a whole") {
  Mirrors m(3);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f2");
  m.settle();
  const Ids ids = {"f1"};
  const Ids sessions = {"s1"};
  std::size_t who = 1;
  SUBCASE("elsewhere, and here") {
    REQUIRE(m[1]->delete_session("s1"));
    m.settle();
  }
  SUBCASE("after the entry was") {
    delete_fact(m[1], "f1");
    REQUIRE(m[1]->delete_session("s1"));
    m.settle();
  }
  SUBCASE("elsewhere, which is not known here") {
    REQUIRE(m[1]->delete_session("s1"));
    m[1].sync();
    who = 0;
  }
  SUBCASE("here, of which the hub has not heard") { REQUIRE(m[1]->delete_session("s1")); }
  SUBCASE("elsewhere, and it was brought back here") {
    REQUIRE(m[1]->delete_session("s1"));
    m.settle();
    REQUIRE(m[1]->undelete({.sessions = sessions}));
  }
  REQUIRE(m[who]->delete_entries({.ids = ids}, {.purge = true}));
  SUBCASE("elsewhere, which the hub hears of later") {
    m[0].sync();
    REQUIRE(m[2]->delete_session("s1"));
  }
  m.settle();
  CHECK(where(m, kCanary) == "");
}

TEST_CASE("the end of a deleted session empties its lines at the hub") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m.settle();
  REQUIRE(m[1]->delete_session("s1"));
  m.settle();
  SUBCASE("when its time is over") { REQUIRE(m[1]->purge_deleted(/*all=*/true)); }
  SUBCASE("when it is purged") { REQUIRE(m[1]->delete_session("s1", {.purge = true})); }
  m.settle();
  CHECK(where(m, kCanary) == "");
}

TEST_CASE("a purge in one session leaves the same id in another alone") {
  Mirrors m(2);
  m[0].session();
  m[0].session("s2");
  m[0].add_fact("f1", "goes");
  m[0].add_fact("f1", "stays", "s2");
  m.settle();
  const Ids ids = {"f1"};
  const Ids sessions = {"s1"};
  REQUIRE(m[0]->delete_entries({.ids = ids, .sessions = sessions}, {.purge = true}));
  m.settle();
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "stays, changed", "s2");
  m.settle();
  Mirror late(m.feed);
  late.sync();
  for (Mirror* mirror : {m.all[0].get(), m.all[1].get(), &late}) {
    CHECK(mirror->found("goes") == Ids{});
    CHECK(mirror->found("changed") == ids);
  }
}

TEST_CASE("a redaction outlives that a mirror begins again") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", kCanary);
  m[0].add_fact("f2");
  m.settle();
  m.feed->policy = kBadges;
  m.settle();
  REQUIRE(m[0]->redact({}, /*dry_run=*/false));
  SUBCASE("by reclone") { REQUIRE(reclone_from_hub(*m[0], m[0].hub, {})); }
  SUBCASE("by reclone of the session") {
    const Ids sessions = {"s1"};
    REQUIRE(reclone_from_hub(*m[0], m[0].hub, sessions));
  }
  SUBCASE("as it joins once more") {
    REQUIRE(leave_hub(*m[0]));
    m[0].join();
  }
  CHECK_FALSE(m[0].sync().has_new_replica);
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(m[0].listed() == Ids{"f1", "f2"});
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a redaction of the last line outlives a line that comes meanwhile") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].add_fact("f2", kCanary);
  m.settle();
  m.feed->policy = kBadges;
  m.settle();
  REQUIRE(m[0]->redact({}, /*dry_run=*/false));
  m[1].add_fact("f3");
  m[1].sync();
  CHECK(m[0].sync().problems.empty());
  m.settle();
  CHECK(where(m, kCanary) == "");
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(facts(m[0]).find("f3") > facts(m[0]).find("f2"));
}

}  // namespace bmad_mem::test::forgetting_test
