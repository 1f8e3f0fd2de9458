#include "hooks/hook_limits.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace bmad_mem::cli::hook_limits_test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};
constexpr milliseconds kShort{20};
constexpr milliseconds kToBeHeard{2'000};  ///< A busy machine takes its time to start a child.

void hang() {
  while (true) {
    ::pause();
  }
}

TEST_CASE("what the work says comes back") {
  const HookResult result = run_limited(kLong, [](const HookWork& work) {
    work.answer("told");
    work.problem("odd");
  });
  CHECK(result.answer == "told");
  CHECK(result.problem == "odd");
}

TEST_CASE("an answer larger than a pipe holds comes back whole") {
  const std::string large(1'000'000, 'x');
  const HookResult result = run_limited(kLong, [&](const HookWork& work) { work.answer(large); });
  CHECK(result.answer == large);
}

TEST_CASE("work that hangs is ended at the limit") {
  const HookResult result = run_limited(kShort, [](const HookWork& /*work*/) { hang(); });
  CHECK(result.answer.empty());
  CHECK(result.problem == "it took longer than 20 ms and was ended");
}

TEST_CASE("work that hangs behind its answer has told it") {
  const HookResult result = run_limited(kLong, [](const HookWork& work) {
    work.answer("told");
    work.limit(kShort, "too late");
    hang();
  });
  CHECK(result.answer == "told");
  CHECK(result.problem == "too late");
}

TEST_CASE("a nearer limit holds, with its own reason") {
  const HookResult result = run_limited(kLong, [](const HookWork& work) {
    work.limit(kShort, "too late to tell");
    hang();
  });
  CHECK(result.problem == "too late to tell");
}

TEST_CASE("a limit that lies further off does not hold") {
  const HookResult result = run_limited(kShort, [](const HookWork& work) {
    work.limit(kLong, "never");
    hang();
  });
  CHECK(result.problem == "it took longer than 20 ms and was ended");
}

TEST_CASE("work that may go on outlives the limit, without a word") {
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  int gate[2] = {};
  REQUIRE(::pipe(gate) == 0);
  const HookResult result = run_limited(kToBeHeard, [&](const HookWork& work) {
    work.may_go_on();
    char opened = 0;
    static_cast<void>(!::read(gate[0], &opened, 1));  // Until the hook has returned.
    static_cast<void>(!::write(ends[1], "x", 1));
  });
  CHECK(result.problem.empty());
  REQUIRE(::write(gate[1], "o", 1) == 1);
  char said = 0;
  CHECK(::read(ends[0], &said, 1) == 1);
  CHECK(said == 'x');
  for (const int end : {ends[0], ends[1], gate[0], gate[1]}) {
    ::close(end);
  }
}

TEST_CASE("one child of a session goes on, and the others end with their hooks") {
  std::string folder = "/tmp/bmad-claim-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const HookWork here(-1);
  here.claim(folder, "s1");
  CHECK(here.is_alone());
  const HookResult result = run_limited(kToBeHeard, [&](const HookWork& work) {
    work.claim(folder, "s1");
    work.answer(work.is_alone() ? "alone" : "not alone");
    work.limit(kShort, "ended");
    work.may_go_on();
    work.said_all();
    hang();
  });
  CHECK(result.answer == "not alone");
  CHECK(result.problem == "ended");
  const HookResult other = run_limited(kLong, [&](const HookWork& work) {
    work.claim(folder, "s2", milliseconds{50});
    work.answer(work.is_alone() ? "alone" : "not alone");
  });
  CHECK(other.answer == "alone");
  here.claim(folder + "/nowhere", "s1");
  CHECK_FALSE(here.is_alone());  // Nothing can be written there.
  std::filesystem::remove_all(folder);
}

TEST_CASE("who has said all is not waited for, and what was wrong comes back") {
  int gate[2] = {};
  REQUIRE(::pipe(gate) == 0);
  const HookResult result = run_limited(kLong, [&](const HookWork& work) {
    work.problem("odd");
    work.said_all();
    char opened = 0;
    static_cast<void>(!::read(gate[0], &opened, 1));  // Until the hook has returned.
  });
  CHECK(result.answer.empty());
  CHECK(result.problem == "odd");
  CHECK(::write(gate[1], "o", 1) == 1);
  ::close(gate[0]);
  ::close(gate[1]);
}

TEST_CASE("work that dies is a problem and no death") {
  const HookResult result = run_limited(kLong, [](const HookWork& work) {
    work.answer("told");
    ::_exit(3);
  });
  CHECK(result.answer == "told");
  CHECK(result.problem == "it ended unexpectedly");
}

}  // namespace
}  // namespace bmad_mem::cli::hook_limits_test
