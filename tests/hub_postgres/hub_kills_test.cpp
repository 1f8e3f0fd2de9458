// hub_kills_test.cpp - what changes a mirror is killed at each of its system calls that change a
// file.
//
//   b: lines, a deletion, a purge, a title ─► hub          a: lines, a purge
//   a: sync, reclone or join, killed at point k ─► a: sync ─► b: sync ─► both equal, each line
//   once, in its order
//
// A kill between two calls that change files leaves the same as one at the later of them; what a
// broken connection leaves is hub_network_test.py's part. Each round has new lines, so that what an
// earlier kill may have spoilt is seen as well.
//
// BMAD_CRASH_ALL_POINTS   set to 1: every call; of a sync, in every way
// BMAD_MEM_BINARY         the program under test, with bmad-mem-hub beside it
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "crash/child_process.hpp"
#include "crash/crash_plan.hpp"
#include "crash/crash_store.hpp"
#include "crash/json_lines.hpp"
#include "crash/syscall_tracer.hpp"
#include "crash/temp_folder.hpp"
#include "postgres_fixture.hpp"

namespace bmad_mem::hub_kills_test {
namespace {

namespace fs = std::filesystem;

/// The service "team" is this database, for all children; before the first of them.
void name_service(const fs::path& file, const test::HubDatabase& house) {
  std::string text = "[team]\n" + house.conninfo("admin") + "\n";
  std::ranges::replace(text, ' ', '\n');
  write_file(file, text);
  ::setenv("PGSERVICEFILE", file.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread.
}

const std::vector<std::string> kJoin = {"hub", "join", "team", "house"};

class Machine {
 public:
  explicit Machine(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directory(folder_);
    must({"init"});
    must(kJoin);
  }

  const fs::path& folder() const { return folder_; }

  ChildCommand command(const std::vector<std::string>& words, std::string input = {}) const {
    ChildCommand command{{binary_under_test(), "--root", (folder_ / "memory").string()},
                         std::move(input)};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    return command;
  }

  void must(const std::vector<std::string>& words, std::string input = {}) const {
    const ChildResult result = run_child(command(words, std::move(input)));
    INFO(words.front() << ": " << result.out << result.err);
    REQUIRE(result.succeeded());
  }

  /// Facts with these ids, in one command.
  void add(const std::vector<std::string>& ids) const {
    std::string lines;
    for (const std::string& id : ids) {
      lines += fmt::format(R"({{"id":"{0}","content":"what {0} says"}})"
                           "\n",
                           id);
    }
    must({"add", "fact", "--session", "s1", "-"}, lines);
  }

  bool has_joined() const { return fs::exists(folder_ / "memory/hub/state.json"); }
  std::string log() const { return read_file(folder_ / "memory/sessions/s1/facts.jsonl"); }

 private:
  fs::path folder_;
};

/// A command that is killed.
struct Broken {
  const char* name;
  std::vector<std::string> words;
  bool folder_is_gone = false;  ///< Of the session, as at a branch switch.
  bool has_left = false;        ///< It has shared the memory before.
};

/// Two machines and what their logs must hold.
class House {
 public:
  explicit House(const fs::path& folder)
      : a_(made(folder) / "a"), b_(folder / "b"), tracer_(a_.folder(), std::chrono::seconds(60)) {
    a_.must({"session", "new", "--id", "s1"});
    a_.must({"sync"});
    b_.must({"sync"});
  }

  /// Runs the command with this fault, and checks what becomes of it. False when it was not
  /// reached.
  bool survives(const Broken& broken, const SyscallFault& fault) {
    change();
    if (broken.folder_is_gone) {
      a_.must({"sync"});
      fs::remove_all(a_.folder() / "memory/sessions/s1");
    }
    if (broken.has_left) {
      a_.must({"hub", "leave"});
    }
    const TraceOutcome outcome = trace(broken, fault);
    points_ = count_points(outcome.points, kChanges);
    CAPTURE(describe(fault));
    CAPTURE(fault.point);
    CHECK(outcome.process.succeeded() == !outcome.reached);
    CHECK_FALSE(outcome.timed_out);
    a_.must(a_.has_joined() ? std::vector<std::string>{"sync"} : kJoin);
    b_.must({"sync"});
    CHECK(a_.log() == b_.log());
    check_lines();
    return outcome.reached;
  }

  void check_files() const {
    a_.must({"verify"});
    b_.must({"verify"});
  }

  /// Of the last run.
  std::size_t points() const { return points_; }

 private:
  /// In a thread of its own: a tracer waits for all children of its thread, and what guards the
  /// server is one of this.
  TraceOutcome trace(const Broken& broken, const SyscallFault& fault) const {
    return std::async(std::launch::async,
                      [&] { return tracer_.run(a_.command(broken.words), fault); })
        .get();
  }

  /// Something of each kind is new at the hub, and on a.
  void change() {
    ++round_;
    a_.add({name("a", round_, 0), name("a", round_, 1)});
    b_.add({name("b", round_, 0), name("b", round_, 1), name("b", round_, 2)});
    for (const int number : {0, 1}) {
      lines_["a"].push_back(name("a", round_, number));
    }
    for (const int number : {0, 1, 2}) {
      lines_["b"].push_back(name("b", round_, number));
    }
    if (round_ > 1) {
      forget(a_, "b", 0, true);
      forget(b_, "b", 1, false);
      forget(b_, "a", 0, true);
      b_.must({"session", "set", "s1", fmt::format("round {}", round_)});
    }
    b_.must({"sync"});
  }

  static std::string name(const char* of, int round, int number) {
    return fmt::format("{}-{}-{}", of, round, number);
  }

  /// A line of the last round.
  void forget(const Machine& machine, const std::string& of, int number, bool is_purge) {
    const std::string id = name(of.c_str(), round_ - 1, number);
    std::vector<std::string> words = {"delete", id, "--yes"};
    if (is_purge) {
      words.emplace_back("--purge");
    }
    machine.must(words);
    std::erase(lines_[of], id);
  }

  /// Each line once, and those of one machine in the order in which they were written.
  void check_lines() const {
    std::map<std::string, std::vector<std::string>> found;
    for (const std::string& line : whole_lines(a_.log())) {
      const std::string id = json_string_field(line, "id").value_or("none");
      found[id.substr(0, 1)].push_back(id);
    }
    CHECK(found == lines_);
  }

  static const fs::path& made(const fs::path& folder) {
    fs::create_directory(folder);
    return folder;
  }

  Machine a_;
  Machine b_;
  SyscallTracer tracer_;
  int round_ = 0;
  std::size_t points_ = 0;
  std::map<std::string, std::vector<std::string>> lines_;  // By machine.
};

}  // namespace

TEST_CASE("a command that is killed loses nothing, doubles nothing, and brings nothing back") {
  NEEDS_POSTGRES();
  const TempFolder folder;
  const fs::path service = folder.path() / "pg_service.conf";
  const Broken table[] = {
      {"sync", {"sync"}},
      {"sync without the session", {"sync"}, true},
      {"reclone", {"hub", "reclone"}},
      {"reclone of a session", {"hub", "reclone", "s1"}},
      {"join", kJoin, false, true},
  };
  for (const Broken& broken : table) {
    CAPTURE(broken.name);
    std::vector<FaultAction> actions = {FaultAction::kKillBefore};
    if (wants_all_points() && &broken == &table[0]) {
      actions.insert(actions.end(), {FaultAction::kKillAfter, FaultAction::kTear});
    }
    const test::HubDatabase house;
    name_service(service, house);
    House two(folder.path() / broken.name);
    REQUIRE_FALSE(two.survives(broken, {}));
    REQUIRE_FALSE(two.survives(broken, {}));
    const std::size_t points = two.points();
    REQUIRE(points > 20);
    constexpr std::size_t kSample = 5;
    const std::size_t step = wants_all_points() ? 1 : points / kSample + 1;
    std::size_t runs = 0;
    for (const FaultAction action : actions) {
      for (std::size_t point = 1 + step / 2; point <= points; point += step) {
        runs += two.survives(broken, {.action = action, .point = point}) ? 1 : 0;
      }
    }
    two.check_files();
    std::printf("%s: %zu points, %zu kills\n", broken.name, points, runs);
    CHECK(runs >= (wants_all_points() ? points : kSample - 2));
  }
}

}  // namespace bmad_mem::hub_kills_test
