// distilling_test.cpp - decisions, and answers that the user cited, outlive the talk they are in.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "lifecycle/maintenance.hpp"
#include "store/evicted_file.hpp"
#include "store/sessions.hpp"
#include "support/lifecycle_store.hpp"
#include "support/memory_fixture.hpp"
#include "support/trusted_memory.hpp"

namespace bmad_mem::test::distilling_test {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr std::string_view kOld = "2026-01-10T09:00:00Z";
constexpr std::string_view kDecision = "We decided to keep the ledger in PostgreSQL.";
constexpr std::string_view kAnswer =
    "The token bucket refills with one hundred requests every second for each client.";
constexpr std::string_view kCitation =
    "You said the token bucket refills with one hundred requests every second; for admins too?";

std::string message(std::string_view id, std::string_view role, std::string_view content,
                    std::string_view more = {}) {
  JsonWriter json;
  json.begin_object().member("id", id).member("timestamp", kOld).member("role", role);
  json.member("content", content).end_object();
  std::string line = json.take();
  line.insert(line.size() - 1, more);
  return line;
}

/// Its session is archived by nobody.
struct Chat : MemoryFixture {
  explicit Chat(std::string_view settings = {}) {
    folder.write(
        "memory/config.json",
        fmt::format(R"({{"memory_config":{{"lifecycle":{{"archive_after_idle_days":0}}{}}}}})",
                    settings));
    reopen();
    session();
    say("title", "user",
        "Hello boats, hello harbour");  // What titles the session is never evicted.
    say("long", "assistant", std::string(3000, 'x'));
  }

  void say(std::string_view id, std::string_view role, std::string_view content,
           std::string_view more = {}) {
    add(EntryType::kConversation, message(id, role, content, more));
  }

  CompactionReport evict_all(bool dry_run = false) {
    return (*this)->compact("s1", {.dry_run = dry_run, .keep_share = 0}).value();
  }

  /// Beyond the days of messages, of a clock that the next maintenance trusts.
  void get_old() {
    clock.advance(days(200));
    CHECK_FALSE((*this)->maintain().value().held_back.empty());
    clock.advance(hours(25));
  }

  MaintenanceReport retire(bool dry_run = false) {
    return (*this)->maintain({.dry_run = dry_run}).value();
  }

  [[nodiscard]] std::string told(std::string_view task) {
    return Knowledge(**this).context({.task = std::string(task)}).value().markdown;
  }

