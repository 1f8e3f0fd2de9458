// What a user of several machines gets: default settings, a hub in memory.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "mirrors.hpp"

namespace bmad_mem::test::sync_test {
namespace {

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("what one machine wrote is on the other, byte for byte") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "the canteen closes at two");
  const SyncReport pushed = m[0].sync();
  CHECK(pushed.pushed_lines == 1);
  CHECK(pushed.cursor == pushed.head);
  const SyncReport pulled = m[1].sync();
  CHECK(pulled.pulled_lines == 1);
  CHECK(facts(m[1]) == facts(m[0]));
  CHECK(m[1].found("canteen") == Ids{"f1"});
  CHECK(m[1].read("manifest.json").find("\"session_id\": \"s1\"") != std::string::npos);
}

TEST_CASE("a sync with nothing to do changes nothing") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const auto before = m[0].files();
  const SyncReport report = m[0].sync();
  CHECK(report.pushed_lines + report.pulled_lines + report.pushed_operations == 0);
  CHECK(m[0].files() == before);
}

TEST_CASE("many sessions come at once, and are found") {
  constexpr std::size_t kSessions = 20;
  Mirrors m(2);
  const auto content = [](std::size_t i) { return "the canteen of house " + std::to_string(i); };
  for (std::size_t i = 0; i < kSessions; ++i) {
    const std::string session = "many" + std::to_string(i);
    REQUIRE(m[0]->create_session({.session_id = session}));
    REQUIRE(m[0]->add_fact(session, {.content = content(i)}));
    REQUIRE(m[0]->add_event(session, {.kind = "visit"}));
  }
  m[0].sync();
  CHECK(m[1].sync().pulled_lines == 2 * kSessions);
  CHECK(m[1].found("canteen").size() == kSessions);
  CHECK(m[1].sync().pulled_lines == 0);
}

TEST_CASE("two machines that wrote to one session have one order") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  m[0].add_fact("a1");
  m[0].add_fact("a2");
  m[1].add_fact("b1");
  m[1].add_fact("b2");
  m[0].sync();
  m[1].sync();
  m[0].sync();
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(m[0].listed() == Ids{"a1", "a2", "b1", "b2", "f1"});
  CHECK(facts(m[0]).find("b1") > facts(m[0]).find("a2"));
}

TEST_CASE("a deletion is one everywhere, and so is bringing back") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].add_fact("f2");
  m.settle();
  delete_fact(m[0], "f1");
  m.settle();
  CHECK(m[1].listed() == Ids{"f2"});
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(m[1]->deletions().value().size() == 1);
  const Ids ids = {"f1"};
  REQUIRE(m[0]->undelete({.ids = ids}));
  m.settle();
  CHECK(m[1].listed() == Ids{"f1", "f2"});
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("an entry that one machine deletes and the other changes stays, in its new version") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "old");
  m.settle();
  delete_fact(m[0], "f1");
  m[1].clock.advance(std::chrono::seconds(5));
  m[1].add_fact("f1", "new");
  m[0].sync();
  m[1].sync();
  m[0].sync();
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(m[0].found("new") == Ids{"f1"});
  CHECK(facts(m[0]).find("old") == std::string::npos);
}

TEST_CASE("an entry that two machines changed is named, whichever is newer") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "first");
  m.settle();
  m[0].clock.advance(std::chrono::seconds(5));
  m[1].clock.advance(std::chrono::seconds(10));
  m[0].add_fact("f1", "older");
  m[1].add_fact("f1", "newest");
  m[0].sync();
  CHECK(m[1].sync().conflicts == Ids{"f1"});
  m.settle();
  m[0].clock.advance(std::chrono::seconds(10));
  m[0].add_fact("f1", "one after the other");
  m[0].sync();
  CHECK(m[1].sync().conflicts == Ids{});
}

