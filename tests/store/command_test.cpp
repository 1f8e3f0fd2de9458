#include "store/command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/temporary_directory.hpp"

namespace bmad_mem::test::command_test {
namespace {

using std::chrono::milliseconds;

Result<CommandOutput> run(std::initializer_list<std::string> command, std::string_view input = "",
                          const CommandOptions& options = {}) {
  const std::vector<std::string> words(command);
  return run_command(words, input, options);
}

Result<CommandOutput> sh(const std::string& script, std::string_view input = "",
                         const CommandOptions& options = {}) {
  return run({"sh", "-c", script}, input, options);
}

Error error_of(Result<CommandOutput> result) {
  REQUIRE_FALSE(result);
  return std::move(result).error();
}

int open_descriptors() {
  int count = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    count += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
  }
  return count;
}

/// Whether there is a process `id` that is not just waiting to be reaped by somebody else.
bool is_running(int id) {
  const auto state = sh("cut -d' ' -f3 /proc/" + std::to_string(id) + "/stat 2>/dev/null || true");
  REQUIRE(state);
  return !state->out.empty() && state->out != "Z\n";
}

}  // namespace

TEST_CASE("a program gets the input and says the output") {
  const auto answer = run({"cat"}, "one\ntwo\n");
  REQUIRE(answer);
  CHECK(answer->out == "one\ntwo\n");
  CHECK(answer->err.empty());
}

TEST_CASE("the input is complete without one, and nothing becomes a command") {
  const auto nothing = run({"cat"});
  REQUIRE(nothing);
  CHECK(nothing->out.empty());
  const auto words = run({"printf", "%s|", "$(id)", "a b", "; exit 1"});
  REQUIRE(words);
  CHECK(words->out == "$(id)|a b|; exit 1|");
}

TEST_CASE("an input and an output larger than any pipe pass each other") {
  const std::string input(5U << 20U, 'x');
  const auto answer = run({"cat"}, input, {.output_size_max = input.size()});
  REQUIRE(answer);
  CHECK((answer->out == input));
}

TEST_CASE("bytes pass unchanged") {
  const std::string input("\0\xFF\r\n\x01", 5);
  const auto answer = run({"cat"}, input);
  REQUIRE(answer);
  CHECK((answer->out == input));
}

TEST_CASE("a program need not read what it is given") {
  const std::string input(5U << 20U, 'x');
  for (const char* script : {"echo done", "exec <&-; echo done", "head -c 10 >/dev/null; echo done",
                             "exec <&-; sleep 0.1; echo done"}) {
    CAPTURE(script);
    const auto answer = sh(script, input);
    REQUIRE(answer);
    CHECK(answer->out == "done\n");
  }
}