  /// What is in the log of facts: each content.
  [[nodiscard]] std::vector<std::string> statements() const {
    std::vector<std::string> texts;
    JsonParser parser;
    const std::string log = read(EntryType::kFact);
    for (std::string_view rest = log; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      texts.emplace_back(parser.parse(line).value()["content"].string());
    }
    return texts;
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a decision in talk that is evicted is kept as one statement, and told") {
  Chat chat;
  chat.say("m1", "user", fmt::format("Fine. {} Thanks for the comparison.", kDecision));
  for (int i = 0; i < 5; ++i) {
    chat.say(fmt::format("m-{}", i), "assistant", fmt::format("Step {} of the work is done.", i));
  }
  const CompactionReport planned = chat.evict_all(/*dry_run=*/true);
  CHECK(planned.statements == 1);
  CHECK(chat.statements().empty());
  const CompactionReport report = chat.evict_all();
  CHECK(report.evicted == 7);
  CHECK(report.statements == 1);
  CHECK(report.entries_after == 2);
  REQUIRE(chat.statements() == Texts{std::string(kDecision)});
  JsonParser parser;
  const std::string log = chat.read(EntryType::kFact);
  const JsonValue fact = parser.parse(log).value();
  CHECK(fact["timestamp"].string() == kOld);
  CHECK(fact["category"].string() == "decision");
  CHECK(fact["review"].string() == "candidate");
  CHECK(fact["source"]["kind"].string() == "user");
  CHECK(log.contains(R"("learned_from":["s1"])"));
  CHECK(log.contains(R"("references":{"messages":["m1"]})"));
  const std::string told = chat.told("Where do we keep the ledger?");
  CHECK(told.contains("Not accepted"));
  CHECK(told.contains(kDecision));
  SUBCASE("once, however often it is evicted") {
    CHECK(chat->restore_evicted("s1").value() == 7);
    CHECK(chat.evict_all().statements == 0);
    CHECK(chat->restore_evicted("s1").value() == 8);
    CHECK(chat.read(EntryType::kFact) == log);
  }
  SUBCASE("beside its message only one of them is told") {
    REQUIRE(chat->restore_evicted("s1").value() == 7);
    const std::string both = chat.told("Where do we keep the ledger?");
    CHECK(both.contains("Thanks for the comparison"));
    CHECK_FALSE(both.contains("Not accepted"));
  }
}

TEST_CASE("a decision that is an entry is kept, and what an agent decides in its words") {
  Chat chat;
  chat.say("m1", "assistant",
           "We agreed on cursors for the pages of the list. I prefer short names.");
  chat.add(
      EntryType::kDecision,
      R"({"id":"d1","made_by":"MARS","decision":"Use Redis for the queue","rationale":"it is there"})");
  CHECK(chat.evict_all().statements == 2);
  CHECK(chat.statements() == Texts{"Use Redis for the queue. Because: it is there",
                                   "We agreed on cursors for the pages of the list."});
  CHECK(chat.read(EntryType::kFact).contains(R"("references":{"decisions":["d1"]})"));
  CHECK(chat.told("Which queue is it?").contains("Use Redis"));
}

TEST_CASE("of an answer that the user corrects the correction is kept") {
  constexpr std::string_view kCorrection =
      "No, the staging server of the team listens on port 8443 for all of us.";
  Chat chat;
  chat.say("m1", "assistant", "The staging server of the team listens on port 8080 for all of us.");
  chat.say("m2", "user", kCorrection);
  CHECK(chat.evict_all().statements == 1);
  CHECK(chat.statements() == Texts{std::string(kCorrection)});
}

TEST_CASE("an answer is kept when the user cites it") {
  struct Row {
    const char* name;
    std::string_view answer;
    std::string_view later;
    std::string_view later_role;
    std::size_t kept;
  };
  static constexpr Row kRows[] = {
      {"cited", kAnswer, kCitation, "user", 1},
      {"not cited", kAnswer, "What of the admins, and who pays for them?", "user", 0},
      {"one phrase of it", kAnswer, "Is every second for each client too much?", "user", 0},
      {"repeated by an agent", kAnswer, kCitation, "assistant", 0},
      {"with another value", "The staging server of the team listens on port 8080 for all of us.",
       "Is it so that the staging server of the team listens on port 8443?", "user", 0},
      {"with its value, asked for",
       "The staging server of the team listens on port 8080 for all of us.",
       "Is it so that the staging server of the team listens on port 8080?", "user", 1},
      {"with its value", "The staging server of the team listens on port 8080 for all of us.",
       "The staging server of the team listens on port 8080, is that right?", "user", 1},
      {"a question", "Shall the token bucket refill with one hundred requests every second?",
       "The token bucket shall refill with one hundred requests every second.", "user", 0},
      {"in Chinese", "令牌桶每秒为每个客户端补充一百个请求，管理员没有限制。",
       "你说令牌桶每秒为每个客户端补充一百个请求，对吗？", "user", 1},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.name));
    Chat chat;
    chat.say("m1", "assistant", fmt::format("Let me see.\n\n{}", row.answer));
    chat.say("m2", row.later_role, row.later);
    CHECK(chat.evict_all().statements == row.kept);
    CHECK(chat.statements() == Texts(row.kept, std::string(row.answer)));
    CHECK(chat.told(row.answer).contains(row.answer) == (row.kept == 1));
  }
}

TEST_CASE("words that the user had said before are no citation of an answer") {
  Chat chat;
  chat.say("m0", "user", "The token bucket refills with one hundred requests every second.");
  chat.say("m1", "assistant", fmt::format("Yes. {}", kAnswer));
  chat.say("m2", "user", kCitation);
  CHECK(chat.evict_all().statements == 0);
}