TEST_CASE("what is purged is purged everywhere, and nobody brings it again") {
  Mirrors m(3);
  m[0].session();
  m[0].add_fact("f1", "canary");
  m[0].add_fact("f2");
  m.settle();
  m[2].add_fact("f3");
  delete_fact(m[1], "f1", /*purge=*/true);
  m.settle();
  for (const auto& mirror : m.all) {
    for (const auto& [name, bytes] : mirror->files()) {
      INFO(name);
      CHECK(bytes.find("canary") == std::string::npos);
    }
    CHECK(mirror->listed() == Ids{"f2", "f3"});
  }
  CHECK(facts(m[0]) == facts(m[2]));
  for (const FeedRow& row : m.feed->rows) {
    CHECK(row.line.value_or("").find("canary") == std::string::npos);
  }
}

TEST_CASE("a machine that was away can't bring back what was purged meanwhile") {
  Mirrors m(2);
  m[0].session();
  m[0].sync();
  Mirror late(m.feed);
  late.sync();
  m[0].add_fact("f1", "canary");
  m.settle();
  m[1].add_fact("f1", "canary again");  // A newer version, never pushed.
  delete_fact(m[0], "f1", /*purge=*/true);
  m[0].sync();
  m[1].sync();
  CHECK(m[1].listed().empty());
  late.add_fact("f1", "canary of a copy");
  const SyncReport report = late.sync({.pulls = false});
  CHECK(report.refused == 1);
  CHECK(late.listed().empty());
}

TEST_CASE("compaction of one machine is that of all") {
  Mirrors m(2);
  m[0].session();
  for (int i = 0; i < 20; ++i) {
    m[0].add_fact("f" + std::to_string(i));
  }
  m.settle();
  REQUIRE(m[0]->compact("s1", {.keep_share = 0.5}));
  m.settle();
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(std::ranges::count(facts(m[1]), '\n') < 20);
  CHECK(m[1].listed().size() == 20);  // Evicted ones are listed, too.
}

TEST_CASE("a redaction replaces the line everywhere") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "mail x");
  m[0].add_fact("f2");
  m.settle();
  std::string log = facts(m[0]);
  log.replace(log.find("mail x"), 6, "a@example.org");
  m[0].write(EntryType::kFact, log);
  const SyncReport waits = m[0].sync();
  CHECK(waits.problems.empty());  // An edit of a line, in its place.
  m[1].sync();
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("an answer that was lost is found again, and nothing is there twice") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].hub.fault = [] { return PushFault::kAnswer; };
  CHECK(code_of(m[0].try_sync()) == ErrorCode::E_HUB_AWAY);
  m[0].add_fact("f2");
  m[0].hub.fault = [] { return PushFault::kBefore; };
  CHECK(code_of(m[0].try_sync()) == ErrorCode::E_HUB_AWAY);
  m[0].hub.fault = {};
  const SyncReport report = m[0].sync();
  CHECK_FALSE(report.has_new_replica);
  CHECK(report.pushed_lines == 1);
  m[1].sync();
  CHECK(m[1].listed() == Ids{"f1", "f2"});
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("sensitive lines, local sessions and secrets stay at home") {
  Mirrors m(2);
  m[0].session();
  m[0].add(EntryType::kFact, R"({"id":"f1","content":"x","sensitive":true})");
  m[0].add_fact("f2");
  m[0].session("s2");
  REQUIRE(m[0]->update_session("s2", {.metadata_json = R"({"local":true})"}));
  m[0].add_fact("f3", "x", "s2");
  m[0].write(EntryType::kFact,
             facts(m[0]) + MemoryFixture::fact("f4", "ghp_abcdefghijklmnopqrstuvwxyz0123456789") +
                 "\n{damaged\n");
  const SyncReport report = m[0].sync();
  CHECK(report.held == WithheldLines{.sensitive = 1, .local = 1, .secrets = 1, .damaged = 1});
  m[1].sync();
  CHECK(m[1].listed() == Ids{"f2"});
  CHECK(m[0].sync().pushed_lines == 0);
  m[1].add_fact("g1");
  m.settle();
  CHECK(m[0].listed().size() == 5);
  CHECK(facts(m[0]).find("damaged") != std::string::npos);
}

