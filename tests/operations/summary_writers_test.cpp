// summary_writers_test.cpp - programs that write summaries: slow ones, dying ones, several at once.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "knowledge/summary_store.hpp"

namespace bmad_mem::test::summary_writers_test {
namespace {

using std::chrono::milliseconds;

}  // namespace

TEST_CASE("an update runs the command when it is due, and once a message") {
  SummaryStore store;
  store.memory.folder.write("answer", answer("Boats."));
  store.write_by("cat >" + store.memory.folder.path("prompt") + "; cat " +
                 store.memory.folder.path("answer") +
                 R"(; echo '{"usage":{"input_tokens":11,"output_tokens":7,)"
                 R"("cache_read_input_tokens":5,"cache_creation_input_tokens":3}}' >&2)");
  store.say(99);
  CHECK_FALSE(store.summaries().update("s1").value());
  store.say(1);
  const auto update = store.summaries().update("s1").value();
  REQUIRE(update);
  CHECK(update->last_summarized_id == "m2");
  CHECK(update->tokens_in == 11);
  CHECK(update->tokens_out == 7);
  CHECK(update->cache_read_tokens == 5);
  CHECK(update->cache_written_tokens == 3);
  CHECK(store.memory.folder.read("prompt").find("something was said") != std::string::npos);
  CHECK(store.text().find("Boats.") != std::string::npos);
  CHECK_FALSE(store.summaries().update("s1").value());
  const SummaryStats stats = store.stats();
  CHECK(stats.updates == 1);
  CHECK(stats.cache_read_tokens == 5);
  CHECK(stats.records.at(0).find("\"minimum_message_tokens_to_init\":100") != std::string::npos);
}

TEST_CASE("without a command an update says how to do it by hand") {
  SummaryStore store;
  CHECK_FALSE(store.summaries().update("s1").value());
  store.say(100);
  const auto update = store.summaries().update("s1");
  CHECK(code_of(update) == ErrorCode::E_SCHEMA_INVALID);
  CHECK(update.error().field == "memory_config.summarizer.command");
  CHECK(update.error().message.find("summary prompt") != std::string::npos);
}

TEST_CASE("a writer that fails leaves the old summary, and is not asked again at that message") {
  struct Row {
    const char* name;
    const char* script;
    ErrorCode code;
  };
  static constexpr Row kRows[] = {
      {"slow", "sleep 60", ErrorCode::E_QUERY_TIMEOUT},
      {"dies", "echo half; kill -9 $$", ErrorCode::E_STORAGE_IO},
      {"fails", "cat >/dev/null; exit 3", ErrorCode::E_STORAGE_IO},
      {"not there", "exec no-such-program-at-all", ErrorCode::E_STORAGE_IO},
      {"silent", "cat >/dev/null", ErrorCode::E_INVALID_FORMAT},
      {"rubbish", "head -c 5000 /dev/zero", ErrorCode::E_INVALID_FORMAT},
      {"echoes", "cat", ErrorCode::E_INVALID_FORMAT},
      {"says too much", "yes '# x'", ErrorCode::E_SIZE_LIMIT},
      {"forbidden edit", R"(echo '[{"file":"config.json","old":"{","new":"}"}]')",
       ErrorCode::E_INVALID_FORMAT},
      {"tool call", R"(echo '{"tool":"Write","path":"/etc/passwd"}')", ErrorCode::E_INVALID_FORMAT},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    SummaryStore store;
    store.say(100);
    store.summarize("Boats.");
    store.say(100);
    const std::string before = store.text();
    // Only who is slow must run into it, however slow the machine is.
    store.write_by(row.script, row.code == ErrorCode::E_QUERY_TIMEOUT ? R"("timeout_ms":500)"
                                                                      : R"("timeout_ms":60000)");
    CHECK(code_of(store.summaries().update("s1")) == row.code);
    CHECK(store.text() == before);
    CHECK(store.stats().failures == 1);
    CHECK_FALSE(store.status().pending_since);
    CHECK(store.due() == "due_tokens");
    CHECK_FALSE(store.summaries().update("s1").value());
    CHECK(store.stats().failures == 1);
    CHECK(code_of(store.summaries().update("s1", {.force = true})) == row.code);
    store.say(1);
    CHECK(code_of(store.summaries().update("s1")) == row.code);
    CHECK(store.stats().failures == 3);
  }
}

TEST_CASE("no lock is held while the writer writes") {
  SummaryStore store;
  const std::string go = store.memory.folder.path("go");
  const std::string begun = store.memory.folder.path("begun");
  store.memory.folder.write("answer", answer("Boats."));
  store.write_by(fmt::format("touch {}; while [ ! -e {} ]; do sleep 0.01; done; cat {}", begun, go,
                             store.memory.folder.path("answer")));
  store.say(100);
  std::thread writer([&] { CHECK(store.summaries().update("s1").value()); });
  while (::access(begun.c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  store.say(20);
  CHECK(store.due() == "pending");
  CHECK(code_of(store.summaries().update("s1")) == ErrorCode::E_CONCURRENT_MOD);
  CHECK(code_of(store.summaries().prompt("s1")) == ErrorCode::E_CONCURRENT_MOD);

  SUBCASE("a compaction waits for it") {
    std::atomic<bool> done = false;
    std::thread waiter([&] {
      const CompactedConversation result = store.summaries().compact("s1").value();
      CHECK(result.declined == CompactionDecline::kNone);
      CHECK(ids_of(result) == "m2");
      done = true;
    });
    std::this_thread::sleep_for(milliseconds(50));
    CHECK_FALSE(done);
    store.memory.folder.write("go", "");
    waiter.join();
  }
  SUBCASE("or does not, when told so") {
    CHECK(store.summaries().compact("s1", {.wait = false})->declined ==
          CompactionDecline::kEmptyTemplate);
    store.memory.folder.write("go", "");
  }
  writer.join();
  CHECK(store.text().find("Boats.") != std::string::npos);
}

TEST_CASE("of two processes that update at once one writes, and the other names it") {
  SummaryStore store;
  store.memory.folder.write("answer", answer("Boats."));
  store.write_by("sleep 0.3; cat " + store.memory.folder.path("answer"));
  store.say(100);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      store.memory.reopen();
      const auto update = store.summaries().update("s1");
      const bool lost = !update && update.error().code == ErrorCode::E_CONCURRENT_MOD &&
                        update.error().message.find("process ") != std::string::npos;
      ::_exit(update ? (*update ? 1 : 3) : (lost ? 2 : 4));
    }
    children.push_back(child);
  }
  int written = 0;
  int lost = 0;
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    written += WEXITSTATUS(status) == 1 ? 1 : 0;
    // Who comes when all is done has nothing to do.
    lost += WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 3 ? 1 : 0;
  }
  CHECK(written == 1);
  CHECK(lost == 3);
  CHECK(store.stats().updates == 1);
  CHECK(store.text().find("Boats.") != std::string::npos);
}

TEST_CASE("an updater that is killed leaves the old summary, and a note that goes stale") {
  SummaryStore store;
  store.say(100);
  store.summarize("Boats.");
  store.say(100);
  const std::string before = store.text();
  const std::string begun = store.memory.folder.path("begun");
  store.write_by("touch " + begun + "; sleep 1");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    (void)store.summaries().update("s1");
    ::_exit(0);
  }
  while (::access(begun.c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  store.memory.reopen();
  CHECK(store.text() == before);
  CHECK(store.due() == "pending");
  CHECK(store.status().pending_by.find(std::to_string(child)) != std::string::npos);
  CHECK(store.summaries().compact("s1", {.wait = false})->declined == CompactionDecline::kNone);
  store.memory.clock.advance(milliseconds(60'001));
  CHECK(store.due() == "due_tokens");
  store.summarize("Ships.");
  CHECK(store.text().find("Ships.") != std::string::npos);
}

}  // namespace bmad_mem::test::summary_writers_test
