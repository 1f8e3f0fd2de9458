// A harness that overlooks a loss is worse than none, so its judgement is tested on stores that
// are broken by hand. No program is started here.
#include "crash_checks.hpp"

#include <cerrno>
#include <csignal>

#include <doctest/doctest.h>

#include "crash_evidence.hpp"
#include "crash_shape.hpp"

namespace bmad_mem::crash_checks_test {
namespace fs = std::filesystem;
namespace {

const std::string kOne = R"({"id":"dec-1","decision":"one"})"
                         "\n";
const std::string kTwo = R"({"id":"dec-2","decision":"two"})"
                         "\n";
const std::string kNew = R"({"id":"dec-3","decision":"new-entry"})"
                         "\n";

/// A store with two acknowledged lines, and a command that would add a third.
struct BrokenStore {
  CrashStore store{"/nonexistent"};
  CrashCommand command{.name = "add", .arguments = {"add"}, .marks = {"new-entry"}};
  TraceOutcome outcome;
  fs::path log = store.root() / "sessions/s/decisions.jsonl";

  BrokenStore() {
    fs::create_directories(log.parent_path());
    write_file(log, kOne + kTwo);
    write_file(store.root() / "config.json", "{}\n");
    store.keep_as_template();
    outcome.process = {.exit_code = 0, .out = "dec-3\n", .err = {}};
  }

  void killed() { outcome.process = {.signal = SIGKILL, .out = {}, .err = {}}; }
  void failed(CallKind kind) {
    outcome.process = {.exit_code = 1, .out = {}, .err = "bmad-mem: E_STORAGE_IO: no"};
    TracePoint point;
    point.kind = kind;
    point.injected = EIO;
    outcome.points.push_back(point);
  }

  std::size_t broken() const { return check_state(store, command, outcome).size(); }
  std::string shape() const { return state_shape(CrashEvidence(store, command, outcome)); }
};

}  // namespace

TEST_CASE("a success with its entry in place keeps every promise") {
  BrokenStore broken;
  append_file(broken.log, kNew);
  CHECK(broken.broken() == 0);
}

TEST_CASE("each loss of acknowledged lines is noticed") {
  struct Row {
    const char* name;
    std::string log;
  };
  const std::vector<Row> rows = {
      {"a line is gone", kOne + kNew},
      {"a line is there twice", kOne + kTwo + kTwo + kNew},
      {"a byte of a line changed", kOne +
                                       R"({"id":"dec-2","decision":"twp"})"
                                       "\n" +
                                       kNew},
      {"two lines changed places", kTwo + kOne + kNew},
      {"a line lost its newline", kNew + kOne + kTwo.substr(0, kTwo.size() - 1)},
      {"a line is glued to another", kOne.substr(0, kOne.size() - 1) + kTwo + kNew},
      {"the log is empty", kNew},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) {
      BrokenStore broken;
      write_file(broken.log, row.log);
      CHECK(broken.broken() > 0);
    }
  }
}

TEST_CASE("what a command may leave behind depends on how it ended") {
  BrokenStore broken;
  SUBCASE("a success without its entry") { CHECK(broken.broken() == 1); }
  SUBCASE("a success with its entry twice") {
    append_file(broken.log, kNew + kNew);
    CHECK(broken.broken() == 1);
  }
  SUBCASE("a kill without the entry") {
    broken.killed();
    CHECK(broken.broken() == 0);
  }
  SUBCASE("a kill with the entry") {
    append_file(broken.log, kNew);
    broken.killed();
    CHECK(broken.broken() == 0);
  }
  SUBCASE("a kill that had printed the id, without the entry") {
    broken.killed();
    broken.outcome.process.out = "dec-3\n";
    CHECK(broken.broken() == 1);
  }
  SUBCASE("a failed write without the entry") {
    broken.failed(CallKind::kWrite);
    CHECK(broken.broken() == 0);
  }
  SUBCASE("a failed write with the entry") {
    append_file(broken.log, kNew);
    broken.failed(CallKind::kWrite);
    CHECK(broken.broken() == 1);
  }
  SUBCASE("a failed sync with the entry") {
    append_file(broken.log, kNew);
    broken.failed(CallKind::kSync);
    CHECK(broken.broken() == 0);
  }
}

TEST_CASE("a batch is there from its beginning") {
  BrokenStore broken;
  broken.command.marks = {"first-of-two", "new-entry"};
  broken.killed();
  append_file(broken.log, kNew);
  CHECK(broken.broken() == 1);
}

TEST_CASE("an error has its status, its code, and no signal") {
  BrokenStore broken;
  broken.failed(CallKind::kWrite);
  SUBCASE("wrong usage is no error of a disk") { broken.outcome.process.exit_code = 2; }
  SUBCASE("a message without a code") { broken.outcome.process.err = "sorry"; }
  SUBCASE("an abort") {
    broken.outcome.process.exit_code = -1;
    broken.outcome.process.signal = SIGABRT;
  }
  SUBCASE("no end at all") {
    broken.killed();
    broken.outcome.timed_out = true;
  }
  CHECK(broken.broken() == 1);
}

TEST_CASE("torn documents and vanished bytes are noticed") {
  BrokenStore broken;
  append_file(broken.log, kNew);
  SUBCASE("an empty config") { write_file(broken.store.root() / "config.json", ""); }
  SUBCASE("bytes that were to be kept") { broken.command.kept = {"damaged-bytes"}; }
  CHECK(broken.broken() == 1);
}

TEST_CASE("states that differ by chance have one shape, others have their own") {
  BrokenStore one;
  BrokenStore other;
  append_file(one.log, kNew);
  append_file(other.log, R"({"id":"dec-8","decision":"new-entry"})"
                         "\n");
  CHECK(one.shape() == other.shape());
  SUBCASE("a byte less") { fs::resize_file(other.log, fs::file_size(other.log) - 1); }
  SUBCASE("one more file") { write_file(other.store.root() / "config.json.tmp", ""); }
  SUBCASE("another end of the process") { other.killed(); }
  SUBCASE("a failed sync") { other.failed(CallKind::kSync); }
  SUBCASE("an old line that changed") {
    write_file(other.log, R"({"id":"dec-1","decision":"ons"})"
                          "\n" +
                              kTwo + kNew);
    CHECK(one.shape() == other.shape());  // Which check_state() notices after every single run.
    CHECK(other.broken() > 0);
    return;
  }
  CHECK(one.shape() != other.shape());
}

}  // namespace bmad_mem::crash_checks_test