TEST_CASE("a secret in a log that was written without redaction stays at home as well") {
  Mirrors m(1);
  std::filesystem::create_directories(m[0].root());
  {
    std::ofstream config(m[0].root() + "/config.json");
    config << R"({"memory_config":{"privacy":{"auto_redaction":false}}})";
  }
  m[0].reopen();
  m[0].session();
  m[0].add_fact("f1", "the token is ghp_b8Kq2XvR7mTzYw4NcJp9HsLd3FgA6eUo1iVx");
  REQUIRE(facts(m[0]).find("ghp_b8Kq") != std::string::npos);
  CHECK(m[0].sync().held.secrets == 1);
  for (const FeedRow& row : m.feed->rows) {
    CHECK(row.line.value_or("").find("ghp_b8Kq") == std::string::npos);
  }
}

/// Both have changed an entry; only the first has said so.
Mirrors with_two_versions() {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "first");
  m.settle();
  m[0].clock.advance(std::chrono::seconds(10));
  m[1].clock.advance(std::chrono::seconds(5));
  m[0].add(EntryType::kFact, R"({"id":"f1","content":"newest"})");
  m[1].add(EntryType::kFact, R"({"id":"f1","content":"older"})");
  m[0].sync();
  return m;
}

TEST_CASE("of two versions of one entry the newer leads everywhere") {
  Mirrors m = with_two_versions();
  const SyncReport report = m[1].sync();
  CHECK(report.conflicts == Ids{"f1"});
  m.settle();
  CHECK(facts(m[0]) == facts(m[1]));
  for (const auto& mirror : m.all) {
    CHECK(mirror->found("newest") == Ids{"f1"});
    CHECK((*mirror)->history("f1").value().size() == 4);
  }
}

TEST_CASE("the newer version is said again once, however often the push fails") {
  Mirrors m = with_two_versions();
  m[1].sync({.pushes = false});
  const std::string pulled = facts(m[1]);
  CHECK(m[1].sync({.dry_run = true}).conflicts == Ids{"f1"});
  CHECK(facts(m[1]) == pulled);
  m[1].hub.fault = [] { return PushFault::kBefore; };
  for (int i = 0; i < 3; ++i) {
    CHECK(code_of(m[1].try_sync()) == ErrorCode::E_HUB_AWAY);
  }
  m[1].hub.fault = {};
  m.settle();
  CHECK(std::ranges::count(facts(m[1]), '\n') == 4);
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("long lines are pushed in batches that the hub takes") {
  Mirrors m(2);
  m[0].session();
  for (int i = 0; i < 9; ++i) {
    m[0].add_fact("f" + std::to_string(i), std::string(900U << 10U, 'x'));
  }
  CHECK(m[0].sync().pushed_lines == 9);
  m[1].sync();
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a dry run says what stays here each time") {
  Mirrors m(1);
  m[0].session();
  m[0].add(EntryType::kFact, R"({"id":"f1","content":"x","sensitive":true})");
  m[0].sync();
  CHECK(m[0].sync({.dry_run = true}).held.sensitive == 1);
}

TEST_CASE("a copied root becomes a replica of its own, and nothing is there twice") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1");
  m[0].sync();
  m[0].add_fact("f2");  // Not pushed yet.
  Mirror copy(m.feed, /*joins=*/false);
  std::filesystem::remove_all(copy.root());
  std::filesystem::copy(m[0].root(), copy.root(), std::filesystem::copy_options::recursive);
  copy.reopen();
  const std::string replica = mirror_report(*copy).value().replica;
  REQUIRE(copy.hub.add_replica(replica, "copy"));
  copy.add_fact("c1");
  copy.sync();
  m[0].add_fact("f3");
  const SyncReport report = m[0].sync();
  CHECK(report.has_new_replica);
  copy.sync();
  CHECK(facts(m[0]) == facts(copy));
  CHECK(m[0].listed() == Ids{"c1", "f1", "f2", "f3"});
  CHECK(m.feed->replicas.size() == 2);
}

