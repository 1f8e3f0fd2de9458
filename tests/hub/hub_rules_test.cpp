// What a hub asks of its machines: its rules, that they come by, a clock that is right.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/encryption.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/privacy.hpp"
#include "mirrors.hpp"

namespace bmad_mem::test::hub_rules_test {
namespace {

void set_config(Mirror& mirror, std::string_view json) {
  std::filesystem::create_directories(mirror.root());
  std::ofstream(mirror.root() + "/config.json") << R"({"memory_config":)" << json << "}";
  mirror.reopen();
}

bool is_at_hub(const Mirrors& m, std::string_view text) {
  for (const FeedRow& row : m.feed->rows) {
    if (row.line && row.line->find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("what the rules of the hub find stays at home until it is taken out") {
  Mirrors m(2);
  m.feed->policy = kBadges;
  m[0].session();
  m[0].add_fact("f1", "Ann has badge-1234");
  m[0].add_fact("f2", "Bob has none");
  SUBCASE("under usual settings") {}
  SUBCASE("when the project allows it") {
    set_config(m[0], R"({"privacy":{"allow":["rule=badge"]}})");
  }
  const SyncReport report = m[0].sync();
  CHECK(report.held == WithheldLines{.secrets = 1});
  CHECK(report.pushed_lines == 1);
  CHECK(!is_at_hub(m, "badge-1234"));
  REQUIRE(m[0]->redact({}, /*dry_run=*/false));
  CHECK(facts(m[0]).find("[REDACTED:badge]") != std::string::npos);
  CHECK(m[0].sync().pushed_lines == 1);
  m[1].sync();
  CHECK(facts(m[1]) == facts(m[0]));
  m.feed->policy.clear();
  m[0].add_fact("f3", "Cid has badge-4321");
  CHECK(m[0].sync().held.total() == 0);
  CHECK(is_at_hub(m, "badge-4321"));
}

TEST_CASE("rules of the hub that can't be read let nothing out") {
  Mirrors m(1);
  m.feed->policy = "[[rules]]\nid = 'badge'\nregex = '('\n";
  m[0].session();
  m[0].add_fact("f1", "anything");
  const SyncReport report = m[0].sync();
  REQUIRE(report.problems.size() == 1);
  CHECK(report.problems[0].path.find("policy.toml") != std::string::npos);
  CHECK(!is_at_hub(m, "anything"));
  m.feed->policy = kBadges;
  CHECK(m[0].sync().pushed_lines == 1);
}

TEST_CASE("rules of the hub allow and disable nothing, and read no other file") {
  Mirrors m(1);
  m.feed->policy =
      "[extend]\nuseDefault = true\ndisabledRules = ['github-pat']\n"
      "[allowlist]\nregexes = ['.*']\n";
  SUBCASE("it disables and allows") {}
  SUBCASE("it extends a file") { m.feed->policy = "[extend]\npath = '/etc/passwd'\n"; }
  m[0].session();
  m[0].write(
      EntryType::kFact,
      MemoryFixture::fact("f4", "the token is ghp_b8Kq2XvR7mTzYw4NcJp9HsLd3FgA6eUo1iVx") + "\n");
  const SyncReport report = m[0].sync();
  CHECK(report.problems.empty());
  CHECK(report.held == WithheldLines{.secrets = 1});
}

TEST_CASE("what stayed at home goes when the rules of the project are others") {
  Mirrors m(1);
  m[0].session();
  m[0].write(
      EntryType::kFact,
      MemoryFixture::fact("f4", "the token is ghp_b8Kq2XvR7mTzYw4NcJp9HsLd3FgA6eUo1iVx") + "\n");
  CHECK(m[0].sync().held.secrets == 1);
  set_config(m[0], R"({"privacy":{"allow":[")" +
                       allow_item("ghp_b8Kq2XvR7mTzYw4NcJp9HsLd3FgA6eUo1iVx") + R"("]}})");
  CHECK(m[0].sync().pushed_lines == 1);
}

TEST_CASE("a replica that was away for long pulls before it pushes") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1");
  m.settle();
  m.feed->now += std::chrono::days(91);
  m[0].add_fact("f2");
  const Result<SyncReport> pushed = m[0].try_sync({.pulls = false});
  CHECK(code_of(pushed) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(pushed.error().message.find("91 days") != std::string::npos);
  CHECK(m[0].sync({.pushes = false}).pushed_lines == 0);
  CHECK(m[0].sync({.pulls = false}).pushed_lines == 1);
  m.feed->now += std::chrono::days(91);
  m[1].add_fact("f3");
  CHECK(m[1].sync().pushed_lines == 1);
}

TEST_CASE("a machine whose clock is wrong is told so") {
  Mirrors m(1);
  m.feed->now = m[0].clock.now() + std::chrono::minutes(4);
  CHECK(m[0].sync().clock_skew == std::chrono::seconds(0));
  m.feed->now = m[0].clock.now() + std::chrono::minutes(6);
  CHECK(m[0].sync().clock_skew == std::chrono::minutes(-6));
  m.feed->now = m[0].clock.now() - std::chrono::hours(1);
  CHECK(m[0].sync().clock_skew == std::chrono::hours(1));
}

TEST_CASE("a secret that an editor wrote into a line that the hub has stays at home") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "old text");
  m[0].add_fact("f2");
  m.settle();
  std::string log = facts(m[0]);
  constexpr std::string_view kToken = "ghp_b8Kq2XvR7mTzYw4NcJp9HsLd3FgA6eUo1iVx";
  log.replace(log.find("old text"), 8, kToken);
  m[0].write(EntryType::kFact, log);
  const SyncReport report = m[0].sync();
  CHECK(report.held.secrets == 1);
  CHECK(report.problems.empty());
  CHECK(!is_at_hub(m, kToken));
  REQUIRE(m[0]->redact({}, /*dry_run=*/false));
  m.settle();
  CHECK(!is_at_hub(m, "old text"));
  CHECK(facts(m[1]).find("[REDACTED") != std::string::npos);
  CHECK(facts(m[1]) == facts(m[0]));
}

