// root_index_freshness_test.cpp - the next question sees whatever became of logs and sessions, and
// hashes no log twice for it.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/question.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "search/root_index_memory.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::root_index {

TEST_CASE("whatever becomes of logs and sessions is seen by the next question") {
  Memory memory;
  memory.flush();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  const std::string log = memory.log("s2");
  const std::string before = memory.disk.read(log);
  SUBCASE("an append") { memory.add(*memory.open(), "s2", "new", "alpha tail"); }
  SUBCASE("a hand edit of the same size") {
    std::string bytes = before;
    bytes.replace(bytes.find("alpha"), 5, "gamma");
    memory.disk.write(log, bytes);
  }
  SUBCASE("a truncation") { memory.disk.write(log, before.substr(0, before.find('\n') + 1)); }
  SUBCASE("a truncation within a line") { memory.disk.write(log, before.substr(0, 250)); }
  SUBCASE("a log that is emptied") { memory.disk.write(log, ""); }
  SUBCASE("a log that is removed") { expect(memory.disk.remove(log)); }
  SUBCASE("a log of another type") {
    memory.disk.write(session_file("s2", "facts.jsonl"),
                      MemoryFixture::fact("f1", "common gamma") + "\n");
  }
  SUBCASE("the first line of a log that was empty") {
    REQUIRE(memory.disk.info(session_file("s2", "decisions.jsonl"))->size == 0);
    memory.disk.write(session_file("s2", "decisions.jsonl"),
                      R"({"id":"d1","timestamp":"2026-01-11T10:00:00Z","decision":"common gamma",)"
                      R"("made_by":"Ann"})"
                      "\n");
  }
  SUBCASE("a log in place of another") {
    memory.disk.write(log + ".other", memory.disk.read(memory.log("s1")));
    expect(memory.disk.rename(log + ".other", log));
  }
  SUBCASE("a session that is removed") { memory.remove_folder(session_folder("s2")); }
  SUBCASE("a session that is something else") {
    memory.remove_folder(session_folder("s2"));
    memory.disk.make_other(session_folder("s2"));
  }
  SUBCASE("sessions that change places") {
    expect(memory.disk.rename(session_folder("s1"), session_folder("s4")));
    expect(memory.disk.rename(session_folder("s2"), session_folder("s1")));
    expect(memory.disk.rename(session_folder("s4"), session_folder("s2")));
  }
  SUBCASE("a session that comes") {
    expect(create_session(*memory.open(), {.session_id = "s0"}));
    memory.add(*memory.open(), "s0", "new", "alpha tail");
  }
  memory.check(&held);
  memory.check_tidy();
  if (memory.disk.info(log)) {
    memory.disk.write(log, before);  // And back.
    memory.check(&held);
  }
}

TEST_CASE("one look at the logs serves a question, and no other") {
  Memory memory;
  memory.flush();
  const Process held = memory.open();
  const Lines before = answers(*held);
  std::string facts;
  const auto append = [&](const std::string& id) {  // By another process: this one's are noted.
    facts += MemoryFixture::fact(id, "alpha tail") + "\n";
    memory.disk.write(session_file("s2", "facts.jsonl"), facts);
  };
  {
    const Question question;
    CHECK(difference(answers(*held), before) == "");
    append("new-1");
    const Question inner;
    CHECK(difference(answers(*held), before) == "");
    Question::note_change();  // As after a write of this process.
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    append("new-2");
  }
  memory.check(&held);
  {
    const Question next;
    memory.check(&held);
  }
  append("new-3");
  memory.check(&held);  // Without a question each call looks.
}

TEST_CASE("a torn end that becomes a line of the same size is found") {
  Memory memory;
  const std::string log = memory.log("s1");
  const std::string before = memory.disk.read(log);
  std::string line = before.substr(0, before.find('\n') + 1);
  line.replace(line.find("s1-0"), 4, "tail");
  memory.disk.write(log, before + std::string(line.size(), '{'));
  memory.flush();
  const Process held = memory.open();
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  memory.disk.write(log, before + line);
  memory.check(&held);
}