TEST_CASE("a line that somebody cut out of a log makes its session wait") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m[0].add_fact("f2");
  m.settle();
  m[0].write(EntryType::kFact, MemoryFixture::fact("f2") + "\n");
  m[0].session("s2");
  m[0].add_fact("g1", "x", "s2");
  const SyncReport report = m[0].sync();
  REQUIRE(report.problems.size() == 1);
  CHECK(report.problems[0].message.find("hub reclone s1") != std::string::npos);
  m[1].sync();
  CHECK(m[1].listed() == Ids{"f1", "f2", "g1"});
  const Ids sessions = {"s1"};
  REQUIRE(reclone_from_hub(*m[0], m[0].hub, sessions));
  CHECK(m[0].sync().problems.empty());
  CHECK(facts(m[0]) == facts(m[1]));
}

TEST_CASE("a row that can't be applied is skipped, and named with its role") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const FeedRow good{.seq = 0,
                     .replica = "evil",
                     .op = FeedOp::kLine,
                     .session_id = "s1",
                     .log = EntryType::kFact,
                     .entry_id = "f9",
                     .line = MemoryFixture::fact("f9"),
                     .who = "eve"};
  std::vector<FeedRow> rows(12, good);
  rows[0].session_id = "../../etc";
  rows[1].line = "{}";
  rows[2].line = std::string(2U << 20U, 'x');
  rows[3].line = MemoryFixture::fact("f8");
  rows[4].line = MemoryFixture::fact("f9") + "\n" + MemoryFixture::fact("f9");
  rows[5].log = static_cast<EntryType>(77);
  rows[6].op = static_cast<FeedOp>(7);
  rows[7].op = FeedOp::kRedact;  // Of no row: it would be the first line that is new here.
  rows[8].op = FeedOp::kDelete;
  rows[8].target = 77;
  rows[9].op = FeedOp::kPurge;
  rows[9].entry_id = "";
  rows[10].op = FeedOp::kManifest;
  rows[11].op = FeedOp::kManifest;
  rows[11].line = R"({"session_id":"s2","created_at":"2026-01-11T10:00:00Z"})";
  m[1].add_fact("own");
  const std::string before = facts(m[1]);
  for (FeedRow& row : rows) {
    row.seq = m.feed->rows.size() + 1;
    m.feed->rows.push_back(row);
    const SyncReport report = m[1].sync({.pushes = false});
    CHECK(report.cursor == row.seq);
    CHECK(facts(m[1]) == before);
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped[0].seq == row.seq);
    CHECK(report.skipped[0].who == "eve");
    CHECK(!report.skipped[0].why.empty());
  }
  CHECK(m[1].sync().skipped.empty());
  CHECK(skipped_rows(m[1].hub).value().size() == rows.size());
}