TEST_CASE("talk that somebody keeps out leaves nothing") {
  struct Row {
    const char* name;
    std::string_view more;
    std::string_view content;
  };
  static constexpr Row kRows[] = {
      {"sensitive", R"(,"sensitive":true)", kDecision},
      {"with an end of its own", R"(,"expires_at":"2199-01-01T00:00:00Z")", kDecision},
      {"replaced", R"(,"links":{"superseded_by":["m2"]})", kDecision},
      {"redacted", "", "We decided to use the key [REDACTED:github-pat] for the ledger."},
      {"asked", "", "Have we decided to keep the ledger in PostgreSQL?"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    Chat chat;
    chat.say("m1", "user", row.content, row.more);
    const CompactionReport report = chat.evict_all();
    CHECK(report.evicted == 2);
    CHECK(report.statements == 0);
  }
  SUBCASE("the config says not to look into messages") {
    Chat chat(R"(,"knowledge":{"detect_preferences":false})");
    chat.say("m1", "user", kDecision);
    CHECK(chat.evict_all().statements == 0);
  }
  SUBCASE("a later version says something else") {
    Chat chat;
    chat.say("m1", "user", kDecision);
    chat.say("m1", "user", "Never mind the ledger.");
    CHECK(chat.evict_all().statements == 0);
  }
}

TEST_CASE("what a person deletes, drops or forgets does not come back") {
  Chat chat;
  chat.say("m1", "user", kDecision);
  REQUIRE(chat.evict_all().statements == 1);
  const std::string id = chat->list({.types = {EntryType::kFact}}).value().front().id;
  REQUIRE(chat->restore_evicted("s1").value() == 2);
  SUBCASE("deleted") { CHECK(chat->delete_entries({.ids = {id}}).value().entries == 1); }
  SUBCASE("purged") {
    CHECK(chat->delete_entries({.ids = {id}}, {.purge = true}).value().entries == 1);
  }
  SUBCASE("dropped") { CHECK(Knowledge(*chat).review({&id, 1}, Review::kDropped).has_value()); }
  CHECK(chat.evict_all().statements == 0);
  CHECK_FALSE(chat.told("Where do we keep the ledger?").contains(kDecision));
}

TEST_CASE("a message that is deleted, purged or past its end leaves no statement") {
  Chat chat;
  chat.say("m1", "user", kDecision);
  chat.say("m2", "user", "We agreed on tabs.", R"(,"expires_at":"2026-03-01T00:00:00Z")");
  SUBCASE("deleted") { CHECK(chat->delete_entries({.ids = {"m1"}}).value().entries == 1); }
  SUBCASE("purged") {
    CHECK(chat->delete_entries({.ids = {"m1"}}, {.purge = true}).value().entries == 1);
  }
  CHECK(chat.evict_all().statements == 0);
  chat.get_old();
  static_cast<void>(chat.retire());
  CHECK(chat.statements().empty());
}

TEST_CASE("a candidate is purged with what it is from, wherever they are") {
  Chat chat;
  chat.say("m1", "user", kDecision);
  REQUIRE(chat.evict_all().statements == 1);
  SUBCASE("stated in the log") {}
  SUBCASE("both evicted") { REQUIRE(chat.evict_all().evicted == 1); }
  SUBCASE("deleted") { CHECK(chat->delete_entries({.types = {EntryType::kFact}}).has_value()); }
  SUBCASE("archived") { chat->archive_session("s1").value(); }
  CHECK(chat->delete_entries({.ids = {"m1"}}, {.purge = true}).has_value());
  CHECK(chat->find_text("the ledger in").value().empty());
}

TEST_CASE("two clones write the same line, whatever was asked for in either") {
  Chat here;
  Chat there;
  for (Chat* chat : {&here, &there}) {
    chat->say("m1", "user", kDecision);
    chat->say("m2", "assistant", kAnswer);
    chat->say("m3", "user", kCitation);
  }
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(here.found("ledger").empty());
  }
  here.reopen();  // Writes what was noted.
  there.clock.advance(hours(5));
  CHECK(here.evict_all().statements == 2);
  CHECK(there.evict_all().statements == 2);
  CHECK(here.read(EntryType::kFact) == there.read(EntryType::kFact));

  // The candidate that is found while the message is there is the same line.
  Chat third;
  third.say("m1", "user", kDecision);
  CHECK(Knowledge(*third).extract({.session_id = "s1", .use_rules = true}).value().learned.size() ==
        1);
  const std::string line = third.read(EntryType::kFact);
  CHECK(here.read(EntryType::kFact).starts_with(line));
}

TEST_CASE("the statements of a compaction take at most three quarters of what it frees") {
  Chat chat;
  for (int i = 0; i < 40; ++i) {
    chat.say(fmt::format("m{}", i), "user", fmt::format("We decided to use v{}.", i));
  }
  const std::size_t before = chat.read(EntryType::kConversation).size();
  const CompactionReport report = chat.evict_all();
  CHECK(report.evicted == 41);
  CHECK(report.statements > 10);
  CHECK(report.statements < 40);
  CHECK(chat.read(EntryType::kFact).size() <= before / 4 * 3);
  CHECK(report.bytes_after < report.bytes_before);
}