TEST_CASE("a broken pipe leaves the signals of the caller as they were") {
  sigset_t before;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, nullptr, &before) == 0);
  const auto former = std::signal(SIGPIPE, SIG_DFL);  // Would end this test.
  CHECK(sh("exec <&-; sleep 0.05", std::string(1U << 20U, 'x')));
  std::signal(SIGPIPE, former);
  sigset_t after;
  sigset_t pending;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, nullptr, &after) == 0);
  REQUIRE(::sigpending(&pending) == 0);
  CHECK(::sigismember(&after, SIGPIPE) == ::sigismember(&before, SIGPIPE));
  CHECK(::sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("a program gets the signals as they come from the system") {
  const auto former = std::signal(SIGPIPE, SIG_IGN);
  const auto answer = sh("kill -PIPE $$; echo survived");
  std::signal(SIGPIPE, former);
  CHECK(error_of(answer).message.find("died of signal 13") != std::string::npos);
}

TEST_CASE("what ends badly says so with the end of its complaints") {
  struct Row {
    const char* script;
    const char* says;
  };
  static constexpr Row kRows[] = {
      {"exit 3", "\"sh\" ended with status 3"},
      {"echo bad key >&2; exit 1", "\"sh\" ended with status 1: bad key"},
      {"printf 'one\\ntwo\\033[1m\\n' >&2; exit 1", "ended with status 1: one two [1m"},
      {"echo answer; kill -9 $$", "\"sh\" died of signal 9"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.script);
    const Error error = error_of(sh(row.script));
    CHECK(error.code == ErrorCode::E_STORAGE_IO);
    CHECK(error.message.find(row.says) != std::string::npos);
  }
}

TEST_CASE("of long complaints the end is kept, in whole characters") {
  const auto answer = sh("i=0; while [ $i -lt 3000 ]; do printf 'ä%d ' $i >&2; i=$((i+1)); done");
  REQUIRE(answer);
  CHECK(answer->err.size() <= 4098);
  CHECK(answer->err.size() > 4000);
  CHECK(answer->err.ends_with("2999 "));
  const Error error =
      error_of(sh("head -c 9000 /dev/zero | tr '\\0' x >&2; echo ' end' >&2; exit 1"));
  CHECK(error.message.size() < 500);
  CHECK(error.message.ends_with("xxx end"));
}

TEST_CASE("a program that is not there can't be started") {
  TemporaryDirectory directory;
  directory.write("text", "no program\n");
  for (const std::string& program :
       {std::string("no-such-program-at-all"), directory.path("missing"), directory.path("text"),
        directory.path(), std::string()}) {
    CAPTURE(program);
    const Error error = error_of(run({program}));
    CHECK(error.code == ErrorCode::E_STORAGE_IO);
    CHECK(error.message.find(program) != std::string::npos);
  }
  CHECK_FALSE(run_command({}, ""));
}

TEST_CASE("a program that takes too long is killed with all it started") {
  TemporaryDirectory directory;
  const std::string script =
      "(sleep 60; :) & echo $! > " + directory.path("child") + "; echo begun >&2; sleep 60";
  const auto began = std::chrono::steady_clock::now();
  const Error error = error_of(sh(script, "", {.timeout = milliseconds(300)}));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  CHECK(error.code == ErrorCode::E_QUERY_TIMEOUT);
  CHECK(error.message.find("longer than 300 ms and was killed: begun") != std::string::npos);
  CHECK_FALSE(is_running(std::stoi(directory.read("child"))));
}

TEST_CASE("a program that holds its pipes open and says nothing is killed too") {
  CHECK(error_of(sh("exec >&- 2>&- <&-; sleep 60", "in", {.timeout = milliseconds(100)})).code ==
        ErrorCode::E_QUERY_TIMEOUT);
  CHECK(error_of(run({"yes"}, "", {.timeout = milliseconds(100), .output_size_max = SIZE_MAX}))
            .code == ErrorCode::E_QUERY_TIMEOUT);
  CHECK(error_of(sh("while :; do echo x >&2; done", "", {.timeout = milliseconds(100)})).code ==
        ErrorCode::E_QUERY_TIMEOUT);
}

TEST_CASE("a program may say as much as it is allowed to, and not a byte more") {
  CHECK(sh("head -c 1000 /dev/zero", "", {.output_size_max = 1000}));
  const Error error =
      error_of(sh("head -c 1001 /dev/zero; sleep 60", "", {.output_size_max = 1000}));
  CHECK(error.code == ErrorCode::E_SIZE_LIMIT);
  CHECK(error_of(run({"yes"}, "", {.output_size_max = 1000})).code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("what a program leaves running does not hold up its answer") {
  TemporaryDirectory directory;
  const auto began = std::chrono::steady_clock::now();
  const auto answer = sh("sleep 60 & echo $! > " + directory.path("child") + "; echo done");
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  REQUIRE(answer);
  CHECK(answer->out == "done\n");
  const int child = std::stoi(directory.read("child"));
  CHECK(is_running(child));
  ::kill(child, SIGKILL);
}

TEST_CASE("neither descriptors nor processes are left") {
  const int before = open_descriptors();
  (void)sh("echo a");
  (void)sh("exit 1");
  (void)sh("sleep 60", "", {.timeout = milliseconds(50)});
  (void)run({"no-such-program-at-all"});
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a program gets its three descriptors and no more of ours") {
  int inherited = 0;  // By this process, from whoever started it.
  for (int descriptor = STDERR_FILENO + 1; descriptor < 256; ++descriptor) {
    inherited += ::fcntl(descriptor, F_GETFD) == 0 ? 1 : 0;
  }
  const auto answer = sh("ls /proc/self/fd | wc -l");  // ls opens the folder: one more.
  REQUIRE(answer);
  CHECK(std::stoi(answer->out) == 4 + inherited);
}

TEST_CASE("closed descriptors of the caller do no harm") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    const auto answer = sh("cat; echo err >&2", "in");
    ::_exit(answer && answer->out == "in" && answer->err == "err\n" ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("many threads run programs at once") {
  std::vector<std::thread> threads;
  std::vector<std::string> answers(8);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&answers, i] {
      const auto answer = run({"cat"}, std::string(200'000, static_cast<char>('a' + i)));
      answers[i] = answer ? answer->out : answer.error().message;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CHECK((answers[i] == std::string(200'000, static_cast<char>('a' + i))));
  }
}

}  // namespace bmad_mem::test::command_test