TEST_CASE("sessions that change size back and forth are as they are now") {
  Memory memory;
  const Process held = memory.open();
  const std::string log = memory.log("s1");
  const std::string before = memory.disk.read(log);
  std::string other = before;
  other.replace(other.find("alpha"), 5, "gamma");
  for (int i = 0; i < 6; ++i) {
    memory.disk.write(log, i % 2 == 0 ? before : other);
    memory.add(*memory.open(), "s2", fmt::format("n{}", i), "tail");
    memory.check(&held);
  }
  memory.check_tidy();
}

TEST_CASE("a copy is hashed once") {
  Memory memory;
  memory.flush();
  memory.flush();
  Memory copy;
  for (const char* folder : {kSessionsFolder, kIndexFolder}) {
    copy.put_back(memory.files(folder), folder);
  }
  copy.settle();
  const Process first = copy.open();
  const Lines opened = Memory::logs_opened(first);
  CHECK(opened.size() == 3);
  CHECK(Memory::logs_opened(first).empty());
  CHECK(Memory::logs_opened(copy.open()).empty());
  copy.check(&first);
  copy.check_tidy();
}

namespace {

/// A memory with a session that has grown since a segment knew of it.
class GrownMemory : public Memory {
 public:
  explicit GrownMemory(bool with_stamps) {
    if (with_stamps) {
      disk.let_times_be_set();
    }
    const Process process = open();
    for (int i = 0; i < 60; ++i) {
      add(*process, "s2", fmt::format("long-{}", i), "alpha " + std::string(300, 'x'));
    }
    flush();
    REQUIRE(disk.info(log("s2"))->size > 16U << 10U);
    grow();
  }

  void grow() { add(*open(), "s2", fmt::format("grown-{}", ++grown_), "alpha tail"); }

  /// A process that takes nothing into the segments.
  Process reader() {
    Process process = open();
    process.store->config.indexing.rebuild_threshold_writes = 1000;
    return process;
  }

  /// Whether a question, which no entry answers, makes it hash what a segment knows, from its first
  /// byte on. The last line of each conversation is read to go on with it.
  bool hashes_what_is_known(const Process& process) {
    process.files->clear_log();
    expect(answer_query(*process, {.text = "nosuchword"}));
    const Lines calls = process.files->log();
    return std::ranges::find(calls, fmt::format("read_at {} 0", log("s2"))) != calls.end();
  }

 private:
  int grown_ = 0;
};

}  // namespace

TEST_CASE("a process that comes hashes nothing of a log to which our writers appended") {
  GrownMemory memory(true);
  const Process held = memory.reader();
  CHECK_FALSE(memory.hashes_what_is_known(held));
  memory.grow();
  CHECK_FALSE(memory.hashes_what_is_known(held));
  CHECK_FALSE(memory.hashes_what_is_known(memory.reader()));
  memory.check(&held);  // Takes it into a segment.
  memory.grow();
  CHECK_FALSE(memory.hashes_what_is_known(memory.reader()));
  std::string bytes = memory.disk.read(memory.log("s2"));
  bytes.replace(bytes.find("alpha"), 5, "gamma");
  memory.disk.write(memory.log("s2"), bytes);
  CHECK(memory.hashes_what_is_known(memory.reader()));
  memory.check(&held);
}

TEST_CASE("what is flushed right after an append is not hashed by those who come") {
  GrownMemory memory(true);
  expect(answer_query(*memory.open(), {.text = "common"}));
  const std::string chain = memory.current()["sessions"]["s2"]["logs"][0][6];
  CHECK(chain.size() == 16);
  CHECK_FALSE(memory.hashes_what_is_known(memory.reader()));
}