TEST_CASE("a statement is by whoever said it") {
  const TrustedMemory memory;
  const std::string session = memory.open().create_session({.session_id = "s1"}).value();
  const auto say = [&](Origin origin, std::string_view id, std::string_view content) {
    MemoryManager writer = memory.open(origin);
    const std::string line = message(id, "user", content);
    const std::string_view lines[] = {line};
    REQUIRE(writer.add_batch(session, EntryType::kConversation, lines).has_value());
  };
  say(Origin::kPerson, "title", "Hello boats, hello harbour");
  say(Origin::kPerson, "long", std::string(3000, 'x'));
  say(Origin::kPerson, "m1", kDecision);
  say(Origin::kAgent, "m2", "We agreed on tabs for the code.");
  MemoryManager owner = memory.open(Origin::kAgent);
  REQUIRE(owner.compact(session, {.keep_share = 0}).value().statements == 2);
  const std::vector<KnowledgeItem> items =
      Knowledge(owner).recall({.candidates = true, .stored_only = true}).value();
  for (const KnowledgeItem& item : items) {
    CHECK(item.review == Review::kCandidate);
    CHECK(item.origin == (item.value == kDecision ? Origin::kPerson : Origin::kAgent));
  }
}

TEST_CASE("retention keeps the decisions of what goes") {
  Chat chat;
  chat.say("m1", "user", kDecision);
  chat.say("m2", "assistant", "The tests are green.");
  std::string place = "log";
  SUBCASE("from the log") {}
  SUBCASE("from what was evicted before there were statements") {
    place = "evicted";
    REQUIRE(chat.evict_all().statements == 1);
    REQUIRE(chat->delete_entries({.types = {EntryType::kFact}}, {.purge = true}).has_value());
    std::filesystem::remove_all(chat.root() + "/deleted");
  }
  SUBCASE("from the archive, of which nothing else is left") {
    place = "archive";
    chat->archive_session("s1").value();
  }
  chat.get_old();
  const MaintenanceReport planned = chat.retire(/*dry_run=*/true);
  REQUIRE_FALSE(planned.done.empty());
  CHECK(planned.done[0].what.ends_with("; 1 statement kept"));
  CHECK(chat.listed().size() == 4);
  const MaintenanceReport report = chat.retire();
  REQUIRE(report.problems.empty());
  const std::vector<std::string> left = chat.listed();
  REQUIRE(left.size() == 1);
  CHECK(left[0].starts_with("fact-c"));
  CHECK(chat.told("Where do we keep the ledger?").contains(kDecision));
  CHECK(chat->verify().value().findings.empty());
  chat.clock.advance(hours(25));
  CHECK(chat.retire().done.empty());
}

TEST_CASE("a statement is kept no longer than facts are") {
  Chat chat(R"(,"privacy":{"retention_days":{"fact":100}})");
  chat.say("m1", "user", kDecision);
  chat.get_old();
  static_cast<void>(chat.retire());
  CHECK(chat.listed().empty());
}

TEST_CASE("what is packed into an archive is told as before") {
  Chat chat;
  chat.say("m1", "user", fmt::format("Fine. {} Thanks for the comparison.", kDecision));
  const std::string before = chat.told("Where do we keep the ledger?");
  REQUIRE(before.contains(kDecision));
  chat->archive_session("s1").value();
  CHECK(chat.told("Where do we keep the ledger?") == before);
  CHECK(chat.listed() == Texts{"long", "m1", "title"});
}

TEST_CASE("stopped anywhere, an evicted decision is in the log or stated, and stated once") {
  const auto evict = [](LifecycleStore& store) {
    return compact_session(store.store, "s1", {.keep_share = 0}).has_value();
  };
  for (const Operation operation :
       {Operation::kWrite, Operation::kSyncData, Operation::kSyncAll, Operation::kRename}) {
    bool is_done = false;
    for (std::size_t nth = 1; !is_done; ++nth) {
      CAPTURE(operation_name(operation));
      CAPTURE(nth);
      LifecycleStore store;
      const std::string lines[] = {message("title", "user", "Hello boats, hello harbour"),
                                   message("m1", "user", kDecision)};
      const std::string_view views[] = {lines[0], lines[1]};
      REQUIRE(add_lines(store.store, "s1", EntryType::kConversation, views, {}).has_value());
      store.files->fail({.operation = operation, .nth = nth, .from_then_on = true});
      is_done = evict(store);
      store.files->heal();
      CHECK_FALSE(store.files_with(std::string(kDecision), "sessions").empty());
      REQUIRE(evict(store));  // Now the statement may go as well.
      std::ptrdiff_t stated = 0;
      for (const std::string& path : store.files_with(std::string(kDecision), "sessions")) {
        stated += path.ends_with("facts.jsonl") ? 1 : 0;
      }
      const auto evicted = read_evicted(store.disk, "s1").value();
      for (const EvictedLine& line : evicted) {
        stated += line.type == EntryType::kFact && line.line.contains(kDecision) ? 1 : 0;
      }
      CHECK(stated == 1);
    }
  }
}

}  // namespace bmad_mem::test::distilling_test