TEST_CASE("what is behind rows that can't be applied is, by old and new mirrors, and they can go") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const auto spoil = [&] {
    m.feed->rows.push_back({.seq = m.feed->rows.size() + 1,
                            .replica = "evil",
                            .session_id = "s1",
                            .entry_id = "f9",
                            .line = "garbage"});
  };
  spoil();
  m[0].add_fact("f2");
  m[0].sync();
  spoil();
  m.settle();
  CHECK(facts(m[1]) == facts(m[0]));
  Mirror late(m.feed);
  CHECK(late.sync().skipped.size() == 2);
  CHECK(facts(late) == facts(m[0]));
  const std::vector<std::string> sessions = {"s1"};
  CHECK(reclone_from_hub(*m[1], m[1].hub, sessions));
  CHECK(reclone_from_hub(*m[1], m[1].hub, {}));
  CHECK(m[1].sync().skipped.size() == 2);
  CHECK(facts(m[1]) == facts(m[0]));

  const std::vector<SkippedRow> skipped = skipped_rows(late.hub).value();
  REQUIRE(skipped.size() == 2);
  CHECK(code_of(drop_skipped_row(late.hub, 1)) == ErrorCode::E_INVALID_FORMAT);
  for (const SkippedRow& row : skipped) {
    REQUIRE(drop_skipped_row(late.hub, row.seq));
  }
  CHECK(code_of(drop_skipped_row(late.hub, skipped[0].seq)) == ErrorCode::E_SESSION_NOT_FOUND);
  m[1].add_fact("f3");
  m.settle();
  CHECK(late.sync().skipped.empty());
  CHECK(facts(late) == facts(m[0]));
}

TEST_CASE("a hub whose rows don't rise, or are of another session, is refused") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  const std::vector<std::string> sessions = {"s1"};
  const FeedRow first = m.feed->rows.front();
  m[1].hub.distort = [&](std::vector<FeedRow>& rows) { rows = {first, first}; };
  CHECK(code_of(skipped_rows(m[1].hub)) == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(code_of(reclone_from_hub(*m[1], m[1].hub, sessions)) == ErrorCode::E_STORAGE_CORRUPT);
  m[1].hub.distort = [&](std::vector<FeedRow>& rows) {
    for (FeedRow& row : rows) {
      row.session_id = "s2";
    }
  };
  CHECK(code_of(reclone_from_hub(*m[1], m[1].hub, sessions)) == ErrorCode::E_STORAGE_CORRUPT);
  m[1].hub.distort = nullptr;
  REQUIRE(reclone_from_hub(*m[1], m[1].hub, sessions));
  CHECK(facts(m[1]) == facts(m[0]));
}

TEST_CASE("a hub that answers with rows that it was not asked for changes nothing") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1");
  m[0].add_fact("f2");
  m.settle();
  const std::string before = facts(m[0]);
  m[0].write(EntryType::kFact, before.substr(before.find('\n') + 1));  // By hand: f1 is missing.
  FeedRow stranger = m.feed->rows.back();
  stranger.seq += 1000;
  stranger.log = EntryType::kArtifact;
  int calls = 0;
  m[0].hub.distort = [&](std::vector<FeedRow>& rows) {
    ++calls;
    rows.push_back(stranger);
  };
  CHECK(m[0].try_sync({.pulls = false}));
  CHECK(calls == 1);
  CHECK(facts(m[0]).find("f2") != std::string::npos);
}

TEST_CASE("a dry run says what would be pushed, and does nothing") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1");
  const SyncReport report = m[0].sync({.dry_run = true});
  CHECK(report.pushed_lines == 1);
  CHECK(m.feed->rows.empty());
  CHECK(m[0].sync().pushed_lines == 1);
}

TEST_CASE("a memory without a hub says how to join one, and joins once") {
  Mirrors m(1);
  Mirror alone(m.feed, /*joins=*/false);
  CHECK(alone.try_sync().error().message.find("hub join") != std::string::npos);
  alone.join();
  CHECK(code_of(join_hub(*alone, alone.hub, {.service = "team", .project = "shop"})) ==
        ErrorCode::E_CONCURRENT_MOD);
  REQUIRE(leave_hub(*alone));
  CHECK(code_of(mirror_report(*alone)) == ErrorCode::E_HUB_NOT_FOUND);
  CHECK(code_of(leave_hub(*alone)) == ErrorCode::E_HUB_NOT_FOUND);
  CHECK(code_of(alone.try_sync()) == ErrorCode::E_HUB_NOT_FOUND);
}

}  // namespace bmad_mem::test::sync_test