TEST_CASE("a session that has grown is hashed once in a copy, stamped or not") {
  for (const bool with_stamps : {false, true}) {
    CAPTURE(with_stamps);
    GrownMemory memory(with_stamps);
    GrownMemory copy(with_stamps);
    for (const char* folder : {kSessionsFolder, kIndexFolder}) {
      copy.put_back(memory.files(folder), folder);
    }
    copy.settle();
    const Process first = copy.reader();
    CHECK(copy.hashes_what_is_known(first));
    CHECK_FALSE(copy.hashes_what_is_known(first));
    CHECK_FALSE(copy.hashes_what_is_known(copy.reader()));
    copy.grow();
    copy.settle();
    CHECK(copy.hashes_what_is_known(copy.reader()));  // Its first stamp, or none.
    CHECK_FALSE(copy.hashes_what_is_known(copy.reader()));
    copy.grow();
    copy.settle();
    CHECK(copy.hashes_what_is_known(copy.reader()) == !with_stamps);
    std::string bytes = copy.disk.read(copy.log("s2"));
    bytes.replace(bytes.find("alpha"), 5, "gamma");
    copy.disk.write(copy.log("s2"), bytes);
    copy.check(&first);
    copy.check_tidy();
  }
}

TEST_CASE("a session that is asked alone in a copy is hashed once") {
  GrownMemory memory(false);
  memory.flush();
  for (int i = 0; i < 12; ++i) {
    const std::string id = fmt::format("other-{}", i);
    expect(create_session(*memory.open(), {.session_id = id}));
    memory.add(*memory.open(), id, "one", "alpha");
  }
  memory.flush();
  memory.disk.write(memory.log("s2"), memory.disk.read(memory.log("s2")));
  memory.settle();
  const Query query = {.text = "nosuchword", .filter = {.sessions = {"s2"}}};
  for (const bool expected : {true, false}) {
    const Process process = memory.reader();
    expect(answer_query(*process, query));
    const Lines calls = process.files->log();
    const std::string call = fmt::format("read_at {} ", memory.log("s2"));
    CHECK(std::ranges::any_of(
              calls, [&](const std::string& each) { return each.starts_with(call); }) == expected);
  }
}

TEST_CASE("a CURRENT without hashes of lines and chains still serves") {
  Memory memory;
  memory.flush();
  nlohmann::json all = memory.current();
  for (auto& session : all["sessions"]) {
    for (auto& log : session["logs"]) {
      log[3] = nullptr;
      log[6] = nullptr;
    }
  }
  memory.write_current(all);
  CHECK(Memory::logs_opened(memory.open()).empty());
  memory.add(*memory.open(), "s2", "new", "alpha tail");
  memory.check();
}

TEST_CASE("what CURRENT leaves out of a log is as of most") {
  Memory memory;
  memory.flush();
  nlohmann::json all = memory.current();
  SUBCASE("another device") {
    const std::uint64_t its = all["device"];
    for (auto& session : all["sessions"]) {
      for (auto& log : session["logs"]) {
        log[7] = {{"device", its}};
      }
    }
    all["device"] = its + 1;
  }
  SUBCASE("another size") {
    for (auto& session : all["sessions"]) {
      for (auto& log : session["logs"]) {
        log[7] = {{"size", log[1]}};
      }
    }
  }
  memory.write_current(all);
  CHECK(Memory::logs_opened(memory.open()).empty());
  memory.check();
}

TEST_CASE("a CURRENT with logs that are none costs no answer") {
  Memory memory;
  memory.flush();
  const nlohmann::json all = memory.current();
  const nlohmann::json log = all["sessions"]["s1"]["logs"][0];
  nlohmann::json longer = log;
  while (longer.size() < 9) {
    longer.push_back(nlohmann::json::object());
  }
  nlohmann::json other = log;
  other[0] = 8;
  for (const nlohmann::json& logs :
       {nlohmann::json({log, log}), nlohmann::json({longer}), nlohmann::json({other}),
        nlohmann::json({nlohmann::json::array()}), nlohmann::json({1, 2}), nlohmann::json("x")}) {
    nlohmann::json wrong = all;
    wrong["sessions"]["s1"]["logs"] = logs;
    memory.write_current(wrong);
    memory.check();
    memory.check_tidy();
  }
}

}  // namespace bmad_mem::test::root_index
