// summary_faults_test.cpp - taking a writer's answer on a disk that fails.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "knowledge/summaries/summary_session.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/repair.hpp"
#include "operations/rooms.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::summary_faults_test {
namespace {

std::string answer(const std::string& text) {
  return std::string(summary_template()) + text + "\n";
}

/// A session over a disk in memory, with a summary that says "old" and a message after it.
class FaultySummary {
 public:
  FaultySummary() {
    disk.make_folders(kSessionsFolder);
    auto faulty = std::make_unique<FaultyFileSystem>(disk);
    files = faulty.get();
    store.files = std::move(faulty);
    store.lock_timeout = std::chrono::milliseconds(1000);
    REQUIRE(create_session(store, {.session_id = "s1"}));
    say("m1");
    REQUIRE(begin());
    REQUIRE(finish("old"));
    say("m2");
    files->clear_log();
  }

  void say(const std::string& id) {
    const std::string line = R"({"id":")" + id + R"(","role":"user","content":"said"})";
    const std::string_view view = line;
    REQUIRE(add_lines(store, "s1", EntryType::kConversation, {&view, 1}, {}));
  }
  Result<SummaryPrompt> begin() { return begin_summary_update(store, "s1"); }
  Result<SummaryUpdate> finish(const std::string& text, const std::string& ticket = "") {
    return finish_summary_update(store, "s1", answer(text), ticket);
  }
  std::string text() { return disk.read(session_file("s1", kSummaryName)); }

  MemoryFileSystem disk;
  FaultyFileSystem* files = nullptr;
  ManualClock clock;
  Store store{clock, all_rooms()};
};

/// Whether `text` is wholly the old or wholly the new summary; the mark goes with the words.
std::string state_of(const std::string& text) {
  const bool is_old = text.find("\nold\n") != std::string::npos &&
                      text.find("last_summarized_id: m1\n") != std::string::npos;
  const bool is_new = text.find("\nnew\n") != std::string::npos &&
                      text.find("last_summarized_id: m2\n") != std::string::npos;
  return is_old == is_new ? "neither" : is_old ? "old" : "new";
}

}  // namespace

TEST_CASE("any call that fails while an answer is taken leaves the old summary or the new one") {
  FaultySummary reference;
  REQUIRE(reference.begin());
  reference.files->clear_log();
  REQUIRE(reference.finish("new"));
  const std::vector<std::string> calls = reference.files->log();
  CHECK(calls.size() > 20);
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    FaultySummary summary;
    const std::string ticket = summary.begin().value().ticket;
    summary.files->clear_log();
    summary.files->fail(fault_at(calls, nth));
    const Result<SummaryUpdate> update = summary.finish("new", ticket);
    summary.files->heal();
    const std::string state = state_of(summary.text());
    if (update) {
      CHECK(state == "new");
      continue;
    }
    // Only when the last sync of the folder failed the new one may be there already.
    CHECK((state == "old" || calls[nth] == "sync_directory sessions/s1"));
    CHECK(last_summarized_id(summary.disk, "s1") == (state == "old" ? "m1" : "m2"));
    // Whatever is left of it goes stale.
    summary.clock.advance(std::chrono::milliseconds(60'001));
    summary.say("m3");
    const Result<SummaryPrompt> again = summary.begin();
    REQUIRE(again);
    REQUIRE(summary.finish("newer", again->ticket));
    CHECK(summary.text().find("\nnewer\n") != std::string::npos);
    CHECK(verify_store(summary.store, {}, {}).value().findings.empty());
  }
}

TEST_CASE(
    "any call that fails while a prompt is made leaves the summary, and the next try makes it") {
  FaultySummary reference;
  REQUIRE(reference.begin());
  const std::vector<std::string> calls = reference.files->log();
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    FaultySummary summary;
    const std::string before = summary.text();
    summary.files->fail(fault_at(calls, nth));
    const Result<SummaryPrompt> prompt = summary.begin();
    summary.files->heal();
    CHECK(summary.text() == before);
    if (!prompt) {
      const Result<SummaryPrompt> again = summary.begin();
      REQUIRE(again);
      REQUIRE(summary.finish("new", again->ticket));
    } else {
      REQUIRE(summary.finish("new", prompt->ticket));
    }
    CHECK(state_of(summary.text()) == "new");
  }
}

}  // namespace bmad_mem::test::summary_faults_test
