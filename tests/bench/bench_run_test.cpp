#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;

namespace {

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome run_bench(const std::string& arguments) {
  const std::string command = std::string(BMAD_BENCH_BINARY) + ' ' + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  char buffer[4096];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, size);
  }
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string tool_option() {
#ifdef BMAD_MEM_BINARY
  return " --tool " BMAD_MEM_BINARY;
#else
  return "";
#endif
}

}  // namespace

TEST_CASE("one command measures every group and leaves nothing behind") {
  const test::TemporaryDirectory folder;
  Outcome outcome = run_bench("store --json --effort 0.001 --dir " + folder.path() + tool_option());
  // The progress stands before the object.
  const std::size_t object = outcome.output.find("\n{");
  REQUIRE_MESSAGE(object != std::string::npos, outcome.output);
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(outcome.output.substr(object + 1));
  REQUIRE_MESSAGE(report, outcome.output);
  CHECK((*report)["environment"]["cpu"].is_string());
  std::size_t measured = 0;
  for (const JsonValue row : (*report)["rows"].elements()) {
    CAPTURE(row["what"].string());
    CAPTURE(row["problem"].string());
#ifndef BMAD_MEM_BINARY
    if (row["problem"].present()) {
      continue;  // The tool isn't part of this build, so its row says so.
    }
#endif
    CHECK_FALSE(row["problem"].present());
    CHECK(row["ours"]["count"].integer() >= 1);
    ++measured;
  }
  CHECK(measured >= 15);
#ifdef BMAD_MEM_BINARY
  CHECK(outcome.status == 0);
#endif
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a tool that is not there is a row that says so, and a failure") {
  const test::TemporaryDirectory folder;
  const Outcome outcome =
      run_bench("store --filter process --effort 0.001 --tool /nowhere --dir " + folder.path());
  CHECK(outcome.status == 1);
  CHECK(outcome.output.find("not measured") != std::string::npos);
  CHECK(outcome.output.find("there is no program \"/nowhere\"") != std::string::npos);
}

TEST_CASE("wrong usage is told from failure") {
  CHECK(run_bench("--help").status == 0);
  CHECK(run_bench("store --help").output.find("groups of rows") != std::string::npos);
  CHECK(run_bench("store --no-such-option").status == 2);
  CHECK(run_bench("store --filter nothing-is-called-this").status == 1);
  CHECK(run_bench("store --dir /nowhere/at/all").status == 1);
  CHECK(run_bench("corpus").status == 2);
}

TEST_CASE("a corpus is not added to what is there") {
  const test::TemporaryDirectory folder;
  const std::string out = folder.path("memory");
  const Outcome first = run_bench("corpus --bytes 50K --out " + out);
  CHECK(first.status == 0);
  CHECK(first.output.find("FNV-1a") != std::string::npos);
  CHECK(run_bench("corpus --bytes 50K --out " + out).status == 1);
}