TEST_CASE("a secret in the title of a session stays at home") {
  Mirrors m(2);
  m.feed->policy = kBadges;
  m[0].session();
  m[0].add_fact("f1");
  REQUIRE(m[0]->update_session("s1", {.title = "The badge-1234 of Ann"}));
  CHECK(m[0].sync().held.secrets == 1);
  CHECK(m[0].sync().pushed_operations == 0);
  CHECK(!is_at_hub(m, "badge-1234"));
  m[1].sync();
  CHECK(facts(m[1]) == facts(m[0]));
  REQUIRE(m[0]->update_session("s1", {.title = "The badges"}));
  m.settle();
  CHECK(m[1]->load_session("s1")->title == "The badges");
  REQUIRE(m[0]->update_session("s1", {.title = "Also badge-4321"}));
  m.settle();
  CHECK(!is_at_hub(m, "badge-4321"));
  CHECK(m[0]->load_session("s1")->title == "Also badge-4321");
}

TEST_CASE("a session that one machine encrypts goes on at the others") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "one");
  m[0].add_fact("f2", "two");
  m.settle();
  const std::string clear = facts(m[0]);
  REQUIRE(m[0].reopen(
      {.encryption_key = {
           .key =
               std::string("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")}}));
  REQUIRE(m[0]->encrypt({.sessions = {"s1"}}));
  REQUIRE(facts(m[0]) != clear);
  m[1].add_fact("f3", "three");
  m[1].sync();
  CHECK(m[0].sync().held.encrypted == 2);
  m.settle();
  CHECK(m[0].sync().problems.empty());
  for (const auto& mirror : m.all) {
    CHECK(mirror->listed() == std::vector<std::string>{"f1", "f2", "f3"});
  }
  CHECK(facts(m[1]).starts_with(clear));
  CHECK(is_at_hub(m, "two"));
  REQUIRE(m[0]->encrypt({.step = EncryptStep::kOff}));
  m.settle();
  CHECK(facts(m[0]).starts_with(clear));
  CHECK(facts(m[0]) == facts(m[1]));
  CHECK(m[0].sync().held.encrypted == 0);
}

TEST_CASE("who may not forget pushes all else, and is told what waits") {
  Mirrors m(1);
  m[0].session();
  m[0].add_fact("f1");
  m[0].add_fact("f2");
  m[0].sync();
  m[0].hub.rights = "write";
  REQUIRE(m[0]->delete_entries({.ids = {"f1"}}, {.purge = true}).has_value());
  m[0].add_fact("f3");
  const SyncReport report = m[0].sync();
  CHECK(report.pushed_lines == 1);
  CHECK(report.problems.empty());  // The end of each deletion would make every sync fail.
  CHECK(report.rights == "write");
  CHECK(report.waiting_lines == 0);
  CHECK(report.waiting_operations == 1);
  const SyncReport look = m[0].sync({.dry_run = true});
  CHECK(look.pushed_operations == 0);
  CHECK(look.waiting_operations == 1);
  m[0].hub.rights = "forget";
  const SyncReport after = m[0].sync();
  CHECK(after.pushed_operations == 1);
  CHECK(after.waiting_operations == 0);
  m[0].hub.rights = "read";
  m[0].add_fact("f4");
  for (int i = 0; i < 2; ++i) {
    const SyncReport read = m[0].sync();
    CHECK(read.pushed_lines == 0);
    CHECK(read.waiting_lines == 1);
    CHECK(m[0].sync({.dry_run = true}).waiting_lines == 1);
    CHECK(m[0].sync({.dry_run = true}).pushed_lines == 0);
  }
  m[0].hub.rights = "write";
  CHECK(m[0].sync().pushed_lines == 1);
}

TEST_CASE("who may only read changes no log to push one") {
  Mirrors m(2);
  m[0].session();
  m[0].add_fact("f1", "first");
  m.settle();
  m[0].clock.advance(std::chrono::seconds(10));
  m[1].clock.advance(std::chrono::seconds(5));
  m[0].add(EntryType::kFact, R"({"id":"f1","content":"newest"})");
  m[1].add(EntryType::kFact, R"({"id":"f1","content":"older"})");
  m[0].sync();
  m[1].hub.rights = "read";
  m[1].sync();
  const std::string before = facts(m[1]);
  const SyncReport report = m[1].sync();
  CHECK(report.waiting_lines == 2);  // Ours, and theirs once more, so that it leads.
  CHECK(report.conflicts.empty());
  CHECK(facts(m[1]) == before);
}

}  // namespace bmad_mem::test::hub_rules_test
