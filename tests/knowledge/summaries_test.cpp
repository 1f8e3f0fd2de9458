#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "summary_store.hpp"

namespace bmad_mem::test::summaries_test {
namespace {

using std::chrono::milliseconds;

int mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return static_cast<int>(info.st_mode & 0777U);
}

}  // namespace

TEST_CASE("a summary is made from the template on first use, for its owner alone") {
  SummaryStore store;
  CHECK_FALSE(store.status().exists);
  CHECK(store.text().empty());
  CHECK(store.summaries().show("s1").value() == summary_template());
  CHECK(store.text() == summary_template());
  CHECK(store.status().is_template);
  CHECK(mode_of(store.memory.path("summary.md")) == 0600);
  CHECK(mode_of(store.memory.path("")) == 0700);
  CHECK(code_of(store.summaries().show("other")) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(code_of(store.summaries().show("../s1")) == ErrorCode::E_INVALID_FORMAT);
}

TEST_CASE("an update by hand goes from first to later, and counters start again at zero") {
  SummaryStore store;
  CHECK(store.due() == "no_messages");
  store.say(99, "user");
  CHECK(store.due() == "too_short");
  store.say(1);
  CHECK(store.due() == "due_first");
  CHECK(store.status().tokens_since == 100);

  const SummaryPrompt prompt = store.summaries().prompt("s1").value();
  CHECK(prompt.up_to_id == "m2");
  CHECK(prompt.messages == 2);
  CHECK(prompt.text.find("something was said") != std::string::npos);
  CHECK(store.due() == "pending");
  CHECK(store.status().pending_by.find(std::to_string(::getpid())) != std::string::npos);

  store.say(50);  // While the writer writes.
  const SummaryUpdate update =
      store.summaries().apply("s1", answer("Boats."), prompt.ticket).value();
  CHECK(update.last_summarized_id == "m2");
  CHECK(update.id_was_moved);
  CHECK(update.messages == 2);
  CHECK(update.tokens_in == prompt.tokens);
  CHECK(store.text().find("Boats.") != std::string::npos);
  const SummaryStatus status = store.status();
  CHECK(status.due == SummaryDue::kTooFewTokens);
  CHECK(status.messages_since == 1);
  CHECK(status.tokens_since == 50);
  CHECK(status.tokens == 150);
  CHECK(status.last_summarized_id == "m2");
  CHECK(status.updated_at == store.memory.clock.now());
  CHECK_FALSE(status.pending_since);

  store.say(50);
  CHECK(store.due() == "due_tokens");
  store.use_tool();
  store.use_tool();
  CHECK(store.due() == "due_tokens");
  store.say(0, "tool");
  CHECK(store.status().tool_calls_since == 3);
  CHECK(store.due() == "due_tool_calls");
  store.summarize("Ships.");
  CHECK(store.due() == "no_messages");
  CHECK(store.status().tool_calls_since == 0);
  CHECK(store.text().find("Boats.") == std::string::npos);
}

TEST_CASE("a sub-agent triggers nothing, and is in neither prompt nor compaction") {
  SummaryStore store;
  store.say(100, "user", "main talk");
  store.memory.add(EntryType::kConversation,
                   R"({"id":"side","role":"assistant","content":"aside","isSidechain":true})");
  CHECK(store.due() == "sidechain");
  CHECK(store.status().messages == 1);
  CHECK(store.summaries().prompt("s1")->text.find("aside") == std::string::npos);
  store.summaries().apply("s1", answer("Boats.")).value();
  store.say(1);
  const CompactedConversation result = store.summaries().compact("s1").value();
  CHECK(ids_of(result) == "m2");
}

TEST_CASE("nothing new, or switched off: there is no prompt") {
  SummaryStore store;
  CHECK(code_of(store.summaries().prompt("s1")) == ErrorCode::E_INVALID_QUERY);
  store.say(100);
  store.configure(R"("enabled":false)");
  CHECK(store.due() == "disabled");
  CHECK(code_of(store.summaries().prompt("s1")) == ErrorCode::E_SCHEMA_INVALID);
  CHECK_FALSE(store.summaries().update("s1").value());
  CHECK(store.summaries().compact("s1")->declined == CompactionDecline::kDisabled);
}

TEST_CASE("a bad answer changes nothing, is counted, and may be followed by a better one") {
  SummaryStore store;
  store.say(100);
  REQUIRE(store.summaries().prompt("s1"));
  const std::string before = store.text();
  for (const std::string bad :
       {"rubbish", "", R"([{"file":"/etc/passwd","old":"a","new":"b"}])", R"({"tool":"Bash"})"}) {
    CAPTURE(bad);
    const Result<SummaryUpdate> update = store.summaries().apply("s1", bad);
    CHECK(code_of(update) == ErrorCode::E_INVALID_FORMAT);
    CHECK(update.error().message.find("summary.md") != std::string::npos);
    CHECK(store.text() == before);
  }
  CHECK(code_of(store.summaries().apply("s1", answer(std::string(70'000, 'x')))) ==
        ErrorCode::E_SIZE_LIMIT);
  CHECK(store.stats().failures == 5);
  CHECK(store.summaries().apply("s1", answer("Boats.")));
  CHECK(store.stats().updates == 1);
}

TEST_CASE("an answer without a prompt is not taken") {
  SummaryStore store;
  store.say(100);
  CHECK(code_of(store.summaries().apply("s1", answer("x"))) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(store.text().empty());
  store.summarize("Boats.");
  CHECK(code_of(store.summaries().apply("s1", answer("x"))) == ErrorCode::E_CONCURRENT_MOD);
}

TEST_CASE("a hand that edits meanwhile is respected") {
  SummaryStore store;
  store.say(100);
  REQUIRE(store.summaries().prompt("s1"));
  const std::string mine = "---\nowner: ann\n---\n# Mine\n\n## Boats\nNight.\n";
  store.memory.write("summary.md", mine);
  CHECK(code_of(store.summaries().apply("s1", answer("x"))) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(store.text() == mine);
  CHECK(store.stats().failures == 1);
  // The next prompt shows what the hand wrote, and its headings stay.
  CHECK(store.summaries().prompt("s1")->text.find("# Mine\n\n## Boats") != std::string::npos);
  CHECK(code_of(store.summaries().apply("s1", answer("x"))) == ErrorCode::E_INVALID_FORMAT);
  REQUIRE(store.summaries().apply("s1", "# Mine\n\n## Boats\nNight and day.\n"));
  CHECK(store.text().starts_with("---\nowner: ann\nlast_summarized_id: m1\nupdated_at: "));
  CHECK(store.text().ends_with("---\n# Mine\n\n## Boats\nNight and day.\n"));
}

TEST_CASE(
    "what is pending for longer than its time counts as dead, and its answer comes too late") {
  SummaryStore store;
  store.say(100);
  const SummaryPrompt first = store.summaries().prompt("s1").value();
  const Result<SummaryPrompt> refused = store.summaries().prompt("s1");
  CHECK(code_of(refused) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(refused.error().message.find(fmt::format("process {}", ::getpid())) != std::string::npos);
  store.memory.clock.advance(milliseconds(60'000));
  CHECK_FALSE(store.status().pending_is_stale);
  CHECK(store.due() == "pending");
  CHECK(code_of(store.summaries().prompt("s1")) == ErrorCode::E_CONCURRENT_MOD);
  store.memory.clock.advance(milliseconds(1));
  CHECK(store.status().pending_is_stale);
  CHECK(store.due() == "due_first");

  SUBCASE("unless nobody took over") {
    CHECK(store.summaries().apply("s1", answer("Boats."), first.ticket));
  }
  SUBCASE("when another has taken over") {
    store.say(10);
    const SummaryPrompt second = store.summaries().prompt("s1").value();
    CHECK(second.ticket != first.ticket);
    CHECK(code_of(store.summaries().apply("s1", answer("late"), first.ticket)) ==
          ErrorCode::E_CONCURRENT_MOD);
    // Whose answer it is can't be told without a ticket.
    const Result<SummaryUpdate> unnamed = store.summaries().apply("s1", answer("late"));
    CHECK(code_of(unnamed) == ErrorCode::E_CONCURRENT_MOD);
    CHECK(unnamed.error().message.find(second.ticket) != std::string::npos);
    CHECK(store.due() == "pending");
    CHECK(store.summaries().apply("s1", answer("Boats."), second.ticket)->last_summarized_id ==
          "m2");
    CHECK(store.text().find("late") == std::string::npos);
  }
  SUBCASE("when another has finished") {
    const SummaryPrompt second = store.summaries().prompt("s1").value();
    REQUIRE(store.summaries().apply("s1", answer("Boats."), second.ticket));
    CHECK(code_of(store.summaries().apply("s1", answer("late"), first.ticket)) ==
          ErrorCode::E_CONCURRENT_MOD);
    CHECK(store.text().find("late") == std::string::npos);
  }
}

TEST_CASE("while the conversation is compacted the mark stays, and the counters start again") {
  SummaryStore store;
  store.say(100);
  store.summarize("Boats.");
  store.say(100);
  REQUIRE(store.summaries().set_compacting("s1", true));
  CHECK(store.status().compacting);
  CHECK(store.due() == "too_few_tool_calls");
  for (int i = 0; i < 3; ++i) {
    store.use_tool();
  }
  CHECK(store.due() == "due_tool_calls");
  const SummaryUpdate update = store.summarize("Ships.");
  CHECK_FALSE(update.id_was_moved);
  CHECK(update.last_summarized_id == "m1");
  CHECK(store.text().find("last_summarized_id: m1\n") != std::string::npos);
  CHECK(store.text().find("Ships.") != std::string::npos);
  CHECK(store.status().tokens_since == 0);
  CHECK(store.status().tool_calls_since == 0);
  CHECK(ids_of(store.summaries().compact("s1").value()) == "m2");
  REQUIRE(store.summaries().set_compacting("s1", false));
  store.say(100);
  // What the mark does not cover comes once more.
  CHECK(store.summaries().prompt("s1")->messages == 2);

  REQUIRE(store.summaries().set_compacting("s1", true));
  store.memory.clock.advance(std::chrono::minutes(16));
  CHECK_FALSE(store.status().compacting);
}

TEST_CASE("the writer's text loses its secrets before it is written") {
  SummaryStore store;
  store.say(100);
  const std::string secret = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
  REQUIRE(store.summaries().prompt("s1"));
  const SummaryUpdate update = store.summaries().apply("s1", answer("token " + secret)).value();
  CHECK(update.redacted.size() == 1);
  CHECK(store.text().find(secret) == std::string::npos);
  CHECK(store.text().find("[REDACTED:github-pat]") != std::string::npos);
  for (const auto& [name, bytes] : store.memory.files()) {
    CAPTURE(name);
    CHECK(bytes.find(secret) == std::string::npos);
  }
}

TEST_CASE("a compaction waits no longer than its time") {
  SummaryStore store;
  store.say(100);
  store.summarize("Boats.");
  store.say(1);
  REQUIRE(store.summaries().prompt("s1"));
  store.configure(R"("wait_timeout_ms":50)");
  const auto began = std::chrono::steady_clock::now();
  const CompactedConversation result = store.summaries().compact("s1").value();
  const auto waited = std::chrono::steady_clock::now() - began;
  CHECK(waited >= milliseconds(50));
  CHECK(waited < milliseconds(4000));
  CHECK(ids_of(result) == "m2");
}

TEST_CASE("compactions return what the summary does not cover, or say why not, and are counted") {
  SummaryStore store;
  CHECK(store.summaries().compact("s1")->declined == CompactionDecline::kNoSummary);
  store.say(100, "user");
  store.summaries().show("s1").value();
  CHECK(store.summaries().compact("s1")->declined == CompactionDecline::kEmptyTemplate);
  store.memory.write("summary.md", "# By hand\n\nBoats.\n");
  CHECK(store.summaries().compact("s1")->resumed_session);
  store.summaries().prompt("s1").value();
  store.summaries().apply("s1", "# By hand\n\nShips.\n").value();
  store.say(10, "user", "one more");
  store.say(10, "assistant", "and another");
  const CompactedConversation result = store.summaries().compact("s1").value();
  CHECK(ids_of(result) == "m2 m3");
  CHECK_FALSE(result.resumed_session);
  CHECK(result.markdown.find("Ships.") < result.markdown.find("one more"));
  CHECK(result.markdown.find("one more") < result.markdown.find("and another"));
  CHECK(result.markdown.find("something was said") == std::string::npos);
  CHECK(store.summaries().compact("s1", {.max_tokens = 10})->declined ==
        CompactionDecline::kThresholdExceeded);
  store.memory.write("summary.md", "---\nlast_summarized_id: gone\n---\n# By hand\n\nShips.\n");
  CHECK(store.summaries().compact("s1")->declined == CompactionDecline::kSummarizedIdNotFound);
  const SummaryStats stats = store.stats();
  CHECK(stats.compactions == 2);
  CHECK(stats.resumed == 1);
  CHECK(stats.declined.size() == 4);
  CHECK(stats.declined.at("empty_template") == 1);
  CHECK(stats.declined.at("summarized_id_not_found") == 1);
}

TEST_CASE("where the last summarized message has gone, the prompt goes on by time") {
  SummaryStore store;
  store.say(100);
  store.summarize("Boats.");
  store.memory.clock.advance(milliseconds(1));
  store.say(100);
  REQUIRE(store.memory->delete_entries({.ids = {"m1"}}));
  const SummaryPrompt prompt = store.summaries().prompt("s1").value();
  CHECK(prompt.messages == 1);
  CHECK(prompt.up_to_id == "m2");
}

TEST_CASE("what is counted stays small") {
  SummaryStore store;
  for (int i = 0; i < 3; ++i) {
    std::string lines;
    while (lines.size() <= 256U << 10U) {
      lines += R"({"at":"2026-01-11T10:00:00Z","kind":"failure","code":"E_STORAGE_IO"})"
               "\n";
    }
    const auto before = store.stats().failures;
    const std::string path = ".lock.summary-log.jsonl";
    store.memory.write(path, store.memory.read(path) + lines);
    const auto failures = store.stats().failures;
    CHECK(failures > before);
    REQUIRE(store.summaries().compact("s1"));
    CHECK(store.stats().failures == failures);
    CHECK(store.memory.read(path).size() < 1000);
  }
  CHECK(store.stats().declined.at("no_summary") == 3);
}

TEST_CASE("a session with all that belongs to its summary is whole, and goes into an archive") {
  SummaryStore store;
  store.say(100);
  store.summarize("Boats.");
  REQUIRE(store.summaries().prompt("s1").error().code == ErrorCode::E_INVALID_QUERY);
  REQUIRE(store.summaries().set_compacting("s1", true));
  CHECK(store.memory->verify().value().findings.empty());
  CHECK(store.memory->repair().value().actions.empty());
  REQUIRE(store.memory->archive_session("s1"));
  CHECK(code_of(store.summaries().status("s1")) == ErrorCode::E_SESSION_ARCHIVED);
  REQUIRE(store.memory->restore_session("s1"));
  CHECK(store.text().find("Boats.") != std::string::npos);
  CHECK(store.status().last_summarized_id == "m1");
}

}  // namespace bmad_mem::test::summaries_test
